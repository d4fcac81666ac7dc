package lane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Trial is the result of a test of a lane: of a connection alone, or of one mail.
type Trial struct {
	Accepted bool // the login, or the mail
	Reached  bool // there was a session, in which the server could accept or refuse mail
	Code     int  // SMTP reply code; 0 if no server answered
	Response string
	Latency  time.Duration
}

// connection is what decides whether a server accepts a lane. A test says nothing about another one.
type connection struct {
	smtp   login
	auth   smtpclient.AuthMode
	helo   string
	direct string
	region string
	key    string
}

func (c Config) connection() connection {
	s := c.SMTP
	return connection{login{s.Host, s.Port, s.Username, s.TLS}, s.Auth, s.HELO, fmt.Sprint(c.Direct), c.SES.Region, c.SES.AccessKeyID}
}

// CheckDraft validates the fields of a Draft, as far as that is possible without the lane that it may change.
func (f Fields) CheckDraft(isNew bool, rules Rules) error {
	f.Name = nil
	if !isNew {
		return f.Check(rules)
	}
	f.Name = new("-")
	return f.CheckNew(rules)
}

// Draft returns the lane that f would create or, with the id of a lane, change it into, and its secret, to
// test them before they are saved. Nothing is stored, and the name does not matter. A stored secret is used only
// where Update would keep it.
func Draft(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, config id.Lane, f Fields, rules Rules) (Config, string, error) {
	before := defaultConfig()
	before.Name = "-"
	if !config.IsZero() {
		var err error
		if before, err = ByID(ctx, db, tenant, config); err != nil {
			return Config{}, "", err
		}
	}
	f.Name = nil
	var p fault.Problems
	c := f.apply(before, rules, &p)
	if err := p.Err(); err != nil {
		return Config{}, "", err
	}
	c.Tenant = tenant
	switch given := f.secret(); {
	case given != nil:
		return c, *given, nil
	case config.IsZero():
		return c, "", nil
	}
	stored, err := Password(ctx, db, box, tenant, config)
	return c, stored, err
}

// RecordTrial records the result of a test of a stored lane: that its settings were accepted, or, if no
// session was possible, that the lane does not work. A lane that was changed since the test began is left as
// it is.
//
// A failure takes a lane down at once, unless the server has accepted mail in the last minute; and a success
// brings it back. What the servers of a recipient's domain answer says nothing about a lane of type direct_mx.
func RecordTrial(ctx context.Context, db *sqldb.DB, tested Config, trial Trial, now time.Time) error {
	failed := !trial.Reached && (tested.Type == SMTP || tested.Type == SES)
	if !trial.Accepted && !failed {
		return nil
	}
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		c, err := scanOne(tx.QueryRow(ctx, `SELECT `+columns+` FROM mta_config WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), tested.Tenant, tested.ID), tested.Tenant)
		if errors.Is(err, ErrNotFound) || err == nil && c.Revision != tested.Revision {
			return nil
		}
		if err != nil {
			return err
		}
		if trial.Accepted {
			if _, err := tx.Exec(ctx, `UPDATE mta_config SET tested_at = $3 WHERE tenant_id = $1 AND id = $2`, c.Tenant, c.ID, now.UnixMicro()); err != nil {
				return err
			}
		}
		return recordHealth(ctx, tx, c, trial, now)
	})
	if err != nil {
		return fmt.Errorf("record the test of a lane: %w", err)
	}
	return nil
}

// recordHealth stores what a test says about the health of a lane.
func recordHealth(ctx context.Context, tx *sqldb.DB, c Config, trial Trial, now time.Time) error {
	states, err := StatesOf(ctx, tx, c.Tenant, []id.Lane{c.ID})
	if err != nil {
		return err
	}
	before := states[c.ID]
	if trial.Accepted && before.State == Healthy {
		return nil
	}
	recent, err := traffic.ByLane(ctx, tx, c.Tenant, []id.Lane{c.ID}, now.Add(-recoveryWindow), now.Add(time.Minute))
	if err != nil {
		return err
	}
	failure := ""
	if !trial.Accepted {
		failure = trial.Response
	}
	n := recent[c.ID]
	return StoreHealth(ctx, tx, traffic.Lane{Tenant: c.Tenant, Lane: c.ID}, before, before.AfterTest(failure, n.Delivered+n.Deferred > 0, now))
}

// NoteDelivered records that the servers of lanes accept mail, which proves as much as a test. recent is the
// traffic of lanes. Mail of the first minute after a change may have left by the settings before.
func NoteDelivered(ctx context.Context, db *sqldb.DB, recent map[traffic.Lane][]traffic.Bucket, now time.Time) error {
	type candidate struct {
		lane     traffic.Lane
		revision int64
		changed  int64
	}
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every lane */
		SELECT tenant_id, id, revision, COALESCE(revised_at, created_at) FROM mta_config WHERE tested_at IS NULL AND type <> 'sink'`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (c candidate, err error) {
		err = scan(&c.lane.Tenant, &c.lane.Lane, &c.revision, &c.changed)
		return c, err
	})
	if err != nil {
		return fmt.Errorf("list lanes without a test: %w", err)
	}
	for _, c := range list {
		if traffic.Sum(recent[c.lane], sqldb.Time(c.changed).Add(time.Minute)).Delivered == 0 {
			continue
		}
		if _, err := db.Exec(ctx, `UPDATE mta_config SET tested_at = $4 WHERE tenant_id = $1 AND id = $2 AND revision = $3`,
			c.lane.Tenant, c.lane.Lane, c.revision, now.UnixMicro()); err != nil {
			return fmt.Errorf("note that a lane delivers: %w", err)
		}
	}
	return nil
}
