package outbox

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// attempt is an attempt that has begun and whose result is not stored yet.
type attempt struct {
	Message id.Message
	Epoch   int64 // of the message when the attempt began
	Lane    id.Lane
	FirstAt int64 // Item.FirstAt, in microseconds
	Version int64 // Item.ContactVersion; not in the database
}

// attemptBytes is the length of an attempt in the database: message, epoch, lane, time.
const attemptBytes = 16 + 8 + 16 + 8

func encodeAttempts(list []attempt) []byte {
	b := make([]byte, 0, len(list)*attemptBytes)
	for _, f := range list {
		b = append(b, f.Message[:]...)
		b = binary.BigEndian.AppendUint64(b, uint64(f.Epoch))
		b = append(b, f.Lane[:]...)
		b = binary.BigEndian.AppendUint64(b, uint64(f.FirstAt))
	}
	return b
}

func decodeAttempts(b []byte) ([]attempt, error) {
	if len(b)%attemptBytes != 0 {
		return nil, fmt.Errorf("%d bytes are not a list of attempts", len(b))
	}
	list := make([]attempt, len(b)/attemptBytes)
	for i := range list {
		f := &list[i]
		copy(f.Message[:], b)
		copy(f.Lane[:], b[24:])
		f.Epoch, f.FirstAt = int64(binary.BigEndian.Uint64(b[16:])), int64(binary.BigEndian.Uint64(b[40:]))
		b = b[attemptBytes:]
	}
	return list, nil
}

func newAttempt(it Item, now time.Time) attempt {
	first := now
	if it.FirstAt != nil {
		first = *it.FirstAt
	}
	return attempt{it.ID, it.Epoch, it.Lane, first.UnixMicro(), it.ContactVersion}
}

// attemptRow is the attempts of one claim that begin together: a row of outbox_attempt.
type attemptRow struct {
	claimKey
	seq      int64
	attempts []attempt
}

// attemptTracker stores the attempts of a node that are in flight, to delete their rows when all of
// a row's attempts are settled.
type attemptTracker struct {
	mu        sync.Mutex
	lastSeq   int64                  // last seq assigned to a row
	begun     map[id.Message]attempt // attempts whose results are not stored
	rowOf     map[id.Message]int64   // seq of the row that contains each of them
	unsettled map[int64]int          // number of them by row; one more while the row is being written
	tidy      map[id.Tenant]bool     // tenants with rows to delete
}

// newRows returns the rows of intents, and counts them as being written until noteWritten is
// called.
func (f *attemptTracker) newRows(intents []Item, now time.Time) []*attemptRow {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unsettled == nil {
		f.begun, f.rowOf, f.unsettled, f.tidy = map[id.Message]attempt{}, map[id.Message]int64{}, map[int64]int{}, map[id.Tenant]bool{}
	}
	var rows []*attemptRow
	byClaim := map[claimKey]*attemptRow{}
	for _, it := range intents {
		s := claimKey{it.Tenant, it.Send, it.Claim}
		if byClaim[s] == nil {
			f.lastSeq++
			byClaim[s] = &attemptRow{claimKey: s, seq: f.lastSeq}
			f.unsettled[f.lastSeq] = 1
			rows = append(rows, byClaim[s])
		}
		byClaim[s].attempts = append(byClaim[s].attempts, newAttempt(it, now))
	}
	return rows
}

// noteWritten is called when rows were written, with the messages whose attempts have begun, or
// were not, with none. It removes the attempts of settled messages.
func (f *attemptTracker) noteWritten(rows []*attemptRow, begun map[id.Message]bool, settled []Result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range settled {
		if seq, ok := f.rowOf[r.Item.ID]; ok {
			delete(f.begun, r.Item.ID)
			delete(f.rowOf, r.Item.ID)
			f.drop(r.Item.Tenant, seq)
		}
	}
	for _, row := range rows {
		for _, l := range row.attempts {
			if begun[l.Message] {
				f.begun[l.Message], f.rowOf[l.Message] = l, row.seq
				f.unsettled[row.seq]++
			}
		}
		f.drop(row.tenant, row.seq)
	}
}

func (f *attemptTracker) drop(tenant id.Tenant, seq int64) {
	if f.unsettled[seq]--; f.unsettled[seq] == 0 {
		delete(f.unsettled, seq)
		f.tidy[tenant] = true
	}
}

// attemptsOf returns the attempts of messages with results; messages that were not tried have none.
func (f *attemptTracker) attemptsOf(results []Result) map[id.Message]attempt {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := make(map[id.Message]attempt, len(results))
	for _, r := range results {
		if l, ok := f.begun[r.Item.ID]; ok {
			m[r.Item.ID] = l
		}
	}
	return m
}

