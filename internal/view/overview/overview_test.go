package overview_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/overview"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// place is a database with two tenants.
type place struct {
	t           *testing.T
	db          *sqldb.DB
	box         *secret.Box
	now         time.Time
	mine, other tenant.Tenant
	reader      *overview.Reader
}

func each(t *testing.T, f func(t *testing.T, s *place)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		box, err := secret.NewBox(make([]byte, secret.KeyBytes))
		if err != nil {
			t.Fatal(err)
		}
		s := &place{t: t, db: db, box: box, now: noon}
		s.reader = &overview.Reader{DB: db, Now: func() time.Time { return s.now }}
		s.reader.Segments = &segment.Counter{DB: db, Now: s.reader.Now}
		for slug, to := range map[string]*tenant.Tenant{"mine": &s.mine, "other": &s.other} {
			if *to, err = tenant.Create(t.Context(), db, slug, slug, "UTC", noon, segment.BuiltIn); err != nil {
				t.Fatal(err)
			}
		}
		f(t, s)
		o, err := s.reader.Load(t.Context(), s.other.ID)
		if err != nil || len(o.Attention) > 0 || slices.ContainsFunc(o.Setup, func(x overview.Step) bool { return x.Done }) {
			t.Errorf("another tenant has %+v, %v", o, err)
		}
	})
}

func (s *place) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// done returns the keys of the steps that are done.
func (s *place) done() string {
	s.t.Helper()
	o, err := s.reader.Load(s.t.Context(), s.mine.ID)
	s.ok(err)
	var keys []string
	for i, x := range o.Setup {
		if x.Key != overview.StepKeys()[i] {
			s.t.Errorf("step %d is %s", i, x.Key)
		}
		if x.Done {
			keys = append(keys, string(x.Key))
		}
	}
	return strings.Join(keys, " ")
}

// save saves settings of the account.
func (s *place) save(change func(*tenant.Settings)) {
	s.t.Helper()
	account, err := tenant.ByID(s.t.Context(), s.db, s.mine.ID)
	s.ok(err)
	change(&account.Settings)
	s.ok(tenant.SaveSettings(s.t.Context(), s.db, s.mine.ID, account.Name, account.Settings, noon))
}

func TestStepsOfTheSetupAreDoneInTurn(t *testing.T) {
	each(t, func(t *testing.T, s *place) {
		ctx := t.Context()
		want := func(want string) {
			t.Helper()
			if got := s.done(); got != want {
				t.Errorf("done: %q, want %q", got, want)
			}
		}
		want("")
		s.save(func(a *tenant.Settings) { a.PostalAddress.Line1 = new("1 High Street") })
		want("account")
		config, err := lane.Create(ctx, s.db, s.box, s.mine.ID, lane.Fields{Name: new("Sink"), Type: new(lane.Sink)}, lane.Rules{}, noon)
		s.ok(err)
		want("account")
		s.save(func(a *tenant.Settings) { a.DefaultLane = config.ID })
		want("account mta_config")
		relay, err := lane.Create(ctx, s.db, s.box, s.mine.ID, lane.Fields{Name: new("Relay"), Type: new(lane.SMTP), Host: new("smtp.example.net")}, lane.Rules{}, noon)
		s.ok(err)
		s.save(func(a *tenant.Settings) { a.DefaultLane = relay.ID })
		want("account") // until a test is accepted
		s.ok(lane.RecordTrial(ctx, s.db, relay, lane.Trial{Accepted: true, Reached: true}, noon))
		want("account mta_config")
		s.save(func(a *tenant.Settings) { a.DefaultLane = config.ID })
		_, err = sender.CreateDomain(ctx, s.db, s.box, s.mine.ID, sender.DomainDraft{Domain: "example.com"}, noon)
		s.ok(err)
		want("account mta_config")
		_, err = sender.ForceVerify(ctx, s.db, s.mine.ID, "example.com", "127.0.0.1:8080", noon)
		s.ok(err)
		want("account mta_config sending_domain")
		typ, err := sender.CreateEmailType(ctx, s.db, s.mine.ID, sender.EmailTypeFields{DisplayName: new("News")}, noon)
		s.ok(err)
		one, err := sender.CreateIdentity(ctx, s.db, s.mine.ID, sender.IdentityFields{Address: new("news@example.com"), DisplayName: new("News"), EmailTypes: &[]id.EmailType{typ.ID}, Active: new(true)}, noon)
		s.ok(err)
		want("account mta_config sending_domain")
		s.save(func(a *tenant.Settings) { a.DefaultIdentity = one.ID })
		want("account mta_config sending_domain sending_identity")
		s.ok(sender.LaneVerified(ctx, s.db, s.mine.ID, one.ID, config.ID, noon))
		want("account mta_config sending_domain sending_identity first_mail")
		for i := range 2 {
			u, err := auth.CreateUser(ctx, s.db, fmt.Sprintf("o%d@example.com", i), "O", "", noon)
			s.ok(err)
			s.ok(auth.AddMember(ctx, s.db, s.mine.ID, u.ID, auth.Owner, auth.BySystem, noon))
		}
		_, _, err = webhook.Create(ctx, s.db, s.box, s.mine.ID, webhook.Fields{URL: new("https://hooks.example.com/"), EventTypes: &[]string{"*"}}, webhook.Rules{}, noon)
		s.ok(err)
		want("account mta_config sending_domain sending_identity first_mail second_owner webhooks")
	})
}

