package event_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func follow(t *testing.T, db *sqldb.DB) {
	t.Helper()
	e := &journal.Engine{DB: db, Followers: []journal.Follower{event.Follower()}, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	if err := e.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestNamesAndPropertiesOfEventsAreKept(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db, "acme"), newAccount(t, db, "other")
		order := func(days int, properties map[string]any) event.Input {
			return event.Input{Name: "Order", Type: "order_placed", Contact: a.ann, OccurredAt: noon.AddDate(0, 0, -days), Properties: properties}
		}
		a.record(noon, order(1, map[string]any{"order_id": "A1", "value": 3.5, "items": []any{map[string]any{"sku": "mug", "gift": true}}, "to": map[string]any{"city": "Rome"}}))
		follow(t, db)
		a.record(noon, order(3, map[string]any{"order_id": 7.0, "at": "2026-01-01", "a.b": 1.0, "empty": nil, "tags": []any{"x"}}),
			event.Input{Name: "login", Contact: a.ann})
		other.record(noon, event.Input{Name: "secret", Contact: other.ann, Properties: map[string]any{"p": "x"}})
		follow(t, db)

		names, err := event.Names(t.Context(), db, a.id, "", 50)
		if err != nil {
			t.Fatal(err)
		}
		want := []event.Seen{{Value: "login", Count: 1, LastAt: noon}, {Value: "Order", Count: 2, LastAt: noon.AddDate(0, 0, -1)}}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
		if names, err := event.Names(t.Context(), db, a.id, "oRD", 50); err != nil || len(names) != 1 || names[0].Value != "Order" {
			t.Errorf("names with a text: %v, %v", names, err)
		}
		properties, err := event.Properties(t.Context(), db, a.id, "Order", "", 50)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, p := range properties {
			got[p.Value] = fmt.Sprint(p.Count, p.Kinds, p.LastAt.Day())
		}
		if diff := cmp.Diff(map[string]string{
			"order_id": "2 [number string] 28", "value": "1 [number] 28", "items": "1 [array] 28", "items[].sku": "1 [string] 28", "items[].gift": "1 [boolean] 28",
			"to.city": "1 [string] 28", "at": "1 [date] 26", "tags": "1 [array] 26", "tags[]": "1 [string] 26",
		}, got); diff != "" {
			t.Errorf("properties (-want +got):\n%s", diff)
		}
		if properties[0].LastAt.Before(properties[len(properties)-1].LastAt) || properties[0].Value != "order_id" {
			t.Errorf("the first property is %+v", properties[0])
		}
	})
}

func TestNamesOfEventsAreBounded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db, "acme")
		a.record(noon.AddDate(0, 0, -9), event.Input{Name: "real", Contact: a.ann}, event.Input{Name: "real", Contact: a.ann})
		follow(t, db)
		for page := range 3 {
			var list []event.Input
			for i := range 500 {
				list = append(list, event.Input{Name: fmt.Sprintf("noise %d.%d", page, i), Contact: a.ann, Properties: map[string]any{fmt.Sprint("p", i): 1.0}})
			}
			a.record(noon.Add(time.Duration(page)*time.Hour), list...)
			follow(t, db)
		}
		wide := map[string]any{}
		for i := range 400 {
			wide[fmt.Sprint("p", i)] = 1.0
		}
		a.record(noon.AddDate(0, 0, 1), event.Input{Name: "real", Contact: a.ann, Properties: wide}, event.Input{Name: "real", Contact: a.ann, Properties: map[string]any{"used": true}}, event.Input{Name: "real", Contact: a.ann, Properties: map[string]any{"used": true}})
		follow(t, db)
		names, err := event.Names(t.Context(), db, a.id, "", 5000)
		if err != nil || len(names) != 1000 || names[0].Value != "real" || names[0].Count != 5 {
			t.Errorf("%d names, first %+v, %v", len(names), names[0], err)
		}
		if old, err := event.Names(t.Context(), db, a.id, "noise 0.", 5000); err != nil || len(old) != 0 {
			t.Errorf("%d old rare names are kept, %v", len(old), err)
		}
		properties, err := event.Properties(t.Context(), db, a.id, "real", "", 5000)
		if err != nil || len(properties) != 100 || properties[0].Value != "used" {
			t.Errorf("%d properties, %v", len(properties), err)
		}
	})
}
