package broadcast_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var copier = auth.Actor{Type: "user", ID: "u", Name: "Ann"}

// copyOf clones a broadcast and loads the draft.
func copyOf(t *testing.T, a *broadcasttest.Account, bid id.Broadcast) broadcast.Broadcast {
	t.Helper()
	made, err := broadcast.NewClone(t.Context(), a.DB, a.Tenant, bid, nil, copier, now.Add(time.Hour))
	if err == nil {
		err = made.Insert(t.Context(), a.DB)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := a.Load(made.ID)
	if d := cmp.Diff(made, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("NewClone returned something else than it stored (-returned +stored):\n%s", d)
	}
	return got
}

// same compares what the authors of two broadcasts wrote, except for names and start times.
func same(t *testing.T, what string, from, to broadcast.Broadcast) {
	t.Helper()
	if d := cmp.Diff(from.Plan, to.Plan, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(broadcast.Plan{}, "Name", "ScheduledAt")); d != "" {
		t.Errorf("%s: the copy differs (-original +copy):\n%s", what, d)
	}
}

func TestCloneCopiesThePlanInAnyStatus(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		excluded := a.AddList("Excluded")
		from := a.Schedule(func(ch *broadcast.Change) {
			ch.Name, ch.Tags, ch.Exclude = new("Spring"), &[]string{"x", "y"}, &[]id.Segment{excluded.ID}
			ch.Metadata = broadcast.Metadata{"wave": "1", "list": []any{"a", true}}
			ch.Identities, ch.Tracking = &[]id.Identity{a.Identity.ID}, new(false)
			for field, text := range map[draft.Field]string{
				draft.Preheader: "p", draft.FromName: "Ann", draft.ReplyTo: "re@example.org", draft.BodyText: "Hello",
			} {
				ch.Content.Parts[field] = new(text)
			}
		})
		for _, to := range []string{"scheduled", "sending", "paused", "completed", "failed", "cancelled", "draft"} {
			reason := any(nil)
			if to == "paused" {
				reason = "user"
			}
			if _, err := db.Exec(t.Context(), `UPDATE broadcast SET status = $3, pause_reason = $4, content_version = 7 WHERE tenant_id = $1 AND id = $2`, a.Tenant, from.ID, to, reason); err != nil {
				t.Fatal(err)
			}
			from = a.Load(from.ID)
			got := copyOf(t, a, from.ID)
			same(t, to, from, got)
			if got.Name != "Spring (copy)" || got.Status != broadcast.Draft || got.ScheduledAt != nil || got.ContentVersion != 1 || got.ID == from.ID ||
				got.CreatedBy != copier || !got.CreatedAt.Equal(now.Add(time.Hour)) || got.ArchivedAt != nil || got.StartedAt != nil || got.Failure != nil {
				t.Errorf("the copy of one that is %s is %+v", to, got)
			}
			if again := a.Load(from.ID); again.Revision != from.Revision {
				t.Errorf("the original was written")
			}
		}
		if _, err := db.Exec(t.Context(), `UPDATE broadcast SET kind = 'triggered' WHERE tenant_id = $1 AND id = $2`, a.Tenant, from.ID); err != nil {
			t.Fatal(err)
		}
		if got := copyOf(t, a, from.ID); got.Kind != broadcast.Regular {
			t.Errorf("the copy of a triggered one is %s", got.Kind)
		}
	})
}

func TestTheNameOfAClone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		named := func(name string) broadcast.Broadcast {
			return a.Create(func(ch *broadcast.Change) { ch.Name = &name })
		}
		for name, want := range map[string]string{
			"Spring": "Spring (copy)", "Spring (copy)": "Spring (copy) (copy)",
			strings.Repeat("é", 200):        strings.Repeat("é", 193) + " (copy)",
			strings.Repeat("é", 192) + " x": strings.Repeat("é", 192) + " (copy)",
		} {
			if got := copyOf(t, a, named(name).ID).Name; got != want {
				t.Errorf("the copy of %q is called %q, want %q", name, got, want)
			}
		}
		b := named("Spring")
		clone := func(tenant id.Tenant, name string) (broadcast.Broadcast, error) {
			return broadcast.NewClone(t.Context(), db, tenant, b.ID, &name, copier, now)
		}
		if got, err := clone(a.Tenant, " Summer "); err != nil || got.Name != "Summer" {
			t.Errorf("Clone as Summer = %q, %v", got.Name, err)
		}
		for _, bad := range []string{"", " ", strings.Repeat("x", 201)} {
			if _, err := clone(a.Tenant, bad); !errors.Is(err, fault.ErrInput) {
				t.Errorf("Clone as %.20q = %v, want INVALID_INPUT", bad, err)
			}
		}
		if _, err := clone(newOtherAccount(t, db).Tenant, "mine"); !errors.Is(err, broadcast.ErrNotFound) {
			t.Errorf("a stranger's Clone = %v, want ErrNotFound", err)
		}
	})
}

