package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// StockPath is where the program that serves the demo also serves StockSystem.
const StockPath = "/demo/stock"

// StockURL returns the address of StockSystem on a server.
func StockURL(base *url.URL) string { return base.JoinPath(StockPath).String() }

// StockSystem receives the requests of the demo's webhook: it stands for the program in which the shop
// counts its books. In the history it was out of order while it was moved, so that orders of these days
// failed; what is attempted now, it accepts.
type StockSystem struct{ Began time.Time } // when the tenant was created

// The time in which the stock system was moved, from the end of the history.
const (
	moveBegan = -6 * day
	moveEnded = -2 * day
)

// maxOrder is how much of a request is read.
const maxOrder = 1 << 20

// ServeHTTP answers a request of a webhook. The time of an attempt is in its header (Standard Webhooks).
func (s StockSystem) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seconds, err := strconv.ParseInt(r.Header.Get("Webhook-Timestamp"), 10, 64)
	if err != nil {
		answerStock(w, http.StatusBadRequest, map[string]string{"error": "this is no request of a webhook"})
		return
	}
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxOrder)); err != nil {
		answerStock(w, http.StatusRequestEntityTooLarge, map[string]string{"error": "the request is too large"})
		return
	}
	end := s.Began.Add(past)
	if at := time.Unix(seconds, 0); !at.Before(end.Add(moveBegan)) && at.Before(end.Add(moveEnded)) {
		answerStock(w, http.StatusServiceUnavailable, map[string]string{"error": "the stock system is being moved to another server"})
		return
	}
	answerStock(w, http.StatusOK, map[string]string{"accepted": r.Header.Get("Webhook-Id")})
}

func answerStock(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// stockWebhook creates the webhook by which orders and sign-ups get to the stock system.
func (h *History) stockWebhook(ctx context.Context) error {
	if h.Stock == "" {
		return nil
	}
	_, err := h.ensure(ctx, "/settings/webhooks", "url", object{
		"url": h.Stock, "description": "Stock system of the shop", "event_types": []string{webhook.EventRecorded, webhook.FormSubmitted},
	})
	return err
}

// moveStock sets the address of the stock system in its webhook to the one that is served.
func (d Account) moveStock(ctx context.Context, tx *sqldb.DB, t id.Tenant) error {
	if d.Stock == "" {
		return nil
	}
	list, err := webhook.List(ctx, tx, t)
	if err != nil {
		return err
	}
	for _, e := range list {
		if !strings.HasSuffix(e.URL, StockPath) || e.URL == d.Stock {
			continue
		}
		if _, err := webhook.Update(ctx, tx, t, e.ID, webhook.Fields{URL: &d.Stock}, webhook.Rules{AllowPrivate: true}, d.Now); err != nil {
			return fmt.Errorf("webhook of the stock system: %w", err)
		}
	}
	return nil
}
