package sender_test

import (
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Saving contacts takes a fixed number of round trips to PostgreSQL, whatever the number of
// drafts. The first reads rules, settings and contacts, the last writes and commits.
func TestSavingContactsTakesFewRoundTrips(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		if to, err := url.Parse(address); err != nil || to.Scheme != "postgres" {
			t.Skip("SQLite has no round trips")
		}
		address, trips := countRoundTrips(t, address)
		db, err := sqldb.Open(t.Context(), address, sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if db.Distributed() {
			t.Skip("the journal of distributed tables needs more")
		}
		account, err := tenant.Create(t.Context(), db, "acme", "Acme", "", noon, contact.CreateDefaultStages, sender.Newsletter)
		if err != nil {
			t.Fatal(err)
		}
		s := &contact.Saver{DB: db, Rules: sender.QueueContactRules, Listed: suppression.QueueListed, Now: func() time.Time { return noon }}
		save := func(d contact.Draft) int64 {
			before := trips.Load()
			if _, err := s.Save(t.Context(), account.ID, d); err != nil {
				t.Fatal(err)
			}
			return trips.Load() - before
		}
		created := func(email string) contact.Draft {
			return contact.Draft{Email: email, Mode: contact.Creating, New: true, Change: contact.Change{Tags: new([]string{"new"})}}
		}
		changed := func(name string) contact.Draft {
			return contact.Draft{Email: "ann@example.org", Change: contact.Change{Texts: map[contact.Text]*string{contact.FirstName: &name}}}
		}
		save(created("ann@example.org")) // prepares the statements
		save(changed("Anna"))
		if n := save(created("ben@example.org")); n > 2 {
			t.Errorf("creating a contact takes %d round trips, want 2 at most", n)
		}
		// One of them finds the mails that may have printed the version of the contact that ends.
		if n := save(changed("Anne")); n > 3 {
			t.Errorf("changing a contact takes %d round trips, want 3 at most", n)
		}
	})
}

// countRoundTrips starts a relay to the server at an address. It returns the address of the relay,
// and how often a client sent something after the server had answered.
func countRoundTrips(t *testing.T, address string) (string, *atomic.Int64) {
	t.Helper()
	server, err := pgconn.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	trips := &atomic.Int64{}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial(pgconn.NetworkAddress(server.Host, server.Port))
			if err != nil {
				client.Close()
				return
			}
			answered := &atomic.Bool{}
			answered.Store(true)
			go copyCounting(up, client, func() {
				if answered.Swap(false) {
					trips.Add(1)
				}
			})
			go copyCounting(client, up, func() { answered.Store(true) })
		}
	}()
	relay := url.URL{Scheme: "postgres", User: url.UserPassword(server.User, server.Password), Host: l.Addr().String(), Path: server.Database}
	relay.RawQuery = "sslmode=disable"
	return relay.String(), trips
}

// copyCounting copies what from sends, and calls seen before each part, until either is closed.
func copyCounting(to, from net.Conn, seen func()) {
	defer to.Close()
	defer from.Close()
	part := make([]byte, 1<<16)
	for {
		n, err := from.Read(part)
		if n > 0 {
			seen()
			if _, err := to.Write(part[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
