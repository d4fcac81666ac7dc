package public

import (
	"embed"
	"html/template"
	"net/http"
	"time"
)

//go:embed page.html
var pageFiles embed.FS

var pageTemplate = template.Must(template.ParseFS(pageFiles, "page.html"))

// pageView is the data of a page.
type pageView struct {
	Title, Text string
	Form        *form
	Links       []link
}

// form is the one button of a page.
type form struct{ Action, Button string }

type link struct{ To, Text string }

// How long the tokens of pages are valid; those to unsubscribe do not expire.
const (
	preferencesLast = 2 * 365 * 24 * time.Hour
	viewLast        = 365 * 24 * time.Hour
)

// page writes one of our small pages.
func page(w http.ResponseWriter, r *http.Request, status int, title, text string, f *form) {
	show(w, r, status, pageView{Title: title, Text: text, Form: f})
}

// show writes a page. It needs no script, and no other site may frame it.
func show(w http.ResponseWriter, r *http.Request, status int, v pageView) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	_ = pageTemplate.Execute(w, v)
}

// Home is the page at the installation's own address.
func Home() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		show(w, r, http.StatusOK, pageView{
			Title: "Packetboat",
			Text: "This is Packetboat, an email sending service. Programs use it over HTTP: it keeps contacts and " +
				"segments, sends broadcasts to them, and reports what became of every mail.",
			Links: []link{
				{"docs", "API reference"},
				{"api/openapi.json", "API description (OpenAPI)"},
				{"mailbox/", "Mailbox: the mail that test lanes (sinks) accepted"},
			},
		})
	})
}
