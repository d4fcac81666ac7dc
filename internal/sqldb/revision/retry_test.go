package revision_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Many writers add to a text that they have read; each adds its word exactly once.
func TestConcurrentWritersLoseNoUpdate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if _, err := db.Exec(t.Context(), `CREATE TABLE thing (id BIGINT NOT NULL PRIMARY KEY, revision BIGINT NOT NULL, word TEXT NOT NULL)`); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(t.Context(), `INSERT INTO thing (id, revision, word) VALUES (1, 1, '')`); err != nil {
			t.Fatal(err)
		}
		read := func(ctx context.Context) (at int64, word string, err error) {
			err = db.QueryRow(ctx, `SELECT revision, word FROM thing WHERE id = 1`).Scan(&at, &word)
			return at, word, err
		}
		const writers = 12
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				_, err := revision.Retry(func() (struct{}, error) {
					at, word, err := read(t.Context())
					if err != nil {
						return struct{}{}, err
					}
					n, err := db.Exec(t.Context(), `UPDATE thing SET revision = revision + 1, word = $2 WHERE id = 1 AND revision = $1`, at, word+fmt.Sprintf("%c", 'a'+w))
					if err == nil && n == 0 {
						err = revision.ErrOvertaken
					}
					return struct{}{}, err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		at, word, err := read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen := map[rune]int{}
		for _, r := range word {
			seen[r]++
		}
		if at != writers+1 || len(word) != writers || len(seen) != writers {
			t.Errorf("revision %d of %q after %d writers", at, word, writers)
		}
	})
}

func TestRetryEndsWithAnyOtherErrorAndAtItsBound(t *testing.T) {
	t.Parallel()
	refused, calls := errors.New("refused"), 0
	for _, c := range []struct {
		overtaken, want int
		last            error
	}{{0, 1, nil}, {3, 4, nil}, {3, 4, refused}, {1000, 100, revision.ErrOvertaken}} {
		calls = 0
		v, err := revision.Retry(func() (int, error) {
			if calls++; calls <= c.overtaken {
				return calls, fmt.Errorf("store: %w", revision.ErrOvertaken)
			}
			return calls, c.last
		})
		if v != c.want || calls != c.want || !errors.Is(err, c.last) || (err == nil) != (c.last == nil) {
			t.Errorf("overtaken %d times, then %v: %d calls, %d, %v", c.overtaken, c.last, calls, v, err)
		}
	}
}
