package dnscheck

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// maxLookups is the number of terms of an SPF policy, including those of other hosts, that may cause
// queries (RFC 7208 section 4.6.4).
const maxLookups = 10

// checkSPF compares the mechanisms of the published policy with those of the wanted one, which may
// also be in a policy that it includes or redirects to.
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
		}
		return f, nil
	}
	f := Finding{Status: Invalid, Found: shown(policies)}
	if len(policies) > 1 {
		f.Problem = "there are several SPF records, which receivers treat as an error; join them into one"
		return f, nil
	}
	w := spfWalk{dns: dns, passed: map[string]bool{}, wanted: positive(r.Value)}
	if err := w.read(ctx, r.Host, policies[0]); err != nil {
		return Finding{}, err
	}
	for _, m := range w.wanted {
		switch {
		case w.passed[m] || w.problem != "":
		case strings.HasPrefix(m, redirect):
			w.problem = fmt.Sprintf("%s is missing; it must be the last term, without a term with “all”", m)
		default:
			w.problem = fmt.Sprintf("%s is missing; insert it before the term with “all”", m)
		}
	}
	if w.everyone && w.problem == "" {
		w.problem = "+all allows everyone to send; use -all"
	}
	f.Problem = w.problem
	if f.Problem == "" {
		f.Status = OK
	}
	return f, nil
}

// policiesOf returns the texts that are SPF policies (RFC 7208 section 4.5).
func policiesOf(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return !IsSPF(text) })
}

// IsSPF reports whether a TXT record is an SPF policy (RFC 7208 section 4.5).
func IsSPF(text string) bool {
	text = strings.ToLower(text)
	return text == "v=spf1" || strings.HasPrefix(text, "v=spf1 ")
}

// redirect is the start of the modifier by which a policy refers to another one (RFC 7208 section 6.1).
const redirect = "redirect="

// positive returns the terms of a policy that let mail pass.
func positive(policy string) (list []string) {
	for _, term := range strings.Fields(strings.ToLower(policy))[1:] {
		m := strings.TrimPrefix(term, "+")
		if strings.HasPrefix(m, redirect) || !strings.ContainsAny(m[:min(1, len(m))], "-~?") && m != "all" && !strings.Contains(m, "=") {
			list = append(list, m)
		}
	}
	return list
}

// CheckSyntax returns an error if a text is not an SPF policy of which this package understands each term, or
// one that lets everyone send. It does not query the DNS.
func CheckSyntax(policy string) error {
	if !IsSPF(policy) {
		return errors.New("an SPF policy begins with v=spf1")
	}
	for _, term := range strings.Fields(strings.ToLower(policy))[1:] {
		if name, value, ok := strings.Cut(term, "="); ok && !strings.ContainsAny(name, ":/") {
			if name == "" || value == "" {
				return fmt.Errorf("the term %q has no name or no value", term)
			}
			continue
		}
		mechanism := strings.TrimLeft(term[:1], "+-~?") + term[1:]
		name, argument, _ := strings.Cut(mechanism, ":")
		name, _, _ = strings.Cut(name, "/")
		switch name {
		case "all":
			if mechanism != "all" {
				return fmt.Errorf("the term %q must be alone", term)
			}
			if term == "all" || term == "+all" {
				return errors.New("+all allows everyone to send; use -all")
			}
		case "a", "mx", "ptr":
		case "include", "exists":
			if argument == "" {
				return fmt.Errorf("the term %q needs a domain", term)
			}
		case "ip4", "ip6":
			if !isNetwork(argument, name == "ip6") {
				return fmt.Errorf("the term %q needs an address or a network", term)
			}
		default:
			return fmt.Errorf("there is no SPF term %q", term)
		}
	}
	return nil
}

// isNetwork reports whether a text is an IP address or a network of the family.
func isNetwork(text string, six bool) bool {
	ip, err := netip.ParseAddr(text)
	if strings.Contains(text, "/") {
		var network netip.Prefix
		network, err = netip.ParsePrefix(text)
		ip = network.Addr()
	}
	return err == nil && ip.Is6() == six && ip.Zone() == ""
}

// spfWalk reads a policy and those that it refers to.
type spfWalk struct {
	dns      DNS
	wanted   []string
	passed   map[string]bool // the mechanisms that let mail pass
	lookups  int
	everyone bool   // +all is reached
	problem  string // the first error
}

// read adds the terms of the policy of a host.
func (w *spfWalk) read(ctx context.Context, host, policy string) error {
	target := ""
	for _, term := range strings.Fields(strings.ToLower(policy))[1:] {
		if w.problem != "" {
			return nil
		}
		if to, ok := strings.CutPrefix(term, redirect); ok {
			target = to
			continue
		}
		if name, _, ok := strings.Cut(term, "="); ok && !strings.ContainsAny(name, ":/") {
			continue // another modifier
		}
		qualifier, mechanism := "+", term
		if strings.ContainsAny(term[:1], "+-~?") {
			qualifier, mechanism = term[:1], term[1:]
		}
		if mechanism == "all" {
			w.everyone = w.everyone || qualifier == "+"
			return nil
		}
		if qualifier == "+" {
			w.passed[mechanism] = true
		}
		name, argument, _ := strings.Cut(mechanism, ":")
		name, _, _ = strings.Cut(name, "/")
		switch name {
		case "ip4", "ip6":
		case "a", "mx", "ptr", "exists":
			w.count(host)
		case "include":
			everyone := w.everyone
			if err := w.follow(ctx, host, argument, slices.Contains(w.wanted, mechanism)); err != nil {
				return err
			}
			w.everyone = everyone // an included policy decides only whether the mechanism matches
		default:
			w.problem = fmt.Sprintf("the SPF record of %s has a term that does not exist: %s", host, clean(term))
		}
	}
	if target != "" {
		return w.follow(ctx, host, target, slices.Contains(w.wanted, redirect+target))
	}
	return nil
}

// count counts a term that causes queries.
func (w *spfWalk) count(host string) bool {
	if w.lookups++; w.lookups > maxLookups && w.problem == "" {
		w.problem = fmt.Sprintf("the SPF record causes more than %d queries (at %s), which receivers treat as an error; remove terms", maxLookups, clean(host))
	}
	return w.lookups <= maxLookups
}

// follow reads the policy of a host that another refers to. One that is wanted (own) is not the domain
// owner's business.
func (w *spfWalk) follow(ctx context.Context, from, to string, own bool) error {
	if !w.count(from) || strings.Contains(to, "%{") {
		return nil
	}
	w.passed[redirect+to] = true
	list, err := texts(ctx, w.dns, normal(to))
	if err != nil {
		return err
	}
	policies := policiesOf(list)
	switch {
	case len(policies) == 1:
		return w.read(ctx, to, policies[0])
	case !own:
		w.problem = fmt.Sprintf("the SPF record of %s refers to %s, which has %d SPF records instead of one", from, clean(to), len(policies))
	}
	return nil
}
