package dkim_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	verifier "github.com/emersion/go-msgauth/dkim"

	"github.com/packetboat/packetboat/internal/mail/dkim"
)

// TestTwoSignaturesVerify checks a message signed with an RSA and an Ed25519 key by an independent
// implementation, and that either signature breaks with the message.
func TestTwoSignaturesVerify(t *testing.T) {
	t.Parallel()
	private, err := dkim.GenerateEd25519()
	if err != nil {
		t.Fatal(err)
	}
	text, err := dkim.MarshalEd25519(private)
	if err != nil {
		t.Fatal(err)
	}
	if private, err = dkim.ParseEd25519(text); err != nil {
		t.Fatal(err)
	}
	key, err := dkim.NewEd25519Key(private)
	if err != nil {
		t.Fatal(err)
	}
	second, err := dkim.New("news.example.org", "ed1", key)
	if err != nil {
		t.Fatal(err)
	}
	head, err := newSigner(t).And(second).Sign(nil, []byte(message), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	rsaRecord, err := dkim.Record(&testKey().PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	records := map[string]string{
		"es1._domainkey.news.example.org": rsaRecord,
		"ed1._domainkey.news.example.org": dkim.Ed25519Record(private.Public().(ed25519.PublicKey)),
	}
	results := func(raw string) (valid []bool) {
		var mu sync.Mutex // the verifier checks signatures at the same time
		var asked []string
		list, err := verifier.VerifyWithOptions(strings.NewReader(raw), &verifier.VerifyOptions{LookupTXT: func(name string) ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, name)
			return []string{records[name]}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(asked)
		if want := []string{"ed1._domainkey.news.example.org", "es1._domainkey.news.example.org"}; !slices.Equal(asked, want) {
			t.Errorf("keys asked for: %v; want %v", asked, want)
		}
		for _, r := range list {
			valid = append(valid, r.Err == nil)
		}
		return valid
	}
	if got := results(string(head) + message); !slices.Equal(got, []bool{true, true}) {
		t.Errorf("signatures valid: %v; want both", got)
	}
	if got := results(string(head) + strings.Replace(message, "Hello", "Hallo", 1)); !slices.Equal(got, []bool{false, false}) {
		t.Errorf("signatures of a changed message valid: %v; want none", got)
	}
}

// TestEd25519Record compares with the key of RFC 8463 appendix A.
func TestEd25519Record(t *testing.T) {
	t.Parallel()
	seed, err := base64.StdEncoding.DecodeString("nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=")
	if err != nil {
		t.Fatal(err)
	}
	public := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	if got, want := dkim.Ed25519Record(public), "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="; got != want {
		t.Errorf("Ed25519Record = %q; want %q", got, want)
	}
}

func TestOnlyEd25519KeysAreParsed(t *testing.T) {
	t.Parallel()
	other, err := dkim.MarshalKey(testKey())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", string(other)} {
		if _, err := dkim.ParseEd25519([]byte(text)); err == nil {
			t.Errorf("ParseEd25519(%.40q) succeeded", text)
		}
	}
	if _, err := dkim.NewEd25519Key(make(ed25519.PrivateKey, 3)); err == nil {
		t.Error("NewEd25519Key accepted a short key")
	}
}
