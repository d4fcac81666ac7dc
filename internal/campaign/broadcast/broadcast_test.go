package broadcast_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var now = broadcasttest.Now

func newAccount(t *testing.T, db *sqldb.DB) *broadcasttest.Account {
	t.Helper()
	return broadcasttest.New(t, db, "acme")
}

func newOtherAccount(t *testing.T, db *sqldb.DB) *broadcasttest.Account {
	t.Helper()
	return broadcasttest.New(t, db, "other")
}

func TestCreateStoresTheRequest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		b := a.Create(func(ch *broadcast.Change) {
			ch.Tags = &[]string{" spring ", "news", "spring"}
			ch.Content.Parts[draft.ReplyTo] = new(" Ann@Example.ORG ")
			ch.Content.Parts[draft.Preheader] = new("")
			ch.Start.At = new(now.Add(time.Hour + 1))
		})
		got := a.Load(b.ID)
		if got.Name != "Spring news" || got.Status != broadcast.Draft || got.ContentVersion != 1 || !got.Tracking || got.CreatedBy != broadcasttest.By {
			t.Errorf("Create = %+v", got)
		}
		if !slices.Equal(got.Tags, []string{"spring", "news"}) || got.Identities != nil || got.Content.Preheader != nil || *got.Content.ReplyTo != "ann@example.org" {
			t.Errorf("tags %v, identities %v, preheader %v, reply-to %v", got.Tags, got.Identities, got.Content.Preheader, *got.Content.ReplyTo)
		}
		if !got.ScheduledAt.Equal(now.Add(time.Hour)) || !got.CreatedAt.Equal(b.CreatedAt) || got.Revision != b.Revision || !got.Bodies.HTML {
			t.Errorf("loaded %+v, created %+v", got, b)
		}
		if _, err := broadcast.Load(t.Context(), db, newOtherAccount(t, db).Tenant, b.ID); !errors.Is(err, broadcast.ErrNotFound) {
			t.Errorf("a stranger's Load = %v, want ErrNotFound", err)
		}
	})
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		many := func(n int) *[]id.Segment {
			list := make([]id.Segment, n)
			for i := range list {
				list[i] = id.New[id.Segment]()
			}
			return &list
		}
		for _, tt := range []struct {
			name string
			edit func(*broadcast.Change)
			want error
			path string // named in the message
		}{
			{"no content", func(ch *broadcast.Change) { ch.Content = nil }, content.ErrNoContent, "content.subject"},
			{"no subject", func(ch *broadcast.Change) { delete(ch.Content.Parts, draft.Subject) }, content.ErrNoContent, "content.subject"},
			{"null body", func(ch *broadcast.Change) { ch.Content.Parts[draft.BodyHTML] = nil }, content.ErrNoContent, "content.body_html"},
			{"empty body", func(ch *broadcast.Change) { ch.Content.Parts[draft.BodyHTML] = new(" ") }, content.ErrNoContent, "content.body_html"},
			{"line break in the subject", func(ch *broadcast.Change) { ch.Content.Parts[draft.Subject] = new("a\r\nBcc: x@example.com") }, fault.ErrInput, "content.subject"},
			{"line break in the name of the sender", func(ch *broadcast.Change) { ch.Content.Parts[draft.FromName] = new("a\nb") }, fault.ErrInput, "content.from_name"},
			{"subject too long", func(ch *broadcast.Change) { ch.Content.Parts[draft.Subject] = new(strings.Repeat("x", 999)) }, fault.ErrInput, "content.subject"},
			{"reply-to of two", func(ch *broadcast.Change) { ch.Content.Parts[draft.ReplyTo] = new("a@example.com, b@example.com") }, fault.ErrInput, "content.reply_to"},
			{"empty name", func(ch *broadcast.Change) { ch.Name = new("  ") }, fault.ErrInput, "name"},
			{"name too long", func(ch *broadcast.Change) { ch.Name = new(strings.Repeat("x", 201)) }, fault.ErrInput, "name"},
			{"empty tag", func(ch *broadcast.Change) { ch.Tags = &[]string{"a", ""} }, fault.ErrInput, "tags"},
			{"tag too long", func(ch *broadcast.Change) { ch.Tags = &[]string{strings.Repeat("x", 65)} }, fault.ErrInput, "tags"},
			{"51 tags", func(ch *broadcast.Change) {
				tags := make([]string, 51)
				for i := range tags {
					tags[i] = fmt.Sprint(i)
				}
				ch.Tags = &tags
			}, broadcast.ErrLimit, ""},
			{"21 included", func(ch *broadcast.Change) { ch.Include = many(21) }, broadcast.ErrLimit, ""},
			{"21 excluded", func(ch *broadcast.Change) { ch.Exclude = many(21) }, broadcast.ErrLimit, ""},
			{"bad Liquid", func(ch *broadcast.Change) { ch.Content.Parts[draft.BodyHTML] = new("a\n{% bogus %}") }, content.ErrLiquid, "content.body_html"},
		} {
			ch := a.Change()
			tt.edit(&ch)
			_, err := broadcast.Create(t.Context(), a.Author(now), a.Tenant, ch, broadcasttest.By)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("%s: Create = %v, want %v naming %q", tt.name, err, tt.want, tt.path)
			}
		}
		if list, err := broadcast.List(t.Context(), db, a.Tenant, broadcast.Filter{}); err != nil || len(list) != 0 {
			t.Errorf("refused creations left %d broadcasts, %v", len(list), err)
		}
	})
}

