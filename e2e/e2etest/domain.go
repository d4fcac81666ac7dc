package e2etest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/dnstest"
)

// Domain is a sending domain as the API shows it.
type Domain struct {
	ID, Status, Domain string
	DKIMSelector       string `json:"dkim_selector"`
	TrackingStatus     string `json:"tracking_status"`
	DNSRecords         []struct {
		Purpose, Type, Host, Value, Status string
		Found, Problem                     *string
		Priority                           *int
	} `json:"dns_records"`
}

// StatusOf returns the status of the records of a purpose.
func (d Domain) StatusOf(purpose string) string {
	var list []string
	for _, r := range d.DNSRecords {
		if r.Purpose == purpose {
			list = append(list, r.Status)
		}
	}
	return strings.Join(list, " ")
}

// Publish adds the records of a purpose to a zone, as their owner does.
func (d Domain) Publish(t *testing.T, zone *dnstest.Server, purpose string) {
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
