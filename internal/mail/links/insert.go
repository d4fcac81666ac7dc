package links

import (
	"html"
	"strings"
	"unicode"

	tokens "golang.org/x/net/html"
)

// InsertBeforeBodyEnd puts snippet before the last </body> of src, or at its
// end where there is none. Comments and scripts are not looked into.
func InsertBeforeBodyEnd(src, snippet string) string {
	at := len(src)
	walk(src, func(kind tokens.TokenType, name string, start, _ int) bool {
		if kind == tokens.EndTagToken && name == "body" {
			at = start
		}
		return true
	})
	return src[:at] + snippet + src[at:]
}

// InsertAfterBodyStart puts snippet after the first <body> of src; where there
// is none, after the head, or else before everything but the doctype.
func InsertAfterBodyStart(src, snippet string) string {
	at := 0
	walk(src, func(kind tokens.TokenType, name string, _, end int) bool {
		switch {
		case kind == tokens.StartTagToken && name == "body":
			at = end
			return false
		case kind == tokens.DoctypeToken && at == 0,
			kind == tokens.StartTagToken && name == "html",
			kind == tokens.EndTagToken && name == "head":
			at = end
		}
		return true
	})
	return src[:at] + snippet + src[at:]
}

// walk calls f for each token of src until it returns false.
func walk(src string, f func(kind tokens.TokenType, name string, start, end int) bool) {
	z := tokens.NewTokenizer(strings.NewReader(Mask(src)))
	for pos := 0; ; {
		kind := z.Next()
		if kind == tokens.ErrorToken {
			return
		}
		start := pos
		pos += len(z.Raw())
		name := ""
		if kind == tokens.StartTagToken || kind == tokens.SelfClosingTagToken || kind == tokens.EndTagToken {
			n, _ := z.TagName()
			name = string(n)
		}
		if !f(kind, name, start, pos) {
			return
		}
	}
}

const (
	preheaderOpen = `<div style="display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all">`
	// preheaderUnit is an invisible space that mail programs do not collapse.
	preheaderUnit = "&#847;&zwnj;&nbsp;"
	// preheaderUnits is how many fill a preview line, so that the start of
	// the body does not show behind the text.
	preheaderUnits = 90
)

// Preheader returns the hidden block that mail programs show beside the
// subject, for InsertAfterBodyStart, or nothing when text is blank. Text may
// hold Liquid; everything else in it is escaped.
func Preheader(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return preheaderOpen + PreheaderText(text) + "</div>"
}

// PreheaderText returns what stands in that block, for one that is there already.
func PreheaderText(text string) string {
	text = outside(text, func(piece string) string {
		return html.EscapeString(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
				return ' '
			}
			return r
		}, piece))
	})
	return text + strings.Repeat(preheaderUnit, preheaderUnits)
}

// DeclareUTF8 returns src with the character sets that its meta elements name
// changed to utf-8, in which all mail is sent.
func DeclareUTF8(src string) string {
	s := newScan(src, nil)
	var b strings.Builder
	last := 0
	replace := func(start, end int) {
		if !strings.EqualFold(src[start:end], "utf-8") {
			b.WriteString(src[last:start])
			b.WriteString("utf-8")
			last = end
		}
	}
	walk(src, func(kind tokens.TokenType, name string, start, end int) bool {
		if name != "meta" {
			return name != "body"
		}
		s.attributes(start, end, func(a attribute) {
			value := src[a.start:a.end]
			switch a.name {
			case "charset":
				replace(a.start, a.end)
			case "content":
				at := strings.Index(strings.ToLower(value), "charset=")
				if at < 0 || len(value) != len(strings.ToLower(value)) {
					return
				}
				at += len("charset=")
				n := strings.IndexAny(value[at:], "; \t\r\n\f")
				if n < 0 {
					n = len(value) - at
				}
				replace(a.start+at, a.start+at+n)
			}
		})
		return true
	})
	if last == 0 {
		return src
	}
	return b.String() + src[last:]
}
