package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// mails is a relay that stores mails as "to\nsubject\ntext", or fails.
type mails struct {
	sent chan string
	err  error
}

func newMails(d *auth.Login) *mails {
	m := &mails{sent: make(chan string, 1000)}
	d.Mail = func(_ context.Context, to, subject, text string) error {
		if m.err == nil {
			m.sent <- to + "\n" + subject + "\n" + text
		}
		return m.err
	}
	return m
}

var anyLink = regexp.MustCompile(`https://mail\.example\.org/\S+`)

func TestInvitationsAreLimited(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		m := newMails(d)
		acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
		ann := principal(acme, makeMember(t, db, acme, "ann", auth.Admin), auth.Admin)
		bob := principal(other, makeMember(t, db, other, "bob", auth.Admin), auth.Admin)
		d.SignupEnabled = true
		e, err := d.SignUp(t.Context(), auth.SignUp{TenantName: "Prize", TenantSlug: "prize", Name: "Mal", Email: "mal@example.org", Password: ownPassword}, auth.Client{IP: home}, noon)
		if err != nil {
			t.Fatal(err)
		}
		prize, err := tenant.BySlug(t.Context(), db, "prize")
		if err != nil {
			t.Fatal(err)
		}
		mal := principal(prize, e.Session.User, auth.Owner)
		n := 0
		invite := func(by auth.Principal, now time.Time) error {
			n++
			_, _, err := d.Invite(t.Context(), by, fmt.Sprintf("stranger%d@example.net", n), auth.Viewer, now)
			return err
		}
		want := func(by auth.Principal, allowed int, refusal *fault.Error, now time.Time) {
			t.Helper()
			for i := range allowed {
				if err := invite(by, now); err != nil {
					t.Fatalf("invitation %d: %v", i+1, err)
				}
			}
			wantFault(t, fmt.Sprintf("invitation %d of %s", allowed+1, by.TenantSlug), invite(by, now), refusal)
		}
		want(mal, 20, auth.ErrTooOften, noon)
		want(mal, 20, auth.ErrTooOften, noon.Add(day))
		want(ann, 100, auth.ErrTooOften, noon)
		wantFault(t, "more than 100 open ones", invite(ann, noon.Add(day)), auth.ErrTooManyInvited)

		// To one address, whoever invites.
		to := func(by auth.Principal, now time.Time) error {
			_, _, err := d.Invite(t.Context(), by, "victim@example.net", auth.Viewer, now)
			d.Wait()
			return err
		}
		hour := func(n int) time.Time { return noon.Add(2*day + time.Duration(n)*time.Hour) }
		for i, tt := range []struct {
			by      auth.Principal
			at      time.Time
			refused bool
		}{{bob, hour(0), false}, {mal, hour(0), true}, {bob, hour(0), true}, {mal, hour(1), false}, {bob, hour(2), false}, {mal, hour(3), true}, {bob, hour(23), true}, {bob, hour(24), false}} {
			if err := to(tt.by, tt.at); errors.Is(err, auth.ErrTooOften) != tt.refused || err != nil && !tt.refused {
				t.Errorf("mail %d to one address: %v, want refused %v", i, err, tt.refused)
			}
		}
		// Refused invitations use no permit of the inviter.
		for range 30 {
			wantFault(t, "a refused one", to(bob, hour(24)), auth.ErrTooOften)
		}
		if err := invite(bob, hour(24)); err != nil {
			t.Errorf("after refused ones: %v", err)
		}
		d.Wait()
		if len(m.sent) != 20+20+100+4+1 {
			t.Errorf("%d mails went out", len(m.sent))
		}
	})
}

