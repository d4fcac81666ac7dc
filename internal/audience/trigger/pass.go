package trigger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Engine does what triggers need besides following the journal: it records the members of newly
// watched segments, compares those of watched segments with their rules at intervals, reports existing
// members to new triggers, and reports dates of contacts when they are due. It works in pages, each a
// transaction. Any number of processes may run one: a page locks the row of what it works on, and
// others skip it.
type Engine struct {
	DB   *sqldb.DB
	Now  func() time.Time
	Log  *slog.Logger
	Wake <-chan struct{} // notified when there is something to watch; may be nil
	Page int             // contacts in one transaction; 0: as many as the database is for
}

const (
	tickEvery = time.Second
	// passEvery is the interval of passes through segments whose members may change without an entry
	// in the journal. The rules of others are read that often, and they are passed through if the rule
	// has changed.
	passEvery = 5 * time.Minute
	// fullPassEvery is the interval of passes through the other segments.
	fullPassEvery = time.Hour
	postgresPage  = 5000
	sqlitePage    = 1000 // fewer, since the sends of all tenants wait for the one writer
	watchesATick  = 50
)

// Run works until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	return poll.Loop{
		Poll: e.Tick, Every: tickEvery, Wake: e.Wake, Rest: e.DB.Dialect() == sqldb.SQLite, Log: e.Log, Failed: "evaluate triggers failed",
	}.Run(ctx)
}

// Tick does a page of each kind of work for each tenant that has some. It reports whether there may be more.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	var errs []error
	for _, work := range []func(context.Context) (bool, error){e.passes, e.reportExisting, e.datePasses, e.reportDates} {
		again, err := work(ctx)
		more = more || again
		errs = append(errs, err)
	}
	return more, errors.Join(errs...)
}

func (e *Engine) page() int {
	if e.Page > 0 {
		return e.Page
	}
	if e.DB.Dialect() == sqldb.SQLite {
		return sqlitePage
	}
	return postgresPage
}

func (e *Engine) now() time.Time { return e.Now().UTC().Truncate(time.Microsecond) }

// passes does a page of one watch of each tenant.
func (e *Engine) passes(ctx context.Context) (more bool, err error) {
	return passesOf(ctx, e, "segment_watch", "segment_id", e.pass)
}

// passesOf does a page of one watch of each tenant that is due in a table, and reports whether it did any: a tenant
// with many watches takes no more time than one with a single watch. A pass that is under way goes first. A watch is
// identified by a column beside its tenant. pass reports whether it did a page; another process may be doing it.
func passesOf[T any](ctx context.Context, e *Engine, table, column string, pass func(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, of T) (bool, error)) (more bool, err error) {
	type place struct {
		tenant id.Tenant
		of     T
	}
	rows, err := e.DB.Query(ctx, `
		/* all tenants: one index has what is due */
		SELECT tenant_id, `+column+` FROM (
			SELECT tenant_id, `+column+`, next_at,
				ROW_NUMBER() OVER (PARTITION BY tenant_id ORDER BY CASE WHEN passed IS NULL THEN 1 ELSE 0 END, next_at, `+column+`) AS place
			FROM `+table+` WHERE next_at <= $1) AS due
		WHERE place = 1 ORDER BY next_at LIMIT $2`,
		sqldb.Micros(e.now()), watchesATick)
	due, err := sqldb.Collect(rows, err, func(scan func(...any) error) (place, error) {
		var p place
		err := scan(&p.tenant, &p.of)
		return p, err
	})
	if err != nil {
		return false, fmt.Errorf("find what is due in %s: %w", table, err)
	}
	var errs []error
	for _, p := range due {
		did := false
		err := e.DB.InTx(ctx, func(tx *sqldb.DB) (err error) {
			did, err = pass(ctx, tx, p.tenant, p.of)
			return err
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("do a page of %s for %v of tenant %s: %w", table, p.of, p.tenant, err))
		}
		more = more || did
	}
	return more, errors.Join(errs...)
}

