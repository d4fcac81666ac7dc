package endpoint

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// An operation that supports Idempotency-Key creates once, however often the request is sent. A key
// is stored for 24 hours from its first use; only successes are stored.
//
// The keys of an Idempotent operation belong to the tenant, those of an operation that supports keys of
// sessions only (OncePerKey) to the user and the path; their responses are sealed. The operation stores
// the response in the transaction that has its effect (Remember). If its effect is outside of the database,
// such as a mail, it stores before it that it has begun (Begin), and the response is stored afterwards. A
// process that dies in between leaves a key that has begun: repetitions are refused, since the effect
// may have happened and its response is not known.
const (
	idempotencyKey = "Idempotency-Key" // the header

	keyLife  = 24 * time.Hour
	keyLease = time.Minute // how long an attempt may take before another may replace it, at least
	keyWait  = 10 * time.Second
	keyPoll  = 50 * time.Millisecond

	cleanupTimeout = time.Second // for writes after the request has ended
)

// keyPattern is the pattern of valid keys; other keys are ignored.
var keyPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{8,128}$`)

// sessionKeys is the prefix of stored keys of sessions, which no other key has.
const sessionKeys = "session:"

// claim is one attempt's reservation of a key.
type claim struct {
	tenant id.Tenant
	key    string
	holder string
	lease  time.Duration
	box    *secret.Box // seals the stored body; nil: it is stored as it is
	stored []byte      // the body that Remember stored
	begun  bool        // Begin was called
}

// Once returns op as an operation whose requests by sessions have an effect once for each Idempotency-Key.
func (op Op) Once() Op {
	op.OncePerKey = true
	return op
}

// takesKeys reports whether the operation supports Idempotency-Key, for sessions or for API keys.
func (rt *route) takesKeys(session bool) bool { return rt.Idempotent || rt.OncePerKey && session }

// claimOf returns the claim for the request's key; nil if it has none, or none that counts.
func (x *call) claimOf(req *http.Request) *claim {
	key := req.Header.Get(idempotencyKey)
	if !keyPattern.MatchString(key) {
		return nil
	}
	c := &claim{tenant: x.principal.Tenant, key: key, holder: rand.Text(), lease: keyLease}
	switch {
	case x.route.Idempotent:
		return c
	case !x.route.OncePerKey || x.principal.Kind != auth.KindSession || x.router.Box == nil:
		return nil
	}
	// Hashed, since paths are long.
	scope := sha256.Sum256([]byte(x.principal.User.String() + "\n" + x.route.Name + "\n" + req.URL.EscapedPath() + "\n" + key))
	c.key, c.box = sessionKeys+base64.RawURLEncoding.EncodeToString(scope[:]), x.router.Box
	c.lease = max(keyLease, x.route.timeout(x.router.Timeout)+keyLease)
	return c
}

// place is where the stored body is, so that it cannot be opened elsewhere.
func (c *claim) place() string { return fmt.Sprintf("idempotency/%d/%s", c.tenant, c.key) }

// replayIfStored sends the stored response if the request's key has succeeded before, whatever the body is.
func (x *call) replayIfStored(req *http.Request) (bool, error) {
	if x.claim = x.claimOf(req); x.claim == nil {
		return false, nil
	}
	had, err := x.claim.load(req.Context(), x.router.DB, x.router.Now())
	if err != nil || had.status == 0 {
		return false, err
	}
	x.replay(had)
	return true, nil
}

// replay writes a stored response.
func (x *call) replay(had keyState) {
	x.w.Header().Set("Idempotency-Replay", "true")
	x.etag = had.etag
	x.writeStored(had.status, []byte(had.body))
}

func (x *call) writeStored(status int, body []byte) {
	x.setETag()
	x.w.Header().Set("Content-Type", jsonType)
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body)
}

// keyState is the state of a key: unused, in progress, interrupted, or succeeded with a response.
type keyState struct {
	inProgress bool // the lease of an attempt has not ended
	begun      bool // an attempt has begun to have an effect
	status     int
	body       string
	etag       string // empty: none
}

func (c *claim) load(ctx context.Context, db *sqldb.DB, now time.Time) (keyState, error) {
	var lease int64
	var begun bool
	var status sql.NullInt64
	var body, etag sql.NullString
	err := db.QueryRow(ctx, `
		SELECT lease_until, begun, status, body, etag FROM idempotency
		WHERE tenant_id = $1 AND key = $2 AND expires_at > $3`,
		c.tenant, c.key, sqldb.Micros(now)).Scan(&lease, &begun, &status, &body, &etag)
	if errors.Is(err, sqldb.ErrNoRows) {
		return keyState{}, nil
	}
	if err != nil {
		return keyState{}, fmt.Errorf("look up idempotency key: %w", err)
	}
	if c.box != nil && status.Valid {
		plain, err := c.box.Open(body.String, c.place())
		if err != nil {
			return keyState{}, fmt.Errorf("open the response of an idempotency key: %w", err)
		}
		body.String = string(plain)
	}
	return keyState{lease > sqldb.Micros(now), begun, int(status.Int64), body.String, etag.String}, nil
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
		WHERE idempotency.status IS NULL AND NOT idempotency.begun AND idempotency.lease_until <= $6`,
		c.tenant, c.key, c.holder, sqldb.Micros(now.Add(c.lease)), sqldb.Micros(now.Add(keyLife)), at)
	if err != nil {
		return false, fmt.Errorf("take idempotency key: %w", err)
	}
	return n == 1, nil
}

