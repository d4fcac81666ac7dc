package audience

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// extent is how much a database holds.
type extent struct {
	contacts, entries int
}

func (x extent) String() string { return fmt.Sprintf("%d-%d", x.contacts, x.entries) }

// loader fills the tables of a program that is not running, with the history
// of a sender of some years. What each row says is what the program would have
// written; that it did happen is not.
type loader struct {
	db        *sqldb.DB
	extent    extent
	people    people
	tenant    id.Tenant
	emailType id.EmailType
	lists     []list

	contacts []id.Contact
	totals   []total
}

// list is a static list that a share of the contacts is on, in thousandths.
type list struct {
	id    id.Segment
	key   string
	share int
}

// total is what a contact's mails have come to.
type total struct {
	sent, opened, clicked          int32
	sentAt, openedAt, clickedAt    int64
	viewedAt, activityAt, bounceAt int64
	hard                           bool
}

// load fills everything.
func (l *loader) load(ctx context.Context) error {
	l.contacts = make([]id.Contact, l.extent.contacts)
	l.totals = make([]total, l.extent.contacts)
	rebuild, err := dropIndexes(ctx, l.db)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{l.fillContacts, l.fillLists, l.fillHistory, l.fillActivity, rebuild, l.settle} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("fill the database: %w", err)
		}
	}
	return nil
}

func (l *loader) fillContacts(ctx context.Context) error {
	s := newSheet(l.db, l.tenant, "contact", []string{"category_subscriptions '{}'", "prospect_score 0", "customer_score 0"},
		"id UUID", "email TEXT", "email_domain TEXT", "external_id TEXT", "first_name TEXT", "last_name TEXT", "company TEXT", "city TEXT", "country TEXT",
		"source TEXT", "custom_fields JSONB", "tags JSONB", "subscriptions JSONB", "global_status TEXT", "do_not_contact BOOLEAN",
		"created_at BIGINT", "updated_at BIGINT", "suppressed_at BIGINT", "status_before_suppress TEXT", "unsubscribed_at BIGINT", "search_text TEXT")
	fresh := newSheet(l.db, l.tenant, "contact_search_queue", nil, "contact_id UUID", "search_text TEXT")
	listed := newSheet(l.db, l.tenant, "suppression", []string{"reason 'hard_bounce'"}, "email TEXT", "created_at BIGINT")
	r := rand.New(rand.NewPCG(1, 1))
	for i := range l.extent.contacts {
		p := l.people.person(i)
		l.contacts[i] = uuidAt[id.Contact](r, p.created)
		subscriptions := "{}"
		if p.newsletterOff {
			subscriptions = `{"newsletter":false}`
		}
		var external, suppressed, before, left any
		if i%2 == 0 {
			external = fmt.Sprintf("crm-%08d", i)
		}
		changed := p.created.Add(time.Duration(r.Int64N(int64(l.people.now.Sub(p.created)) + 1))).UnixMicro()
		switch p.status {
		case "suppressed":
			suppressed, before = changed, "active"
		case "unsubscribed":
			left = changed
		case "bounced":
			if err := listed.add(ctx, p.email, changed); err != nil {
				return err
			}
		}
		err := s.add(ctx, l.contacts[i], p.email, p.domain, external, p.first, p.last, sqldb.Null(p.company), p.city, sqldb.Null(p.country),
			sqldb.Null(p.source), p.fields(), p.labels(), subscriptions, p.status, p.doNotContact,
			p.created.UnixMicro(), changed, suppressed, before, left, p.searchText())
		if err != nil {
			return err
		}
		if err := fresh.add(ctx, l.contacts[i], p.searchText()); err != nil {
			return err
		}
	}
	if err := listed.flush(ctx); err != nil {
		return err
	}
	if err := fresh.flush(ctx); err != nil {
		return err
	}
	return s.flush(ctx)
}

