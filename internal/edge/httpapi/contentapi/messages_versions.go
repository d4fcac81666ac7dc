package contentapi

import (
	"context"
	"errors"
	"strconv"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

// messageVersions registers the operations on the versions of an entry.
func (api Messages) messageVersions(r *endpoint.Router, op func(name, summary string, scope auth.Scope, faults ...*fault.Error) endpoint.Op) {
	endpoint.Handle(r, "GET /t/{tenant}/api/messages/{id}/versions",
		op("listMessageVersions", "List the versions of a library entry, newest first.", auth.MessagesRead, library.ErrNotFound, library.ErrUnavailable), api.listMessageVersions)
	endpoint.Handle(r, "GET /t/{tenant}/api/messages/{id}/versions/{version}",
		op("getMessageVersion", "Get one version of a library entry.", auth.MessagesRead, fault.ErrInput, library.ErrNotFound, library.ErrUnavailable), api.getMessageVersion)
	rebase := op("rebaseMessagePreview", "Preview the binding of a version on its current template; nothing is stored.", auth.MessagesRead,
		library.ErrNotFound, content.ErrNoContent, library.ErrNotTemplate)
	rebase.Role = auth.Viewer
	endpoint.Handle(r, "POST /t/{tenant}/api/messages/{id}/rebase-preview", rebase.ExampleBody(`{"version": 1}`), api.rebaseMessagePreview)
}

type messageVersionForm = wire.Form[messageVersion, messageVersionSession]

type messageVersion struct {
	MessageVersionHead
	Content FullContent `json:"content"`
}

// MessageVersionHead is a version without its content.
type MessageVersionHead struct {
	ID        id.LibraryVersion `json:"id" format:"uuid"`
	MessageID id.LibraryEntry   `json:"message_id" format:"uuid"`
	Version   int               `json:"version"`
	Usage     *[]messageUse     `json:"usage,omitempty" doc:"Broadcasts that use the version."`
	CreatedAt endpoint.Stamp    `json:"created_at"`
}

type messageUse struct {
	Version *int   `json:"version" doc:"Null: the current version."`
	Kind    string `json:"kind" enum:"broadcast,sequence"`
	Name    string `json:"name"`
	Status  string `json:"status"`
}

type messageVersionSession struct {
	MessageVersionHead
	Content FullSessionContent `json:"content"`
}

func (api Messages) listMessageVersions(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.Stream[messageVersionForm], error) {
	entry, err := wire.RecordID[id.LibraryEntry](in.ID, library.ErrNotFound)
	if err != nil {
		return endpoint.Stream[messageVersionForm]{}, err
	}
	return endpoint.Stream[messageVersionForm]{Rows: func(yield func(messageVersionForm, error) bool) {
		for v, err := range library.Versions(ctx, api.db, p.Tenant, entry, api.usage) {
			if !yield(formOfVersion(p, v), err) {
				return
			}
		}
	}}, nil
}

func formOfVersion(p auth.Principal, v library.Version) messageVersionForm {
	head := MessageVersionHead{ID: v.ID, MessageID: v.Entry, Version: v.Number, CreatedAt: endpoint.At(v.CreatedAt)}
	if v.Usage != nil {
		head.Usage = new(usesOf(v.Usage))
	}
	return wire.FormFor(p,
		func() messageVersion { return messageVersion{head, ShowContent(v.Content)} },
		func() messageVersionSession { return messageVersionSession{head, sessionContent(v.Content)} })
}

func usesOf(list []library.Use) []messageUse {
	uses := make([]messageUse, len(list))
	for i, u := range list {
		uses[i] = messageUse(u)
	}
	return uses
}

type messageVersionPath struct {
	wire.RecordPath
	Version string `path:"version" as:"integer" minimum:"1" doc:"The number of the version."`
}

func (api Messages) getMessageVersion(ctx context.Context, p auth.Principal, in *messageVersionPath) (messageVersionForm, error) {
	number, err := strconv.ParseUint(in.Version, 10, 31)
	if err != nil && !errors.Is(err, strconv.ErrRange) || err == nil && number == 0 {
		return messageVersionForm{}, fault.Input(fault.Field{Path: "version", Message: "must be a whole number from 1"})
	}
	entry, err := wire.RecordID[id.LibraryEntry](in.ID, library.ErrNotFound)
	if err != nil {
		return messageVersionForm{}, err
	}
	v, err := library.VersionOf(ctx, api.db, p.Tenant, entry, int(number), api.usage)
	if err != nil {
		return messageVersionForm{}, err
	}
	return formOfVersion(p, v), nil
}

type rebaseMessageRequest struct {
	wire.RecordPath
	Body *struct {
		Version endpoint.Opt[int] `json:"version" minimum:"1" doc:"Default: the current one."`
	}
}

type rebasedMessage struct {
	Version   int              `json:"version" doc:"The version that the binding is of; what follows is of it, too."`
	Subject   *string          `json:"subject"`
	Preheader *string          `json:"preheader"`
	FromName  *string          `json:"from_name"`
	ReplyTo   *string          `json:"reply_to"`
	Binding   anyJSON          `json:"merged_binding"`
	Snapshot  templateSnapshot `json:"merged_snapshot"`
	Diff      binding.Diff     `json:"diff"`
}

func (api Messages) rebaseMessagePreview(ctx context.Context, p auth.Principal, in *rebaseMessageRequest) (rebasedMessage, error) {
	entry, err := wire.RecordID[id.LibraryEntry](in.ID, library.ErrNotFound)
	if err != nil {
		return rebasedMessage{}, err
	}
	var version *int
	if in.Body != nil {
		version = in.Body.Version.Pointer()
	}
	r, err := library.PreviewRebase(ctx, api.db, p.Tenant, entry, version, api.now())
	if err != nil {
		return rebasedMessage{}, err
	}
	c := ShowContent(r.Version.Content)
	return rebasedMessage{r.Version.Number, c.Subject, c.Preheader, c.FromName, c.ReplyTo, anyJSON{r.Binding}, rowOfSnapshot(r.Snapshot), r.Diff}, nil
}
