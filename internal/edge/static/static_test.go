package static_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/packetboat/packetboat/internal/edge/static"
)

func TestTextsAreCompressedAndRevalidated(t *testing.T) {
	content := bytes.Repeat([]byte("the same words again and again. "), 10_000)
	text := static.New("text/plain; charset=utf-8", content)
	tag := static.Tag(content)
	for name, c := range map[string]struct {
		method, encoding, ifNone string
		status                   int
		zipped                   bool
	}{
		"plain":              {"GET", "", "", 200, false},
		"gzip":               {"GET", "br, gzip", "", 200, true},
		"gzip by weight":     {"GET", "gzip; q=0.5", "", 200, true},
		"gzip refused":       {"GET", "gzip;q=0, br", "", 200, false},
		"gzip refused, long": {"GET", "gzip;q=0.000", "", 200, false},
		"head":               {"HEAD", "gzip", "", 200, true},
		"known":              {"GET", "gzip", tag, 304, false},
		"known, strong":      {"GET", "", tag[2:], 304, false},
		"one of several":     {"GET", "", `"x", ` + tag, 304, false},
		"any":                {"GET", "", "*", 304, false},
		"another":            {"GET", "gzip", `W/"x"`, 200, true},
	} {
		r := httptest.NewRequest(c.method, "/", nil)
		for header, value := range map[string]string{"Accept-Encoding": c.encoding, "If-None-Match": c.ifNone} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		w := httptest.NewRecorder()
		text.ServeHTTP(w, r)
		h := w.Header()
		if w.Code != c.status || h.Get("ETag") != tag || h.Get("Vary") != "Accept-Encoding" || (h.Get("Content-Encoding") == "gzip") != c.zipped {
			t.Errorf("%s: %d %v", name, w.Code, h)
		}
		if c.status == http.StatusNotModified || c.method == http.MethodHead {
			if w.Body.Len() > 0 {
				t.Errorf("%s: %d bytes of a body", name, w.Body.Len())
			}
			continue
		}
		if h.Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
			t.Errorf("%s: a length of %s, and %d bytes", name, h.Get("Content-Length"), w.Body.Len())
		}
		var body io.Reader = w.Body
		if c.zipped {
			z, err := gzip.NewReader(body)
			if err != nil {
				t.Fatal(err)
			}
			body = z
		}
		if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// Requests that come at once get the same text, which is compressed well.
func TestTheFirstRequestsShareTheText(t *testing.T) {
	t.Parallel()
	content := make([]byte, 0, 1<<20)
	for i := range 1 << 15 {
		content = strconv.AppendInt(append(content, "the same words again, and a number: "...), int64(i*i), 10)
	}
	text := static.New("text/plain", content)
	bodies := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range bodies {
		all.Go(func() {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Accept-Encoding", "gzip")
			w := httptest.NewRecorder()
			text.ServeHTTP(w, r)
			bodies[i] = w.Body.Bytes()
		})
	}
	all.Wait()
	var best bytes.Buffer
	z, _ := gzip.NewWriterLevel(&best, gzip.BestCompression)
	_, _ = z.Write(content)
	_ = z.Close()
	for i, b := range bodies {
		if !bytes.Equal(b, best.Bytes()) {
			t.Errorf("request %d gets %d bytes, want %d", i, len(b), best.Len())
		}
	}
}

// BenchmarkNew is what a text takes when the program starts.
func BenchmarkNew(b *testing.B) {
	content := bytes.Repeat([]byte(`{"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}}},`), 25_000)
	for b.Loop() {
		static.New("application/json", content)
	}
}
