package dnscheck_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"unicode"

	"github.com/miekg/dns"

	"github.com/packetboat/packetboat/internal/mail/dnscheck"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
)

const (
	key   = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA"
	other = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEB"
)

// record returns the wanted record of a kind for acme.example.
func record(kind dnscheck.Kind) dnscheck.Record {
	r := dnscheck.Record{Kind: kind, Domain: "acme.example"}
	switch kind {
	case dnscheck.DKIM:
		r.Host, r.Value = "es1._domainkey.acme.example", "v=DKIM1; k=rsa; p="+key
	case dnscheck.MX:
		r.Host, r.Value = "bounce.acme.example", "mx.boat.example"
	case dnscheck.SPF:
		r.Host, r.Value = "bounce.acme.example", "v=spf1 include:spf.boat.example -all"
	case dnscheck.CNAME:
		r.Host, r.Value = "go.acme.example", "track.boat.example"
	case dnscheck.DMARC:
		r.Host, r.Value = "_dmarc.acme.example", "v=DMARC1; p=none;"
	case dnscheck.TXT:
		r.Host, r.Value = "bounce.acme.example", "relay-token=abc"
	}
	return r
}

// TestCheck compares the findings for records that owners publish with those expected. A problem
// is checked by a part of its text.
func TestCheck(t *testing.T) {
	t.Parallel()
	const dkimHost, bounce, tracking = "es1._domainkey.acme.example. 60 IN ", "bounce.acme.example. 60 IN ", "go.acme.example. 60 IN "
	for _, tt := range []struct {
		name    string
		kind    dnscheck.Kind
		zone    []string
		status  dnscheck.Status
		found   string
		problem string
	}{
		{"key", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; k=rsa; p=` + key + `"`}, "ok", "v=DKIM1; k=rsa; p=" + key, ""},
		{"key in several strings", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; k=rsa; p=` + key[:20] + `" "` + key[20:] + `"`}, "ok", "v=DKIM1; k=rsa; p=" + key, ""},
		{"key without version and type", dnscheck.DKIM, []string{dkimHost + `TXT "p=` + key + `"`}, "ok", "p=" + key, ""},
		{"key with spaces", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; k=rsa; p=` + key[:20] + ` ` + key[20:] + `;"`}, "ok", "v=DKIM1; k=rsa; p=" + key[:20] + " " + key[20:] + ";", ""},
		{"key by an alias", dnscheck.DKIM, []string{dkimHost + `CNAME k.other.example.`, `k.other.example. 60 IN TXT "v=DKIM1; p=` + key + `"`}, "ok", "v=DKIM1; p=" + key, ""},
		{"no key", dnscheck.DKIM, nil, "missing", "", ""},
		{"another key", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; p=` + other + `"`}, "invalid", "v=DKIM1; p=" + other, "another key"},
		{"cut key", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; p=` + key[:20] + `"`}, "invalid", "v=DKIM1; p=" + key[:20], "ends after 20 of"},
		{"revoked key", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; p="`}, "invalid", "v=DKIM1; p=", "revoked"},
		{"key of another type", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; k=ed25519; p=` + key + `"`}, "invalid", "v=DKIM1; k=ed25519; p=" + key, "k=ed25519"},
		{"key for another hash", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; h=sha1; p=` + key + `"`}, "invalid", "v=DKIM1; h=sha1; p=" + key, "sha256"},
		{"key for another service", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; s=web; p=` + key + `"`}, "invalid", "v=DKIM1; s=web; p=" + key, "email"},
		{"two keys", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; p=` + key + `"`, dkimHost + `TXT "v=DKIM1; p=` + other + `"`}, "invalid", "v=DKIM1; p=" + key + "\nv=DKIM1; p=" + other, "several"},
		{"no key but a text", dnscheck.DKIM, []string{dkimHost + `TXT "hello"`}, "invalid", "hello", "v=DKIM1"},
		{"key in quotes", dnscheck.DKIM, []string{dkimHost + `TXT "\"v=DKIM1; k=rsa; p=` + key + `\""`}, "invalid", `"v=DKIM1; k=rsa; p=` + key + `"`, "quotation marks; remove them"},
		{"key in quoted strings", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; k=rsa; p=` + key[:20] + `\" \"` + key[20:] + `"`}, "invalid", `v=DKIM1; k=rsa; p=` + key[:20] + `" "` + key[20:], "quotation marks"},
		{"quoted key", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; k=rsa; p=\"` + key + `\""`}, "invalid", `v=DKIM1; k=rsa; p="` + key + `"`, "quotation marks"},
		{"key with backslashes", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1\\; k=rsa\\; p=` + key + `"`}, "invalid", `v=DKIM1\; k=rsa\; p=` + key, "backslashes"},
		{"key with a tag twice", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; k=rsa; k=rsa; p=` + key + `"`}, "invalid", "v=DKIM1; k=rsa; k=rsa; p=" + key, "the tag k is there twice"},
		{"key with an empty tag", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1;; p=` + key + `"`}, "invalid", "v=DKIM1;; p=" + key, "is not a tag"},
		{"key with a word", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; rsa; p=` + key + `"`}, "invalid", "v=DKIM1; rsa; p=" + key, "is not a tag"},
		{"key of a type in upper case", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; k=RSA; p=` + key + `"`}, "invalid", "v=DKIM1; k=RSA; p=" + key, "k=RSA"},
		{"key of a type with a space", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; k=r sa; p=` + key + `"`}, "invalid", "v=DKIM1; k=r sa; p=" + key, "k=r sa"},
		{"key of an unknown version", dnscheck.DKIM, []string{dkimHost + `TXT "v=; p=` + key + `"`}, "invalid", "v=; p=" + key, "begin with v=DKIM1"},
		{"key after another tag", dnscheck.DKIM, []string{dkimHost + `TXT "k=rsa; v=DKIM1; p=` + key + `"`}, "invalid", "k=rsa; v=DKIM1; p=" + key, "begin with v=DKIM1"},
		{"key beside a text", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; p=` + key + `"`, dkimHost + `TXT "hello"`}, "invalid", "v=DKIM1; p=" + key + "\nhello", "another TXT record beside the key"},
		{"key that is tested", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; t=s:y; p=` + key + `"`}, "invalid", "v=DKIM1; t=s:y; p=" + key, "t=y"},
		{"key with unknown tags", dnscheck.DKIM, []string{dkimHost + `TXT "v=DKIM1; t=s; n=note; x1=y; h=sha1:sha256; s=*; p=` + key + ` ; "`}, "ok", "v=DKIM1; t=s; n=note; x1=y; h=sha1:sha256; s=*; p=" + key + " ; ", ""},
		{"key at a doubled name", dnscheck.DKIM, []string{`es1._domainkey.acme.example.acme.example. 60 IN TXT "v=DKIM1; p=` + key + `"`}, "missing", "", "enter es1._domainkey as its name"},
		{"key without the underscore", dnscheck.DKIM, []string{`es1.domainkey.acme.example. 60 IN TXT "v=DKIM1; p=` + key + `"`}, "missing", "", "move it to es1._domainkey.acme.example"},
		{"key at the apex", dnscheck.DKIM, []string{`acme.example. 60 IN TXT "v=DKIM1; p=` + key + `"`}, "missing", "", "the record is at acme.example"},

		{"mx", dnscheck.MX, []string{bounce + "MX 10 MX.boat.example."}, "ok", "10 mx.boat.example", ""},
		{"mx with a fallback", dnscheck.MX, []string{bounce + "MX 20 backup.example.", bounce + "MX 10 mx.boat.example."}, "ok", "10 mx.boat.example\n20 backup.example", ""},
		{"mx of another", dnscheck.MX, []string{bounce + "MX 10 mx.google.example."}, "invalid", "10 mx.google.example", "delete that MX record"},
		{"mx beside another", dnscheck.MX, []string{bounce + "MX 10 mx.boat.example.", bounce + "MX 5 mx.google.example."}, "invalid", "5 mx.google.example\n10 mx.boat.example", "goes to mx.google.example"},
		{"mx with the domain appended", dnscheck.MX, []string{bounce + "MX 10 mx.boat.example.acme.example."}, "invalid", "10 mx.boat.example.acme.example", "final dot"},
		{"null mx", dnscheck.MX, []string{bounce + "MX 0 ."}, "invalid", "0 .", "bounce.acme.example takes no mail (null MX"},
		{"null mx beside ours", dnscheck.MX, []string{bounce + "MX 10 mx.boat.example.", bounce + "MX 20 ."}, "invalid", "10 mx.boat.example\n20 .", "null MX"},
		{"no mx", dnscheck.MX, []string{bounce + "A 192.0.2.1"}, "missing", "", ""},
		{"mx at a doubled name", dnscheck.MX, []string{"bounce.acme.example.acme.example. 60 IN MX 10 mx.boat.example."}, "missing", "", "enter bounce as its name"},

		{"spf", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example -all"`}, "ok", "v=spf1 include:spf.boat.example -all", ""},
		{"spf beside other texts", dnscheck.SPF, []string{bounce + `TXT "verification=1"`, bounce + `TXT "V=SPF1 ip4:192.0.2.1 +Include:SPF.boat.example ~all"`}, "ok", "V=SPF1 ip4:192.0.2.1 +Include:SPF.boat.example ~all", ""},
		{"spf by an include", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:_spf.acme.example -all"`, `_spf.acme.example. 60 IN TXT "v=spf1 include:spf.boat.example ?all"`}, "ok", "v=spf1 include:_spf.acme.example -all", ""},
		{"spf by a redirect to ours", dnscheck.SPF, []string{bounce + `TXT "v=spf1 redirect=spf.boat.example"`, `spf.boat.example. 60 IN TXT "v=spf1 ip4:192.0.2.1 -all"`}, "ok", "v=spf1 redirect=spf.boat.example", ""},
		{"spf by a redirect to ours, later", dnscheck.SPF, []string{bounce + `TXT "v=spf1 redirect=_spf.acme.example"`, `_spf.acme.example. 60 IN TXT "v=spf1 redirect=SPF.boat.example."`}, "ok", "v=spf1 redirect=_spf.acme.example", ""},
		{"spf by a redirect to ours and all", dnscheck.SPF, []string{bounce + `TXT "v=spf1 -all redirect=spf.boat.example"`}, "invalid", "v=spf1 -all redirect=spf.boat.example", "is missing"},
		{"spf by a redirect to ours that passes all", dnscheck.SPF, []string{bounce + `TXT "v=spf1 redirect=spf.boat.example"`, `spf.boat.example. 60 IN TXT "v=spf1 +all"`}, "invalid", "v=spf1 redirect=spf.boat.example", "everyone"},
		{"spf by an include that fails", dnscheck.SPF, []string{bounce + `TXT "v=spf1 -include:_spf.acme.example ~all"`, `_spf.acme.example. 60 IN TXT "v=spf1 include:spf.boat.example -all"`}, "invalid", "v=spf1 -include:_spf.acme.example ~all", "is missing"},
		{"spf by an include that passes all", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example include:_spf.acme.example -all"`, `_spf.acme.example. 60 IN TXT "v=spf1 all"`}, "invalid", "v=spf1 include:spf.boat.example include:_spf.acme.example -all", "everyone"},
		{"spf in quotes", dnscheck.SPF, []string{bounce + `TXT "\"v=spf1 include:spf.boat.example -all\""`}, "invalid", `"v=spf1 include:spf.boat.example -all"`, "quotation marks"},
		{"spf with a quoted term", dnscheck.SPF, []string{bounce + `TXT "v=spf1 \"include:spf.boat.example\" -all"`}, "invalid", `v=spf1 "include:spf.boat.example" -all`, "no such term"},
		{"spf with a mistake after the match", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example -all ip4:192.0.2.300"`}, "invalid", "v=spf1 include:spf.boat.example -all ip4:192.0.2.300", "ip4:192.0.2.300"},
		{"spf with two redirects", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example redirect=a.example redirect=a.example"`}, "invalid", "v=spf1 include:spf.boat.example redirect=a.example redirect=a.example", "only once"},
		{"spf with an empty redirect", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example redirect="`}, "invalid", "v=spf1 include:spf.boat.example redirect=", "a domain such as"},
		{"spf with an empty exp", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example -all exp="`}, "invalid", "v=spf1 include:spf.boat.example -all exp=", "a domain such as"},
		{"spf with two exp", dnscheck.SPF, []string{bounce + `TXT "v=spf1 exp=a.example include:spf.boat.example -all EXP=a.example"`}, "invalid", "v=spf1 exp=a.example include:spf.boat.example -all EXP=a.example", "only once"},
		{"spf with a bad domain", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example a:localhost -all"`}, "invalid", "v=spf1 include:spf.boat.example a:localhost -all", "a:localhost"},
		{"spf with a bad macro", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example exists:%{x}.a.example -all"`}, "invalid", "v=spf1 include:spf.boat.example exists:%{x}.a.example -all", "macro"},
		{"spf with a tab", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example\009-all"`}, "invalid", "v=spf1 include:spf.boat.example?-all", "spaces between"},
		{"spf with a mistake in an include", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example include:b.example -all"`, `b.example. 60 IN TXT "v=spf1 ip4 -all"`}, "invalid", "v=spf1 include:spf.boat.example include:b.example -all", "the SPF record of b.example has a mistake"},
		{"spf with two void terms", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example a:n1.example mx:n2.example -all"`}, "ok", "v=spf1 include:spf.boat.example a:n1.example mx:n2.example -all", ""},
		{"spf with three void terms", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example a:n1.example mx:n2.example exists:n3.example -all"`}, "invalid", "v=spf1 include:spf.boat.example a:n1.example mx:n2.example exists:n3.example -all", "a:n1.example, mx:n2.example, exists:n3.example"},
		{"spf with void terms in an include", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example a:n1.example include:b.example -all"`, `b.example. 60 IN TXT "v=spf1 a mx ?all"`}, "invalid", "v=spf1 include:spf.boat.example a:n1.example include:b.example -all", "more than 2 terms"},
		{"spf with terms that the DNS has", dnscheck.SPF, []string{bounce + `TXT "v=spf1 a:h1.example a:h2.example mx:h3.example include:spf.boat.example -all"`, "h1.example. 60 IN A 192.0.2.1", "h2.example. 60 IN A 192.0.2.2", "h3.example. 60 IN MX 5 h1.example."}, "ok", "v=spf1 a:h1.example a:h2.example mx:h3.example include:spf.boat.example -all", ""},
		{"spf by a redirect", dnscheck.SPF, []string{bounce + `TXT "v=spf1 redirect=_spf.acme.example"`, `_spf.acme.example. 60 IN TXT "v=spf1 include:spf.boat.example -all"`}, "ok", "v=spf1 redirect=_spf.acme.example", ""},
		{"spf after all", dnscheck.SPF, []string{bounce + `TXT "v=spf1 -all include:spf.boat.example"`}, "invalid", "v=spf1 -all include:spf.boat.example", "include:spf.boat.example is missing"},
		{"spf that fails ours", dnscheck.SPF, []string{bounce + `TXT "v=spf1 -include:spf.boat.example ~all"`}, "invalid", "v=spf1 -include:spf.boat.example ~all", "is missing"},
		{"spf for all", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example +all"`}, "invalid", "v=spf1 include:spf.boat.example +all", "everyone"},
		{"spf twice", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:spf.boat.example -all"`, bounce + `TXT "v=spf1 -all"`}, "invalid", "v=spf1 include:spf.boat.example -all\nv=spf1 -all", "several"},
		{"spf with a mistake", dnscheck.SPF, []string{bounce + `TXT "v=spf1 incldue:spf.boat.example -all"`}, "invalid", "v=spf1 incldue:spf.boat.example -all", "incldue:spf.boat.example: there is no such term"},
		{"spf with a void include", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:none.example include:spf.boat.example -all"`}, "invalid", "v=spf1 include:none.example include:spf.boat.example -all", "none.example, which has 0"},
		{"spf in a circle", dnscheck.SPF, []string{bounce + `TXT "v=spf1 include:bounce.acme.example include:spf.boat.example -all"`}, "invalid", "v=spf1 include:bounce.acme.example include:spf.boat.example -all", "more than 10 queries"},
		{"no spf", dnscheck.SPF, nil, "missing", "", ""},
		{"texts but no spf", dnscheck.SPF, []string{bounce + `TXT "include:spf.boat.example"`}, "missing", "include:spf.boat.example", "none begins with v=spf1"},

		{"alias", dnscheck.CNAME, []string{tracking + "CNAME Track.boat.example."}, "ok", "track.boat.example", ""},
		{"alias of an alias", dnscheck.CNAME, []string{tracking + "CNAME links.acme.example.", "links.acme.example. 60 IN CNAME track.boat.example."}, "ok", "links.acme.example", ""},
		{"alias of another host at the same addresses", dnscheck.CNAME, []string{tracking + "CNAME lb.example.", "lb.example. 60 IN A 192.0.2.7", "track.boat.example. 60 IN A 192.0.2.7"}, "ok", "lb.example", ""},
		{"flattened alias", dnscheck.CNAME, []string{tracking + "A 192.0.2.7", "track.boat.example. 60 IN A 192.0.2.7"}, "ok", "192.0.2.7", ""},
		{"proxied alias", dnscheck.CNAME, []string{tracking + "A 198.51.100.7", "track.boat.example. 60 IN A 192.0.2.7"}, "invalid", "198.51.100.7", "proxy"},
		{"alias of another", dnscheck.CNAME, []string{tracking + "CNAME www.acme.example."}, "invalid", "www.acme.example", "another host"},
		{"alias with the domain appended", dnscheck.CNAME, []string{tracking + "CNAME track.boat.example.acme.example."}, "invalid", "track.boat.example.acme.example", "final dot"},
		{"alias in a circle", dnscheck.CNAME, []string{tracking + "CNAME b.example.", "b.example. 60 IN CNAME go.acme.example."}, "invalid", "b.example", "another host"},
		{"no alias", dnscheck.CNAME, nil, "missing", "", ""},
		{"alias at a doubled name", dnscheck.CNAME, []string{"go.acme.example.acme.example. 60 IN CNAME track.boat.example."}, "missing", "", "enter go as its name"},

		{"dmarc", dnscheck.DMARC, []string{`_dmarc.acme.example. 60 IN TXT "v=DMARC1; p=reject"`}, "ok", "v=DMARC1; p=reject", ""},
		{"dmarc twice", dnscheck.DMARC, []string{`_dmarc.acme.example. 60 IN TXT "v=DMARC1; p=reject"`, `_dmarc.acme.example. 60 IN TXT "v=DMARC1; p=none"`}, "invalid", "v=DMARC1; p=reject\nv=DMARC1; p=none", "several"},
		{"dmarc with a mistake", dnscheck.DMARC, []string{`_dmarc.acme.example. 60 IN TXT "p=reject"`}, "invalid", "p=reject", "v=DMARC1"},
		{"dmarc at the apex", dnscheck.DMARC, []string{`acme.example. 60 IN TXT "v=DMARC1; p=reject"`}, "missing", "", "move it to _dmarc.acme.example"},
		{"dmarc in quotes", dnscheck.DMARC, []string{`_dmarc.acme.example. 60 IN TXT "\"v=DMARC1; p=none\""`}, "invalid", `"v=DMARC1; p=none"`, "quotation marks"},
		{"dmarc with backslashes", dnscheck.DMARC, []string{`_dmarc.acme.example. 60 IN TXT "v=DMARC1\\; p=none"`}, "invalid", `v=DMARC1\; p=none`, "backslashes"},
		{"dmarc without a policy", dnscheck.DMARC, []string{`_dmarc.acme.example. 60 IN TXT "v=DMARC1;"`}, "invalid", "v=DMARC1;", "the tag p is missing; receivers act as without a record"},
		{"dmarc with a bad policy", dnscheck.DMARC, []string{`_dmarc.acme.example. 60 IN TXT "v=DMARC1; p=\"none\""`}, "invalid", `v=DMARC1; p="none"`, "act as without a record"},
		{"dmarc with a bad policy for subdomains", dnscheck.DMARC, []string{`_dmarc.acme.example. 60 IN TXT "v=DMARC1; p=reject; sp=all"`}, "invalid", "v=DMARC1; p=reject; sp=all", "act as without a record"},
		{"dmarc without a policy but reports", dnscheck.DMARC, []string{`_dmarc.acme.example. 60 IN TXT "v=DMARC1; rua=mailto:d@acme.example"`}, "ok", "v=DMARC1; rua=mailto:d@acme.example", "receivers act as for p=none"},
		{"no dmarc", dnscheck.DMARC, nil, "missing", "", ""},

		{"text", dnscheck.TXT, []string{bounce + `TXT "relay-token=abc"`, bounce + `TXT "v=spf1 -all"`}, "ok", "relay-token=abc\nv=spf1 -all", ""},
		{"text in several strings", dnscheck.TXT, []string{bounce + `TXT "relay-" "token=abc"`}, "ok", "relay-token=abc", ""},
		{"text in quotes", dnscheck.TXT, []string{bounce + `TXT "\"relay-token=abc\""`}, "invalid", `"relay-token=abc"`, "quotation marks"},
		{"another text", dnscheck.TXT, []string{bounce + `TXT "relay-token=ABC"`}, "missing", "relay-token=ABC", "none with this value"},
		{"no text", dnscheck.TXT, []string{bounce + "A 192.0.2.1"}, "missing", "", ""},
		{"text at a doubled name", dnscheck.TXT, []string{`bounce.acme.example.acme.example. 60 IN TXT "relay-token=abc"`}, "missing", "", "enter bounce as its name"},
		{"another text at a doubled name", dnscheck.TXT, []string{`bounce.acme.example.acme.example. 60 IN TXT "x"`}, "missing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := dnstest.New(t, tt.zone...)
			f := dnscheck.Check(t.Context(), dnscheck.NewResolver(s.Addr), record(tt.kind))
			if f.Status != tt.status || !sameLines(f.Found, tt.found) || !strings.Contains(f.Problem, tt.problem) || tt.problem == "" && f.Problem != "" {
				t.Errorf("Check = %q, found %q, problem %q; want %q, %q, %q", f.Status, f.Found, f.Problem, tt.status, tt.found, tt.problem)
			}
		})
	}
}

// sameLines compares lines whatever their order: name servers answer in any.
func sameLines(a, b string) bool {
	count := map[string]int{}
	for line := range strings.SplitSeq(a, "\n") {
		count[line]++
	}
	for line := range strings.SplitSeq(b, "\n") {
		if count[line]--; count[line] == 0 {
			delete(count, line)
		}
	}
	return len(count) == 0
}

// TestCheckOfARelaysRecords checks records whose values are not those of this installation.
func TestCheckOfARelaysRecords(t *testing.T) {
	t.Parallel()
	const bounce = "bounce.acme.example. 60 IN "
	mx := func(value string, beside ...string) dnscheck.Record {
		return dnscheck.Record{Kind: dnscheck.MX, Domain: "acme.example", Host: "bounce.acme.example", Value: value, Beside: beside}
	}
	spf := func(value string) dnscheck.Record {
		return dnscheck.Record{Kind: dnscheck.SPF, Domain: "acme.example", Host: "bounce.acme.example", Value: value}
	}
	relay := `spf.relay.example. 60 IN TXT "v=spf1 ip4:192.0.2.0/24 -all"`
	for _, tt := range []struct {
		name    string
		record  dnscheck.Record
		zone    []string
		status  dnscheck.Status
		problem string
	}{
		{"both servers", mx("a.example", "b.example"), []string{bounce + "MX 10 a.example.", bounce + "MX 10 B.example."}, "ok", ""},
		{"both servers, the other first", mx("a.example", "b.example"), []string{bounce + "MX 20 a.example.", bounce + "MX 10 b.example."}, "ok", ""},
		{"only the other server", mx("a.example", "b.example"), []string{bounce + "MX 10 b.example."}, "invalid", "the MX record of a.example is missing"},
		{"a foreign server beside them", mx("a.example", "b.example"), []string{bounce + "MX 10 a.example.", bounce + "MX 10 b.example.", bounce + "MX 10 c.example."}, "invalid", "keep only a.example and b.example"},
		{"a foreign server after them", mx("a.example", "b.example"), []string{bounce + "MX 10 a.example.", bounce + "MX 10 b.example.", bounce + "MX 20 c.example."}, "ok", ""},
		{"redirect", spf("v=spf1 redirect=spf.relay.example"), []string{relay, bounce + `TXT "v=spf1 redirect=spf.relay.example"`}, "ok", ""},
		{"include for a redirect", spf("v=spf1 redirect=spf.relay.example"), []string{relay, bounce + `TXT "v=spf1 include:spf.relay.example -all"`}, "ok", ""},
		{"redirect after all", spf("v=spf1 redirect=spf.relay.example"), []string{relay, bounce + `TXT "v=spf1 -all redirect=spf.relay.example"`}, "invalid", "must be the last term"},
		{"no redirect", spf("v=spf1 redirect=spf.relay.example"), []string{relay, bounce + `TXT "v=spf1 -all"`}, "invalid", "redirect=spf.relay.example is missing"},
		{"a network", spf("v=spf1 ip4:192.0.2.0/24 -all"), []string{bounce + `TXT "v=spf1 ip4:192.0.2.0/24 ~all"`}, "ok", ""},
		{"no network", spf("v=spf1 ip4:192.0.2.0/24 -all"), []string{bounce + `TXT "v=spf1 ip4:192.0.2.1 ~all"`}, "invalid", "ip4:192.0.2.0/24 is missing"},
		{"a mistake in what was asked for", spf("v=spf1 a:relay -all"), []string{bounce + `TXT "v=spf1 a:relay -all"`}, "invalid", "correct it in the MTA config"},
		{"a part of a published network", spf("v=spf1 ip4:192.0.2.8/29 -all"), []string{bounce + `TXT "v=spf1 ip4:192.0.2.0/24 -all"`}, "ok", ""},
		{"the host's own servers", spf("v=spf1 mx -all"), []string{bounce + `TXT "v=spf1 mx:bounce.acme.example -all"`, bounce + "MX 10 mx.relay.example."}, "ok", ""},
		{"at the domain itself", dnscheck.Record{Kind: dnscheck.TXT, Domain: "acme.example", Host: "acme.example", Value: "x=y"}, []string{`acme.example.acme.example. 60 IN TXT "x=y"`}, "missing", "enter @ as its name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := dnstest.New(t, tt.zone...)
			f := dnscheck.Check(t.Context(), dnscheck.NewResolver(s.Addr), tt.record)
			if f.Status != tt.status || !strings.Contains(f.Problem, tt.problem) || tt.problem == "" && f.Problem != "" {
				t.Errorf("Check = %+v; want %q, %q", f, tt.status, tt.problem)
			}
		})
	}
}

func TestPolicyIsInherited(t *testing.T) {
	t.Parallel()
	s := dnstest.New(t, `_dmarc.example.com. 60 IN TXT "v=DMARC1; p=reject; sp=quarantine"`, `news.example.com. 60 IN A 192.0.2.1`)
	r := dnscheck.Record{Kind: dnscheck.DMARC, Domain: "news.example.com", Host: "_dmarc.news.example.com"}
	f := dnscheck.Check(t.Context(), dnscheck.NewResolver(s.Addr), r)
	if f.Status != dnscheck.OK || f.Policy != "quarantine" || !strings.Contains(f.Problem, "inherited from example.com: p=quarantine") {
		t.Errorf("Check = %+v; want the policy for subdomains of example.com", f)
	}
}

// TestServersThatFailSayNothing checks that neither SERVFAIL nor a server that cannot be reached makes
// a record missing, at each name that a check asks for.
func TestServersThatFailSayNothing(t *testing.T) {
	t.Parallel()
	kinds := map[dnscheck.Kind]string{
		dnscheck.DKIM: "es1._domainkey.acme.example", dnscheck.MX: "bounce.acme.example", dnscheck.SPF: "bounce.acme.example",
		dnscheck.CNAME: "go.acme.example", dnscheck.DMARC: "_dmarc.acme.example", dnscheck.TXT: "bounce.acme.example",
	}
	gone, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := gone.LocalAddr().String()
	_ = gone.Close()
	for kind, name := range kinds {
		s := dnstest.New(t)
		s.Fail(name, dns.RcodeServerFailure)
		for what, server := range map[string]string{"SERVFAIL": s.Addr, "no server": address} {
			if f := dnscheck.Check(t.Context(), dnscheck.NewResolver(server), record(kind)); f.Status != dnscheck.Unknown || !strings.Contains(f.Problem, "did not answer") || strings.Contains(f.Problem, "127.0.0.1") && what == "SERVFAIL" {
				t.Errorf("%s of %s: Check = %+v; want an unknown status", what, kind, f)
			}
		}
	}
	s := dnstest.New(t, `bounce.acme.example. 60 IN TXT "v=spf1 include:slow.example include:spf.boat.example -all"`)
	s.Fail("slow.example", dns.RcodeServerFailure)
	if f := dnscheck.Check(t.Context(), dnscheck.NewResolver(s.Addr), record(dnscheck.SPF)); f.Status != dnscheck.Unknown {
		t.Errorf("SPF with an include that fails: Check = %+v; want an unknown status", f)
	}
}

// answers is a DNS that has the same answer for every name.
type answers struct{ text string }

func (a answers) LookupTXT(context.Context, string) ([]string, error) { return []string{a.text}, nil }
func (a answers) LookupMX(context.Context, string) ([]*net.MX, error) {
	return []*net.MX{{Host: a.text, Pref: 10}}, nil
}
func (a answers) LookupHost(context.Context, string) ([]string, error) {
	return nil, &net.DNSError{IsNotFound: true}
}
func (a answers) LookupAlias(context.Context, string) (string, error) { return a.text, nil }

// FuzzCheck checks that no text in the DNS causes a panic or endless queries, and that what is shown of
// it is short and has no control characters.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		"", "v=spf1", "v=spf1 redirect=x.example", "v=spf1 include:x.example include:y.example -all", "v=spf1 include: ++all", "v=DKIM1; k=rsa; p=" + key,
		"v=DMARC1; p=reject; psd=n", "p=", ";=;", "\x00\xff\u202e", "v=spf1 exists:%{i}.example ?all",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []dnscheck.Kind{dnscheck.DKIM, dnscheck.MX, dnscheck.SPF, dnscheck.CNAME, dnscheck.DMARC, dnscheck.TXT} {
			got := dnscheck.Check(t.Context(), answers{text}, record(kind))
			if len(got.Found) > 5000 || strings.ContainsFunc(strings.ReplaceAll(got.Found, "\n", ""), unicode.IsControl) || strings.ContainsFunc(got.Problem, unicode.IsControl) {
				t.Errorf("%s: Check(%q) = %+v", kind, text, got)
			}
			if got.Status == dnscheck.Unknown {
				t.Errorf("%s: Check(%q) = %+v although every query was answered", kind, text, got)
			}
		}
	})
}

func TestLookupAlias(t *testing.T) {
	t.Parallel()
	s := dnstest.New(t, "a.example. 60 IN CNAME nowhere.example.", "b.example. 60 IN A 192.0.2.1")
	r := dnscheck.NewResolver(s.Addr)
	for name, want := range map[string]string{"a.example.": "nowhere.example", "b.example.": ""} {
		if got, err := r.LookupAlias(t.Context(), name); got != want || err != nil {
			t.Errorf("LookupAlias(%s) = %q, %v; want %q", name, got, err, want)
		}
	}
	var missing *net.DNSError
	if _, err := r.LookupAlias(t.Context(), "none.example."); !errors.As(err, &missing) || !missing.IsNotFound {
		t.Errorf("LookupAlias of a name that does not exist: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.LookupAlias(ctx, "a.example."); err == nil {
		t.Error("LookupAlias with a context that has ended succeeded")
	}
}
