package auth_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// signInWrongly signs in with a password that is too long, which is refused without hashing and is
// therefore fast.
func signInWrongly(t *testing.T, d *auth.Login, email, from string, at time.Time) error {
	t.Helper()
	_, err := d.SignIn(t.Context(), email, strings.Repeat("x", 201), auth.Client{IP: netip.MustParseAddr(from)}, at)
	return err
}

func TestFailedSignInsAreCountedByEmailAndAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		makeMember(t, db, makeTenant(t, db, "acme"), "ann", auth.Admin)
		const email = "ann@example.org"
		for i := range 5 { // one IPv6 /64, whatever the address in it
			wantFault(t, "a guess", signInWrongly(t, d, email, fmt.Sprintf("2001:db8:0:1::%x", i+1), noon), auth.ErrCredentials)
		}
		wantFault(t, "guess 6 from the site", signInWrongly(t, d, email, "2001:db8:0:1:ffff::", noon), auth.ErrTooOften)
		wantFault(t, "a guess from another site", signInWrongly(t, d, email, "2001:db8:0:2::1", noon), auth.ErrCredentials)
		wantFault(t, "another email from the site", signInWrongly(t, d, "bob@example.org", "2001:db8:0:1::1", noon), auth.ErrCredentials)

		// Success resets the count of its own pair.
		for round := range 3 {
			for range 4 {
				wantFault(t, fmt.Sprint("a slip in round ", round), signInWrongly(t, d, email, "192.0.2.9", noon), auth.ErrCredentials)
			}
			if _, err := d.SignIn(t.Context(), email, testPassword, auth.Client{IP: netip.MustParseAddr("192.0.2.9")}, noon); err != nil {
				t.Fatalf("signing in in round %d: %v", round, err)
			}
		}

		// One address, many emails.
		for i := range 30 {
			wantFault(t, "a guess", signInWrongly(t, d, fmt.Sprintf("u%d@example.org", i), "198.51.100.1", noon), auth.ErrCredentials)
		}
		wantFault(t, "guess 31 from one address", signInWrongly(t, d, "u99@example.org", "198.51.100.1", noon), auth.ErrTooOften)
		wantFault(t, "after 15 minutes", signInWrongly(t, d, "u99@example.org", "198.51.100.1", noon.Add(15*time.Minute)), auth.ErrCredentials)
	})
}

func TestGuessesFromElsewhereDoNotLockOutAUser(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		makeMember(t, db, makeTenant(t, db, "acme"), "ann", auth.Admin)
		const email = "ann@example.org"
		in := func(from string, at time.Time) error {
			_, err := d.SignIn(t.Context(), email, testPassword, auth.Client{IP: netip.MustParseAddr(from)}, at)
			return err
		}
		if err := in("2001:db8:5::1", noon); err != nil {
			t.Fatal(err)
		}
		flood := func(at time.Time) {
			for i := range 50 {
				wantFault(t, "a guess", signInWrongly(t, d, email, fmt.Sprintf("203.0.113.%d", i), at), auth.ErrCredentials)
			}
			wantFault(t, "guess 51", signInWrongly(t, d, email, "203.0.113.99", at), auth.ErrTooOften)
		}
		flood(noon.Add(29 * day))
		wantFault(t, "the user at a new place", in("198.51.100.7", noon.Add(29*day)), auth.ErrTooOften)
		if err := in("2001:db8:5::2", noon.Add(29*day)); err != nil {
			t.Errorf("the user at home: %v", err)
		}
		flood(noon.Add(60 * day))
		wantFault(t, "the user at home, 31 days later", in("2001:db8:5::1", noon.Add(60*day)), auth.ErrTooOften)
		for i := range 50 { // an address without a user is limited equally
			wantFault(t, "a guess", signInWrongly(t, d, "unknown@example.org", fmt.Sprintf("203.0.113.%d", i), noon.Add(90*day)), auth.ErrCredentials)
		}
		wantFault(t, "guess 51 at an unknown address", signInWrongly(t, d, "unknown@example.org", "203.0.113.99", noon.Add(90*day)), auth.ErrTooOften)
		if err := auth.DeleteExpired(t.Context(), db, noon.Add(60*day)); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM login_address /* all tenants: the test counts */`).Scan(&left); err != nil || left != 0 {
			t.Errorf("%d addresses are stored after 31 days, %v", left, err)
		}
	})
}

// Before the answer, nothing depends on whether the address is known: no statement looks up the
// user, and no mail is sent. Afterwards both do the same except for the mail.
func TestForgotDoesTheSameForEveryAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		makeMember(t, db, makeTenant(t, db, "acme"), "ann", auth.Admin)
		leave := make(chan struct{})
		var mu sync.Mutex
		var mailed []string
		d.Mail = func(_ context.Context, to, _, _ string) error {
			<-leave
			mu.Lock()
			defer mu.Unlock()
			mailed = append(mailed, to)
			return nil
		}
		rows := func() (n int) {
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM one_time_token /* all tenants: the test counts */`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		said := map[string][]string{}
		for i, email := range []string{"ann@example.org", "unknown@example.org"} {
			var texts []string
			ctx, answered := context.WithCancel(sqldb.WithQueryTrace(t.Context(), func(text string, _ []any) {
				mu.Lock()
				defer mu.Unlock()
				texts = append(texts, text)
			}))
			// The mail cannot be sent yet, so waiting for it would never end.
			if err := d.Forgot(ctx, email, netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), noon); err != nil {
				t.Fatal(err)
			}
			answered() // the background task must not end with the request
			if i == 0 {
				close(leave)
			}
			d.Wait()
			said[email] = texts
			if got := rows(); got != i+1 {
				t.Errorf("after %s %d tokens are stored, want %d", email, got, i+1)
			}
		}
		if a, b := said["ann@example.org"], said["unknown@example.org"]; len(a) == 0 || !slices.Equal(a, b) {
			t.Errorf("a known address asks the database\n%q\nan unknown one\n%q", a, b)
		}
		if !slices.Equal(mailed, []string{"ann@example.org"}) {
			t.Errorf("mail went to %v", mailed)
		}
		_, err := d.LinkOf(t.Context(), auth.LinkReset, "", noon)
		wantFault(t, "a token of no user", err, auth.ErrInvalidToken)
	})
}

func TestForgotWithoutARelayLooksUpNoUser(t *testing.T) {
	t.Parallel()
	db := dbtest.SQLite(t)
	d := newLogin(t, db)
	makeMember(t, db, makeTenant(t, db, "acme"), "ann", auth.Admin)
	ctx := sqldb.WithQueryTrace(t.Context(), func(text string, _ []any) { t.Errorf("the database is asked %s", text) })
	if err := d.Forgot(ctx, "ann@example.org", home, noon); err != nil {
		t.Fatal(err)
	}
	d.Wait()
	wantFault(t, "no address", d.Forgot(ctx, "", home, noon), fault.ErrInput)
}
