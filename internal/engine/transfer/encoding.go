package transfer

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// The encodings that are recognised by content.
const (
	utf8Text    = "utf-8"
	utf16LE     = "utf-16le"
	utf16BE     = "utf-16be"
	windows1252 = "windows-1252"
	latin9      = "iso-8859-15"
)

// marks are the byte order marks of encodings.
var marks = map[string]string{utf8Text: "\xEF\xBB\xBF", utf16LE: "\xFF\xFE", utf16BE: "\xFE\xFF"}

// parseEncoding returns the name of an encoding as the WHATWG's list has it. It knows UTF-8, UTF-16 and the
// encodings with one byte for a character: in these the length of a text says where it ends in the file.
func parseEncoding(label string) (name string, ok bool) {
	e, err := htmlindex.Get(label)
	if err != nil {
		return "", false
	}
	if name, err = htmlindex.Name(e); err != nil {
		return "", false
	}
	_, single := e.(*charmap.Charmap)
	return name, single || slices.Contains([]string{utf8Text, utf16LE, utf16BE}, name)
}

// decoderOf returns the decoder of an encoding that parseEncoding knows; nil for UTF-8, which is read as it is.
func decoderOf(name string) *encoding.Decoder {
	switch name {
	case "", utf8Text:
		return nil
	case utf16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
	case utf16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		panic("transfer: unknown encoding " + name)
	}
	return e.NewDecoder()
}

// decode returns a reader of the text of src in UTF-8.
func decode(src io.Reader, encoding string) io.Reader {
	if d := decoderOf(encoding); d != nil {
		return transform.NewReader(src, d)
	}
	return src
}

// encodedLen returns how many bytes a file in an encoding has for a decoded text, or for a part of one that
// begins or ends within a character.
func encodedLen(text []byte, encoding string) (n int64) {
	switch encoding {
	case "", utf8Text:
		return int64(len(text))
	case utf16LE, utf16BE:
		for _, c := range text {
			switch {
			case c >= 0xF0: // begins a character beyond the first 65,536
				n += 4
			case utf8.RuneStart(c):
				n += 2
			}
		}
		return n
	}
	for _, c := range text {
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}

// census counts what the bytes of a file say about its encoding.
type census struct {
	Size    int64    `json:"size"`
	Zeros   [2]int64 `json:"zeros"`          // NUL bytes at even and odd offsets
	Valid   int64    `json:"valid"`          // characters of UTF-8 beyond ASCII
	Invalid int64    `json:"invalid"`        // bytes that are no UTF-8
	Control int64    `json:"control"`        // of these, those that are control characters in ISO-8859-15
	Letters int64    `json:"letters"`        // of these, those that are letters of words in ISO-8859-15, and signs in Windows-1252
	Last    byte     `json:"last"`           // before Rest
	Rest    []byte   `json:"rest,omitempty"` // an incomplete character at the end
}

// Write counts p.
func (c *census) Write(p []byte) (int, error) {
	text, at := p, c.Size
	if len(c.Rest) > 0 {
		text, at = slices.Concat(c.Rest, p), at-int64(len(c.Rest))
		c.Rest = nil
	}
	for i := 0; i < len(text); {
		b := text[i]
		if b < utf8.RuneSelf {
			if b == 0 {
				c.Zeros[(at+int64(i))&1]++
			} else if c.Last == 0xA6 && isLetter(b) { // a word with a capital Š
				c.Letters++
			}
			c.Last = b
			i++
			continue
		}
		if !utf8.FullRune(text[i:]) {
			c.Rest = slices.Clone(text[i:])
			break
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			c.stray(b)
		} else {
			c.Valid++
		}
		c.Last = b
		i += n
	}
	c.Size += int64(len(p))
	return len(p), nil
}

// stray counts a byte that is no UTF-8.
func (c *census) stray(b byte) {
	c.Invalid++
	switch {
	case b < 0xA0:
		c.Control++
	case b == 0xA4, isLetter(c.Last) && strings.IndexByte("\xA6\xA8\xB8\xBC\xBD\xBE", b) >= 0:
		c.Letters++
	}
}

// isLetter reports whether a byte is a letter in the encodings of western Europe.
func isLetter(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || b >= 0xC0 && b != 0xD7 && b != 0xF7
}

// markedEncoding returns the encoding whose byte order mark begins a file, if there is one.
func markedEncoding(begin []byte) string {
	for name, mark := range marks {
		if bytes.HasPrefix(begin, []byte(mark)) {
			return name
		}
	}
	return ""
}

// encoding returns the most likely encoding of the file, whose beginning is given.
func (c *census) encoding(begin []byte) string {
	if name := markedEncoding(begin); name != "" {
		return name
	}
	switch even, odd := c.Zeros[0], c.Zeros[1]; {
	case odd > c.Size/8 && even < odd/8:
		return utf16LE
	case even > c.Size/8 && odd < even/8:
		return utf16BE
	}
	switch invalid := c.Invalid + int64(min(len(c.Rest), 1)); {
	case invalid <= c.Valid: // so many are valid that the others are damage
		return utf8Text
	case c.Letters > 0 && c.Control == 0:
		return latin9
	}
	return windows1252
}
