package contactlog_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var (
	acme     = id.Tenant(101)
	other    = id.Tenant(102)
	ann, bob = id.New[id.Contact](), id.New[id.Contact]()
)

// log is the log in a database, and a reader of it.
type log struct {
	*testing.T
	db   *sqldb.DB
	mark contactlog.Mark
}

func each(t *testing.T, f func(l *log)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		l := &log{T: t, db: db}
		l.append(other, id.New[id.Contact]())
		l.within(t.Context(), func(ctx context.Context, db *sqldb.DB) {
			m, ok, err := contactlog.Read(ctx, db, acme)
			if l.mark = m; !ok || err != nil {
				t.Fatalf("Read = %v, %v", ok, err)
			}
		})
		f(l)
	})
}

func (l *log) append(tenant id.Tenant, contacts ...id.Contact) {
	l.Helper()
	if err := contactlog.Append(l.Context(), l.db, tenant, contacts); err != nil {
		l.Fatal(err)
	}
}

// within calls f for an evaluation.
func (l *log) within(ctx context.Context, f func(ctx context.Context, db *sqldb.DB)) {
	l.Helper()
	err := l.db.Evaluate(ctx, "acme", func(ctx context.Context, db *sqldb.DB) error {
		f(ctx, db)
		return nil
	})
	if err != nil {
		l.Fatal(err)
	}
}

// want fails unless the reader, within an evaluation, finds these changes.
func (l *log) want(ctx context.Context, db *sqldb.DB, standing contactlog.Standing, contacts ...id.Contact) {
	l.Helper()
	c, m, got, err := l.mark.Advance(ctx, db, acme)
	slices.SortFunc(c.Contacts, id.Compare)
	slices.SortFunc(contacts, id.Compare)
	if err != nil || got != standing || !slices.Equal(c.Contacts, contacts) {
		l.Errorf("Advance = %v, %v, %v; want %v, %v", c.Contacts, got, err, contacts, standing)
	}
	if got == contactlog.Current {
		l.mark = m
	}
}

func (l *log) wantNow(standing contactlog.Standing, contacts ...id.Contact) {
	l.Helper()
	// While another evaluation is in progress, which is not for a caller.
	l.within(sqldb.ForCaller(l.Context()), func(ctx context.Context, db *sqldb.DB) { l.want(ctx, db, standing, contacts...) })
}

func (l *log) trim() {
	l.Helper()
	if err := contactlog.Trim(l.Context(), l.db, time.Now().Add(time.Hour)); err != nil {
		l.Fatal(err)
	}
}

func TestAReaderLearnsOfEachChangeOnce(t *testing.T) {
	each(t, func(l *log) {
		l.wantNow(contactlog.Current)
		l.append(acme, ann, bob)
		l.wantNow(contactlog.Current, ann, bob)
		l.wantNow(contactlog.Current)
		if err := contactlog.AppendAddresses(l.Context(), l.db, acme, []string{"ann@example.org"}); err != nil {
			l.Fatal(err)
		}
		l.within(l.Context(), func(ctx context.Context, db *sqldb.DB) {
			c, _, standing, err := l.mark.Advance(ctx, db, acme)
			if err != nil || standing != contactlog.Current || !slices.Equal(c.Addresses, []string{"ann@example.org"}) || len(c.Contacts) > 0 {
				l.Errorf("Advance = %+v, %v, %v", c, standing, err)
			}
		})
	})
}

func TestAChangeThatIsTakenBackIsNoChange(t *testing.T) {
	each(t, func(l *log) {
		undone := errors.New("undone")
		err := l.db.InTx(l.Context(), func(tx *sqldb.DB) error {
			return errors.Join(contactlog.Append(l.Context(), tx, acme, []id.Contact{ann}), undone)
		})
		if !errors.Is(err, undone) {
			l.Fatal(err)
		}
		l.wantNow(contactlog.Current)
	})
}

func TestAnEvaluationThatBeganEarlierIsRecognized(t *testing.T) {
	each(t, func(l *log) {
		l.within(l.Context(), func(ctx context.Context, earlier *sqldb.DB) {
			l.want(ctx, earlier, contactlog.Current) // it sees the database as it is now
			l.append(acme, ann)
			l.wantNow(contactlog.Current, ann)
			l.want(ctx, earlier, contactlog.Ahead)
			l.trim()
			l.want(ctx, earlier, contactlog.Ahead)
		})
		l.wantNow(contactlog.Current)
	})
}

func TestAReaderKnowsThatItMissedChanges(t *testing.T) {
	each(t, func(l *log) {
		l.append(acme, ann)
		l.wantNow(contactlog.Current, ann)
		l.trim()
		l.wantNow(contactlog.Current)
		l.append(acme, bob)
		l.append(acme, ann)
		l.trim()
		l.append(acme, bob)
		l.wantNow(contactlog.Lost)
	})
}

// A transaction may commit after others that began later.
func TestAReaderLearnsOfTransactionsThatCommitLate(t *testing.T) {
	t.Parallel()
	db := dbtest.Postgres(t) // SQLite has one transaction at a time
	l := &log{T: t, db: db}
	err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
		if err := contactlog.Append(t.Context(), tx, acme, []id.Contact{ann}); err != nil {
			return err
		}
		l.append(acme, bob)
		l.wantNow(contactlog.Current, bob)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	l.wantNow(contactlog.Current, ann)
}

func TestRecentChangesAreKept(t *testing.T) {
	each(t, func(l *log) {
		l.append(acme, ann)
		if err := contactlog.Trim(l.Context(), l.db, time.Now().Add(contactlog.Keep/2)); err != nil {
			l.Fatal(err)
		}
		l.wantNow(contactlog.Current, ann)
	})
}

func TestErasedAddressesAreGone(t *testing.T) {
	each(t, func(l *log) {
		if err := contactlog.AppendAddresses(l.Context(), l.db, acme, []string{"ann@example.org"}); err != nil {
			l.Fatal(err)
		}
		l.within(l.Context(), func(ctx context.Context, db *sqldb.DB) {
			m, _, err := contactlog.Read(ctx, db, acme)
			if l.mark = m; err != nil {
				l.Fatal(err)
			}
		})
		if err := contactlog.Erase(l.Context(), l.db, acme); err != nil {
			l.Fatal(err)
		}
		l.wantNow(contactlog.Lost) // though it has read all
		var left int
		if err := l.db.QueryRow(l.Context(), `SELECT COUNT(*) FROM contact_log WHERE tenant_id = $1`, acme).Scan(&left); err != nil || left != 0 {
			l.Errorf("%d rows are left, %v", left, err)
		}
	})
}
