package broadcast_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Guards are checked in order: the first that fails determines the code, and all are listed.
func TestGuards(t *testing.T) {
	t.Parallel()
	mine, his, theirs := idtest.Named[id.Lane]("broadcast's"), idtest.Named[id.Lane]("identity's"), idtest.Named[id.Lane]("account's")
	typ := sender.EmailType{ID: idtest.Named[id.EmailType]("t"), Active: true}
	lanes := map[id.Lane]lane.Config{
		mine:                         {ID: mine, Type: lane.SMTP, Active: true},
		his:                          {ID: his, Type: lane.SMTP, Active: true},
		theirs:                       {ID: theirs, Type: lane.Sink, Active: true},
		idtest.Named[id.Lane]("off"): {ID: idtest.Named[id.Lane]("off"), Type: lane.SMTP},
	}
	news := sender.Candidate{
		Identity: sender.Identity{ID: idtest.Named[id.Identity]("news"), VerifiedLanes: []id.Lane{mine}},
		Domain:   sender.Domain{DMARCPolicy: "none"},
	}
	with := func(c sender.Candidate, l id.Lane) sender.Candidate { c.Identity.DefaultLane = l; return c }
	for _, tt := range []struct {
		name     string
		edit     func(*broadcast.Broadcast, *broadcast.Preconditions)
		want     []string
		warnings []string
	}{
		{"ready", func(*broadcast.Broadcast, *broadcast.Preconditions) {}, nil, nil},
		{"no segment", func(b *broadcast.Broadcast, _ *broadcast.Preconditions) { b.Include = nil }, []string{"NO_SEGMENT"}, nil},
		{"no email type", func(_ *broadcast.Broadcast, f *broadcast.Preconditions) { f.EmailType = nil }, []string{"INVALID_EMAIL_TYPE"}, nil},
		{"email type off", func(_ *broadcast.Broadcast, f *broadcast.Preconditions) {
			f.EmailType = &sender.EmailType{ID: idtest.Named[id.EmailType]("t")}
		}, []string{"INVALID_EMAIL_TYPE"}, nil},
		{"lane off", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Lane, f.DefaultLane = idtest.Named[id.Lane]("off"), theirs
		}, []string{"NO_MTA"}, nil},
		{"no lane anywhere", func(b *broadcast.Broadcast, _ *broadcast.Preconditions) { b.Lane = id.Lane{} }, []string{"NO_MTA"}, nil},
		{"deleted lane is none", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Lane, f.DefaultLane = idtest.Named[id.Lane]("gone"), theirs
		}, nil, nil},
		{"the identity's lane", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Lane, f.Candidates = id.Lane{}, []sender.Candidate{with(news, his)}
		}, nil, []string{"LANE_UNVERIFIED"}},
		{"the account's lane", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Lane, f.DefaultLane = id.Lane{}, theirs
		}, nil, nil},
		{"shared lanes", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Lane, b.Delivery.Lanes = idtest.Named[id.Lane]("off"), []broadcast.LaneShare{{Lane: mine, Weight: 1}, {Lane: theirs, Weight: 2}}
		}, nil, nil},
		{"one of the shared lanes was not tried", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Delivery.Lanes = []broadcast.LaneShare{{Lane: mine, Weight: 1}, {Lane: his, Weight: 2}}
		}, nil, []string{"LANE_UNVERIFIED"}},
		{"one of the shared lanes is off", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Delivery.Lanes = []broadcast.LaneShare{{Lane: mine, Weight: 1}, {Lane: idtest.Named[id.Lane]("off"), Weight: 2}}
		}, nil, nil},
		{"nothing takes the place of shared lanes that are off", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Delivery.Lanes = []broadcast.LaneShare{{Lane: idtest.Named[id.Lane]("off"), Weight: 1}, {Lane: idtest.Named[id.Lane]("gone"), Weight: 1}}
		}, []string{"NO_MTA"}, nil},
		{"shared lanes that are all gone are none", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Delivery.Lanes = []broadcast.LaneShare{{Lane: idtest.Named[id.Lane]("gone"), Weight: 1}, {Lane: idtest.Named[id.Lane]("gone too"), Weight: 1}}
		}, nil, nil},
		{"shared lanes and no sender", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Lane, b.Delivery.Lanes, f.Candidates = id.Lane{}, []broadcast.LaneShare{{Lane: theirs, Weight: 1}}, nil
		}, []string{"NO_IDENTITY"}, nil},
		{"no DMARC record", func(b *broadcast.Broadcast, f *broadcast.Preconditions) { f.Candidates[0].Domain.DMARCPolicy = "" },
			nil, []string{"NO_DMARC"}},
		{"the mailbox needs no DMARC record", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Lane, f.Candidates[0].Domain.DMARCPolicy = theirs, ""
		}, nil, nil},
		{"one sender of two has a lane", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Lane, f.Candidates = id.Lane{}, []sender.Candidate{with(news, idtest.Named[id.Lane]("off")), with(news, mine)}
		}, nil, nil},
		{"no content", func(_ *broadcast.Broadcast, f *broadcast.Preconditions) { f.Content = content.ErrNoContent }, []string{"NO_CONTENT"}, nil},
		{"variants that differ", func(b *broadcast.Broadcast, _ *broadcast.Preconditions) {
			b.Variants = []broadcast.Variant{
				{ID: "a", Name: "A", Overrides: map[draft.Field]string{draft.Subject: "Hi"}}, {ID: "b", Name: "B", Overrides: map[draft.Field]string{draft.Subject: "Hi", draft.FromName: "Ann"}},
			}
		}, nil, nil},
		{"variants that do not differ", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Content.Subject = new("Hi")
			b.Variants = []broadcast.Variant{
				{ID: "a", Name: "A", Overrides: map[draft.Field]string{draft.FromName: "Ann"}}, {ID: "b", Name: "B", Overrides: map[draft.Field]string{draft.Subject: "Hi"}},
				{ID: "c", Name: "C", Overrides: map[draft.Field]string{draft.Subject: "Hi", draft.Preheader: ""}},
			}
			f.Troubles = []broadcast.ScheduleWarning{{Code: "VARIANTS_ALIKE"}}
		}, []string{"INVALID_VARIANTS"}, nil},
		{"no identity", func(_ *broadcast.Broadcast, f *broadcast.Preconditions) { f.Candidates = nil }, []string{"NO_IDENTITY"}, nil},
		{"nothing at all", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.Plan, *f = broadcast.Plan{}, broadcast.Preconditions{Content: content.ErrNoContent, HasAddress: true}
		}, []string{"NO_SEGMENT", "INVALID_EMAIL_TYPE", "NO_MTA", "NO_CONTENT", "NO_IDENTITY"}, []string{"NO_SCHEDULED_AT"}},
		{"warnings", func(b *broadcast.Broadcast, f *broadcast.Preconditions) {
			b.ScheduledAt, f.HasAddress, f.EmptyAudience = nil, false, true
			b.Content.HTML = new("<p>no way out</p>")
		}, nil, []string{"NO_SCHEDULED_AT", "NO_POSTAL_ADDRESS", "NO_UNSUBSCRIBE_LINK", "EMPTY_AUDIENCE"}},
	} {
		b := broadcast.Broadcast{Plan: broadcast.Plan{
			Include: []id.Segment{idtest.Named[id.Segment]("s")}, Lane: mine, ScheduledAt: &now,
			Content: draft.Content{HTML: new(`<a href="{{ unsubscribe_url }}">leave</a>`)},
		}}
		f := broadcast.Preconditions{EmailType: &typ, Routing: sender.Routing{Lanes: lanes, Candidates: []sender.Candidate{news}}, HasAddress: true}
		tt.edit(&b, &f)
		r := broadcast.Check(b, f)
		var got, warned []string
		for _, x := range r.Reasons {
			got = append(got, x.Code)
		}
		for _, w := range r.Warnings {
			warned = append(warned, w.Code)
		}
		if !slices.Equal(got, tt.want) || !slices.Equal(warned, tt.warnings) {
			t.Errorf("%s: reasons %v, warnings %v; want %v, %v", tt.name, got, warned, tt.want, tt.warnings)
		}
		err, _ := fault.As(r.Err())
		if len(tt.want) == 0 && r.Err() != nil || len(tt.want) > 0 && (err == nil || err.Code != tt.want[0] || len(err.Details.(broadcast.Reasons).Reasons) != len(tt.want)) {
			t.Errorf("%s: Err = %v", tt.name, r.Err())
		}
	}
}

