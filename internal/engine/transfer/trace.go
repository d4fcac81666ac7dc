package transfer

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// maxTraced is how many bytes of what imports changed are kept of a tenant. An import that would need more cannot be
// undone.
const maxTraced = 256 << 20

// trace is what a step of an import did to contacts.
type trace struct {
	at      time.Time
	created []id.Contact
	segment id.Segment
	listed  []id.Contact // that were there before
	changes traceChanges
	changed map[id.Contact]int // indexes in changes.Changed
}

// traceChanges is the part of a trace that is stored as JSON.
type traceChanges struct {
	// Revisions has the revision after the step of contacts that the import created: of those that the step created if it
	// is not 1, and of those that an earlier step created and this one changed.
	Revisions map[id.Contact]int64 `json:"r,omitempty"`
	Changed   []contact.Replaced   `json:"c,omitempty"`
}

// add adds a contact that was saved. again says that an earlier step of the import had its address, and own that it
// created the contact.
func (t *trace) add(o contact.Outcome, again, own bool) {
	switch {
	case o.Created:
		t.created = append(t.created, o.Contact.ID)
		if o.Contact.Revision != 1 {
			t.revise(o.Contact)
		}
	case own && o.Changed:
		t.revise(o.Contact)
	case o.Replaced != nil:
		o.Replaced.Again = again
		t.change(*o.Replaced)
	}
}

func (t *trace) change(r contact.Replaced) {
	list := &t.changes.Changed
	if i, again := t.changed[r.Contact]; again {
		(*list)[i] = (*list)[i].With(r)
		return
	}
	if t.changed == nil {
		t.changed = map[id.Contact]int{}
	}
	t.changed[r.Contact] = len(*list)
	*list = append(*list, r)
}

func (t *trace) revise(c contact.Contact) {
	if t.changes.Revisions == nil {
		t.changes.Revisions = map[id.Contact]int64{}
	}
	t.changes.Revisions[c.ID] = c.Revision
}

// list notes the contacts that the step added to a list.
func (t *trace) list(s id.Segment, added []id.Contact) {
	created := make(map[id.Contact]bool, len(t.created))
	for _, c := range t.created {
		created[c] = true
	}
	t.segment = s
	for _, c := range added {
		if !created[c] {
			t.listed = append(t.listed, c)
		}
	}
}

// contacts returns how many contacts the step created or changed.
func (t *trace) contacts() int {
	n := len(t.created) + len(t.changes.Changed)
	for _, c := range t.listed {
		if _, counted := t.changed[c]; !counted {
			n++
		}
	}
	return n
}

// isEmpty reports whether the step did nothing that can be undone.
func (t *trace) isEmpty() bool {
	return len(t.created)+len(t.listed)+len(t.changes.Changed)+len(t.changes.Revisions) == 0
}

// traced is what is stored of the steps of an import.
type traced struct {
	times map[int64]bool // of the steps
	bytes int64          // of the tenant
	full  bool           // the import cannot be undone
}

// step is a stored trace.
type step struct {
	at    int64
	bytes int64
	full  bool
}

// loadTraced reads what is stored of an import that begins or continues.
func loadTraced(ctx context.Context, db *sqldb.DB, tenant id.Tenant, imported id.Job) (traced, error) {
	t := traced{times: map[int64]bool{}}
	err := db.QueryRow(ctx, `
		SELECT COALESCE(SUM(COALESCE(length(created), 0) + COALESCE(length(listed), 0) + COALESCE(length(changed), 0)), 0)
		FROM import_change WHERE tenant_id = $1 /* reads the tenant: the lengths of its rows of a week */`, tenant).Scan(&t.bytes)
	if err != nil {
		return t, fmt.Errorf("measure what imports changed: %w", err)
	}
	t.full = t.bytes > maxTraced
	rows, err := db.Query(ctx, `SELECT at FROM import_change WHERE tenant_id = $1 AND job_id = $2`, tenant, imported)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var at int64
		err := scan(&at)
		t.times[at] = true
		return err
	})
	if err != nil {
		return t, fmt.Errorf("read the steps of an import: %w", err)
	}
	return t, nil
}

// after returns t after a step has been committed.
func (t traced) after(s step) traced {
	t.bytes, t.full = t.bytes+s.bytes, t.full || s.full
	if s.bytes > 0 {
		t.times[s.at] = true
	}
	return t
}

