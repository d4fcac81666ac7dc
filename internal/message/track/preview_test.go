package track_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/track"
)

func TestTokensOfTestMailsAreMarked(t *testing.T) {
	t.Parallel()
	k := keys(t, 1)
	rapid.Check(t, func(r *rapid.T) {
		want := track.Token{
			Tenant: idtest.Tenant(), Message: id.New[id.Message](), Preview: true,
			Link: rapid.IntRange(0, 65535).Draw(r, "link"), Target: rapid.StringN(0, -1, track.MaxTarget).Draw(r, "target"),
		}
		s, err := k.Signer(want.Tenant, want.Message)
		if err != nil {
			r.Fatal(err)
		}
		s.Preview()
		for _, kind := range kinds {
			if got, err := k.Verify(kind, string(s.Append(nil, kind, want.Link, want.Target))); err != nil || got != want {
				r.Fatalf("Verify = %+v, %v; want %+v", got, err, want)
			}
		}
		if err := s.Reset(want.Tenant, want.Message); err != nil {
			r.Fatal(err)
		}
		if got, err := k.Verify(track.Unsubscribe, string(s.Append(nil, track.Unsubscribe, 0, ""))); err != nil || got.Preview {
			r.Fatalf("after Reset: %+v, %v", got, err)
		}
	})
}

func TestReturnPathsOfTestMailsHaveNoMessage(t *testing.T) {
	t.Parallel()
	k, message, now := keys(t, 1), id.New[id.Message](), time.Now()
	if _, _, err := k.VerifyReturnPath(string(k.PreviewReturnPath(message, now))); !errors.Is(err, track.ErrPreview) {
		t.Errorf("the return path of a test mail: %v, want ErrPreview", err)
	}
	if _, _, err := keys(t, 2).VerifyReturnPath(string(k.PreviewReturnPath(message, now))); !errors.Is(err, track.ErrBadToken) {
		t.Errorf("that of another installation: %v, want ErrBadToken", err)
	}
	if got, _, err := k.VerifyReturnPath(string(k.ReturnPath(message, now))); err != nil || got != message {
		t.Errorf("that of a real mail: %v, %v", got, err)
	}
}
