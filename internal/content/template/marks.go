package template

import (
	"context"
	"maps"
	"strings"

	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mark"
	"github.com/packetboat/packetboat/internal/mail/markup"
	"github.com/packetboat/packetboat/internal/mail/mjml"
)

// marked returns the HTML of a bound template with marks: those of the elements of its own body, and those
// of its slots at what blocks made. It is nil if there can be none; then rendering reports why.
func (t Template) marked(ctx context.Context, c *mjml.Compiler, bound binding.Bound) (*content.Marked, error) {
	source := t.HTML
	if t.Format == binding.MJML {
		source = optional.Value(t.MJML)
	}
	m := mark.New(source)
	if t.Format != binding.MJML {
		t.HTML = m.HTML(source)
	} else {
		t.MJML = new(mjml.Label(m, source, false))
		bound.Slots = labelSlots(m, source, bound.Slots)
	}
	return t.compileMarked(ctx, c, m, bound)
}

// compileMarked fills and compiles the body of a template whose elements have labels or marks.
func (t Template) compileMarked(ctx context.Context, c *mjml.Compiler, m mark.Marker, bound binding.Bound) (*content.Marked, error) {
	t.Subject, t.Text = nil, nil
	doc, _, err := binding.ParseDocument(t.bodies(), t.Schema)
	if err != nil {
		return nil, nil
	}
	b, err := doc.Fill(bound)
	if err != nil {
		return nil, nil
	}
	if t.Format == binding.MJML {
		return content.CompileMarked(ctx, c, t.Tenant, m, fieldMJML, b.MJML)
	}
	html, err := t.inlineCSS(b.HTML)
	if err != nil {
		return nil, nil
	}
	return &content.Marked{Marker: m, HTML: html, Exact: !t.InlineCSS || !mark.Selected(b.HTML)}, nil
}

// labelSlots returns slots whose blocks have the labels of the places where they are put in the MJML.
func labelSlots(m mark.Marker, source string, slots map[string]binding.Filling) map[string]binding.Filling {
	places := map[string]int{}
	units := mark.UTF16{Text: source}
	for _, s := range markup.Spans(source) {
		name, ok := strings.CutPrefix(markup.Code(source[s.Start:s.End]), "slot:")
		if name = strings.TrimSpace(name); ok {
			if _, again := places[name]; !again {
				places[name] = units.At(s.Start)
			}
		}
	}
	slots = maps.Clone(slots)
	for name, f := range slots {
		at, placed := places[name]
		if f.Block == nil || !placed {
			continue
		}
		b := *f.Block
		b.Bodies.MJML = mjml.LabelAs(m, b.Bodies.MJML, at)
		f.Block = &b
		slots[name] = f
	}
	return slots
}

// markedBlock returns the HTML of a block without a template, with the marks of its elements.
func (t Template) markedBlock(ctx context.Context, c *mjml.Compiler, b Block, bound binding.Bound) (*content.Marked, error) {
	if b.MJML == nil {
		return t.marked(ctx, c, bound)
	}
	m := mark.New(*b.MJML)
	document, err := mjml.FragmentDocument(mjml.Label(m, *b.MJML, true))
	if err != nil {
		return nil, nil
	}
	t.MJML = &document
	return t.compileMarked(ctx, c, m, bound)
}

// warm compiles a template with its samples and with marks, so that check does not compile it again.
func (t Template) warm(ctx context.Context, c *mjml.Compiler, ch Change) error {
	s, err := t.Schema.With(ch.Schema)
	if err != nil || t.Format != binding.MJML {
		return nil
	}
	t.Schema = s
	_, err = t.marked(ctx, c, binding.Sample(s))
	return err
}
