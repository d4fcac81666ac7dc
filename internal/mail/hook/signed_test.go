package hook_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/mail/hook"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// sendGrid signs as SendGrid does.
type sendGrid struct {
	private *ecdsa.PrivateKey
	key     string // the public key, in base64
}

func newSendGrid(t testing.TB) sendGrid {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return sendGrid{private, base64.StdEncoding.EncodeToString(der)}
}

func (s sendGrid) headers(t testing.TB, stamp, body string) http.Header {
	t.Helper()
	sum := sha256.Sum256([]byte(stamp + body))
	signature, err := ecdsa.SignASN1(rand.Reader, s.private, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	h.Set("X-Twilio-Email-Event-Webhook-Signature", base64.StdEncoding.EncodeToString(signature))
	h.Set("X-Twilio-Email-Event-Webhook-Timestamp", stamp)
	return h
}

func seconds(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// TestSendGridIsProvenByTheSignature changes each part of a signed request.
func TestSendGridIsProvenByTheSignature(t *testing.T) {
	t.Parallel()
	const body = `[{"sg_event_id": "e1", "event": "delivered", "email": "a@x.example", "smtp-id": "<m1@y.example>", "timestamp": 1772366400}]`
	own, next := newSendGrid(t), newSendGrid(t)
	valid := own.headers(t, seconds(noon), body)
	with := func(name, value string) http.Header {
		h := valid.Clone()
		if value == "" {
			h.Del(name)
		} else {
			h.Set(name, value)
		}
		return h
	}
	const signature, timestamp = "X-Twilio-Email-Event-Webhook-Signature", "X-Twilio-Email-Event-Webhook-Timestamp"
	der, _ := base64.StdEncoding.DecodeString(own.key)
	inPEM := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	for _, tt := range []struct {
		name, body string
		h          http.Header
		key        string
		want       error
	}{
		{"as signed", body, valid, own.key, nil},
		{"key in PEM", body, valid, inPEM, nil},
		{"key in lines", body, valid, own.key[:40] + "\r\n" + own.key[40:] + "\n", nil},
		{"signed ten minutes ago", body, own.headers(t, seconds(noon.Add(-10*time.Minute)), body), own.key, nil},
		{"signed earlier", body, own.headers(t, seconds(noon.Add(-10*time.Minute-time.Second)), body), own.key, hook.ErrOld},
		{"signed in the future", body, own.headers(t, seconds(noon.Add(10*time.Minute+time.Second)), body), own.key, hook.ErrOld},
		{"a signed time that is none", body, own.headers(t, "NaN", body), own.key, hook.ErrOld},
		{"no signed time", body, own.headers(t, "", body), own.key, hook.ErrOld},
		{"one byte more", body + " ", valid, own.key, hook.ErrProof},
		{"another recipient", strings.Replace(body, "a@x", "b@x", 1), valid, own.key, hook.ErrProof},
		{"another time", body, with(timestamp, seconds(noon.Add(time.Second))), own.key, hook.ErrProof},
		{"no time", body, with(timestamp, ""), own.key, hook.ErrProof},
		{"no signature", body, with(signature, ""), own.key, hook.ErrProof},
		{"a signature that is no base64", body, with(signature, "%"), own.key, hook.ErrProof},
		{"a signature of nothing", body, with(signature, base64.StdEncoding.EncodeToString([]byte("x"))), own.key, hook.ErrProof},
		{"no headers", body, nil, own.key, hook.ErrProof},
		{"the key before a rotation", body, valid, next.key, hook.ErrProof},
		{"the key after a rotation", body, next.headers(t, seconds(noon), body), next.key, nil},
		{"no key", body, valid, "", hook.ErrProof},
		{"a key that is none", body, valid, base64.StdEncoding.EncodeToString([]byte("key")), hook.ErrProof},
		{"signed, but no array", "{}", own.headers(t, seconds(noon), "{}"), own.key, hook.ErrMalformed},
		{"signed, but null", "null", own.headers(t, seconds(noon), "null"), own.key, hook.ErrMalformed},
		{"signed, but no JSON", "x", own.headers(t, seconds(noon), "x"), own.key, hook.ErrMalformed},
	} {
		events, err := hook.SendGrid([]byte(tt.body), tt.h, tt.key, noon)
		if !errors.Is(err, tt.want) || err == nil && (len(events) != 1 || events[0].ID != "e1" || !events[0].At.Equal(noon)) {
			t.Errorf("%s: %v, %v; want %v", tt.name, events, err, tt.want)
		}
	}
}

// TestSendGridSendsAtMostAThousandEvents refuses a larger body as a whole.
func TestSendGridSendsAtMostAThousandEvents(t *testing.T) {
	t.Parallel()
	s := newSendGrid(t)
	for n, want := range map[int]error{hook.MaxEvents: nil, hook.MaxEvents + 1: hook.ErrMalformed} {
		body := "[" + strings.TrimSuffix(strings.Repeat(`{"event":"open"},`, n), ",") + "]"
		if events, err := hook.SendGrid([]byte(body), s.headers(t, seconds(noon), body), s.key, noon); !errors.Is(err, want) || err == nil && len(events) != n {
			t.Errorf("%d events: %d, %v; want %v", n, len(events), err, want)
		}
	}
}

// mailgun signs as Mailgun does.
func mailgun(key, stamp, token, data string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(stamp + token))
	return fmt.Sprintf(`{"signature": {"timestamp": %q, "token": %q, "signature": %q}, "event-data": %s}`, stamp, token, hex.EncodeToString(mac.Sum(nil)), data)
}

// TestMailgunIsProvenByTheSignature changes each part of a signed request. The signature does not cover the event.
func TestMailgunIsProvenByTheSignature(t *testing.T) {
	t.Parallel()
	const data = `{"id": "e1", "event": "delivered", "recipient": "a@x.example", "timestamp": 1772366400.25}`
	valid := mailgun("k", seconds(noon), "t0ken", data)
	for _, tt := range []struct {
		name, body, key string
		want            error
	}{
		{"as signed", valid, "k", nil},
		{"the time as a number", strings.Replace(valid, `"`+seconds(noon)+`"`, seconds(noon), 1), "k", nil},
		{"signed a quarter of an hour ago", mailgun("k", seconds(noon.Add(-15*time.Minute)), "t", data), "k", nil},
		{"signed earlier", mailgun("k", seconds(noon.Add(-15*time.Minute-time.Second)), "t", data), "k", hook.ErrOld},
		{"signed in the future", mailgun("k", seconds(noon.Add(15*time.Minute+time.Second)), "t", data), "k", hook.ErrOld},
		{"a signed time that is none", mailgun("k", "soon", "t", data), "k", hook.ErrOld},
		{"another time", strings.Replace(valid, seconds(noon), seconds(noon.Add(time.Second)), 1), "k", hook.ErrProof},
		{"another token", strings.Replace(valid, "t0ken", "t1ken", 1), "k", hook.ErrProof},
		{"no token", mailgun("k", seconds(noon), "", data), "k", hook.ErrProof},
		{"a signature that is no hex", strings.Replace(valid, `"signature": "`, `"signature": "x`, 1), "k", hook.ErrProof},
		{"half a signature", strings.Replace(valid, `"}, "event`, `0"}, "event`, 1), "k", hook.ErrProof},
		{"no signature", `{"event-data": ` + data + `}`, "k", hook.ErrProof},
		{"the key before a rotation", valid, "next", hook.ErrProof},
		{"the key after a rotation", mailgun("next", seconds(noon), "t", data), "next", nil},
		{"no key", mailgun("", seconds(noon), "t", data), "", hook.ErrProof},
		{"no JSON", "x", "k", hook.ErrMalformed},
		{"an array", "[]", "k", hook.ErrMalformed},
		{"nothing", "", "k", hook.ErrMalformed},
	} {
		events, err := hook.Mailgun([]byte(tt.body), tt.key, noon)
		if !errors.Is(err, tt.want) || err == nil && (len(events) != 1 || events[0].ID != "e1" || !events[0].At.Equal(noon.Add(250*time.Millisecond))) {
			t.Errorf("%s: %v, %v; want %v", tt.name, events, err, tt.want)
		}
	}
}

// TestPostmarkIsProvenByTheSecret gives the secret in each of its two places, and nearly so.
func TestPostmarkIsProvenByTheSecret(t *testing.T) {
	t.Parallel()
	const body = `{"RecordType": "Delivery", "ID": 7, "Recipient": "a@x.example", "DeliveredAt": "2026-03-01T12:00:00Z"}`
	basic := func(user, password string) http.Header {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, password)
		return r.Header
	}
	own := func(secret string) http.Header { return http.Header{"X-Postmark-Secret": {secret}} }
	for _, tt := range []struct {
		name, body string
		h          http.Header
		key        string
		want       error
	}{
		{"as the password", body, basic("any", "s3cret"), "s3cret", nil},
		{"as a header of its own", body, own("s3cret"), "s3cret", nil},
		{"as the user", body, basic("s3cret", ""), "s3cret", hook.ErrProof},
		{"the beginning of it", body, basic("any", "s3cre"), "s3cret", hook.ErrProof},
		{"more than it", body, own("s3cret2"), "s3cret", hook.ErrProof},
		{"in other letters", body, own("S3CRET"), "s3cret", hook.ErrProof},
		{"no header", body, nil, "s3cret", hook.ErrProof},
		{"the one before a rotation", body, own("s3cret"), "next", hook.ErrProof},
		{"none is set, and none given", body, nil, "", hook.ErrProof},
		{"none is set, and an empty one given", body, own(""), "", hook.ErrProof},
		{"no kind of record", `{}`, own("s3cret"), "s3cret", hook.ErrMalformed},
		{"no JSON", `x`, own("s3cret"), "s3cret", hook.ErrMalformed},
		{"an array", `[]`, own("s3cret"), "s3cret", hook.ErrMalformed},
	} {
		events, err := hook.Postmark([]byte(tt.body), tt.h, tt.key)
		if !errors.Is(err, tt.want) || err == nil && (len(events) != 1 || events[0].ID != "7" || !events[0].At.Equal(noon)) {
			t.Errorf("%s: %v, %v; want %v", tt.name, events, err, tt.want)
		}
	}
}
