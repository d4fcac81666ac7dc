package track

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
)

// A pack is the encoding of accepted hits of one tenant, in a few dozen bytes each:
//
//	version     1 byte, packVersion
//	texts       their number, and each with its length before it
//	hits        to the end; for each
//	  message   16 bytes
//	  at        microseconds since the hit before, or since 1970 for the first; signed
//	  bits      1 byte: hitClick, hitPrefetch, hitHoneypot, hitSignals
//	  method, agent, IP   the number of a text, for each
//	  signals             with hitSignals
//	  link, url           for clicks other than on the invisible link; the latter is the number of a text
//
// Numbers are varints (encoding/binary). Each text is stored once, since hits of the same
// time have few different agents and addresses.

const (
	packVersion = 2 // 1 has neither signals nor honeypot, and can be decoded, too

	hitClick    = 1 << 0
	hitPrefetch = 1 << 1
	hitHoneypot = 1 << 2
	hitSignals  = 1 << 3
)

var errPack = errors.New("not a pack of hits that this version can decode")

// packer numbers the texts of a pack.
type packer struct {
	numbers map[string]uint64
	texts   []byte
}

func (p *packer) number(text string) uint64 {
	n, known := p.numbers[text]
	if !known {
		n = uint64(len(p.numbers))
		p.numbers[text] = n
		p.texts = binary.AppendUvarint(p.texts, uint64(len(text)))
		p.texts = append(p.texts, text...)
	}
	return n
}

// pack returns a pack of hits of one tenant. It does not contain what Record looks up.
func pack(hits []Hit) []byte {
	p := packer{numbers: make(map[string]uint64, 8)}
	rows := make([]byte, 0, 40*len(hits))
	last := int64(0)
	for _, h := range hits {
		at := h.At.UnixMicro()
		rows = append(rows, h.Message[:]...)
		rows = binary.AppendVarint(rows, at-last)
		last = at
		bits := byte(0)
		if h.Click {
			bits |= hitClick
		}
		if h.Prefetch {
			bits |= hitPrefetch
		}
		if h.Honeypot {
			bits |= hitHoneypot
		}
		if h.Signals != 0 {
			bits |= hitSignals
		}
		rows = append(rows, bits)
		for _, text := range []string{h.Method, h.Agent, h.IP} {
			rows = binary.AppendUvarint(rows, p.number(text))
		}
		if h.Signals != 0 {
			rows = binary.AppendUvarint(rows, uint64(h.Signals))
		}
		if h.Click && !h.Honeypot {
			rows = binary.AppendUvarint(rows, uint64(h.Link))
			rows = binary.AppendUvarint(rows, p.number(h.URL))
		}
	}
	b := append(make([]byte, 0, 8+len(p.texts)+len(rows)), packVersion)
	b = binary.AppendUvarint(b, uint64(len(p.numbers)))
	return append(append(b, p.texts...), rows...)
}

// unpack returns the hits of a tenant's pack. The error is errPack.
func unpack(tenant id.Tenant, b []byte) (hits []Hit, err error) {
	if len(b) == 0 || b[0] != 1 && b[0] != packVersion {
		return nil, errPack
	}
	r := unpacker{rest: b[1:]}
	n := r.number(uint64(len(b)))
	for range n {
		r.texts = append(r.texts, string(r.bytes(int(r.number(uint64(len(r.rest)))))))
	}
	for last := int64(0); len(r.rest) > 0 && !r.failed; {
		h := Hit{Tenant: tenant}
		copy(h.Message[:], r.bytes(len(h.Message)))
		last += r.signed()
		h.At = time.UnixMicro(last).UTC()
		signals := false
		for _, bits := range r.bytes(1) {
			h.Click, h.Prefetch, h.Honeypot, signals = bits&hitClick != 0, bits&hitPrefetch != 0, bits&hitHoneypot != 0, bits&hitSignals != 0
		}
		h.Method, h.Agent, h.IP = r.text(), r.text(), r.text()
		if signals {
			h.Signals = Signals(r.number(1<<16 - 1))
		}
		if h.Honeypot {
			h.Click, h.Link = true, HoneypotLink
		} else if h.Click {
			h.Link, h.URL = int(r.number(1<<31-1)), r.text()
		}
		hits = append(hits, h)
	}
	if r.failed {
		return nil, fmt.Errorf("%w: it ends or refers to a text too early", errPack)
	}
	return hits, nil
}

// unpacker decodes a pack from front to back. After an error it returns zero values.
type unpacker struct {
	rest   []byte
	texts  []string
	failed bool
}

func (r *unpacker) fail() { r.rest, r.failed = nil, true }

func (r *unpacker) bytes(n int) []byte {
	if n > len(r.rest) {
		r.fail()
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// number decodes a number of at most most.
func (r *unpacker) number(most uint64) uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > most {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *unpacker) signed() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *unpacker) text() string {
	n := r.number(uint64(len(r.texts)))
	if r.failed || n == uint64(len(r.texts)) {
		r.fail()
		return ""
	}
	return r.texts[n]
}
