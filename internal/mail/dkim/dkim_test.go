package dkim_test

import (
	"bytes"
	"crypto/rsa"
	"strings"
	"sync"
	"testing"
	"time"

	verifier "github.com/emersion/go-msgauth/dkim"

	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/mail/dkim"
)

var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := dkim.GenerateKey()
	if err != nil {
		panic(err)
	}
	return key
})

func newSigner(t testing.TB) *dkim.Signer {
	t.Helper()
	key, err := dkim.NewRSAKey(testKey())
	if err != nil {
		t.Fatal(err)
	}
	s, err := dkim.New("News.Example.org", "es1", key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const message = "Date: Mon, 02 Nov 2026 10:00:00 +0000\r\n" +
	"From: \"Ann\" <ann@news.example.org>\r\n" +
	"To: bob@example.com\r\n" +
	"Subject: A  folded\r\n\tsubject \r\n" +
	"Message-ID: <1@example.org>\r\n" +
	"MIME-Version: 1.0\r\n" +
	"List-Unsubscribe: <https://t.example.org/_q/u/abc>\r\n" +
	"List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n" +
	"Content-Type: text/plain; charset=utf-8\r\n" +
	"Content-Transfer-Encoding: 7bit\r\n" +
	"X-Other: not signed\r\n" +
	"\r\n" +
	"Hello  Bob,\t \r\n\r\n \tthis is  it.\r\n\r\n \r\n"

func sign(t testing.TB, raw string) string {
	t.Helper()
	head, err := newSigner(t).Sign(nil, []byte(raw), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return string(head) + raw
}

// verify asks an independent implementation.
func verify(t testing.TB, raw string) error {
	t.Helper()
	record, err := dkim.Record(&testKey().PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	results, err := verifier.VerifyWithOptions(strings.NewReader(raw), &verifier.VerifyOptions{
		LookupTXT: func(name string) ([]string, error) {
			if name != "es1._domainkey.news.example.org" {
				t.Errorf("looked up %q", name)
			}
			return []string{record}, nil
		},
	})
	if err != nil {
		return err
	}
	if len(results) != 1 || results[0].Domain != "news.example.org" {
		t.Fatalf("verifications = %+v; want one by news.example.org", results)
	}
	return results[0].Err
}

func TestSignaturesVerify(t *testing.T) {
	t.Parallel()
	head, body, _ := strings.Cut(message, "\r\n\r\n")
	for name, raw := range map[string]string{
		"message":           message,
		"no body":           head + "\r\n\r\n",
		"empty lines only":  head + "\r\n\r\n\r\n\r\n \r\n",
		"no final CRLF":     head + "\r\n\r\n" + strings.TrimRight(body, "\r\n \t"),
		"long":              head + "\r\n\r\n" + strings.Repeat(body, 2000),
		"many empty lines":  head + "\r\n\r\na" + strings.Repeat("\r\n", 9000) + "b",
		"long line of tabs": head + "\r\n\r\na" + strings.Repeat("\t", 20000) + "b",
		"space before name": strings.Replace(message, "To:", "To :", 1),
		"empty header":      strings.Replace(message, "To: bob@example.com", "To:", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := verify(t, sign(t, raw)); err != nil {
				t.Errorf("verify: %v", err)
			}
		})
	}
}

func TestSignaturesSurviveWhatRelaysDo(t *testing.T) {
	t.Parallel()
	signed := sign(t, message)
	for name, raw := range map[string]string{
		"trace on top":    "Received: from a by b; now\r\n" + signed,
		"refolded":        strings.Replace(signed, "Subject: A  folded\r\n\tsubject \r\n", "subject:A folded subject\r\n", 1),
		"trailing spaces": strings.Replace(signed, "this is  it.", "this is it.  ", 1),
		"more empty tail": signed + "\r\n\r\n",
	} {
		if err := verify(t, raw); err != nil {
			t.Errorf("%s: verify: %v", name, err)
		}
	}
}

func TestChangesBreakTheSignature(t *testing.T) {
	t.Parallel()
	signed := sign(t, message)
	for name, raw := range map[string]string{
		"second From":                  "From: eve@example.net\r\n" + signed,
		"second To":                    "To: eve@example.net\r\n" + signed,
		"second Subject":               "Subject: other\r\n" + signed,
		"second Date":                  "Date: Tue, 03 Nov 2026 10:00:00 +0000\r\n" + signed,
		"added Reply-To":               "Reply-To: eve@example.net\r\n" + signed,
		"added Cc":                     "Cc: eve@example.net\r\n" + signed,
		"added Sender":                 "Sender: eve@example.net\r\n" + signed,
		"second List-Unsubscribe":      "List-Unsubscribe: <https://evil.example.net/>\r\n" + signed,
		"second List-Unsubscribe-Post": "List-Unsubscribe-Post: x\r\n" + signed,
		"second Content-Type":          "Content-Type: text/html\r\n" + signed,
		"second MIME-Version":          "MIME-Version: 1.0\r\n" + signed,
		"second From below":            strings.Replace(signed, "X-Other:", "From: eve@example.net\r\nX-Other:", 1),
		"changed Message-ID":           strings.Replace(signed, "<1@", "<2@", 1),
		"changed body":                 strings.Replace(signed, "this is", "that is", 1),
		"longer body":                  signed + "more\r\n",
		"joined words":                 strings.Replace(signed, "this is  it", "thisis it", 1),
	} {
		if raw == signed {
			t.Fatalf("%s: nothing was changed", name)
		}
		if err := verify(t, raw); err == nil {
			t.Errorf("%s: the signature still verifies", name)
		}
	}
}

func TestSignatureHeader(t *testing.T) {
	t.Parallel()
	now := time.Unix(1793613600, 0)
	head, err := newSigner(t).Sign([]byte("kept"), []byte(message), now)
	if err != nil {
		t.Fatal(err)
	}
	got, kept := strings.CutPrefix(string(head), "kept")
	fixed, _, ok := strings.Cut(got, " bh=")
	want := "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; q=dns/txt;\r\n" +
		" d=news.example.org;\r\n" +
		" s=es1; t=1793613600; x=1794218400;\r\n" +
		" h=from:from:to:to:cc:subject:subject:date:date:message-id:reply-to:sender:\r\n" +
		" mime-version:mime-version:content-type:content-type:\r\n" +
		" content-transfer-encoding:list-unsubscribe:list-unsubscribe:\r\n" +
		" list-unsubscribe-post:list-unsubscribe-post;\r\n"
	if !kept || !ok || fixed != want {
		t.Errorf("header\n%s\nwant\n%s", got, want)
	}
	if !strings.HasSuffix(got, "\r\n") || strings.Contains(got, "; l=") {
		t.Errorf("header %q", got)
	}
	for line := range strings.SplitSeq(got, "\r\n") {
		if len(line) > 78 {
			t.Errorf("line of %d characters: %q", len(line), line)
		}
	}
}

func TestSignRefusesWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	s := newSigner(t)
	for _, raw := range []string{
		"", "From: a@x.org", "From: a@x.org\r\n", "no colon\r\n\r\n", ": x\r\n\r\n",
		"To: a@x.org\r\n\r\nno From", "From: a@x.org\r\nfrom: b@x.org\r\n\r\n",
	} {
		if head, err := s.Sign(nil, []byte(raw), time.Now()); err == nil || len(head) > 0 {
			t.Errorf("Sign(%q) = %q, %v; want an error", raw, head, err)
		}
	}
}

func TestNewRefusesNamesThatCannotBePublished(t *testing.T) {
	t.Parallel()
	key, _ := dkim.NewRSAKey(testKey())
	for _, tt := range []struct{ domain, selector string }{
		{"example", "es1"}, {"ex ample.org", "es1"}, {"example.org", ""}, {"example.org", "a;b=c"}, {"example.org", "a\r\nb"},
	} {
		if _, err := dkim.New(tt.domain, tt.selector, key); err == nil {
			t.Errorf("New(%q, %q) gave no error", tt.domain, tt.selector)
		}
	}
	if _, err := dkim.New("example.org", "es1", nil); err == nil {
		t.Error("New without a key gave no error")
	}
}

func TestKeysAreStoredAndReadAgain(t *testing.T) {
	t.Parallel()
	text, err := dkim.MarshalKey(testKey())
	if err != nil {
		t.Fatal(err)
	}
	back, err := dkim.ParseKey(text)
	if err != nil || !back.Equal(testKey()) {
		t.Errorf("ParseKey(MarshalKey(key)) = %v", err)
	}
	if back.N.BitLen() != 2048 {
		t.Errorf("key of %d bits", back.N.BitLen())
	}
	for _, bad := range []string{"", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", string(bytes.ReplaceAll(text, []byte("PRIVATE"), []byte("PUBLIC")))} {
		if _, err := dkim.ParseKey([]byte(bad)); err == nil {
			t.Errorf("ParseKey(%q) gave no error", bad)
		}
	}
	record, err := dkim.Record(&testKey().PublicKey)
	if err != nil || !strings.HasPrefix(record, "v=DKIM1; k=rsa; p=MIIBIjAN") || strings.ContainsAny(record, "\r\n\"") {
		t.Errorf("Record = %q, %v", record, err)
	}
}

func BenchmarkSign(b *testing.B) {
	s := newSigner(b)
	raw := []byte(message + strings.Repeat("A line  of some length, with the odd run of spaces in it.\r\n", 200))
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if out, err = s.Sign(out[:0], raw, time.Unix(1793613600, 0)); err != nil {
			b.Fatal(err)
		}
	}
}

type noKey struct{}

func (noKey) Sign([]byte) ([]byte, error) { return make([]byte, 256), nil }

// BenchmarkHash is BenchmarkSign without the RSA operation.
func BenchmarkHash(b *testing.B) {
	s, err := dkim.New("news.example.org", "es1", noKey{})
	if err != nil {
		b.Fatal(err)
	}
	raw := []byte(message + strings.Repeat("A line  of some length, with the odd run of spaces in it.\r\n", 200))
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		if out, err = s.Sign(out[:0], raw, time.Unix(1793613600, 0)); err != nil {
			b.Fatal(err)
		}
	}
}

