package public

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"

	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Hosts answers what others need to know about the hosts of this installation: whether a tracking
// host leads here, and for which names a proxy may request certificates.
type Hosts struct {
	DB     *sqldb.DB
	Answer func(challenge string) string // proves that this is the installation; see sender.Nonce
	Own    []string                      // hosts of the installation itself
	Log    *slog.Logger
}

// Routes adds the routes to mux.
func (h *Hosts) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET "+sender.PingPath, h.ping)
	mux.HandleFunc("GET /_q/tls-ask", h.ask)
}

// ping answers a challenge, on any host. Without one it only shows that the host leads here.
func (h *Hosts) ping(w http.ResponseWriter, r *http.Request) {
	plainText(w)
	challenge := r.URL.Query().Get("challenge")
	if challenge == "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if len(challenge) > sender.MaxChallenge {
		http.Error(w, "the challenge is too long", http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(w, h.Answer(challenge)+"\n")
}

// ask tells a proxy whether it may request a certificate for a name: 200 or 404. It is the format of
// on_demand_tls of Caddy: https://caddyserver.com/docs/caddyfile/options#on-demand-tls.
func (h *Hosts) ask(w http.ResponseWriter, r *http.Request) {
	plainText(w)
	serves, err := h.Serves(r.Context(), r.URL.Query().Get("domain"))
	switch {
	case err != nil:
		h.Log.Error("look up host for a certificate failed", "err", err)
		http.Error(w, "try again later", http.StatusServiceUnavailable)
	case !serves:
		http.Error(w, "not a host of this installation", http.StatusNotFound)
	}
}

// Serves reports whether a host is the installation's own, or leads recipients to it.
func (h *Hosts) Serves(ctx context.Context, host string) (bool, error) {
	name, err := address.Hostname(host)
	if err != nil {
		return false, nil
	}
	if slices.Contains(h.Own, name) {
		return true, nil
	}
	return sender.ServesHost(ctx, h.DB, name)
}

func plainText(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}
