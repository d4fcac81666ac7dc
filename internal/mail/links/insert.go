package links

import (
	"html"
	"strings"
	"unicode"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// InsertBeforeBodyEnd inserts snippet before the last </body> of src, or at its end if there is none.
// Comments and scripts are ignored.
func InsertBeforeBodyEnd(src, snippet string) string {
	at := bodyEnd(markup.New(src, markup.Syntax{}))
	return src[:at] + snippet + src[at:]
}

// BodyEnd returns where InsertBeforeBodyEnd inserts into rendered HTML, in which nothing is Liquid.
func BodyEnd(src string) int { return bodyEnd(markup.Rendered(src)) }

func bodyEnd(in *markup.Scanner) int {
	at := len(in.Source)
	for t := range in.All() {
		if t.Kind == markup.EndTag && t.Name == "body" {
			at = t.Start
		}
	}
	return at
}

// InsertAfterBodyStart inserts snippet after the first <body> of src. If there is none, it inserts it
// after the head, or else at the start, after the doctype.
func InsertAfterBodyStart(src, snippet string) string {
	at := 0
	for t := range markup.New(src, markup.Syntax{}).All() {
		opens := t.Kind == markup.StartTag && !t.Empty
		if opens && (t.Name == "body" || t.Name == "html") || t.Kind == markup.EndTag && t.Name == "head" || t.Kind == markup.Declaration && at == 0 {
			at = t.End
		}
		if opens && t.Name == "body" {
			break
		}
	}
	return src[:at] + snippet + src[at:]
}

// InsertAfterMiddleLink inserts snippet after the a element in the middle of those of src, where an
// element within text is allowed. Without any it returns src.
func InsertAfterMiddleLink(src, snippet string) string {
	var ends []int
	for t := range markup.New(src, markup.Syntax{}).All() {
		if t.Kind == markup.EndTag && t.Name == "a" {
			ends = append(ends, t.End)
		}
	}
	if len(ends) == 0 {
		return src
	}
	at := ends[(len(ends)-1)/2]
	return src[:at] + snippet + src[at:]
}

const (
	preheaderOpen = `<div style="display:none;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all">`
	// preheaderUnit is an invisible space that mail programs do not collapse.
	preheaderUnit = "&#847;&zwnj;&nbsp;"
	// preheaderUnits is how many fill a preview line, so that the start of
	// the body does not show behind the text.
	preheaderUnits = 90
)

// The hidden block that MJML makes of mj-preview begins with these.
const (
	previewOpen     = `<div style="display:none;`
	previewTinyFont = "font-size:1px;"
)

// FinishPreview returns HTML in which the hidden block that MJML makes of mj-preview is like that of Preheader: its text
// fills the line, and has no tiny font, which content filters count as a trick; display:none hides it as well.
func FinishPreview(src string) string {
	at := strings.Index(src, previewOpen+previewTinyFont)
	if at < 0 {
		return src
	}
	style := at + len(previewOpen)
	rest := src[style+len(previewTinyFont):]
	start, end := strings.Index(rest, ">")+1, strings.Index(rest, "</div>")
	if start > 0 && start < end {
		if text := rest[start:end]; strings.TrimSpace(text) != "" && !strings.Contains(text, "&#847;") {
			rest = rest[:end] + strings.Repeat(preheaderUnit, preheaderUnits) + rest[end:]
		}
	}
	return src[:style] + rest
}

// Preheader returns the hidden block that mail programs show beside the subject, to be inserted by
// InsertAfterBodyStart, or "" if text is blank. Liquid in text is kept; everything else is escaped.
func Preheader(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return preheaderOpen + PreheaderText(text) + "</div>"
}

// PreheaderText returns the text of that block for a preheader that is in the HTML already.
func PreheaderText(text string) string {
	text = markup.Outside(text, func(piece string) string {
		return html.EscapeString(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
				return ' '
			}
			return r
		}, piece))
	})
	return text + strings.Repeat(preheaderUnit, preheaderUnits)
}

// DeclareUTF8 returns src with the character sets of its meta elements changed to utf-8, in which all
// mail is sent.
func DeclareUTF8(src string) string {
	in := markup.New(src, markup.Syntax{})
	var b strings.Builder
	last := 0
	for t := range in.All() {
		if t.Name == "body" && t.Kind != markup.Text {
			break
		}
		if t.Name != "meta" || t.Kind != markup.StartTag {
			continue
		}
		for a := range in.Attributes(t) {
			start, end, ok := charset(a.Name, src[a.Start:a.End])
			if start, end = a.Start+start, a.Start+end; ok && !strings.EqualFold(src[start:end], "utf-8") {
				b.WriteString(src[last:start])
				b.WriteString("utf-8")
				last = end
			}
		}
	}
	if last == 0 {
		return src
	}
	return b.String() + src[last:]
}

// charset returns the position of a character set in the value of an attribute of a meta element.
func charset(attribute, value string) (start, end int, ok bool) {
	if attribute == "charset" {
		return 0, len(value), true
	}
	lower := strings.ToLower(value)
	at := strings.Index(lower, "charset=")
	if attribute != "content" || at < 0 || len(value) != len(lower) {
		return 0, 0, false
	}
	at += len("charset=")
	if n := strings.IndexAny(value[at:], "; \t\r\n\f"); n >= 0 {
		return at, at + n, true
	}
	return at, len(value), true
}
