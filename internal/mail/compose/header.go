package compose

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// The widths of RFC 5322 section 2.1.1 and RFC 2047 section 2.
const (
	maxWidth      = 78  // of a line, without CRLF
	maxWordWidth  = 76  // of a line with an encoded-word
	maxLine       = 998 // of any line, without CRLF
	maxIdentifier = 250 // of a Message-ID
)

// header writes header fields to buf. It keeps the first error.
type header struct {
	buf    []byte
	col    int    // width of the line being written
	value  []byte // the cleaned text of a field
	quoted []byte // the same as a quoted-string
	err    error
}

// open writes the name of a field.
func (h *header) open(name string) bool {
	if h.err != nil {
		return false
	}
	if !isName(name) {
		h.err = fmt.Errorf("header name %q", name)
		return false
	}
	h.buf = append(h.buf, name...)
	h.buf = append(h.buf, ": "...)
	h.col = len(name) + 2
	return true
}

func (h *header) close() { h.buf = append(h.buf, "\r\n"...) }

// fail stores the error that a field cannot be written.
func (h *header) fail(name, value, why string) {
	if h.err == nil {
		h.err = fmt.Errorf("header %s %q: %s", name, value, why)
	}
}

// word writes s, which must not be broken, on a new line if the current one has no room for it. A
// space precedes it unless it is the first of its field.
func (h *header) word(s string, first bool) { h.enclosed("", s, "", first) }

// enclosed writes a word that consists of three parts.
func (h *header) enclosed(before, s, after string, first bool) {
	n := len(before) + len(s) + len(after)
	if !first {
		if h.col+1+n > maxWidth {
			h.buf = append(h.buf, "\r\n"...)
			h.col = 0
		}
		h.buf = append(h.buf, ' ')
		h.col++
	}
	h.buf = append(append(append(h.buf, before...), s...), after...)
	h.col += n
}

// date writes t in UTC.
func (h *header) date(name string, t time.Time) {
	if h.open(name) {
		h.buf = t.UTC().AppendFormat(h.buf, "Mon, 02 Jan 2006 15:04:05 -0700")
		h.close()
	}
}

// token writes a value of visible ASCII without spaces.
func (h *header) token(name, value string) {
	for i := range len(value) {
		if c := value[i]; c <= ' ' || c > '~' {
			h.fail(name, value, "not a token")
			return
		}
	}
	if len(value) > maxIdentifier {
		h.fail(name, value, "too long")
		return
	}
	if h.open(name) {
		h.word(value, true)
		h.close()
	}
}

// text writes unstructured text, cleaned, as encoded-words if necessary.
func (h *header) text(name, value string) {
	if !h.open(name) {
		return
	}
	h.value = appendClean(h.value[:0], value)
	if mustEncode(h.value) || !h.folds(h.value) {
		h.encoded(h.value)
	} else {
		h.folded(h.value)
	}
	h.close()
}

// mailbox writes a name and an address.
func (h *header) mailbox(name string, m Mailbox) {
	if !isAddress(m.Address) {
		h.fail(name, m.Address, "not an address")
		return
	}
	if !h.open(name) {
		return
	}
	h.value = appendClean(h.value[:0], withoutForeignAddress(m.Name, m.Address))
	if len(h.value) == 0 {
		h.word(m.Address, true)
		h.close()
		return
	}
	h.phrase(h.value)
	h.enclosed("<", m.Address, ">", false)
	h.close()
}

// phrase writes a display name (RFC 5322 section 3.2.5): unchanged, quoted, or as encoded-words.
func (h *header) phrase(name []byte) {
	switch {
	case mustEncode(name) || !h.folds(name):
		h.encoded(name)
	case !isAtoms(name):
		h.quoted = appendQuotedString(h.quoted[:0], name)
		h.folded(h.quoted)
	default:
		h.folded(name)
	}
}

// messageID writes an identifier in angle brackets.
func (h *header) messageID(name, id string) {
	id = strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">")
	if !isAddress(id) || len(id) > maxIdentifier-2 {
		h.fail(name, id, "not a message identifier")
		return
	}
	if h.open(name) {
		h.enclosed("<", id, ">", true)
		h.close()
	}
}

// unsubscribe writes at most one URL and one mailto URL (RFC 2369, RFC 8058).
func (h *header) unsubscribe(name, url, addr string) {
	if url != "" && !isPlainURL(url) {
		h.fail(name, url, "not an http or https URL")
		return
	}
	if addr != "" && (!isAddress(addr) || strings.ContainsAny(addr, "?&#%")) {
		h.fail(name, addr, "not an address")
		return
	}
	if !h.open(name) {
		return
	}
	if url != "" && addr != "" {
		h.enclosed("<", url, ">,", true)
		h.enclosed("<mailto:", addr, ">", false)
	} else if url != "" {
		h.enclosed("<", url, ">", true)
	} else {
		h.enclosed("<mailto:", addr, ">", true)
	}
	h.close()
}

