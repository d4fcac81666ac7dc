package draft

import (
	"encoding/json"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/mjml"
)

// Field names a part of the content, as in requests.
type Field string

// The parts that are texts.
const (
	Subject   Field = "subject"
	Preheader Field = "preheader"
	FromName  Field = "from_name"
	ReplyTo   Field = "reply_to"
	BodyHTML  Field = "body_html"
	BodyMJML  Field = "body_mjml"
	BodyText  Field = "body_text"
)

// Content is the content written by an author; nil means absent. The library stores its JSON
// encoding.
type Content struct {
	Subject   *string `json:"subject"`
	Preheader *string `json:"preheader"` // shown by mail clients next to the subject
	FromName  *string `json:"from_name"` // instead of the sending identity's name
	ReplyTo   *string `json:"reply_to"`  // instead of the sending identity's
	HTML      *string `json:"body_html"` // with MJML: compiled from it
	MJML      *string `json:"body_mjml"`
	Text      *string `json:"body_text"` // derived from HTML when nil
	Origin    *Origin `json:"origin,omitempty"`

	// Findings are what the compiler said of the MJML.
	Findings []mjml.Warning `json:"mjml_findings,omitempty"`

	// Marked is the HTML with marks, if an Author made it.
	Marked *content.Marked `json:"-"`
}

// Origin is the template that the bodies were made from.
type Origin struct {
	Template id.Template     `json:"template_id"` // may have been deleted
	Slug     string          `json:"template_slug"`
	Subject  *string         `json:"subject"` // the author's, in place of the template's
	Binding  json.RawMessage `json:"template_binding"`
	Snapshot json.RawMessage `json:"template_snapshot"`
	Params   json.RawMessage `json:"template_params"` // values of param.*
	Blocks   []id.Block      `json:"block_ids"`
}
