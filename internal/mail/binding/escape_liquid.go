package binding

import (
	"encoding/json"
	"strconv"
	"strings"
)

// requote returns an output or a tag of a value in a form that is allowed in HTML at that position
// before it is rendered: in an attribute its strings have the other quotes, and no comparison looks
// like the start of a tag.
func requote(piece string, at place) string {
	if !strings.ContainsAny(piece, `"'<`) {
		return piece
	}
	quote, inner, instead := byte(0), "", ""
	switch at {
	case inDouble:
		quote, inner, instead = '\'', "'", "\u2019"
	case inSingle:
		quote, inner, instead = '"', `"`, "\u201d"
	}
	var b strings.Builder
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		switch {
		case c == '"' || c == '\'':
			n := strings.IndexByte(piece[i+1:], c)
			if n < 0 {
				b.WriteString(piece[i:])
				return b.String()
			}
			text := piece[i+1 : i+1+n]
			if quote != 0 && c != quote {
				c, text = quote, strings.ReplaceAll(text, inner, instead)
			}
			b.WriteByte(c)
			b.WriteString(text)
			b.WriteByte(c)
			i += n + 1
		case c == '<' && i+1 < len(piece) && !strings.ContainsRune("=> ", rune(piece[i+1])):
			b.WriteString("< ")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// literal returns a value as a literal of Liquid, for a tag or an output at that position.
func literal(v Value, at place) string {
	text := ""
	switch x := v.V.(type) {
	case nil:
		return "nil"
	case json.Number:
		return decimal(x)
	case bool:
		return strconv.FormatBool(x)
	case []string:
		text = strings.Join(x, ", ")
	case string:
		if text = x; v.Type == RichText || v.Type == RawHTML {
			text = stripped(x, false)
		}
	}
	text = strings.NewReplacer("%}", "% }", "}}", "} }").Replace(text)
	double := at == inSingle || at != inDouble && !strings.Contains(text, `"`)
	if double {
		return `"` + strings.ReplaceAll(text, `"`, "\u201d") + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", "\u2019") + "'"
}
