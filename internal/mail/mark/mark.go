// Package mark names the elements of a mail by their positions in what its author wrote, so that a preview
// can say which text a place in it is made from.
//
// A mark is a class of an HTML element. Until the mail is rendered, it begins with a word that the mail does
// not contain, so that marks can be told from what authors and data say, and be removed.
package mark

import (
	"crypto/rand"
	"regexp"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// Prefix is what the classes of shown marks begin with. The position of the element's < in the source
// follows, in UTF-16 code units.
const Prefix = "pb-mark-"

// Marker makes marks and finds them again.
type Marker struct{ word string }

// stem begins the words of this process. What is put into a source later may contain only words that can be guessed.
var stem = "pbmark" + strings.ToLower(rand.Text()[:16])

// New returns the marker of a source.
func New(source string) Marker { return Marker{markup.WordNotIn(source, stem)} }

// Word returns a word that the source does not contain.
func (m Marker) Word() string { return m.word }

// Class returns the mark of a position, which is given in decimal.
func (m Marker) Class(position string) string { return m.word + "-" + position }

// ofClass matches a condition of CSS on an attribute that may be class: in a namespace, behind a comment or with escapes, too.
var ofClass = regexp.MustCompile(`(?is)\[(?:/\*.*?\*/|[^\]"'=<>])*?(?:class|\\)`)

// Selected reports whether CSS of a source may select elements by whether they have marks.
func Selected(source string) bool { return ofClass.MatchString(source) }

// Remove returns HTML without marks.
func (m Marker) Remove(html string) string { return m.rewrite(html, "") }

// Show returns HTML whose marks are classes with Prefix.
func (m Marker) Show(html string) string { return m.rewrite(html, Prefix) }

// outlook is what the compiler appends to the classes of the tables for Outlook, which get no marks.
const outlook = "-outlook"

func (m Marker) rewrite(html, class string) string {
	var b strings.Builder
	for {
		at := strings.Index(html, m.word+"-")
		if at < 0 {
			b.WriteString(html)
			return b.String()
		}
		begin, end := at+len(m.word)+1, at+len(m.word)+1
		for end < len(html) && '0' <= html[end] && html[end] <= '9' {
			end++
		}
		number := html[begin:end]
		ofTable := strings.HasPrefix(html[end:], outlook)
		if ofTable {
			end += len(outlook)
		}
		const alone = ` class="`
		switch {
		case class != "" && !ofTable:
			b.WriteString(html[:at] + class + number)
		case at > 0 && html[at-1] == ' ':
			b.WriteString(html[:at-1])
		case !ofTable && strings.HasSuffix(html[:at], alone) && strings.HasPrefix(html[end:], `"`):
			b.WriteString(html[:at-len(alone)])
			end++
		default:
			b.WriteString(html[:at])
		}
		html = html[end:]
	}
}