func TestMailsOfInvitationsHaveNoLinkOfTheInviter(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for i, tt := range []struct{ person, workspace, want string }{
			{"Dr. Ann O'Neil", "Bücher & Söhne Inc.", "Dr. Ann O'Neil invites you to work with them in Bücher & Söhne Inc., as viewer."},
			{"You have WON: https://evil.example/claim", "http://evil.example", "You have WON https evil example claim invites you to work with them in http evil example, as viewer."},
			{"mal@evil.example", "www.evil.example.", "mal evil example invites you to work with them in www evil example., as viewer."},
			{"evil。example evil．example", "a\u202eb\\\\evil\u2024example", "evil example evil example invites you to work with them in a b evil example, as viewer."},
			{"://", "...:", "Somebody invites you to work with them in team-5, as viewer."},
			{strings.Repeat("a", 200), strings.Repeat("b", 100), strings.Repeat("a", 60) + " invites you to work with them in " + strings.Repeat("b", 60) + ", as viewer."},
		} {
			d := newLogin(t, db)
			m := newMails(d)
			in, err := tenant.Create(t.Context(), db, fmt.Sprint("team-", i+1), tt.workspace, "", noon)
			if err != nil {
				t.Fatal(err)
			}
			p := principal(in, makeMember(t, db, in, fmt.Sprint("ann", i), auth.Admin), auth.Admin)
			p.UserName = tt.person
			if _, _, err := d.Invite(t.Context(), p, fmt.Sprintf("s%d@example.net", i), auth.Viewer, noon); err != nil {
				t.Fatal(err)
			}
			d.Wait()
			mail := <-m.sent
			if !strings.Contains(mail, tt.want) {
				t.Errorf("the mail is %q, want it to say %q", mail, tt.want)
			}
			without := anyLink.ReplaceAllString(mail, "")
			if _, text, _ := strings.Cut(without, "\n"); strings.Contains(text, "://") || regexp.MustCompile(`\w\.\w|@`).MatchString(text) {
				t.Errorf("the mail has a link: %q", text)
			}
		}
	})
}

func TestAFailedInvitationIsTriedForAnHourAndThenShown(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		m := newMails(d)
		acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
		ann := principal(acme, makeMember(t, db, acme, "ann", auth.Admin), auth.Admin)
		bob := principal(other, makeMember(t, db, other, "bob", auth.Admin), auth.Admin)
		var tries int
		var counting sync.Mutex // the first attempts are concurrent
		relay := d.Mail
		d.Mail = func(ctx context.Context, to, subject, text string) error {
			counting.Lock()
			tries++
			counting.Unlock()
			return relay(ctx, to, subject, text)
		}
		run := func(from, to time.Duration) {
			t.Helper()
			for at := from; at <= to; at += 15 * time.Second {
				if _, err := d.MailInvitations(t.Context(), noon.Add(at)); err != nil {
					t.Fatal(err)
				}
			}
		}
		failed := func(in tenant.Tenant, email string) string {
			t.Helper()
			u, err := auth.UserByEmail(t.Context(), db, email)
			if err != nil {
				t.Fatal(err)
			}
			got, err := auth.MemberOf(t.Context(), db, in.ID, u.ID)
			if err != nil || got.Status != auth.MemberInvited {
				t.Fatalf("the member is %+v, %v", got, err)
			}
			return got.MailFailed
		}
		m.err = fmt.Errorf("connect: %w", errors.New("dial tcp 10.0.0.5:25: connection refused"))
		for _, email := range []string{"early@example.net", "late@example.net"} {
			if _, link, err := d.Invite(t.Context(), ann, email, auth.Editor, noon); err != nil || link != "" {
				t.Fatalf("Invite = %q, %v", link, err)
			}
		}
		if _, _, err := d.Invite(t.Context(), bob, "theirs@example.net", auth.Editor, noon); err != nil {
			t.Fatal(err)
		}
		d.Wait()
		run(0, 59*time.Minute)
		if got := failed(acme, "late@example.net"); got != "" {
			t.Errorf("before the hour is over it has failed: %q", got)
		}
		if tries != 3*7 { // at 0, 1, 2, 4, 8, 16 and 32 minutes
			t.Errorf("%d attempts in an hour, want 7 each", tries)
		}
		u, err := auth.UserByEmail(t.Context(), db, "early@example.net")
		if err != nil {
			t.Fatal(err)
		}
		m.err = fmt.Errorf("send: %w", &auth.MailRefusal{Reply: "450 4.2.1 try later"})
		run(time.Hour, 2*time.Hour)
		if got := failed(acme, "late@example.net"); got != "450 4.2.1 try later" {
			t.Errorf("after an hour the reason is %q", got)
		}
		before := tries
		run(2*time.Hour, 3*time.Hour)
		if tries != before {
			t.Errorf("%d attempts after the hour", tries-before)
		}

		// The admin gets a link, which proves nothing, since the admin has seen it.
		m.err = nil
		_, link, err := d.Invite(t.Context(), ann, u.Email, auth.Editor, noon.Add(3*time.Hour))
		if err != nil || link == "" {
			t.Fatalf("Invite after a failure = %q, %v; want a link", link, err)
		}
		if got := failed(acme, u.Email); got != "" {
			t.Errorf("with a link the reason is %q", got)
		}
		e, err := d.Accept(t.Context(), tokenOf(t, link), "Early", ownPassword, auth.Client{IP: home}, noon.Add(3*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if u, err = auth.UserByID(t.Context(), db, e.Session.User.ID); err != nil || u.Proven() {
			t.Errorf("the login is %+v, %v; want it not proven", u, err)
		}
		run(3*time.Hour, 4*time.Hour)
		if len(m.sent) != 0 {
			t.Errorf("%d mails went out after all", len(m.sent))
		}
		if got := failed(other, "theirs@example.net"); got != "450 4.2.1 try later" {
			t.Errorf("the other tenant's member: %q", got)
		}
	})
}

