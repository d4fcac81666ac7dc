package lane

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/imapbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// MailboxState is what the last sessions with a bounce mailbox showed.
type MailboxState struct {
	ReadAt    *time.Time // the last session without a failure; nil: none
	LastError string     // of the last session; empty: it did not fail
}

// MailboxStates returns the states of the bounce mailboxes of lanes.
func MailboxStates(ctx context.Context, db *sqldb.DB, t id.Tenant, lanes []id.Lane) (map[id.Lane]MailboxState, error) {
	all := map[id.Lane]MailboxState{}
	rows, err := db.Query(ctx, `
		SELECT mta_config_id, read_at, last_error FROM bounce_mailbox WHERE tenant_id = $1 AND mta_config_id`+db.In(2), t, sqldb.List(db, lanes))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var l id.Lane
		var read sql.NullInt64
		var last sql.NullString
		err := scan(&l, &read, &last)
		all[l] = MailboxState{sqldb.NullTime(read), last.String}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the states of bounce mailboxes: %w", err)
	}
	return all, nil
}

// queueMailbox makes the mailbox of a lane due after a change of its settings. The cursor is kept if it
// is the same mailbox as before.
func (f Fields) queueMailbox(ctx context.Context, tx *sqldb.DB, before, after Config) error {
	m := after.SMTP.BounceMailbox
	if m == nil {
		if _, err := tx.Exec(ctx, `DELETE FROM bounce_mailbox WHERE tenant_id = $1 AND mta_config_id = $2`, after.Tenant, after.ID); err != nil {
			return fmt.Errorf("remove a bounce mailbox: %w", err)
		}
		return nil
	}
	if f.BounceMailbox == nil && before.Active == after.Active {
		return nil
	}
	reset := ""
	if b := before.SMTP.BounceMailbox; b == nil || b.Host != m.Host || b.Port != m.Port || b.Username != m.Username {
		reset = `, uid_validity = 0, last_uid = 0, read_at = NULL`
	}
	if _, err := tx.Exec(ctx, `
		INSERT INTO bounce_mailbox (tenant_id, mta_config_id) VALUES ($1, $2)
		ON CONFLICT (tenant_id, mta_config_id) DO UPDATE SET next_read_at = 0, failures = 0, last_error = NULL`+reset, after.Tenant, after.ID); err != nil {
		return fmt.Errorf("make a bounce mailbox due: %w", err)
	}
	return nil
}

// DueMailbox is a bounce mailbox that a process has leased to read it.
type DueMailbox struct {
	Tenant   id.Tenant
	Lane     id.Lane
	Cursor   imapbox.Cursor
	Failures int // sessions that failed since the last one that did not

	lease int64 // its end; also what identifies it
}

// LeaseMailboxes leases bounce mailboxes that are due, those that have waited longest first, at most
// limit, and perTenant of one tenant. Those of the tenants in without are left out.
func LeaseMailboxes(ctx context.Context, db *sqldb.DB, without []id.Tenant, limit, perTenant int, now, until time.Time) ([]DueMailbox, error) {
	rows, err := db.Query(ctx, `/* all tenants: any process reads the mailboxes of all */
		SELECT tenant_id, mta_config_id, uid_validity, last_uid, failures, next_read_at FROM (
			SELECT b.tenant_id, b.mta_config_id, b.uid_validity, b.last_uid, b.failures, b.next_read_at,
				ROW_NUMBER() OVER (PARTITION BY b.tenant_id ORDER BY b.next_read_at, b.mta_config_id) AS n
			FROM bounce_mailbox AS b
			JOIN mta_config AS c ON c.tenant_id = b.tenant_id AND c.id = b.mta_config_id
			JOIN tenant AS t ON t.tenant_id = b.tenant_id
			WHERE b.next_read_at <= $1 AND c.active AND t.status <> 'deleted'
		) AS due
		WHERE n <= $2 ORDER BY next_read_at LIMIT $3`, now.UnixMicro(), perTenant, limit+perTenant*len(without))
	due, err := sqldb.Collect(rows, err, func(scan func(...any) error) (m DueMailbox, err error) {
		err = scan(&m.Tenant, &m.Lane, &m.Cursor.Validity, &m.Cursor.UID, &m.Failures, &m.lease)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("find bounce mailboxes to read: %w", err)
	}
	var list []DueMailbox
	for _, m := range due {
		if len(list) == limit {
			break
		}
		if slices.Contains(without, m.Tenant) {
			continue
		}
		leased, err := m.Extend(ctx, db, m.Cursor, until)
		if err != nil {
			return list, err
		}
		if leased {
			list = append(list, m)
		}
	}
	return list, nil
}

// Extend stores how far the mailbox has been read, and extends the lease. It reports false, and
// changes nothing, if another process has the lease, or the settings of the mailbox were changed.
func (m *DueMailbox) Extend(ctx context.Context, db *sqldb.DB, at imapbox.Cursor, until time.Time) (bool, error) {
	lease := max(until.UnixMicro(), m.lease+1)
	n, err := db.Exec(ctx, `
		UPDATE bounce_mailbox SET uid_validity = $4, last_uid = $5, next_read_at = $6
		WHERE tenant_id = $1 AND mta_config_id = $2 AND next_read_at = $3`, m.Tenant, m.Lane, m.lease, int64(at.Validity), int64(at.UID), lease)
	if err != nil {
		return false, fmt.Errorf("extend the lease of a bounce mailbox: %w", err)
	}
	if n > 0 {
		m.Cursor, m.lease = at, lease
	}
	return n > 0, nil
}

// Abandon ends the lease of a session that was not completed, since the process ends. Another process
// may read the mailbox at once.
func (m *DueMailbox) Abandon(ctx context.Context, db *sqldb.DB, now time.Time) error {
	if _, err := db.Exec(ctx, `
		UPDATE bounce_mailbox SET next_read_at = $4 WHERE tenant_id = $1 AND mta_config_id = $2 AND next_read_at = $3`,
		m.Tenant, m.Lane, m.lease, now.UnixMicro()); err != nil {
		return fmt.Errorf("abandon a bounce mailbox: %w", err)
	}
	return nil
}

// Release ends the lease after a session; failure is what went wrong, or "".
func (m *DueMailbox) Release(ctx context.Context, db *sqldb.DB, failure string, now, next time.Time) error {
	set, args := `read_at = $5, failures = 0, last_error = NULL`, []any{m.Tenant, m.Lane, m.lease, next.UnixMicro(), now.UnixMicro()}
	if failure != "" {
		set, args[4] = `failures = failures + 1, last_error = $5`, failure
	}
	if _, err := db.Exec(ctx, `
		UPDATE bounce_mailbox SET next_read_at = $4, `+set+` WHERE tenant_id = $1 AND mta_config_id = $2 AND next_read_at = $3`, args...); err != nil {
		return fmt.Errorf("release a bounce mailbox: %w", err)
	}
	return nil
}

// ReleaseMailboxes makes all bounce mailboxes due. It is for the only process of an installation when
// it starts: leases of its predecessor do not need to end.
func ReleaseMailboxes(ctx context.Context, db *sqldb.DB) error {
	if _, err := db.Exec(ctx, `/* all tenants: leases of a process that ended */ UPDATE bounce_mailbox SET next_read_at = 0 WHERE next_read_at > 0`); err != nil {
		return fmt.Errorf("release bounce mailboxes: %w", err)
	}
	return nil
}
