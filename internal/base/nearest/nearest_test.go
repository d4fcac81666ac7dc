package nearest_test

import (
	"testing"

	"github.com/packetboat/packetboat/internal/base/nearest"
)

func TestTheNearestName(t *testing.T) {
	names := []string{"contacts:read", "contacts:write", "forms:read", "PACKETBOAT_BASE_URL", "PACKETBOAT_LISTEN"}
	for word, want := range map[string]string{
		"contacts:reed": "contacts:read", "contact:read": "contacts:read", "contacts:raed": "contacts:read", "contacts.write": "contacts:write",
		"form:read": "forms:read", "PACKETBOAT_BASEURL": "PACKETBOAT_BASE_URL", "PACKETBOAT_LISTNE": "PACKETBOAT_LISTEN",
		"": "", "x": "", "everything": "", "contacts:read": "contacts:read", "PACKETBOAT_COLOUR": "",
	} {
		if got := nearest.Of(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
