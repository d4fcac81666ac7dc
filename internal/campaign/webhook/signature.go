package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"
)

// Keys are the keys that an endpoint's requests are signed with.
type Keys struct {
	current, previous []byte
	previousUntil     time.Time
}

// Signs reports whether there is a key.
func (k Keys) Signs() bool { return k.current != nil }

// Sign returns the value of the header webhook-signature: one signature for each valid key, the
// newest first.
func (k Keys) Sign(messageID string, at time.Time, body []byte, now time.Time) string {
	signature := sign(k.current, messageID, at, body)
	if k.previous != nil && now.Before(k.previousUntil) {
		signature += " " + sign(k.previous, messageID, at, body)
	}
	return signature
}

// sign returns a signature of version 1 of Standard Webhooks: the HMAC-SHA256 of the message's id, the
// time in seconds and the body, separated by dots.
func sign(key []byte, messageID string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(messageID + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
