package mail

import (
	"net/http"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A domain is verified by its DNS records, keeps its status when they are lost for a while, and gets a new
// key in three steps.
func TestADomainIsVerifiedByItsRecords(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		zone := dnstest.New(t, "mail.boat.example. 60 IN A 127.0.0.1", `mail.boat.example. 60 IN TXT "v=spf1 ip4:192.0.2.1 -all"`)
		p := &harness.Program{Env: []string{
			"PACKETBOAT_DNS_RESOLVER=" + zone.Addr, "PACKETBOAT_MX_HOST=mail.boat.example", "PACKETBOAT_SPF_HOST=mail.boat.example", "PACKETBOAT_TRACK_HOST=mail.boat.example",
		}}
		e2etest.Begin(t, p, address)
		owner, err := p.SignIn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		call := func(method, path string, body any) e2etest.Domain {
			t.Helper()
			a, err := owner.Do(t.Context(), method, path, body)
			if err != nil || a.Status >= 300 {
				t.Fatalf("%s %s: %d %s, %v", method, path, a.Status, a.Body, err)
			}
			var d e2etest.Domain
			if err := a.Decode(&d); err != nil {
				t.Fatal(err)
			}
			return d
		}
		d := call(http.MethodPost, "/sending-domains", map[string]any{"domain": "acme.example"})
		path := "/sending-domains/" + d.ID
		verify := func() e2etest.Domain { t.Helper(); return call(http.MethodPost, path+"/verify", nil) }
		if d.Status != "pending" || d.StatusOf("dkim") != "missing" {
			t.Errorf("a new domain is %s, its key %s", d.Status, d.StatusOf("dkim"))
		}
		d.Publish(t, zone, "return_path")
		d.Publish(t, zone, "return_path_spf")
		if d = verify(); d.Status != "pending" || d.StatusOf("return_path") != "ok" || d.StatusOf("return_path_spf") != "ok" || d.StatusOf("dkim") != "missing" {
			t.Errorf("without its key, the domain is %s: %+v", d.Status, d.DNSRecords)
		}
		zone.Add(t, `es1._domainkey.acme.example. 60 IN TXT "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC"`)
		if d = verify(); d.Status != "pending" || d.StatusOf("dkim") != "invalid" {
			t.Errorf("with another key, the domain is %s, the record %s", d.Status, d.StatusOf("dkim"))
		}
		zone.Remove("es1._domainkey.acme.example")
		d.Publish(t, zone, "dkim")
		d.Publish(t, zone, "dmarc")
		d.Publish(t, zone, "tracking")
		if d = verify(); d.Status != "verified" || d.StatusOf("dkim") != "ok" || d.StatusOf("dmarc") != "ok" || d.StatusOf("tracking") != "ok" {
			t.Errorf("the domain is %s: %+v", d.Status, d.DNSRecords)
		}
		if d.TrackingStatus == "live" { // nothing listens on port 80 of the host
			t.Error("the tracking host is live though it cannot be reached")
		}

		if d = call(http.MethodPost, path+"/rotate-dkim", nil); d.DKIMSelector != "es1" || d.StatusOf("dkim") != "ok missing" {
			t.Errorf("after rotating, %s signs; keys are %s", d.DKIMSelector, d.StatusOf("dkim"))
		}
		if d = verify(); d.DKIMSelector != "es1" {
			t.Errorf("%s signs before the next key is published", d.DKIMSelector)
		}
		d.Publish(t, zone, "dkim")
		if d = verify(); d.DKIMSelector != "es2" || d.StatusOf("dkim") != "ok ok" || d.Status != "verified" {
			t.Errorf("with the next key, %s signs; keys are %s", d.DKIMSelector, d.StatusOf("dkim"))
		}

		zone.Remove(d.Domain)
		zone.Remove("bounce.acme.example")
		if d = verify(); d.Status != "verified" || d.StatusOf("return_path") != "missing" {
			t.Errorf("when records were lost just now, the domain is %s, the record %s", d.Status, d.StatusOf("return_path"))
		}
		d.Publish(t, zone, "return_path")
		d.Publish(t, zone, "return_path_spf")
		if d = verify(); d.Status != "verified" || d.StatusOf("return_path") != "ok" {
			t.Errorf("when records are back, the domain is %s, the record %s", d.Status, d.StatusOf("return_path"))
		}
	})
}
