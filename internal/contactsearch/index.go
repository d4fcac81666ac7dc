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

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/poll"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Index brings contacts into the index of the search. Whether it runs, and
// how far it has come, changes how long a search takes and never what it finds:
// whoever is not in the index yet is looked at. Any number of processes may run
// one.
type Index struct {
	DB    *sqldb.DB
	Log   *slog.Logger
	Now   func() time.Time
	Every time.Duration // 0 means two seconds
	Least int           // how many contacts must wait to be worth a segment; 0 means as many as it holds

	at   id.Tenant // the last one that was looked at
	made int       // segments since the last tidying
	busy bool      // there was something to do in this round
}

// Run works until ctx ends.
func (x *Index) Run(ctx context.Context) error {
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
		if !x.busy { // a round that finds nothing takes a twentieth of the time at most
			pause = min(max(every, 20*x.Now().Sub(began)), time.Minute)
		}
		return false, err
	}
	return poll.Loop{Look: round, Pause: func() time.Duration { return pause }, Log: x.Log, Failed: "index contacts failed"}.Run(ctx)
}

// Tick looks at the next tenant, and does for it one step of what there is to
// do. It reports false at the end of a round through all of them.
func (x *Index) Tick(ctx context.Context) (more bool, err error) {
	var next id.Tenant
	err = x.DB.QueryRow(ctx, `
		SELECT COALESCE(MIN(t.tenant_id), 0) FROM (
			SELECT MIN(f.tenant_id) AS tenant_id FROM contact_search_fresh f WHERE f.tenant_id > $1
			UNION ALL
			SELECT MIN(s.tenant_id) FROM contact_search_stretch s WHERE s.tenant_id > $1
			UNION ALL
			SELECT MIN(o.tenant_id) FROM contact_search_forgotten o WHERE o.tenant_id > $1
			UNION ALL
			SELECT MIN(r.tenant_id) FROM contact_search_renewal r WHERE r.tenant_id > $1) AS t /* all tenants: in turn */`, x.at).Scan(&next)
	if err != nil {
		return false, fmt.Errorf("find contacts to index: %w", err)
	}
	if next == 0 {
		x.at = 0
		return false, x.tidy(ctx, 1)
	}
	done, err := x.step(ctx, next)
	if err != nil {
		x.at = next // the others go on
		return false, fmt.Errorf("index the contacts of tenant %s: %w", next, err)
	}
	if done {
		x.busy = true
	} else {
		x.at = next
	}
	return true, nil
}

// step reports whether there was anything to do.
func (x *Index) step(ctx context.Context, tenant id.Tenant) (bool, error) {
	least := x.Least
	if least == 0 {
		least = segmentSize
	}
	if did, err := forget(ctx, x.DB, tenant); did || err != nil {
		return did, err
	}
	w, err := countWaiting(ctx, x.DB, tenant, least)
	if err != nil {
		return false, err
	}
	var segment int64
	switch {
	case w.stretched >= least:
		segment, err = indexStretches(ctx, x.DB, tenant)
	case w.stretched > 0 && (w.fresh+w.stretched >= least || x.Now().Sub(id.Time(w.first)) > settleAfter):
		list, err := oldestStretches(ctx, x.DB, tenant)
		if err == nil {
			err = settle(ctx, x.DB, tenant, list)
		}
		return err == nil, err
	case w.fresh >= least:
		segment, err = index(ctx, x.DB, tenant)
	default:
		return renew(ctx, x.DB, tenant)
	}
	if err != nil || segment == 0 {
		return false, err
	}
	x.Log.Debug("contacts indexed", "tenant", tenant, "segment", segment)
	x.made++
	if segment%looked == 0 {
		if err := inspect(ctx, x.DB, tenant); err != nil {
			return false, err
		}
	}
	return true, x.tidy(ctx, 8)
}

// tidy frees, after so many segments, the room of those who waited. PostgreSQL
// would do that by itself some time, but until then each search passes over
// them, and after an import they are as many as all contacts.
func (x *Index) tidy(ctx context.Context, segments int) error {
	if x.made < segments {
		return nil
	}
	x.made = 0
	if x.DB.Dialect() != sqldb.Postgres {
		return nil
	}
	_, err := x.DB.Exec(ctx, `VACUUM (SKIP_LOCKED) contact_search_fresh /* all tenants: each SELECT passes over what is gone */`)
	return err
}

