package outbox_test

import (
	"testing"

	"github.com/packetboat/packetboat/internal/outbox"
)

func TestABounceIsShownAsHardOrSoft(t *testing.T) {
	for kept, want := range map[string]string{"": "", "hard": "hard", "soft": "soft", "block": "soft"} {
		if got := (outbox.Record{BounceType: kept}).Bounce(); string(got) != want {
			t.Errorf("a bounce kept as %q is shown as %q, want %q", kept, got, want)
		}
	}
}
