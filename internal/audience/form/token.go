package form

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/secret"
)

// Tokens signs the times at which forms were shown.
type Tokens struct{ key []byte }

// NewTokens derives the key from the installation's secret.
func NewTokens(box *secret.Box) *Tokens { return &Tokens{box.Derive("form token")} }

const (
	tokenLasts    = 2 * time.Hour
	tokenYoungest = 2 * time.Second // a person needs longer to fill in a form
	tokenVersion  = 1
	tokenHead     = 1 + 8
	tokenMAC      = 16
)

// Sign returns a token for a form that is shown now.
func (t *Tokens) Sign(slug string, now time.Time) string {
	raw := binary.BigEndian.AppendUint64([]byte{tokenVersion}, uint64(now.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(raw, t.mac(slug, raw)...))
}

// shown returns when the form was shown, according to a token of ours.
func (t *Tokens) shown(slug, token string) (at time.Time, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenHead+tokenMAC) || strings.ContainsAny(token, "\r\n") {
		return time.Time{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || raw[0] != tokenVersion || !hmac.Equal(raw[tokenHead:], t.mac(slug, raw[:tokenHead])) {
		return time.Time{}, false
	}
	return time.UnixMicro(int64(binary.BigEndian.Uint64(raw[1:]))).UTC(), true
}

func (t *Tokens) mac(slug string, raw []byte) []byte {
	h := hmac.New(sha256.New, t.key)
	h.Write([]byte(slug))
	h.Write(raw)
	return h.Sum(nil)[:tokenMAC]
}
