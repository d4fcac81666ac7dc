// Package contentapi has the operations on what authors write: templates, blocks, the library, images, and
// previews of all of them. It also has the form in which content is read and written, which campaignapi
// uses for broadcasts.
package contentapi

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ContentFaults are the faults of writing content.
var ContentFaults = []*fault.Error{
	draft.ErrTemplate, binding.ErrBinding, content.ErrNoContent, content.ErrLiquid, content.ErrMJML, content.ErrMJMLElement,
	content.ErrMJMLEmpty, content.ErrMJMLCompiler,
}

// contentFieldFaults are the fields of content with a code of their own.
var contentFieldFaults = map[string]*fault.Error{
	"content":                  content.ErrNoContent,
	"content.body_mjml":        fault.ErrInput,
	"content.body_text":        fault.ErrInput,
	"content.from_name":        fault.ErrInput,
	"content.preheader":        fault.ErrInput,
	"content.reply_to":         fault.ErrInput,
	"content.message_id":       fault.ErrInput,
	"content.message_version":  fault.ErrInput,
	"content.template_binding": binding.ErrBinding,
	"content.template_slug":    draft.ErrTemplate,
}

// WithContent adds the faults of the fields of content to faults.
func WithContent(faults map[string]*fault.Error) map[string]*fault.Error {
	maps.Copy(faults, contentFieldFaults)
	return faults
}

// ContentBody is the content in a body, of a broadcast or of an entry of the library.
type ContentBody struct {
	Subject    endpoint.Opt[string]  `json:"subject" doc:"One line; Liquid allowed. Required, unless the template has one."`
	HTML       endpoint.Opt[string]  `json:"body_html" doc:"This or body_mjml, unless a template is named; Liquid allowed."`
	MJML       endpoint.Opt[string]  `json:"body_mjml" doc:"Compiled to body_html when saved; Liquid allowed. Wins over body_html."`
	Text       endpoint.Opt[string]  `json:"body_text" doc:"Default: derived from the HTML."`
	FromName   endpoint.Opt[string]  `json:"from_name" doc:"Instead of the sender's display name."`
	ReplyTo    endpoint.Opt[string]  `json:"reply_to" doc:"Instead of the sender's."`
	Preheader  endpoint.Opt[string]  `json:"preheader" doc:"Shown by mail programs after the subject."`
	Slug       endpoint.Opt[string]  `json:"template_slug" doc:"Renders the bodies from this template at every save; null ends template mode."`
	Binding    endpoint.Opt[anyJSON] `json:"template_binding" doc:"The values for the template: {parameters, sections, slots}."`
	TemplateID json.RawMessage       `json:"template_id,omitempty" doc:"Session form."`
}

// Change returns the change that the body describes. API keys name the template by slug, sessions by
// slug or id, and the id wins.
func (c ContentBody) Change(p auth.Principal) (*draft.Change, error) {
	ch := &draft.Change{Parts: map[draft.Field]*string{}}
	for f, v := range map[draft.Field]endpoint.Opt[string]{
		draft.Subject: c.Subject, draft.Preheader: c.Preheader, draft.FromName: c.FromName,
		draft.ReplyTo: c.ReplyTo, draft.BodyHTML: c.HTML, draft.BodyMJML: c.MJML, draft.BodyText: c.Text,
	} {
		if v.Set {
			ch.Parts[f] = v.Pointer()
		}
	}
	if c.Slug.Set {
		ch.Template = &draft.TemplateRef{Slug: c.Slug.Value}
	}
	if !p.IsKey() {
		var bad fault.Problems
		v := wire.ReadID[id.Template](&bad, "content.template_id", c.TemplateID)
		if bad.Any() {
			return nil, draft.ErrTemplate.Sayf("content.template_id must be a uuid")
		}
		if v != nil && (!v.IsZero() || !c.Slug.Set) {
			ch.Template = &draft.TemplateRef{ID: *v}
		}
	}
	if c.Binding.Set {
		ch.Binding = json.RawMessage("null")
		if c.Binding.Given() {
			ch.Binding = c.Binding.Value.RawMessage
		}
	}
	return ch, nil
}