func (l *loader) fillLists(ctx context.Context) error {
	r := rand.New(rand.NewPCG(2, 2))
	for _, list := range l.lists {
		s := newSheet(l.db, l.tenant, "segment_member", nil, "segment_id UUID", "contact_id UUID", "added_at BIGINT")
		for i, c := range l.contacts {
			if r.IntN(1000) < list.share {
				added := l.people.person(i).created.Add(time.Duration(r.Int64N(int64(24 * time.Hour))))
				if err := s.add(ctx, list.id, c, added.UnixMicro()); err != nil {
					return err
				}
			}
		}
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) fillActivity(ctx context.Context) error {
	s := newSheet(l.db, l.tenant, "contact_activity", []string{"last_activity_pending FALSE", "soft_bounces 0", "deliverability_reason NULL"},
		"contact_id UUID", "last_activity_at BIGINT", "settled_activity_at BIGINT", "last_email_sent_at BIGINT", "last_email_opened_at BIGINT", "last_email_clicked_at BIGINT",
		"last_page_viewed_at BIGINT", "total_emails_sent BIGINT", "total_emails_opened BIGINT", "total_emails_clicked BIGINT", "bounce_type TEXT",
		"listed BOOLEAN", "deliverability_status TEXT", "deliverability_updated_at BIGINT")
	for i, c := range l.contacts {
		t := &l.totals[i]
		status, bounce := "healthy", ""
		listed := l.people.person(i).status == "bounced"
		if listed {
			status = "suppressed"
		}
		if t.bounceAt > 0 {
			bounce = "soft"
		}
		if listed || t.hard {
			bounce = "hard"
		}
		err := s.add(ctx, c, sqldb.Null(t.activityAt), sqldb.Null(t.activityAt), sqldb.Null(t.sentAt), sqldb.Null(t.openedAt), sqldb.Null(t.clickedAt),
			sqldb.Null(t.viewedAt), int64(t.sent), int64(t.opened), int64(t.clicked), sqldb.Null(bounce), listed, status, l.people.now.UnixMicro())
		if err != nil {
			return err
		}
	}
	return s.flush(ctx)
}

// domainsKnown answers for the DNS, which is not asked about domains that do not exist.
const domainsKnown = `INSERT INTO mail_domain (domain, mx_record, smtp_provider, checked_at, next_at, tries)
	SELECT DISTINCT email_domain, 'mx.' || email_domain, 'other', 0, 9000000000000000, 0 FROM contact WHERE true ON CONFLICT DO NOTHING`

// settle leaves the database as one whose followers have read the journal. On
// PostgreSQL it is not analysed: that is autovacuum's work, which may come later
// than what is measured.
func (l *loader) settle(ctx context.Context) error {
	if err := journal.Continue(ctx, l.db); err != nil {
		return err
	}
	if _, err := contact.CorrectCounts(ctx, l.db, l.tenant); err != nil {
		return err
	}
	statements := []string{
		`UPDATE journal_cursor SET pos = (SELECT COALESCE(MAX(j.pos), 0) FROM journal AS j WHERE j.grp = journal_cursor.grp)`,
		domainsKnown,
	}
	if l.db.Dialect() == sqldb.Postgres {
		statements = append(statements, `CHECKPOINT`)
	} else {
		statements = append(statements, `PRAGMA wal_checkpoint(TRUNCATE)`)
	}
	for _, s := range statements {
		if _, err := l.db.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// dropIndexes removes what can be made again faster than it is kept up, and
// returns how.
func dropIndexes(ctx context.Context, db *sqldb.DB) (rebuild func(context.Context) error, err error) {
	query := `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN `
	if db.Dialect() == sqldb.Postgres {
		query = `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()
			AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname) AND tablename IN `
	}
	query += `('contact', 'contact_activity', 'segment_member', 'suppression', 'journal', 'outbox', 'hit', 'engagement')`
	rows, err := db.Query(ctx, query)
	type index struct{ name, text string }
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (index, error) {
		var x index
		err := row(&x.name, &x.text)
		return x, err
	})
	if err != nil {
		return nil, err
	}
	planned, err := savedStats(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		if _, err := db.Exec(ctx, `DROP INDEX `+x.name); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) error {
		for _, x := range list {
			if _, err := db.Exec(ctx, x.text); err != nil {
				return fmt.Errorf("%s: %w", x.text, err)
			}
		}
		return planned(ctx)
	}, nil
}

// savedStats reads the statistics that the program's migrations set for SQLite's planner on the
// indexes, which are lost with an index, and returns a function that sets them again.
func savedStats(ctx context.Context, db *sqldb.DB) (again func(context.Context) error, err error) {
	type shape struct{ table, index, stat string }
	var list []shape
	if db.Dialect() == sqldb.SQLite {
		rows, err := db.Query(ctx, `SELECT tbl, idx, stat FROM sqlite_stat1 WHERE idx IS NOT NULL`)
		list, err = sqldb.Collect(rows, err, func(row func(...any) error) (s shape, err error) {
			err = row(&s.table, &s.index, &s.stat)
			return s, err
		})
		if err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) error {
		for _, s := range list {
			if _, err := db.Exec(ctx, `
				INSERT INTO sqlite_stat1 (tbl, idx, stat) SELECT $1, $2, $3
				WHERE NOT EXISTS (SELECT 1 FROM sqlite_stat1 WHERE tbl = $1 AND idx = $2)`, s.table, s.index, s.stat); err != nil {
				return fmt.Errorf("set statistics of %s: %w", s.index, err)
			}
		}
		return nil
	}, nil
}