// Entry is somebody who is not in the index as they are now.
type Entry struct {
	Contact id.Contact
	Text    string
}

func scanEntry(row func(...any) error) (w Entry, err error) {
	err = row(&w.Contact, &w.Text)
	return w, err
}

// index makes a segment of the contacts that wait, the oldest first, and returns
// its number; 0: somebody else is making it.
func index(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (segment int64, err error) {
	rows, err := db.Query(ctx, `
		SELECT contact_id, search_text FROM contact_search_fresh
		WHERE tenant_id = $1 ORDER BY contact_id LIMIT $2`, tenant, segmentSize)
	list, err := sqldb.Collect(rows, err, scanEntry)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	postings := encode(list) // the work is done before the transaction
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		taken, err := takeEntries(ctx, tx, tenant, list)
		if err != nil {
			return err
		}
		postings := postings
		if !slices.Equal(taken, list) {
			postings = encode(taken)
		}
		segment, err = writeSegment(ctx, tx, tenant, taken, postings)
		return err
	})
	if errors.Is(err, errTaken) || sqldb.IsUniqueViolation(err) { // they, or the number
		return 0, nil
	}
	return segment, err
}

// writeSegment writes contacts as the next segment, and returns its number.
func writeSegment(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Entry, postings map[int][]byte) (segment int64, err error) {
	err = tx.QueryRow(ctx, `
		SELECT COALESCE(MAX(n.last), 0) + 1 FROM (
			SELECT MAX(b.segment) AS last FROM contact_search_block b WHERE b.tenant_id = $1
			UNION ALL
			SELECT r.through_segment FROM contact_search_renewal r WHERE r.tenant_id = $1) AS n`, tenant).Scan(&segment)
	if err != nil {
		return 0, err
	}
	if err := writeBlocks(ctx, tx, tenant, segment, list); err != nil {
		return 0, err
	}
	return segment, writePostings(ctx, tx, tenant, segment, postings)
}

var errTaken = errors.New("others index these contacts")

// takeEntries takes away, and returns, those who wait from the first to the last of a
// list, as they are now: they may have changed, and there may be others.
func takeEntries(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Entry) ([]Entry, error) {
	rows, err := tx.Query(ctx, `
		DELETE FROM contact_search_fresh WHERE tenant_id = $1 AND contact_id IN (
			SELECT contact_id FROM contact_search_fresh
			WHERE tenant_id = $1 AND contact_id >= $2 AND contact_id <= $3
			ORDER BY contact_id LIMIT $4 `+tx.SkipLocked()+`)
		RETURNING contact_id, search_text`, tenant, list[0].Contact, list[len(list)-1].Contact, segmentSize)
	taken, err := sqldb.Collect(rows, err, scanEntry)
	if err == nil && len(taken) <= len(list)/2 {
		return nil, errTaken
	}
	slices.SortFunc(taken, func(a, b Entry) int { return id.Compare(a.Contact, b.Contact) })
	return taken, err
}

// pack writes the ids of contacts behind each other.
func pack(list []Entry) []byte {
	b := make([]byte, 0, len(list)*len(id.Contact{}))
	for _, w := range list {
		b = append(b, w.Contact[:]...)
	}
	return b
}

// unpack reads what pack wrote.
func unpack(b []byte) []id.Contact {
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
		t.Add(block, pack(part))
		block++
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO contact_search_block (tenant_id, segment, block, contacts)
		SELECT h.tenant_id, CAST($2 AS BIGINT), v.block, v.contacts FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3), t.Args(tenant, segment)...)
	return err
}

// postingsAtOnce is how many rows of postings one statement writes.
const postingsAtOnce = 64

func writePostings(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, segment int64, postings map[int][]byte) error {
	rows := slices.Sorted(maps.Keys(postings))
	for len(rows) > 0 {
		n := postingsAtOnce
		if len(rows) < n {
			n = 1 // two texts of statements are enough
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
