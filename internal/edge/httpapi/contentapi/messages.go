package contentapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Messages serves the library.
type Messages struct {
	db    *sqldb.DB
	mjml  *mjml.Compiler
	now   func() time.Time
	usage usage.Finder
}

// NewMessages returns the operations on the library.
func NewMessages(e wire.Env, compiler *mjml.Compiler, uses usage.Finder) Messages {
	return Messages{db: e.DB, mjml: compiler, now: e.Now, usage: uses}
}

// On returns the operations on another handle.
func (api Messages) On(db *sqldb.DB) Messages { api.db = db; return api }

// Register adds the operations on the library.
func (api Messages) Register(r *endpoint.Router) {
	op := func(name, summary string, scope auth.Scope, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "messages", Scope: scope, Faults: faults}
	}
	write := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		w := op(name, summary, auth.MessagesWrite, slices.Concat(ContentFaults, []*fault.Error{library.ErrStatus, library.ErrLimit}, faults)...)
		w.MaxBody, w.FieldFaults = 5*endpoint.Megabyte, messageFieldFaults
		return w
	}
	list := op("listMessages", "List library entries, last changed first; archived ones only on request.", auth.MessagesRead, library.ErrStatus)
	list.Pagination = "offset"
	endpoint.Handle(r, "GET /t/{tenant}/api/messages", list, api.listMessages)
	create := write("createMessage", "Create a library entry; its content becomes version 1.").Once().Revised(library.Revisions)
	create.Status = http.StatusCreated
	endpoint.Handle(r, "POST /t/{tenant}/api/messages", create.ExampleBody(`{"name": "Welcome", "status": "published", "tags": ["onboarding"], "content": {"subject": "Welcome", "body_html": "<p>Welcome, {{ contact.first_name }}.</p>"}}`), api.createMessage, checkNewMessage)
	endpoint.Handle(r, "GET /t/{tenant}/api/messages/{id}",
		op("getMessage", "Get a library entry with its current content.", auth.MessagesRead, library.ErrNotFound).Revised(library.Revisions), api.getMessage)
	update := write("updateMessage", "Update a library entry; absent fields are not changed, and content appends a version.", library.ErrNotFound, library.ErrSlug).IfMatch(library.Revisions)
	update.Description = "Content is merged at its first level into that of the current version, and appended as the next version, even if it is equal. Versions never change."
	endpoint.Handle(r, "PATCH /t/{tenant}/api/messages/{id}", update.ExampleBody(`{"name": "Welcome, second version", "content": {"subject": "Welcome to Acme", "body_html": "<p>Welcome to Acme, {{ contact.first_name }}.</p>"}}`), api.updateMessage, checkMessage)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/messages/{id}",
		op("deleteMessage", "Delete a library entry and its versions, unless an unfinished broadcast uses it.", auth.MessagesWrite,
			library.ErrNotFound, library.ErrInUse, library.ErrUnavailable).IfMatch(library.Revisions), api.deleteMessage)
	endpoint.Handle(r, "POST /t/{tenant}/api/messages/{id}/archive",
		op("archiveMessage", "Archive a library entry; its history is kept.", auth.MessagesWrite, library.ErrNotFound).IfMatch(library.Revisions), api.archiveMessage)
	duplicate := op("duplicateMessage", "Copy a library entry with all its versions into a new draft.", auth.MessagesWrite, library.ErrNotFound).Once().Revised(library.Revisions)
	duplicate.Status = http.StatusCreated
	endpoint.Handle(r, "POST /t/{tenant}/api/messages/{id}/duplicate", duplicate, wire.Once(api, api.db, Messages.duplicateMessage))
	api.messageVersions(r, op)
}

// messageFieldFaults are the fields with a code of their own.
var messageFieldFaults = WithContent(map[string]*fault.Error{"status": library.ErrStatus})

type listMessagesRequest struct {
	Status string `query:"status" as:"list" enum:"draft,published,archived" doc:"With any of these statuses; all but archived when absent."`
	Search string `query:"search" doc:"A part of the name, ignoring case."`
	endpoint.OffsetQuery
	Embed string `query:"embed" enum:"use" doc:"use: rows have the template of the current version, and what uses it."`
}

// MessageRow is an entry of the library without its content.
type MessageRow struct {
	ID             id.LibraryEntry `json:"id" format:"uuid"`
	TenantID       id.Tenant       `json:"tenant_id" format:"uuid"`
	Name           string          `json:"name"`
	Slug           string          `json:"slug"`
	Tags           []string        `json:"tags"`
	Status         library.Status  `json:"status" enum:"draft,published,archived"`
	CurrentVersion int             `json:"current_version" doc:"0 before there is any content."`
	CreatedAt      endpoint.Stamp  `json:"created_at"`
	UpdatedAt      endpoint.Stamp  `json:"updated_at"`
	TemplateID     *id.Template    `json:"template_id,omitempty" format:"uuid" doc:"In lists with embed=use: the template of the current version; absent if it has own code."`
	TemplateSlug   *string         `json:"template_slug,omitempty"`
	Usage          *[]messageUse   `json:"usage,omitempty" doc:"In lists with embed=use: what uses the current version."`
}

