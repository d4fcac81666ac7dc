// Package track records what recipients do with their mail: it signs the links in messages,
// stores opens and clicks, and keeps the sums of sends.
//
// A link's token contains the tenant and the message, and is signed with a different key
// for each purpose, so that the token of an open pixel cannot unsubscribe. The target of a
// click comes from the database or from the signed token, never from the request: there is
// no open redirect.
//
// A hit is stored as pending and classified later (engine/classify). The hits of a message
// determine its flags, and the flags the sums of its send: all three change in one
// transaction.
package track

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"strings"
	"sync"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
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
	Confirm     Kind = 'd' // a subscription, with double opt-in
)

// Token is the content of a link's token.
type Token struct {
	Tenant  id.Tenant
	Message id.Message
	Link    int    // of the content, for ClickLink
	Origin  Origin // for ClickLink
	Target  string // for a ClickLink whose address was rendered for this recipient
	Preview bool   // of a test mail, which is not stored: links redirect, but no hit is recorded
}

// Origin identifies the content and the identity of a mail in a click's token, so that the
// targets of links can be cached for all messages with the same origin.
type Origin [8]byte

// OriginOf returns the origin of mails with a content and an identity.
func OriginOf(content id.Content, identity id.Identity) Origin {
	var both [32]byte
	copy(both[:16], content[:])
	copy(both[16:], identity[:])
	sum := sha256.Sum256(both[:])
	return Origin(sum[:8])
}

// ErrBadToken means that a token is forged, damaged, or of another kind.
var ErrBadToken = errors.New("not a valid token")

const (
	tokenVersion = 1
	previewFlag  = 0x80 // bit of the version, set in test mails
	headBytes    = 1 + 4 + 16 + 2
	originBytes  = 8 // of a click's token, behind the head
	macBytes     = 16
)

// MaxTarget is the maximal length of a target in bytes.
const MaxTarget = 4096

// Keys signs and verifies tokens. It is safe for concurrent use.
type Keys struct{ pools [256]*sync.Pool } // by Kind

// NewKeys derives the keys from the installation's secret.
func NewKeys(box *secret.Box) *Keys {
	k := &Keys{}
	for _, kind := range []Kind{OpenPixel, ClickLink, Unsubscribe, Preferences, View, Confirm, returnPath, unsubscribeAddress, hook, messageID, binding} {
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

// Reset sets the message.
func (s *Signer) Reset(tenant id.Tenant, message id.Message) error {
	if tenant.IsZero() || message.IsZero() {
		return errors.New("a token needs a tenant and a message")
	}
	s.head[0] = tokenVersion
	binary.BigEndian.PutUint32(s.head[1:5], uint32(tenant))
	copy(s.head[5:21], message[:])
	return nil
}

// SetOrigin sets the content and the identity for the tokens of clicks. Reset does not
// change them.
func (s *Signer) SetOrigin(content id.Content, identity id.Identity) {
	if content != s.content || identity != s.identity || s.origin == (Origin{}) {
		s.content, s.identity, s.origin = content, identity, OriginOf(content, identity)
	}
}

// Preview marks the tokens as those of a test mail, until Reset.
func (s *Signer) Preview() { s.head[0] = tokenVersion | previewFlag }

// Append appends a token to dst, in base64url. link is the number of the link (at most
// 65535; 0 for kinds without links), target its target if that is not stored.
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
	if kind == returnPath || kind == unsubscribeAddress || kind == messageID || kind == hook || kind == binding || k.pools[kind] == nil {
		return Token{}, ErrBadToken
	}
	return k.verify(kind, text)
}

func (k *Keys) verify(kind Kind, text string) (Token, error) {
	if strings.ContainsAny(text, "\r\n") {
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

// messageID is the purpose of the code in a Message-ID.
const messageID Kind = 'm'

// MessageID returns the left part of a message's Message-ID (RFC 5322 section 3.6.4): its
// id, and a code that cannot be guessed and is the same for every attempt.
func (k *Keys) MessageID(m id.Message) string {
	return m.String() + "." + hex.EncodeToString(k.mac(nil, messageID, m[:])[:messageIDBytes])
}

const messageIDBytes = 8

// VerifyMessageID returns the message of a Message-ID, with or without angle brackets, and the host
// after the @. The whole code must match: the message alone is not secret.
func (k *Keys) VerifyMessageID(text string) (m id.Message, host string, err error) {
	text = strings.ToLower(strings.Trim(strings.TrimSpace(text), "<>"))
	left, host, _ := strings.Cut(text, "@")
	name, code, _ := strings.Cut(left, ".")
	m, ok := id.Parse[id.Message](name)
	if !ok || !hmac.Equal([]byte(code), []byte(hex.EncodeToString(k.mac(nil, messageID, m[:])[:messageIDBytes]))) {
		return id.Message{}, "", ErrBadToken
	}
	return m, host, nil
}

// hook is the purpose of the token in the address at which a provider reports on a lane's mail.
const hook Kind = 'h'

// Hook returns the token in the address of a lane's hooks: tenant, lane, and a MAC.
func (k *Keys) Hook(tenant id.Tenant, lane id.Lane) string {
	raw := append([]byte{tokenVersion}, 0, 0, 0, 0)
	binary.BigEndian.PutUint32(raw[1:], uint32(tenant))
	raw = append(raw, lane[:]...)
	return base64.RawURLEncoding.EncodeToString(k.mac(raw, hook, raw))
}

// VerifyHook returns the tenant and the lane of a token.
func (k *Keys) VerifyHook(text string) (id.Tenant, id.Lane, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != 1+4+16+macBytes || raw[0] != tokenVersion || strings.ContainsAny(text, "\r\n") {
		return 0, id.Lane{}, ErrBadToken
	}
	body, mac := raw[:len(raw)-macBytes], raw[len(raw)-macBytes:]
	if !hmac.Equal(mac, k.mac(nil, hook, body)) {
		return 0, id.Lane{}, ErrBadToken
	}
	return id.Tenant(binary.BigEndian.Uint32(body[1:5])), id.Lane(body[5:21]), nil
}
