package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
)

// publishedDomain is a sending domain as the API shows it.
type publishedDomain struct {
	ID, Status, Domain string
	DKIMSelector       string `json:"dkim_selector"`
	TrackingStatus     string `json:"tracking_status"`
	DNSRecords         []struct {
		Purpose, Type, Host, Value, Status string
		Found, Problem                     *string
		Priority                           *int
	} `json:"dns_records"`
}

// status returns the status of the records of a purpose.
func (d publishedDomain) status(purpose string) string {
	var list []string
	for _, r := range d.DNSRecords {
		if r.Purpose == purpose {
			list = append(list, r.Status)
		}
	}
	return strings.Join(list, " ")
}

// publish adds the records of a purpose to a zone, as their owner does.
func (d publishedDomain) publish(t *testing.T, zone *dnstest.Server, purpose string) {
	t.Helper()
	for _, r := range d.DNSRecords {
		if r.Purpose != purpose || r.Status == "ok" {
			continue
		}
		value := r.Value
		switch r.Type {
		case "TXT":
			var parts []string
			for ; len(value) > 200; value = value[200:] {
				parts = append(parts, `"`+value[:200]+`"`)
			}
			value = strings.Join(append(parts, `"`+value+`"`), " ")
		case "MX":
			value = fmt.Sprintf("%d %s.", *r.Priority, value)
		default:
			value += "."
		}
		zone.Add(t, fmt.Sprintf("%s. 60 IN %s %s", r.Host, r.Type, value))
	}
}

// A domain is verified by its DNS records, keeps its status when they are lost for a while, and gets a new
// key in three steps.
func TestADomainIsVerifiedByItsRecords(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, address string) {
		zone := dnstest.New(t, "mail.boat.example. 60 IN A 127.0.0.1", `mail.boat.example. 60 IN TXT "v=spf1 ip4:192.0.2.1 -all"`)
		p := &harness.Program{Env: []string{
			"PACKETBOAT_DNS_RESOLVER=" + zone.Addr, "PACKETBOAT_MX_HOST=mail.boat.example", "PACKETBOAT_SPF_HOST=mail.boat.example", "PACKETBOAT_TRACK_HOST=mail.boat.example",
		}}
		begin(t, p, address)
		owner, err := p.SignIn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		call := func(method, path string, body any) publishedDomain {
			t.Helper()
			a, err := owner.Do(t.Context(), method, path, body)
			if err != nil || a.Status >= 300 {
				t.Fatalf("%s %s: %d %s, %v", method, path, a.Status, a.Body, err)
			}
			var d publishedDomain
			if err := a.Decode(&d); err != nil {
				t.Fatal(err)
			}
			return d
		}
		d := call(http.MethodPost, "/sending-domains", map[string]any{"domain": "acme.example"})
		path := "/sending-domains/" + d.ID
		verify := func() publishedDomain { t.Helper(); return call(http.MethodPost, path+"/verify", nil) }
		if d.Status != "pending" || d.status("dkim") != "missing" {
			t.Errorf("a new domain is %s, its key %s", d.Status, d.status("dkim"))
		}
		d.publish(t, zone, "return_path")
		d.publish(t, zone, "return_path_spf")
		if d = verify(); d.Status != "pending" || d.status("return_path") != "ok" || d.status("return_path_spf") != "ok" || d.status("dkim") != "missing" {
			t.Errorf("without its key, the domain is %s: %+v", d.Status, d.DNSRecords)
		}
		zone.Add(t, `es1._domainkey.acme.example. 60 IN TXT "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC"`)
		if d = verify(); d.Status != "pending" || d.status("dkim") != "invalid" {
			t.Errorf("with another key, the domain is %s, the record %s", d.Status, d.status("dkim"))
		}
		zone.Remove("es1._domainkey.acme.example")
		d.publish(t, zone, "dkim")
		d.publish(t, zone, "dmarc")
		d.publish(t, zone, "tracking")
		if d = verify(); d.Status != "verified" || d.status("dkim") != "ok" || d.status("dmarc") != "ok" || d.status("tracking") != "ok" {
			t.Errorf("the domain is %s: %+v", d.Status, d.DNSRecords)
		}
		if d.TrackingStatus == "live" { // nothing listens on port 80 of the host
			t.Error("the tracking host is live though it cannot be reached")
		}

		if d = call(http.MethodPost, path+"/rotate-dkim", nil); d.DKIMSelector != "es1" || d.status("dkim") != "ok missing" {
			t.Errorf("after rotating, %s signs; keys are %s", d.DKIMSelector, d.status("dkim"))
		}
		if d = verify(); d.DKIMSelector != "es1" {
			t.Errorf("%s signs before the next key is published", d.DKIMSelector)
		}
		d.publish(t, zone, "dkim")
		if d = verify(); d.DKIMSelector != "es2" || d.status("dkim") != "ok ok" || d.Status != "verified" {
			t.Errorf("with the next key, %s signs; keys are %s", d.DKIMSelector, d.status("dkim"))
		}

		zone.Remove(d.Domain)
		zone.Remove("bounce.acme.example")
		if d = verify(); d.Status != "verified" || d.status("return_path") != "missing" {
			t.Errorf("when records were lost just now, the domain is %s, the record %s", d.Status, d.status("return_path"))
		}
		d.publish(t, zone, "return_path")
		d.publish(t, zone, "return_path_spf")
		if d = verify(); d.Status != "verified" || d.status("return_path") != "ok" {
			t.Errorf("when records are back, the domain is %s, the record %s", d.Status, d.status("return_path"))
		}
	})
}
