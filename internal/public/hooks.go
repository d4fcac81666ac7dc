package public

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/packetboat/packetboat/internal/engine/inbound"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/track"
)

// Hooks serves the addresses at which relays and providers report on mail.
type Hooks struct {
	DB       *sqldb.DB
	Keys     *track.Keys
	Receiver *inbound.Receiver
	Log      *slog.Logger
	Now      func() time.Time
}

// Routes adds the routes to mux.
func (h *Hooks) Routes(mux *http.ServeMux) { mux.HandleFunc("POST /_q/hooks/mta/{token}", h.mta) }

// Limits of a request.
const (
	maxHookBody    = 1 << 20
	maxHookReports = 1000
	hookTogether   = 50 // reports that wait for their commit at the same time
)

// hookReport is one element of a request's array.
type hookReport struct {
	MessageID string          `json:"message_id"`
	Event     string          `json:"event"`
	Code      json.RawMessage `json:"code"` // a number, or a number in a string
	Status    string          `json:"status"`
	Reason    string          `json:"reason"`
	At        string          `json:"at"`
}

// mta takes the reports of any relay. The token names the lane; each report is identified by the
// Message-ID of the mail, whose secret part must match.
func (h *Hooks) mta(w http.ResponseWriter, r *http.Request) {
	tenant, config, err := h.Keys.VerifyHook(r.PathValue("token"))
	if err == nil {
		_, err = lane.ByID(r.Context(), h.DB, tenant, config)
	}
	switch {
	case errors.Is(err, track.ErrBadToken), errors.Is(err, lane.ErrNotFound):
		http.NotFound(w, r)
		return
	case err != nil:
		h.fail(w, err)
		return
	}
	var list []hookReport
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxHookBody)).Decode(&list); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			http.Error(w, "the body is larger than 1 MB", http.StatusRequestEntityTooLarge)
			return
		}
		http.Error(w, "the body must be a JSON array of objects with message_id and event", http.StatusBadRequest)
		return
	}
	if len(list) > maxHookReports {
		http.Error(w, "at most 1000 reports are accepted at once", http.StatusBadRequest)
		return
	}
	all, ctx := errgroup.WithContext(r.Context())
	all.SetLimit(hookTogether)
	for _, report := range list {
		all.Go(func() error { return h.record(ctx, tenant, report) })
	}
	if err := all.Wait(); err != nil { // the sender repeats the request, and those recorded change nothing
		h.fail(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *Hooks) fail(w http.ResponseWriter, err error) {
	if !errors.Is(err, inbound.ErrUnsettled) {
		h.Log.Error("hook failed", "err", err)
	}
	w.Header().Set("Retry-After", "30")
	http.Error(w, "please try again", http.StatusServiceUnavailable)
}

// record records one report. Those of unknown messages and with unknown events change nothing.
func (h *Hooks) record(ctx context.Context, tenant id.Tenant, r hookReport) error {
	message, _, err := h.Keys.VerifyMessageID(r.MessageID)
	if err != nil {
		h.Receiver.CountHook("unproven")
		return nil
	}
	var effect inbound.Effect
	switch r.Event {
	case "bounced":
		effect = inbound.Bounced
	case "complained":
		effect = inbound.Complained
	default: // delivered and deferred: the relay has accepted the message already
		h.Receiver.CountHook("none")
		return nil
	}
	code, _ := strconv.Atoi(strings.Trim(string(r.Code), `"`))
	at, err := time.Parse(time.RFC3339, r.At)
	if err != nil || at.After(h.Now()) {
		at = h.Now()
	}
	return h.Receiver.Report(ctx, tenant, message, effect, at.UTC(), dsn.Failure(code, r.Status, r.Reason))
}