func (api Messages) listMessages(ctx context.Context, p auth.Principal, in *listMessagesRequest) (endpoint.List[MessageRow], error) {
	var none endpoint.List[MessageRow]
	statuses, err := library.ParseStatuses(endpoint.CommaList(in.Status))
	if err != nil {
		return none, err
	}
	offset, err := endpoint.Offset(in.Offset)
	if err != nil {
		return none, err
	}
	list, total, err := library.List(ctx, api.db, p.Tenant, library.Filter{
		Statuses: statuses, Search: in.Search, Offset: offset, Limit: endpoint.Limit(in.Limit),
	})
	if err != nil {
		return none, err
	}
	var current map[id.LibraryEntry]library.Current
	if in.Embed == "use" {
		if current, err = library.CurrentOf(ctx, api.db, p.Tenant, list, api.usage); err != nil {
			return none, err
		}
	}
	rows := make([]MessageRow, len(list))
	for i, e := range list {
		rows[i] = rowOfMessage(e)
		if c, ok := current[e.ID]; ok {
			rows[i].embed(c)
		}
	}
	return endpoint.Window(rows, offset, total), nil
}

// embed shows the origin and the uses of the current version in the row.
func (m *MessageRow) embed(c library.Current) {
	if o := c.Origin; o != nil {
		m.TemplateID, m.TemplateSlug = &o.Template, &o.Slug
	}
	m.Usage = new(usesOf(c.Usage))
}

func rowOfMessage(e library.Entry) MessageRow {
	return MessageRow{
		ID: e.ID, TenantID: e.Tenant, Name: e.Name, Slug: e.Slug, Tags: e.Tags, Status: e.Status, CurrentVersion: e.Version,
		CreatedAt: endpoint.At(e.CreatedAt), UpdatedAt: endpoint.At(e.UpdatedAt),
	}
}

type createMessageRequest struct{ Body messageBody }

// messageBody is the body of a create or an update; a new entry needs a name.
type messageBody struct {
	Name    endpoint.Opt[string]      `json:"name" nullable:"false" doc:"1 to 200 characters."`
	Slug    endpoint.Opt[string]      `json:"slug" nullable:"false" doc:"Of a new entry: derived from the name when absent, and numbered when it is taken."`
	Status  endpoint.Opt[string]      `json:"status" nullable:"false" doc:"draft, published or archived; draft when absent from a new entry."`
	Tags    endpoint.Opt[[]string]    `json:"tags" doc:"At most 50, of 1 to 64 characters."`
	Content endpoint.Opt[ContentBody] `json:"content" doc:"Cannot be null: an entry keeps its content."`
}

type messageForm = wire.Form[message, messageSession]

// message is an entry with the content of its current version.
type message struct {
	MessageRow
	Content *FullContent `json:"current_content" doc:"Null when current_version is 0."`
	SaveWarnings
}

// SaveWarnings are the warnings of a write.
type SaveWarnings struct {
	Warnings *[]content.Trouble `json:"warnings,omitempty" doc:"In answers to writes: what the author should look at in the content. It prevents nothing."`
}

type messageSession struct {
	MessageRow
	Content *FullSessionContent `json:"current_content"`
	SaveWarnings
}

func checkNewMessage(p auth.Principal, in *createMessageRequest) error { return in.Body.check(p) }

func (api Messages) createMessage(ctx context.Context, p auth.Principal, in *createMessageRequest) (messageForm, error) {
	ch, err := in.Body.change(p)
	if err != nil {
		return messageForm{}, err
	}
	var out messageForm
	_, err = library.Create(ctx, AuthorOf(api.db, api.mjml, api.now()), p.Tenant, ch, func(e library.Entry) (func(tx *sqldb.DB, e library.Entry) error, error) {
		warnings, err := e.Warnings(ctx, api.db, api.now()) // here, since they take time that no transaction has
		return func(tx *sqldb.DB, e library.Entry) error {
			out = savedEntry(ctx, p, e, warnings)
			return endpoint.Remember(ctx, tx, out)
		}, err
	})
	return out, err
}

// check reports the problems of the body.
func (in *messageBody) check(p auth.Principal) error {
	ch, err := in.change(p)
	if err != nil {
		return err
	}
	return ch.Check()
}

func (in *messageBody) change(p auth.Principal) (library.Change, error) {
	ch := library.Change{Name: in.Name.Pointer(), Slug: in.Slug.Pointer()}
	if in.Status.Given() {
		ch.Status = new(library.Status(in.Status.Value))
	}
	if in.Tags.Set {
		ch.Tags = &in.Tags.Value
	}
	var bad fault.Problems
	if in.Content.Null {
		bad.Add("content", "must not be null") // the only problem of content that has no code of its own
	}
	if in.Content.Given() {
		var err error
		if ch.Content, err = in.Content.Value.Change(p); err != nil {
			return ch, err
		}
	}
	if bad.Any() { // report the problems of the other fields too
		bad.AddFrom(ch.Check())
	}
	return ch, bad.Err()
}

