package liquid

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf8"
)

const (
	base64Standard = false
	base64URL      = true
)

func base64Encoding(urlSafe bool) *base64.Encoding {
	if urlSafe {
		return base64.URLEncoding
	}
	return base64.StdEncoding
}

func encodeBase64(urlSafe bool) func(*state, any, []any) any {
	return func(s *state, in any, _ []any) any {
		text := s.text(in)
		if !s.charge(2 * len(text)) {
			return nil
		}
		return base64Encoding(urlSafe).EncodeToString([]byte(text))
	}
}

func decodeBase64(urlSafe bool) func(*state, any, []any) any {
	return func(s *state, in any, _ []any) any {
		text := s.text(in)
		if !s.charge(len(text)) {
			return nil
		}
		decoded, err := base64Encoding(urlSafe).DecodeString(text)
		if err != nil {
			return s.fail("the text is not base64")
		}
		return strings.ToValidUTF8(string(decoded), string(utf8.RuneError))
	}
}

func urlEncode(s *state, in any, _ []any) any {
	if in == nil {
		return nil
	}
	text := s.text(in)
	if !s.charge(2 * len(text)) {
		return nil
	}
	return url.QueryEscape(text)
}

// urlDecode does not change invalid encodings.
func urlDecode(s *state, in any, _ []any) any {
	if in == nil {
		return nil
	}
	text := s.text(in)
	if !s.charge(len(text)) {
		return nil
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '+':
			b = append(b, ' ')
		case c == '%' && i+2 < len(text):
			if n, err := hex.AppendDecode(b, []byte(text[i+1:i+3])); err == nil {
				b = n
				i += 2
				continue
			}
			b = append(b, c)
		default:
			b = append(b, c)
		}
	}
	return strings.ToValidUTF8(string(b), string(utf8.RuneError))
}

func sha256Filter(s *state, in any, _ []any) any {
	text := s.text(in)
	if !s.charge(len(text)) {
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
