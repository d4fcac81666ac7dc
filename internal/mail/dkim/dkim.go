// Package dkim signs messages with DomainKeys Identified Mail (RFC 6376):
// rsa-sha256 and ed25519-sha256 (RFC 8463), relaxed canonicalisation of headers and body.
//
// A signature covers the whole body (no l=) and each header that readers or filters rely on. It
// names the most abused headers once more than they occur, so that adding a copy later breaks it
// (RFC 6376 section 8.15). It expires after a week, which limits replays.
//
// The signer reads a finished message and returns a header to be put before it. After that, no byte
// of the message may change.
package dkim

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/mail/address"
)

// Lifetime is how long a signature is valid. It must be longer than the longest time for which a
// message waits for delivery. A retired key must stay published for as long.
const Lifetime = 7 * 24 * time.Hour

// signed are the headers that a signature covers if they are present, in the order of h=. Oversigned
// ones are listed even if they are absent.
var signed = [...]struct {
	name       string
	oversigned bool
}{
	{"from", true},
	{"to", true},
	{"cc", true},
	{"subject", true},
	{"date", true},
	{"message-id", false},
	{"reply-to", true},
	{"sender", true},
	{"mime-version", true},
	{"content-type", true},
	{"content-transfer-encoding", false},
	{"list-unsubscribe", true},
	{"list-unsubscribe-post", true},
	{"list-id", false},
	{"feedback-id", false},
	{"precedence", false},
	{"auto-submitted", false},
	{"x-entity-ref-id", false},
}

// Key makes signatures of SHA-256 digests: RSASSA-PKCS1-v1_5, or Ed25519 if it is an *Ed25519Key. It
// must be safe for concurrent use.
type Key interface {
	Sign(digest []byte) ([]byte, error)
}

// Signer signs messages for one domain with one key or several. It is safe for concurrent use.
type Signer struct {
	keys    []signingKey
	scratch sync.Pool // of *scratch
}

// signingKey is a key with the tags of its signatures that do not change.
type signingKey struct {
	head string
	Key
}

// New returns a Signer for the key published at selector._domainkey.domain.
func New(domain, selector string, key Key) (*Signer, error) {
	host, err := address.Hostname(domain)
	if err != nil {
		return nil, fmt.Errorf("DKIM domain %q: %w", domain, err)
	}
	if !isSelector(selector) {
		return nil, fmt.Errorf("DKIM selector %q is not a label", selector)
	}
	if key == nil {
		return nil, errors.New("DKIM signer without a key")
	}
	algorithm := "rsa-sha256"
	if _, ok := key.(*Ed25519Key); ok {
		algorithm = "ed25519-sha256"
	}
	return newSigner(signingKey{
		head: "DKIM-Signature: v=1; a=" + algorithm + "; c=relaxed/relaxed; q=dns/txt;\r\n" +
			" d=" + host + ";\r\n s=" + selector + "; t=",
		Key: key,
	}), nil
}

func newSigner(keys ...signingKey) *Signer {
	s := &Signer{keys: keys}
	s.scratch.New = func() any { return &scratch{sha: sha256.New()} }
	return s
}

// And returns a Signer that adds the signatures of s and those of other. The body is hashed once.
func (s *Signer) And(other *Signer) *Signer {
	return newSigner(slices.Concat(s.keys, other.keys)...)
}

