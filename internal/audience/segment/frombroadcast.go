package segment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Criterion says what recipients of a broadcast did, or did not do.
type Criterion string

// The criteria.
const (
	Engagers      Criterion = "engagers"
	Openers       Criterion = "openers"
	NonOpeners    Criterion = "non_openers"
	Clickers      Criterion = "clickers"
	NonClickers   Criterion = "non_clickers"
	Bouncers      Criterion = "bouncers"
	Complainers   Criterion = "complainers"
	Unsubscribers Criterion = "unsubscribers"
	NotReceived   Criterion = "not_received"
)

// Criteria returns all criteria.
func Criteria() []Criterion {
	return []Criterion{Engagers, Openers, NonOpeners, Clickers, NonClickers, Bouncers, Complainers, Unsubscribers, NotReceived}
}

// Mailing holds the facts about a broadcast that this package needs. It cannot import package
// broadcast, which is above it.
type Mailing struct {
	Broadcast        id.Broadcast
	Name             string
	Include, Exclude []id.Segment
}

// ParseCriterion reads a criterion.
func ParseCriterion(s string) (Criterion, error) {
	if !slices.Contains(Criteria(), Criterion(s)) {
		return "", ErrCriterion.Sayf("criterion must be one of %s", strings.Trim(fmt.Sprint(Criteria()), "[]"))
	}
	return Criterion(s), nil
}

// FromBroadcast creates a dynamic segment of the contacts that meet a criterion. Without a name it
// is named after the broadcast and the criterion.
func FromBroadcast(ctx context.Context, db *sqldb.DB, tenant id.Tenant, m Mailing, c Criterion, ch Change, now time.Time) (Segment, error) {
	tree, err := m.rule(ctx, db, tenant, c)
	if err != nil {
		return Segment{}, err
	}
	if ch.Name == nil {
		ch.Name = new(clip.Runes(m.Name, maxName-len(" - ")-len(c)) + " - " + string(c))
	}
	return createOf(ctx, db, tenant, ch, tree, now)
}

// does are the criteria that require one event. lacks are those that require a delivery and the
// absence of one event after it.
var (
	does = map[Criterion]rule.EmailEvent{
		Engagers: rule.Engaged, Openers: rule.Opened, Clickers: rule.Clicked,
		Bouncers: rule.Bounced, Complainers: rule.Complained, Unsubscribers: rule.LeftBy,
	}
	lacks = map[Criterion]rule.EmailEvent{NonOpeners: rule.Opened, NonClickers: rule.Clicked}
)

func (m Mailing) rule(ctx context.Context, db *sqldb.DB, tenant id.Tenant, c Criterion) (rule.Tree, error) {
	leaf := func(e rule.EmailEvent, op rule.Operator) rule.Broadcast {
		return rule.Broadcast{ID: m.Broadcast, Event: e, Level: rule.Verified, Operator: op}
	}
	if e, ok := does[c]; ok {
		return all(leaf(e, rule.Did)), nil
	}
	if e, ok := lacks[c]; ok {
		return all(leaf(rule.Delivered, rule.Did), leaf(e, rule.DidNot)), nil
	}
	kinds, err := kindsOf(ctx, db, tenant, slices.Concat(m.Include, m.Exclude))
	if err != nil {
		return rule.Tree{}, fmt.Errorf("read the audience of a broadcast: %w", err)
	}
	in, out := kinds.leaves(m.Include, rule.In), kinds.leaves(m.Exclude, rule.NotIn)
	if len(in) == 0 {
		return rule.Tree{}, ErrCriterion.Sayf("the broadcast includes no list or segment, so there is no audience to compare its recipients with")
	}
	t := all()
	if len(in) == 1 {
		t.Root.Conditions = in
	} else {
		t.Root.Conditions = []rule.Condition{rule.Group{Logic: rule.Or, Conditions: in}}
	}
	t.Root.Conditions = append(append(t.Root.Conditions, out...), leaf(rule.Sent, rule.DidNot))
	return t, nil
}

// kinds are segments by id, with the fields that a rule naming them needs.
type kinds map[id.Segment]Segment

func kindsOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Segment) (kinds, error) {
	rows, err := db.Query(ctx, `SELECT id, segment_key, type FROM segment WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (Segment, error) {
		var s Segment
		err := row(&s.ID, &s.Key, &s.Type)
		return s, err
	})
	if err != nil {
		return nil, err
	}
	k := make(kinds, len(list))
	for _, s := range list {
		k[s.ID] = s
	}
	return k, nil
}

// leaves returns the conditions that name segments: one for the lists, one for the dynamic ones.
// Segments that no longer exist are skipped.
func (k kinds) leaves(ids []id.Segment, op rule.Operator) []rule.Condition {
	var lists, rules []string
	for _, s := range ids {
		switch s, ok := k[s]; {
		case !ok:
		case s.Type == Static:
			lists = append(lists, s.Key)
		default:
			rules = append(rules, s.Key)
		}
	}
	leaves := []rule.Condition{}
	if len(lists) > 0 {
		leaves = append(leaves, rule.List{Keys: lists, Operator: op})
	}
	if len(rules) > 0 {
		leaves = append(leaves, rule.InSegment{Keys: rules, Operator: op})
	}
	return leaves
}
