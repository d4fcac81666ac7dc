package httpapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/change"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// streamAPI serves streams of changes.
type streamAPI struct{ hub *change.Hub }

func (api streamAPI) Register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/stream", endpoint.Op{
		Name:    "streamChanges",
		Summary: "Receive server-sent events that say which records have changed.",
		Description: `An event change has data such as {"changes": [{"type": "broadcast", "id": "…"}]}, at most once a second. It has no content: read the record again. ` +
			"A change without id stands for any number of records of its type. Changes of API keys, of the audit log and of webhooks are sent to admins, those of assets to editors. " +
			"A comment every 20 seconds keeps the connection open. The stream ends after 15 minutes; open it again with Last-Event-ID, as browsers do, within 5 minutes. If changes may have been missed, an event reset comes first. The stream ends within 20 seconds, and before the next event, when the session has ended or the role has changed.",
		Tag: "account", Session: true, Produces: []string{endpoint.Events}, Event: changes{}, Timeout: -1, Faults: []*fault.Error{change.ErrTooMany},
	}.WithTitle("Stream changes"), api.stream)
}

// changes is the data of an event change.
type changes struct {
	Changes []changed `json:"changes"`
}

// SchemaName is the name of the schema in the document.
func (changes) SchemaName() string { return "Changes" }

// changed describes a change.Change.
type changed struct {
	Type changeType `json:"type"`
	ID   string     `json:"id,omitempty" doc:"Absent: any number of records of the type."`
}

// SchemaName is the name of the schema in the document.
func (changed) SchemaName() string { return "Change" }

type changeType change.Type

// Schema has all types.
func (changeType) Schema(endpoint.Registry) *endpoint.Schema {
	s := &endpoint.Schema{Type: endpoint.TypeString}
	for _, t := range change.Types() {
		s.Enum = append(s.Enum, string(t))
	}
	return s
}

type streamRequest struct {
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event received."`
}

// readableBy returns the least role that may read records of a type.
func readableBy(t change.Type) auth.Role {
	switch t {
	case change.APIKey, change.AuditLog, change.Webhook:
		return auth.Admin
	case change.Asset:
		return auth.Editor
	}
	return auth.Viewer
}

func (api streamAPI) stream(ctx context.Context, p auth.Principal, in *streamRequest) (endpoint.EventStream, error) {
	s, err := api.hub.Open(ctx, change.Caller{
		Tenant: p.Tenant, User: p.User, After: in.LastEventID,
		May: func(t change.Type) bool { return p.Role.AtLeast(readableBy(t)) },
	})
	if err != nil {
		return endpoint.EventStream{}, err
	}
	return endpoint.EventStream{Run: func(ctx context.Context, w *endpoint.EventWriter) { s.Run(ctx, eventWriter{w}) }}, nil
}

// eventWriter sends the events of a stream.
type eventWriter struct{ *endpoint.EventWriter }

func (w eventWriter) Event(e change.Event) error {
	if e.Reset {
		return w.Send("reset", e.Position, struct{}{})
	}
	return w.Send("change", e.Position, map[string][]change.Change{"changes": e.Changes})
}

func (w eventWriter) Comment(position string) error { return w.EventWriter.Comment("ping", position) }
