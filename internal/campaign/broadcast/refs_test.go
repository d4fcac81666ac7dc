package broadcast_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestRefsResolveKeysAndIDsOfTheTenant(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, b := newAccount(t, db), broadcasttest.New(t, db, "refs-other")
		list, theirs := a.AddList("News"), b.AddList("Theirs")
		resolve := func(r broadcast.Refs) (ch broadcast.Change, err error) {
			err = r.Resolve(t.Context(), db, a.Tenant, &ch)
			return ch, err
		}
		ch, err := resolve(broadcast.Refs{
			EmailType: &broadcast.Ref[id.EmailType]{Key: new("newsletter")},
			Lane:      &broadcast.Ref[id.Lane]{},
			Include:   &broadcast.RefList[id.Segment]{Keys: []string{list.Key, list.Key}},
			Exclude:   &broadcast.RefList[id.Segment]{IDs: []id.Segment{list.ID}, Keys: []string{"ignored"}},
			Identities: &broadcast.RefList[id.Identity]{
				Keys: []string{a.Identity.Address},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if ch.EmailType == nil || ch.EmailType.IsZero() || ch.Lane == nil || !ch.Lane.IsZero() {
			t.Errorf("email type %v and MTA config %v, want one and none", ch.EmailType, ch.Lane)
		}
		if want := []id.Segment{list.ID}; !slices.Equal(*ch.Include, want) || !slices.Equal(*ch.Exclude, want) {
			t.Errorf("segments %v and %v, want %v twice", *ch.Include, *ch.Exclude, want)
		}
		if want := []id.Identity{a.Identity.ID}; !slices.Equal(*ch.Identities, want) {
			t.Errorf("identities %v, want %v", *ch.Identities, want)
		}
		if ch, err := resolve(broadcast.Refs{}); err != nil || ch.EmailType != nil || ch.Include != nil || ch.Identities != nil {
			t.Errorf("without references: %+v, %v; want no change", ch, err)
		}
		many := make([]string, broadcast.MaxSegments+1)
		for i := range many {
			many[i] = fmt.Sprint("k", i)
		}
		for name, tt := range map[string]struct {
			refs broadcast.Refs
			want error
		}{
			"type required":      {broadcast.Refs{EmailType: &broadcast.Ref[id.EmailType]{}, TypeRequired: true}, broadcast.ErrEmailType},
			"unknown type":       {broadcast.Refs{EmailType: &broadcast.Ref[id.EmailType]{ID: id.New[id.EmailType]()}}, broadcast.ErrEmailType},
			"empty key":          {broadcast.Refs{Lane: &broadcast.Ref[id.Lane]{Key: new("")}}, broadcast.ErrLane},
			"another tenant's":   {broadcast.Refs{Include: &broadcast.RefList[id.Segment]{IDs: []id.Segment{theirs.ID}}}, broadcast.ErrSegment},
			"too many segments":  {broadcast.Refs{Exclude: &broadcast.RefList[id.Segment]{Keys: many}}, broadcast.ErrLimit},
			"another's identity": {broadcast.Refs{Identities: &broadcast.RefList[id.Identity]{IDs: []id.Identity{b.Identity.ID}}}, broadcast.ErrIdentity},
		} {
			if _, err := resolve(tt.refs); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", name, err, tt.want)
			}
		}
		typ, err := sender.EmailTypeByKey(t.Context(), db, a.Tenant, "newsletter")
		if err == nil {
			_, err = sender.UpdateEmailType(t.Context(), db, a.Tenant, typ.ID, sender.EmailTypeFields{Active: new(false)}, time.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resolve(broadcast.Refs{EmailType: &broadcast.Ref[id.EmailType]{ID: typ.ID}}); !errors.Is(err, broadcast.ErrEmailType) {
			t.Errorf("an inactive type: %v, want %v", err, broadcast.ErrEmailType)
		}
	})
}

func TestNamesAreOfWhatExists(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db), broadcasttest.New(t, db, "names-other")
		list, theirs := a.AddList("News"), other.AddList("Theirs")
		b := a.Create(func(ch *broadcast.Change) {
			ch.Include, ch.Identities = &[]id.Segment{list.ID}, &[]id.Identity{a.Identity.ID}
		})
		b.Exclude = []id.Segment{theirs.ID, id.New[id.Segment]()}
		names, err := broadcast.LoadRefNames(t.Context(), db, a.Tenant, b)
		if err != nil {
			t.Fatal(err)
		}
		if len(names.Segments) != 1 || names.Segments[list.ID] != list.Key || names.Identities[a.Identity.ID] != a.Identity.Address || names.Types[b.EmailType] == "" {
			t.Errorf("names = %+v", names)
		}
	})
}
