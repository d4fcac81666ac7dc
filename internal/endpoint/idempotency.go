package endpoint

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// An operation that supports Idempotency-Key creates once, however often the request is sent. A key
// belongs to a tenant and is stored for 24 hours from its first use; only successes are stored.
const (
	idempotencyKey = "Idempotency-Key" // the header

	keyLife  = 24 * time.Hour
	keyLease = time.Minute // how long an attempt may take before another may replace it
	keyWait  = 10 * time.Second
	keyPoll  = 50 * time.Millisecond

	cleanupTimeout = time.Second // for writes after the request has ended
)

// keyPattern is the pattern of valid keys; other keys are ignored.
var keyPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{8,128}$`)

// claim is one attempt's reservation of a key.
type claim struct {
	tenant id.Tenant
	key    string
	holder string
	stored []byte // the body that Remember stored
}

// replayIfStored sends the stored response if the request's key has succeeded before, whatever the body is.
func (x *call) replayIfStored(req *http.Request) (bool, error) {
	key := req.Header.Get(idempotencyKey)
	if !x.route.Idempotent || !keyPattern.MatchString(key) {
		return false, nil
	}
	x.claim = &claim{tenant: x.principal.Tenant, key: key, holder: rand.Text()}
	had, err := x.claim.load(req.Context(), x.router.DB, x.router.Now())
	if err != nil || had.status == 0 {
		return false, err
	}
	x.replay(had.status, []byte(had.body))
	return true, nil
}

// replay writes a stored response.
func (x *call) replay(status int, body []byte) {
	x.w.Header().Set("Idempotency-Replay", "true")
	x.writeStored(status, body)
}

func (x *call) writeStored(status int, body []byte) {
	x.w.Header().Set("Content-Type", jsonType)
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body)
}

// keyState is the state of a key: unused, in progress, or succeeded with a response.
type keyState struct {
	inProgress bool
	status     int
	body       string
}

func (c *claim) load(ctx context.Context, db *sqldb.DB, now time.Time) (keyState, error) {
	var lease int64
	var status sql.NullInt64
	var body sql.NullString
	err := db.QueryRow(ctx, `
		SELECT lease_until, status, body FROM idempotency
		WHERE tenant_id = $1 AND key = $2 AND expires_at > $3`,
		c.tenant, c.key, sqldb.Micros(now)).Scan(&lease, &status, &body)
	if errors.Is(err, sqldb.ErrNoRows) {
		return keyState{}, nil
	}
	if err != nil {
		return keyState{}, fmt.Errorf("look up idempotency key: %w", err)
	}
	return keyState{lease > sqldb.Micros(now), int(status.Int64), body.String}, nil
}

// reserve reserves the key for this attempt, unless another attempt has reserved it or has succeeded. It
// deletes keys of the tenant that have expired.
func (c *claim) reserve(ctx context.Context, db *sqldb.DB, now time.Time) (bool, error) {
	at := sqldb.Micros(now)
	if _, err := db.Exec(ctx, `
		DELETE FROM idempotency WHERE tenant_id = $1 AND expires_at <= $2`, c.tenant, at); err != nil {
		return false, fmt.Errorf("delete expired idempotency keys: %w", err)
	}
	n, err := db.Exec(ctx, `
		INSERT INTO idempotency (tenant_id, key, holder, lease_until, expires_at)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant_id, key) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
		WHERE idempotency.status IS NULL AND idempotency.lease_until <= $6`,
		c.tenant, c.key, c.holder, sqldb.Micros(now.Add(keyLease)), sqldb.Micros(now.Add(keyLife)), at)
	if err != nil {
		return false, fmt.Errorf("take idempotency key: %w", err)
	}
	return n == 1, nil
}

// storeResponse stores the outcome. It fails when the attempt has lost its reservation, and with it the
// transaction fails.
func (c *claim) storeResponse(ctx context.Context, tx *sqldb.DB, status int, body string) error {
	n, err := tx.Exec(ctx, `
		UPDATE idempotency SET status = $4, body = $5
		WHERE tenant_id = $1 AND key = $2 AND holder = $3 AND status IS NULL`,
		c.tenant, c.key, c.holder, status, body)
	if err != nil {
		return fmt.Errorf("store response of idempotency key: %w", err)
	}
	if n == 0 {
		return ErrInProgress.Because(errors.New("the lease ran out and another attempt took the key"))
	}
	return nil
}

// release removes the reservation after a failure.
func (c *claim) release(ctx context.Context, db *sqldb.DB) error {
	_, err := db.Exec(ctx, `
		DELETE FROM idempotency WHERE tenant_id = $1 AND key = $2 AND holder = $3 AND status IS NULL`,
		c.tenant, c.key, c.holder)
	return err
}

// Remember stores out, the response of the operation, in tx, the transaction that creates the record. So
// both commit or neither does, and a request that is repeated after a crash neither creates twice nor gets
// a different response.
//
// Operations declared Idempotent call it at the end of their transaction. Without an Idempotency-Key it
// does nothing.
func Remember[Out any](ctx context.Context, tx *sqldb.DB, out Out) error {
	x := callOf(ctx)
	if x == nil || x.claim == nil {
		return nil
	}
	var body bytes.Buffer
	if err := writeJSON(&body, out); err != nil {
		return err
	}
	if err := x.claim.storeResponse(ctx, tx, x.successStatus(out), body.String()); err != nil {
		return err
	}
	x.claim.stored = body.Bytes()
	return nil
}

// runOnce runs an operation under the key of its caller, and sends the stored response, so that the first
// response and the later ones have the same bytes.
func runOnce[Out any](ctx context.Context, x *call, operate func() (Out, error)) error {
	c, db := x.claim, x.router.DB
	if had, err := x.reserveKey(ctx); err != nil {
		return err
	} else if had.status != 0 {
		x.replay(had.status, []byte(had.body))
		return nil
	}
	done := false
	defer func() {
		if done {
			return
		}
		// Also after a panic, a disconnected caller, or the deadline.
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
		defer cancel()
		if err := c.release(late, db); err != nil {
			x.router.Log.Warn("release idempotency key failed; it stays reserved until its lease ends", "err", err, "tenant", c.tenant)
		}
	}()
	out, err := operate()
	if err != nil {
		return err
	}
	if c.stored == nil { // the operation did not call Remember
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
		defer cancel()
		if err := Remember(late, db, out); err != nil {
			return err
		}
	}
	done = true
	x.writeStored(x.successStatus(out), c.stored)
	return nil
}

// reserveKey reserves the key, or returns the answer of the request that had it. It waits for one that is
// still running.
func (x *call) reserveKey(ctx context.Context) (keyState, error) {
	timeout := time.NewTimer(x.router.keyWait)
	defer timeout.Stop()
	poll := time.NewTicker(keyPoll)
	defer poll.Stop()
	for {
		now := x.router.Now()
		had, err := x.claim.load(ctx, x.router.DB, now)
		if err != nil || had.status != 0 {
			return had, err
		}
		if !had.inProgress {
			if taken, err := x.claim.reserve(ctx, x.router.DB, now); taken || err != nil {
				return keyState{}, err
			}
		}
		select {
		case <-poll.C:
		case <-timeout.C:
			return keyState{}, ErrInProgress
		case <-ctx.Done():
			return keyState{}, ctx.Err()
		}
	}
}
