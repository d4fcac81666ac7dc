package textpart

import (
	"bytes"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

const (
	textWidth   = 76
	outputWidth = 12 // the assumed width of a Liquid output, except for addresses
	cellGap     = " | "
	quoteMark   = "> "
)

// lineWriter collects words into lines. Line ends are written only before the next word, so that adjacent
// blocks share them.
//
// Liquid tags between blocks (held) are written before pending line ends: so each block has its own line
// ends, whether it is rendered once, many times or not at all. Tags within a line are parts of its words.
type lineWriter struct {
	out      []byte
	col      int
	lineOpen bool // this line is not empty

	current   []byte // the word being read
	wordWidth int
	solid     bool   // the word has visible characters
	held      []byte // Liquid tags at the start of a line
	seen      []byte // the visible text since the start of a link

	spaced, gap bool // the separator before the next word on this line
	breakable   bool // there is none, but the line may be broken
	before      edge // the end of the word
	breaks      int  // line ends required by blocks
	explicit    int  // line ends required by br

	quotes, pre, loops, indent int
	raw                        bool // inside a raw block
	rendered                   bool // nothing is Liquid

	words   int // words written
	quoted  int // quotation marks before the last line
	pad     int // spaces of preformatted text before the next word
	prefix  int // columns of quotation marks, indentation and list mark
	heading struct {
		open  bool
		width int // of its widest line
	}

	lists  []list
	bullet string // the mark before the next word
}

type list struct {
	ordered bool
	items   int
	width   int // of its last mark
}

// String ends the text and returns it.
func (w *lineWriter) String() string {
	w.endWord()
	w.writeHeldTags()
	text := bytes.TrimRight(w.out, "\n \t")
	if len(text) == 0 {
		return ""
	}
	return string(text) + "\n"
}

// html adds a piece of HTML text that may contain Liquid.
func (w *lineWriter) html(s string) { w.mixed(s, html.UnescapeString) }

// text adds text that may contain Liquid.
func (w *lineWriter) text(s string) { w.mixed(s, func(s string) string { return s }) }

func (w *lineWriter) mixed(s string, decode func(string) string) {
	if w.rendered {
		w.plain(decode(s))
		return
	}
	last := 0
	for _, p := range markup.Spans(s) {
		w.plain(w.literal(decode(s[last:p.Start])))
		last = p.End
		piece := s[p.Start:p.End]
		if name := markup.TagName(piece); name == "raw" || name == "endraw" {
			w.raw = name == "raw"
		}
		if p.Output {
			w.addText(piece, widthOfOutput(piece))
		} else {
			w.tag(piece)
		}
	}
	w.plain(w.literal(decode(s[last:])))
}

// brace is Liquid that prints a brace.
const brace = `{{"{"}}`

// literal returns decoded text in which no brace can be read as the beginning of Liquid, whatever is
// written next to it. In a raw block that is not necessary.
func (w *lineWriter) literal(s string) string {
	if w.raw {
		return s
	}
	return literal(s)
}

func literal(s string) string {
	if !strings.Contains(s, "{") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '{' && (i+1 == len(s) || s[i+1] == '{' || s[i+1] == '%' || s[i+1] < ' ' || s[i+1] > '~') {
			b.WriteString(brace)
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// plain adds decoded text.
func (w *lineWriter) plain(s string) {
	for len(s) > 0 {
		if n := visibleRun(s); n > 0 {
			if w.before.breaks(edgeOf(rune(s[0]))) {
				w.allowBreak()
			}
			w.addText(s[:n], n)
			w.before = edgeOf(rune(s[n-1]))
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		switch {
		case r == '\n' && w.pre > 0:
			w.lineBreak()
		case r == ' ' && w.pre > 0:
			w.pad++
		case r == '\t' && w.pre > 0:
			w.pad += 8 - (w.wordWidth+w.pad)%8
		case unicode.IsSpace(r):
			w.space()
		case r == '\u200b':
			w.allowBreak()
		case unicode.IsControl(r), isPadding(r):
		default:
			w.rune(r)
		}
	}
}

// rune adds a character beyond ASCII.
func (w *lineWriter) rune(r rune) {
	e := edgeOf(r)
	if w.before.joiner && e.ideal {
		e.width, e.joins = 0, true // combined with the previous character
	}
	if w.before.breaks(e) {
		w.allowBreak()
	}
	var b [utf8.UTFMax]byte
	w.addText(string(utf8.AppendRune(b[:0], r)), e.width)
	w.before = w.before.then(e)
}

// allowBreak ends a word and allows a line break there, without a space.
func (w *lineWriter) allowBreak() {
	if len(w.current) > 0 && w.pre == 0 {
		w.endWord()
		w.breakable = true
	}
}

// visibleRun returns how many visible ASCII characters s starts with.
func visibleRun(s string) int {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return i
		}
	}
	return len(s)
}

// tagsOf adds the Liquid tags of a piece that is left out otherwise.
func (w *lineWriter) tagsOf(s string) {
	if w.rendered {
		return
	}
	for _, p := range markup.Spans(s) {
		if !p.Output {
			w.tag(s[p.Start:p.End])
		}
	}
}

// tag adds a Liquid tag.
func (w *lineWriter) tag(s string) {
	if markup.TagName(s) == "comment" {
		return
	}
	w.loops = max(w.loops+isLoop(s), 0)
	if len(w.current) == 0 && (!w.lineOpen || w.breaks > 0 || w.explicit > 0) {
		w.held = append(w.held, s...)
		return
	}
	w.current = append(w.current, s...)
	w.solid = true
}

// addText adds text to the current word.
func (w *lineWriter) addText(s string, width int) {
	w.solid = w.solid || width > 0 || len(w.held) > 0
	w.current = append(w.current, w.held...)
	w.held = w.held[:0]
	for ; w.pad > 0; w.pad-- {
		w.current = append(w.current, ' ')
		w.wordWidth++
	}
	w.current = append(w.current, s...)
	w.wordWidth += width
	w.seen = append(w.seen, s...)
}

// word adds a whole word, which may contain Liquid.
func (w *lineWriter) word(s string) {
	if w.rendered {
		w.addText(s, widthOf(s))
		w.endWord()
		return
	}
	width, last := 0, 0
	for _, p := range markup.Spans(s) {
		width += widthOf(s[last:p.Start])
		last = p.End
		if p.Output {
			width += widthOfOutput(s[p.Start:p.End])
		}
	}
	w.addText(s, width+widthOf(s[last:]))
	w.endWord()
}

// space ends a word.
func (w *lineWriter) space() {
	w.endWord()
	w.spaced, w.before = w.lineOpen, edge{}
	if len(w.seen) > 0 {
		w.seen = append(w.seen, ' ')
	}
}

// cell ends a word and separates the next one on the same line.
func (w *lineWriter) cell() {
	w.endWord()
	w.gap, w.before = w.lineOpen, edge{}
}

// lineBreak adds a line end; two in a row are a blank line.
func (w *lineWriter) lineBreak() {
	w.endWord()
	w.writeHeldTags()
	w.dropSeparator()
	w.explicit = min(w.explicit+1, 2)
}

// breakLine requires at least n line ends before the next word.
func (w *lineWriter) breakLine(n int) {
	w.endWord()
	w.writeHeldTags()
	w.dropSeparator()
	w.breaks = max(w.breaks, n)
}

// dropSeparator drops the pending separator within a line.
func (w *lineWriter) dropSeparator() {
	w.spaced, w.gap, w.breakable, w.before, w.pad = false, false, false, edge{}, 0
}

// writeHeldTags writes the held tags, which are between blocks. A line end required by br precedes them.
func (w *lineWriter) writeHeldTags() {
	if len(w.held) == 0 {
		return
	}
	if w.explicit > 0 && len(w.out) > 0 {
		w.newLines(w.explicit)
		w.explicit = 0
	}
	w.out = append(w.out, w.held...)
	w.held = w.held[:0]
}

func (w *lineWriter) newLines(n int) {
	w.out = append(bytes.TrimRight(w.out, " "), '\n')
	if n > 1 {
		if marks := min(w.quotes, w.quoted); marks > 0 {
			w.out = append(w.out, strings.Repeat(quoteMark, marks)[:marks*len(quoteMark)-1]...)
		}
		w.out = append(w.out, '\n')
	}
	w.col, w.lineOpen = 0, false
}

// endWord writes the current word, on a line that has room for it.
func (w *lineWriter) endWord() {
	if len(w.current) == 0 {
		return
	}
	if !w.solid {
		w.current = w.current[:0] // padding of previews
		return
	}
	if n := max(w.breaks, w.explicit); n > 0 && len(w.out) > 0 {
		w.newLines(n)
	}
	w.breaks, w.explicit = 0, 0
	between := ""
	switch {
	case !w.lineOpen:
	case w.gap:
		between = cellGap
	case w.spaced:
		between = " "
	}
	if (between != "" || w.breakable) && w.lineOpen && w.col+len(between)+w.wordWidth > textWidth {
		if isSeparator(w.current) {
			w.current, w.wordWidth, w.solid, w.breaks = w.current[:0], 0, false, 1
			return // the line end separates
		}
		w.newLines(1)
	}
	if w.lineOpen {
		w.out = append(w.out, between...)
		w.col += len(between)
	} else {
		w.startLine()
	}
	w.out = append(w.out, w.current...)
	w.col += w.wordWidth
	w.words++
	if w.heading.open {
		w.heading.width = max(w.heading.width, w.col-w.prefix)
	}
	w.current, w.wordWidth, w.solid = w.current[:0], 0, false
	w.spaced, w.gap, w.breakable = false, false, false
}

// isSeparator reports whether a word is only a separator.
func isSeparator(word []byte) bool {
	return len(word) <= 3 && (string(word) == "·" || string(word) == "•" || string(word) == "|")
}

// startLine writes quotation marks, indentation and a list mark.
func (w *lineWriter) startLine() {
	prefix := w.nextPrefix()
	w.quoted = min(w.quotes, 8)
	w.bullet = ""
	w.out = append(w.out, prefix...)
	w.col = len(prefix)
	w.prefix = w.col
	w.lineOpen = true
}

// nextPrefix returns the text before the first word of a line.
func (w *lineWriter) nextPrefix() string {
	var prefix strings.Builder
	prefix.WriteString(strings.Repeat(quoteMark, min(w.quotes, 8)))
	for i, l := range w.lists[:min(len(w.lists), 8)] {
		if w.bullet == "" || i < len(w.lists)-1 {
			prefix.WriteString(strings.Repeat(" ", l.width))
		}
	}
	prefix.WriteString(strings.Repeat("  ", min(w.indent, 8)))
	prefix.WriteString(w.bullet)
	return prefix.String()
}

// openList starts a list, whose items are numbered from start if it is ordered.
func (w *lineWriter) openList(ordered bool, start int) {
	n := 2
	if len(w.lists) > 0 {
		n = 1
	}
	w.breakLine(n)
	w.lists = append(w.lists, list{ordered: ordered, items: start - 1})
}

func (w *lineWriter) closeList() {
	w.breakLine(1)
	if len(w.lists) > 0 {
		w.lists = w.lists[:len(w.lists)-1]
	}
	if len(w.lists) == 0 {
		w.breakLine(2)
	}
	w.bullet = ""
}

// item starts a list item, with the given number unless that is 0. Items of a Liquid loop cannot be numbered here.
func (w *lineWriter) item(number int) {
	w.breakLine(1)
	w.bullet = "- "
	if len(w.lists) == 0 {
		return
	}
	l := &w.lists[len(w.lists)-1]
	if l.items++; number > 0 {
		l.items = number
	}
	if l.ordered && w.loops == 0 {
		w.bullet = strconv.Itoa(l.items) + ". "
	}
	l.width = len(w.bullet)
}

// startHeading starts measuring a heading.
func (w *lineWriter) startHeading() {
	w.heading.open, w.heading.width = true, 0
}

// endHeading underlines the text since startHeading.
func (w *lineWriter) endHeading(mark string) {
	w.endWord()
	width := min(w.heading.width, textWidth-len(w.nextPrefix()))
	w.heading.open, w.heading.width = false, 0
	if width <= 0 || w.bullet != "" {
		return
	}
	w.writeHeldTags()
	w.dropSeparator()
	w.breaks, w.explicit = 1, 0
	said := len(w.seen)
	w.word(strings.Repeat(mark, width))
	w.seen = w.seen[:said]
}
