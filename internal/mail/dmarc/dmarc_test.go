package dmarc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/packetboat/packetboat/internal/mail/dmarc"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text     string
		ok       bool
		policy   dmarc.Disposition
		problems int
	}{
		{"v=DMARC1; p=reject", true, dmarc.Reject, 0},
		{" v=DMARC1; p=reject", false, "", 0},
		{"v = DMARC1 ;P=Quarantine; rua=mailto:a@example.org, mailto:b@example.org", true, dmarc.Quarantine, 0},
		{"v=DMARC1", true, dmarc.None, 2},
		{"v=DMARC1; p=rejcet", true, dmarc.None, 2},
		{"v=DMARC1; p=none; p=reject", true, dmarc.None, 1},
		{"v=DMARC1; p=none; pct=20; x-unknown=1; rubbish", true, dmarc.None, 2},
		{"v=DMARC1; p=none; adkim=x; aspf=s; t=q; psd=z; sp=no; np=no", true, dmarc.None, 6},
		{"v=DMARC2; p=none", false, "", 0},
		{"v=dmarc1; p=none", false, "", 0},
		{"p=none; v=DMARC1", false, "", 0},
		{"v=spf1 -all", false, "", 0},
		{"", false, "", 0},
		{"v=DMARC1;" + strings.Repeat(" ", dmarc.MaxRecord) + "p=none", false, "", 0},
	} {
		r, ok := dmarc.Parse(tt.text)
		if ok != tt.ok || r.Policy != tt.policy || len(r.Problems) != tt.problems {
			t.Errorf("Parse(%.60q) = %+v, %t", tt.text, r, ok)
		}
	}
}

