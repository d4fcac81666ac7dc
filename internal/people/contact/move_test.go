package contact_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// results describes the results of a call, as texts.
func results(list []contact.Moved) []string {
	out := make([]string, len(list))
	for i, m := range list {
		switch {
		case m.Err != nil:
			out[i] = m.Code()
		case m.Changed:
			out[i] = "changed"
		}
	}
	return out
}

func mustMove(t *testing.T, list []contact.Moved, err error, want ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, results(list)); diff != "" {
		t.Errorf("answers differ:\n%s", diff)
	}
}

func mustRead(t *testing.T, db *sqldb.DB, c id.Contact) contact.Contact {
	t.Helper()
	got, err := contact.ByID(t.Context(), db, acme, c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestResultsAreInTheOrderOfTheRequest(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		l := life{t, db}
		ctx := t.Context()
		active := l.inStatus("a@example.org", contact.Active)
		left := l.inStatus("b@example.org", contact.Unsubscribed)
		gone := l.inStatus("c@example.org", contact.Suppressed)
		theirs, err := contact.ByEmail(ctx, db, other, "ann@example.org")
		if err != nil {
			t.Fatal(err)
		}
		nobody := id.New[id.Contact]()
		ids := []id.Contact{gone, active, nobody, left, theirs.ID, active}
		const none = "CONTACT_NOT_FOUND"

		moved, err := contact.Subscribe(ctx, db, acme, ids, everything, false, noon)
		mustMove(t, moved, err, "", "", none, "UNSUBSCRIBED", none, "")
		moved, err = contact.Subscribe(ctx, db, acme, ids, offers, false, noon)
		mustMove(t, moved, err, "changed", "changed", none, "changed", none, "")
		if got := mustRead(t, db, left); got.Status != contact.Unsubscribed || !got.Subscriptions["offers"] {
			t.Errorf("after a program's Subscribe to a type: %s, %v", got.Status, got.Subscriptions)
		}
		moved, err = contact.Subscribe(ctx, db, acme, ids, offers, true, noon)
		mustMove(t, moved, err, "", "", none, "changed", none, "")
		moved, err = contact.UnsubscribeMany(ctx, db, acme, ids, everything, noon)
		mustMove(t, moved, err, "changed", "changed", none, "changed", none, "")
		if got := mustRead(t, db, gone); got.Status != contact.Suppressed || got.StatusBeforeSuppress != contact.Unsubscribed || got.UnsubscribedAt == nil {
			t.Errorf("after Unsubscribe of a deleted contact: %s before %s", got.StatusBeforeSuppress, got.Status)
		}
		moved, err = suppression.ResetStatus(ctx, db, acme, ids, noon)
		mustMove(t, moved, err, "INVALID_TRANSITION", "changed", none, "changed", none, "")
		moved, err = contact.Restore(ctx, db, acme, ids, nil, noon)
		mustMove(t, moved, err, "changed", "INVALID_TRANSITION", none, "INVALID_TRANSITION", none, "INVALID_TRANSITION")
		moved, err = contact.Delete(ctx, db, acme, ids, noon)
		mustMove(t, moved, err, "changed", "changed", none, "changed", none, "")
		moved, err = contact.Delete(ctx, db, acme, ids, noon)
		mustMove(t, moved, err, "", "", none, "", none, "")
		moved, err = suppression.Anonymize(ctx, db, acme, ids, true, nil, noon)
		mustMove(t, moved, err, "changed", "changed", none, "changed", none, "")
		moved, err = suppression.Anonymize(ctx, db, acme, ids, true, nil, noon)
		mustMove(t, moved, err, "", "", none, "", none, "")
		moved, err = contact.Restore(ctx, db, acme, ids[:2], nil, noon)
		mustMove(t, moved, err, "INVALID_TRANSITION", "INVALID_TRANSITION")
		moved, err = contact.Subscribe(ctx, db, acme, ids[:1], offers, true, noon)
		mustMove(t, moved, err, "INVALID_TRANSITION")

		many := slices.Repeat([]id.Contact{nobody}, contact.MaxMoved+1)
		if _, err := contact.Delete(ctx, db, acme, many, noon); !errors.Is(err, contact.ErrLimit) {
			t.Errorf("more than MaxMoved: %v, want %v", err, contact.ErrLimit)
		}
		if moved, err := contact.Delete(ctx, db, acme, nil, noon); err != nil || len(moved) != 0 {
			t.Errorf("without ids: %v, %v", moved, err)
		}
	})
}

func TestRestoreUndoesDelete(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		for i, s := range []contact.Status{contact.Active, contact.Pending, contact.Unsubscribed, contact.Bounced, contact.Complained} {
			c := life{t, db}.inStatus(fmt.Sprintf("c%d@example.org", i), s)
			before := mustRead(t, db, c)
			moved, err := contact.Delete(t.Context(), db, acme, []id.Contact{c}, noon.Add(time.Minute))
			mustMove(t, moved, err, "changed")
			gone := mustRead(t, db, c)
			if gone.Status != contact.Suppressed || gone.StatusBeforeSuppress != s || !gone.SuppressedAt.Equal(noon.Add(time.Minute)) ||
				gone.DeliverabilityStatus != contact.Blocked || gone.DeliverabilityReason != "soft_deleted" {
				t.Errorf("after Delete: %s before %s, at %v, %s %s", gone.StatusBeforeSuppress, gone.Status, gone.SuppressedAt, gone.DeliverabilityStatus, gone.DeliverabilityReason)
			}
			moved, err = contact.Restore(t.Context(), db, acme, []id.Contact{c}, nil, noon.Add(time.Hour))
			mustMove(t, moved, err, "changed")
			after := mustRead(t, db, c)
			if after.Revision != before.Revision+2 {
				t.Errorf("revision %d became %d, want two more", before.Revision, after.Revision)
			}
			after.Revision = before.Revision
			after.UpdatedAt, after.DeliverabilityUpdatedAt = before.UpdatedAt, before.DeliverabilityUpdatedAt
			if diff := cmp.Diff(before, after, cmp.AllowUnexported(contact.Activity{})); diff != "" {
				t.Errorf("%s, deleted and restored, differs:\n%s", s, diff)
			}
			if entries := journalTypes(t, db, c); !slices.Equal(entries[len(entries)-2:], []string{string(journal.ContactDeleted), string(journal.ContactRestored)}) {
				t.Errorf("journal entries %v", entries)
			}
		}
	})
}