// BroadcastContent is the content of a broadcast, which may be copied from a library entry.
type BroadcastContent struct {
	ContentBody
	MessageID      endpoint.Opt[string] `json:"message_id" doc:"Copies the content of this library entry; other fields change the copy."`
	MessageVersion endpoint.Opt[int]    `json:"message_version" doc:"Of that entry. Default: the current one."`
}

// Message returns the version of a library entry that the body copies, or nil.
func (c BroadcastContent) Message(bad *fault.Problems) *broadcast.Message {
	if !c.MessageID.Given() {
		if c.MessageVersion.Given() {
			bad.Add("content.message_version", "needs content.message_id")
		}
		return nil
	}
	entry, ok := id.Parse[id.LibraryEntry](c.MessageID.Value)
	if !ok {
		bad.Add("content.message_id", "must be the uuid of an entry of the library")
	}
	if c.MessageVersion.Given() && c.MessageVersion.Value < 1 {
		bad.Add("content.message_version", "must be a positive integer")
	}
	return &broadcast.Message{Entry: entry, Version: c.MessageVersion.Value}
}

// AuthorOf returns the author with which a request writes content.
func AuthorOf(db *sqldb.DB, compiler *mjml.Compiler, now time.Time) draft.Author {
	return draft.Author{DB: db, MJML: compiler, Now: now}
}

// ContentHead are the fields that lean and full content share.
type ContentHead struct {
	Subject      *string  `json:"subject"`
	FromName     *string  `json:"from_name"`
	ReplyTo      *string  `json:"reply_to"`
	Preheader    *string  `json:"preheader"`
	TemplateSlug *string  `json:"template_slug"`
	Binding      *anyJSON `json:"template_binding" doc:"Null outside template mode."`
}

// LeanContent has flags in place of the bodies.
type LeanContent struct {
	ContentHead
	HasHTML     bool `json:"has_body_html"`
	HasMJML     bool `json:"has_body_mjml"`
	HasText     bool `json:"has_body_text"`
	HasSnapshot bool `json:"has_template_snapshot"`
}

// FullContent has the bodies.
type FullContent struct {
	ContentHead
	HTML     *string  `json:"body_html"`
	MJML     *string  `json:"body_mjml"`
	Text     *string  `json:"body_text"`
	Snapshot *anyJSON `json:"template_snapshot" doc:"The template's schema when the bodies were made; null outside template mode."`
}

// TemplateRef are the additional fields of the session form of content.
type TemplateRef struct {
	TemplateID *id.Template `json:"template_id"`
}

type (
	LeanSessionContent struct {
		LeanContent
		TemplateRef
	}
	FullSessionContent struct {
		FullContent
		TemplateRef
	}
)

// HeadOf returns the fields that lean and full content share.
func HeadOf(m draft.Content) ContentHead {
	h := ContentHead{Subject: m.Subject, FromName: m.FromName, ReplyTo: m.ReplyTo, Preheader: m.Preheader}
	if m.Origin != nil {
		h.TemplateSlug, h.Binding = &m.Origin.Slug, &anyJSON{m.Origin.Binding}
	}
	return h
}

// ShowContent returns content with its bodies.
func ShowContent(m draft.Content) FullContent {
	c := FullContent{ContentHead: HeadOf(m), HTML: m.HTML, MJML: m.MJML, Text: m.Text}
	if m.Origin != nil && len(m.Origin.Snapshot) > 0 {
		c.Snapshot = &anyJSON{m.Origin.Snapshot}
	}
	return c
}

// TemplateOf returns the additional fields of the session form.
func TemplateOf(m draft.Content) TemplateRef {
	if m.Origin == nil {
		return TemplateRef{}
	}
	return TemplateRef{&m.Origin.Template}
}

// anyJSON is JSON that the domain package parses, and that is shown as stored.
type anyJSON struct{ json.RawMessage }

// Schema is that of any object.
func (anyJSON) Schema(endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{Type: endpoint.TypeObject, AdditionalProperties: true}
}
