package binding

import (
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
	"github.com/packetboat/packetboat/internal/mail/textpart"
)

// slot writes the block in a slot; where elements are not allowed, its text.
func (x *expander) slot(out *joiner, p *part, f form, s *frame) {
	filling := s.bound.Slots[p.name]
	at := where{f, p.place, p.code}
	key := textKey{p.name, at}
	switch {
	case filling.Block == nil && filling.Notice == "":
	case filling.Block == nil && f.marked() && p.place == inMarkup:
		x.write(out, notice(filling.Notice, f, p.parent))
	case filling.Block == nil:
		x.write(out, escapeText(filling.Notice, at))
	case f.marked() && p.place == inMarkup:
		before, after := wrapperOf(filling.Block.Bodies.MJML, f, p.parent)
		x.write(out, before)
		x.parts(out, x.block(filling.Block, p.name, f), f, s.block(p.name, filling), nil)
		x.write(out, after)
	default:
		text, ok := s.text[key]
		if !ok {
			text = x.blockText(filling, s.block(p.name, filling), f, at)
			s.text[key] = text
		}
		x.write(out, text)
	}
}

// block returns the parsed body of a block.
func (x *expander) block(b *Block, slot string, f form) []part {
	key := blockKey{slot, f}
	parts, ok := x.blocks[key]
	if !ok {
		schema := b.Schema
		schema.Slots = nil // blocks have no slots
		r := reader{src: b.Bodies.of(f), form: f, names: newNames(schema), slot: slot}
		parts = r.read()
		x.blocks[key] = parts
	}
	return parts
}

// blockText returns the text of a block: its own, or else that of its HTML.
func (x *expander) blockText(filling Filling, inner *frame, f form, at where) string {
	slot := inner.slot
	bodies := filling.Block.Bodies
	var out joiner
	if f == plainForm && bodies.Text != "" {
		x.parts(&out, x.block(filling.Block, slot, plainForm), plainForm, inner, nil)
		return out.String()
	}
	from := htmlForm
	if bodies.HTML == "" {
		from = mjmlForm
	}
	x.parts(&out, x.block(filling.Block, slot, from), from, inner, nil)
	if x.left < 0 {
		return ""
	}
	if f != plainForm {
		return escapeText(stripped(out.String(), false), at)
	}
	text := strings.TrimSpace(textpart.FromHTML(out.String()))
	if checkLiquid(RawHTML, text) != "" { // a tag of Liquid was removed with broken HTML
		text = stripped(out.String(), true)
	}
	return plainOutputs(text)
}

// notice returns what a preview shows for an empty slot: a dashed box.
func notice(text string, f form, parent string) string {
	text = escapeText(text, where{form: f})
	if f == htmlForm || !takesMJML(parent) {
		return `<div style="border:2px dashed #8c8c8c;padding:16px;text-align:center;font-family:sans-serif;color:#595959">` + text + `</div>`
	}
	before, after := wrapperFor("mj-text", parent)
	return before + `<mj-text align="center" color="#595959" padding="16px"><div style="border:2px dashed #8c8c8c;padding:16px">` + text + `</div></mj-text>` + after
}

// takesMJML reports whether an MJML element contains MJML, and not HTML.
func takesMJML(parent string) bool {
	switch parent {
	case "", "mjml", "mj-body", "mj-wrapper", "mj-section", "mj-group", "mj-column", "mj-hero":
		return true
	}
	return false
}

// wrapperOf returns the elements around a block's MJML that are needed in an element: a block of
// mj-text needs a column and a section in mj-body.
func wrapperOf(source string, f form, parent string) (before, after string) {
	if f != mjmlForm {
		return "", ""
	}
	return wrapperFor(firstElement(source), parent)
}

func wrapperFor(element, parent string) (before, after string) {
	switch element {
	case "mj-text", "mj-button", "mj-image", "mj-divider", "mj-spacer", "mj-table", "mj-social",
		"mj-navbar", "mj-accordion", "mj-carousel":
	case "mj-column", "mj-group":
		if parent == "mj-body" || parent == "mj-wrapper" {
			return "<mj-section>", "</mj-section>"
		}
		return "", ""
	default:
		return "", ""
	}
	switch parent {
	case "mj-body", "mj-wrapper":
		return "<mj-section><mj-column>", "</mj-column></mj-section>"
	case "mj-section", "mj-group":
		return "<mj-column>", "</mj-column>"
	}
	return "", ""
}

// firstElement returns the name of the first element of a source.
func firstElement(source string) string {
	for {
		_, rest, ok := strings.Cut(source, "<")
		if !ok {
			return ""
		}
		if comment, ok := strings.CutPrefix(rest, "!--"); ok {
			if _, source, ok = strings.Cut(comment, "-->"); !ok {
				return ""
			}
			continue
		}
		n := 0
		for n < len(rest) && (markup.IsWord(rest[n]) || rest[n] == '-') {
			n++
		}
		if n > 0 {
			return rest[:n]
		}
		source = rest
	}
}
