package segment

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/packetboat/packetboat/internal/audience/columnar"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Counts are the number of contacts in a segment, and of those that could be mailed.
type Counts struct {
	Sendable, All int
}

// isSendable is the SQL condition that contact c could be mailed.
const isSendable = ` c.global_status = 'active' AND NOT c.do_not_contact AND NOT EXISTS (
	SELECT 1 FROM suppression x WHERE x.tenant_id = c.tenant_id AND x.email = c.email) `

// population is the SQL condition for contacts that rules are evaluated on: neither pending nor
// anonymized.
const population = ` c.global_status <> 'pending' AND c.anonymized_at IS NULL `

// matching appends the conditions of a rule, with that of its population, to a copy of conditions.
func matching(db *sqldb.DB, env rule.Env, tree rule.Tree, conditions []contact.Condition) ([]contact.Condition, error) {
	c, err := tree.Condition(db, env)
	if err != nil {
		return nil, fmt.Errorf("render a rule: %w", err)
	}
	in := contact.Condition{Text: func(func(any) string) string { return population }}
	return append(conditions[:len(conditions):len(conditions)], in, c), nil
}

// Preview is the result of evaluating a definition.
type Preview struct {
	Counts
	Sample []contact.Contact // the newest contacts, at most maxSample, without deleted ones
}

// maxSample is how many contacts a preview shows.
const maxSample = 10

// Try evaluates a rule that is not stored as a segment.
func Try(ctx context.Context, db *sqldb.DB, tenant id.Tenant, tree rule.Tree, now time.Time) (Preview, error) {
	env, err := Env(ctx, db, tenant, now)
	if err != nil {
		return Preview{}, err
	}
	var p Preview
	err = db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		if p.Counts, err = count(ctx, db, tenant, tree, env); err != nil {
			return err
		}
		q := contact.Query{Sort: contact.ByCreated, Limit: maxSample}
		if q.Where, err = matching(db, env, tree, nil); err != nil {
			return err
		}
		page, err := contact.List(ctx, db, tenant, q)
		p.Sample = page.Contacts
		return err
	})
	return p, err
}

// withActivity joins the activity of contacts.
const withActivity = contact.WithActivity

// countInMemory counts by a rule about attributes alone, within an evaluation, if they are in memory; ok is false
// otherwise.
func countInMemory(ctx context.Context, db *sqldb.DB, tenant id.Tenant, tree rule.Tree, env rule.Env) (n columnar.Counts, ok bool, err error) {
	if f, ok := tree.Formula(env); ok {
		return columnar.Of(db).Count(ctx, db, tenant, f)
	}
	return columnar.Counts{}, false, nil
}

// count returns both counts of a rule.
func count(ctx context.Context, db *sqldb.DB, tenant id.Tenant, tree rule.Tree, env rule.Env) (Counts, error) {
	c, err := tree.Condition(db, env)
	if err != nil {
		return Counts{}, fmt.Errorf("render a rule: %w", err)
	}
	args := []any{tenant}
	where := c.Text(func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	})
	join := ""
	if c.Activity {
		join = withActivity
	}
	var n Counts
	err = db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		found, ok, err := countInMemory(ctx, db, tenant, tree, env)
		if n = (Counts{found.Sendable, found.Members}); ok || err != nil {
			return err
		}
		return db.ScanTx(ctx, func() error {
			return db.QueryRow(ctx, `
				SELECT COUNT(*), COUNT(CASE WHEN c.global_status = 'active' AND NOT c.do_not_contact AND x.email IS NULL THEN 1 END)
				FROM contact c `+join+`
				LEFT JOIN suppression x ON x.tenant_id = c.tenant_id AND x.email = c.email
				WHERE c.tenant_id = $1 AND `+population+` AND (`+where+`)`, args...).Scan(&n.All, &n.Sendable)
		})
	})
	if err != nil {
		return Counts{}, fmt.Errorf("count a segment: %w", err)
	}
	return n, nil
}

// Recount counts the members and stores the counts.
func Recount(ctx context.Context, db *sqldb.DB, tenant id.Tenant, segment id.Segment, now time.Time) (Segment, error) {
	s, err := Find(ctx, db, tenant, segment.String())
	if err != nil {
		return Segment{}, err
	}
	if s.Type == Static {
		s, err = recountList(ctx, db, tenant, s, now)
	} else {
		s, err = recountRule(ctx, db, tenant, s, now)
	}
	if err != nil {
		return Segment{}, fmt.Errorf("recount a segment: %w", err)
	}
	return s, nil
}

// tree returns the rule of a dynamic segment.
func (s Segment) tree(schema rule.Schema) (rule.Tree, error) {
	if r, ok := schema.Segments(s.ID.String()); ok {
		return r.Tree, nil
	}
	return rule.Tree{}, ErrNotFound // the segment was deleted meanwhile
}

