// Package dmarc finds the DMARC policy of a domain and decides whether a mail's authenticated
// domains are aligned with the one in its From header (RFC 9989).
//
// The organizational domain is found by walking up the DNS (section 4.10), which takes at most eight
// queries. Older receivers use a list of public suffixes instead (RFC 7489); Policy tells when they
// come to another domain.
package dmarc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// maxLabels is the number of labels at which a walk continues after its first query (section 4.10).
const maxLabels = 7

// Resolver queries the DNS; *net.Resolver implements it.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupHost(ctx context.Context, name string) ([]string, error)
}

// Policy is what applies to mail with a domain in its From header.
type Policy struct {
	Domain       string      // the domain of From
	RecordDomain string      // where the record is, without _dmarc; empty if there is none
	Record       Record      // the record there
	OrgDomain    string      // the organizational domain
	SuffixDomain string      // the same by the list of public suffixes, as receivers of RFC 7489 find it
	Disposition  Disposition // what applies to the domain; empty without a record that receivers use
	Several      bool        // the domain has several records, which receivers treat as none
}

// Find returns the policy for mail from a domain. An error means that the DNS did not answer.
func Find(ctx context.Context, dns Resolver, domain string) (Policy, error) {
	domain = normal(domain)
	p := Policy{Domain: domain, SuffixDomain: domain}
	if suffix, err := publicsuffix.EffectiveTLDPlusOne(domain); err == nil {
		p.SuffixDomain = suffix
	}
	w, err := walk(ctx, dns, domain)
	if err != nil {
		return p, err
	}
	p.OrgDomain, p.Several = w.orgDomain, w.several
	at, ok := domain, w.records[domain] != nil
	if !ok && !w.several {
		if at = w.orgDomain; w.records[at] == nil {
			at = w.suffix // a record of the public suffix applies to all below
		}
		ok = w.records[at] != nil
	}
	if !ok {
		return p, nil
	}
	p.RecordDomain, p.Record = at, *w.records[at]
	if p.Record.Ignored {
		return p, nil
	}
	p.Disposition = p.Record.Policy
	if at != domain {
		p.Disposition, err = below(ctx, dns, p.Record, domain)
	}
	if p.Record.Test {
		p.Disposition = p.Disposition.weaker()
	}
	return p, err
}

// below returns the disposition for a domain below that of the record.
func below(ctx context.Context, dns Resolver, r Record, domain string) (Disposition, error) {
	d := r.Policy
	if r.Subdomains != "" {
		d = r.Subdomains
	}
	if r.Nonexistent != "" && r.Nonexistent != d {
		exists, err := exists(ctx, dns, domain)
		if err != nil {
			return d, err
		}
		if !exists {
			d = r.Nonexistent
		}
	}
	return d, nil
}

// exists reports whether a domain has records that senders of mail have.
func exists(ctx context.Context, dns Resolver, domain string) (bool, error) {
	name := domain + "."
	if hosts, err := dns.LookupHost(ctx, name); !isNotFound(err) {
		return len(hosts) > 0, err
	}
	if records, err := dns.LookupMX(ctx, name); !isNotFound(err) {
		return len(records) > 0, err
	}
	texts, err := dns.LookupTXT(ctx, name)
	if isNotFound(err) {
		return false, nil
	}
	return len(texts) > 0, err
}

// walked is the result of a walk.
type walked struct {
	orgDomain string
	suffix    string             // the domain whose record says psd=y; empty: none
	records   map[string]*Record // by domain
	several   bool               // the first name has several records
}

// walk queries the name and those above it (section 4.10).
func walk(ctx context.Context, dns Resolver, domain string) (walked, error) {
	w := walked{orgDomain: domain, records: map[string]*Record{}}
	for name := domain; name != ""; name = above(name) {
		texts, err := dns.LookupTXT(ctx, "_dmarc."+name+".")
		if err != nil && !isNotFound(err) {
			return w, fmt.Errorf("look up the DMARC record of %s: %w", name, err)
		}
		var found []Record
		for _, text := range texts {
			if r, ok := Parse(text); ok {
				found = append(found, r)
			}
		}
		if len(found) > 1 && name == domain {
			w.several = true
			return w, nil
		}
		if len(found) != 1 {
			continue
		}
		w.records[name] = &found[0]
		switch {
		case found[0].PublicSuffix == IsNotSuffix:
			w.orgDomain = name
			return w, nil
		case found[0].PublicSuffix == IsSuffix && name != domain:
			w.orgDomain, w.suffix = childOf(domain, name), name
			return w, nil
		}
		w.orgDomain = name // the last one has the fewest labels
	}
	return w, nil
}

// above returns the name that a walk queries next, or "" after a single label.
func above(name string) string {
	labels := strings.Split(name, ".")
	if len(labels) == 1 {
		return ""
	}
	return strings.Join(labels[max(1, len(labels)-maxLabels):], ".")
}

// childOf returns the name one label below parent on the way to domain.
func childOf(domain, parent string) string {
	labels := strings.Split(strings.TrimSuffix(domain, "."+parent), ".")
	return labels[len(labels)-1] + "." + parent
}

// Alignment is the result for one mail.
type Alignment struct {
	SPF, DKIM bool
}

// Align decides which authenticated domains are aligned with the domain of the policy. spf is the
// domain that passed SPF, or empty; dkim are the domains with valid signatures.
func (p Policy) Align(ctx context.Context, dns Resolver, spf string, dkim ...string) (Alignment, error) {
	var a Alignment
	var err error
	if spf != "" {
		if a.SPF, err = p.aligned(ctx, dns, spf, p.Record.StrictSPF); err != nil {
			return a, err
		}
	}
	for _, d := range dkim {
		if a.DKIM {
			break
		}
		if a.DKIM, err = p.aligned(ctx, dns, d, p.Record.StrictDKIM); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (p Policy) aligned(ctx context.Context, dns Resolver, domain string, strict bool) (bool, error) {
	domain = normal(domain)
	if domain == p.Domain {
		return true, nil
	}
	if strict || domain == "" || p.OrgDomain == "" || domain != p.OrgDomain && !strings.HasSuffix(domain, "."+p.OrgDomain) {
		return false, nil
	}
	w, err := walk(ctx, dns, domain)
	return w.orgDomain == p.OrgDomain, err
}

// normal returns a domain in the spelling in which names are compared.
func normal(domain string) string { return strings.ToLower(strings.TrimSuffix(domain, ".")) }

func isNotFound(err error) bool {
	d, ok := errors.AsType[*net.DNSError](err)
	return ok && d.IsNotFound
}

// Warnings returns what the owner of the domain should know about its policy, a clause each.
func (p Policy) Warnings() []string {
	list := append([]string{}, p.Record.Problems...)
	if p.Several {
		list = append(list, "the domain has more than one record, so that receivers use none")
	}
	if p.OrgDomain != "" && p.OrgDomain != p.SuffixDomain {
		list = append(list, fmt.Sprintf("receivers that follow the older RFC 7489 take %s for the organizational domain", p.SuffixDomain))
	}
	return list
}
