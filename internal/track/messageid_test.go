package track_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/track"
)

// A Message-ID is the same whenever it is asked for, and another installation, or
// one who knows the message alone, does not find it.
func TestMessageIDsAreFixedAndCannotBeGuessed(t *testing.T) {
	t.Parallel()
	keys := func(first byte) *track.Keys {
		key := make([]byte, secret.KeyBytes)
		key[0] = first
		box, err := secret.NewBox(key)
		if err != nil {
			t.Fatal(err)
		}
		return track.NewKeys(box)
	}
	m := id.New[id.Message]()
	one := keys(1).MessageID(m)
	if again := keys(1).MessageID(m); again != one || !strings.HasPrefix(one, m.String()+".") || len(one) != 36+1+16 {
		t.Errorf("the Message-ID is %s, then %s", one, again)
	}
	if other := keys(2).MessageID(m); other == one {
		t.Errorf("another installation makes the same Message-ID, %s", one)
	}
	if _, err := keys(1).Verify('m', one); err == nil {
		t.Error("a Message-ID is taken for a token")
	}
}