func TestAMailThatFailedOnceArrivesLater(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		m := newMails(d)
		acme := makeTenant(t, db, "acme")
		ann := principal(acme, makeMember(t, db, acme, "ann", auth.Admin), auth.Admin)
		m.err = errors.New("dial tcp 10.0.0.5:25: connection refused")
		if _, _, err := d.Invite(t.Context(), ann, "new@example.net", auth.Editor, noon); err != nil {
			t.Fatal(err)
		}
		d.Wait()
		m.err = nil
		for range 3 {
			if _, err := d.MailInvitations(t.Context(), noon.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		if len(m.sent) != 1 {
			t.Fatalf("%d mails went out, want one", len(m.sent))
		}
		link, err := url.Parse(anyLink.FindString(<-m.sent))
		if err != nil {
			t.Fatal(err)
		}
		e, err := d.Accept(t.Context(), link.Query().Get("token"), "New", ownPassword, auth.Client{IP: home}, noon.Add(time.Hour))
		if err != nil || e.Session.User.Name != "New" {
			t.Errorf("Accept = %+v, %v", e, err)
		}
	})
}

func TestAnInvitationShowsOnlyTheAddressOfALogin(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		evil, corp := makeTenant(t, db, "evil"), makeTenant(t, db, "corp")
		mallory := principal(evil, makeMember(t, db, evil, "mallory", auth.Admin), auth.Admin)
		cfo := makeMember(t, db, corp, "cfo", auth.Owner)
		if _, err := d.SignIn(t.Context(), cfo.Email, testPassword, auth.Client{IP: home}, noon); err != nil {
			t.Fatal(err)
		}
		var got [2]auth.Member
		var token string
		for i, email := range []string{cfo.Email, "nobody@example.org"} {
			m, link, err := d.Invite(t.Context(), mallory, email, auth.Viewer, noon)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				token = tokenOf(t, link)
			}
			got[i] = m
			got[i].User, got[i].Email, got[i].Name = auth.Member{}.User, "", strings.TrimPrefix(m.Name, email)
		}
		if diff := cmp.Diff(got[1], got[0]); diff != "" || got[0].Name != "" {
			t.Errorf("the invitation of a login differs from that of an unknown address: %s", diff)
		}
		if _, err := d.Accept(t.Context(), token, "", testPassword, auth.Client{IP: home}, noon); err != nil {
			t.Fatal(err)
		}
		if m, err := auth.MemberOf(t.Context(), db, evil.ID, cfo.ID); err != nil || m.Name != "cfo" || m.LastLoginAt == nil {
			t.Errorf("after accepting it shows %+v, %v", m, err)
		}
	})
}

func TestMailsToUnprovenLoginsHaveNoName(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		m := newMails(d)
		d.SignupEnabled = true
		acme := makeTenant(t, db, "acme")
		ann := makeMember(t, db, acme, "ann", auth.Owner)
		up := auth.SignUp{TenantName: "Prize", TenantSlug: "prize", Name: "You have WON: https://evil.example/claim", Email: "victim@example.net", Password: ownPassword}
		if _, err := d.SignUp(t.Context(), up, auth.Client{IP: home}, noon); err != nil {
			t.Fatal(err)
		}
		for _, email := range []string{up.Email, ann.Email} {
			if err := d.Forgot(t.Context(), email, home, noon); err != nil {
				t.Fatal(err)
			}
			d.Wait()
			mail := <-m.sent
			if want := map[string]string{up.Email: "\nHello,\n", ann.Email: "\nHello ann,\n"}[email]; !strings.Contains(mail, want) || strings.Contains(mail, "evil") {
				t.Errorf("the mail is %q, want %q", mail, want)
			}
		}
		prize, err := tenant.BySlug(t.Context(), db, "prize")
		if err != nil {
			t.Fatal(err)
		}
		for in, want := range map[*tenant.Tenant]map[string]bool{&prize: {}, &acme: {ann.Email: true}} {
			if got, err := auth.MemberAddresses(t.Context(), db, in.ID); err != nil || !cmp.Equal(got, want) {
				t.Errorf("MemberAddresses of %s = %v, %v; want %v", in.Slug, got, err, want)
			}
		}
	})
}
