package contactsearch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Indexer puts queued contacts into the index. Searches return the same result whether it
// runs or not, since they compare queued contacts too. Any number of processes may run it.
type Indexer struct {
	DB         *sqldb.DB
	Log        *slog.Logger
	Now        func() time.Time
	Every      time.Duration // 0 means two seconds
	MinSegment int           // entries of a segment, at least; 0 means 512
	MaxSegment int           // and at most; 0 means 8,192, which is also the limit

	tenant   id.Tenant // the last one processed
	segments int       // written since the last vacuum
	busy     bool      // this round found work
}

// Run works until ctx ends.
func (x *Indexer) Run(ctx context.Context) error {
	every := cmp.Or(x.Every, 2*time.Second)
	pause := every
	round := func(ctx context.Context) (bool, error) {
		x.busy = false
		began := x.Now()
		more, err := true, error(nil)
		for more && err == nil && ctx.Err() == nil {
			more, err = x.Tick(ctx)
		}
		pause = every
		if !x.busy { // rounds without work take at most a twentieth of the time
			pause = min(max(every, 20*x.Now().Sub(began)), time.Minute)
		}
		return false, err
	}
	return poll.Loop{Poll: round, Pause: func() time.Duration { return pause }, Log: x.Log, Failed: "index contacts failed"}.Run(ctx)
}

// Tick does one step of work for the next tenant. It reports false at the end of a round
// through all tenants.
func (x *Indexer) Tick(ctx context.Context) (more bool, err error) {
	var next id.Tenant
	err = x.DB.QueryRow(ctx, `
		SELECT COALESCE(MIN(t.tenant_id), 0) FROM (
			SELECT MIN(f.tenant_id) AS tenant_id FROM contact_search_queue f WHERE f.tenant_id > $1
			UNION ALL
			SELECT MIN(s.tenant_id) FROM contact_search_range s WHERE s.tenant_id > $1
			UNION ALL
			SELECT MIN(o.tenant_id) FROM contact_search_removed o WHERE o.tenant_id > $1
			UNION ALL
			SELECT MIN(r.tenant_id) FROM contact_search_rebuild r WHERE r.tenant_id > $1) AS t /* all tenants: in turn */`, x.tenant).Scan(&next)
	if err != nil {
		return false, fmt.Errorf("find contacts to index: %w", err)
	}
	if next == 0 {
		x.tenant = 0
		return false, x.vacuum(ctx, 1)
	}
	more, err = x.step(ctx, next)
	if err != nil {
		x.tenant = next // the next Tick goes on with other tenants
		return false, fmt.Errorf("index the contacts of tenant %s: %w", next, err)
	}
	if more {
		x.busy = true
	} else {
		x.tenant = next
	}
	return true, nil
}

// step does one step of work for a tenant. It reports false if there is no more until the next round.
func (x *Indexer) step(ctx context.Context, tenant id.Tenant) (more bool, err error) {
	least, most := cmp.Or(x.MinSegment, minSegment), cmp.Or(x.MaxSegment, segmentSize)
	if did, err := applyRemovals(ctx, x.DB, tenant); did || err != nil {
		return did, err
	}
	w, err := loadBacklog(ctx, x.DB, tenant, most)
	if err != nil {
		return false, err
	}
	switch {
	case w.inRanges >= most:
		s, err := indexRanges(ctx, x.DB, tenant, most)
		return x.wrote(ctx, tenant, s, err)
	case w.inRanges > 0 && (w.queued+w.inRanges >= most || x.Now().Sub(id.Time(w.first)) > splitAfter):
		list, err := oldestRanges(ctx, x.DB, tenant)
		if err == nil {
			err = splitRanges(ctx, x.DB, tenant, list)
		}
		return err == nil, err
	case w.queued >= most:
		s, err := indexQueue(ctx, x.DB, tenant, most)
		return x.wrote(ctx, tenant, s, err)
	}
	if did, err := continueRebuild(ctx, x.DB, tenant); did || err != nil || w.queued < least {
		return did, err
	}
	// Only one in a round: while contacts are created fast, more of them fill the next segment.
	s, err := indexQueue(ctx, x.DB, tenant, most)
	did, err := x.wrote(ctx, tenant, s, err)
	for did && err == nil {
		did, err = merge(ctx, x.DB, tenant, least, most)
	}
	return false, err
}

// wrote does what follows a new segment. It reports whether there is one.
func (x *Indexer) wrote(ctx context.Context, tenant id.Tenant, s segment, err error) (bool, error) {
	if err != nil || s.number == 0 {
		return false, err
	}
	x.Log.Debug("contacts indexed", "tenant", tenant, "segment", s.number, "entries", s.entries)
	x.busy = true
	x.segments++
	if err := startRebuild(ctx, x.DB, tenant, s.entries); err != nil {
		return false, err
	}
	return true, x.vacuum(ctx, 8)
}

// vacuum frees the space of deleted rows of the queue if at minSize this many segments were
// written. PostgreSQL's autovacuum runs later; until then each search reads the deleted
// rows, which after an import are as many as all contacts.
func (x *Indexer) vacuum(ctx context.Context, segments int) error {
	if x.segments < segments {
		return nil
	}
	x.segments = 0
	if x.DB.Dialect() != sqldb.Postgres {
		return nil
	}
	_, err := x.DB.Exec(ctx, `VACUUM (SKIP_LOCKED) contact_search_queue /* all tenants: each SELECT reads deleted rows */`)
	return err
}

