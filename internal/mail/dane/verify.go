package dane

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// The fields of TLSA records (RFC 7218). Mail servers use only trust anchors and end entities
// (RFC 7672 section 3.1.3).
const (
	anchor    = 2 // DANE-TA
	endEntity = 3 // DANE-EE

	wholeCert = 0
	publicKey = 1

	full      = 0
	sha256Sum = 1
	sha512Sum = 2
)

// record is a usable TLSA record.
type record struct {
	usage, selector, matching uint8
	data                      []byte
}

// usable returns a record if it can be used.
func usable(r *dns.TLSA) (record, bool) {
	data, err := hex.DecodeString(r.Certificate)
	if err != nil || len(data) == 0 || r.Usage != anchor && r.Usage != endEntity || r.Selector > publicKey {
		return record{}, false
	}
	switch r.MatchingType {
	case full:
	case sha256Sum:
		if len(data) != sha256.Size {
			return record{}, false
		}
	case sha512Sum:
		if len(data) != sha512.Size {
			return record{}, false
		}
	default:
		return record{}, false
	}
	return record{r.Usage, r.Selector, r.MatchingType, data}, true
}

// matches reports whether a certificate is the one of the record.
func (r record) matches(c *x509.Certificate) bool {
	data := c.Raw
	if r.selector == publicKey {
		data = c.RawSubjectPublicKeyInfo
	}
	switch r.matching {
	case sha256Sum:
		sum := sha256.Sum256(data)
		data = sum[:]
	case sha512Sum:
		sum := sha512.Sum512(data)
		data = sum[:]
	}
	return bytes.Equal(data, r.data)
}

// ErrMismatch reports a certificate that no TLSA record confirms.
var ErrMismatch = errors.New("no TLSA record confirms the certificate of the server")

// Verify checks the certificate that a server has shown. Its name and dates matter only for a record of a
// trust anchor (RFC 7672 section 3.1.1); names are those that it may have: of the server, and of
// the domain.
func (r Records) Verify(state tls.ConnectionState, names []string, now time.Time) error {
	chain := state.PeerCertificates
	if len(chain) == 0 {
		return ErrMismatch
	}
	for _, one := range r.usable {
		switch one.usage {
		case endEntity:
			if one.matches(chain[0]) {
				return nil
			}
		case anchor:
			if one.confirmsChain(chain, names, now) {
				return nil
			}
		}
	}
	return ErrMismatch
}

// confirmsChain reports whether the record is that of an authority that issued the server's
// certificate. The authority must be in the chain, unless the record holds all of its certificate.
func (r record) confirmsChain(chain []*x509.Certificate, names []string, now time.Time) bool {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	found := false
	for _, c := range chain[1:] {
		if r.matches(c) {
			roots.AddCert(c)
			found = true
		} else {
			between.AddCert(c)
		}
	}
	if !found && r.selector == wholeCert && r.matching == full {
		if c, err := x509.ParseCertificate(r.data); err == nil {
			roots.AddCert(c)
			found = true
		}
	}
	return found && slices.ContainsFunc(names, func(name string) bool {
		_, err := chain[0].Verify(x509.VerifyOptions{
			Roots: roots, Intermediates: between, DNSName: name, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
		})
		return err == nil
	})
}
