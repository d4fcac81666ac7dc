package address_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/mail/address"
)

func TestNormalizeGivesOneSpelling(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "ann@example.org", "ann@example.org"},
		{"case", "Ann.B@Example.ORG", "ann.b@example.org"},
		{"outer space", " \tann@example.org\r\n", "ann@example.org"},
		{"no-break space around", "\u00a0ann@example.org\u00a0", "ann@example.org"},
		{"tag and dots are kept", "a.n.n+tag@gmail.com", "a.n.n+tag@gmail.com"},
		{"every atext", "!#$%&'*+-/=?^_`{|}~0@example.org", "!#$%&'*+-/=?^_`{|}~0@example.org"},
		{"IDN", "ann@Bücher.example", "ann@xn--bcher-kva.example"},
		{"IDN decomposed", "ann@bu\u0308cher.example", "ann@xn--bcher-kva.example"},
		{"non-transitional", "ann@faß.de", "ann@xn--fa-hia.de"},
		{"A-label", "ann@XN--BCHER-KVA.example", "ann@xn--bcher-kva.example"},
		{"full-width dot", "ann@example。org", "ann@example.org"},
		{"hyphens in place three and four", "ann@r3---sn.example.org", "ann@r3---sn.example.org"},
		{"longest local part", strings.Repeat("a", 64) + "@example.org", strings.Repeat("a", 64) + "@example.org"},
		{"digits first", "1@1.example2.org", "1@1.example2.org"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := address.Normalize(tt.in)
			if err != nil || got != tt.want {
				t.Errorf("Normalize(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestNormalizeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 63)
	for _, tt := range []struct{ name, in, says string }{
		{"empty", "", "empty"},
		{"blank", " \t ", "empty"},
		{"no at", "example.org", "no @"},
		{"two ats", "a@b@example.org", "more than one @"},
		{"nothing before", "@example.org", "nothing before"},
		{"nothing after", "ann@", "nothing after"},
		{"display name", "Ann <ann@example.org>", "angle brackets"},
		{"angle brackets", "<ann@example.org>", "angle brackets"},
		{"inner space", "an n@example.org", "space"},
		{"inner no-break space", "an\u00a0n@example.org", "space"},
		{"line separator", "an\u2028n@example.org", "space"},
		{"two addresses", "a@x.org,b@x.org", "one address"},
		{"injection", "a@x.org\r\nBcc: b@x.org", "control"},
		{"NUL", "a\x00@x.org", "control"},
		{"DEL", "a\x7f@x.org", "control"},
		{"C1", "a\u0085b@x.org", "control"},
		{"bad UTF-8", "a\xff@x.org", "UTF-8"},
		{"quoted", `"ann b"@example.org`, "space"},
		{"quoted without space", `"ann"@example.org`, "quoted"},
		{"non-ASCII local part", "änn@example.org", "ASCII"},
		{"Kelvin sign is not k", "\u212aim@example.org", "ASCII"},
		{"leading dot", ".ann@example.org", "dot"},
		{"trailing dot", "ann.@example.org", "dot"},
		{"double dot", "a..n@example.org", "dot"},
		{"comment", "ann(x)@example.org", "not allowed"},
		{"long local part", strings.Repeat("a", 65) + "@example.org", "64"},
		{"long address", strings.Repeat("a", 64) + "@" + long + "." + long + "." + long + ".org", "254"},
		{"long label", "ann@" + long + "a.org", "63"},
		{"undotted", "ann@localhost", "no dot"},
		{"IP literal", "ann@[192.0.2.1]", "IP"},
		{"IP", "ann@192.0.2.1", "IP"},
		{"domain dot first", "ann@.example.org", "dot"},
		{"root dot", "ann@example.org.", "dot"},
		{"domain hyphen", "ann@-example.org", "hyphen"},
		{"underscore", "ann@ex_ample.org", "not allowed"},
		{"port", "ann@example.org:25", "not allowed"},
		{"broken A-label", "ann@xn--a.org", "international"},
		{"unassigned", "ann@\u0378.org", "international"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := address.Normalize(tt.in)
			if e, ok := errors.AsType[*address.Error](err); !ok || !strings.Contains(e.Reason, tt.says) {
				t.Errorf("Normalize(%q) = %q, %v; want an error that says %q", tt.in, got, err, tt.says)
			}
		})
	}
}

func TestHostname(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"Mail.Example.org", "mail.example.org"},
		{" bücher.example ", "xn--bcher-kva.example"},
		{"example", ""},
		{"example.org:8080", ""},
		{"https://example.org", ""},
		{"exa mple.org", ""},
		{"*.example.org", ""},
		{"a.\x89", ""},
		{"::1", ""},
		{"10.0.0.1", ""},
		{"", ""},
		{strings.Repeat("ab.", 84) + "org", ""},
	} {
		got, err := address.Hostname(tt.in)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("Hostname(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

func TestDomain(t *testing.T) {
	t.Parallel()
	if got := address.Domain("ann@example.org"); got != "example.org" {
		t.Errorf("Domain = %q", got)
	}
	if got := (address.Address{}).String(); got != "" {
		t.Errorf("zero Address prints %q", got)
	}
}

// What Parse accepts is plain ASCII that is safe in an envelope and in a
// header, and reading it again changes nothing.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"ann@example.org", " Ann@Bücher.example", "a@xn--bcher-kva.example", "a@b@c.d", "\"a b\"@x.org",
		"a@[::1]", "a\r\n@x.org", "a@x。y", "a@\u0660.example", "a@x.\u00ad.org", "a@xn--.org", "a@ﬀ.org",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := address.Parse(s)
		if err != nil {
			if a != (address.Address{}) {
				t.Errorf("Parse(%q) = %v beside %v", s, a, err)
			}
			return
		}
		got := a.String()
		if len(got) > 254 || len(a.Local) > 64 || strings.Count(got, "@") != 1 || !strings.Contains(a.Domain, ".") {
			t.Errorf("Parse(%q) = %q breaks a limit", s, got)
		}
		for i := range len(got) {
			if c := got[i]; c <= ' ' || c >= utf8.RuneSelf-1 || strings.IndexByte(`<>()[]:;\,"`, c) >= 0 || 'A' <= c && c <= 'Z' {
				t.Errorf("Parse(%q) = %q holds %q", s, got, c)
			}
		}
		if again, err := address.Parse(got); err != nil || again != a {
			t.Errorf("Parse(%q) = %v, %v; want itself", got, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := address.Parse("ann.example+news@mail.example.org"); err != nil {
			b.Fatal(err)
		}
	}
}
