package segment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/rule"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Audience reads who is in any of the included segments and in none of the
// excluded ones, in the order of contact ids, each once. Whether they may be
// mailed is not asked here.
//
// Lists are walked by their keys. As soon as a rule takes part, everybody is
// found by one statement, evaluated at that moment, which reads ahead: what it
// found is handed out for a while before it is evaluated again. So a million
// contacts cost some twenty evaluations and the memory of one.
//
// It has no place in a sequence of its own: whoever reads says after whom, and
// may go on after a crash with another Audience. It is for one goroutine.
type Audience struct {
	Tenant           id.Tenant
	Include, Exclude []id.Segment
	Ahead            int // contacts found by one evaluation; 0 means 50,000

	kinds kinds        // nil: not yet known
	ids   []id.Contact // found: everybody after from, up to the last one
	from  id.Contact
	whole bool // and there are no more
	at    time.Time
}

// keep is how long contacts that were found ahead are handed out.
const keep = time.Minute

// After returns the next contacts after one. Fewer than limit means that there
// are no more.
func (a *Audience) After(ctx context.Context, db *sqldb.DB, after id.Contact, limit int, now time.Time) ([]id.Contact, error) {
	dynamic, err := a.dynamic(ctx, db)
	if err != nil {
		return nil, err
	}
	if !dynamic {
		return a.walk(ctx, db, after, limit)
	}
	if page, ok := a.ready(after, limit, now); ok {
		return page, nil
	}
	ahead := max(cmp.Or(a.Ahead, 50_000), limit)
	if a.ids, err = a.find(ctx, db, after, ahead, now); err != nil {
		return nil, err
	}
	a.from, a.whole, a.at = after, len(a.ids) < ahead, now
	page, _ := a.ready(after, limit, now)
	return page, nil
}

// Any reports whether anybody is in the audience.
func (a *Audience) Any(ctx context.Context, db *sqldb.DB, now time.Time) (bool, error) {
	dynamic, err := a.dynamic(ctx, db)
	if err != nil {
		return false, err
	}
	read := a.walk
	if dynamic {
		read = func(ctx context.Context, db *sqldb.DB, after id.Contact, limit int) ([]id.Contact, error) {
			return a.find(ctx, db, after, limit, now)
		}
	}
	first, err := read(ctx, db, id.Contact{}, 1)
	return len(first) > 0, err
}

// ready returns the page if it was found ahead.
func (a *Audience) ready(after id.Contact, limit int, now time.Time) ([]id.Contact, bool) {
	if a.at.IsZero() || id.Compare(after, a.from) < 0 || now.Sub(a.at) > keep {
		return nil, false
	}
	i, found := slices.BinarySearchFunc(a.ids, after, id.Compare)
	if found {
		i++
	}
	if len(a.ids)-i < limit && !a.whole {
		return nil, false
	}
	return a.ids[i:min(i+limit, len(a.ids))], true
}

// dynamic reports whether a rule takes part. What became of a segment that was
// deleted by force is nothing: it holds nobody.
func (a *Audience) dynamic(ctx context.Context, db *sqldb.DB) (bool, error) {
	if a.kinds == nil {
		var err error
		if a.kinds, err = kindsOf(ctx, db, a.Tenant, slices.Concat(a.Include, a.Exclude)); err != nil {
			return false, fmt.Errorf("read an audience: %w", err)
		}
	}
	for _, s := range a.kinds {
		if s.Type == Dynamic {
			return true, nil
		}
	}
	return false, nil
}

// find evaluates the whole audience in one statement. Each rule is rendered by
// itself: how large it may be does not hang on its neighbours.
func (a *Audience) find(ctx context.Context, db *sqldb.DB, after id.Contact, limit int, now time.Time) ([]id.Contact, error) {
	env, err := Env(ctx, db, a.Tenant, now)
	if err != nil {
		return nil, err
	}
	in, err := a.conditions(db, env, a.Include, rule.In)
	if err != nil || len(in) == 0 {
		return []id.Contact{}, err
	}
	out, err := a.conditions(db, env, a.Exclude, rule.NotIn)
	if err != nil {
		return nil, err
	}
	q := contact.Selector{Statuses: contact.Statuses(), Where: append([]contact.Condition{joined(in, " OR ")}, out...)}
	return contact.Matching(ctx, db, a.Tenant, q, after, limit)
}

// matches is the condition that a rule finds a contact.
func matches(db *sqldb.DB, env rule.Env, tree rule.Tree) (contact.Condition, error) {
	found, err := matching(db, env, tree, nil)
	return joined(found, " AND "), err
}

