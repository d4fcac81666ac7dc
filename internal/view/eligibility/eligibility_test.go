package eligibility_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/eligibility"
)

var now = broadcasttest.Now

// failed returns the failed checks with reasons and actions, and checks the first reason.
func failed(t *testing.T, v eligibility.Verdict) string {
	t.Helper()
	var list []string
	first := ""
	for _, c := range v.Checks {
		if c.OK {
			continue
		}
		if first == "" {
			first = c.Name
		}
		if c.Detail == "" {
			t.Errorf("the check %s has no detail", c.Name)
		}
		list = append(list, strings.Trim(fmt.Sprintf("%s:%s:%s", c.Name, c.Reason, c.Action), ":"))
	}
	if v.FirstReason != first || v.Eligible != (first == "") {
		t.Errorf("verdict %v, %q; the first failed check is %q", v.Eligible, v.FirstReason, first)
	}
	return strings.Join(list, " ")
}

func TestEachCheckSaysWhy(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		a, other := broadcasttest.New(t, db, "acme"), broadcasttest.New(t, db, "other")
		people := a.AddContacts(a.List.ID, "x", 5)
		_, listed := suppression.Add(ctx, db, a.Tenant, people[1].Email, "asked", now)
		_, marked := contact.Update(ctx, db, a.Tenant, people[2].ID, contact.Change{DoNotContact: new(true)}, contact.Rules{}, now)
		err := errors.Join(listed, marked,
			contact.Unsubscribe(ctx, db, a.Tenant, people[3].ID, contact.UnsubscribeScope{TypeKey: a.Type.Key}, now),
			contact.Unsubscribe(ctx, db, a.Tenant, people[4].ID, contact.UnsubscribeScope{Everything: true}, now))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := suppression.Add(ctx, db, other.Tenant, people[0].Email, "another tenant's", now); err != nil {
			t.Fatal(err)
		}
		mail := eligibility.Mail{TypeKey: a.Type.Key}
		for i, want := range []string{"", "suppressed_address:asked:remove_suppression", "do_not_contact::clear_do_not_contact", "unsubscribed_type", "not_active:unsubscribed:reset_status"} {
			v, err := eligibility.Of(ctx, db, a.Tenant, people[i].ID, mail, now)
			if err != nil {
				t.Fatal(err)
			}
			if got := failed(t, v); got != want {
				t.Errorf("contact %d: %q, want %q", i, got, want)
			}
			var names []string
			for _, c := range v.Checks {
				names = append(names, c.Name)
			}
			if got := strings.Join(names, " "); got != "pending not_active do_not_contact suppressed_address unsubscribed_category unsubscribed_type invalid_email" {
				t.Errorf("checks %s", got)
			}
			c, err := contact.ByID(ctx, db, a.Tenant, people[i].ID)
			if err != nil {
				t.Fatal(err)
			}
			_, on, err := suppression.Find(ctx, db, a.Tenant, c.Email)
			if got := c.Refusal(contact.Consent{TypeKey: a.Type.Key}, on); err != nil || got != v.FirstReason {
				t.Errorf("contact %d: sending says %q, %v; the verdict %q", i, got, err, v.FirstReason)
			}
		}
		for name, c := range map[string]struct {
			who  id.Contact
			mail eligibility.Mail
			want error
		}{
			"contact of another":   {people[0].ID, mail, contact.ErrNotFound},
			"type":                 {people[0].ID, eligibility.Mail{TypeKey: "nope"}, sender.ErrUnknownEmailType},
			"broadcast of another": {people[0].ID, eligibility.Mail{Broadcast: other.Create().ID}, broadcast.ErrNotFound},
			"sequence":             {people[0].ID, eligibility.Mail{Sequence: id.New[id.Sequence]()}, sequence.ErrNotFound},
		} {
			tenant := a.Tenant
			if strings.HasPrefix(name, "contact") {
				tenant = other.Tenant
			}
			if _, err := eligibility.Of(ctx, db, tenant, c.who, c.mail, now); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
	})
}

func TestABroadcastFirstAsksForItsAudience(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		a := broadcasttest.New(t, db, "acme")
		in := a.AddContacts(a.List.ID, "in", 2)
		bad := a.AddList("Left")
		out := a.AddContacts(bad.ID, "out", 1)
		if _, err := segment.Add(ctx, db, a.Tenant, bad.ID, segment.People{IDs: []id.Contact{in[1].ID}}, now); err != nil {
			t.Fatal(err)
		}
		rule, err := segment.Create(ctx, db, a.Tenant, segment.Change{Name: new("Exampled"), Definition: json.RawMessage(`{"logic": "and", "conditions": [{"field": "email", "operator": "starts_with", "value": "in0"}]}`)}, now)
		if err != nil {
			t.Fatal(err)
		}
		b := a.Create(func(ch *broadcast.Change) { ch.Exclude = &[]id.Segment{bad.ID} })
		dynamic := a.Create(func(ch *broadcast.Change) { ch.Include = &[]id.Segment{rule.ID} })
		ask := func(c id.Contact, b broadcast.Broadcast) eligibility.Verdict {
			t.Helper()
			v, err := eligibility.Of(ctx, db, a.Tenant, c, eligibility.Mail{Broadcast: b.ID}, now)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		for _, c := range []struct {
			who  id.Contact
			b    broadcast.Broadcast
			want string
		}{
			{in[0].ID, b, ""}, {in[1].ID, b, "audience:in_excluded_segment:change_segments"}, {out[0].ID, b, "audience:in_no_segment:change_segments"},
			{in[0].ID, dynamic, ""}, {in[1].ID, dynamic, "audience:in_no_segment:change_segments"},
		} {
			if got := failed(t, ask(c.who, c.b)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		}
		if err := broadcast.Schedule(ctx, db, a.Tenant, b.ID, now); err != nil {
			t.Fatal(err)
		}
		e := &dispatch.Engine{DB: db, Owner: "one", Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
		for more := true; more; {
			var err error
			if more, err = e.Tick(ctx); err != nil {
				t.Fatal(err)
			}
		}
		v := ask(in[0].ID, b)
		if got := failed(t, v); got != "" || v.Checks[0].Name != eligibility.Recipient || v.Checks[0].Reason != "queued" {
			t.Errorf("a recipient: %q, %+v", got, v.Checks[0])
		}
		if got := failed(t, ask(out[0].ID, b)); got != "audience:in_no_segment:change_segments recipient:not_a_recipient" {
			t.Errorf("no recipient: %q", got)
		}
	})
}