// savedEntry returns the answer to a write of e, with its warnings.
func savedEntry(ctx context.Context, p auth.Principal, e library.Entry, warnings []content.Trouble) messageForm {
	endpoint.SetRevision(ctx, e.Revision)
	return formOfMessage(p, e, SaveWarnings{new(distinct(warnings, func(t content.Trouble) content.Trouble { t.At = 0; return t }))})
}

func formOfMessage(p auth.Principal, e library.Entry, saved SaveWarnings) messageForm {
	return wire.FormFor(p, func() message {
		m := message{MessageRow: rowOfMessage(e), SaveWarnings: saved}
		if e.Content != nil {
			m.Content = new(ShowContent(*e.Content))
		}
		return m
	}, func() messageSession {
		m := messageSession{MessageRow: rowOfMessage(e), SaveWarnings: saved}
		if e.Content != nil {
			m.Content = new(sessionContent(*e.Content))
		}
		return m
	})
}

// sessionContent returns the session form of content.
func sessionContent(m draft.Content) FullSessionContent {
	return FullSessionContent{ShowContent(m), TemplateOf(m)}
}

func (api Messages) getMessage(ctx context.Context, p auth.Principal, in *wire.RecordPath) (messageForm, error) {
	return api.entryForm(ctx, p, in, func(entry id.LibraryEntry) (library.Entry, error) {
		return library.Load(ctx, api.db, p.Tenant, entry)
	})
}

// entryForm calls do for the entry that a path names, and returns the answer with its result.
func (api Messages) entryForm(ctx context.Context, p auth.Principal, in *wire.RecordPath, do func(id.LibraryEntry) (library.Entry, error)) (messageForm, error) {
	entry, err := wire.RecordID[id.LibraryEntry](in.ID, library.ErrNotFound)
	if err != nil {
		return messageForm{}, err
	}
	e, err := do(entry)
	if err != nil {
		return messageForm{}, err
	}
	endpoint.SetRevision(ctx, e.Revision)
	return formOfMessage(p, e, SaveWarnings{}), nil
}

type updateMessageRequest struct {
	wire.RecordPath
	Body messageBody
}

func checkMessage(p auth.Principal, in *updateMessageRequest) error { return in.Body.check(p) }

func (api Messages) updateMessage(ctx context.Context, p auth.Principal, in *updateMessageRequest) (messageForm, error) {
	ch, err := in.Body.change(p)
	if err != nil {
		return messageForm{}, err
	}
	entry, err := wire.RecordID[id.LibraryEntry](in.ID, library.ErrNotFound)
	if err != nil {
		return messageForm{}, err
	}
	e, err := library.Update(ctx, AuthorOf(api.db, api.mjml, api.now()), p.Tenant, entry, ch, func(tx *sqldb.DB, before, after library.Entry) error {
		audit, err := wire.AuditRevision(p, wire.Update{Action: "update", Target: "message", ID: entry.String()}, rowOfMessage(before), rowOfMessage(after), api.now())
		if err != nil {
			return err
		}
		return audit(ctx, tx)
	})
	if err != nil {
		return messageForm{}, err
	}
	warnings, err := e.Warnings(ctx, api.db, api.now())
	if err != nil {
		return messageForm{}, err
	}
	return savedEntry(ctx, p, e, warnings), nil
}

func (api Messages) deleteMessage(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	entry, err := wire.RecordID[id.LibraryEntry](in.ID, library.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, library.Delete(ctx, api.db, p.Tenant, entry, api.usage)
}

func (api Messages) archiveMessage(ctx context.Context, p auth.Principal, in *wire.RecordPath) (messageForm, error) {
	return api.entryForm(ctx, p, in, func(entry id.LibraryEntry) (library.Entry, error) {
		return library.Archive(ctx, AuthorOf(api.db, api.mjml, api.now()), p.Tenant, entry)
	})
}

func (api Messages) duplicateMessage(ctx context.Context, p auth.Principal, in *wire.RecordPath) (messageForm, error) {
	return api.entryForm(ctx, p, in, func(entry id.LibraryEntry) (library.Entry, error) {
		return library.Duplicate(ctx, api.db, p.Tenant, entry, api.now())
	})
}

// maxNewest is the length of the list of the newest entries.
const maxNewest = 1000

// Newest returns the newest entries, without the archived.
func (api Messages) Newest(ctx context.Context, p auth.Principal) ([]MessageRow, error) {
	list, _, err := library.List(ctx, api.db, p.Tenant, library.Filter{Limit: maxNewest})
	rows := make([]MessageRow, len(list))
	for i, e := range list {
		rows[i] = rowOfMessage(e)
	}
	return rows, err
}
