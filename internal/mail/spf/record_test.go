package spf_test

import (
	"fmt"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/spf"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for policy, valid := range map[string]bool{
		"v=spf1 include:amazonses.com ~all": true, "V=SPF1 a mx a:x.example mx/24 ptr ip4:192.0.2.1 ip6:2001:db8::/32 exists:%{i}.x.example ?all": true, "v=spf1": true,
		"v=spf1 redirect=x.example": true, "v=spf1 exp=x.example -all": true, "v=spf1 other=x -all": true, "v=spf1 a:x.example/24//64 mx//64 a/0 -all ": true,
		"v=spf1 exists:%{d2r+-}._x.%{o} exists:%{i}.x.%%.example -all": true, "v=spf1 other= x.y_z-1=%{c} -all": true, "v=spf1 +all": true, "v=spf1 all": true,
		"": false, "v=spf10 -all": false, "v=spf1 includ:x.example": false, "v=spf1 include -all": false, "v=spf1 include: -all": false, "v=spf1 ip4:x -all": false,
		"v=spf1 ip4:192.0.2.0/33": false, "v=spf1 ip4:2001:db8::1": false, "v=spf1 ip6:192.0.2.1": false, "v=spf1 -all:x": false, "v=spf1 -all/8": false,
		"v=spf1 ip4:192.0.2.0/08": false, "v=spf1 ip6:2001:db8::1%25eth0": false, "v=spf1 ip4": false, "v=spf1 ip4:": false, "v=spf1 a: -all": false, "v=spf1 a/33": false,
		"v=spf1 mx//129": false, "v=spf1 a/": false, "v=spf1 ptr/24": false, "v=spf1 a:x": false, "v=spf1 a:x.1": false, "v=spf1 a:x.example..": false,
		"v=spf1 exists:%{x}.example": false, "v=spf1 exists:%{d0}.example": false, "v=spf1 exists:%{d.example": false, "v=spf1 exists:%x.example": false, "v=spf1 exists:x.example%": false,
		"v=spf1 exists:%{c}.example": false, "v=spf1 redirect=": false, "v=spf1 exp=": false, "v=spf1 redirect=a.example redirect=a.example": false, "v=spf1 exp=a.example EXP=a.example": false,
		"v=spf1 -redirect=a.example": false, "v=spf1 =x": false, "v=spf1 - all": false, "v=spf1\t-all": false, "v=spf1 -all\u00a0": false, "v=spf1 \"-all\"": false,
		"v=spf1 -all junk": false, "v=spf1 +all ip4:1.2.3": false, "v=spf1 a:x_y.example/24/64": false,
	} {
		if _, err := spf.Parse(policy); (err == nil) != valid {
			t.Errorf("Parse(%q) = %v", policy, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("v=spf1 a:%{d2r}.example/24//64 mx ip4:192.0.2.0/24 include:x.example exp=%{s}.example redirect=y.example")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := spf.Parse(text)
		if err != nil {
			return
		}
		for _, m := range r.Mechanisms {
			if m.Kind == spf.Include && m.Domain == "" || (m.Kind == spf.IP4 || m.Kind == spf.IP6) != m.Network.IsValid() || m.Result == "" {
				t.Errorf("Parse(%q) has %+v", text, m)
			}
		}
	})
}

func ExampleIs() {
	fmt.Println(spf.Is("v=spf1 -all"), spf.Is("v=spf10 -all"))
	// Output: true false
}
