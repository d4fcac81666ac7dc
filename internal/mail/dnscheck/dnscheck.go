// Package dnscheck compares the DNS records of a sending domain with those that its owner was asked
// to publish: the DKIM key (RFC 6376), the MX and SPF records of the return path (RFC 7208), the
// CNAME of the tracking host, and the DMARC policy (RFC 9989).
//
// A record is missing only if the DNS says so: a server that does not answer, or answers SERVFAIL,
// leads to the status Unknown.
package dnscheck

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/packetboat/packetboat/internal/mail/dmarc"
)

// Kind determines how a record is compared.
type Kind string

// The kinds.
const (
	DKIM  Kind = "dkim"  // a TXT record with a public key
	MX    Kind = "mx"    // an MX record
	SPF   Kind = "spf"   // a TXT record with an SPF policy
	CNAME Kind = "cname" // an alias
	DMARC Kind = "dmarc" // a TXT record with a DMARC policy, there or above
	TXT   Kind = "txt"   // a TXT record with a certain value
)

// Status is the result for one record.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Missing Status = "missing"
	Invalid Status = "invalid"
	Unknown Status = "" // the DNS did not answer
)

// Record is a record that a domain's owner was asked to publish.
type Record struct {
	Kind   Kind
	Domain string // the sending domain
	Host   string // the record's full name, without a final dot
	Value  string
	// Beside are the other servers of MX records that the owner was asked to publish for the host.
	Beside []string
}

// Finding is what the DNS has.
type Finding struct {
	Status  Status
	Found   string            // the values found, one per line; empty: none
	Problem string            // what is wrong and what to do, or what is worth knowing; may be empty
	Policy  dmarc.Disposition // of DMARC records: what applies to the domain; empty: none
}

// DNS queries the DNS; *Resolver implements it. Names have a final dot. If a name or its records do
// not exist, the error is a *net.DNSError with IsNotFound.
type DNS interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupHost(ctx context.Context, name string) ([]string, error)
	// LookupAlias returns the target of the CNAME record of name, without its final dot, or "" if
	// it has none.
	LookupAlias(ctx context.Context, name string) (string, error)
}

// timeout limits the queries for one record.
const timeout = 10 * time.Second

// Check looks a record up.
func Check(ctx context.Context, dns DNS, r Record) Finding {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var f Finding
	var err error
	switch r.Kind {
	case DKIM:
		f, err = checkDKIM(ctx, dns, r)
	case MX:
		f, err = checkMX(ctx, dns, r)
	case SPF:
		f, err = checkSPF(ctx, dns, r)
	case CNAME:
		f, err = checkAlias(ctx, dns, r)
	case DMARC:
		f, err = checkDMARC(ctx, dns, r)
	case TXT:
		f, err = checkText(ctx, dns, r)
	default:
		err = fmt.Errorf("no such kind of record: %q", r.Kind)
	}
	if err != nil {
		return Finding{Problem: "the DNS did not answer: " + clean(reason(err))}
	}
	if f.Status == Missing && f.Problem == "" {
		f.Problem = misplaced(ctx, dns, r)
	}
	return f
}

// Bounds of what is shown of a stranger's records.
const (
	maxShown  = 5   // values
	maxLength = 600 // bytes of a value
)

// shown returns values one per line, without control characters.
func shown(values []string) string {
	lines := make([]string, 0, maxShown)
	for i, v := range values {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("… and %d more", len(values)-maxShown))
			break
		}
		lines = append(lines, clean(v))
	}
	return strings.Join(lines, "\n")
}

