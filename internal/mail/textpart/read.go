package textpart

import "github.com/packetboat/packetboat/internal/mail/markup"

// Reading is what a reader of rendered HTML has.
type Reading struct {
	Text  string   // as of FromHTML
	Links []string // the addresses that can be followed: of visible links with a text or a picture, and those written out
	Shown bool     // there is a word, a picture or a control
}

// Read reads HTML in which nothing is Liquid, as it is in a finished mail. For the text, address
// returns what stands for an address of the HTML, or nothing for one that is left out; nil keeps all.
func Read(html string, address func(string) string) Reading {
	r := nodeReaders.Get().(*nodeReader)
	defer r.release()
	t := &textMaker{src: html, nodes: r.read(markup.Rendered(html)), rendered: true, address: address, w: lineWriter{rendered: true}}
	text := t.text()
	return Reading{Text: text, Links: t.links, Shown: t.shown}
}

// image writes the alternative text of a picture. One whose address is left out from the text, as the
// open pixel, is none.
func (t *textMaker) image(tag string) {
	t.w.text(t.attribute(tag, "alt"))
	if !t.rendered {
		return
	}
	src := t.attribute(tag, "src")
	if src != "" && (t.address == nil || t.address(src) != "") {
		t.picture()
	}
}

// picture notes something visible that is no text.
func (t *textMaker) picture() {
	t.shown = true
	t.link.picture = true
}

// isPicture reports whether an element without text shows something.
func isPicture(name string) bool {
	switch name {
	case "object", "svg", "math", "video", "audio", "canvas", "select", "iframe":
		return true
	}
	return false
}
