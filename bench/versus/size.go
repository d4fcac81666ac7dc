package versus

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	_ "github.com/ncruces/go-sqlite3/driver" // reads the size of databases

	"github.com/packetboat/packetboat/bench/site"
)

// extent is how large a database is, without the files of jobs: those of our imports
// are kept for a while.
type extent struct {
	size, packed int64            // bytes, as it is and after VACUUM
	objects      map[string]int64 // bytes of each table and index, as it is
}

// withoutFiles takes from a whole what files of jobs are in it.
func withoutFiles(whole int64, objects map[string]int64) int64 {
	for name, n := range objects {
		if strings.Contains(name, "job_file") {
			whole -= n
		}
	}
	return whole
}

// size measures how many bytes of the database are taken by a contact that was
// imported, by its membership of a list, and by a message that was sent, each with its
// entries of the journal.
func size(ctx context.Context, o options, s *instance) (f figures, err error) {
	ready, _, err := s.audience(ctx, 1)
	if err != nil {
		return f, err
	}
	empty, err := s.extent(ctx, o)
	if err != nil {
		return f, err
	}
	list, err := ready.Key.Must(ctx, "POST", "/segments", map[string]any{"name": "All", "type": "static"})
	if err != nil {
		return f, err
	}
	ready.List, _ = list["segment_key"].(string)
	if err := s.peopleFrom(ctx, "", 1, o.N); err != nil {
		return f, err
	}
	people, err := s.extent(ctx, o)
	if err != nil {
		return f, err
	}
	if err := s.peopleFrom(ctx, ready.List, 1, o.N); err != nil { // known contacts, which become members
		return f, err
	}
	members, err := s.extent(ctx, o)
	if err != nil {
		return f, err
	}
	into, err := o.StartSink(ctx)
	if err != nil {
		return f, err
	}
	defer into.Stop()
	lane, err := ready.Lane(ctx, "Bench", into.Address, o.Connections, false)
	if err != nil {
		return f, err
	}
	if _, _, err := s.timed(ctx, ready, lane, o.N); err != nil {
		return f, err
	}
	sent, err := s.extent(ctx, o)
	if err != nil {
		return f, err
	}
	per := func(a, b int64) float64 { return float64(a-b) / float64(o.N) }
	f.add("bytes a contact", per(people.size, empty.size), 0)
	f.add("bytes a contact, packed", per(people.packed, empty.packed), 0)
	f.add("bytes a membership", per(members.size, people.size), 0)
	f.add("bytes a membership, packed", per(members.packed, people.packed), 0)
	f.add("bytes a message", per(sent.size, members.size), 0)
	f.add("bytes a message, packed", per(sent.packed, members.packed), 0)
	f.add("bytes all", per(sent.size, empty.size), 0)
	f.add("bytes all, packed", per(sent.packed, empty.packed), 0)
	f.note = breakdown([]extent{empty, people, members, sent}, o.N)
	return f, nil
}

// breakdown is a row for each table and index that a contact, a membership or a
// message takes a byte of.
func breakdown(steps []extent, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-48s %10s %12s %10s\n", "bytes", "a contact", "a membership", "a message")
	last := steps[len(steps)-1].objects
	names := slices.Collect(maps.Keys(last))
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(last[y], last[x]), cmp.Compare(x, y)) })
	for _, name := range names {
		var per [3]float64
		seen := false
		for i := range per {
			per[i] = float64(steps[i+1].objects[name]-steps[i].objects[name]) / float64(n)
			seen = seen || per[i] >= 1 || per[i] <= -1
		}
		if seen {
			fmt.Fprintf(&b, "%-48s %10.0f %12.0f %10.0f\n", name, per[0], per[1], per[2])
		}
	}
	return b.String()
}

// extent stops the program once it has nothing to do, looks, and starts it again.
func (s *instance) extent(ctx context.Context, o options) (x extent, err error) {
	if err := errors.Join(s.idle(ctx), s.Stop()); err != nil {
		return x, err
	}
	if s.dialect == "postgres" {
		x, err = postgresExtent(ctx, o.Postgres, s.Database)
	} else {
		x, err = sqliteExtent(ctx, filepath.Join(s.Dir, "packetboat.db"))
	}
	return x, errors.Join(err, s.Start(ctx))
}

func postgresExtent(ctx context.Context, server, address string) (x extent, err error) {
	if x.size, x.objects, err = postgresSizes(ctx, address, "CHECKPOINT"); err != nil {
		return x, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return x, err
	}
	copied, drop, err := site.CopyDatabase(ctx, server, strings.TrimPrefix(u.Path, "/"))
	if err != nil {
		return x, err
	}
	x.packed, _, err = postgresSizes(ctx, copied, "VACUUM FULL")
	return x, errors.Join(err, drop())
}

func postgresSizes(ctx context.Context, address, first string) (whole int64, objects map[string]int64, err error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return 0, nil, err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, first); err != nil {
		return 0, nil, err
	}
	if err := db.QueryRowContext(ctx, `SELECT pg_database_size(current_database())`).Scan(&whole); err != nil {
		return 0, nil, err
	}
	objects, err = objectSizes(ctx, db, `
		SELECT c.relname, CASE WHEN c.relkind = 'i' THEN pg_relation_size(c.oid) ELSE pg_table_size(c.oid) END
		FROM pg_class AS c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'i', 'm')`)
	return withoutFiles(whole, objects), objects, err
}

func objectSizes(ctx context.Context, db *sql.DB, query string) (map[string]int64, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	objects := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, err
		}
		objects[name] = n
	}
	return objects, rows.Err()
}

func sqliteExtent(ctx context.Context, path string) (x extent, err error) {
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		return x, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return x, err
	}
	fresh := path + ".packed"
	defer os.Remove(fresh)
	if _, err := db.ExecContext(ctx, `VACUUM INTO '`+fresh+`'`); err != nil {
		return x, err
	}
	for file, to := range map[string]*int64{path: &x.size, fresh: &x.packed} {
		info, err := os.Stat(file)
		if err != nil {
			return x, err
		}
		x.objects = sqliteObjects(ctx, file)
		*to = withoutFiles(info.Size(), x.objects)
	}
	x.objects = sqliteObjects(ctx, path)
	return x, nil
}

// sqliteObjects returns the bytes of each table and index. The library of the program
// cannot tell; SQLite's own shell can, where it is installed.
func sqliteObjects(ctx context.Context, path string) map[string]int64 {
	out, err := exec.CommandContext(ctx, "sqlite3", "-readonly", "-separator", "\t", path, `SELECT name, SUM(pgsize) FROM dbstat GROUP BY name`).Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "no sizes of tables: the command sqlite3:", err)
		return nil
	}
	objects := map[string]int64{}
	for line := range strings.Lines(string(out)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		objects[name], _ = strconv.ParseInt(text, 10, 64)
	}
	return objects
}
