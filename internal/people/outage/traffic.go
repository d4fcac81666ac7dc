package outage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Key identifies a bucket of traffic.
type Key struct {
	Directory string
	Bucket    time.Time
}

// KeyAt returns the bucket of messages to a directory's recipients that were sent at a time.
func KeyAt(directory string, sent time.Time) Key { return Key{directory, sent.UTC().Truncate(width)} }

// Traffic is how many recipients a provider answered about.
type Traffic struct {
	Answered int // accepted, or refused for good
	Unknown  int // of these, those that do not exist, by the provider's answer
}

// Plus returns the sum of both.
func (t Traffic) Plus(o Traffic) Traffic {
	return Traffic{t.Answered + o.Answered, t.Unknown + o.Unknown}
}

// share returns the share of unknown recipients.
func (t Traffic) share() float64 {
	if t.Answered <= 0 {
		return 0
	}
	return float64(t.Unknown) / float64(t.Answered)
}

// Count adds traffic, except for messages that were sent too long ago. Transactions that add to the same
// rows wait for each other, so it is the last step of its transaction. A bounce that is reported after
// the acceptance counts at the time at which its message was sent: reports of one send may arrive long
// after the last message of it.
func Count(ctx context.Context, db *sqldb.DB, traffic map[Key]Traffic, now time.Time) error {
	keys := slices.SortedFunc(maps.Keys(traffic), func(a, b Key) int { // in the same order in all transactions
		if a.Directory != b.Directory {
			return strings.Compare(a.Directory, b.Directory)
		}
		return a.Bucket.Compare(b.Bucket)
	})
	t := db.Table("directory TEXT", "bucket BIGINT", "answered BIGINT", "unknown BIGINT")
	for _, k := range keys {
		if c := traffic[k]; c != (Traffic{}) && k.Directory != "" && now.Sub(k.Bucket) < back {
			t.Add(k.Directory, k.Bucket.UnixMicro(), c.Answered, c.Unknown)
		}
	}
	if t.Len() == 0 {
		return nil
	}
	_, err := db.Exec(ctx, `
		INSERT INTO outage_traffic (directory, bucket, answered, unknown)
		SELECT v.directory, v.bucket, v.answered, v.unknown FROM `+t.As("v", 1)+` WHERE true
		ON CONFLICT (directory, bucket) DO UPDATE SET
			answered = outage_traffic.answered + excluded.answered, unknown = outage_traffic.unknown + excluded.unknown`, t.Args()...)
	if err != nil {
		return fmt.Errorf("count answers of providers: %w", err)
	}
	return nil
}

// bucket is the traffic of one bucket.
type bucket struct {
	at time.Time
	Traffic
}

// suspects returns the recent buckets of the directories with enough unknown recipients to open an outage,
// and of those given, ordered by time.
func suspects(ctx context.Context, db *sqldb.DB, also []string, now time.Time) (map[string][]bucket, error) {
	since := now.Add(-back).UnixMicro()
	rows, err := db.Query(ctx, `SELECT directory FROM outage_traffic WHERE bucket >= $1 GROUP BY directory HAVING SUM(unknown) >= $2`, since, minUnknown)
	directories, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) {
		err = scan(&s)
		return s, err
	})
	found := map[string][]bucket{}
	if directories = append(directories, also...); err == nil && len(directories) > 0 {
		rows, err = db.Query(ctx, `SELECT directory, bucket, answered, unknown FROM outage_traffic
			WHERE bucket >= $1 AND directory`+db.In(2)+` ORDER BY bucket`, since, sqldb.List(db, directories))
		err = sqldb.Each(rows, err, func(scan func(...any) error) error {
			var directory string
			var b bucket
			err := scan(&directory, sqldb.ToTime(&b.at), &b.Answered, &b.Unknown)
			found[directory] = append(found[directory], b)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read answers of providers: %w", err)
	}
	return found, nil
}

// sum returns the traffic in [from, to).
func sum(list []bucket, from, to time.Time) (t Traffic) {
	for _, b := range list {
		if !b.at.Before(from) && b.at.Before(to) {
			t = t.Plus(b.Traffic)
		}
	}
	return t
}

// worst returns the first window from a time on in which too many recipients were unknown.
func worst(list []bucket, from time.Time) (since time.Time, t Traffic, found bool) {
	for _, b := range list {
		if b.at.Before(from) {
			continue
		}
		t = sum(list, b.at, b.at.Add(Window))
		if t.Unknown >= minUnknown && t.share() > openShare {
			return b.at, t, true
		}
	}
	return time.Time{}, Traffic{}, false
}