// pass does the next page of a watch, unless another process does it.
func (e *Engine) pass(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, of id.Segment) (did bool, err error) {
	now := e.now()
	w, err := scanWatch(tx.QueryRow(ctx, `SELECT `+watchColumns+` FROM segment_watch
		WHERE tenant_id = $1 AND segment_id = $2 AND next_at <= $3`+tx.SkipLocked(), tenant, of, sqldb.Micros(now)).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if w.state == ending {
		return true, w.end(ctx, tx, e.page())
	}
	env, err := segment.Env(ctx, tx, tenant, now)
	if err != nil {
		return false, err
	}
	r, ok := env.Segments(of.String())
	if !ok { // deleted by force: nobody is inside
		r = rule.SegmentRule{ID: of, Tree: rule.Tree{Root: rule.Group{Negate: true}}}
	}
	if w.passed.IsZero() { // a pass begins
		rule := ruleDigest(env.Schema, r)
		if w.state == ready && rule == w.digest && now.Sub(w.passAt) < fullPassEvery && !segment.Tree(r).Inputs(env.Schema).Passing {
			return true, w.save(ctx, tx, now.Add(passEvery))
		}
		w.digest, w.passAt = rule, now
	}
	end, more, err := contact.PageEnd(ctx, tx, tenant, w.passed, e.page())
	if err != nil {
		return false, err
	}
	if !more {
		end = lastID
	}
	env.Paged = true
	m := moves{tx: tx, env: env, now: now}
	if err := m.comparePage(ctx, w, r, end); err != nil {
		return false, err
	}
	next := now
	if w.passed = end; !more {
		w.state, w.passed, next = ready, id.Contact{}, now.Add(passEvery)
	}
	if err := w.save(ctx, tx, next); err != nil {
		return false, err
	}
	return true, m.write(ctx)
}

// lastID is not before the id of any contact.
var lastID = func() id.Contact {
	var c id.Contact
	for i := range c {
		c[i] = 0xff
	}
	return c
}()

func (w watch) save(ctx context.Context, tx *sqldb.DB, next time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE segment_watch SET state = $3, passed = $4, passed_at = $5, digest = $6, next_at = $7 WHERE tenant_id = $1 AND segment_id = $2`,
		w.tenant, w.segment, w.state, sqldb.Null(w.passed), sqldb.Micros(w.passAt), w.digest, sqldb.Micros(next))
	return err
}

// comparePage compares who is inside a segment with what is recorded, from the last contact of the
// pass up to end. While the watch is being filled, those who were inside when it began are recorded
// without a move.
func (m *moves) comparePage(ctx context.Context, w watch, r rule.SegmentRule, end id.Contact) error {
	cond, err := segment.Inside(m.tx, m.env, r)
	if err != nil {
		return err
	}
	found, err := contact.Between(ctx, m.tx, w.tenant, w.passed, end, cond)
	if err != nil {
		return err
	}
	recorded, err := m.contacts(ctx, `
		SELECT contact_id FROM segment_inside WHERE tenant_id = $1 AND segment_id = $2 AND contact_id > $3 AND contact_id <= $4`,
		w.tenant, w.segment, w.passed, end)
	if err != nil {
		return fmt.Errorf("read the members of a watched segment: %w", err)
	}
	created := map[id.Contact]bool{}
	if w.state == filling { // those who did not exist when the watch began enter
		created, err = m.contacts(ctx, `SELECT id FROM contact WHERE tenant_id = $1 AND id > $2 AND id <= $3 AND created_at > $4`,
			w.tenant, w.passed, end, sqldb.Micros(w.since))
		if err != nil {
			return fmt.Errorf("find new contacts: %w", err)
		}
	}
	first := m.tx.Table("contact_id UUID", "segment_id UUID", "entered_at BIGINT")
	for _, c := range found {
		switch {
		case recorded[c]:
			delete(recorded, c)
		case w.state == filling && !created[c]:
			first.Add(c, w.segment, 0)
		default:
			m.list = append(m.list, move{w.segment, r.Key, c, true})
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(recorded), id.Compare) {
		m.list = append(m.list, move{w.segment, r.Key, c, false})
	}
	if first.Len() == 0 {
		return nil
	}
	if err := first.Load(ctx, m.tx, "segment_inside", w.tenant); err != nil {
		return fmt.Errorf("record the first members of a watched segment: %w", err)
	}
	return nil
}

// contacts returns the contacts that a statement finds.
func (m *moves) contacts(ctx context.Context, statement string, args ...any) (map[id.Contact]bool, error) {
	rows, err := m.tx.Query(ctx, statement, args...)
	all := map[id.Contact]bool{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		err := scan(&c)
		all[c] = true
		return err
	})
	return all, err
}

// ruleDigest returns a digest of the rule of a segment, with the rules that it refers to.
func ruleDigest(s rule.Schema, r rule.SegmentRule) string {
	h := sha256.New()
	seen := map[string]bool{}
	for queue := []rule.SegmentRule{r}; len(queue) > 0; queue = queue[1:] {
		tree := segment.Tree(queue[0])
		text, _ := json.Marshal(tree) // a stored rule always encodes
		fmt.Fprintf(h, "%s %s\n", queue[0].ID, text)
		for _, ref := range tree.References() {
			if next, ok := s.Segments(ref.Name); ok && ref.Kind == usage.Segment && !next.Static && !seen[next.Key] {
				seen[next.Key] = true
				queue = append(queue, next)
			}
		}
	}
	fmt.Fprintf(h, "%s\n", s.Zone)
	return hex.EncodeToString(h.Sum(nil))
}

// end deletes a page of the members of a segment that nothing follows any more, and then the watch. If
// something follows it again, it is filled again.
func (w watch) end(ctx context.Context, tx *sqldb.DB, page int) error {
	n, err := tx.Exec(ctx, `
		DELETE FROM segment_inside WHERE tenant_id = $1 AND segment_id = $2 AND contact_id IN (
			SELECT contact_id FROM segment_inside WHERE tenant_id = $1 AND segment_id = $2 ORDER BY contact_id LIMIT $3)`, w.tenant, w.segment, page)
	if err != nil || n == int64(page) {
		return err
	}
	n, err = tx.Exec(ctx, `
		UPDATE segment_watch SET state = 'filling', passed = NULL WHERE tenant_id = $1 AND segment_id = $2
			AND EXISTS (SELECT 1 FROM segment_watcher WHERE tenant_id = $1 AND segment_id = $2)`, w.tenant, w.segment)
	if err != nil || n > 0 {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM segment_watch WHERE tenant_id = $1 AND segment_id = $2`, w.tenant, w.segment)
	return err
}

