package template

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Previewed is a template or a block that was rendered without being stored.
type Previewed struct {
	Rendered
	Warnings []binding.Warning
	Expects  []binding.Expectation
}

// Preview validates a template like Create, and renders it with a binding, leniently. Nothing is
// stored, so the slug may be taken and the name absent. A random slot gets the block that it has in
// the stored template with the same slug.
func Preview(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, tenant id.Tenant, ch Change, raw json.RawMessage, marks bool, now time.Time) (Previewed, error) {
	t := Template{Tenant: tenant, ID: id.New[id.Template](), Name: "-", Format: binding.HTML, Tags: []string{}}
	if err := t.apply(ch); err != nil {
		return Previewed{}, err
	}
	if marks {
		if err := t.warm(ctx, c, ch); err != nil {
			return Previewed{}, err
		}
	}
	warnings, err := t.check(ctx, db, c, ch, now)
	if err != nil {
		return Previewed{}, err
	}
	seed := previewSeed
	if t.Slug != "" {
		stored, err := ByRef(ctx, db, tenant, t.Slug)
		if err == nil {
			seed = stored.ID.String()
		} else if !errors.Is(err, ErrNotFound) {
			return Previewed{}, err
		}
	}
	r, err := t.Render(ctx, db, c, tenant, raw, RenderOptions{Seed: seed, Lenient: true, Marks: marks}, now)
	return Previewed{r, warnings, t.Schema.Expects}, err
}

// previewSeed selects the blocks of random slots in previews of what is not stored.
const previewSeed = "preview"

// BlockUse says how a block is previewed.
type BlockUse struct {
	Template   string // whose slot it fills, by id or slug; empty: alone
	Parameters json.RawMessage
	Sections   json.RawMessage
	Marks      bool // make the HTML with marks, too, if it is shown alone
}

// ErrNoSlot means that no slot of a template accepts a block; details are binding.Issues.
var ErrNoSlot = binding.ErrBinding

// PreviewBlock validates a block like CreateBlock, and renders it leniently: in the first slot of a
// template that accepts it, or alone. The issues are those of the values of the block. If it has both
// an HTML and an MJML body, it is rendered alone from the MJML.
func PreviewBlock(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, tenant id.Tenant, ch BlockChange, use BlockUse, now time.Time) (Previewed, error) {
	b := Block{Tenant: tenant, ID: id.New[id.Block](), Name: "-", Active: true, Tags: []string{}, SlotKeys: []string{}}
	if err := b.apply(ch); err != nil {
		return Previewed{}, err
	}
	warnings, err := b.check(ctx, db, c, ch, now)
	if err != nil {
		return Previewed{}, err
	}
	p := Previewed{Warnings: warnings}
	if use.Template == "" {
		p.Rendered, err = b.renderAlone(ctx, c, use)
		return p, err
	}
	t, err := ByRef(ctx, db, tenant, use.Template)
	if err != nil {
		return Previewed{}, err
	}
	p.Expects = t.Schema.Expects
	p.Rendered, err = t.renderWith(ctx, db, c, b, use)
	return p, err
}

// renderAlone renders a block as if it was a template.
func (b Block) renderAlone(ctx context.Context, c *mjml.Compiler, use BlockUse) (Rendered, error) {
	t := Template{Tenant: b.Tenant, ID: id.New[id.Template](), Format: binding.HTML, HTML: optional.Value(b.HTML), Text: b.Text, Schema: b.Schema}
	if b.MJML != nil {
		document, err := mjml.FragmentDocument(*b.MJML)
		if err != nil {
			return Rendered{}, content.MJMLFault(fieldMJML, err)
		}
		t.Format, t.MJML = binding.MJML, &document
	}
	raw, err := encodeParts(map[string]json.RawMessage{"parameters": use.Parameters, "sections": use.Sections})
	if err != nil {
		return Rendered{}, err
	}
	bound, issues := binding.Lenient(t.Schema, raw, nil, previewSeed)
	var marked *content.Marked
	if use.Marks {
		if marked, err = t.markedBlock(ctx, c, b, bound); err != nil {
			return Rendered{}, err
		}
	}
	r, err := t.renderBound(ctx, c, bound)
	r.Issues, r.Marked = issues, marked
	return r, err
}

// renderWith renders the template with a block in the first slot that accepts it. A slot that the
// block names among its keys comes first.
func (t Template) renderWith(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, b Block, use BlockUse) (Rendered, error) {
	fits := func(s binding.Slot) bool {
		return hasTags(b.Tags, s.TagFilter) && (t.Format == binding.MJML && b.MJML != nil || t.Format == binding.HTML && b.HTML != nil)
	}
	i := slices.IndexFunc(t.Schema.Slots, func(s binding.Slot) bool { return fits(s) && slices.Contains(b.SlotKeys, s.Name) })
	if i < 0 {
		i = slices.IndexFunc(t.Schema.Slots, fits)
	}
	if i < 0 {
		issue := binding.Issue{
			Path: "template_slug", Code: binding.BlockNotEligible,
			Message: fmt.Sprintf("no slot of the template %s accepts the block: it lacks the tags that they filter by, or a body in the format %s", t.Slug, t.Format),
			Fix:     "Name another template in 'template_slug', or add the tags of one of its slots to 'tags'",
		}
		return Rendered{}, ErrNoSlot.With(binding.Issues{Issues: []binding.Issue{issue}}).Sayf("%s", issue.Message)
	}
	t.Schema.Slots = slices.Clone(t.Schema.Slots)
	slot := &t.Schema.Slots[i]
	slot.Allowed = append(slices.Clone(slot.Allowed), binding.Fixed)
	filling, err := encodeParts(map[string]json.RawMessage{
		"strategy": json.RawMessage(`"fixed"`), "block_id": json.RawMessage(`"` + b.ID.String() + `"`), "parameters": use.Parameters, "sections": use.Sections,
	})
	if err != nil {
		return Rendered{}, err
	}
	raw, err := json.Marshal(map[string]any{"slots": map[string]json.RawMessage{slot.Name: filling}})
	if err != nil {
		return Rendered{}, err
	}
	var issues []binding.Issue
	bound, err := revision.Retry(func() (bound binding.Bound, err error) {
		pool, err := t.loadPool(ctx, db, []byte(`{}`)) // the other slots
		if err != nil {
			return binding.Bound{}, err
		}
		schema := b.Schema
		pool.named[b.ID.String()] = &binding.Block{ID: b.ID, Slug: b.Slug, Name: b.Name, Tags: b.Tags, Schema: schema, Bodies: b.bodies()}
		bound, issues = binding.Lenient(t.Schema, raw, pool, t.ID.String())
		others := bound
		others.Slots = map[string]binding.Filling{}
		for name, f := range bound.Slots {
			if f.Block == nil || f.Block.ID != b.ID {
				others.Slots[name] = f
			}
		}
		return bound, t.loadBodies(ctx, db, pool, others)
	})
	if err != nil {
		return Rendered{}, err
	}
	r, err := t.renderBound(ctx, c, bound)
	prefix := "slots." + slot.Name + "."
	for _, issue := range issues { // those of the template itself do not matter here
		if len(issue.Path) > len(prefix) && issue.Path[:len(prefix)] == prefix {
			issue.Path = issue.Path[len(prefix):]
			r.Issues = append(r.Issues, issue)
		}
	}
	return r, err
}

// encodeParts encodes an object, without members that are absent.
func encodeParts(parts map[string]json.RawMessage) (json.RawMessage, error) {
	for name, part := range parts {
		if len(part) == 0 {
			delete(parts, name)
		}
	}
	return json.Marshal(parts)
}
