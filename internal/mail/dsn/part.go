package dsn

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/mail/mimepart"
)

// Limits of what Parse reads.
const (
	MaxSize  = 1 << 20
	MaxDepth = 10
	MaxParts = 100
)

type (
	part   = mimepart.Part
	header = mimepart.Header
)

// normalize returns raw with \n at the ends of lines, whatever they were, without the line that mbox
// files put before a message.
func normalize(raw []byte) string {
	s := string(raw[:min(len(raw), MaxSize)])
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	s = strings.TrimLeft(s, "\n \t")
	if strings.HasPrefix(s, "From ") {
		_, s, _ = strings.Cut(s, "\n")
	}
	return s
}

// plain returns the text of a part; of HTML, without tags.
func plain(n *part, m *meter) string {
	s := n.Decoded(&m.Meter)
	if n.Kind != "text/html" {
		return s
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	hidden := 0
	for {
		t := z.Next()
		m.Steps += len(z.Raw())
		if b.Len() > maxText {
			return b.String()
		}
		switch t {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			if hidden == 0 {
				b.WriteString(html.UnescapeString(string(z.Text())))
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			switch string(name) {
			case "script", "style", "head":
				hidden = 0
				if t == html.StartTagToken {
					hidden = 1
				}
			case "br", "p", "div", "tr", "li", "h1", "h2", "h3", "table", "td", "pre", "body":
				b.WriteByte('\n')
			}
		}
	}
}
