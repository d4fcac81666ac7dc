package template

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

// Change holds the changes that a request makes to a template; nil leaves a part unchanged, and an
// empty string clears an optional one.
type Change struct {
	Name      *string
	Slug      *string // of a new template: derived from the name by default
	Subject   *string
	Format    *binding.Format
	HTML      *string // empty in an MJML template: compiled from the MJML
	MJML      *string
	Text      *string
	InlineCSS *bool
	Tags      *[]string
	Schema    binding.RawSchema
}

const (
	maxTemplates = 500
	maxBlocks    = 1000
	maxName      = 200
	maxTags      = 50
	maxTagChars  = 64
)

// content reports whether the change affects the content, so that it must be validated again.
func (ch Change) content() bool {
	return ch.Subject != nil || ch.Format != nil || ch.HTML != nil || ch.MJML != nil || ch.Text != nil || ch.InlineCSS != nil || changesSchema(ch.Schema)
}

func changesSchema(raw binding.RawSchema) bool {
	return raw.Parameters != nil || raw.Sections != nil || raw.Slots != nil || raw.Groups != nil || raw.Expects != nil
}

// CheckNew validates a new template, except for its content.
func (ch Change) CheckNew() error { return (&Template{Format: binding.HTML}).apply(ch) }

// Check validates a change, except for the content, independently of the template.
func (ch Change) Check() error {
	return (&Template{Name: "-", HTML: "-", MJML: new("-")}).apply(ch)
}

// apply applies the change except for the schema, and reports all invalid fields.
func (t *Template) apply(ch Change) error {
	var p fault.Problems
	t.Name = applyName(&p, t.Name, ch.Name)
	t.Slug = applySlug(&p, t.Slug, ch.Slug)
	if ch.Subject != nil {
		t.Subject = nilIfBlank(ch.Subject)
		content.CheckHeader(&p, "subject", *ch.Subject)
	}
	if ch.Format != nil {
		t.Format = *ch.Format
		if t.Format != binding.HTML && t.Format != binding.MJML {
			p.Add("format", "must be html or mjml")
		}
	}
	if ch.MJML != nil {
		t.MJML = nilIfBlank(ch.MJML)
		if t.Format == binding.MJML && ch.HTML == nil {
			t.HTML = "" // compiled from the previous MJML
		}
	}
	if ch.HTML != nil {
		t.HTML = *ch.HTML
	}
	if ch.Text != nil {
		t.Text = nilIfBlank(ch.Text)
	}
	if ch.InlineCSS != nil {
		t.InlineCSS = *ch.InlineCSS
	}
	switch {
	case t.Format == binding.MJML && t.MJML == nil:
		p.Add("content_mjml", "required when format is mjml")
	case t.Format == binding.HTML && strings.TrimSpace(t.HTML) == "":
		p.Add("content_html", "required when format is html: the HTML of the mail")
	}
	tags := applyLabels(&p, "tags", t.Tags, ch.Tags)
	if err := p.Err(); err != nil {
		return err
	}
	t.Tags = tags
	return checkCount("tags", tags)
}

// applyName validates the name and returns it after a change.
func applyName(p *fault.Problems, old string, name *string) string {
	if name != nil {
		old = strings.TrimSpace(norm.NFC.String(*name))
	}
	if n := utf8.RuneCountInString(old); n == 0 || n > maxName || unstorable(old) {
		p.Add("name", "required, 1 to 200 characters")
	}
	return old
}

// applySlug validates the slug and returns it after a change. It must not look like an id, since
// ByRef would parse it as one.
func applySlug(p *fault.Problems, old string, s *string) string {
	if s == nil {
		return old
	}
	switch {
	case !slug.Valid(*s):
		p.Add("slug", slug.Rule)
	case id.Valid(*s):
		p.Add("slug", "must not look like an id")
	}
	return *s
}

// applyLabels validates labels and returns them after a change: trimmed, without duplicates, never
// nil.
func applyLabels(p *fault.Problems, path string, old []string, list *[]string) []string {
	if list == nil {
		return old
	}
	labels := []string{}
	seen := map[string]bool{}
	for i, l := range *list {
		l = strings.TrimSpace(norm.NFC.String(l))
		if n := utf8.RuneCountInString(l); n == 0 || n > maxTagChars || unstorable(l) {
			p.AddElement(path, "must have 1 to 64 characters")
			if i >= maxTags {
				break // also too long, which is reported below
			}
			continue
		}
		if !seen[l] {
			seen[l] = true
			labels = append(labels, l)
		}
	}
	return labels
}

// checkCount returns ErrLimit if there are too many labels.
func checkCount(path string, labels []string) error {
	if len(labels) > maxTags {
		return ErrLimit.Sayf("%s may be at most %d", path, maxTags)
	}
	return nil
}

// unstorable reports whether no TEXT column can hold s, so that no row can match it.
func unstorable(s string) bool { return strings.ContainsRune(s, 0) || !utf8.ValidString(s) }

// nilIfBlank returns nil for a blank text.
func nilIfBlank(s *string) *string {
	if s == nil || strings.TrimSpace(*s) == "" {
		return nil
	}
	return s
}

// BlockChange holds the changes that a request makes to a block; nil leaves a part unchanged, and
// an empty string clears an optional one.
type BlockChange struct {
	Name     *string
	Slug     *string // of a new block: derived from the name by default
	Active   *bool
	HTML     *string
	MJML     *string // a fragment
	Text     *string
	Tags     *[]string
	SlotKeys *[]string
	Schema   binding.RawSchema
}

// content reports whether the change affects the content.
func (ch BlockChange) content() bool {
	return ch.HTML != nil || ch.MJML != nil || ch.Text != nil || changesSchema(ch.Schema)
}

// CheckNew validates a new block, except for its content.
func (ch BlockChange) CheckNew() error { return new(Block).apply(ch) }

// Check validates a change, except for the content, independently of the block.
func (ch BlockChange) Check() error {
	return (&Block{Name: "-", HTML: new("-"), MJML: new("-")}).apply(ch)
}

// apply applies the change except for the schema, and reports all invalid fields.
func (b *Block) apply(ch BlockChange) error {
	var p fault.Problems
	b.Name = applyName(&p, b.Name, ch.Name)
	b.Slug = applySlug(&p, b.Slug, ch.Slug)
	if ch.Active != nil {
		b.Active = *ch.Active
	}
	for _, body := range []struct{ to, from **string }{{&b.HTML, &ch.HTML}, {&b.MJML, &ch.MJML}, {&b.Text, &ch.Text}} {
		if *body.from != nil {
			*body.to = nilIfBlank(*body.from)
		}
	}
	tags, keys := applyLabels(&p, "tags", b.Tags, ch.Tags), applyLabels(&p, "slot_keys", b.SlotKeys, ch.SlotKeys)
	if err := p.Err(); err != nil {
		return err
	}
	b.Tags, b.SlotKeys = slices.Clone(tags), slices.Clone(keys)
	if b.HTML == nil && b.MJML == nil {
		return ErrNoContent
	}
	if err := checkCount("tags", tags); err != nil {
		return err
	}
	return checkCount("slot_keys", keys)
}