func TestEditMergesAndCountsVersions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		b := a.Create(func(ch *broadcast.Change) { ch.Tags = &[]string{"old"} })
		edit := func(ch broadcast.Change) broadcast.Broadcast {
			t.Helper()
			got, err := broadcast.Update(t.Context(), a.Author(now.Add(time.Minute)), a.Tenant, b.ID, ch)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		got := edit(broadcast.Change{Name: new("Renamed"), Tags: &[]string{}})
		if got.Name != "Renamed" || len(got.Tags) != 0 || got.ContentVersion != 1 || *got.Content.Subject != "Spring news" {
			t.Errorf("after a rename: %+v", got)
		}
		got = edit(broadcast.Change{Content: &draft.Change{Parts: map[draft.Field]*string{draft.FromName: new("Ann")}}})
		if got.ContentVersion != 2 || *got.Content.FromName != "Ann" || got.Content.HTML == nil {
			t.Errorf("after a new from_name: version %d, %+v", got.ContentVersion, got.Content)
		}
		got = edit(broadcast.Change{Content: &draft.Change{Parts: map[draft.Field]*string{draft.FromName: nil, draft.Subject: new("Spring news")}}, Start: &broadcast.Start{}})
		if got.ContentVersion != 3 || got.Content.FromName != nil || got.ScheduledAt != nil {
			t.Errorf("after clearing: version %d, %+v, scheduled %v", got.ContentVersion, got.Content, got.ScheduledAt)
		}
		if got = edit(broadcast.Change{Content: &draft.Change{Parts: map[draft.Field]*string{draft.Subject: new("Spring news")}}}); got.ContentVersion != 3 {
			t.Errorf("the same content again made version %d, want 3", got.ContentVersion)
		}
		if _, err := broadcast.Update(t.Context(), a.Author(now), a.Tenant, b.ID, broadcast.Change{Content: &draft.Change{Parts: map[draft.Field]*string{draft.Subject: nil}}}); !errors.Is(err, content.ErrNoContent) {
			t.Errorf("clearing the subject = %v, want NO_CONTENT", err)
		}
	})
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db), newOtherAccount(t, db)
		other.Create()
		tag := func(tags ...string) func(*broadcast.Change) { return func(ch *broadcast.Change) { ch.Tags = &tags } }
		first := a.Create(tag("x"))
		ch := a.Change()
		ch.Tags = &[]string{"y", "z"}
		second, err := broadcast.Create(t.Context(), a.Author(now.Add(time.Second)), a.Tenant, ch, broadcasttest.By)
		if err != nil {
			t.Fatal(err)
		}
		third := a.Schedule(tag("z"))
		gone := a.Schedule()
		for _, move := range []func() error{
			func() error { return broadcast.Cancel(t.Context(), db, a.Tenant, gone.ID, now) },
			func() error { return broadcast.Archive(t.Context(), db, a.Tenant, gone.ID, now) },
		} {
			if err := move(); err != nil {
				t.Fatal(err)
			}
		}
		for _, tt := range []struct {
			name string
			f    broadcast.Filter
			want []id.Broadcast
		}{
			{"newest first, without archived", broadcast.Filter{}, []id.Broadcast{second.ID, third.ID, first.ID}},
			{"status", broadcast.Filter{Status: []broadcast.Status{broadcast.Scheduled, broadcast.Cancelled}}, []id.Broadcast{third.ID}},
			{"any tag", broadcast.Filter{Tags: []string{"x", "z"}}, []id.Broadcast{second.ID, third.ID, first.ID}},
			{"no such tag", broadcast.Filter{Tags: []string{"q"}}, nil},
			{"since", broadcast.Filter{Since: new(now.Add(time.Second))}, []id.Broadcast{second.ID}},
			{"before is strict", broadcast.Filter{Before: new(now.Add(time.Second))}, []id.Broadcast{third.ID, first.ID}},
			{"archived too", broadcast.Filter{Archive: broadcast.LiveAndArchived}, []id.Broadcast{second.ID, gone.ID, third.ID, first.ID}},
			{"archived only", broadcast.Filter{Archive: broadcast.Archived}, []id.Broadcast{gone.ID}},
		} {
			list, err := broadcast.List(t.Context(), db, a.Tenant, tt.f)
			var got []id.Broadcast
			for _, b := range list {
				got = append(got, b.ID)
				if b.Content.HTML != nil || !b.Bodies.HTML {
					t.Errorf("%s: a lean row has body %v, flags %+v", tt.name, b.Content.HTML, b.Bodies)
				}
			}
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s: List = %v, %v; want %v", tt.name, got, err, tt.want)
			}
		}
		if list, err := broadcast.List(t.Context(), db, a.Tenant, broadcast.Filter{Bodies: true}); err != nil || list[0].Content.HTML == nil {
			t.Errorf("List with bodies = %v, %v", list, err)
		}
		if _, err := broadcast.ParseStatuses([]string{"draft", "gone"}); !errors.Is(err, broadcast.ErrStatus) {
			t.Errorf("ParseStatuses = %v, want INVALID_STATUS", err)
		}
	})
}

