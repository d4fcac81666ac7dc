package app

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// The DKIM keys of these tenants are sealed with another secret key than the server's, so opening
// one fails.
func TestTheTrackRoleOpensNoDKIMKey(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, ctx := newTestServer(t, db)
		s.Roles = []Role{RoleTrack}
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
		address := make(chan string, 1)
		s.Started = func(a string) { address <- a }
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			if err := <-done; err != nil {
				t.Errorf("Run: %v", err)
			}
		})
		var base string
		select {
		case a := <-address:
			base = "http://" + a
		case err := <-done:
			done <- nil
			t.Fatal(err)
		}
		client := &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		keys := track.NewKeys(s.Store.Box)
		for _, slug := range []string{"acme", "other"} {
			a := broadcasttest.New(t, db, slug)
			if _, _, err := sender.DomainKey(t.Context(), db, s.Store.Box, a.Tenant, a.Domain.ID); err == nil {
				t.Fatal("the server's secret key opens the DKIM key")
			}
			message := sentMessage(t, a)
			signer, err := keys.Signer(a.Tenant, message)
			if err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				kind     track.Kind
				status   int
				location string
			}{
				{track.ClickLink, 302, "https://example.org/a?x=1&utm_source=" + slug + "&utm_medium=email&utm_campaign=spring"},
				{track.Unsubscribe, 200, ""},
				{track.View, 200, ""},
			} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/_q/"+string(rune(tt.kind))+"/"+string(signer.Append(nil, tt.kind, 0, "")), nil)
				if err != nil {
					t.Fatal(err)
				}
				response, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(response.Body)
				_ = response.Body.Close()
				if got := response.Header.Get("Location"); response.StatusCode != tt.status || got != tt.location {
					t.Errorf("%s: a link of kind %c is answered %d %q, want %d %q: %s", slug, rune(tt.kind), response.StatusCode, got, tt.status, tt.location, body)
				}
			}
			if err := (&track.Inbox{DB: db, Log: s.Log}).Drain(t.Context()); err != nil { // as a worker does
				t.Fatal(err)
			}
			if hits, err := track.HitsOf(t.Context(), db, a.Tenant, []id.Message{message}); err != nil || len(hits) == 0 {
				t.Errorf("%s: hits = %v, %v", slug, hits, err)
			}
		}
	})
}

// sentMessage puts a sent mail with one link into the outbox.
func sentMessage(t *testing.T, a *broadcasttest.Account) id.Message {
	t.Helper()
	ctx, b := t.Context(), a.Create()
	person := a.AddContacts(a.List.ID, "ann", 1)[0]
	frozen, err := content.Freeze(ctx, a.DB, a.Tenant, content.Source{
		Subject: "Hi", Tracking: true, HTML: `<html><body><a href="https://example.org/a?x=1">A</a></body></html>`,
		Send:    b.Send,
		Context: content.Context{Broadcast: b.ID, EmailType: a.Type.ID, UTM: true, UTMCampaign: "spring"},
	}, broadcasttest.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := outbox.Create(ctx, a.DB, outbox.Send{Tenant: a.Tenant, ID: b.Send, Source: outbox.FromBroadcast(b.ID)}, outbox.Terms{}, broadcasttest.Now); err != nil {
		t.Fatal(err)
	}
	m := outbox.Message{
		ID: id.New[id.Message](), Contact: person.ID, Email: person.Email, Content: frozen,
		Identity: a.Identity.ID, Lane: a.Lane.ID, DueAt: broadcasttest.Now,
	}
	if _, err := outbox.AddMessages(ctx, a.DB, a.Tenant, b.Send, []outbox.Message{m}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.DB.Exec(ctx, `UPDATE outbox SET state = 'delivered', sent_at = $2 WHERE tenant_id = $1`, a.Tenant, broadcasttest.Now.UnixMicro()); err != nil {
		t.Fatal(err)
	}
	return m.ID
}