func TestRestoreAppliesEventsAfterDelete(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		l := life{t, db}
		c := l.inStatus("c@example.org", contact.Suppressed)
		if err := l.follow([]id.Contact{c}, bounce("hard", noon)); err != nil {
			t.Fatal(err)
		}
		moved, err := contact.Restore(t.Context(), db, acme, []id.Contact{c}, nil, noon)
		mustMove(t, moved, err, "changed")
		if got := mustRead(t, db, c); got.Status != contact.Bounced || got.DeliverabilityReason != "hard_bounce" {
			t.Errorf("restored as %s, %s", got.Status, got.DeliverabilityReason)
		}
	})
}

func TestRestoreRespectsTheLimit(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		l := life{t, db}
		var ids []id.Contact
		for i := range 3 {
			ids = append(ids, l.inStatus(fmt.Sprintf("c%d@example.org", i), contact.Suppressed))
		}
		l.inStatus("stays@example.org", contact.Active)
		moved, err := contact.Restore(t.Context(), db, acme, ids, new(3), noon)
		mustMove(t, moved, err, "changed", "changed", "LIMIT_EXCEEDED")
		if n, err := contact.Billable(t.Context(), db, acme); n != 3 || err != nil {
			t.Errorf("Billable = %d, %v; want 3", n, err)
		}
	})
}

func TestResetStatusKeepsManualSuppressions(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		l := life{t, db}
		bounced := l.inStatus("bounced@example.org", contact.Bounced)
		complained := l.inStatus("complained@example.org", contact.Complained)
		byHand := l.inStatus("hand@example.org", contact.Unsubscribed)
		if _, err := suppression.Add(t.Context(), db, acme, "hand@example.org", "asked by phone", noon); err != nil {
			t.Fatal(err)
		}
		again := l.inStatus("again@example.org", contact.Active)
		if _, err := suppression.Add(t.Context(), db, acme, "again@example.org", suppression.HardBounce, noon); err != nil {
			t.Fatal(err)
		}
		for _, email := range []string{"bounced@example.org", "complained@example.org"} {
			if listed, err := suppression.Listed(t.Context(), db, acme, []string{email}); err != nil || !listed[email] {
				t.Errorf("%s is listed: %v, %v", email, listed, err)
			}
		}
		ids := []id.Contact{bounced, complained, byHand, again}
		moved, err := suppression.ResetStatus(t.Context(), db, acme, ids, noon.Add(time.Hour))
		mustMove(t, moved, err, "changed", "changed", "changed", "changed")
		for i, want := range []contact.Deliverability{contact.Healthy, contact.Healthy, contact.Blocked, contact.Healthy} {
			got := mustRead(t, db, ids[i])
			if got.Status != contact.Active || got.BounceType != "" || got.UnsubscribedAt != nil || got.DeliverabilityStatus != want {
				t.Errorf("%s: %s, bounced %q, unsubscribed at %v, %s; want active, %s", got.Email, got.Status, got.BounceType, got.UnsubscribedAt, got.DeliverabilityStatus, want)
			}
		}
		// The next soft bounce counts as the first.
		if err := l.follow([]id.Contact{bounced}, bounce("soft", noon.AddDate(0, 0, 1))); err != nil {
			t.Fatal(err)
		}
		if got := mustRead(t, db, bounced); got.DeliverabilityStatus != contact.Watch {
			t.Errorf("after one soft bounce: %s", got.DeliverabilityStatus)
		}
	})
}

func TestTouchesAreDecoded(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		c := mustCreate(t, db, "bob@example.org", contact.Change{})
		if got, err := c.Touches(); err != nil || got != (contact.Touches{}) {
			t.Errorf("Touches of a new contact = %+v, %v", got, err)
		}
		_, err := db.Exec(t.Context(), `INSERT INTO contact_activity (tenant_id, contact_id, deliverability_updated_at, touch) VALUES ($1, $2, 0, $3)
			ON CONFLICT (tenant_id, contact_id) DO UPDATE SET touch = excluded.touch`, acme, c.ID,
			fmt.Sprintf(`{"first_touch_at": %d, "first_touch_source": "google", "last_touch_campaign": "spring"}`, noon.UnixMicro()))
		if err != nil {
			t.Fatal(err)
		}
		read := mustRead(t, db, c.ID)
		got, err := read.Touches()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(contact.Touches{FirstAt: new(noon), FirstSource: new("google"), LastCampaign: new("spring")}, got); diff != "" {
			t.Errorf("touches differ:\n%s", diff)
		}
		// Other writes do not change them.
		if err := (life{t, db}).follow([]id.Contact{c.ID}, bounce("soft", noon)); err != nil {
			t.Fatal(err)
		}
		if read := mustRead(t, db, c.ID); read.BounceType != "soft" {
			t.Error("the bounce is not stored")
		} else if again, err := read.Touches(); err != nil || again.FirstSource == nil {
			t.Errorf("a bounce changed the touches to %+v, %v", again, err)
		}
	})
}