// A clone drops references to records deleted after the original ended, and a draft that referred
// to them does not prevent their deletion. Only identities are kept if all are gone.
func TestCloneWithoutWhatWasDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		gone, second, other := a.AddList("Gone"), a.AddList("Second"), a.AddIdentity("other")
		from := a.Schedule(func(ch *broadcast.Change) {
			ch.Include, ch.Exclude = &[]id.Segment{gone.ID, a.List.ID}, &[]id.Segment{second.ID}
			ch.Identities = &[]id.Identity{a.Identity.ID, other.ID}
		})
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		ok(broadcast.Cancel(t.Context(), db, a.Tenant, from.ID, now))
		ok(segment.Delete(t.Context(), db, a.Tenant, gone.ID, usage.Finders{}))
		ok(segment.Delete(t.Context(), db, a.Tenant, second.ID, usage.Finders{}))
		ok(sender.DeleteIdentity(t.Context(), db, a.Tenant, other.ID, usage.Finders{}))
		got := copyOf(t, a, from.ID)
		want := from
		want.Include, want.Exclude, want.Identities = []id.Segment{a.List.ID}, nil, []id.Identity{a.Identity.ID}
		same(t, "some deleted", want, got)

		ok(sender.DeleteIdentity(t.Context(), db, a.Tenant, a.Identity.ID, usage.Finders{}))
		ok(segment.Delete(t.Context(), db, a.Tenant, a.List.ID, usage.Finders{}))
		ok(lane.Delete(t.Context(), db, a.Tenant, a.Lane.ID, usage.Finders{}))
		ok(sender.DeleteEmailType(t.Context(), db, a.Tenant, a.Type.ID, usage.Finders{}))
		got = copyOf(t, a, from.ID)
		if len(got.Include) != 0 || len(got.Exclude) != 0 || !got.EmailType.IsZero() || !got.Lane.IsZero() || len(got.Identities) != 2 {
			t.Errorf("the copy of one whose references are all gone: %+v", got.Plan)
		}
		ready, err := broadcast.Ready(t.Context(), db, got, now)
		ok(err)
		var codes []string
		for _, r := range ready.Reasons {
			codes = append(codes, r.Code)
		}
		if got := strings.Join(codes, " "); got != "NO_SEGMENT INVALID_EMAIL_TYPE NO_MTA NO_IDENTITY" {
			t.Errorf("it lacks %s", got)
		}
	})
}

// A clone keeps the rendered content even if the template was changed or deleted.
func TestCloneRendersNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		tpl, _, err := template.Create(t.Context(), db, a.MJML, a.Tenant, template.Change{
			Name: new("Letter"), HTML: new("<p>Hello {{param:who}}</p>"), Subject: new("For {{param:who}}"),
			Schema: binding.RawSchema{Parameters: json.RawMessage(`[{"name": "who", "type": "text", "required": true}]`)},
		}, now)
		if err != nil {
			t.Fatal(err)
		}
		from := a.Create(func(ch *broadcast.Change) {
			ch.Content = &draft.Change{Template: &draft.TemplateRef{Slug: tpl.Slug}, Binding: []byte(`{"parameters": {"who": "Ann"}}`)}
		})
		if from.Content.Origin == nil || from.Content.HTML == nil || !strings.Contains(*from.Content.HTML, "Ann") {
			t.Fatalf("the original is %+v", from.Content)
		}
		if err := template.Delete(t.Context(), db, a.Tenant, tpl.Slug, true, nil, now); err != nil {
			t.Fatal(err)
		}
		got := copyOf(t, a, from.ID)
		same(t, "after the template's end", from, got)
		if got.Content.Origin == nil || got.Content.Origin.Slug != from.Content.Origin.Slug {
			t.Errorf("the copy's template is %+v", got.Content.Origin)
		}
	})
}

func TestArchiveAll(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db), newOtherAccount(t, db)
		ended := func(a *broadcasttest.Account) id.Broadcast {
			t.Helper()
			b := a.Schedule()
			if err := broadcast.Cancel(t.Context(), db, a.Tenant, b.ID, now); err != nil {
				t.Fatal(err)
			}
			return b.ID
		}
		one, two, foreign, draft, before := ended(a), ended(a), ended(other), a.Create().ID, ended(a)
		if err := broadcast.Archive(t.Context(), db, a.Tenant, before, now); err != nil {
			t.Fatal(err)
		}
		later := now.Add(time.Minute)
		got, _, err := broadcast.ArchiveAll(t.Context(), db, a.Tenant, []id.Broadcast{two, foreign, draft, one, two, before, id.New[id.Broadcast]()}, later)
		if err != nil || cmp.Diff([]id.Broadcast{two, one}, got) != "" {
			t.Errorf("ArchiveAll = %v, %v; want %v", got, err, []id.Broadcast{two, one})
		}
		for _, tt := range []struct {
			a    *broadcasttest.Account
			b    id.Broadcast
			want *time.Time
		}{{a, one, &later}, {a, two, &later}, {a, before, &now}, {a, draft, nil}, {other, foreign, nil}} {
			if got := tt.a.Load(tt.b).ArchivedAt; cmp.Diff(tt.want, got) != "" {
				t.Errorf("archived at %v, want %v", got, tt.want)
			}
		}
		if again, _, err := broadcast.ArchiveAll(t.Context(), db, a.Tenant, []id.Broadcast{one}, later); err != nil || len(again) != 0 {
			t.Errorf("a second ArchiveAll = %v, %v", again, err)
		}
	})
}