// clean returns text without control characters, cut to maxLength.
func clean(text string) string {
	cut := len(text) > maxLength
	if cut {
		text = text[:maxLength]
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if cut {
		text += "…"
	}
	return text
}

// reason returns an error of the DNS without the address of the name server.
func reason(err error) string {
	if d, ok := errors.AsType[*net.DNSError](err); ok {
		return d.Err + " (" + strings.TrimSuffix(d.Name, ".") + ")"
	}
	return err.Error()
}

func isNotFound(err error) bool {
	d, ok := errors.AsType[*net.DNSError](err)
	return ok && d.IsNotFound
}

// found returns an answer; one without records is not an error.
func found[T any](list []T, err error) ([]T, error) {
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	return list, nil
}

func texts(ctx context.Context, dns DNS, host string) ([]string, error) {
	return found(dns.LookupTXT(ctx, host+"."))
}

func addresses(ctx context.Context, dns DNS, host string) ([]string, error) {
	list, err := found(dns.LookupHost(ctx, host+"."))
	slices.Sort(list)
	return slices.Compact(list), err
}

// normal returns the name of a host as names are compared.
func normal(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// checkText looks for the value among the TXT records, of which a host may have any number.
func checkText(ctx context.Context, dns DNS, r Record) (Finding, error) {
	list, err := texts(ctx, dns, r.Host)
	if err != nil || len(list) == 0 {
		return Finding{Status: Missing}, err
	}
	f := Finding{Status: Missing, Found: shown(list), Problem: "there are TXT records, but none with this value; add it"}
	for _, text := range list {
		switch {
		case text == r.Value:
			return Finding{Status: OK, Found: f.Found}, nil
		case plain(text) == r.Value && notation(text) != "":
			f.Status, f.Problem = Invalid, notation(text)
		}
	}
	return f, nil
}

// checkMX looks for the server in the MX records. Mail goes to those with the lowest preference, so
// no other one may have it, except those beside it.
func checkMX(ctx context.Context, dns DNS, r Record) (Finding, error) {
	records, err := found(dns.LookupMX(ctx, r.Host+"."))
	if err != nil || len(records) == 0 {
		return Finding{Status: Missing}, err
	}
	slices.SortFunc(records, func(a, b *net.MX) int { return int(a.Pref) - int(b.Pref) })
	values := make([]string, len(records))
	f := Finding{Status: OK}
	wanted := append([]string{r.Value}, r.Beside...)
	ours := false
	for i, mx := range records {
		values[i] = fmt.Sprintf("%d %s", mx.Pref, normal(mx.Host))
		ours = ours || normal(mx.Host) == normal(r.Value)
		if normal(mx.Host) == "" {
			values[i] = fmt.Sprintf("%d .", mx.Pref)
			f.Status, f.Problem = Invalid, fmt.Sprintf("a record says that %s takes no mail (null MX, RFC 7505); delete the one with “.”, and keep only %s", r.Host, strings.Join(wanted, " and "))
			continue
		}
		other := !slices.ContainsFunc(wanted, func(host string) bool { return normal(host) == normal(mx.Host) })
		if other && mx.Pref == records[0].Pref && f.Problem == "" {
			f.Status = Invalid
			f.Problem = fmt.Sprintf("mail for %s goes to %s; delete that MX record, and keep only %s", r.Host, clean(normal(mx.Host)), strings.Join(wanted, " and "))
		}
	}
	if !ours {
		f.Status = Invalid
		if len(r.Beside) > 0 && f.Problem == "" {
			f.Problem = fmt.Sprintf("the MX record of %s is missing; add it", r.Value)
		}
		if strings.HasPrefix(normal(records[0].Host), normal(r.Value)+".") {
			f.Problem = fmt.Sprintf("your DNS provider appended the domain to %s; enter it with a final dot", r.Value)
		}
	}
	f.Found = shown(values)
	return f, nil
}

// maxAliases is the length of a chain of CNAME records that is still followed.
const maxAliases = 8

// checkAlias follows the CNAME records of the host. It accepts a name without one that has the
// addresses of the target, since some DNS providers replace CNAME records by the addresses.
func checkAlias(ctx context.Context, dns DNS, r Record) (Finding, error) {
	chain, err := aliases(ctx, dns, r.Host)
	if err != nil {
		return Finding{}, err
	}
	if slices.Contains(chain, normal(r.Value)) {
		return Finding{Status: OK, Found: shown(chain[:1])}, nil
	}
	have, err := addresses(ctx, dns, r.Host)
	if err != nil {
		return Finding{}, err
	}
	if len(chain) == 0 && len(have) == 0 {
		return Finding{Status: Missing}, nil
	}
	want, err := addresses(ctx, dns, r.Value)
	if err != nil {
		return Finding{}, err
	}
	values := have
	if len(chain) > 0 {
		values = chain[:1]
	}
	if len(want) > 0 && slices.Equal(have, want) {
		return Finding{Status: OK, Found: shown(values)}, nil
	}
	f := Finding{Status: Invalid, Found: shown(values)}
	switch {
	case len(chain) == 0:
		f.Problem = fmt.Sprintf("there are addresses instead of a CNAME record to %s; if your DNS provider has a proxy for this name, switch it off", r.Value)
	case strings.HasPrefix(chain[0], normal(r.Value)+"."):
		f.Problem = fmt.Sprintf("your DNS provider appended the domain to %s; enter it with a final dot", r.Value)
	default:
		f.Problem = fmt.Sprintf("the CNAME record leads to another host than %s; replace it", r.Value)
	}
	return f, nil
}

// aliases returns the targets of the CNAME records that begin at host.
func aliases(ctx context.Context, dns DNS, host string) ([]string, error) {
	var chain []string
	for name := host; len(chain) < maxAliases; {
		target, err := dns.LookupAlias(ctx, name+".")
		if err != nil && !isNotFound(err) {
			return nil, err
		}
		if target == "" {
			break
		}
		name = normal(target)
		chain = append(chain, name)
	}
	return chain, nil
}

// checkDMARC looks for the policy of the domain, which may be that of its organizational domain. Any
// policy is accepted.
func checkDMARC(ctx context.Context, dns DNS, r Record) (Finding, error) {
	p, err := dmarc.Find(ctx, dns, r.Domain)
	if err != nil {
		return Finding{}, err
	}
	at := r.Domain
	if p.RecordDomain != "" {
		at = p.RecordDomain
	}
	list, err := texts(ctx, dns, "_dmarc."+at)
	if err != nil {
		return Finding{}, err
	}
	list = slices.DeleteFunc(list, func(t string) bool { return !strings.Contains(strings.ToLower(t), "dmarc") && p.RecordDomain != "" })
	f := Finding{Found: shown(list), Policy: p.Disposition}
	switch {
	case p.Several:
		f.Status, f.Problem = Invalid, fmt.Sprintf("_dmarc.%s has several DMARC records, which receivers treat as none; delete all but one", at)
	case p.Record.Ignored:
		f.Status, f.Problem = Invalid, clean(strings.Join(p.Record.Problems, "; "))
	case p.RecordDomain != "":
		f.Status = OK
		if len(p.Record.Problems) > 0 {
			f.Problem = clean(strings.Join(p.Record.Problems, "; "))
		}
		if at != r.Domain {
			f.Problem = join(fmt.Sprintf("the policy is inherited from %s: p=%s applies", at, p.Disposition), f.Problem)
		}
		if p.SuffixDomain != p.OrgDomain {
			f.Problem = join(f.Problem, fmt.Sprintf("receivers that still follow RFC 7489 use %s as the organizational domain, others %s", p.SuffixDomain, p.OrgDomain))
		}
	case len(list) > 0:
		f.Status, f.Problem = Invalid, "the TXT record is no DMARC record: it must begin with v=DMARC1;"
		for _, text := range list {
			if _, ok := dmarc.Parse(plain(text)); ok && notation(text) != "" {
				f.Problem = notation(text)
			}
		}
	default:
		f.Status = Missing
	}
	return f, nil
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// misplaced looks for a missing record at names where it is often published by mistake, and says so.
func misplaced(ctx context.Context, dns DNS, r Record) string {
	doubled := r.Host + "." + r.Domain
	at := ""
	switch r.Kind {
	case MX:
		if list, err := dns.LookupMX(ctx, doubled+"."); err == nil && len(list) > 0 {
			at = doubled
		}
	case CNAME:
		if target, err := dns.LookupAlias(ctx, doubled+"."); err == nil && target != "" {
			at = doubled
		}
	default:
		names := []string{doubled}
		switch r.Kind {
		case DKIM:
			names = append(names, strings.Replace(r.Host, "._domainkey.", ".domainkey.", 1), r.Domain)
		case DMARC:
			names = append(names, r.Domain)
		}
		mark := map[Kind]string{DKIM: "v=dkim1", SPF: "v=spf1", DMARC: "v=dmarc1", TXT: strings.ToLower(r.Value)}[r.Kind]
		for _, name := range names {
			list, err := texts(ctx, dns, name)
			if err == nil && slices.ContainsFunc(list, func(t string) bool { return strings.Contains(strings.ToLower(t), mark) }) {
				at = name
				break
			}
		}
	}
	switch at {
	case "":
		return ""
	case doubled:
		name := strings.TrimSuffix(r.Host, "."+r.Domain)
		if r.Host == r.Domain {
			name = "@"
		}
		return fmt.Sprintf("the record is at %s; your DNS provider appends the domain itself, so enter %s as its name", doubled, name)
	}
	return fmt.Sprintf("the record is at %s; move it to %s", at, r.Host)
}