// insertAttempts adds statements to a batch that store which attempts begin, for claims that the
// node still has. No other transaction revokes these before tx ends. The messages are added to
// begun.
func insertAttempts(b *sqldb.Batch, tx *sqldb.DB, owner string, rows []*attemptRow, now time.Time, begun map[id.Message]bool) {
	for tenant, own := range id.ByTenant(rows, func(r *attemptRow) id.Tenant { return r.tenant }) {
		t := tx.Table("send_id UUID", "claim UUID", "seq BIGINT", "messages BYTEA")
		bySeq := make(map[int64]*attemptRow, len(own))
		for _, r := range own {
			t.Add(r.send, r.claim, r.seq, encodeAttempts(r.attempts))
			bySeq[r.seq] = r
		}
		// The claim's row is read and locked in the statement that stores the attempts: Reap and
		// revokeClaims delete it in a transaction of their own, which either comes first, so that nothing
		// begins here, or waits and finds the attempts. A claim some of whose messages were put back has
		// several rows, hence ON CONFLICT.
		b.Queue(`
			INSERT INTO outbox_attempt (tenant_id, owner, seq, send_id, begun_at, messages)
			SELECT c.tenant_id, c.owner, v.seq, c.send_id, CAST($3 AS BIGINT), v.messages
			FROM outbox_claim AS c JOIN `+t.As("v", 4)+` ON v.send_id = c.send_id AND v.claim = c.id
			WHERE c.tenant_id = $1 AND c.owner = $2`+forUpdateOf(tx, "c")+`
			ON CONFLICT (tenant_id, owner, seq) DO NOTHING RETURNING seq`, func(scan func(...any) error) error {
			var seq int64
			if err := scan(&seq); err != nil {
				return err
			}
			for _, l := range bySeq[seq].attempts {
				begun[l.Message] = true
			}
			return nil
		}, t.Args(tenant, owner, now.UnixMicro())...)
	}
}

// forUpdateOf returns the clause that locks the rows a SELECT reads from one of its tables, if the
// database locks rows.
func forUpdateOf(tx *sqldb.DB, table string) string {
	if tx.Dialect() == sqldb.SQLite {
		return ""
	}
	return tx.ForUpdate() + "OF " + table
}

// dropStopped deletes the rows of insertAttempts for sends that turn out not to be open, and
// removes their messages from begun.
func dropStopped(ctx context.Context, tx *sqldb.DB, owner string, rows []*attemptRow, after map[sendKey]*sendState, begun map[id.Message]bool) error {
	for _, r := range rows {
		// A sealed send whose last message is this intent is still open: it waits. Any other phase was
		// set by a pause or cancellation, after which nothing may begin.
		if after[sendKey{r.tenant, r.send}].phase == Open {
			continue
		}
		for _, l := range r.attempts {
			delete(begun, l.Message)
		}
		_, err := tx.Exec(ctx, `DELETE FROM outbox_attempt WHERE tenant_id = $1 AND owner = $2 AND seq = $3`, r.tenant, owner, r.seq)
		if err != nil {
			return err
		}
	}
	return nil
}

// deleteFinishedAttempts deletes the rows whose messages are all settled.
func (n *Node) deleteFinishedAttempts(ctx context.Context) error {
	f := &n.attempts
	// Both are read under one lock: a row that is being written has a seq up to last, and is in
	// unsettled until noteWritten. Without the row, Reap would take its messages for some that were
	// never handed over.
	f.mu.Lock()
	tenants, last := slices.Sorted(maps.Keys(f.tidy)), f.lastSeq
	clear(f.tidy)
	live := slices.Sorted(maps.Keys(f.unsettled))
	f.mu.Unlock()
	for i, tenant := range tenants {
		t := n.DB.Table("seq BIGINT")
		for _, seq := range live {
			t.Add(seq)
		}
		_, err := n.DB.Exec(ctx, `
			DELETE FROM outbox_attempt WHERE tenant_id = $1 AND owner = $2 AND seq <= $3
				AND seq NOT IN (SELECT v.seq FROM `+t.As("v", 4)+`)`, t.Args(tenant, n.Owner, last)...)
		if err != nil {
			f.mu.Lock()
			for _, again := range tenants[i:] {
				f.tidy[again] = true
			}
			f.mu.Unlock()
			return fmt.Errorf("delete settled attempts: %w", err)
		}
	}
	return nil
}

// attemptEpochs returns the messages, with epochs, of the stored attempts of a send; with a zero
// send, of all sends of the tenant. Some of them may be settled.
func attemptEpochs(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (map[id.Message]int64, error) {
	rows, err := db.Query(ctx, `SELECT messages FROM outbox_attempt WHERE tenant_id = $1 AND ($3 OR send_id = $2)`, tenant, send, send.IsZero())
	epochs := map[id.Message]int64{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var b []byte
		if err := scan(&b); err != nil {
			return err
		}
		list, err := decodeAttempts(b)
		for _, l := range list {
			epochs[l.Message] = max(epochs[l.Message], l.Epoch)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load attempts in flight: %w", err)
	}
	return epochs, nil
}

// InFlight returns the queued messages of a send whose attempt has begun and has not ended; with a
// zero send, those of all sends of the tenant. To exclude that attempts begin meanwhile, revoke the
// claims or close the send first.
func InFlight(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) ([]id.Message, error) {
	epochs, err := attemptEpochs(ctx, db, tenant, send)
	if err != nil || len(epochs) == 0 {
		return nil, err
	}
	t := db.Table("id UUID", "epoch BIGINT")
	for m, epoch := range epochs {
		t.Add(m, epoch)
	}
	rows, err := db.Query(ctx, `
		SELECT outbox.id FROM `+t.As("v", 2)+` JOIN outbox ON outbox.tenant_id = $1 AND outbox.id = v.id AND outbox.epoch = v.epoch
		WHERE outbox.state = 'queued'`, t.Args(tenant)...)
	list, err := sqldb.Collect(rows, err, messageID)
	if err != nil {
		return nil, fmt.Errorf("load attempts in flight: %w", err)
	}
	slices.SortFunc(list, id.Compare)
	return list, nil
}

// revokeClaims deletes the claims on a send. No attempt begins under them any more, and no node
// claims before tx ends. A transaction that changes waiting messages without having claimed them
// calls it first, or closes the send.
func revokeClaims(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) error {
	if err := lockTurn(ctx, tx, tenant, send); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM outbox_claim WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	return err
}
