package webhook_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/campaign/webhook"
)

var update = flag.Bool("update", false, "write the event types into docs/webhooks.md")

// The end of docs/webhooks.md lists the event types; go test ./internal/campaign/webhook -run Documentation -update
// writes it.
func TestTheDocumentationListsTheEventTypes(t *testing.T) {
	t.Parallel()
	const page, first = "../../../docs/webhooks.md", "### contact.created"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, list, _ := strings.Cut(string(text), first)
	var want strings.Builder
	for _, k := range webhook.Kinds() {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(k.Example); err != nil {
			t.Fatal(err)
		}
		var oneLine bytes.Buffer
		for i, line := range strings.Split(indent(t, b.Bytes()), "\n") {
			line = strings.TrimLeft(line, " ")
			if i > 0 && !strings.HasSuffix(oneLine.String(), "{") && !strings.HasSuffix(oneLine.String(), "[") && !strings.HasPrefix(line, "}") && !strings.HasPrefix(line, "]") {
				oneLine.WriteByte(' ')
			}
			oneLine.WriteString(line)
		}
		want.WriteString("### " + k.Type + "\n\n" + k.Summary + "\n\n```json\n" + oneLine.String() + "\n```\n\n")
	}
	got := strings.TrimSuffix(want.String(), "\n")
	if *update {
		if err := os.WriteFile(page, []byte(before+got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if first+list != got {
		t.Errorf("%s does not list the event types as webhook.Kinds does: run with -update", page)
	}
}

func indent(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(text), "", " "); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sources has every event type but webhook.test, which no journal entry causes.
func TestEveryEventTypeHasASource(t *testing.T) {
	t.Parallel()
	caused := webhook.CausedTypes()
	for _, typ := range webhook.EventTypes() {
		if caused[typ] == (typ == webhook.WebhookTest) {
			t.Errorf("%s: has a journal entry as its source: %v", typ, caused[typ])
		}
		delete(caused, typ)
	}
	for typ := range caused {
		t.Errorf("%s has a source but is no event type", typ)
	}
}
