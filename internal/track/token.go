// Package track knows what recipients do with their mail: the signed links in
// every message, the opens and clicks that come back by them, and the sums.
//
// A link's token names the tenant and the message, and is signed with a key of
// its own for each purpose, so that one who may open cannot unsubscribe. What a
// click leads to comes from the database or from inside the signature, never from
// the request: there is no open redirect.
//
// A hit is kept raw, as pending, and classified later (engine/classify). What a
// recipient's hits add up to is a set of flags, and the sums of a send follow the
// flags: a hit, a verdict and a sum change in one transaction.
package track

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash"
	"strings"
	"sync"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/secret"
)

// Kind is the purpose of a token.
type Kind byte

// The purposes; each has its own key, and its own letter in the path /_q/.
const (
	OpenPixel   Kind = 'o'
	ClickLink   Kind = 'c'
	Unsubscribe Kind = 'u'
	Preferences Kind = 'p'
	View        Kind = 'v'
)

// Token is what a link says.
type Token struct {
	Tenant  id.Tenant
	Message id.Message
	Link    int    // of the content, for ClickLink
	Origin  Origin // for ClickLink
	Target  string // for a ClickLink whose address was rendered for this recipient
	Preview bool   // of a test mail, which no database knows: it leads on, and nothing comes of it
}

// Origin names the content and the identity of a mail in a click's token: who has
// followed one of a send's links knows where all of them lead, without asking for
// each message what it says.
type Origin [8]byte

// OriginOf returns the origin of the mails of a content from an identity.
func OriginOf(content id.Content, identity id.Identity) Origin {
	var both [32]byte
	copy(both[:16], content[:])
	copy(both[16:], identity[:])
	sum := sha256.Sum256(both[:])
	return Origin(sum[:8])
}

// ErrBadToken says that a token is forged, damaged, or of another kind.
var ErrBadToken = errors.New("not a valid token")

const (
	tokenVersion = 1
	previewFlag  = 0x80 // on the version, of what stands in a test mail
	headBytes    = 1 + 4 + 16 + 2
	originBytes  = 8 // of a click's token, behind the head
	macBytes     = 16
)

// MaxTarget is how many bytes a target may have.
const MaxTarget = 4096

// Keys signs and verifies tokens. It is safe for concurrent use.
type Keys struct{ pools [256]*sync.Pool } // by Kind

// NewKeys derives the keys from the installation's secret.
func NewKeys(box *secret.Box) *Keys {
	k := &Keys{}
	for _, kind := range []Kind{OpenPixel, ClickLink, Unsubscribe, Preferences, View, returnPath, messageID} {
		key := box.Derive("track token " + string(rune(kind)))
		k.pools[kind] = &sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}
	}
	return k
}

// Signer signs the tokens of one message.
type Signer struct {
	keys *Keys
	head [headBytes]byte
	raw  []byte

	content  id.Content // of origin
	identity id.Identity
	origin   Origin
}

// Signer returns a signer for one message. It is not safe for concurrent use.
func (k *Keys) Signer(tenant id.Tenant, message id.Message) (*Signer, error) {
	s := &Signer{keys: k}
	return s, s.Reset(tenant, message)
}

// Reset makes the signer one for another message.
func (s *Signer) Reset(tenant id.Tenant, message id.Message) error {
	if tenant.IsZero() || message.IsZero() {
		return errors.New("a token needs a tenant and a message")
	}
	s.head[0] = tokenVersion
	binary.BigEndian.PutUint32(s.head[1:5], uint32(tenant))
	copy(s.head[5:21], message[:])
	return nil
}

// From says what the message says and who sends it; clicks' tokens name both. It
// stays until it is said anew.
func (s *Signer) From(content id.Content, identity id.Identity) {
	if content != s.content || identity != s.identity || s.origin == (Origin{}) {
		s.content, s.identity, s.origin = content, identity, OriginOf(content, identity)
	}
}

// Preview makes the tokens of the message those of a test mail, until Reset.
func (s *Signer) Preview() { s.head[0] = tokenVersion | previewFlag }

// Append appends the token of kind for a link (0 where links do not matter; at
// most 65535) and a target (empty where the database knows it) to dst, in
// base64url.
func (s *Signer) Append(dst []byte, kind Kind, link int, target string) []byte {
	binary.BigEndian.PutUint16(s.head[21:], uint16(link))
	s.raw = append(s.raw[:0], s.head[:]...)
	if kind == ClickLink {
		s.raw = append(s.raw, s.origin[:]...)
	}
	s.raw = append(s.raw, target...)
	s.raw = s.keys.mac(s.raw, kind, s.raw)
	return base64.RawURLEncoding.AppendEncode(dst, s.raw)
}

func (k *Keys) mac(dst []byte, kind Kind, data []byte) []byte {
	pool := k.pools[kind]
	h := pool.Get().(hash.Hash)
	h.Reset()
	h.Write(data)
	n := len(dst) + macBytes
	dst = h.Sum(dst)
	pool.Put(h)
	return dst[:n]
}

// Verify reads a token of kind. There is one spelling of each: base64 decoders
// pass over line breaks, so those are refused first.
func (k *Keys) Verify(kind Kind, text string) (Token, error) {
	if kind == returnPath || kind == messageID || k.pools[kind] == nil || strings.ContainsAny(text, "\r\n") {
		return Token{}, ErrBadToken
	}
	if len(text) > base64.RawURLEncoding.EncodedLen(headBytes+originBytes+MaxTarget+macBytes) {
		return Token{}, ErrBadToken
	}
	head := headBytes
	if kind == ClickLink {
		head += originBytes
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < head+macBytes || raw[0]&^previewFlag != tokenVersion {
		return Token{}, ErrBadToken
	}
	body, mac := raw[:len(raw)-macBytes], raw[len(raw)-macBytes:]
	if !hmac.Equal(mac, k.mac(nil, kind, body)) {
		return Token{}, ErrBadToken
	}
	t := Token{
		Tenant:  id.Tenant(binary.BigEndian.Uint32(body[1:5])),
		Message: id.Message(body[5:21]),
		Link:    int(binary.BigEndian.Uint16(body[21:23])),
		Target:  string(body[head:]),
		Preview: raw[0]&previewFlag != 0,
	}
	if kind == ClickLink {
		t.Origin = Origin(body[headBytes:head])
	}
	return t, nil
}