// fails is the condition that a rule does not find a contact. The rule itself
// is turned round: what is rendered of it may be null instead of false.
func fails(db *sqldb.DB, env rule.Env, tree rule.Tree) (contact.Condition, error) {
	c, err := rule.Tree{Root: rule.Group{Negate: true, Conditions: []rule.Condition{tree.Root}}}.Condition(db, env)
	if err != nil {
		return contact.Condition{}, fmt.Errorf("render a rule: %w", err)
	}
	outside := contact.Condition{Text: func(func(any) string) string { return "NOT (" + population + ")" }}
	return joined([]contact.Condition{outside, c}, " OR "), nil
}

// conditions returns what each rule among the segments asks of contacts that are
// to be in it, or not in it, and what the lists do together. What does not exist
// any more asks nothing.
func (a *Audience) conditions(db *sqldb.DB, env rule.Env, segments []id.Segment, operator rule.Operator) ([]contact.Condition, error) {
	ask := matches
	if operator == rule.NotIn {
		ask = fails
	}
	var conditions []contact.Condition
	var lists []string
	for _, s := range segments {
		k, ok := a.kinds[s]
		if ok && k.Type == Static {
			lists = append(lists, k.Key)
			continue
		}
		r, ok := env.Segments(s.String())
		if !ok {
			continue
		}
		c, err := ask(db, env, r.Tree)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	if len(lists) > 0 {
		c, err := all(rule.List{Keys: lists, Operator: operator}).Condition(db, env)
		if err != nil {
			return nil, fmt.Errorf("render lists: %w", err)
		}
		conditions = append(conditions, c)
	}
	return conditions, nil
}

func joined(list []contact.Condition, logic string) contact.Condition {
	return contact.Condition{
		Activity: slices.ContainsFunc(list, func(c contact.Condition) bool { return c.Activity }),
		Text: func(arg func(any) string) string {
			texts := make([]string, len(list))
			for i, c := range list {
				texts[i] = "(" + c.Text(arg) + ")"
			}
			return "(" + strings.Join(texts, logic) + ")"
		},
	}
}

// walk reads an audience of lists: the database never sorts a whole one.
func (a *Audience) walk(ctx context.Context, db *sqldb.DB, after id.Contact, limit int) ([]id.Contact, error) {
	out := make([]id.Contact, 0, limit)
	for len(out) < limit {
		page, err := union(ctx, db, a.Tenant, a.Include, after, limit)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			return out, nil
		}
		after = page[len(page)-1]
		kept, err := without(ctx, db, a.Tenant, page, a.Exclude)
		if err != nil {
			return nil, err
		}
		out = append(out, kept[:min(len(kept), limit-len(out))]...)
		if len(page) < limit {
			return out, nil
		}
	}
	return out, nil
}

// union walks the key of each list and merges the pages: the database never
// sorts a whole list.
func union(ctx context.Context, db *sqldb.DB, tenant id.Tenant, include []id.Segment, after id.Contact, limit int) ([]id.Contact, error) {
	var all []id.Contact
	for _, s := range include {
		rows, err := db.Query(ctx, `
			SELECT contact_id FROM segment_member
			WHERE tenant_id = $1 AND segment_id = $2 AND contact_id > $3
			ORDER BY contact_id LIMIT $4`, tenant, s, after, limit)
		page, err := sqldb.Collect(rows, err, contactID)
		if err != nil {
			return nil, fmt.Errorf("read an audience: %w", err)
		}
		all = append(all, page...)
	}
	slices.SortFunc(all, id.Compare)
	all = slices.Compact(all)
	return all[:min(len(all), limit)], nil
}

// without returns the contacts that are in none of the segments.
func without(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contacts []id.Contact, exclude []id.Segment) ([]id.Contact, error) {
	if len(exclude) == 0 {
		return contacts, nil
	}
	rows, err := db.Query(ctx, `
		SELECT DISTINCT contact_id FROM segment_member
		WHERE tenant_id = $1 AND segment_id`+db.In(2)+` AND contact_id`+db.In(3),
		tenant, sqldb.List(db, exclude), sqldb.List(db, contacts))
	out, err := sqldb.Collect(rows, err, contactID)
	if err != nil {
		return nil, fmt.Errorf("exclude from an audience: %w", err)
	}
	slices.SortFunc(out, id.Compare)
	return slices.DeleteFunc(contacts, func(c id.Contact) bool {
		_, found := slices.BinarySearchFunc(out, c, id.Compare)
		return found
	}), nil
}

func contactID(row func(...any) error) (id.Contact, error) {
	var c id.Contact
	return c, row(&c)
}
