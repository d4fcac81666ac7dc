package template

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/inline"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/mail/textpart"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Validate returns the issues of a binding of the template.
func (t Template) Validate(ctx context.Context, db *sqldb.DB, raw json.RawMessage) ([]binding.Issue, error) {
	pool, err := t.loadPool(ctx, db, raw)
	if err != nil {
		return nil, err
	}
	_, issues := binding.Check(t.Schema, raw, pool, t.ID.String())
	return issues, nil
}

// Render renders the template with a binding. An invalid binding is refused (binding.ErrBinding),
// unless the rendering is lenient.
func (t Template) Render(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, tenant id.Tenant, raw json.RawMessage, o RenderOptions, now time.Time) (Rendered, error) {
	t.Tenant = tenant
	seed := o.Seed
	if seed == "" {
		seed = t.ID.String()
	}
	var issues []binding.Issue
	bound, err := revision.Retry(func() (bound binding.Bound, err error) {
		bound, issues, err = t.bind(ctx, db, raw, o.Lenient, seed)
		return bound, err
	})
	if err != nil {
		return Rendered{}, err
	}
	var marked *content.Marked
	if o.Marks {
		if marked, err = t.marked(ctx, c, bound); err != nil {
			return Rendered{}, err
		}
	}
	r, err := t.renderBound(ctx, c, bound)
	if err != nil {
		return Rendered{}, err
	}
	r.Issues, r.Snapshot, r.Marked = issues, t.Snapshot(now), marked
	return r, nil
}

// bind validates a binding and loads the bodies of the chosen blocks. If one of these changed
// meanwhile, the error is revision.ErrOvertaken.
func (t Template) bind(ctx context.Context, db *sqldb.DB, raw json.RawMessage, lenient bool, seed string) (binding.Bound, []binding.Issue, error) {
	pool, err := t.loadPool(ctx, db, raw)
	if err != nil {
		return binding.Bound{}, nil, err
	}
	var bound binding.Bound
	var issues []binding.Issue
	if lenient {
		bound, issues = binding.Lenient(t.Schema, raw, pool, seed)
	} else if bound, issues = binding.Check(t.Schema, raw, pool, seed); len(issues) > 0 {
		return binding.Bound{}, nil, binding.ErrBinding.With(binding.Issues{Issues: issues}).Sayf("the binding does not fit the template %s: %s", t.Slug, describeIssues(issues))
	}
	return bound, issues, t.loadBodies(ctx, db, pool, bound)
}