func TestScheduleChecksTheGuards(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		for _, tt := range []struct {
			name string
			edit func(*broadcast.Change)
			want error
		}{
			{"no segment", func(ch *broadcast.Change) { ch.Include = nil }, broadcast.ErrNoSegment},
			{"no email type", func(ch *broadcast.Change) { ch.EmailType = nil }, broadcast.ErrEmailType},
			{"no lane", func(ch *broadcast.Change) { ch.Lane = nil }, broadcast.ErrNoMTA},
			{"a sender that is gone", func(ch *broadcast.Change) { ch.Identities = &[]id.Identity{id.New[id.Identity]()} }, broadcast.ErrNoIdentity},
			{"no time", func(ch *broadcast.Change) { ch.Start = nil }, nil},
			{"all is well", func(*broadcast.Change) {}, nil},
		} {
			b := a.Create(tt.edit)
			err := broadcast.Schedule(t.Context(), db, a.Tenant, b.ID, now)
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: schedule = %v, want %v", tt.name, err, tt.want)
			}
			want := broadcast.Draft
			if tt.want == nil {
				want = broadcast.Scheduled
			}
			if got := a.Load(b.ID).Status; got != want {
				t.Errorf("%s: the broadcast is %s, want %s", tt.name, got, want)
			}
		}
		b := a.Create()
		ready, err := broadcast.Ready(t.Context(), db, b, now)
		if err != nil || len(ready.Reasons) != 0 || !slices.ContainsFunc(ready.Warnings, func(w broadcast.ScheduleWarning) bool { return w.Code == "EMPTY_AUDIENCE" }) {
			t.Errorf("Ready = %+v, %v; want no reasons and a warning of an empty audience", ready, err)
		}
	})
}
