package deliver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// An address to unsubscribe is at the return path host, so mails have none while a relay receives what is
// sent there.
func TestNobodyUnsubscribesByMailAtARelay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{Keep: true})
		e := h.engine()
		e.ReceivesMail = true
		h.run(e)
		h.relay(s.Port())
		h.people = h.AddContacts(h.List.ID, "c", 1)
		for n, tt := range []struct {
			host   string
			byMail bool
		}{{"none", true}, {h.Domain.ReturnPathHost, false}, {"bounce.other.example", true}, {"", false}} {
			var records []lane.ReturnPathRecordFields
			if tt.host != "none" {
				records = []lane.ReturnPathRecordFields{{Type: "MX", Host: tt.host, Value: "mx.relay.example"}}
			}
			_, err := lane.Update(t.Context(), db, broadcasttest.Box(t), h.Tenant, h.Lane.ID, lane.Fields{ReturnPath: &records}, lane.Rules{AllowPrivate: true}, h.now())
			h.must(err)
			h.pass(10 * time.Second) // cached lanes have expired
			h.sendAgain(1)
			sent := h.awaitSink(s, n+1)
			h.over()
			field := header(t, sent[n].Raw, "List-Unsubscribe")
			if strings.Contains(field, "mailto:") != tt.byMail || !strings.Contains(field, "https:") {
				t.Errorf("records at %q: List-Unsubscribe is %s", tt.host, field)
			}
		}
	})
}
