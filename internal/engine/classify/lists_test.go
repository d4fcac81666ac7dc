package classify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/people/maildomain"
)

func TestListsOfAnOperator(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lists")
	err := os.WriteFile(file, []byte(`
# scanners of our customers
scanner-network 192.0.2.0/24  Example Scanner   # seen in March
scanner-network 2001:db8:5::/48
cloud-network   203.0.113.7
people-network  64.235.150.0/24 A customer's office
machine-agent   Acme  Glass
people-agent    curious browser
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	l, err := LoadLists(file)
	if err != nil {
		t.Fatal(err)
	}
	for ip, want := range map[string]networkKind{
		"192.0.2.99": scannerNetwork, "192.0.3.1": unlisted, "2001:db8:5:1::1": scannerNetwork, "203.0.113.7": cloudNetwork, "203.0.113.8": unlisted,
		"64.235.150.2": peopleNetwork, "64.235.151.2": scannerNetwork, "148.163.150.9": scannerNetwork, "nonsense": unlisted, "::ffff:192.0.2.1": scannerNetwork,
	} {
		if got := l.find(ip).kind; got != want {
			t.Errorf("%s: %v, want %v", ip, got, want)
		}
	}
	for ip, want := range map[string]string{"": "", "192.0.2.99": "192.0.2.0/24 Example Scanner", "198.51.100.1": "198.51.100.0/24", "148.163.150.9": "148.163.150.0/24 Proofpoint"} {
		if got := l.NetworkOf(ip); got != want {
			t.Errorf("NetworkOf(%s) = %q, want %q", ip, got, want)
		}
	}
	agents := Agents{lists: l}
	for agent, want := range map[string]bool{
		"Mozilla/5.0 acme glass/2": true, chrome + " acmeglass": false, "Curious Browser curl/8": false, "curl/8": true, chrome: false,
	} {
		if got := agents.Machine(agent); got != want {
			t.Errorf("Machine(%q) = %v", agent, got)
		}
	}
	if got := bundled.find("192.0.2.99").kind; got != unlisted {
		t.Errorf("the bundled lists have changed: %v", got)
	}
}

func TestMistakesInListsHaveTheirLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"scanner-network 192.0.2.0/24\nspam 1": `f:2: "spam" is not a kind of entry; write scanner-network, cloud-network, people-network, machine-agent or people-agent`,
		"scanner-network":                      "f:1: scanner-network needs a network such as 192.0.2.0/24",
		"\n\ncloud-network here":               `f:3: "here" is not a network such as 192.0.2.0/24 or 2001:db8::/32`,
		"cloud-network 192.0.2.1/24":           "f:1: 192.0.2.1/24 has bits after its prefix; write 192.0.2.0/24",
		"cloud-network 0.0.0.0/0":              "f:1: 0.0.0.0/0 is too large a network",
		"machine-agent x":                      "f:1: machine-agent needs at least three characters of a user agent",
		"# x\n" + strings.Repeat("y", 2000):    "f:2: a line has at most 999 bytes",
	} {
		if _, err := parseLists(strings.NewReader(text), "f"); err == nil || err.Error() != want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	_, err := parseLists(strings.NewReader(strings.Repeat("what\n", 100)), "f")
	if err == nil || strings.Count(err.Error(), "\n") != maxListMistakes-1 {
		t.Errorf("a hundred mistakes: %v", err)
	}
	if _, err := LoadLists(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that does not exist was loaded")
	}
}

func FuzzLists(f *testing.F) {
	f.Add("scanner-network 192.0.2.0/24 x\nmachine-agent a(b*c\n# y")
	f.Add("people-agent \xff\xfe[[\ncloud-network ::ffff:1.2.3.4/120")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseLists(strings.NewReader(text), "f")
		if (l == nil) == (err == nil) {
			t.Fatalf("parseLists = %v, %v", l, err)
		}
		if l != nil {
			l.find("192.0.2.1")
			l.isMachine("Mozilla/5.0")
		}
	})
}

func TestGateways(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		record   string
		provider mx.Provider
		want     string
	}{
		{"mx1.acme.pphosted.com.", mx.Other, vendorProofpoint}, {"acme-com.mail.protection.outlook.com", mx.Microsoft365, vendorMicrosoft},
		{"notpphosted.com", mx.Other, ""}, {"", mx.Gmail, vendorGoogle}, {"", "", ""}, {"eu-smtp-inbound-1.mimecast.com", mx.Other, vendorMimecast},
	} {
		if got := Gateway(maildomain.Domain{Record: tt.record, Provider: tt.provider}); got != tt.want {
			t.Errorf("%s: %q, want %q", fmt.Sprint(tt.record, tt.provider), got, tt.want)
		}
	}
}

// What is left of an agent is no longer than the agent, in time that grows with it, whatever it is.
func FuzzProducts(f *testing.F) {
	f.Add("Mozilla/5.0 (Linux; Android 13; X (Y)) [FBAN/1;FBDV/x] Safari/1")
	f.Fuzz(func(t *testing.T, agent string) {
		if left := products(agent); len(left) > 2*len(agent)+2 {
			t.Errorf("products(%q) = %q", agent, left)
		}
		_ = isMachine(agent)
	})
}