// recountRule evaluates the rule without holding a lock. Its counts are discarded if the definition
// was replaced meanwhile or newer counts are stored.
func recountRule(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Segment, now time.Time) (Segment, error) {
	env, err := Env(ctx, db, tenant, now)
	if err != nil {
		return Segment{}, err
	}
	n, err := s.count(ctx, db, tenant, env)
	if err != nil {
		return Segment{}, err
	}
	s.counted(n, now)
	_, err = db.Exec(ctx, `
		UPDATE segment SET member_count = $3, member_count_total = $4, member_count_evaluated_at = $5, counting_until = 0
		WHERE tenant_id = $1 AND id = $2 AND rule_revision = $6
			AND (member_count_evaluated_at IS NULL OR member_count_evaluated_at <= $5)`,
		tenant, s.ID, n.Sendable, n.All, sqldb.Micros(now), s.RuleRevision)
	return s, err
}

// recountList counts before it writes, so that no lock is held while a long list is counted. If the
// members changed meanwhile, it counts once more with the list's row locked.
func recountList(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Segment, now time.Time) (Segment, error) {
	n, err := countList(ctx, db, tenant, s.ID)
	if err != nil {
		return Segment{}, err
	}
	stored, err := db.Exec(ctx, `
		UPDATE segment SET member_count = $3, member_count_total = $4, member_count_evaluated_at = $5, counting_until = 0
		WHERE tenant_id = $1 AND id = $2 AND rule_revision = $6`,
		tenant, s.ID, n.Sendable, n.All, sqldb.Micros(now), s.RuleRevision)
	if err != nil || stored > 0 {
		s.counted(n, now)
		return s, err
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		if s, err = find(ctx, tx, tenant, s.ID.String(), tx.ForUpdate()); err != nil {
			return err
		}
		return s.recount(ctx, tx, tenant, now)
	})
	return s, err
}

// recount counts a list whose row the transaction has locked, and stores the counts.
func (s *Segment) recount(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, now time.Time) error {
	n, err := countList(ctx, tx, tenant, s.ID)
	if err != nil {
		return err
	}
	s.counted(n, now)
	return s.store(ctx, tx, tenant, n, now)
}

func countList(ctx context.Context, db *sqldb.DB, tenant id.Tenant, segment id.Segment) (Counts, error) {
	var n Counts
	err := db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		return db.QueryRow(ctx, `
			SELECT COUNT(*), COUNT(CASE WHEN `+isSendable+` THEN 1 END)
			FROM segment_member m JOIN contact c ON c.tenant_id = m.tenant_id AND c.id = m.contact_id
			WHERE m.tenant_id = $1 AND m.segment_id = $2`, tenant, segment).Scan(&n.All, &n.Sendable)
	})
	if err != nil {
		return Counts{}, fmt.Errorf("count members: %w", err)
	}
	return n, nil
}

// ListCount is the stored and the counted number of members of a static list.
type ListCount struct {
	Segment         id.Segment
	Stored, Counted int64
}

// ListCountsAfter counts the members of up to limit static lists after one of them, in the order of their ids,
// within an evaluation. Lists whose members were never counted are left out.
func ListCountsAfter(ctx context.Context, db *sqldb.DB, tenant id.Tenant, after id.Segment, limit int) ([]ListCount, error) {
	rows, err := db.Query(ctx, `
		SELECT s.id, s.member_count_total, (
			SELECT COUNT(*) FROM segment_member AS m WHERE m.tenant_id = s.tenant_id AND m.segment_id = s.id)
		FROM segment AS s WHERE s.tenant_id = $1 AND s.type = 'static' AND s.member_count_total IS NOT NULL AND s.id > $2
		ORDER BY s.id LIMIT $3`, tenant, after, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (c ListCount, err error) {
		err = scan(&c.Segment, &c.Stored, &c.Counted)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("count the members of lists: %w", err)
	}
	return list, nil
}

func (s *Segment) counted(n Counts, now time.Time) {
	s.Members, s.MembersAll, s.EvaluatedAt = &n.Sendable, &n.All, new(now.UTC().Truncate(time.Microsecond))
}

// store writes the counts of a list whose members changed. The transaction must have locked the
// list's row.
func (s Segment) store(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, n Counts, now time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE segment SET member_count = $3, member_count_total = $4, member_count_evaluated_at = $5,
			counting_until = 0, rule_revision = rule_revision + 1
		WHERE tenant_id = $1 AND id = $2`, tenant, s.ID, n.Sendable, n.All, sqldb.Micros(now))
	return err
}
