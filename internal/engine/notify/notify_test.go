package notify

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestTheReferenceLibraryAcceptsTheSignature(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r := newSite(t, db), newReceiver(t, nil)
		e, key := s.endpoint(s.tenant, r.URL)
		d := s.test(e)
		s.tick()
		got := r.requests()
		if len(got) != 1 {
			t.Fatalf("%d requests arrived, want 1", len(got))
		}
		if err := verify(t, key, got[0]); err != nil {
			t.Errorf("verify: %v", err)
		}
		if id := got[0].header.Get("webhook-id"); id != "msg_"+d.ID.String() {
			t.Errorf("webhook-id = %s, want msg_%s", id, d.ID)
		}
		if typ := got[0].header.Get("Content-Type"); typ != "application/json" {
			t.Errorf("Content-Type = %s", typ)
		}
		d = s.delivery(d)
		if d.Status != webhook.Delivered || d.Attempts != 1 || d.ResponseCode == nil || *d.ResponseCode != 204 || d.NextAttemptAt != nil || d.RequestBody != string(got[0].body) {
			t.Errorf("delivery = %+v", d)
		}
		if e := s.get(e); e.Status() != webhook.Healthy || e.LastSuccessAt == nil || e.LastFailureAt != nil {
			t.Errorf("endpoint = %+v", e)
		}
		got[0].body = append(got[0].body, ' ')
		if verify(t, key, got[0]) == nil {
			t.Error("a changed body was accepted")
		}
	})
}

func TestBothSecretsSignForADayAfterARotation(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r := newSite(t, db), newReceiver(t, nil)
		e, old := s.endpoint(s.tenant, r.URL)
		_, key, err := webhook.RotateSecret(t.Context(), db, s.box, s.tenant, e.ID, s.clock())
		if err != nil {
			t.Fatal(err)
		}
		s.test(e)
		s.tick()
		for name, k := range map[string]string{"old": old, "new": key} {
			if err := verify(t, k, r.requests()[0]); err != nil {
				t.Errorf("with the %s secret: %v", name, err)
			}
		}
		_, latest, err := webhook.RotateSecret(t.Context(), db, s.box, s.tenant, e.ID, s.clock())
		if err != nil {
			t.Fatal(err)
		}
		s.test(e)
		s.tick()
		if got := r.requests()[1]; verify(t, old, got) == nil || verify(t, key, got) != nil || verify(t, latest, got) != nil {
			t.Errorf("after a second rotation the signatures are %s", got.header.Get("webhook-signature"))
		}
		s.advance(24 * time.Hour)
		s.test(e)
		s.tick()
		if n := len(strings.Fields(r.requests()[2].header.Get("webhook-signature"))); n != 1 {
			t.Errorf("a day later there are %d signatures, want 1", n)
		}
	})
}

func TestFailuresAreRetriedOnSchedule(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, db)
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, "broken \xff\x00", strings.Repeat("x", 10_000))
		})
		e, key := s.endpoint(s.tenant, r.URL)
		d := s.test(e)
		s.tick()
		for i, pause := range []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour} {
			got := s.delivery(d)
			if got.Status != webhook.Retrying || got.Attempts != i+1 || got.NextAttemptAt == nil || !got.NextAttemptAt.Equal(s.clock().Add(pause)) {
				t.Fatalf("after attempt %d: %+v, want the next in %s", i+1, got, pause)
			}
			s.advance(pause - time.Second)
			s.tick()
			if n := len(r.requests()); n != i+1 {
				t.Fatalf("%d attempts were made a second too early, want %d", n, i+1)
			}
			s.advance(time.Second)
			s.tick()
		}
		got := s.delivery(d)
		if got.Status != webhook.Failed || got.Attempts != 8 || got.NextAttemptAt != nil || *got.ResponseCode != 500 {
			t.Errorf("after the last attempt: %+v", got)
		}
		if !strings.HasPrefix(got.ResponseBody, "broken \uFFFD\uFFFDx") || len(got.ResponseBody) > webhook.MaxResponse {
			t.Errorf("the stored answer has %d bytes: %.20q", len(got.ResponseBody), got.ResponseBody)
		}
		if e := s.get(e); e.Status() != webhook.Failing || e.LastFailureAt == nil || e.LastSuccessAt != nil {
			t.Errorf("endpoint = %+v", e)
		}
		all := r.requests()
		for i, one := range all {
			if one.header.Get("webhook-id") != "msg_"+d.ID.String() || string(one.body) != string(all[0].body) {
				t.Errorf("attempt %d has id %s and body %s", i+1, one.header.Get("webhook-id"), one.body)
			}
		}
		s.advance(time.Hour)
		s.tick()
		if n := len(r.requests()); n != 8 {
			t.Errorf("%d attempts were made, want 8", n)
		}
		r.setAnswer(nil)
		if _, err := webhook.Replay(t.Context(), db, s.tenant, e.ID, d.ID, s.clock()); err != nil {
			t.Fatal(err)
		}
		s.tick()
		if got := s.delivery(d); got.Status != webhook.Delivered || got.Attempts != 9 || s.get(e).Status() != webhook.Healthy {
			t.Errorf("after the replay: %+v", got)
		}
		_ = key
	})
}

func TestGoneDisablesAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r := newSite(t, db), newReceiver(t, status(http.StatusGone))
		e, _ := s.endpoint(s.tenant, r.URL)
		var all []webhook.Delivery
		for range 40 {
			all = append(all, s.test(e))
		}
		s.tick()
		got := s.get(e)
		if got.Status() != webhook.Disabled || got.DisabledReason != webhook.Gone {
			t.Fatalf("endpoint = %+v", got)
		}
		if n := len(r.requests()); n > firstWindow+maxWindow {
			t.Errorf("%d requests were made to an endpoint that is gone", n)
		}
		for _, d := range all {
			if d = s.delivery(d); d.Status != webhook.Failed || d.NextAttemptAt != nil {
				t.Errorf("delivery = %+v, want failed", d)
			}
		}
		if _, err := webhook.Test(t.Context(), db, s.tenant, e.ID, s.clock()); err == nil {
			t.Error("a disabled endpoint can be tested")
		}
		var mails []string
		n := &DisabledEndpoints{DB: db, Log: s.engine.Log, Mail: func(_ context.Context, to, subject, text string) error {
			mails = append(mails, to+": "+subject)
			return nil
		}}
		if err := n.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(mails) != 0 { // the tenant has no members
			t.Errorf("mails = %v", mails)
		}
		r.setAnswer(nil)
		if _, err := webhook.Update(t.Context(), db, s.tenant, e.ID, webhook.Fields{Active: new(true)}, webhook.Rules{AllowPrivate: true}, s.clock()); err != nil {
			t.Fatal(err)
		}
		d := s.test(e)
		s.tick()
		if s.delivery(d).Status != webhook.Delivered || s.get(e).Status() != webhook.Healthy {
			t.Errorf("after activation: %+v, %+v", s.delivery(d), s.get(e))
		}
	})
}

func TestFiveDaysOfFailuresDisable(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r := newSite(t, db), newReceiver(t, status(http.StatusBadGateway))
		e, _ := s.endpoint(s.tenant, r.URL)
		for range 5 {
			s.test(e)
			s.tick()
			if got := s.get(e); got.Status() != webhook.Failing {
				t.Fatalf("endpoint = %+v", got)
			}
			s.advance(24*time.Hour - time.Second)
		}
		s.test(e)
		s.tick()
		if got := s.get(e); got.Status() != webhook.Failing {
			t.Fatalf("five seconds early: %+v", got)
		}
		s.advance(5 * time.Second)
		s.test(e)
		s.tick()
		if got := s.get(e); got.Status() != webhook.Disabled || got.DisabledReason != webhook.FailingReason {
			t.Errorf("after five days: %+v", got)
		}
	})
}

func TestASuccessBetweenFailuresBeginsAnew(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r := newSite(t, db), newReceiver(t, status(http.StatusBadGateway))
		e, _ := s.endpoint(s.tenant, r.URL)
		for day := range 8 {
			r.setAnswer(status(http.StatusBadGateway))
			if day == 4 {
				r.setAnswer(nil)
			}
			s.test(e)
			s.tick()
			s.advance(24 * time.Hour)
		}
		if got := s.get(e); got.Status() != webhook.Failing {
			t.Errorf("endpoint = %+v", got)
		}
	})
}

func TestRedirectsAreFailures(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.One(t))
	target := newReceiver(t, nil)
	for _, code := range []int{301, 302, 303, 307, 308} {
		r := newReceiver(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, code) })
		e, _ := s.endpoint(s.tenant, r.URL)
		d := s.test(e)
		s.tick()
		if got := s.delivery(d); got.Status != webhook.Retrying || *got.ResponseCode != code {
			t.Errorf("%d: %+v", code, got)
		}
	}
	if n := len(target.requests()); n != 0 {
		t.Errorf("%d requests followed a redirect", n)
	}
}