// A message with every header that compose can write, as the product sends it.
func TestComposedMessagesVerify(t *testing.T) {
	t.Parallel()
	var b compose.Builder
	raw, err := b.Build(nil, &compose.Message{
		Date: time.Now(), From: compose.Mailbox{Name: "Änn, „Lee“", Address: "ann@news.example.org"}, ReplyTo: "help@example.org",
		To: "bob@example.com", Subject: strings.Repeat("Überraschung ", 12), MessageID: "1.2@bounce.example.org",
		UnsubscribeURL: "https://t.example.org/_q/u/abc", UnsubscribeAddress: "u.abc@bounce.example.org",
		ListID: compose.ListID{Name: "News", ID: "news.acme.example.org"}, FeedbackID: "a:l-b:c:packetboat", EntityRef: "1",
		Precedence: "bulk", AutoSubmitted: "auto-generated", NoAutoReplies: true,
		Text: []byte("Hello \n\n"), HTML: []byte("<p>Hällo</p>\n\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	signed := sign(t, string(raw))
	if err := verify(t, signed); err != nil {
		t.Errorf("verify: %v", err)
	}
	for _, name := range []string{"Precedence", "Auto-Submitted", "Feedback-ID", "List-ID", "X-Entity-Ref-ID", "List-Unsubscribe", "List-Unsubscribe-Post"} {
		if err := verify(t, strings.Replace(signed, "\r\n"+name+": ", "\r\n"+name+": x", 1)); err == nil {
			t.Errorf("%s is not signed", name)
		}
	}
}
