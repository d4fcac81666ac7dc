package contentapi

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/view/preview"
)

// Previews serves previews of mails.
type Previews struct{ preview *preview.Previewer }

// NewPreviews returns the operation that previews mails.
func NewPreviews(previewer *preview.Previewer) Previews { return Previews{previewer} }

// Register adds the preview.
func (api Previews) Register(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/preview", endpoint.Op{
		Name: "previewMail", Summary: "Show a mail as it would be sent, with the problems of what it is made from.", Tag: "previews", Session: true, Role: auth.Viewer,
		Description: "Checks and renders like saving and sending, and stores and records nothing: links lead to their targets directly, pages for recipients are those of test mails, and there is no open pixel. " +
			"Faults of the source are listed in problems, and the status is 200; a part that cannot be made is null. A binding that does not fit is rendered with visible notices. " +
			"Previews of an account take turns with those of others; too many at once are refused (429), and one that takes more than 10 seconds is stopped (503).",
		MaxBody: 5 * endpoint.Megabyte,
		Faults: []*fault.Error{draft.ErrTemplate, broadcast.ErrNotFound, library.ErrNotFound, library.ErrNoVersion, contact.ErrNotFound, sender.ErrUnknownIdentity,
			content.ErrMJMLCompiler, content.ErrMJMLWaiting, content.ErrMJMLBusy, preview.ErrWaiting, preview.ErrBusy},
	}.ExampleBody(`{"source": {"content": {"subject": "Hello {{ first_name }}", "body_html": "<p>It is {{ plan | upcase }} time.</p>"}}}`), api.previewMail, checkPreview)
}

type previewRequest struct {
	Body struct {
		Source  previewSource              `json:"source" doc:"What to preview: exactly one of its fields, and version with message_id."`
		Contact endpoint.Opt[string]       `json:"contact_id" doc:"The contact whose data the mail shows. Default: only the samples of what the template expects."`
		Event   endpoint.Opt[previewEvent] `json:"event" doc:"What {{ event }} prints, as in mails of sequences."`
		Variant endpoint.Opt[string]       `json:"variant_id" doc:"Of the broadcast. Default: the first."`
		Sender  endpoint.Opt[string]       `json:"sending_identity_email" doc:"Default: the first sender of the broadcast, or that of the account."`
		Marks   endpoint.Opt[bool]         `json:"marks" doc:"Adds to elements of the HTML classes pb-mark-N, where N is the position of the element in content_mjml (or content_html, body_mjml, body_html) of the source, or of the template that it names, in UTF-16 code units. What a block in a slot makes has that of the slot. size, text, links and problems are those without marks. Content that is stored and was made from a template gets none. Default: false."`
	}
}

type previewSource struct {
	Template  endpoint.Opt[previewTemplate]  `json:"template" doc:"The fields of a template, which need not be stored, and a binding."`
	Block     endpoint.Opt[previewBlock]     `json:"block" doc:"The fields of a block, which need not be stored, and how it is used."`
	Content   endpoint.Opt[BroadcastContent] `json:"content" doc:"The content of a broadcast or of a library entry, which need not be stored."`
	Broadcast endpoint.Opt[string]           `json:"broadcast_id" doc:"A broadcast, as it is stored."`
	Message   endpoint.Opt[string]           `json:"message_id" doc:"An entry of the library."`
	Version   endpoint.Opt[int]              `json:"version" doc:"Of the entry. Default: the current one."`
}

type previewTemplate struct {
	Name endpoint.Opt[string] `json:"name" nullable:"false" doc:"1 to 200 characters."`
	HTML endpoint.Opt[string] `json:"content_html" nullable:"false" doc:"May be empty when format is mjml."`
	TemplateBody
	Binding endpoint.Opt[anyJSON] `json:"binding" doc:"{parameters, sections, slots}. Default: the samples of the schema."`
}

type previewBlock struct {
	Name endpoint.Opt[string] `json:"name" nullable:"false" doc:"1 to 200 characters."`
	BlockBody
	Template endpoint.Opt[string]  `json:"template_slug" doc:"Shows the block in the first slot of this template that accepts it. Default: alone."`
	Values   endpoint.Opt[anyJSON] `json:"parameters" doc:"The values of its parameters. Default: their samples."`
	Rows     endpoint.Opt[anyJSON] `json:"sections" doc:"The rows of its sections. Default: one sample row each."`
}

