package accountapi

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/workingcopy"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// WorkingCopies serves the working copies of users.
type WorkingCopies struct {
	db  *sqldb.DB
	now func() time.Time
}

// NewWorkingCopies returns the operations on the working copies of users.
func NewWorkingCopies(e wire.Env) WorkingCopies { return WorkingCopies{db: e.DB, now: e.Now} }

// Register adds the operations on working copies.
func (api WorkingCopies) Register(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "working copies", Session: true, Role: auth.Editor, Faults: faults}
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/working-copies",
		op("listWorkingCopies", "List your working copies without their data, the latest first.").ExampleQuery("kind=template"), api.ListWorkingCopies)
	endpoint.Handle(r, "GET /t/{tenant}/api/working-copies/{kind}/{id}",
		op("getWorkingCopy", "Get a working copy with its data.", workingcopy.ErrNotFound), api.GetWorkingCopy)
	put := op("storeWorkingCopy", "Store a working copy, in place of an earlier one.", workingcopy.ErrNotFound, workingcopy.ErrLimit)
	put.Description = "Only you can read it. It is deleted 30 days after it was last stored. A kind is a word of lower case letters and _; an id is that of a record, or new- and a UUID."
	put.MaxBody = workingcopy.MaxData + 64<<10 // the other fields, too
	endpoint.Handle(r, "PUT /t/{tenant}/api/working-copies/{kind}/{id}",
		put.ExampleBody(`{"base_revision": 3, "title": "Spring letter", "data": {"subject": "Spring is", "content_html": "<p>{{param:"}}`), api.storeWorkingCopy, checkWorkingCopy)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/working-copies/{kind}/{id}",
		op("deleteWorkingCopy", "Delete a working copy.", workingcopy.ErrNotFound), api.deleteWorkingCopy)
}

// WorkingCopyRow is a working copy without its data.
type WorkingCopyRow struct {
	Kind         string         `json:"kind"`
	ID           string         `json:"id" doc:"The id of the record, or new- and a UUID."`
	Title        string         `json:"title"`
	BaseRevision *int64         `json:"base_revision" doc:"The revision of the record that the work began with."`
	Size         int            `json:"size" doc:"Of the data, in bytes."`
	UpdatedAt    endpoint.Stamp `json:"updated_at"`
}

func rowOfWorkingCopy(c workingcopy.Copy) WorkingCopyRow {
	return WorkingCopyRow{
		Kind: c.Kind, ID: c.Record, Title: c.Title, BaseRevision: c.BaseRevision, Size: c.Size, UpdatedAt: endpoint.At(c.UpdatedAt),
	}
}

type listWorkingCopiesRequest struct {
	Kind string `query:"kind" doc:"Only copies of this kind."`
}

func (api WorkingCopies) ListWorkingCopies(ctx context.Context, p auth.Principal, in *listWorkingCopiesRequest) (endpoint.List[WorkingCopyRow], error) {
	list, err := workingcopy.List(ctx, api.db, p.Tenant, p.User, in.Kind, api.now())
	if err != nil {
		return endpoint.List[WorkingCopyRow]{}, err
	}
	rows := make([]WorkingCopyRow, len(list))
	for i, c := range list {
		rows[i] = rowOfWorkingCopy(c)
	}
	return endpoint.Whole(rows), nil
}

// WorkingCopyPath is the path of one working copy.
type WorkingCopyPath struct {
	Kind string `path:"kind" as:"text" pattern:"^[a-z][a-z_]{0,31}$" doc:"What it is a copy of, such as broadcast."`
	ID   string `path:"id" doc:"The record's id or, of one that is not stored yet, new- and a UUID."`
}

type WorkingCopy struct {
	WorkingCopyRow
	Data workingData `json:"data"`
}

// workingData is the text of an object.
type workingData json.RawMessage

// MarshalJSON writes the text.
func (d workingData) MarshalJSON() ([]byte, error) { return d, nil }

// Schema describes any object.
func (workingData) Schema(endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{Type: "object", AdditionalProperties: true}
}

func (api WorkingCopies) GetWorkingCopy(ctx context.Context, p auth.Principal, in *WorkingCopyPath) (WorkingCopy, error) {
	key, err := workingcopy.ParseKey(in.Kind, in.ID)
	if err != nil {
		return WorkingCopy{}, err
	}
	c, data, err := workingcopy.Find(ctx, api.db, p.Tenant, p.User, key, api.now())
	if err != nil {
		return WorkingCopy{}, err
	}
	return WorkingCopy{rowOfWorkingCopy(c), workingData(data)}, nil
}

type storeWorkingCopyRequest struct {
	WorkingCopyPath
	Body workingCopyBody
}

type workingCopyBody struct {
	BaseRevision endpoint.Opt[int64] `json:"base_revision" doc:"The revision of the record that the work began with."`
	Title        string              `json:"title" doc:"At most 200 characters; may be empty."`
	Data         map[string]any      `json:"data" doc:"At most 5 MB."`

	text json.RawMessage // of the data
}

// ReadTree encodes the data without the escapes of HTML, which would make them longer than they were.
func (b *workingCopyBody) ReadTree(tree any) {
	fields, _ := tree.(map[string]any)
	if n, ok := fields["base_revision"].(json.Number); ok {
		v, _ := n.Int64()
		b.BaseRevision = endpoint.Some(v)
	}
	b.Title, _ = fields["title"].(string)
	data, _ := fields["data"].(map[string]any)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	_ = e.Encode(data) // values that were decoded from JSON
	b.text = bytes.TrimSpace(text.Bytes())
}

func (b workingCopyBody) input() workingcopy.Input {
	return workingcopy.Input{Title: b.Title, BaseRevision: b.BaseRevision.Pointer(), Data: b.text}
}

func checkWorkingCopy(_ auth.Principal, in *storeWorkingCopyRequest) error {
	return in.Body.input().Check()
}

func (api WorkingCopies) storeWorkingCopy(ctx context.Context, p auth.Principal, in *storeWorkingCopyRequest) (endpoint.None, error) {
	key, err := workingcopy.ParseKey(in.Kind, in.ID)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, workingcopy.Store(ctx, api.db, p.Tenant, p.User, key, in.Body.input(), api.now())
}

func (api WorkingCopies) deleteWorkingCopy(ctx context.Context, p auth.Principal, in *WorkingCopyPath) (endpoint.None, error) {
	key, err := workingcopy.ParseKey(in.Kind, in.ID)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, workingcopy.Delete(ctx, api.db, p.Tenant, p.User, key)
}