// Section 4.10.1: whether a record whose policies are not valid still counts depends on its reports.
func TestARecordWithoutAValidPolicy(t *testing.T) {
	t.Parallel()
	for tags, ignored := range map[string]bool{
		"": true, "p=": true, "p=all": true, "sp=reject": true, "p=reject; sp=all": true, "p=reject; np=": true, "p=\"reject\"": true,
		"rua=": true, "rua=d@example.org": true, "rua=mailto:": true, "p=all; rua=mailto:@example.org,example.org": true,
		"rua=mailto:d@example.org": false, "p=all; rua=x, mailto:d@example.org!10m": false, "p=reject; sp=all; rua=https://example.org/r": false,
	} {
		r, ok := dmarc.Parse("v=DMARC1; " + tags)
		if !ok || r.Ignored != ignored || r.Policy != dmarc.None || r.Subdomains != "" || r.Nonexistent != "" || len(r.Problems) == 0 {
			t.Errorf("Parse(v=DMARC1; %s) = %+v, %v", tags, r, ok)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	s := dnstest.New(t,
		`_dmarc.example.com. 60 IN TXT "v=DMARC1; p=reject; sp=quarantine; np=none"`,
		`news.example.com. 60 IN A 192.0.2.1`,
		`_dmarc.own.example.com. 60 IN TXT "v=DMARC1; p=none"`,
		`_dmarc.bank. 60 IN TXT "v=DMARC1; p=reject; psd=y"`,
		`_dmarc.stop.example.com. 60 IN TXT "v=DMARC1; p=quarantine; psd=n"`,
		`_dmarc.twice.org. 60 IN TXT "v=DMARC1; p=none"`,
		`_dmarc.twice.org. 60 IN TXT "v=DMARC1; p=reject"`,
		`_dmarc.ignored.example.com. 60 IN TXT "v=DMARC1; p=all"`,
		`_dmarc.reported.example.com. 60 IN TXT "v=DMARC1; p=all; rua=mailto:d@example.com"`,
		`_dmarc.test.org. 60 IN TXT "v=DMARC1; p=reject; t=y"`,
	)
	for _, tt := range []struct {
		domain, record, org string
		want                dmarc.Disposition
	}{
		{"example.com", "example.com", "example.com", dmarc.Reject},
		{"News.Example.com.", "example.com", "example.com", dmarc.Quarantine},
		{"missing.example.com", "example.com", "example.com", dmarc.None},
		{"own.example.com", "own.example.com", "example.com", dmarc.None},
		{"a.b.c.d.e.f.g.h.i.example.com", "example.com", "example.com", dmarc.None},
		{"a.stop.example.com", "stop.example.com", "stop.example.com", dmarc.Quarantine},
		{"mail.acme.bank", "bank", "acme.bank", dmarc.Reject},
		{"twice.org", "", "twice.org", ""},
		{"ignored.example.com", "ignored.example.com", "example.com", ""},
		{"reported.example.com", "reported.example.com", "example.com", dmarc.None},
		{"test.org", "test.org", "test.org", dmarc.Quarantine},
		{"nothing.example", "", "nothing.example", ""},
	} {
		p, err := dmarc.Find(t.Context(), s.Resolver(), tt.domain)
		if err != nil || p.RecordDomain != tt.record || p.OrgDomain != tt.org || p.Disposition != tt.want {
			t.Errorf("Find(%s) = %+v, %v; want record at %q, organization %q, %q", tt.domain, p, err, tt.record, tt.org, tt.want)
		}
	}
	s.Fail("_dmarc.example.com", dns.RcodeServerFailure)
	if _, err := dmarc.Find(t.Context(), s.Resolver(), "news.example.com"); err == nil {
		t.Error("no error although the DNS does not answer")
	}
}

func TestAWalkIsShort(t *testing.T) {
	t.Parallel()
	s := dnstest.New(t)
	name := strings.Repeat("x.", 100) + "example.com"
	if _, err := dmarc.Find(t.Context(), s.Resolver(), name); err != nil {
		t.Fatal(err)
	}
	var asked []string
	for labels := strings.Split(name, "."); len(labels) > 0; labels = labels[1:] {
		if s.Queries("TXT", "_dmarc."+strings.Join(labels, ".")) > 0 {
			asked = append(asked, strings.Join(labels, "."))
		}
	}
	if len(asked) != 8 || asked[1] != "x.x.x.x.x.example.com" || !slices.Contains(asked, "com") {
		t.Errorf("asked for %q", asked)
	}
}

func TestAlign(t *testing.T) {
	t.Parallel()
	s := dnstest.New(t,
		`_dmarc.example.com. 60 IN TXT "v=DMARC1; p=reject"`,
		`_dmarc.strict.com. 60 IN TXT "v=DMARC1; p=reject; adkim=s; aspf=s"`,
		`_dmarc.com. 60 IN TXT "v=DMARC1; p=none; psd=y"`,
	)
	for _, tt := range []struct {
		from, spf string
		dkim      []string
		want      dmarc.Alignment
	}{
		{"example.com", "bounce.example.com", []string{"example.com"}, dmarc.Alignment{SPF: true, DKIM: true}},
		{"news.example.com", "bounce.example.com", []string{"other.org", "example.com"}, dmarc.Alignment{SPF: true, DKIM: true}},
		{"example.com", "relay.other.com", []string{"other.com"}, dmarc.Alignment{}},
		{"example.com", "badexample.com", nil, dmarc.Alignment{}},
		{"example.com", "", []string{"com"}, dmarc.Alignment{}},
		{"strict.com", "bounce.strict.com", []string{"strict.com"}, dmarc.Alignment{DKIM: true}},
	} {
		p, err := dmarc.Find(t.Context(), s.Resolver(), tt.from)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Align(t.Context(), s.Resolver(), tt.spf, tt.dkim...); err != nil || got != tt.want {
			t.Errorf("From %s, SPF %s, DKIM %q: %+v, %v; want %+v", tt.from, tt.spf, tt.dkim, got, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("v=DMARC1; p=reject; sp=none; rua=mailto:a@example.org; psd=n")
	f.Fuzz(func(t *testing.T, text string) {
		r, ok := dmarc.Parse(text)
		if ok && r.Policy == "" {
			t.Errorf("a record without policy: %+v", r)
		}
	})
}
