package public

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/inbound"
	"github.com/packetboat/packetboat/internal/mail/hook"
	"github.com/packetboat/packetboat/internal/mail/sns"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Hooks serves the addresses at which relays and providers report on mail.
type Hooks struct {
	DB       *sqldb.DB
	Keys     *track.Keys
	Receiver *inbound.Receiver
	SNS      *sns.Client
	Log      *slog.Logger
	Now      func() time.Time
}

// Routes adds the routes to mux.
func (h *Hooks) Routes(mux *http.ServeMux) {
	mux.HandleFunc("POST /_q/hooks/mta/{token}", h.mta)
	mux.HandleFunc("POST /_q/hooks/ses/{token}", h.ses)
}

// Limits of a request.
const (
	maxHookBody  = 1 << 20
	hookTogether = 50 // reports that wait for their commit at the same time
)

// mta takes the reports of any relay. The token names the lane; each report is identified by the
// Message-ID of the mail, whose secret part must match.
func (h *Hooks) mta(w http.ResponseWriter, r *http.Request) {
	tenant, config, err := h.Keys.VerifyHook(r.PathValue("token"))
	if err == nil {
		_, err = lane.ByID(r.Context(), h.DB, tenant, config)
	}
	if h.refuseToken(w, r, err) {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHookBody))
	if err != nil {
		refuseBody(w, err, "the body could not be read")
		return
	}
	list, err := hook.Generic(body)
	if err != nil {
		refuseBody(w, err, "the body must be a JSON array of objects with message_id and event")
		return
	}
	if len(list) > hook.MaxEvents {
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

// refuseToken answers a request whose token names no lane, and reports whether it did.
func (h *Hooks) refuseToken(w http.ResponseWriter, r *http.Request, err error) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, track.ErrBadToken), errors.Is(err, lane.ErrNotFound):
		http.NotFound(w, r)
	default:
		h.fail(w, err)
	}
	return true
}

// refuseBody answers a request with a body that cannot be used.
func refuseBody(w http.ResponseWriter, err error, message string) {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		http.Error(w, "the body is larger than 1 MB", http.StatusRequestEntityTooLarge)
		return
	}
	http.Error(w, message, http.StatusBadRequest)
}

func (h *Hooks) fail(w http.ResponseWriter, err error) {
	if !errors.Is(err, inbound.ErrUnsettled) {
		h.Log.Error("hook failed", "err", err)
	}
	w.Header().Set("Retry-After", "30")
	http.Error(w, "please try again", http.StatusServiceUnavailable)
}

// record records one report. Those of unknown messages and with unknown events change nothing, and
// neither do delivered and deferred: the relay has accepted the message already.
func (h *Hooks) record(ctx context.Context, tenant id.Tenant, e hook.Event) error {
	message, _, err := h.Keys.VerifyMessageID(e.MessageID)
	if err != nil {
		h.Receiver.CountHook("unproven")
		return nil
	}
	if e.Kind == hook.Delivered {
		e.Kind = hook.None
	}
	return h.recordEvent(ctx, tenant, message, e)
}
