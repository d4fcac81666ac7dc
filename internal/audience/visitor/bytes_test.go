package visitor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestKeptRequestsAreBoundedInBytes keeps requests of unknown visitors up to a number of bytes, and deletes the oldest.
func TestKeptRequestsAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, other := newWebsite(t, db, "acme"), newWebsite(t, db, "other")
		other.page("v0", "https://other.example/")
		for i := range 10 {
			w.send(visitor.Event, fmt.Sprintf("v%d", i), fields{"event_name": "looked", "properties": fields{"text": strings.Repeat("x", 1500)}})
		}
		w.drain()
		w.wantTotals()
		w.engine.MaxKept = 8000 // four or five of them
		w.expire()
		var bytes int64
		if err := db.QueryRow(t.Context(), `SELECT kept_bytes FROM visitor_total WHERE tenant_id = $1`, w.tenant.ID).Scan(&bytes); err != nil {
			t.Fatal(err)
		}
		if n := w.count("visitor_kept"); bytes > 8000 || bytes < 6000 || n < 4 || n > 5 {
			t.Errorf("%d requests of %d bytes are kept, want about 8000", n, bytes)
		}
		w.wantTotals()
		other.wantTotals()
		if n := other.count("visitor_kept"); n != 1 {
			t.Errorf("the other tenant keeps %d requests", n)
		}
		w.identify("v0", "oldest@example.org")
		w.identify("v9", "latest@example.org")
		w.drain()
		w.wantHistory("oldest@example.org")
		w.wantHistory("latest@example.org", "looked")
		w.wantTotals()
		w.now = w.now.Add(31 * 24 * time.Hour)
		w.expire()
		w.wantTotals()
	})
}

// TestUnknownVisitorsHaveFewProperties keeps an event of an unknown visitor without its properties if they are large.
func TestUnknownVisitorsHaveFewProperties(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		event := func(who, name string, size int) { // the object has size bytes
			w.send(visitor.Event, who, fields{"event_name": name, "properties": fields{"a": strings.Repeat("x", size-8)}})
		}
		event("v1", "small", 2<<10)
		event("v1", "large", 2<<10+1)
		w.identify("v1", "ann@example.org")
		event("v1", "known", 20<<10)
		w.drain()
		sizes := map[string]int{}
		for e, err := range journal.Timeline(t.Context(), w.db, w.tenant.ID, w.contact("ann@example.org").ID) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == journal.CustomEvent {
				sizes[e.Name] = strings.Count(fmt.Sprintf("%s", e.Data), "x")
			}
		}
		if want := fmt.Sprint(map[string]int{"small": 2<<10 - 8, "large": 0, "known": 20<<10 - 8}); fmt.Sprint(sizes) != want {
			t.Errorf("the properties have %v bytes, want %s", sizes, want)
		}
		w.wantTotals()
	})
}
