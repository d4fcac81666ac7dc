package inbound_test

import (
	"errors"
	"fmt"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/packetboat/packetboat/internal/engine/inbound"

	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/inbound/inboundtest"
	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// fixture is inboundtest's, with the methods of the tests here.
type fixture struct {
	*inboundtest.Fixture
	t *testing.T
}

func setUp(t *testing.T, db *sqldb.DB, people int) *fixture {
	t.Helper()
	return setUpTenant(t, db, "acme", people)
}

func setUpTenant(t *testing.T, db *sqldb.DB, slug string, people int) *fixture {
	t.Helper()
	return &fixture{inboundtest.New(t, db, slug, people), t}
}

func (f *fixture) exec(text string, args ...any) {
	f.t.Helper()
	if _, err := f.DB.Exec(f.t.Context(), text, args...); err != nil {
		f.t.Fatal(err)
	}
}

func TestReturnedMailHasItsEffectsOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setUp(t, db, 6)
		hard, full, policy, complained, left := 0, 1, 2, 3, 4
		for range 2 { // servers repeat what they are not sure of
			for i, diagnostic := range map[int]string{hard: "550 5.1.1 no such user", full: "552 5.2.2 mailbox full", policy: "550 5.7.1 blocked by policy"} {
				if code := f.Deliver(f.ReturnPath(i), inboundtest.Failure(f.People[i].Email, diagnostic)); code != 250 {
					t.Fatalf("report %d: %d", i, code)
				}
			}
			if code := f.Deliver("fbl@y.example", inboundtest.Complaint("abuse", "<"+f.Keys.MessageID(f.Messages[complained].ID)+"@"+f.Host()+">")); code != 250 {
				t.Fatalf("complaint: %d", code)
			}
			address := "u." + string(f.Keys.UnsubscribeAddress(f.Messages[left].ID, broadcasttest.Now)) + "@" + f.Host()
			if code := f.Deliver(address, "From: "+f.People[left].Email+"\nSubject: unsubscribe\n\n"); code != 250 {
				t.Fatalf("unsubscribe: %d", code)
			}
			f.Follow()
		}
		for i, want := range map[int]struct {
			state  outbox.State
			class  string
			status contact.Status
		}{
			hard:       {outbox.Bounced, "hard", contact.Bounced},
			full:       {outbox.Bounced, "soft", contact.Active},
			policy:     {outbox.Bounced, "block", contact.Active},
			complained: {outbox.Delivered, "", contact.Complained},
			left:       {outbox.Delivered, "", contact.Active},
			5:          {outbox.Delivered, "", contact.Active},
		} {
			m, c := f.Message(i), f.Contact(i)
			if m.State != want.state || m.BounceType != want.class || c.Status != want.status {
				t.Errorf("message %d is %s %s, its contact %s; want %+v", i, m.State, m.BounceType, c.Status, want)
			}
		}
		for i, listed := range map[int]bool{hard: true, full: false, policy: false, complained: true} {
			reasons, err := suppression.Listed(t.Context(), db, f.Tenant, []string{f.People[i].Email})
			if err != nil {
				t.Fatal(err)
			}
			if len(reasons) > 0 != listed {
				t.Errorf("contact %d on the suppression list: %v", i, reasons)
			}
		}
		var delivered, bounced int64
		if err := db.QueryRow(t.Context(), `SELECT delivered, bounced FROM send WHERE tenant_id = $1 AND id = $2`, f.Tenant, f.Send).Scan(&delivered, &bounced); err != nil || delivered != 3 || bounced != 3 {
			t.Errorf("the send has %d delivered and %d bounced, %v", delivered, bounced, err)
		}
		sums, err := track.LoadSums(t.Context(), db, f.Tenant, f.Send)
		if err != nil || sums.Complained != 1 || sums.Unsubscribed != 1 {
			t.Errorf("the send has %+v, %v", sums, err)
		}
		// The domain is paused by the rates of these.
		counts, err := traffic.OfDomain(t.Context(), db, f.Tenant, f.Domain.ID, f.Now().Add(-traffic.Width))
		if want := (traffic.Counts{Late: 1, Complained: 1}); err != nil || counts != want {
			t.Errorf("the domain has %+v, %v; want %+v", counts, err, want)
		}
	})
}

func TestStrangersChangeNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setUp(t, db, 1)
		report := inboundtest.Failure(f.People[0].Email, "550 5.1.1 no such user")
		token := string(f.Keys.ReturnPath(f.Messages[0].ID, broadcasttest.Now))
		last := "a"
		if strings.HasSuffix(token, last) {
			last = "b"
		}
		changed := token[:len(token)-1] + last
		for name, to := range map[string]string{
			"relaying":            "ann@elsewhere.example",
			"the address":         f.People[0].Email,
			"no token":            "b.@" + f.Host(),
			"a changed token":     "b." + changed + "@" + f.Host(),
			"another host":        "b." + token + "@bounce.elsewhere.example",
			"another kind":        "u." + token + "@" + f.Host(),
			"an old return path":  "b." + string(f.Keys.ReturnPath(f.Messages[0].ID, f.Now().Add(-70*24*time.Hour))) + "@" + f.Host(),
			"other local part":    "x." + token + "@" + f.Host(),
			"source route":        "@relay.example:b." + token + "@elsewhere.example",
			"percent":             "b." + token + "%" + f.Host() + "@elsewhere.example",
			"bang":                f.Host() + "!b." + token + "@elsewhere.example",
			"the provider's list": "fbl@elsewhere.example",
		} {
			if code := f.Deliver(to, report); code/100 != 5 {
				t.Errorf("%s: %d", name, code)
			}
		}
		for name, mail := range map[string]string{
			"a report without proof":    report,
			"a Message-ID of no one":    inboundtest.Complaint("abuse", "<x@"+f.Host()+">"),
			"a Message-ID by id alone":  inboundtest.Complaint("abuse", "<"+f.Messages[0].ID.String()+"@"+f.Host()+">"),
			"a Message-ID with a guess": inboundtest.Complaint("abuse", "<"+f.Messages[0].ID.String()+".0000000000000000@"+f.Host()+">"),
			"not a complaint":           inboundtest.Complaint("not-spam", "<"+f.Keys.MessageID(f.Messages[0].ID)+"@"+f.Host()+">"),
		} {
			for _, to := range []string{"fbl@y.example", "postmaster@mx.y.example", "abuse@" + f.Host()} {
				if code := f.Deliver(to, mail); code != 250 {
					t.Errorf("%s to %s: %d", name, to, code)
				}
			}
		}
		// An absence notice and a preview do nothing, either.
		if code := f.Deliver(f.ReturnPath(0), "From: "+f.People[0].Email+"\nSubject: Out of office\nAuto-Submitted: auto-replied\n\n550 5.1.1 no such user\n"); code != 250 {
			t.Errorf("absence: %d", code)
		}
		if code := f.Deliver("b."+string(f.Keys.PreviewReturnPath(f.Messages[0].ID, broadcasttest.Now))+"@"+f.Host(), report); code != 250 {
			t.Errorf("test mail: %d", code)
		}
		// A report about another recipient, in a list, is not about this one.
		two := strings.Replace(report, "\n\n--XX--", "\n\nFinal-Recipient: rfc822; bob@x.example\nAction: failed\nStatus: 5.1.1\n\n--XX--", 1)
		two = strings.Replace(two, f.People[0].Email, "eve@x.example", 1)
		if code := f.Deliver(f.ReturnPath(0), two); code != 250 {
			t.Errorf("other recipients: %d", code)
		}
		f.Follow()
		if m, c := f.Message(0), f.Contact(0); m.State != outbox.Delivered || c.Status != contact.Active {
			t.Errorf("message %s, contact %s", m.State, c.Status)
		}
	})
}

