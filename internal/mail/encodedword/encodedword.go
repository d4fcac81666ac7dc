// Package encodedword decodes the encoded words of headers (RFC 2047), in every charset that browsers know.
package encodedword

import (
	"io"
	"mime"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// decoder has no state.
var decoder = mime.WordDecoder{CharsetReader: func(charset string, in io.Reader) (io.Reader, error) {
	e, err := htmlindex.Get(charset)
	if err != nil {
		return nil, err
	}
	return e.NewDecoder().Reader(in), nil
}}

// Decode returns the value of a header with its encoded words decoded. What they say may contain anything, also
// line breaks and bytes that are no UTF-8. A value with a word of an unknown charset stays as it is.
func Decode(value string) string {
	if !strings.Contains(value, "=?") {
		return value
	}
	if text, err := decoder.DecodeHeader(value); err == nil {
		return text
	}
	return value
}
