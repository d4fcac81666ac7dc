package app

import (
	"net/http"
	"path"
)

// front routes requests to the pages, and all others to api, which answers unknown routes in the
// API's format. That includes unclean paths such as //t/x: http.ServeMux would redirect them, and
// an API client would take the redirect for an answer.
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