func TestWhatNeedsAttention(t *testing.T) {
	each(t, func(t *testing.T, s *place) {
		ctx := t.Context()
		want := func(want ...string) {
			t.Helper()
			o, err := s.reader.Load(ctx, s.mine.ID)
			s.ok(err)
			var got []string
			for _, n := range o.Attention {
				got = append(got, fmt.Sprintf("%s %s %s", n.Kind, n.Severity, n.Message))
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		want()
		config, err := lane.Create(ctx, s.db, s.box, s.mine.ID, lane.Fields{Name: new("Relay"), Type: new(lane.Sink)}, lane.Rules{}, noon)
		s.ok(err)
		s.ok(lane.StoreHealth(ctx, s.db, traffic.Lane{Tenant: s.mine.ID, Lane: config.ID}, lane.Health{State: lane.Healthy}, lane.Health{State: lane.Down, Since: noon, LastError: "connection refused"}))
		d, err := sender.CreateDomain(ctx, s.db, s.box, s.mine.ID, sender.DomainDraft{Domain: "example.com"}, noon)
		s.ok(err)
		_, err = sender.ForceVerify(ctx, s.db, s.mine.ID, "example.com", "127.0.0.1:8080", noon)
		s.ok(err)
		_, err = sender.PauseDomain(ctx, s.db, s.mine.ID, d.ID, sender.Pause{Reason: sender.PausedForComplaints}, noon)
		s.ok(err)
		list, err := seedlist.Create(ctx, s.db, s.mine.ID, seedlist.Change{Name: new("Vendor"), RotationDays: new(new(10)), GraceDays: new(2)}, noon)
		s.ok(err)
		_, err = seedlist.Update(ctx, s.db, s.mine.ID, list.ID, seedlist.Request{Kind: seedlist.Replace, Add: []seedlist.Entry{{Email: "a@gmail.com"}}, AllowLarge: true}, noon)
		s.ok(err)
		const down, paused = "mta error Relay is down: connection refused", "domain error example.com is paused for complaints"
		want(down, paused)
		s.now = noon.AddDate(0, 0, 11)
		want(down, paused, "seed_list warning Vendor is due for an update of its addresses")
		s.now = noon.AddDate(0, 0, 12)
		want("seed_list error Vendor is stale and gets no copies; update its addresses", down, paused)
	})
}

func TestWarningsAboutDomainsNeedAttention(t *testing.T) {
	each(t, func(t *testing.T, s *place) {
		ctx := t.Context()
		d, err := sender.CreateDomain(ctx, s.db, s.box, s.mine.ID, sender.DomainDraft{Domain: "example.com"}, noon)
		s.ok(err)
		day := 24 * time.Hour
		list := []sender.Warning{
			{Metric: sender.Complaints, Provider: "yahoo", Count: 20, Of: 10_000, Threshold: 0.001, Window: day},
			{Metric: sender.HardBounces, Count: 60, Of: 2000, Threshold: 0.02, Window: day},
			{Metric: sender.Refusals, Provider: traffic.OtherProviders, Count: 300, Of: 1000, Threshold: 0.2, Window: day},
			{Metric: sender.AuthFailures, Provider: "gmail", Count: 10, Of: 100, Threshold: 0.05, Window: 30 * time.Minute},
			{Metric: sender.UnknownUsers, Broadcast: id.New[id.Broadcast](), Count: 120, Of: 1000, Threshold: 0.08, Window: day},
			{Metric: sender.Throughput, Count: 4, Of: 1000, Threshold: 0.05, Window: 5 * time.Minute},
		}
		for i, w := range list { // the later ones come first
			_, err = sender.SaveWarnings(ctx, s.db, nil, map[traffic.Domain][]sender.Warning{{Tenant: s.mine.ID, Domain: d.ID}: {w}}, nil, noon.Add(-time.Duration(i)*time.Minute))
			s.ok(err)
		}
		o, err := s.reader.Load(ctx, s.mine.ID)
		s.ok(err)
		want := []string{
			"example.com: 0.2 % of the mails to yahoo were reported as spam (20 of 10000 in 24 hours)",
			"example.com: 3 % of the mails were hard bounces (60 of 2000 in 24 hours)",
			"example.com: 30 % of the attempts to other providers were refused for content or reputation (300 of 1000 in 24 hours)",
			"example.com: 10 % of the attempts to gmail were refused because authentication failed (10 of 100 in 30 minutes)",
			"example.com: 12 % of the first recipients of a broadcast to a new list do not exist (120 of 1000)",
			"example.com: hardly any messages leave though some are due (4 in 5 minutes; before, 1000)",
		}
		if len(o.Attention) != len(want) {
			t.Fatalf("%d notices, want %d: %+v", len(o.Attention), len(want), o.Attention)
		}
		for i, n := range o.Attention {
			since := noon.Add(-time.Duration(i) * time.Minute)
			if n.Kind != overview.OfDomain || n.Severity != overview.Warning || n.Type != "domain" || n.ID != d.ID.String() || n.Message != want[i] || !n.Since.Equal(since) {
				t.Errorf("notice %d: %+v, want %q since %s", i, n, want[i], since)
			}
		}
	})
}

func TestTheNumberOfSendableContactsIsThatOfTheContacts(t *testing.T) {
	each(t, func(t *testing.T, s *place) {
		for n, email := range []string{"ann@example.org", "bob@example.org"} {
			if c, err := s.reader.Counts(t.Context(), s.mine.ID); err != nil || c.Contacts != n || c.Sendable == nil || *c.Sendable != n || !c.CountedAt.Equal(noon) {
				t.Errorf("counts %+v, %v; want %d contacts and as many sendable ones", c, err, n)
			}
			if _, err := contact.Create(t.Context(), s.db, s.mine.ID, email, contact.Change{}, contact.Rules{}, s.now); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAHoldOfAllSendsNeedsAttentionWhereMailWaits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, b := broadcasttest.New(t, db, "mine"), broadcasttest.New(t, db, "other")
		waiting := a.Schedule()
		reader := &overview.Reader{DB: db, Now: func() time.Time { return broadcasttest.Now.Add(time.Hour) }}
		held := func(of id.Tenant) (notices []overview.Notice) {
			t.Helper()
			o, err := reader.Load(t.Context(), of)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range o.Attention {
				if strings.Contains(n.Message, "holds all sends") {
					notices = append(notices, n)
				}
			}
			return notices
		}
		if n := held(a.Tenant); len(n) != 0 {
			t.Errorf("at first: %+v", n)
		}
		if err := hold.Set(t.Context(), db, broadcasttest.Now); err != nil {
			t.Fatal(err)
		}
		if n := held(a.Tenant); len(n) != 1 || n[0].ID != waiting.ID.String() || !n[0].Since.Equal(broadcasttest.Now) {
			t.Errorf("held: %+v", n)
		}
		if n := held(b.Tenant); len(n) != 0 {
			t.Errorf("the other tenant, who sends nothing: %+v", n)
		}
	})
}
