package sender_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// The records refer to the installation's hosts. One whose host is missing is omitted, with the
// option that sets it.
func TestRecordsNameTheInstallationsHosts(t *testing.T) {
	t.Parallel()
	d := sender.Domain{Name: "acme.example", DKIMSelector: "es1", DKIMRecord: "v=DKIM1; p=x", ReturnPathHost: "bounce.acme.example", TrackingHost: "go.acme.example"}
	for _, c := range []struct {
		base    string
		set     sender.Hosts
		values  map[string]string
		omitted map[string]string
	}{
		{
			"mail.example.org", sender.Hosts{},
			map[string]string{"return_path": "mail.example.org", "return_path_spf": "v=spf1 include:mail.example.org -all", "tracking": "mail.example.org"}, nil,
		},
		{
			"mail.example.org", sender.Hosts{MX: "mx.example.net", SPF: "spf.example.net", Track: "t.example.net"},
			map[string]string{"return_path": "mx.example.net", "return_path_spf": "v=spf1 include:spf.example.net -all", "tracking": "t.example.net"}, nil,
		},
		{
			"127.0.0.1", sender.Hosts{SPF: "spf.example.net"},
			map[string]string{"return_path_spf": "v=spf1 include:spf.example.net -all"},
			map[string]string{"return_path": "PACKETBOAT_MX_HOST", "tracking": "PACKETBOAT_TRACK_HOST"},
		},
		{"localhost", sender.Hosts{}, map[string]string{}, map[string]string{"return_path": "PACKETBOAT_MX_HOST", "return_path_spf": "PACKETBOAT_SPF_HOST", "tracking": "PACKETBOAT_TRACK_HOST"}},
	} {
		values, omitted := map[string]string{}, map[string]string(nil)
		for _, r := range d.Records(c.set.Or(c.base), lane.ReturnPath{}) {
			switch {
			case r.Omitted != "":
				if omitted == nil {
					omitted = map[string]string{}
				}
				omitted[r.Purpose] = r.Omitted[strings.LastIndexByte(r.Omitted, ' ')+1:]
			case r.Purpose != "dkim" && r.Purpose != "dmarc":
				values[r.Purpose] = r.Value
			}
		}
		if !cmp.Equal(values, c.values) || !cmp.Equal(omitted, c.omitted) {
			t.Errorf("%s, %+v: %v without %v, want %v without %v", c.base, c.set, values, omitted, c.values, c.omitted)
		}
	}
}