// errLost means that the lease of an attempt has ended, and another attempt has reserved the key.
var errLost = ErrInProgress.Because(errors.New("the lease ran out and another attempt took the key"))

// errInterrupted means that an attempt has begun to have an effect, and that its process died before it stored
// the response.
var errInterrupted = ErrInProgress.With(map[string]string{"reason": "interrupted"}).
	Sayf("an earlier request with this key was interrupted; find out what it did before you use another key")

// storeResponse stores the outcome. It fails when the attempt has lost its reservation, and with it the
// transaction fails.
func (c *claim) storeResponse(ctx context.Context, tx *sqldb.DB, status int, body, etag string) error {
	if c.box != nil {
		body = c.box.Seal([]byte(body), c.place())
	}
	n, err := tx.Exec(ctx, `
		UPDATE idempotency SET status = $4, body = $5, etag = $6
		WHERE tenant_id = $1 AND key = $2 AND holder = $3 AND status IS NULL`,
		c.tenant, c.key, c.holder, status, body, sqldb.Null(etag))
	if err != nil {
		return fmt.Errorf("store response of idempotency key: %w", err)
	}
	if n == 0 {
		return errLost
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

// begin stores that the attempt has begun to have an effect. It fails when the attempt has lost its
// reservation.
func (c *claim) begin(ctx context.Context, db *sqldb.DB) error {
	n, err := db.Exec(ctx, `
		UPDATE idempotency SET begun = true WHERE tenant_id = $1 AND key = $2 AND holder = $3 AND status IS NULL`,
		c.tenant, c.key, c.holder)
	if err != nil {
		return fmt.Errorf("begin under an idempotency key: %w", err)
	}
	if n == 0 {
		return errLost
	}
	return nil
}

// Begin stores that the operation begins to have an effect which is not a part of a transaction, so that a
// request that is repeated after a crash does not have it again. db may be a transaction. Without an
// Idempotency-Key it does nothing.
func Begin(ctx context.Context, db *sqldb.DB) error {
	x := callOf(ctx)
	if x == nil || x.claim == nil {
		return nil
	}
	if err := x.claim.begin(ctx, db); err != nil {
		return err
	}
	x.claim.begun = true
	return nil
}

// HasKey reports whether the request of ctx has an Idempotency-Key that its operation supports.
func HasKey(ctx context.Context) bool {
	x := callOf(ctx)
	return x != nil && x.claim != nil
}

// Remember stores out, the response of the operation, in tx, the transaction that creates the record. So
// both commit or neither does, and a request that is repeated after a crash neither creates twice nor gets
// a different response.
//
// Operations call it at the end of their transaction. Without an Idempotency-Key it does nothing.
func Remember[Out any](ctx context.Context, tx *sqldb.DB, out Out) error {
	x := callOf(ctx)
	if x == nil || x.claim == nil {
		return nil
	}
	var body bytes.Buffer
	if err := writeJSON(&body, out); err != nil {
		return err
	}
	if err := x.claim.storeResponse(ctx, tx, x.successStatus(out), body.String(), x.etag); err != nil {
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
		x.replay(had)
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
	if c.stored == nil { // its effect was not a transaction
		done = c.begun // if the response cannot be stored, the effect must still not be repeated
		if !c.begun {
			x.router.Log.Error("an operation has stored neither its response nor that it begins; a crash at this point would repeat it", "operation", x.operationName())
		}
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
			if had.begun {
				return keyState{}, errInterrupted
			}
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

// PruneKeys deletes up to limit idempotency keys of a tenant that expired before a time, and returns how
// many it deleted. Reserving a key does the same, so it is for tenants that stopped doing so.
func PruneKeys(ctx context.Context, db *sqldb.DB, t id.Tenant, before time.Time, limit int) (int, error) {
	n, err := db.Exec(ctx, `
		DELETE FROM idempotency WHERE tenant_id = $1 AND key IN (
			SELECT i.key FROM idempotency AS i WHERE i.tenant_id = $1 AND i.expires_at <= $2 ORDER BY i.expires_at LIMIT $3)`,
		t, sqldb.Micros(before), limit)
	if err != nil {
		return 0, fmt.Errorf("delete expired idempotency keys: %w", err)
	}
	return int(n), nil
}

// EraseResponses deletes the stored responses to sessions, when personal data are erased: any of them may
// contain the person, and they are sealed.
func EraseResponses(ctx context.Context, tx *sqldb.DB, t id.Tenant) error {
	_, err := tx.Exec(ctx, `DELETE FROM idempotency WHERE tenant_id = $1 AND key >= $2 AND key < $3 AND status IS NOT NULL`,
		t, sessionKeys, sessionKeys+"~")
	if err != nil {
		return fmt.Errorf("erase stored responses: %w", err)
	}
	return nil
}
