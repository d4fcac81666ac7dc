// Package static serves texts that do not change while the program runs: compressed well once, at their first
// request, and sent again only to clients that do not have them.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Text is a text with its media type. It is kept compressed.
type Text struct {
	contentType string
	length      int // bytes, not compressed
	tag         string
	packed      func() []byte // well compressed
}

// New returns a text to serve. It compresses it fast, to take little memory. The first request compresses it well,
// which takes several times as long: for the documents of the API, a tenth of what a start takes.
func New(contentType string, content []byte) *Text {
	fast := pack(content, gzip.BestSpeed)
	packed := sync.OnceValue(func() []byte {
		well := pack(unpack(fast), gzip.BestCompression)
		fast = nil
		return well
	})
	return &Text{contentType, len(content), Tag(content), packed}
}

func pack(content []byte, level int) []byte {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, level) // the level is valid
	_, _ = z.Write(content)                     // a buffer takes everything
	_ = z.Close()
	return bytes.Clone(packed.Bytes())
}

func unpack(packed []byte) []byte {
	z, _ := gzip.NewReader(bytes.NewReader(packed)) // is as pack has written it
	content, _ := io.ReadAll(z)
	return content
}

// ServeHTTP writes the text, or 304 to a client that has it. Other headers are set before.
func (t *Text) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("ETag", t.tag)
	h.Add("Vary", "Accept-Encoding")
	if Matches(r.Header.Values("If-None-Match"), t.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", t.contentType)
	packed := t.packed()
	zipped := AcceptsGzip(r.Header.Values("Accept-Encoding"))
	if zipped {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(packed)))
	} else {
		h.Set("Content-Length", strconv.Itoa(t.length))
	}
	switch {
	case r.Method == http.MethodHead:
	case zipped:
		_, _ = w.Write(packed)
	default:
		z, _ := gzip.NewReader(bytes.NewReader(packed)) // is as pack has written it
		_, _ = io.Copy(w, z)
	}
}

// Tag returns the entity tag of a text. It is weak, since the text may be sent compressed (RFC 9110 section
// 8.8.1).
func Tag(content []byte) string {
	sum := sha256.Sum256(content)
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// Matches reports whether one of the tags of If-None-Match is tag, by weak comparison (RFC 9110 section
// 13.1.2).
func Matches(headers []string, tag string) bool {
	for _, h := range headers {
		for have := range strings.SplitSeq(h, ",") {
			have = strings.TrimSpace(have)
			if have == "*" || strings.TrimPrefix(have, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}

// AcceptsGzip reports whether a client decodes gzip, by its Accept-Encoding (RFC 9110 section 12.5.3).
func AcceptsGzip(headers []string) bool {
	for _, h := range headers {
		for part := range strings.SplitSeq(h, ",") {
			name, params, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") {
				q := strings.ReplaceAll(params, " ", "")
				return !strings.HasPrefix(q, "q=0") || strings.Trim(q, "q=0.") != ""
			}
		}
	}
	return false
}
