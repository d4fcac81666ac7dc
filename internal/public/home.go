package public

import "net/http"

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
