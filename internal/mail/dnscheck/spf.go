package dnscheck

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/spf"
)

// checkSPF compares the terms of the published policy with those of the wanted one, which may also be in a
// policy that it includes or redirects to. All of these must be policies that receivers can evaluate.
func checkSPF(ctx context.Context, dns DNS, r Record) (Finding, error) {
	list, err := texts(ctx, dns, r.Host)
	if err != nil {
		return Finding{}, err
	}
	policies := policiesOf(list)
	if len(policies) == 0 {
		f := Finding{Status: Missing}
		if len(list) > 0 {
			f.Problem = "there are TXT records, but none begins with v=spf1"
			f.Found = shown(list)
			if i := slices.IndexFunc(list, func(text string) bool { return spf.Is(plain(text)) }); i >= 0 && notation(list[i]) != "" {
				f.Status, f.Problem = Invalid, notation(list[i])
			}
		}
		return f, nil
	}
	f := Finding{Status: Invalid, Found: shown(policies)}
	if len(policies) > 1 {
		f.Problem = "there are several SPF records, which receivers treat as an error; join them into one"
		return f, nil
	}
	wanted, err := spf.Parse(r.Value)
	if err != nil { // of an MTA config that was stored when this was not checked
		f.Problem = clean(fmt.Sprintf("the record that was asked for has a mistake itself: %v; correct it in the MTA config", err))
		return f, nil
	}
	w := spfWalk{dns: dns, own: targets(wanted), redirects: map[string]bool{}}
	if err := w.read(ctx, r.Host, policies[0], true, true); err != nil {
		return Finding{}, err
	}
	if f.Problem = w.verdict(wanted, r.Host); f.Problem == "" {
		f.Status = OK
	}
	return f, nil
}

// policiesOf returns the texts that are SPF policies (RFC 7208 section 4.5).
func policiesOf(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return !spf.Is(text) })
}

// targets returns the hosts whose policies a policy refers to.
func targets(policy spf.Record) (hosts []string) {
	for _, m := range policy.Mechanisms {
		if m.Kind == spf.Include {
			hosts = append(hosts, normal(m.Domain))
		}
	}
	if policy.Redirect != "" {
		hosts = append(hosts, normal(policy.Redirect))
	}
	return hosts
}

// spfWalk reads a policy and those that it refers to.
type spfWalk struct {
	dns       DNS
	own       []string        // the hosts whose policies are not the domain owner's business
	passed    []spf.Mechanism // those that let mail pass
	redirects map[string]bool // the hosts whose policies decide as the first one does
	queries   int
	void      []string // terms for which the DNS has nothing
	everyone  bool     // +all is reached
	problem   string   // the first error
}

// verdict returns what is wrong, or "".
func (w *spfWalk) verdict(wanted spf.Record, host string) string {
	if w.problem != "" {
		return w.problem
	}
	for _, m := range wanted.Mechanisms {
		if m.Result == spf.Pass && m.Kind != spf.All && !w.passes(at(m, host)) {
			return termOf(m) + " is missing; insert it before the term with “all”"
		}
	}
	if to := wanted.Redirect; to != "" && !w.passes(spf.Mechanism{Kind: spf.Include, Domain: normal(to)}) {
		return fmt.Sprintf("redirect=%s is missing; it must be the last term, without a term with “all”", to)
	}
	if w.everyone {
		return "+all allows everyone to send; use -all"
	}
	return ""
}

// passes reports whether what a term matches lets mail pass.
func (w *spfWalk) passes(wanted spf.Mechanism) bool {
	if wanted.Kind == spf.Include && w.redirects[wanted.Domain] {
		return true
	}
	return slices.ContainsFunc(w.passed, func(m spf.Mechanism) bool {
		switch {
		case m.Kind != wanted.Kind:
			return false
		case wanted.Network.IsValid():
			return m.Network.Bits() <= wanted.Network.Bits() && m.Network.Contains(wanted.Network.Addr())
		case wanted.Kind == spf.A || wanted.Kind == spf.MX:
			return m.Domain == wanted.Domain && m.Bits4 <= wanted.Bits4 && m.Bits6 <= wanted.Bits6
		}
		return m.Domain == wanted.Domain
	})
}

// at returns a term with the domain that it is about.
func at(m spf.Mechanism, host string) spf.Mechanism {
	if m.Domain == "" && m.Kind.Queries() {
		m.Domain = host
	}
	m.Domain = normal(m.Domain)
	return m
}