func isSelector(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// scratch is the working memory of one signing. It is reused.
type scratch struct {
	sha    hash.Hash
	fields []field
	buf    []byte
	digest [sha256.Size]byte

	bodyHash [44]byte // in base64
}

// Sign appends to dst the DKIM-Signature headers, with CRLF, of the finished message raw, signed at
// now. There is one for each key; none of them signs another.
func (s *Signer) Sign(dst, raw []byte, now time.Time) ([]byte, error) {
	w := s.scratch.Get().(*scratch)
	defer s.scratch.Put(w)

	body, err := w.split(raw)
	if err != nil {
		return dst, err
	}
	w.sha.Reset()
	w.buf = hashBody(w.sha, w.buf, body)
	bodyHash := base64.StdEncoding.AppendEncode(w.bodyHash[:0], w.sha.Sum(w.digest[:0]))
	out := dst
	for _, k := range s.keys {
		if out, err = w.sign(out, k, bodyHash, now); err != nil {
			return dst, err
		}
	}
	return out, nil
}

// sign appends the signature header of one key.
func (w *scratch) sign(dst []byte, k signingKey, bodyHash []byte, now time.Time) ([]byte, error) {
	start := len(dst)
	out := append(dst, k.head...)
	out = strconv.AppendInt(out, now.Unix(), 10)
	out = append(out, "; x="...)
	out = strconv.AppendInt(out, now.Add(Lifetime).Unix(), 10)
	out = append(out, ";\r\n h="...)
	out = w.appendNames(out)
	out = append(out, ";\r\n bh="...)
	out = append(out, bodyHash...)
	out = append(out, ";\r\n b="...)

	w.sha.Reset()
	w.hashHeaders(out[start:])
	signature, err := k.Sign(w.sha.Sum(w.digest[:0]))
	if err != nil {
		return dst, fmt.Errorf("sign message: %w", err)
	}
	w.buf = base64.StdEncoding.AppendEncode(w.buf[:0], signature)
	for i, line := 0, 73; i < len(w.buf); i, line = i+line, 75 {
		if i > 0 {
			out = append(out, "\r\n "...)
			line = 76
		}
		line = min(line, len(w.buf)-i)
		out = append(out, w.buf[i:i+line]...)
	}
	return append(out, "\r\n"...), nil
}

// field is one header field of the message, still folded.
type field struct {
	name  []byte
	value []byte // without the final CRLF
}

var errNoHeader = errors.New("message to sign has a malformed header")

// split stores the header fields of raw and returns its body.
func (w *scratch) split(raw []byte) (body []byte, err error) {
	w.fields = w.fields[:0]
	from := 0
	for {
		if bytes.HasPrefix(raw, []byte("\r\n")) {
			body = raw[2:]
			break
		}
		end := 0
		for {
			n := bytes.Index(raw[end:], []byte("\r\n"))
			if n < 0 {
				return nil, errNoHeader
			}
			end += n + 2
			if end == len(raw) || raw[end] != ' ' && raw[end] != '\t' {
				break
			}
		}
		colon := bytes.IndexByte(raw[:end], ':')
		if colon <= 0 {
			return nil, errNoHeader
		}
		f := field{name: bytes.TrimRight(raw[:colon], " \t"), value: raw[colon+1 : end-2]}
		if is(f.name, "from") {
			from++
		}
		w.fields = append(w.fields, f)
		raw = raw[end:]
	}
	if from != 1 {
		return nil, fmt.Errorf("message to sign has %d From headers", from)
	}
	return body, nil
}

// is reports whether a header's name equals want, which is in lower case.
func is(name []byte, want string) bool {
	return len(name) == len(want) && strings.EqualFold(string(name), want)
}

// appendNames appends the value of h=, folded.
func (w *scratch) appendNames(out []byte) []byte {
	width, first := 3, true
	for i := range signed {
		n := 0
		if signed[i].oversigned {
			n = 1
		}
		for j := range w.fields {
			if is(w.fields[j].name, signed[i].name) {
				n++
			}
		}
		for range n {
			if !first {
				out = append(out, ':')
				width++
			}
			if width+len(signed[i].name) > 74 {
				out = append(out, "\r\n "...)
				width = 1
			}
			out = append(out, signed[i].name...)
			width += len(signed[i].name)
			first = false
		}
	}
	return out
}

// hashHeaders hashes the signed headers, the last one of each name first, and then the signature
// header without the value of b= and without CRLF.
func (w *scratch) hashHeaders(signature []byte) {
	for i := range signed {
		for j := len(w.fields) - 1; j >= 0; j-- {
			if f := &w.fields[j]; is(f.name, signed[i].name) {
				w.buf = appendRelaxedHeader(w.buf[:0], f.name, f.value)
				w.buf = append(w.buf, "\r\n"...)
				w.sha.Write(w.buf)
			}
		}
	}
	name, value, _ := bytes.Cut(signature, []byte(":"))
	w.buf = appendRelaxedHeader(w.buf[:0], name, value)
	w.sha.Write(w.buf)
}