// describeIssues describes the first issue and the number of others.
func describeIssues(issues []binding.Issue) string {
	text := issues[0].Message
	if p := issues[0].Path; p != "" && !strings.Contains(text, p) {
		text = p + ": " + text
	}
	if n := len(issues) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// loadBodies loads the bodies of the blocks that fill the slots.
func (t Template) loadBodies(ctx context.Context, db *sqldb.DB, pool *blockPool, bound binding.Bound) error {
	chosen := map[id.Block][]*binding.Block{}
	var ids []id.Block
	for _, f := range bound.Slots {
		if f.Block == nil {
			continue
		}
		if chosen[f.Block.ID] == nil {
			ids = append(ids, f.Block.ID)
		}
		chosen[f.Block.ID] = append(chosen[f.Block.ID], f.Block)
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := db.Query(ctx, `SELECT `+blockAll+` FROM block WHERE tenant_id = $1 AND id`+db.In(2), t.Tenant, sqldb.List(db, ids))
	list, err := sqldb.Collect(rows, err, scanTo((*Block).destAll))
	if err != nil {
		return fmt.Errorf("read the blocks of a template: %w", err)
	}
	if len(list) < len(ids) {
		return revision.ErrOvertaken
	}
	for _, b := range list {
		if b.Revision != pool.revisions[b.ID] {
			return revision.ErrOvertaken
		}
		for _, to := range chosen[b.ID] {
			to.Bodies = b.bodies()
		}
	}
	return nil
}

// bodies returns the bodies of a block.
func (b Block) bodies() binding.Bodies {
	return binding.Bodies{HTML: optional.Value(b.HTML), MJML: optional.Value(b.MJML), Text: optional.Value(b.Text)}
}

// bodies returns the bodies whose placeholders are filled when the template is rendered.
func (t Template) bodies() binding.Bodies {
	b := binding.Bodies{Subject: optional.Value(t.Subject), Text: optional.Value(t.Text)}
	if t.Format == binding.MJML {
		b.MJML = optional.Value(t.MJML)
	} else {
		b.HTML = t.HTML
	}
	return b
}

// renderBound fills and compiles the bodies of a bound template.
func (t Template) renderBound(ctx context.Context, c *mjml.Compiler, bound binding.Bound) (Rendered, error) {
	doc, _, err := binding.ParseDocument(t.bodies(), t.Schema)
	if err != nil {
		return Rendered{}, err
	}
	b, err := doc.Fill(bound)
	if err != nil {
		return Rendered{}, err
	}
	r := Rendered{HTML: b.HTML, Params: doc.Params(bound), Slots: map[string]Slot{}}
	if t.Subject != nil {
		r.Subject = &b.Subject
	}
	if t.Format == binding.MJML {
		r.MJML = &b.MJML
		compiled, err := content.CompileMJML(ctx, c, t.Tenant, fieldMJML, b.MJML)
		if err != nil {
			return Rendered{}, err
		}
		r.HTML, r.Findings = compiled.HTML, compiled.Warnings
	} else if r.HTML, err = t.inlineCSS(r.HTML); err != nil {
		return Rendered{}, err
	}
	text := b.Text
	if t.Text == nil {
		text = textpart.FromHTML(r.HTML)
	}
	r.Text, r.OwnText = &text, t.Text != nil
	for _, f := range []struct{ field, text string }{{fieldSubject, b.Subject}, {"body_html", r.HTML}, {"body_text", text}} {
		if err := content.CheckLiquid(f.field, f.text); err != nil {
			return Rendered{}, err
		}
	}
	for _, s := range t.Schema.Slots {
		f := bound.Slots[s.Name]
		r.Slots[s.Name] = slotOf(f)
		if f.Block != nil && !slices.Contains(r.Blocks, f.Block.ID) {
			r.Blocks = append(r.Blocks, f.Block.ID)
		}
	}
	return r, nil
}

// inlineCSS inlines the CSS of the HTML, if the template says so.
func (t Template) inlineCSS(html string) (string, error) {
	if !t.InlineCSS || t.Format != binding.HTML {
		return html, nil
	}
	out, err := inline.CSS(html)
	if errors.Is(err, inline.ErrLimit) {
		return "", fault.Input(fault.Field{Path: "inline_css", Message: err.Error()})
	}
	return out, err
}

func slotOf(f binding.Filling) Slot {
	s := Slot{Strategy: f.Strategy}
	if f.Strategy == "" {
		s.Strategy = binding.Empty
	}
	if b := f.Block; b != nil {
		s.BlockID, s.BlockSlug, s.BlockName = &b.ID, &b.Slug, &b.Name
	}
	return s
}

// ContentHash returns the SHA-256, in hex, of everything that affects the rendering of the
// template.
func (t Template) ContentHash() string {
	b := t.bodies()
	s := t.Schema
	h := sha256.New()
	// These values were decoded from JSON, so they encode.
	_ = json.NewEncoder(h).Encode([]any{
		t.Format, t.Subject, b.HTML, b.MJML, t.Text, t.InlineCSS && t.Format == binding.HTML,
		optional.List(s.Parameters), optional.List(s.Sections), optional.List(s.Slots),
	})
	return hex.EncodeToString(h.Sum(nil))
}

// Snapshot returns the template's current schema.
func (t Template) Snapshot(now time.Time) Snapshot {
	s := t.Schema
	return Snapshot{
		TemplateID: t.ID, Slug: t.Slug, Name: t.Name, Format: t.Format, ContentHash: t.ContentHash(),
		Schema: binding.Schema{
			Parameters: optional.List(s.Parameters), Sections: optional.List(s.Sections), Slots: optional.List(s.Slots), Groups: optional.List(s.Groups), Expects: optional.List(s.Expects),
		},
		CapturedAt: now.UTC().Truncate(time.Millisecond),
	}
}
