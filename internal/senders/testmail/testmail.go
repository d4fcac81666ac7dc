// Package testmail bounds and records the mails that are sent as tests, and the connections that are
// opened as tests, each of which counts as a mail.
//
// A test goes to any address, without consent and outside the limits of a send; a
// connection goes to any server. So a tenant may send only so many mails as tests in an hour, whatever sends
// them and however many processes there are, and the audit log has each call with
// its addresses. The hour begins with the first test after the one before ended.
package testmail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// MaxPerHour is how many mails a tenant may send as tests in an hour.
const MaxPerHour = 300

const hour = time.Hour

// ErrLimit says that a call would send more test mails than are left for the
// hour. Its details are a fault.Wait.
var ErrLimit = fault.New(fault.Limited, "RATE_LIMITED", "too many test mails in an hour")

// Call is a call that sends test mails.
type Call struct {
	By     auth.Principal
	Action string // such as broadcast.test_send
	Target string // what is tested: the type of record
	ID     string // and its id
	To     []string
	Mails  int    // addresses times variants times senders; 1 for a connection
	Server string // host and port of a connection without mail; else empty
}

// details are what the audit log says of a call besides.
type details struct {
	To     []string `json:"to"`
	Mails  int      `json:"mails"`
	Server string   `json:"server,omitempty"`
}

// Begin counts the mails of a call and writes it into the audit log, before any
// mail is sent. A call with more mails than are left is refused whole (ErrLimit):
// nothing is counted.
func Begin(ctx context.Context, db *sqldb.DB, c Call, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := count(ctx, tx, c, now); err != nil {
			return err
		}
		e := c.By.Did(c.Action, c.Target, c.ID, now)
		e.Details = details{optional.List(c.To), c.Mails, c.Server}
		return auth.Audit(ctx, tx, e)
	})
}

// count adds the mails to the tenant's present hour.
func count(ctx context.Context, tx *sqldb.DB, c Call, now time.Time) error {
	ended := now.Add(-hour)
	var mails int
	err := tx.QueryRow(ctx, `
		INSERT INTO test_mail (tenant_id, started_at, mails) VALUES ($1, $2, $3)
		ON CONFLICT (tenant_id) DO UPDATE SET
			started_at = CASE WHEN test_mail.started_at <= $4 THEN excluded.started_at ELSE test_mail.started_at END,
			mails = CASE WHEN test_mail.started_at <= $4 THEN excluded.mails ELSE test_mail.mails + excluded.mails END
		WHERE test_mail.started_at <= $4 OR test_mail.mails + excluded.mails <= $5
		RETURNING mails`,
		c.By.Tenant, now.UnixMicro(), c.Mails, ended.UnixMicro(), MaxPerHour).Scan(&mails)
	if err == nil {
		return nil
	}
	if !errors.Is(err, sqldb.ErrNoRows) {
		return fmt.Errorf("count test mails: %w", err)
	}
	var started int64
	if err := tx.QueryRow(ctx, `SELECT started_at, mails FROM test_mail WHERE tenant_id = $1`, c.By.Tenant).Scan(&started, &mails); err != nil {
		return fmt.Errorf("count test mails: %w", err)
	}
	wait := int((sqldb.Time(started).Sub(ended) + time.Second - 1) / time.Second)
	return ErrLimit.With(fault.Wait{Seconds: wait}).
		Sayf("a tenant may send %d test mails in an hour; %d are left, and this call has %d; retry in %d s", MaxPerHour, MaxPerHour-mails, c.Mails, wait)
}
