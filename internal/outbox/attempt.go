package outbox

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// attempt is an attempt that has begun and whose end is not written yet.
type attempt struct {
	Message id.Message
	Epoch   int64 // of the message when the attempt began
	Lane    id.MTAConfig
	FirstAt int64 // Item.FirstAt, in microseconds
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
		return nil, fmt.Errorf("%d bytes are no list of attempts", len(b))
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
	return attempt{it.ID, it.Epoch, it.Lane, first.UnixMicro()}
}

// attemptRow is attempts of one claim that begin together: a row of outbox_attempt.
type attemptRow struct {
	claimKey
	seq      int64
	attempts []attempt
}

// attemptTracker are the attempts of a node that are under way.
type attemptTracker struct {
	mu       sync.Mutex
	last     int64                  // number given
	of       map[id.Message]attempt // whose end is not written
	in       map[id.Message]int64   // the number of the row that each of them is in
	left     map[int64]int          // how many of each row there are; rows that are being written count one more
	finished map[id.Tenant]bool     // whose rows are to be tidied
}

// newRows makes the rows of intents, which are being written from then on.
func (f *attemptTracker) newRows(intents []Item, now time.Time) []*attemptRow {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == nil {
		f.of, f.in, f.left, f.finished = map[id.Message]attempt{}, map[id.Message]int64{}, map[int64]int{}, map[id.Tenant]bool{}
	}
	var rows []*attemptRow
	of := map[claimKey]*attemptRow{}
	for _, it := range intents {
		s := claimKey{it.Tenant, it.Send, it.Claim}
		if of[s] == nil {
			f.last++
			of[s] = &attemptRow{claimKey: s, seq: f.last}
			f.left[f.last] = 1
			rows = append(rows, of[s])
		}
		of[s].attempts = append(of[s].attempts, newAttempt(it, now))
	}
	return rows
}

// noteWritten notes that rows were written, if they were, and that messages have
// landed.
func (f *attemptTracker) noteWritten(rows []*attemptRow, begun map[id.Message]bool, landed []Result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range landed {
		if seq, ok := f.in[r.Item.ID]; ok {
			delete(f.of, r.Item.ID)
			delete(f.in, r.Item.ID)
			f.drop(r.Item.Tenant, seq)
		}
	}
	for _, row := range rows {
		for _, l := range row.attempts {
			if begun[l.Message] {
				f.of[l.Message], f.in[l.Message] = l, row.seq
				f.left[row.seq]++
			}
		}
		f.drop(row.tenant, row.seq)
	}
}

func (f *attemptTracker) drop(tenant id.Tenant, seq int64) {
	if f.left[seq]--; f.left[seq] == 0 {
		delete(f.left, seq)
		f.finished[tenant] = true
	}
}

// begunAt returns which of the messages were tried, and when that began.
func (f *attemptTracker) begunAt(results []Result) map[id.Message]attempt {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := make(map[id.Message]attempt, len(results))
	for _, r := range results {
		if l, ok := f.of[r.Item.ID]; ok {
			m[r.Item.ID] = l
		}
	}
	return m
}

// insertAttempts adds to a batch what writes which attempts begin, of claims that are still
// the node's, which nobody takes from it before tx ends. Their messages are added to
// begun.
func insertAttempts(b *sqldb.Batch, tx *sqldb.DB, owner string, rows []*attemptRow, now time.Time, begun map[id.Message]bool) {
	for tenant, own := range byTenant(rows, func(r *attemptRow) id.Tenant { return r.tenant }) {
		t := tx.Table("send_id UUID", "claim UUID", "seq BIGINT", "messages BYTEA")
		bySeq := make(map[int64]*attemptRow, len(own))
		for _, r := range own {
			t.Add(r.send, r.claim, r.seq, encodeAttempts(r.attempts))
			bySeq[r.seq] = r
		}
		// A claim of which something was put back has several rows.
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

// forUpdateOf locks the rows that a SELECT finds in one of its tables, where the
// database locks rows.
func forUpdateOf(tx *sqldb.DB, table string) string {
	if tx.Dialect() == sqldb.SQLite {
		return ""
	}
	return tx.ForUpdate() + "OF " + table
}

// dropStopped takes back what begin wrote of sends that turn out not to be open.
func dropStopped(ctx context.Context, tx *sqldb.DB, owner string, rows []*attemptRow, after map[sendKey]*standing, begun map[id.Message]bool) error {
	for _, r := range rows {
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

// deleteFinishedAttempts deletes the rows of which all messages have landed.
func (n *Node) deleteFinishedAttempts(ctx context.Context) error {
	f := &n.attempts
	f.mu.Lock()
	landed, last := slices.Sorted(maps.Keys(f.finished)), f.last
	clear(f.finished)
	live := slices.Sorted(maps.Keys(f.left))
	f.mu.Unlock()
	for i, tenant := range landed {
		t := n.DB.Table("seq BIGINT")
		for _, seq := range live {
			t.Add(seq)
		}
		_, err := n.DB.Exec(ctx, `
			DELETE FROM outbox_attempt WHERE tenant_id = $1 AND owner = $2 AND seq <= $3
				AND seq NOT IN (SELECT v.seq FROM `+t.As("v", 4)+`)`, t.Args(tenant, n.Owner, last)...)
		if err != nil {
			f.mu.Lock()
			for _, again := range landed[i:] {
				f.finished[again] = true
			}
			f.mu.Unlock()
			return fmt.Errorf("delete attempts that have landed: %w", err)
		}
	}
	return nil
}

// notedEpochs returns the attempts that are noted of a send; with none, of all
// sends of the tenant. Some of them may have landed.
func notedEpochs(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (map[id.Message]int64, error) {
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
		return nil, fmt.Errorf("find attempts under way: %w", err)
	}
	return epochs, nil
}

// InFlight returns the queued messages of a send whose attempt has begun and
// has no end yet; without a send, those of the tenant. Whoever wants to be sure
// that no attempt begins meanwhile has revoked the claims, or closed the send.
func InFlight(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) ([]id.Message, error) {
	epochs, err := notedEpochs(ctx, db, tenant, send)
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
		return nil, fmt.Errorf("find attempts under way: %w", err)
	}
	slices.SortFunc(list, id.Compare)
	return list, nil
}

// revokeClaims takes the claims on a send from whoever holds them: no attempt begins
// under them any more, and nobody claims before tx ends. Whoever changes waiting
// messages without having claimed them does this first, or closes the send.
func revokeClaims(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) error {
	if err := lockTurn(ctx, tx, tenant, send); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM outbox_claim WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	return err
}