// reportExisting reports a page of the members that were inside before a trigger began, to one trigger of each tenant
// that wants them.
func (e *Engine) reportExisting(ctx context.Context) (more bool, err error) {
	type task struct {
		tenant  id.Tenant
		segment id.Segment
		holder  id.Holder
	}
	rows, err := e.DB.Query(ctx, `
		/* all tenants: one index has what is due */
		SELECT tenant_id, segment_id, holder_id FROM (
			SELECT w.tenant_id, w.segment_id, w.holder_id, w.existing_since,
				ROW_NUMBER() OVER (PARTITION BY w.tenant_id ORDER BY w.existing_since, w.segment_id, w.holder_id) AS place
			FROM segment_watcher AS w
			JOIN segment_watch AS s ON s.tenant_id = w.tenant_id AND s.segment_id = w.segment_id AND s.state = 'ready'
			WHERE w.existing_since IS NOT NULL) AS due
		WHERE place = 1 ORDER BY existing_since LIMIT $1`, watchesATick)
	due, err := sqldb.Collect(rows, err, func(scan func(...any) error) (task, error) {
		var t task
		err := scan(&t.tenant, &t.segment, &t.holder)
		return t, err
	})
	if err != nil {
		return false, fmt.Errorf("find triggers that want existing members: %w", err)
	}
	var errs []error
	for _, t := range due {
		err := e.DB.InTx(ctx, func(tx *sqldb.DB) error { return e.existingPage(ctx, tx, t.tenant, t.segment, t.holder) })
		if err != nil {
			errs = append(errs, fmt.Errorf("report the members of segment %s of tenant %s: %w", t.segment, t.tenant, err))
		}
	}
	return len(due) > 0 && len(errs) == 0, errors.Join(errs...)
}

func (e *Engine) existingPage(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, of id.Segment, h id.Holder) error {
	var since int64
	var after id.Contact
	err := tx.QueryRow(ctx, `
		SELECT existing_since, existing_after FROM segment_watcher
		WHERE tenant_id = $1 AND segment_id = $2 AND holder_id = $3 AND existing_since IS NOT NULL`+tx.SkipLocked(), tenant, of, h).Scan(&since, &after)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	s, err := segment.Find(ctx, tx, tenant, of.String())
	if errors.Is(err, segment.ErrNotFound) {
		_, err := tx.Exec(ctx, `UPDATE segment_watcher SET existing_since = NULL WHERE tenant_id = $1 AND segment_id = $2 AND holder_id = $3`, tenant, of, h)
		return err
	}
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `
		SELECT contact_id FROM segment_inside WHERE tenant_id = $1 AND segment_id = $2 AND contact_id > $3 AND entered_at < $4
		ORDER BY contact_id LIMIT $5`, tenant, of, after, since, existingPage)
	page, err := sqldb.Collect(rows, err, func(scan func(...any) error) (id.Contact, error) {
		var c id.Contact
		err := scan(&c)
		return c, err
	})
	if err != nil {
		return fmt.Errorf("read the members of a watched segment: %w", err)
	}
	var left any = since
	entries := make([]journal.Entry, len(page))
	for i, c := range page {
		after = c
		entries[i] = journal.Entry{Tenant: tenant, Type: journal.SegmentEntered, Name: s.Key, Contact: c, At: e.now(), Data: moved{of, h}}
	}
	if len(page) < existingPage {
		left = nil
	}
	_, err = tx.Exec(ctx, `
		UPDATE segment_watcher SET existing_since = $4, existing_after = $5 WHERE tenant_id = $1 AND segment_id = $2 AND holder_id = $3`,
		tenant, of, h, left, sqldb.Null(after))
	if err != nil || len(entries) == 0 {
		return err
	}
	return journal.Append(ctx, tx, entries...)
}

// existingPage is how many existing members one transaction reports.
const existingPage = 1000
