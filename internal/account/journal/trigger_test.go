package journal_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// TestTriggersKeepAllDigits prints numbers of an event that no float64 has.
func TestTriggersKeepAllDigits(t *testing.T) {
	t.Parallel()
	entry := journal.Entry{Type: journal.CustomEvent, Data: json.RawMessage(`{"properties": {"order": 9007199254740993, "lines": [{"sku": 1234567890123456789}], "total": 19.90}}`)}
	properties, err := entry.ExactProperties()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := journal.Trigger{Type: "event", Properties: properties}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	trigger, err := journal.DecodeTrigger(kept)
	if err != nil {
		t.Fatal(err)
	}
	template, err := liquid.Parse("{{ event.order }} {{ event.properties.order | plus: 1 }} {{ event.lines[0].sku }} {{ event.total }}", liquid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := template.Append(t.Context(), nil, scope{trigger}, nil)
	if want := "9007199254740993 9007199254740994 1234567890123456789 19.9"; err != nil || string(got) != want {
		t.Errorf("printed %q, %v; want %q", got, err, want)
	}
}

// scope is an environment with {{ event }}.
type scope struct{ event journal.Trigger }

func (s scope) Lookup(name string) (any, bool) { return s.event, name == "event" }

func (scope) Now() time.Time { return time.Time{} }