type previewEvent struct {
	Name       endpoint.Opt[string]  `json:"event_name" doc:"{{ event.name }}"`
	OccurredAt endpoint.Opt[string]  `json:"occurred_at" doc:"RFC 3339; {{ event.occurred_at }}"`
	Properties endpoint.Opt[anyJSON] `json:"properties" doc:"{{ event.plan }} prints the property plan."`
}

// parse returns the preview that the body describes.
func (in *previewRequest) parse(p auth.Principal) (preview.Request, error) {
	b := &in.Body
	r := preview.Request{Variant: b.Variant.Pointer(), Sender: b.Sender.Value, Marks: b.Marks.Value}
	var bad fault.Problems
	source, err := b.Source.parse(p, &bad)
	if err != nil {
		return r, err
	}
	r.Source = source
	if b.Contact.Given() {
		var ok bool
		if r.Contact, ok = id.Parse[id.Contact](b.Contact.Value); !ok {
			bad.Add("contact_id", "must be a uuid")
		}
	}
	if b.Event.Given() {
		r.Event = b.Event.Value.parse(&bad)
	}
	if r.Variant != nil && !b.Source.Broadcast.Given() {
		bad.Add("variant_id", "only a broadcast has variants")
	}
	return r, bad.Err()
}

func (s *previewSource) parse(p auth.Principal, bad *fault.Problems) (preview.Source, error) {
	var out preview.Source
	kinds := 0
	if s.Template.Given() {
		kinds++
		out.Template = s.Template.Value.parse()
	}
	if s.Block.Given() {
		kinds++
		out.Block = s.Block.Value.parse()
	}
	if s.Content.Given() {
		kinds++
		ch, err := s.Content.Value.Change(p)
		if err != nil {
			return out, err
		}
		var inner fault.Problems
		out.Content = &preview.Content{Change: *ch, Message: s.Content.Value.Message(&inner)}
		for _, f := range inner.Fields().Fields {
			bad.Add("source."+f.Path, f.Message)
		}
	}
	if s.Broadcast.Given() {
		kinds++
		var ok bool
		if out.Broadcast, ok = id.Parse[id.Broadcast](s.Broadcast.Value); !ok {
			bad.Add("source.broadcast_id", "must be a uuid")
		}
	}
	if s.Message.Given() {
		kinds++
		var ok bool
		if out.Message, ok = id.Parse[id.LibraryEntry](s.Message.Value); !ok {
			bad.Add("source.message_id", "must be a uuid")
		}
	}
	if out.Version = s.Version.Value; s.Version.Given() {
		switch {
		case !s.Message.Given():
			bad.Add("source.version", "needs message_id")
		case out.Version < 1:
			bad.Add("source.version", "must be a positive integer")
		}
	}
	if kinds != 1 {
		bad.Add("source", "must have exactly one of template, block, content, broadcast_id and message_id")
	}
	return out, nil
}

func (t *previewTemplate) parse() *preview.Template {
	ch := t.TemplateBody.change()
	ch.Name, ch.HTML = t.Name.Pointer(), t.HTML.Pointer()
	return &preview.Template{Change: ch, Binding: rawOrNil(t.Binding)}
}

func (b *previewBlock) parse() *preview.Block {
	ch := b.BlockBody.change()
	ch.Name = b.Name.Pointer()
	return &preview.Block{Change: ch, Use: template.BlockUse{Template: b.Template.Value, Parameters: rawOrNil(b.Values), Sections: rawOrNil(b.Rows)}}
}

// rawOrNil returns the JSON of a field, or nil if it is absent or null.
func rawOrNil(o endpoint.Opt[anyJSON]) json.RawMessage {
	if !o.Given() {
		return nil
	}
	return o.Value.RawMessage
}

func (e *previewEvent) parse(bad *fault.Problems) journal.Trigger {
	t := journal.Trigger{Name: e.Name.Value, Type: "event"}
	if e.OccurredAt.Given() {
		at, err := endpoint.ParseTime(e.OccurredAt.Value)
		if err != nil {
			bad.Add("event.occurred_at", err.Error())
		}
		t.At = at
	}
	if raw := rawOrNil(e.Properties); raw != nil {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&t.Properties); err != nil {
			bad.Add("event.properties", "must be an object")
		}
		if len(raw) > journal.MaxTrigger {
			bad.Add("event.properties", "must have at most 64 KB")
		}
	}
	return t
}

