package mtasts

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

const valid = "version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.example.net\r\nmax_age: 604800\r\n"

func TestParse(t *testing.T) {
	t.Parallel()
	p, err := Parse([]byte(valid))
	if err != nil || p.Mode != Enforce || p.MaxAge != 7*24*time.Hour || !slices.Equal(p.Hosts, []string{"mail.example.com", "*.example.net"}) {
		t.Errorf("Parse = %+v, %v", p, err)
	}
	for _, text := range []string{
		strings.ReplaceAll(valid, "\r\n", "\n"),
		strings.TrimSuffix(valid, "\r\n"),
		valid + "later: extension\r\nmode: none\r\n", // the first mode counts
		"max_age:0\nmode:none\nversion:STSv1\n",
		"version: STSv1\nmode: testing\nmx: MAIL.Example.COM.\nmax_age: 31557600",
	} {
		if _, err := Parse([]byte(text)); err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
	for _, text := range []string{
		"", "version: STSv2\nmode: none\nmax_age: 1",
		strings.Replace(valid, "STSv1", "", 1), strings.Replace(valid, "enforce", "strict", 1),
		strings.Replace(valid, "604800", "31557601", 1), strings.Replace(valid, "604800", "-1", 1), strings.Replace(valid, "604800", "", 1),
		strings.Replace(valid, "mail.example.com", "mail..com", 1), strings.Replace(valid, "*.example.net", "mail.*.net", 1),
		"version: STSv1\nmode: enforce\nmax_age: 1", valid + "nonsense\n", valid + strings.Repeat("x: y\n", maxPolicy/5),
		strings.Replace(valid, "mail.example.com", "<b>", 1),
	} {
		if p, err := Parse([]byte(text)); !errors.Is(err, ErrInvalid) {
			t.Errorf("Parse(%.60q) = %+v, %v; want an error", text, p, err)
		}
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	p := Policy{Hosts: []string{"mail.example.com", "*.example.net"}}
	for host, want := range map[string]bool{
		"mail.example.com": true, "MAIL.example.com.": true, "mx.example.net": true, "a.b.example.net": false,
		"example.net": false, "example.com": false, "xmail.example.com": false, "mail.example.com.evil.test": false, "": false,
	} {
		if p.Lists(host) != want {
			t.Errorf("Lists(%q) = %t", host, !want)
		}
	}
}

func TestRecordID(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		texts []string
		want  string
	}{
		{[]string{"v=STSv1; id=20160831085700Z;"}, "20160831085700Z"},
		{[]string{"v=spf1 -all", "v=STSv1;id=a1"}, "a1"},
		{[]string{"v=STSv1; ext=x; id=a1"}, "a1"},
		{[]string{"v=STSv1; id=a1", "v=STSv1; id=a2"}, ""},
		{[]string{"v=STSv1; id="}, ""}, {[]string{"v=STSv1;"}, ""}, {[]string{"v=STSv10; id=1"}, ""}, {nil, ""},
		{[]string{"v=STSv1; id=a-b"}, ""}, {[]string{"v=STSv1; id=" + strings.Repeat("1", 33)}, ""}, {[]string{"id=1; v=STSv1"}, ""},
	} {
		if got, _ := recordID(tt.texts); got != tt.want {
			t.Errorf("recordID(%q) = %q, want %q", tt.texts, got, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte("version: STSv1\nmode: none\nmax_age: 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if p.MaxAge < 0 || p.MaxAge > maxAge || p.Mode != None && len(p.Hosts) == 0 || len(p.Hosts) > maxHosts {
			t.Errorf("Parse(%q) = %+v", text, p)
		}
		for _, h := range p.Hosts {
			if host := strings.Replace(h, "*", "x", 1); !p.Lists(host) {
				t.Errorf("%q does not list %q", h, host)
			}
		}
	})
}
