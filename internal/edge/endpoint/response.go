package endpoint

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/packetboat/packetboat/internal/edge/static"
)

const (
	jsonType = "application/json"
	gzipFrom = 1024 // bytes; shorter responses are not compressed
)

// writeJSON writes a body.
func writeJSON(w io.Writer, v any) error {
	if s, ok := v.(streamed); ok {
		return s.stream(w)
	}
	if done, err := writeList(w, v); done {
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// response buffers a response until it is longer than gzipFrom, or complete. Until then it can be replaced
// by another response.
type response struct {
	w           http.ResponseWriter
	gzip        bool // the caller accepts gzip
	head        bool
	status      int
	headerSent  bool // the header was sent
	buffered    []byte
	gzipWriter  *gzip.Writer
	gzipWriters *sync.Pool // of gzip.Writers, which are large
}

func newResponse(w http.ResponseWriter, r *http.Request, zips *sync.Pool) *response {
	return &response{w: w, gzipWriters: zips, head: r.Method == http.MethodHead, gzip: static.AcceptsGzip(r.Header.Values("Accept-Encoding"))}
}

func (w *response) Header() http.Header { return w.w.Header() }

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if !w.headerSent {
		if len(w.buffered)+len(b) <= gzipFrom {
			w.buffered = append(w.buffered, b...)
			return len(b), nil
		}
		if err := w.sendHeader(true); err != nil {
			return 0, err
		}
	}
	return w.writeThrough(b)
}

// writeThrough writes to the caller, compressed if that was decided.
func (w *response) writeThrough(b []byte) (int, error) {
	switch {
	case w.head:
		return len(b), nil
	case w.gzipWriter != nil:
		return w.gzipWriter.Write(b)
	}
	return w.w.Write(b)
}

// sendHeader sends the header and the buffered part.
func (w *response) sendHeader(long bool) error {
	w.headerSent = true
	h := w.w.Header()
	if long {
		if !slices.Contains(h.Values("Vary"), "Accept-Encoding") { // a static text has set it
			h.Add("Vary", "Accept-Encoding")
		}
		if w.gzip && h.Get("Content-Encoding") == "" {
			h.Set("Content-Encoding", "gzip")
			h.Del("Content-Length")
			if !w.head {
				w.gzipWriter = w.gzipWriters.Get().(*gzip.Writer)
				w.gzipWriter.Reset(w.w)
			}
		}
	} else if allowsBody(w.status) && !(w.head && h.Get("Content-Length") != "") {
		h.Set("Content-Length", strconv.Itoa(len(w.buffered)))
	}
	w.w.WriteHeader(w.status)
	if len(w.buffered) == 0 || !allowsBody(w.status) {
		return nil
	}
	_, err := w.writeThrough(w.buffered)
	return err
}

func allowsBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// committed reports whether part of the response was sent.
func (w *response) committed() bool { return w.headerSent }

// reset drops the response so far, except for the headers that all responses have.
func (w *response) reset() {
	w.status, w.buffered = 0, nil
	for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding", "Set-Cookie", "ETag", "Idempotency-Replay"} {
		w.Header().Del(name)
	}
}

// finish sends the rest.
func (w *response) finish() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if !w.headerSent {
		_ = w.sendHeader(false) // an error means that the caller has disconnected
	}
	if w.gzipWriter != nil {
		_ = w.gzipWriter.Close()
		w.gzipWriters.Put(w.gzipWriter)
		w.gzipWriter = nil
	}
}

// writeJSON writes a whole response.
func (w *response) writeJSON(status int, v any) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	_ = writeJSON(w, v)
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.w }
