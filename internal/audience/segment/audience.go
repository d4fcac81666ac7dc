package segment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Audience pages through the contacts that are in at least one included segment and in no excluded
// one, each once, in the order of contact ids. It does not check whether a contact may be mailed.
//
// If all segments are static lists, each page is read from the keys of the lists. If at least one
// is dynamic, the whole audience is one statement, evaluated at that moment, that reads Ahead
// contacts into memory. Pages are served from there until they run out or are older than maxAge. A
// million contacts thus cost about twenty evaluations, and the memory of one.
//
// An Audience keeps no cursor: the caller passes the last contact it has processed, and after a
// crash continues with another Audience. It must not be used by several goroutines at once.
type Audience struct {
	Tenant           id.Tenant
	Include, Exclude []id.Segment
	Ahead            int // contacts read by one evaluation; 0 means 50,000

	kinds kinds        // nil: not loaded yet
	ids   []id.Contact // the read-ahead: contacts after from
	from  id.Contact
	whole bool // ids reaches the end of the audience
	at    time.Time
}

// maxAge is how long pages are served from one evaluation.
const maxAge = time.Minute

// After returns up to limit contacts that follow after. Fewer than limit means that the end is
// reached.
func (a *Audience) After(ctx context.Context, db *sqldb.DB, after id.Contact, limit int, now time.Time) ([]id.Contact, error) {
	dynamic, err := a.dynamic(ctx, db)
	if err != nil {
		return nil, err
	}
	if !dynamic {
		return a.pageOfLists(ctx, db, after, limit)
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

// Has reports whether the audience has a contact.
func (a *Audience) Has(ctx context.Context, db *sqldb.DB, c id.Contact, now time.Time) (bool, error) {
	if _, err := a.dynamic(ctx, db); err != nil { // which loads the kinds
		return false, err
	}
	q, some, err := a.selector(ctx, db, now)
	if err != nil || !some {
		return false, err
	}
	q.Where = append(q.Where, contact.Condition{Text: func(arg func(any) string) string { return "c.id = " + arg(c) }})
	n, err := contact.Count(ctx, db, a.Tenant, q)
	return n > 0, err
}

// Any reports whether the audience has at least one contact.
func (a *Audience) Any(ctx context.Context, db *sqldb.DB, now time.Time) (bool, error) {
	dynamic, err := a.dynamic(ctx, db)
	if err != nil {
		return false, err
	}
	read := a.pageOfLists
	if dynamic {
		read = func(ctx context.Context, db *sqldb.DB, after id.Contact, limit int) ([]id.Contact, error) {
			return a.find(ctx, db, after, limit, now)
		}
	}
	first, err := read(ctx, db, id.Contact{}, 1)
	return len(first) > 0, err
}

// ready returns the page if the read-ahead contains all of it and is not older than maxAge.
func (a *Audience) ready(after id.Contact, limit int, now time.Time) ([]id.Contact, bool) {
	if a.at.IsZero() || id.Compare(after, a.from) < 0 || now.Sub(a.at) > maxAge {
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

// dynamic reports whether at least one of the segments is dynamic. A segment that was deleted by
// force is ignored.
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

// find evaluates the whole audience in one statement. Each rule is rendered separately, so that the
// size limit of a rule applies to it alone.
func (a *Audience) find(ctx context.Context, db *sqldb.DB, after id.Contact, limit int, now time.Time) ([]id.Contact, error) {
	q, some, err := a.selector(ctx, db, now)
	if err != nil || !some {
		return []id.Contact{}, err
	}
	return contact.Matching(ctx, db, a.Tenant, q, after, limit)
}

// selector returns the selector of the whole audience, and whether any segment is included.
func (a *Audience) selector(ctx context.Context, db *sqldb.DB, now time.Time) (q contact.Selector, some bool, err error) {
	env, err := Env(ctx, db, a.Tenant, now)
	if err != nil {
		return q, false, err
	}
	in, err := a.conditions(db, env, a.Include, rule.In)
	if err != nil || len(in) == 0 {
		return q, false, err
	}
	out, err := a.conditions(db, env, a.Exclude, rule.NotIn)
	if err != nil {
		return q, false, err
	}
	return contact.Selector{Statuses: contact.Statuses(), Where: append([]contact.Condition{joined(in, " OR ")}, out...)}, true, nil
}

// Count returns the number of contacts, by one statement. That of one static list is stored with it.
func (a *Audience) Count(ctx context.Context, db *sqldb.DB, now time.Time) (int, error) {
	dynamic, err := a.dynamic(ctx, db)
	if err != nil {
		return 0, err
	}
	if !dynamic && len(a.Include) == 1 && len(a.Exclude) == 0 {
		n, err := storedMembers(ctx, db, a.Tenant, a.Include[0])
		if err != nil {
			return 0, err
		}
		if n != nil {
			return *n, nil
		}
	}
	q, some, err := a.selector(ctx, db, now)
	if err != nil || !some {
		return 0, err
	}
	return contact.Count(ctx, db, a.Tenant, q)
}

// matches returns the condition that a contact matches the rule.
func matches(db *sqldb.DB, env rule.Env, tree rule.Tree) (contact.Condition, error) {
	found, err := matching(db, env, tree, nil)
	return joined(found, " AND "), err
}

// fails returns the condition that a contact does not match the rule. The tree is negated before it
// is rendered, because its SQL may yield NULL, for which NOT is not true either.
func fails(db *sqldb.DB, env rule.Env, tree rule.Tree) (contact.Condition, error) {
	c, err := rule.Tree{Root: rule.Group{Negate: true, Conditions: []rule.Condition{tree.Root}}}.Condition(db, env)
	if err != nil {
		return contact.Condition{}, fmt.Errorf("render a rule: %w", err)
	}
	outside := contact.Condition{Text: func(func(any) string) string { return "NOT (" + population + ")" }}
	return joined([]contact.Condition{outside, c}, " OR "), nil
}

// conditions returns one condition for each dynamic segment and one for all lists together, for
// operator In or NotIn. Segments that no longer exist are ignored.
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

// pageOfLists reads a page of an audience of lists. It reads keys in order, so the database never sorts a
// list.
func (a *Audience) pageOfLists(ctx context.Context, db *sqldb.DB, after id.Contact, limit int) ([]id.Contact, error) {
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

// union reads a page from each list and merges them.
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
	err := row(&c)
	return c, err
}