// listID writes the identifier of a list. Not all programs decode encoded-words in List headers, so
// a name outside ASCII is left out.
func (h *header) listID(name string, l ListID) {
	if !isDotAtom(l.ID) || len(l.ID) > 255 {
		h.fail(name, l.ID, "not a list identifier")
		return
	}
	if !h.open(name) {
		return
	}
	h.value = appendClean(h.value[:0], l.Name)
	named := len(h.value) > 0 && !mustEncode(h.value) && h.folds(h.value)
	if named {
		h.quoted = appendQuotedString(h.quoted[:0], h.value)
		h.folded(h.quoted)
	}
	h.enclosed("<", l.ID, ">", !named)
	h.close()
}

// folds reports whether text can be broken at single spaces into lines of
// ordinary width.
func (h *header) folds(text []byte) bool {
	width := h.col + 2 // room for quotes
	for i, c := range text {
		width++
		if width > maxWidth {
			return false
		}
		if isFold(text, i) {
			width = 1
		} else if c == '"' || c == '\\' {
			width++
		}
	}
	return true
}

// isFold reports whether text may be broken before its byte i: at a space that
// stands alone, so that the next line starts with exactly one (RFC 5322
// section 2.2.3).
func isFold(text []byte, i int) bool {
	return text[i] == ' ' && i > 0 && i+1 < len(text) && text[i-1] != ' ' && text[i+1] != ' '
}

// folded writes ASCII text unchanged, broken into lines.
func (h *header) folded(text []byte) {
	for len(text) > 0 {
		n := 1
		for n < len(text) && !isFold(text, n) {
			n++
		}
		if h.col+n > maxWidth && text[0] == ' ' {
			h.buf = append(h.buf, "\r\n"...)
			h.col = 0
		}
		h.buf = append(h.buf, text[:n]...)
		h.col += n
		text = text[n:]
	}
}

// appendClean appends s in a form that headers may have: valid UTF-8, each run of control
// characters, line separators and adjacent spaces as one space, none at the ends. Other spaces are
// kept. A byte order mark, which texts that were pasted from files have, is left out.
func appendClean(dst []byte, s string) []byte {
	start := len(dst)
	plain := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return append(dst, strings.Trim(s, " ")...)
	}
	gap := false
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			gap = true
			continue
		}
		if gap && r == ' ' || r == '\ufeff' {
			continue
		}
		if gap {
			gap = false
			dst = append(dst[:start], bytes.TrimRight(dst[start:], " ")...)
			dst = append(dst, ' ')
		}
		dst = utf8.AppendRune(dst, r)
	}
	return append(dst[:start], bytes.Trim(dst[start:], " ")...)
}

// withoutForeignAddress removes the words of a display name that look like an address at another
// domain than the sender's, because they deceive the reader.
func withoutForeignAddress(name, addr string) string {
	if !strings.Contains(name, "@") {
		return name
	}
	_, domain, _ := strings.Cut(addr, "@")
	kept := strings.Fields(name)[:0]
	for w := range strings.FieldsSeq(name) {
		_, host, ok := strings.Cut(w, "@")
		if !ok || host == "" || strings.EqualFold(strings.TrimRight(host, ">)].,;\"'"), domain) {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// mustEncode reports whether text must be written as encoded-words: it is not ASCII, or looks like
// an encoded-word.
func mustEncode(text []byte) bool {
	for i, c := range text {
		if c >= utf8.RuneSelf || c == '=' && i+1 < len(text) && text[i+1] == '?' {
			return true
		}
	}
	return false
}

func appendQuotedString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// isName reports whether s is a header name that all mail programs accept.
func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlnum(c) && c != '-' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 76
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// atext are the bytes of atoms (RFC 5322 section 3.2.3).
var atext = func() (table [256]bool) {
	for i := range table {
		table[i] = isAlnum(byte(i))
	}
	for _, c := range []byte("!#$%&'*+-/=?^_`{|}~") {
		table[c] = true
	}
	return table
}()

func isAtext(c byte) bool { return atext[c] }

// isAtoms reports whether a display name needs no quotes.
func isAtoms(text []byte) bool {
	for _, c := range text {
		if !isAtext(c) && c != ' ' {
			return false
		}
	}
	return true
}

func isDotAtom(s string) bool {
	if s == "" || s[0] == '.' || s[len(s)-1] == '.' || strings.Contains(s, "..") {
		return false
	}
	for i := range len(s) {
		if s[i] != '.' && !isAtext(s[i]) {
			return false
		}
	}
	return true
}

// isAddress reports whether s is an addr-spec without quotes or literals.
func isAddress(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	return ok && len(s) <= 320 && isDotAtom(local) && isDotAtom(domain)
}

// isPlainURL reports whether s can stand between angle brackets.
func isPlainURL(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(s, "http://")
	}
	if !ok || rest == "" || rest[0] == '/' || len(s) > maxLine-100 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '<' || c == '>' || c == ',' || c == '"' {
			return false
		}
	}
	return true
}

// TextField returns a header field with unstructured text as it stands in a message, with CRLF.
func TextField(name, value string) ([]byte, error) {
	var h header
	h.text(name, value)
	return h.buf, h.err
}

// AddressField returns a header field with one mailbox as it stands in a message, with CRLF.
func AddressField(name string, m Mailbox) ([]byte, error) {
	var h header
	h.mailbox(name, m)
	return h.buf, h.err
}