// traceRow adds a row that was saved, whose address has a hash, to a trace.
func (im *importRun) traceRow(t *trace, o contact.Outcome, hash uint64) {
	again := im.seen.has(hash)
	t.add(o, again, again && im.traced.times[sqldb.Micros(o.Contact.CreatedAt)])
}

// storeTrace stores the trace of a step in its transaction. If a tenant would keep too much, nothing of the import is
// kept, since half an undo would be worse than none.
func (im *importRun) storeTrace(ctx context.Context, tx *sqldb.DB, t trace, row int64) (step, error) {
	if im.DryRun || im.traced.full || t.isEmpty() {
		return step{}, nil
	}
	tenant := im.Job.Tenant
	changed, whom, err := t.changes.pack()
	if err != nil {
		return step{}, err
	}
	created, listed := packContacts(t.created), packContacts(t.listed)
	s := step{at: sqldb.Micros(t.at), bytes: int64(len(created) + len(listed) + len(changed))}
	if im.traced.bytes+s.bytes > maxTraced {
		_, err := tx.Exec(ctx, `DELETE FROM import_change WHERE tenant_id = $1 AND job_id = $2`, tenant, im.Job.ID)
		return step{full: true}, err
	}
	pos, err := journal.End(ctx, tx, tenant)
	if err != nil {
		return step{}, err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO import_change (tenant_id, job_id, row_number, at, pos, contacts, segment_id, created, listed, changed, whom)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		tenant, im.Job.ID, row, s.at, pos, t.contacts(), sqldb.Null(t.segment), created, listed, changed, whom)
	if err != nil {
		return step{}, fmt.Errorf("store what an import changed: %w", err)
	}
	return s, nil
}

// packContacts packs the ids of contacts; nil if there are none. Those that were made together take some bytes each.
func packContacts(list []id.Contact) []byte {
	list = slices.SortedFunc(slices.Values(list), id.Compare)
	var packed []byte
	var last id.Contact
	for _, c := range slices.Compact(list) {
		high := binary.BigEndian.Uint64(c[:8]) - binary.BigEndian.Uint64(last[:8])
		packed = binary.AppendUvarint(packed, high)
		if low := binary.BigEndian.Uint64(c[8:]); high == 0 {
			packed = binary.AppendUvarint(packed, low-binary.BigEndian.Uint64(last[8:]))
		} else {
			packed = binary.BigEndian.AppendUint64(packed, low)
		}
		last = c
	}
	return packed
}

var errPacked = errors.New("a packed list of contacts is damaged")

func unpackContacts(packed []byte) ([]id.Contact, error) {
	var list []id.Contact
	var c id.Contact
	for len(packed) > 0 {
		high, n := binary.Uvarint(packed)
		if n <= 0 {
			return nil, errPacked
		}
		packed = packed[n:]
		low := binary.BigEndian.Uint64(c[8:])
		if high == 0 {
			more, n := binary.Uvarint(packed)
			if n <= 0 {
				return nil, errPacked
			}
			low, packed = low+more, packed[n:]
		} else {
			if len(packed) < 8 {
				return nil, errPacked
			}
			low, packed = binary.BigEndian.Uint64(packed), packed[8:]
		}
		binary.BigEndian.PutUint64(c[:8], binary.BigEndian.Uint64(c[:8])+high)
		binary.BigEndian.PutUint64(c[8:], low)
		list = append(list, c)
	}
	return list, nil
}

// tailBytes is how many bytes of an id are in the index of the contacts of a step.
const tailBytes = 4

// pack returns the compressed changes, and the ends of the ids of the contacts whose former values are in them; nil if
// there are none.
func (c traceChanges) pack() (packed, whom []byte, err error) {
	if len(c.Revisions)+len(c.Changed) == 0 {
		return nil, nil, nil
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		err = errors.Join(json.NewEncoder(w).Encode(c), w.Close())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("pack what an import changed: %w", err)
	}
	tails := make([][]byte, len(c.Changed))
	for i, r := range c.Changed {
		tails[i] = tailOf(r.Contact)
	}
	slices.SortFunc(tails, bytes.Compare)
	return b.Bytes(), bytes.Join(tails, nil), nil
}

func tailOf(c id.Contact) []byte { return slices.Clone(c[len(c)-tailBytes:]) }

func unpackChanges(packed []byte) (c traceChanges, err error) {
	if len(packed) == 0 {
		return c, nil
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, fmt.Errorf("unpack what an import changed: %w", err)
	}
	return c, nil
}