func checkPreview(p auth.Principal, in *previewRequest) error {
	_, err := in.parse(p)
	return err
}

type previewAnswer struct {
	Subject   *string          `json:"subject"`
	Preheader *string          `json:"preheader" doc:"Null, too, if there is none."`
	From      *string          `json:"from" doc:"Name and address, such as News <news@example.com>; null without a sending identity."`
	HTML      *string          `json:"html"`
	Text      *string          `json:"text"`
	Size      *int             `json:"size" doc:"Of the HTML, in bytes."`
	Sent      *int             `json:"sent_size" doc:"Of the HTML as it is sent, with the addresses that count clicks and opens, in bytes. Gmail cuts what is larger than 102 KB."`
	Problems  []previewProblem `json:"problems" doc:"Errors first; at most 500."`
	Missing   []previewMissing `json:"missing" doc:"What the Liquid names and the contact or the event lacks; at most 200."`
	Links     []previewLink    `json:"links" doc:"The links of the HTML, each target once."`
}

type previewProblem struct {
	Severity preview.Severity `json:"severity" enum:"error,warning" doc:"error: it is refused when it is saved, or its recipients get no mail."`
	Code     string           `json:"code" doc:"As in errors of saving, in issues of bindings, and in warnings; RENDER_FAILED: it cannot be rendered for this contact."`
	Field    string           `json:"field" doc:"Of the source, such as content_mjml, content.subject or binding.parameters.title; may be empty."`
	Line     *int             `json:"line,omitempty" doc:"Counted from 1."`
	Column   *int             `json:"column,omitempty" doc:"In characters, counted from 1."`
	Message  string           `json:"message"`
	Fix      *string          `json:"fix,omitempty" doc:"One sentence that says what to do."`
	PreviewPlace
}

type previewMissing struct {
	Path  string  `json:"path" doc:"As it is written, such as contact.custom_fields.plan."`
	Field *string `json:"field,omitempty" doc:"Of the source, that names it first, if it is known."`
	Line  *int    `json:"line,omitempty" doc:"Counted from 1."`
	PreviewPlace
}

// PreviewPlace is an element of the HTML with marks.
type PreviewPlace struct {
	Mark *int `json:"mark,omitempty" doc:"N of the class pb-mark-N of the element, if marks were asked for. It may be that of an element inside of which the place is, or a position inside of that."`
	Row  *int `json:"row,omitempty" doc:"Which of the elements with this mark it is, from 0."`
}

// placeOf returns a place of the HTML with marks.
func placeOf(p preview.Place) PreviewPlace {
	if p.Mark == 0 {
		return PreviewPlace{}
	}
	return PreviewPlace{new(p.Mark - 1), new(p.Row)}
}

type previewLink struct {
	URL   string `json:"url"`
	Label string `json:"label" doc:"The text of the link, or the description of its image; may be empty."`
}

func (api Previews) previewMail(ctx context.Context, p auth.Principal, in *previewRequest) (previewAnswer, error) {
	asked, err := in.parse(p)
	if err != nil {
		return previewAnswer{}, err
	}
	made, err := api.preview.Make(ctx, p.Tenant, asked)
	if err != nil {
		return previewAnswer{}, err
	}
	out := previewAnswer{
		Subject: made.Subject, Preheader: made.Preheader, From: made.From, HTML: made.HTML, Text: made.Text,
		Problems: make([]previewProblem, len(made.Problems)), Missing: make([]previewMissing, len(made.Missing)), Links: make([]previewLink, len(made.Links)),
	}
	if made.HTML != nil {
		out.Size, out.Sent = new(len(*made.HTML)), new(made.Sent)
		if asked.Marks {
			out.HTML = made.Marked
		}
	}
	for i, q := range made.Problems {
		out.Problems[i] = previewProblem{q.Severity, q.Code, q.Field, positive(q.Line), positive(q.Column), q.Message, optional.Pointer(q.Fix), placeOf(q.Place)}
	}
	for i, path := range made.Missing {
		n := made.Named[i]
		out.Missing[i] = previewMissing{path, optional.Pointer(n.Field), positive(n.Line), placeOf(n.Place)}
	}
	for i, l := range made.Links {
		out.Links[i] = previewLink{l.URL, l.Label}
	}
	return out, nil
}

// positive returns a number, or nil for 0.
func positive(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}
