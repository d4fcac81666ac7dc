package app

import (
	"net/http"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestMetricsOfTheBacklogAndRequests(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := newRegistry(db)
		requestTimes(r)("getAccount", http.StatusOK, time.Second)
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, f := range families {
			got[f.GetName()] = len(f.GetMetric())
		}
		if n := got["packetboat_domain_warnings"]; n != len(sender.Metrics()) {
			t.Errorf("packetboat_domain_warnings has %d values, want one for each metric", n)
		}
		for _, name := range []string{
			"packetboat_messages_waiting", "packetboat_messages_deferred", "packetboat_queue_age_seconds",
			"packetboat_journal_lag", "packetboat_request_duration_seconds", "packetboat_sends_held", "packetboat_visitor_requests_waiting",
		} {
			if got[name] != 1 {
				t.Errorf("%s has %d values, want 1", name, got[name])
			}
		}
	})
}