// Entry is a contact with the text to be indexed.
type Entry struct {
	Contact id.Contact
	Text    string
}

func scanEntry(row func(...any) error) (w Entry, err error) {
	err = row(&w.Contact, &w.Text)
	return w, err
}

// indexQueue writes a segment of the oldest queued contacts, at most so many. It returns none if
// another process is indexing them.
func indexQueue(ctx context.Context, db *sqldb.DB, tenant id.Tenant, most int) (s segment, err error) {
	rows, err := db.Query(ctx, `
		SELECT contact_id, search_text FROM contact_search_queue
		WHERE tenant_id = $1 ORDER BY contact_id LIMIT $2`, tenant, most)
	list, err := sqldb.Collect(rows, err, scanEntry)
	if err != nil || len(list) == 0 {
		return segment{}, err
	}
	postings := encode(list) // before the transaction, since it takes long
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		dequeued, err := dequeue(ctx, tx, tenant, list, most)
		if err != nil {
			return err
		}
		postings := postings
		if !slices.Equal(dequeued, list) {
			postings = encode(dequeued)
		}
		s, err = writeSegment(ctx, tx, tenant, dequeued, postings)
		return err
	})
	return unlessContended(s, err)
}

// unlessContended returns a segment, or none and no error if another process has written it, or one of
// its number.
func unlessContended(s segment, err error) (segment, error) {
	if errors.Is(err, errContended) || sqldb.IsUniqueViolation(err) {
		return segment{}, nil
	}
	return s, err
}

// writeSegment writes contacts as the next segment.
func writeSegment(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Entry, postings map[int][]byte) (segment, error) {
	s := segment{entries: len(list)}
	err := tx.QueryRow(ctx, `SELECT COALESCE(MAX(segment), 0) + 1 FROM contact_search_segment WHERE tenant_id = $1`, tenant).Scan(&s.number)
	if err != nil {
		return s, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO contact_search_segment (tenant_id, segment, entries) VALUES ($1, $2, $3)`, tenant, s.number, s.entries)
	if err != nil {
		return s, err
	}
	if err := writeBlocks(ctx, tx, tenant, s.number, list); err != nil {
		return s, err
	}
	return s, writePostings(ctx, tx, tenant, s.number, postings)
}

var errContended = errors.New("another process indexes these contacts")

// dequeue deletes the queue's rows from the first to the last of a list, and returns them
// as they are now: some may have changed or be new. If fewer than half are left, it returns
// errContended.
func dequeue(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Entry, most int) ([]Entry, error) {
	rows, err := tx.Query(ctx, `
		DELETE FROM contact_search_queue WHERE tenant_id = $1 AND contact_id IN (
			SELECT contact_id FROM contact_search_queue
			WHERE tenant_id = $1 AND contact_id >= $2 AND contact_id <= $3
			ORDER BY contact_id LIMIT $4 `+tx.SkipLocked()+`)
		RETURNING contact_id, search_text`, tenant, list[0].Contact, list[len(list)-1].Contact, most)
	dequeued, err := sqldb.Collect(rows, err, scanEntry)
	if err == nil && len(dequeued) <= len(list)/2 {
		return nil, errContended
	}
	slices.SortFunc(dequeued, func(a, b Entry) int { return id.Compare(a.Contact, b.Contact) })
	return dequeued, err
}

// packIDs concatenates the ids of contacts.
func packIDs(list []Entry) []byte {
	b := make([]byte, 0, len(list)*len(id.Contact{}))
	for _, w := range list {
		b = append(b, w.Contact[:]...)
	}
	return b
}

// unpackIDs is the inverse of packIDs.
func unpackIDs(b []byte) []id.Contact {
	list := make([]id.Contact, 0, len(b)/len(id.Contact{}))
	for c := range slices.Chunk(b, len(id.Contact{})) {
		list = append(list, id.Contact(c))
	}
	return list
}

func writeBlocks(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, segment int64, list []Entry) error {
	t := tx.Table("block BIGINT", "contacts BYTEA")
	block := 0
	for part := range slices.Chunk(list, blockSize) {
		t.Add(block, packIDs(part))
		block++
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO contact_search_block (tenant_id, segment, block, contacts)
		SELECT h.tenant_id, CAST($2 AS BIGINT), v.block, v.contacts FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3), t.Args(tenant, segment)...)
	return err
}

// postingsPerInsert is the number of rows of postings that one statement writes.
const postingsPerInsert = 64

func writePostings(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, segment int64, postings map[int][]byte) error {
	rows := slices.Sorted(maps.Keys(postings))
	for len(rows) > 0 {
		n := postingsPerInsert
		if len(rows) < n {
			n = 1 // so that there are only two different statements to prepare
		}
		args := []any{tenant, segment}
		var values strings.Builder
		for _, b := range rows[:n] {
			if values.Len() > 0 {
				values.WriteString(", ")
			}
			k := strconv.Itoa(len(args) + 1)
			l := strconv.Itoa(len(args) + 2)
			values.WriteString("($1, $2, $" + k + ", $" + l + ")")
			args = append(args, b, postings[b])
		}
		_, err := tx.Exec(ctx, `INSERT INTO contact_search_postings (tenant_id, segment, bucket, postings) VALUES `+values.String(), args...)
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}
