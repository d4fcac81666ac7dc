package template

import (
	"encoding/json"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// The faults of templates and blocks.
var (
	ErrNotFound  = fault.New(fault.NotFound, "NOT_FOUND", "no such template")
	ErrNoBlock   = fault.New(fault.NotFound, "NOT_FOUND", "no such block")
	ErrSlug      = fault.New(fault.Conflict, "DUPLICATE_SLUG", "the slug is taken")
	ErrInUse     = fault.New(fault.Conflict, "IN_USE", "drafts or recent broadcasts still use it; send force=true to delete it all the same") // details: usage.Sends
	ErrLimit     = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "too many")
	ErrNoContent = fault.New(fault.Invalid, "NO_CONTENT", "a block needs content_html or content_mjml")
)

// Template is bodies with placeholders, and the schema of their values.
type Template struct {
	Tenant    id.Tenant
	ID        id.Template
	Slug      string
	Name      string
	Subject   *string
	Format    binding.Format
	HTML      string // of an MJML template: compiled from it, unless the author gave one
	MJML      *string
	Text      *string
	InlineCSS bool // inline style rules; for HTML only
	Schema    binding.Schema
	Counts    Counts
	Tags      []string
	CreatedAt time.Time
	UpdatedAt time.Time
	Revision  int64 // increases with each write
}

// Counts are the lengths of a schema's lists, for listings.
type Counts struct {
	Parameters int `json:"parameters"`
	Sections   int `json:"sections"`
	Slots      int `json:"slots"`
	Groups     int `json:"groups"`
}

// Block is a piece of content for the slots of templates.
type Block struct {
	Tenant    id.Tenant
	ID        id.Block
	Slug      string
	Name      string
	Active    bool
	HTML      *string
	MJML      *string
	Text      *string
	Schema    binding.Schema
	Tags      []string
	SlotKeys  []string
	CreatedAt time.Time
	UpdatedAt time.Time
	Revision  int64 // increases with each write
}

// Revisions and BlockRevisions are the tables of templates and blocks, for conditions on their revisions.
var (
	Revisions      = revision.Table{Name: "template"}
	BlockRevisions = revision.Table{Name: "block"}
)

// Snapshot is the schema of a template at the time when content was made from it.
type Snapshot struct {
	TemplateID  id.Template    `json:"template_id"`
	Slug        string         `json:"slug"`
	Name        string         `json:"name"`
	Format      binding.Format `json:"format"`
	ContentHash string         `json:"content_hash"` // SHA-256 in hex of everything that affects rendering
	binding.Schema
	CapturedAt time.Time `json:"captured_at"`
}

// MarshalJSON encodes the time like the API: UTC, in milliseconds.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	type plain Snapshot
	return json.Marshal(struct {
		plain
		CapturedAt string `json:"captured_at"`
	}{plain(s), s.CapturedAt.UTC().Format("2006-01-02T15:04:05.000Z")})
}

// RenderOptions are options of rendering.
type RenderOptions struct {
	Seed    string // selects blocks for random slots: the id of the record the content is for
	Lenient bool   // fill missing values with visible markers
	Marks   bool   // make the HTML with marks, too
}

// Rendered is the result of rendering a template with a binding.
type Rendered struct {
	Subject  *string
	HTML     string
	MJML     *string
	Text     *string
	OwnText  bool           // Text is the template's, not read from the HTML
	Params   map[string]any // values of param.* for the Liquid in the bodies
	Slots    map[string]Slot
	Blocks   []id.Block // the blocks used
	Snapshot Snapshot
	Issues   []binding.Issue // of a lenient rendering
	Findings []mjml.Warning  // of the compiler
	Marked   *content.Marked // with RenderOptions.Marks; nil if there can be no marks
}

// Slot is how a slot was filled.
type Slot struct {
	Strategy  binding.Strategy `json:"strategy"`
	BlockID   *id.Block        `json:"block_id"`
	BlockSlug *string          `json:"block_slug"`
	BlockName *string          `json:"block_name"`
}
