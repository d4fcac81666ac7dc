package contact_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Processes that save the same contacts at the same time make one of each, and each caller learns what became of its own.
// Two of their transactions often take the same key.
func TestSaversOfTheSameContactsMakeOneOfEach(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		const savers, contacts = 3, 40
		running, stop := context.WithCancel(t.Context())
		var loops, callers sync.WaitGroup
		var mu sync.Mutex
		created, taken, otherKey := map[string]int{}, map[string]int{}, map[string]int{}
		for n := range savers {
			s := contact.NewSaver(db, func(*sqldb.Batch, id.Tenant) func() (contact.Rules, error) {
				return func() (contact.Rules, error) { return rules, nil }
			}, nil, func() time.Time { return noon })
			loops.Go(func() { _ = s.Run(running) })
			for i := range contacts {
				d := contact.Draft{Email: fmt.Sprintf("Person%d@example.org", i), Mode: contact.Creating, Change: contact.Change{Texts: texts("first_name", fmt.Sprint(n))}}
				if i%4 == 0 { // every fourth shares an external id with the next
					d.Change.Texts = texts("external_id", fmt.Sprint(i/8))
				}
				if i%10 == 0 {
					d.Change.Stage = new("no id") // fails, and only its own caller is told
				}
				callers.Go(func() {
					o, err := s.Save(running, acme, d)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil && o.Created:
						created[d.Email]++
					case errors.Is(err, contact.ErrDuplicateEmail):
						taken[d.Email]++
					case errors.Is(err, contact.ErrDuplicateExternalID):
						otherKey[d.Email]++
					case d.Change.Stage != nil:
						if f, ok := fault.As(err); !ok || f.Kind != fault.Invalid {
							t.Errorf("a stage that is none: %v", err)
						}
					default:
						t.Errorf("%s: %+v, %v", d.Email, o, err)
					}
				})
			}
		}
		callers.Wait()
		stop()
		loops.Wait()
		keys := map[string]int{}
		for i := range contacts {
			email := fmt.Sprintf("Person%d@example.org", i)
			key := fmt.Sprint(i / 8)
			switch {
			case i%10 == 0:
				if created[email] > 0 {
					t.Errorf("%s was created with a stage that is none", email)
				}
			case i%4 == 0:
				if keys[key] += created[email]; created[email]+taken[email]+otherKey[email] != savers {
					t.Errorf("%s: created %d, taken %d, key taken %d", email, created[email], taken[email], otherKey[email])
				}
			case created[email] != 1 || taken[email] != savers-1:
				t.Errorf("%s: created %d times, taken %d times", email, created[email], taken[email])
			}
		}
		var rows, distinct, logged int
		err := db.QueryRow(t.Context(), `
			SELECT COUNT(*), COUNT(DISTINCT email), (SELECT COALESCE(SUM(CASE WHEN packed IS NULL THEN 1 ELSE LENGTH(packed) / 16 END), 0)
				FROM journal WHERE tenant_id = $1 AND type = 'contact_created') FROM contact WHERE tenant_id = $1`, acme).Scan(&rows, &distinct, &logged)
		made := 0
		for _, n := range created {
			made += n
		}
		if err != nil || rows != distinct || rows != made || logged != made {
			t.Errorf("%d contacts with %d addresses, %d entries, %v; %d were created", rows, distinct, logged, err, made)
		}
		for key, n := range keys {
			if n > 1 {
				t.Errorf("external id %s was given %d times", key, n)
			}
		}
	})
}

// A Saver within a transaction leaves the end of it to its caller.
func TestASaverWithinATransactionDoesNotCommit(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		back := errors.New("rolled back")
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			s := &contact.Saver{DB: tx, Rules: func(*sqldb.Batch, id.Tenant) func() (contact.Rules, error) {
				return func() (contact.Rules, error) { return rules, nil }
			}, Now: func() time.Time { return noon }}
			for _, email := range []string{"ben@example.org", "cleo@example.org"} {
				if _, err := s.Save(t.Context(), acme, contact.Draft{Email: email}); err != nil {
					return err
				}
			}
			return back
		})
		if n, err2 := contact.Count(t.Context(), db, acme, contact.Selector{}); !errors.Is(err, back) || err2 != nil || n != 0 {
			t.Errorf("%v, %d contacts, %v; want none", err, n, err2)
		}
	})
}
