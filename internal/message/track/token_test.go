package track_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/message/track"
)

var kinds = []track.Kind{track.OpenPixel, track.ClickLink, track.Unsubscribe, track.Preferences, track.View, track.Confirm}

func keys(t testing.TB, fill byte) *track.Keys {
	t.Helper()
	box, err := secret.NewBox(bytes.Repeat([]byte{fill}, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return track.NewKeys(box)
}

func sign(t testing.TB, k *track.Keys, kind track.Kind, want track.Token) string {
	t.Helper()
	s, err := k.Signer(want.Tenant, want.Message)
	if err != nil {
		t.Fatal(err)
	}
	return string(s.Append(nil, kind, want.Link, want.Target))
}

func TestVerifyReturnsTheSignedToken(t *testing.T) {
	t.Parallel()
	k := keys(t, 1)
	rapid.Check(t, func(r *rapid.T) {
		want := track.Token{
			Tenant: idtest.Tenant(), Message: id.New[id.Message](),
			Link:   rapid.IntRange(0, 65535).Draw(r, "link"),
			Target: rapid.StringN(0, -1, track.MaxTarget).Draw(r, "target"),
		}
		for _, kind := range kinds {
			text := sign(t, k, kind, want)
			if got, err := k.Verify(kind, text); err != nil || got != want {
				r.Fatalf("Verify = %+v, %v; want %+v", got, err, want)
			}
			for _, other := range kinds {
				if _, err := k.Verify(other, text); other != kind && err == nil {
					r.Fatalf("a token of kind %c passes for one of kind %c", kind, other)
				}
			}
			if _, err := keys(t, 2).Verify(kind, text); err == nil {
				r.Fatal("a token of another installation passes")
			}
		}
	})
}

func TestASignerCanBeReset(t *testing.T) {
	t.Parallel()
	k := keys(t, 1)
	s, err := k.Signer(idtest.Tenant(), id.New[id.Message]())
	if err != nil {
		t.Fatal(err)
	}
	s.Append(nil, track.ClickLink, 7, "https://example.org/a/long/target")
	want := track.Token{Tenant: idtest.Tenant(), Message: id.New[id.Message]()}
	if err := s.Reset(want.Tenant, want.Message); err != nil {
		t.Fatal(err)
	}
	text := string(s.Append([]byte("/_q/o/"), track.OpenPixel, 0, ""))
	if got, err := k.Verify(track.OpenPixel, strings.TrimPrefix(text, "/_q/o/")); err != nil || got != want {
		t.Errorf("Verify = %+v, %v; want %+v", got, err, want)
	}
	if len(text) > 80 {
		t.Errorf("the path of an open is %d bytes long", len(text))
	}
	content, identity := id.New[id.Content](), id.New[id.Identity]()
	s.SetOrigin(content, identity)
	want.Origin = track.OriginOf(content, identity)
	click := string(s.Append(nil, track.ClickLink, 0, ""))
	if got, err := k.Verify(track.ClickLink, click); err != nil || got != want || track.OriginOf(id.New[id.Content](), identity) == want.Origin {
		t.Errorf("Verify = %+v, %v; want %+v", got, err, want)
	}
	if len(click) > 63 {
		t.Errorf("the token of a click is %d bytes long", len(click))
	}
	if err := s.Reset(0, want.Message); err == nil {
		t.Error("Reset takes no tenant for one")
	}
}

func TestATokenWithAChangedBitIsInvalid(t *testing.T) {
	t.Parallel()
	k := keys(t, 1)
	text := sign(t, k, track.ClickLink, track.Token{Tenant: idtest.Tenant(), Message: id.New[id.Message](), Link: 3, Target: "https://example.org/"})
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(raw) * 8 {
		bad := bytes.Clone(raw)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := k.Verify(track.ClickLink, base64.RawURLEncoding.EncodeToString(bad)); err == nil {
			t.Fatalf("bit %d may be flipped", bit)
		}
	}
	for n := range raw {
		if _, err := k.Verify(track.ClickLink, base64.RawURLEncoding.EncodeToString(raw[:n])); err == nil {
			t.Fatalf("%d of %d bytes pass", n, len(raw))
		}
	}
}

func TestATokenHasOneEncoding(t *testing.T) {
	t.Parallel()
	k := keys(t, 1)
	text := sign(t, k, track.OpenPixel, track.Token{Tenant: idtest.Tenant(), Message: id.New[id.Message]()})
	last := text[len(text)-1]
	for _, bad := range []string{
		text + "=", text + "\n", text[:9] + "\r\n" + text[9:], " " + text, text + "A", text + ".gif", "",
		text[:len(text)-1] + string(last+1), strings.ToLower(text), strings.Repeat("A", 100_000),
	} {
		if _, err := k.Verify(track.OpenPixel, bad); err == nil {
			t.Errorf("Verify takes %.80q for %q", bad, text)
		}
	}
	for _, kind := range []track.Kind{0, 'r', 'x'} {
		if _, err := k.Verify(kind, text); err == nil {
			t.Errorf("Verify takes kind %q", kind)
		}
	}
}

func TestReturnPath(t *testing.T) {
	t.Parallel()
	k := keys(t, 1)
	m := id.New[id.Message]()
	text := string(k.ReturnPath(m, time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC)))
	if len("b.")+len(text) > 64 || text != strings.ToLower(text) {
		t.Errorf("%q does not fit a local part of 64 bytes in lower case", text)
	}
	got, sent, err := k.VerifyReturnPath(text)
	if err != nil || got != m || !sent.Equal(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("VerifyReturnPath = %s, %v, %v; want %s", got, sent, err, m)
	}
	if _, _, err := keys(t, 2).VerifyReturnPath(text); err == nil {
		t.Error("a return path of another installation passes")
	}
	for i := range text {
		for _, c := range "abcxyz2357AZ018=\n" {
			bad := text[:i] + string(c) + text[i+1:]
			if _, _, err := k.VerifyReturnPath(bad); err == nil && bad != text {
				t.Fatalf("VerifyReturnPath takes %q for %q", bad, text)
			}
		}
	}
	for _, bad := range []string{"", text[:len(text)-1], text + "a", text + "\n", text[:4] + "\n" + text[4:], strings.ToUpper(text)} {
		if _, _, err := k.VerifyReturnPath(bad); err == nil {
			t.Errorf("VerifyReturnPath takes %q", bad)
		}
	}
}

func FuzzVerify(f *testing.F) {
	k := keys(f, 1)
	want := track.Token{Tenant: idtest.TenantNamed("019aa1b2-0000-7000-8000-000000000001"), Message: idtest.Must[id.Message]("019aa1b2-0000-7000-8000-000000000002"), Link: 1, Target: "https://example.org/"}
	for _, kind := range kinds {
		f.Add(byte(kind), sign(f, k, kind, want))
	}
	f.Add(byte('x'), "")
	f.Add(byte('c'), "AQ\n")
	f.Fuzz(func(t *testing.T, kind byte, text string) {
		got, err := k.Verify(track.Kind(kind), text)
		if err != nil {
			return
		}
		if again := sign(t, k, track.Kind(kind), got); again != text {
			t.Errorf("Verify takes %q, which is signed as %q", text, again)
		}
	})
}

func FuzzVerifyReturnPath(f *testing.F) {
	k := keys(f, 1)
	f.Add(string(k.ReturnPath(idtest.Must[id.Message]("019aa1b2-0000-7000-8000-000000000002"), time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))))
	f.Add("")
	f.Add(strings.Repeat("a", 56))
	f.Fuzz(func(t *testing.T, text string) {
		m, sent, err := k.VerifyReturnPath(text)
		if err == nil && string(k.ReturnPath(m, sent)) != text {
			t.Errorf("VerifyReturnPath takes %q, which is signed as %q", text, k.ReturnPath(m, sent))
		}
	})
}

// A Message-ID depends on the message and the installation's key alone.
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
