package endpoint

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

const (
	jsonType = "application/json"
	gzipFrom = 1024 // bytes; a shorter answer is not worth compressing
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

// response holds an answer back until it is known to be longer than gzipFrom,
// or complete. Until then it can still become another answer.
type response struct {
	w      http.ResponseWriter
	gzip   bool // the caller reads gzip
	head   bool
	status int
	sent   bool // the header has left
	held   []byte
	zip    *gzip.Writer
	zips   *sync.Pool // of them, for each is large
}

func newResponse(w http.ResponseWriter, r *http.Request, zips *sync.Pool) *response {
	return &response{w: w, zips: zips, head: r.Method == http.MethodHead, gzip: acceptsGzip(r.Header.Get("Accept-Encoding"))}
}

func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q := strings.ReplaceAll(params, " ", "")
			return !strings.HasPrefix(q, "q=0") || strings.Trim(q, "q=0.") != ""
		}
	}
	return false
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
	if !w.sent {
		if len(w.held)+len(b) <= gzipFrom {
			w.held = append(w.held, b...)
			return len(b), nil
		}
		if err := w.send(true); err != nil {
			return 0, err
		}
	}
	return w.pass(b)
}

// pass writes to the caller, compressed if that was decided.
func (w *response) pass(b []byte) (int, error) {
	switch {
	case w.head:
		return len(b), nil
	case w.zip != nil:
		return w.zip.Write(b)
	}
	return w.w.Write(b)
}

// send lets the header leave, and what was held back.
func (w *response) send(long bool) error {
	w.sent = true
	h := w.w.Header()
	if long {
		h.Add("Vary", "Accept-Encoding")
		if w.gzip && h.Get("Content-Encoding") == "" {
			h.Set("Content-Encoding", "gzip")
			h.Del("Content-Length")
			if !w.head {
				w.zip = w.zips.Get().(*gzip.Writer)
				w.zip.Reset(w.w)
			}
		}
	} else if bodied(w.status) {
		h.Set("Content-Length", strconv.Itoa(len(w.held)))
	}
	w.w.WriteHeader(w.status)
	if len(w.held) == 0 || !bodied(w.status) {
		return nil
	}
	_, err := w.pass(w.held)
	return err
}

func bodied(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// committed reports whether part of the answer has left.
func (w *response) committed() bool { return w.sent }

// reset forgets the answer so far, but not the headers of every answer.
func (w *response) reset() {
	w.status, w.held = 0, nil
	for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding", "Set-Cookie", "ETag", "Idempotency-Replay"} {
		w.Header().Del(name)
	}
}

// finish lets the rest leave.
func (w *response) finish() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if !w.sent {
		_ = w.send(false) // a caller that has gone is no concern of ours
	}
	if w.zip != nil {
		_ = w.zip.Close()
		w.zips.Put(w.zip)
		w.zip = nil
	}
}

// writeJSON writes a whole answer.
func (w *response) writeJSON(status int, v any) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	_ = writeJSON(w, v)
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.w }
