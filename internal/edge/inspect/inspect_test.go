package inspect_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/edge/inspect"
	"github.com/packetboat/packetboat/internal/mail/dsn"
)

const report = `From MAILER-DAEMON Mon Nov 23 10:00:00 2026
From: mailer-daemon@mx.example.net
To: b.token@bounce.example.com
Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

It failed.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.net

Final-Recipient: rfc822; ann@example.net
Action: failed
Status: 5.1.1
Remote-MTA: dns; in.example.net
Diagnostic-Code: smtp; 550 5.1.1 no such user
--b
Content-Type: text/rfc822-headers

Message-ID: <1.2@bounce.example.com>
To: ann@example.net
X-Entity-Ref-ID: 1

--b--
`

func TestInbound(t *testing.T) {
	t.Parallel()
	want := inspect.Inbound{
		Kind: "dsn",
		Recipients: []inspect.Recipient{{
			Address: "ann@example.net", Action: "failed", Status: "5.1.1", SMTPCode: 550, Diagnostic: "no such user",
			Class: "invalid_recipient", Hard: true, RemoteMTA: "in.example.net",
		}},
		Original: inspect.Original{MessageID: "<1.2@bounce.example.com>", To: "ann@example.net", Ref: "1"},
	}
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		got := inspect.ReadInbound([]byte(strings.ReplaceAll(report, "\n", end)))
		for i := range got.Recipients {
			if !strings.Contains(got.Recipients[i].Diagnostic, "no such user") {
				t.Errorf("%s: diagnostic %q", name, got.Recipients[i].Diagnostic)
			}
			got.Recipients[i].Diagnostic = "no such user"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestReply(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line, class, kind string
		retry             bool
	}{
		{"550 5.1.1 no such user", "invalid_recipient", "hard", false},
		{"450 4.1.1 no such user", "invalid_recipient", "transient", true}, // the server may have lost its list of users
		{"421 4.7.0 too many connections\tgmail\tbanner", "rate_limited", "transient", true},
		{"554 blocked using zen.spamhaus.org\toutlook\tbanner", "reputation_block", "block", false},
		{"550 5.7.26 SPF and DKIM both do not pass\t\tdot", "auth_failure", "config", false},
		{"552 5.2.2 over quota", "mailbox_full", "soft", false},
		{"552 5.3.4 message too large\t\tdot", "message_too_large", "content", false},
		{"250 2.1.5 ok", "", "none", false},
		{"550 nothing that is known", "unknown", "soft", false},
		{"451 nothing that is known", "remote_system", "transient", true},
		{"connection reset by peer", "connect_failed", "transient", true},
	} {
		got := inspect.ReadReply(tt.line)
		if string(got.Class) != tt.class || string(got.Kind) != tt.kind || got.Retry != tt.retry || got.Rule == "" {
			t.Errorf("%q: %+v; want %s, %s, retry %t", tt.line, got, tt.class, tt.kind, tt.retry)
		}
	}
}

// The example of RFC 8463 appendix A.
const football = `DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=brisbane; t=1528637909; h=from : to :
 subject : date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus
 Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==
From: Joe SixPack <joe@football.example.com>
To: Suzie Q <suzie@shopping.example.net>
Subject: Is dinner ready?
Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)
Message-ID: <20030712040037.46341.5F8J@football.example.com>

Hi.

We lost the game.  Are you hungry yet?

Joe.
`

func TestVerify(t *testing.T) {
	t.Parallel()
	zone, err := inspect.ReadZone([]byte(`{"brisbane._domainkey.football.example.com": {"TXT": ["v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="]},
		"down._domainkey.football.example.com": {"ERROR": ["SERVFAIL"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, message string
		want          []string
	}{
		{"as published", football, []string{"pass"}},
		{"other body", strings.Replace(football, "hungry", "angry", 1), []string{"fail"}},
		{"other header", strings.Replace(football, "Is dinner ready", "Is lunch ready", 1), []string{"fail"}},
		{"added subject", strings.Replace(football, "From: Joe", "Subject: x\nFrom: Joe", 1), []string{"fail"}}, // h= lists it twice
		{"no key", strings.Replace(football, "s=brisbane", "s=sydney", 1), []string{"permerror"}},
		{"no answer", strings.Replace(football, "s=brisbane", "s=down", 1), []string{"temperror"}},
		{"SHA-1", strings.Replace(football, "ed25519-sha256", "rsa-sha1", 1), []string{"ignored"}},
		{"length", strings.Replace(football, "q=dns/txt;", "q=dns/txt; l=3;", 1), []string{"neutral"}},
		{"none", football[strings.Index(football, "From:"):], []string{}},
		{"no message", "rubbish", []string{}},
	} {
		got := []string{}
		for _, s := range inspect.Verify([]byte(tt.message), zone) {
			got = append(got, s.Result)
			if s.Domain != "football.example.com" || s.Selector == "" || s.Algorithm == "" || (s.Reason == "") != (s.Result == "pass") {
				t.Errorf("%s: %+v", tt.name, s)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	many := inspect.Verify([]byte(strings.Repeat(football[:strings.Index(football, "From:")], 12)+football), zone)
	if n := len(many); n != 13 || many[0].Result != "pass" || many[12].Result != "ignored" {
		t.Errorf("%d results: %+v", n, many)
	}
}

func TestBuildSignVerify(t *testing.T) {
	t.Parallel()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := inspect.Build([]byte(`{"date": "2026-11-23T10:00:00Z", "from": {"name": "Ann\r\nBcc: x@example.org", "address": "ann@example.com"}, "to": "bob@example.org",
		"subject": "Grüße", "message_id": "1.2@bounce.example.com", "html": "<p>Hello</p>", "preheader": "Soon"}`))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(raw); !strings.Contains(text, "\r\n\r\nHello\r\n") || !strings.Contains(text, ">Soon") || strings.Contains(text, "\r\nBcc") {
		t.Errorf("built:\n%s", raw)
	}
	signed, err := inspect.Sign(raw, "example.com", "es1", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	zone, err := inspect.ReadZone([]byte(`{"es1._domainkey.example.com.": {"txt": ["v=DKIM1; k=rsa; p=` + base64.StdEncoding.EncodeToString(public) + `"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []inspect.Signature{{Domain: "example.com", Selector: "es1", Algorithm: "rsa-sha256", Result: "pass"}}
	if diff := cmp.Diff(want, inspect.Verify(signed, zone)); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{``, `{"subjekt": "x"}`, `{"to": "bob@example.org"}`, `{"date": "2026-11-23T10:00:00Z", "from": {"address": "a\r\nb"}, "to": "b@example.org"}`} {
		if out, err := inspect.Build([]byte(bad)); err == nil {
			t.Errorf("Build(%s) = %s", bad, out)
		}
	}
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	zone, err := inspect.ReadZone([]byte(`{
		"example.com": {"TXT": ["v=spf1 include:spf.example.net mx a:host.example.com -all"], "MX": ["10 mx.example.com"]},
		"mx.example.com": {"A": ["198.51.100.7"]}, "host.example.com": {"CNAME": ["h.example.net"]}, "h.example.net": {"AAAA": ["2001:db8::1"]},
		"spf.example.net": {"TXT": ["v=spf1 ip4:192.0.2.0/24 -all"]}, "loop.example.com": {"CNAME": ["loop.example.com"]},
		"twice.example.com": {"TXT": ["v=spf1 -all", "v=spf1 ~all"]}, "down.example.com": {"ERROR": []},
		"_dmarc.example.com": {"TXT": ["v=DMARC1; p=reject; pct=50"]}, "_dmarc.down.org": {"ERROR": []}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ ip, from, helo, want string }{
		{"192.0.2.9", "a@example.com", "h", "pass"},
		{"198.51.100.7", "a@example.com", "h", "pass"},
		{"2001:db8::1", "a@example.com", "h", "pass"},
		{"203.0.113.1", "a@example.com", "h", "fail"},
		{"203.0.113.1", "", "example.com", "fail"},
		{"192.0.2.9", "a@twice.example.com", "h", "permerror"},
		{"192.0.2.9", "a@down.example.com", "h", "temperror"},
		{"192.0.2.9", "a@loop.example.com", "h", "temperror"},
		{"192.0.2.9", "a@nothing.example", "h", "none"},
	} {
		got, err := inspect.CheckSPF(t.Context(), tt.ip, tt.from, tt.helo, zone)
		if err != nil || got.Result != tt.want {
			t.Errorf("SPF of %+v: %+v, %v", tt, got, err)
		}
	}
	if _, err := inspect.CheckSPF(t.Context(), "nonsense", "a@example.com", "", zone); err == nil {
		t.Error("no error for an address that is none")
	}
	for _, tt := range []struct {
		from, spf, dkim string
		want            inspect.DMARC
	}{
		{"a@news.example.com", "bounce.example.com", "other.org", inspect.DMARC{
			RecordDomain: "example.com", OrgDomain: "example.com", Policy: "reject", AlignedSPF: true, Result: "pass",
			Warnings: []string{"the tag pct was removed from the standard: some receivers still use it, others ignore it"},
		}},
		{"example.org", "example.org", "example.org", inspect.DMARC{OrgDomain: "example.org", AlignedSPF: true, AlignedDKIM: true, Result: "none", Warnings: []string{}}},
		{"down.org", "", "", inspect.DMARC{Result: "temperror"}},
	} {
		got := inspect.CheckDMARC(t.Context(), tt.from, tt.spf, []string{tt.dkim}, zone)
		if tt.want.Result == "temperror" {
			got.Warnings = nil
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("DMARC of %s: %s", tt.from, diff)
		}
	}
	for _, bad := range []string{``, `[]`, `{"example.com": {"SRV": ["x"]}}`, `{"example.com": {"TXT": "x"}}`} {
		if _, err := inspect.ReadZone([]byte(bad)); err == nil {
			t.Errorf("ReadZone(%s) gave no error", bad)
		}
	}
}

func TestHeaderAndLinks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, want string }{
		{"Subject", "Hello", "Subject: Hello\r\n"},
		{"Subject", "Gr\u00fc\u00dfe", "Subject: =?utf-8?B?R3LDvMOfZQ==?=\r\n"},
		{"Subject", "a\r\nBcc: x", "Subject: a Bcc: x\r\n"},
		{"From", "Ann, Dr. <ann@example.com>", "From: \"Ann, Dr.\" <ann@example.com>\r\n"},
		{"To", "ann@example.com", "To: ann@example.com\r\n"},
		{"To", "nobody", ""},
		{"Bad name", "x", ""},
	} {
		got, err := inspect.Header(tt.name, tt.value)
		if (err != nil) != (tt.want == "") || err == nil && string(got) != tt.want {
			t.Errorf("Header(%s, %q) = %q, %v; want %q", tt.name, tt.value, got, err, tt.want)
		}
	}
	out, list, err := inspect.Links(`<a href="https://example.com/?a=1&amp;b=2">One</a> <a href="mailto:x@example.com">x</a>`, "https://go.example.com/")
	if err != nil || out != `<a href="https://go.example.com/_q/c/0">One</a> <a href="mailto:x@example.com">x</a>` ||
		len(list) != 1 || list[0] != (inspect.Link{URL: "https://example.com/?a=1&b=2", Label: "One"}) {
		t.Errorf("%s, %+v, %v", out, list, err)
	}
}

func TestAgent(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]inspect.Agent{
		"Mozilla/5.0": {Proxy: true, Client: "apple_mail", Vendor: "apple"},
		"Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)": {Proxy: true, Client: "gmail", Vendor: "google"},
		"curl/8.0": {Machine: true, Client: "other"},
		"Mozilla/5.0 " + strings.Repeat("x", 1<<20) + " curl/8.0":                      {Client: "other"}, // only the beginning is read
		"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0": {Client: "thunderbird"},
	} {
		if got := inspect.ReadAgent(agent); got != want {
			t.Errorf("%s: %+v, want %+v", agent, got, want)
		}
	}
}

func FuzzInbound(f *testing.F) {
	f.Add([]byte(report))
	f.Add([]byte("From "))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if r := inspect.ReadInbound(raw); r.Kind == dsn.ARF && r.Feedback == nil {
			t.Error("an abuse report without fields")
		}
	})
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte(football))
	zone := inspect.Zone{}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, s := range inspect.Verify(raw, zone) {
			if s.Result == "pass" {
				t.Errorf("a signature without a key: %+v", s)
			}
		}
	})
}
