package dkim

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The example of RFC 6376 section 3.4.5, and the rules of 3.4.2.
func TestRelaxedHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, want string }{
		{"A", " X", "a:X"},
		{"B ", " Y\t\r\n\tZ  ", "b :Y Z"}, // the caller trims names
		{"SubJect", "", "subject:"},
		{"Subject", " \t ", "subject:"},
		{"Subject", "a\r\n b\r\n\t \tc", "subject:a b c"},
		{"Subject", "  a  \t b\t\r\n ", "subject:a b"},
		{"Subject", "a\rb", "subject:a\rb"},
	} {
		if got := string(appendRelaxedHeader(nil, []byte(tt.name), []byte(tt.value))); got != tt.want {
			t.Errorf("relaxed header %q: %q = %q; want %q", tt.name, tt.value, got, tt.want)
		}
	}
}

// The example of RFC 6376 section 3.4.5, and the rules of 3.4.4.
func TestRelaxedBody(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"\r\n\r\n", ""},
		{" \t\r\n\t", ""},
		{" C \r\nD \t E\r\n\r\n\r\n", " C\r\nD E\r\n"},
		{"a", "a\r\n"},
		{"a\r\n", "a\r\n"},
		{"\r\n\r\na \r\n \r\nb", "\r\n\r\na\r\n\r\nb\r\n"},
		{"\ta\t\tb\t", " a b\r\n"},
		{"a \t\r", "a \r\r\n"},
	} {
		var got bytes.Buffer
		hashBody(&got, nil, []byte(tt.in))
		if got.String() != tt.want {
			t.Errorf("relaxed body %q = %q; want %q", tt.in, got.String(), tt.want)
		}
	}
}

// The body hashes of RFC 6376 appendix A and of an empty body.
func TestBodyHash(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":         "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
		"\r\n\r\n": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
		"Hi.\r\n\r\nWe lost the game. Are you hungry yet?\r\n\r\nJoe.\r\n": "2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=",
	} {
		sha := sha256.New()
		hashBody(sha, nil, []byte(body))
		if got := base64.StdEncoding.EncodeToString(sha.Sum(nil)); got != want {
			t.Errorf("hash of %q = %s; want %s", body, got, want)
		}
	}
}

// The quick form agrees with a slow one that follows the RFC word by word.
func TestRelaxedBodyAgreesWithTheRFC(t *testing.T) {
	t.Parallel()
	slow := func(body string) string {
		lines := strings.Split(body, "\r\n")
		for i, l := range lines {
			l = strings.TrimRight(l, " \t")
			for strings.Contains(l, "\t") || strings.Contains(l, "  ") {
				l = strings.ReplaceAll(strings.ReplaceAll(l, "\t", " "), "  ", " ")
			}
			lines[i] = l
		}
		for len(lines) > 0 && lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if len(lines) == 0 {
			return ""
		}
		return strings.Join(lines, "\r\n") + "\r\n"
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{" ", "\t", "\r\n", "a", "=20", "\r", "\n", strings.Repeat("b", 3000)})).Draw(t, "parts")
		body := strings.Join(parts, "")
		var got bytes.Buffer
		hashBody(&got, nil, []byte(body))
		if want := slow(body); got.String() != want {
			t.Fatalf("relaxed body %q = %q; want %q", body, got.String(), want)
		}
	})
}

func FuzzSign(f *testing.F) {
	f.Add([]byte("From: a@x.org\r\n b\r\nTo :c\r\n\r\nbody \r\n"))
	f.Add([]byte("\r\n"))
	f.Add([]byte("From:\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		w := &scratch{sha: sha256.New()}
		body, err := w.split(raw)
		if err != nil {
			return
		}
		if !bytes.HasSuffix(raw, body) {
			t.Errorf("split(%q) left body %q", raw, body)
		}
		w.hashHeaders(w.appendNames([]byte("DKIM-Signature: h=")))
		hashBody(w.sha, nil, body)
	})
}