func TestAReportBeforeTheResultIsStoredIsDeferred(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setUp(t, db, 1)
		f.exec(`UPDATE outbox SET state = 'queued', sent_at = NULL WHERE tenant_id = $1`, f.Tenant)
		if code := f.Deliver(f.ReturnPath(0), inboundtest.Failure(f.People[0].Email, "550 5.1.1 no such user")); code != 451 {
			t.Errorf("code %d, want 451", code)
		}
	})
}

func TestTheServerIsBounded(t *testing.T) {
	f := setUp(t, dbtest.One(t), 1)
	if code := f.Deliver(f.ReturnPath(0), "Subject: x\n\n"+strings.Repeat(strings.Repeat("x", 70)+"\n", dsn.MaxSize/70)); code != 552 {
		t.Errorf("a long message: %d", code)
	}
	if code := f.Deliver(f.ReturnPath(0), strings.Repeat("Received: from a by b\n", 150)+"\nx\n"); code != 554 {
		t.Errorf("a loop: %d", code)
	}
	c, err := smtp.Dial(f.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Mail(""); err != nil {
		t.Fatal(err)
	}
	var last error
	for i := range 12 {
		last = c.Rcpt(fmt.Sprintf("guess%d@%s", i, f.Host()))
	}
	if e, ok := errors.AsType[*textproto.Error](last); !ok || e.Code != 421 {
		t.Errorf("after many guesses: %v", last)
	}
	var open []net.Conn
	refused := false
	for range 60 {
		conn, err := net.Dial("tcp", f.Address)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
		line, _ := textproto.NewConn(conn).ReadLine()
		refused = refused || strings.HasPrefix(line, "421 ")
	}
	for _, conn := range open {
		_ = conn.Close()
	}
	if !refused {
		t.Error("60 connections of one address were accepted")
	}
}

// The counters say what reports changed, not what they could have changed.
func TestReportsAreCountedByTheirEffect(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setUp(t, db, 2)
		registry := prometheus.NewRegistry()
		f.Receiver.Metrics = inbound.NewMetrics(registry)
		ann, bob := f.People[0].Email, f.People[1].Email
		others := strings.Replace(inboundtest.Failure("eve@x.example", "550 5.1.1 no such user"), "\n\n--XX--\n",
			"\n\nFinal-Recipient: rfc822; "+bob+"\nAction: relayed\nStatus: 2.1.9\n\n--XX--\n", 1)
		for _, mail := range []struct {
			about int
			text  string
		}{
			{0, inboundtest.Status(ann, "delayed", "4.4.1", "")},
			{0, inboundtest.Status(ann, "delivered", "2.0.0", "")},
			{0, inboundtest.Status(ann, "relayed", "2.1.9", "")},
			{0, inboundtest.Status(ann, "expanded", "2.1.5", "")},
			{1, others}, // it failed for somebody else
			{0, inboundtest.Failure(ann, "550 5.1.1 no such user")},
		} {
			if code := f.Deliver(f.ReturnPath(mail.about), mail.text); code != 250 {
				t.Fatalf("%d for %s", code, mail.text)
			}
		}
		leave := "u." + string(f.Keys.UnsubscribeAddress(f.Messages[1].ID, broadcasttest.Now)) + "@" + f.Host()
		if code := f.Deliver(leave, "Subject: please\n\nstop\n"); code != 250 {
			t.Fatalf("unsubscribe: %d", code)
		}
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, m := range families[0].GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "effect" || l.GetValue() == "unsubscribe" {
					got[l.GetValue()] += m.GetCounter().GetValue()
				}
			}
		}
		if diff := cmp.Diff(map[string]float64{"delayed": 1, "delivered": 3, "none": 1, "bounced": 1, "unsubscribed": 1, "unsubscribe": 1}, got); diff != "" {
			t.Errorf("effects (-want +got):\n%s", diff)
		}
		if a, b := f.Message(0).State, f.Message(1).State; a != outbox.Bounced || b != outbox.Delivered {
			t.Errorf("the messages are %s and %s", a, b)
		}
	})
}
