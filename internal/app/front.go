package app

import (
	"net/http"
	"path"
)

// front gives a request to the page at its route, and every other one to api,
// which knows how to say that there is nothing. That includes paths that are
// not clean, such as //t/x: the mux would send their callers elsewhere, and a
// client of an API takes a redirect for an answer.
func front(pages *http.ServeMux, api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, page := pages.Handler(r); page == "" || !clean(r.URL.Path) {
			api.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

func clean(p string) bool {
	c := path.Clean(p)
	return p == c || c != "/" && p == c+"/"
}
