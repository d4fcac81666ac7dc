package public

import "net/http"

// Home is what somebody finds who opens the installation's own address.
func Home() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		show(w, r, http.StatusOK, pageView{
			Title: "Packetboat", Text: "This is an email sending service, and it is up.",
			Links: []link{{"mailbox/", "The mailbox of its sinks"}, {"docs", "The reference of its API"}},
		})
	})
}
