package app

import (
	"net/http"
	"time"
)

// A response ends when its client has not taken stallBytes of it within stallTimeout, however long all of it takes.
const (
	stallTimeout = 30 * time.Second
	stallBytes   = 64 << 10
)

// endStalled ends responses to clients that do not read them.
func endStalled(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&stallingWriter{w, http.NewResponseController(w)}, r)
	})
}

type stallingWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write writes p in parts, each with a deadline of its own.
func (w *stallingWriter) Write(p []byte) (n int, err error) {
	for {
		_ = w.control.SetWriteDeadline(time.Now().Add(stallTimeout)) // a recorder in a test has none
		m, err := w.ResponseWriter.Write(p[:min(len(p), stallBytes)])
		n, p = n+m, p[m:]
		if err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// Unwrap returns the writer that http.ResponseController controls.
func (w *stallingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