func TestUsage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db), newOtherAccount(t, db)
		excluded := a.AddList("Excluded")
		a.Create(func(ch *broadcast.Change) {
			ch.Exclude = &[]id.Segment{excluded.ID}
			ch.Identities = &[]id.Identity{a.Identity.ID}
		})
		held := func(kind usage.Kind, of string) int {
			t.Helper()
			h, err := broadcast.Finder().Find(t.Context(), db, a.Tenant, usage.Subject{Kind: kind, ID: of})
			if err != nil {
				t.Fatal(err)
			}
			return len(h["broadcasts"])
		}
		for _, tt := range []struct {
			kind  usage.Kind
			id    string
			draft int
		}{
			{usage.Segment, a.List.ID.String(), 1},
			{usage.Segment, excluded.ID.String(), 1},
			{usage.Segment, other.List.ID.String(), 0},
			{usage.Identity, a.Identity.ID.String(), 1},
			{usage.EmailType, a.Type.ID.String(), 0},
			{usage.Lane, a.Lane.ID.String(), 0},
		} {
			if got := held(tt.kind, tt.id); got != tt.draft {
				t.Errorf("a draft: %d broadcasts hold %s %s, want %d", got, tt.kind, tt.id, tt.draft)
			}
		}
		a.Schedule() // names no identity
		for kind, want := range map[usage.Kind]int{usage.Segment: 2, usage.Identity: 1, usage.EmailType: 1, usage.Lane: 1} {
			subject := map[usage.Kind]string{usage.Segment: a.List.ID.String(), usage.Identity: a.Identity.ID.String(), usage.EmailType: a.Type.ID.String(), usage.Lane: a.Lane.ID.String()}[kind]
			if got := held(kind, subject); got != want {
				t.Errorf("scheduled: %d broadcasts hold the %s, want %d", got, kind, want)
			}
		}
	})
}