// termOf returns a term as owners write it.
func termOf(m spf.Mechanism) string {
	switch {
	case m.Network.IsSingleIP():
		return fmt.Sprintf("%s:%s", m.Kind, m.Network.Addr())
	case m.Network.IsValid():
		return fmt.Sprintf("%s:%s", m.Kind, m.Network)
	case m.Domain != "":
		return fmt.Sprintf("%s:%s", m.Kind, m.Domain)
	}
	return string(m.Kind)
}

// read adds the terms of the policy of a host. passing means that what this policy passes, the first one
// does, too; deciding that it decides instead of the first one.
func (w *spfWalk) read(ctx context.Context, host, policy string, passing, deciding bool) error {
	record, err := spf.Parse(policy)
	if err != nil {
		w.problem = clean(fmt.Sprintf("the SPF record of %s has a mistake, so that receivers treat it as an error: %v", host, err))
		return nil
	}
	for _, m := range record.Mechanisms {
		if passing && m.Result == spf.Pass && m.Kind != spf.All {
			w.passed = append(w.passed, at(m, host))
		}
		switch {
		case m.Kind == spf.All:
			w.everyone = w.everyone || passing && m.Result == spf.Pass
			return nil
		case m.Kind == spf.Include:
			err = w.follow(ctx, host, m.Domain, passing && m.Result == spf.Pass, false)
		case m.Kind.Queries():
			err = w.query(ctx, host, m)
		}
		if err != nil || w.problem != "" {
			return err
		}
	}
	if record.Redirect == "" {
		return nil
	}
	if deciding {
		w.redirects[normal(record.Redirect)] = true
	}
	return w.follow(ctx, host, record.Redirect, passing, deciding)
}

// count counts a term that asks the DNS.
func (w *spfWalk) count(host string) bool {
	if w.queries++; w.queries > spf.MaxQueries && w.problem == "" {
		w.problem = fmt.Sprintf("the SPF record causes more than %d queries (at %s), which receivers treat as an error; remove terms", spf.MaxQueries, clean(host))
	}
	return w.queries <= spf.MaxQueries
}

// query asks the DNS as receivers do for a term that is no include. The answer for a name with macros
// depends on the mail.
func (w *spfWalk) query(ctx context.Context, host string, m spf.Mechanism) error {
	if !w.count(host) || m.Kind == spf.PTR || strings.Contains(m.Domain, "%") {
		return nil
	}
	name := at(m, host).Domain
	answers := 0
	if m.Kind == spf.MX {
		records, err := found(w.dns.LookupMX(ctx, name+"."))
		if err != nil {
			return err
		}
		if answers = len(records); answers > maxMX {
			w.problem = fmt.Sprintf("%s has more than %d MX records, which receivers treat as an error of the SPF record; remove the term %s", clean(name), maxMX, clean(termOf(m)))
		}
	} else {
		hosts, err := addresses(ctx, w.dns, name)
		if err != nil {
			return err
		}
		for _, text := range hosts { // nearly all mail is sent over IPv4, and the others do not help then
			if ip, err := netip.ParseAddr(text); err == nil && ip.Unmap().Is4() {
				answers++
			}
		}
	}
	if answers > 0 || w.problem != "" {
		return nil
	}
	if w.void = append(w.void, termOf(m)); len(w.void) > spf.MaxVoid {
		w.problem = fmt.Sprintf("the DNS has nothing for more than %d terms of the SPF record (%s), which receivers treat as an error; remove them", spf.MaxVoid, clean(strings.Join(w.void, ", ")))
	}
	return nil
}

// maxMX is the number of MX records from which a term with mx is an error (RFC 7208 section 4.6.4).
const maxMX = 10

// follow reads the policy of a host that another refers to.
func (w *spfWalk) follow(ctx context.Context, from, to string, passing, deciding bool) error {
	if !w.count(from) || strings.Contains(to, "%") {
		return nil
	}
	list, err := texts(ctx, w.dns, normal(to))
	if err != nil {
		return err
	}
	policies := policiesOf(list)
	switch {
	case len(policies) == 1:
		return w.read(ctx, normal(to), policies[0], passing, deciding)
	case !slices.Contains(w.own, normal(to)):
		w.problem = fmt.Sprintf("the SPF record of %s refers to %s, which has %d SPF records instead of one", from, clean(to), len(policies))
	}
	return nil
}
