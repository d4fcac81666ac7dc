package inspect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	msgauth "github.com/emersion/go-msgauth/dkim"

	"github.com/packetboat/packetboat/internal/mail/dkim"
	"github.com/packetboat/packetboat/internal/mail/dmarc"
	"github.com/packetboat/packetboat/internal/mail/spf"
)

// Sign returns a message with a DKIM signature in front. The key is PKCS #8 in PEM.
func Sign(raw []byte, domain, selector string, key []byte, now time.Time) ([]byte, error) {
	private, err := dkim.ParseKey(key)
	if err != nil {
		return nil, err
	}
	signing, err := dkim.NewRSAKey(private)
	if err != nil {
		return nil, err
	}
	signer, err := dkim.New(domain, selector, signing)
	if err != nil {
		return nil, err
	}
	raw = wireLines(plainMessage(raw))
	signed, err := signer.Sign(nil, raw, now)
	return append(signed, raw...), err
}

// wireLines returns text with CRLF at the end of each line.
func wireLines(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
}

// Signature is the result of verifying one DKIM signature.
type Signature struct {
	Domain    string `json:"d"`
	Selector  string `json:"s"`
	Algorithm string `json:"a"`
	Result    string `json:"result"` // pass, fail, neutral, permerror, temperror or ignored
	Reason    string `json:"reason"` // empty for pass
}

// maxSignatures is how many signatures are verified; the others are ignored.
const maxSignatures = 10

// Verify verifies the DKIM signatures of a message (RFC 6376, RFC 8463), in their order. Signatures
// with SHA-1 are ignored (RFC 8301), and so are those after the tenth.
func Verify(raw []byte, zone Zone) []Signature {
	raw = wireLines(plainMessage(raw))
	list := signaturesOf(raw)
	found, err := msgauth.VerifyWithOptions(bytes.NewReader(raw), &msgauth.VerifyOptions{
		LookupTXT:        func(name string) ([]string, error) { return zone.LookupTXT(context.Background(), name) },
		MaxVerifications: maxSignatures,
	})
	for i := range list {
		s := &list[i]
		switch {
		case i < len(found):
			s.Result, s.Reason = resultOf(s.Algorithm, found[i].Err)
		case errors.Is(err, msgauth.ErrTooManySignatures):
			s.Result, s.Reason = "ignored", fmt.Sprintf("only the first %d signatures are verified", maxSignatures)
		default:
			s.Result, s.Reason = "permerror", "the message cannot be read: "+cmp.Or(err, errors.New("it has no header")).Error()
		}
	}
	return list
}

// resultOf returns the result of a verification in the words of RFC 8601 section 2.7.1.
func resultOf(algorithm string, err error) (result, reason string) {
	switch {
	case err == nil:
		return "pass", ""
	case strings.HasSuffix(algorithm, "-sha1"):
		return "ignored", "signatures with SHA-1 prove nothing (RFC 8301)"
	case msgauth.IsTempFail(err):
		result = "temperror"
	case msgauth.IsPermFail(err):
		result = "permerror"
	case strings.Contains(err.Error(), "insecure body length"):
		result = "neutral"
	default:
		result = "fail"
	}
	return result, strings.TrimPrefix(err.Error(), "dkim: ")
}

// signaturesOf returns the signatures of a message, not verified yet.
func signaturesOf(raw []byte) []Signature {
	list := []Signature{}
	header, _, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	unfolded := strings.NewReplacer("\r\n ", " ", "\r\n\t", " ").Replace(string(header))
	for line := range strings.SplitSeq(unfolded, "\r\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "DKIM-Signature") {
			continue
		}
		var s Signature
		for part := range strings.SplitSeq(value, ";") {
			tag, v, _ := strings.Cut(part, "=")
			v = strings.Join(strings.Fields(v), "")
			switch strings.TrimSpace(tag) {
			case "d":
				s.Domain = v
			case "s":
				s.Selector = v
			case "a":
				s.Algorithm = v
			}
		}
		list = append(list, s)
	}
	return list
}

// SPF is the result of an SPF check (RFC 7208).
type SPF struct {
	Result string `json:"result"` // pass, fail, softfail, neutral, none, permerror or temperror
	Domain string `json:"domain"` // whose record decided
	Reason string `json:"reason"`
}

// CheckSPF checks whether a host may send mail with an envelope sender. If the sender is empty, it
// checks the name of HELO.
func CheckSPF(ctx context.Context, ip, from, helo string, zone Zone) (SPF, error) {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return SPF{}, fmt.Errorf("the address %q is not an IP address", ip)
	}
	o := spf.Check(ctx, zone, addr, from, helo)
	return SPF{Result: string(o.Result), Domain: o.Domain, Reason: o.Reason}, nil
}

// DMARC is what DMARC says about a mail (RFC 9989).
type DMARC struct {
	RecordDomain string            `json:"record_domain"`
	OrgDomain    string            `json:"org_domain"`
	Policy       dmarc.Disposition `json:"policy"` // empty without a record
	AlignedSPF   bool              `json:"aligned_spf"`
	AlignedDKIM  bool              `json:"aligned_dkim"`
	Result       string            `json:"result"` // pass, fail, none or temperror
	Warnings     []string          `json:"warnings"`
}

// CheckDMARC decides about a mail with a domain, or an address of it, in From. spf is the domain that
// passed SPF, if any, and signed are the domains with valid signatures.
func CheckDMARC(ctx context.Context, from, spf string, signed []string, zone Zone) DMARC {
	from = from[strings.LastIndexByte(from, '@')+1:]
	p, err := dmarc.Find(ctx, zone, from)
	view := DMARC{RecordDomain: p.RecordDomain, OrgDomain: p.OrgDomain, Policy: p.Disposition, Result: "none", Warnings: p.Warnings()}
	var a dmarc.Alignment
	if err == nil {
		a, err = p.Align(ctx, zone, spf, signed...)
	}
	view.AlignedSPF, view.AlignedDKIM = a.SPF, a.DKIM
	switch {
	case err != nil:
		view.Result = "temperror"
		view.Warnings = append(view.Warnings, err.Error())
	case p.Disposition == "":
	case a.SPF || a.DKIM:
		view.Result = "pass"
	default:
		view.Result = "fail"
	}
	return view
}
