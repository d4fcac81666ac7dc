// Package spf parses SPF records and evaluates them as receivers do (RFC 7208).
//
// A record is parsed as a whole before it is evaluated, so that a mistake after the term that matches is a
// permerror, as the standard says (section 4.6).
package spf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Result is the result of a check (section 2.6).
type Result string

// The results.
const (
	None      Result = "none"
	Neutral   Result = "neutral"
	Pass      Result = "pass"
	Fail      Result = "fail"
	SoftFail  Result = "softfail"
	TempError Result = "temperror"
	PermError Result = "permerror"
)

// The limits of a check (section 4.6.4).
const (
	MaxQueries = 10 // terms that ask the DNS, those of records that others refer to included
	MaxVoid    = 2  // of these, terms for which the DNS has nothing
	maxHosts   = 10 // of an MX or PTR term
)

// The limits of a name (RFC 1035 section 2.3.4).
const (
	maxName  = 253
	maxLabel = 63
)

// Resolver queries the DNS; *net.Resolver implements it. If a name or its records do not exist, the error
// is a *net.DNSError with IsNotFound.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// Outcome is the result of a check.
type Outcome struct {
	Result Result
	Domain string // whose record decided
	Reason string // of None, TempError and PermError; of the others, the term that matched
}

// Check checks whether a host may send mail with an envelope sender. If this is empty, it checks the name
// of HELO (section 2.4).
func Check(ctx context.Context, dns Resolver, ip netip.Addr, sender, helo string) Outcome {
	if sender == "" {
		sender = "@" + helo
	}
	at := strings.LastIndexByte(sender, '@')
	c := check{dns: dns, ip: ip.Unmap().WithZone(""), local: sender[:max(at, 0)], sender: sender[at+1:], helo: helo}
	if c.local == "" {
		c.local = "postmaster"
	}
	return c.host(ctx, c.sender)
}

// check is a check under way.
type check struct {
	dns                 Resolver
	ip                  netip.Addr
	local, sender, helo string
	queries, void       int
}

// host is check_host of section 4.
func (c *check) host(ctx context.Context, domain string) Outcome {
	stopped := func(result Result, format string, args ...any) Outcome {
		return Outcome{Result: result, Domain: domain, Reason: fmt.Sprintf(format, args...)}
	}
	if !isName(domain) {
		return stopped(None, "%q is not the name of a domain", domain)
	}
	texts, err := c.dns.LookupTXT(ctx, domain+".")
	if err != nil && !isNotFound(err) {
		return stopped(TempError, "%v", err)
	}
	texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !Is(text) })
	switch len(texts) {
	case 0:
		return stopped(None, "there is no SPF record")
	case 1:
	default:
		return stopped(PermError, "there are several SPF records")
	}
	record, err := Parse(texts[0])
	if err != nil {
		return stopped(PermError, "%v", err)
	}
	for _, m := range record.Mechanisms {
		matches, err := c.matches(ctx, m, domain)
		if err != nil {
			return stopped(resultOf(err), "%v", err)
		}
		if matches {
			return stopped(m.Result, "matched %s", strings.TrimRight(string(m.Kind), "46"))
		}
	}
	if record.Redirect == "" {
		return stopped(Neutral, "no term matches")
	}
	if err := c.count(true); err != nil {
		return stopped(PermError, "%v", err)
	}
	target := c.expand(ctx, record.Redirect, domain)
	o := c.host(ctx, target)
	if o.Result == None {
		return stopped(PermError, "redirect=%s: %s", target, o.Reason)
	}
	return o
}

// permanent is an error of a record, as opposed to one of the DNS.
type permanent string

func (p permanent) Error() string { return string(p) }

func resultOf(err error) Result {
	if _, ok := errors.AsType[permanent](err); ok {
		return PermError
	}
	return TempError
}

// count counts a term that asks the DNS.
func (c *check) count(queries bool) error {
	if queries {
		if c.queries++; c.queries > MaxQueries {
			return permanent(fmt.Sprintf("more than %d terms ask the DNS", MaxQueries))
		}
	}
	return nil
}

// nothing counts a term for which the DNS has nothing.
func (c *check) nothing() error {
	if c.void++; c.void > MaxVoid {
		return permanent(fmt.Sprintf("the DNS has nothing for more than %d terms", MaxVoid))
	}
	return nil
}

// matches reports whether a mechanism matches (section 5).
func (c *check) matches(ctx context.Context, m Mechanism, domain string) (bool, error) {
	if err := c.count(m.Kind.Queries()); err != nil {
		return false, err
	}
	target := domain
	if m.Domain != "" {
		target = c.expand(ctx, m.Domain, domain)
	}
	switch m.Kind {
	case All:
		return true, nil
	case IP4, IP6:
		return m.Network.Contains(c.ip), nil
	case Include:
		return c.include(ctx, target)
	case A:
		ips, err := c.addresses(ctx, c.network(), target)
		if err == nil && len(ips) == 0 {
			err = c.nothing()
		}
		return c.within(m, ips), err
	case MX:
		return c.mailServer(ctx, m, target)
	case PTR:
		names, err := c.names(ctx)
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(names, func(name string) bool { return isBelow(name, target) }), nil
	case Exists:
		ips, err := c.addresses(ctx, "ip4", target)
		if err == nil && len(ips) == 0 {
			err = c.nothing()
		}
		return len(ips) > 0, err
	}
	return false, nil
}

// include is section 5.2.
func (c *check) include(ctx context.Context, target string) (bool, error) {
	switch o := c.host(ctx, target); o.Result {
	case Pass:
		return true, nil
	case TempError:
		return false, errors.New(o.Reason)
	case PermError, None:
		return false, permanent(fmt.Sprintf("include:%s: %s", target, o.Reason))
	}
	return false, nil
}

// mailServer is section 5.4.
func (c *check) mailServer(ctx context.Context, m Mechanism, target string) (bool, error) {
	var records []*net.MX
	if target != "" {
		var err error
		if records, err = c.dns.LookupMX(ctx, target+"."); err != nil && !isNotFound(err) {
			return false, err
		}
	}
	switch {
	case len(records) == 0:
		return false, c.nothing()
	case len(records) > maxHosts:
		return false, permanent(fmt.Sprintf("%s has more than %d MX records", target, maxHosts))
	}
	for _, r := range records {
		ips, err := c.addresses(ctx, c.network(), strings.TrimSuffix(r.Host, "."))
		if err != nil || c.within(m, ips) {
			return err == nil, err
		}
	}
	return false, nil
}

// within reports whether the address of the check is one of some, or in the same network.
func (c *check) within(m Mechanism, ips []netip.Addr) bool {
	bits := m.Bits4
	if c.ip.Is6() {
		bits = m.Bits6
	}
	return slices.ContainsFunc(ips, func(ip netip.Addr) bool {
		network, err := ip.Prefix(bits)
		return err == nil && network.Contains(c.ip)
	})
}

func (c *check) network() string {
	if c.ip.Is6() {
		return "ip6"
	}
	return "ip4"
}

// addresses returns the addresses of a host in one family.
func (c *check) addresses(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if host == "" {
		return nil, nil
	}
	ips, err := c.dns.LookupNetIP(ctx, network, host+".")
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	list := make([]netip.Addr, 0, len(ips))
	for _, ip := range ips {
		if ip = ip.Unmap(); ip.Is6() == (network == "ip6") {
			list = append(list, ip)
		}
	}
	return list, nil
}

// names returns the names of the address that lead back to it (section 5.5). If the DNS does not answer,
// there are none.
func (c *check) names(ctx context.Context) ([]string, error) {
	names, err := c.dns.LookupAddr(ctx, c.ip.String())
	if len(names) == 0 {
		if err == nil || isNotFound(err) {
			return nil, c.nothing()
		}
		return nil, nil
	}
	var list []string
	for _, name := range names[:min(len(names), maxHosts)] {
		name = strings.TrimSuffix(name, ".")
		if ips, err := c.addresses(ctx, c.network(), name); err == nil && slices.Contains(ips, c.ip) {
			list = append(list, name)
		}
	}
	return list, nil
}

// validated returns the name of the address for the macro p: that of the domain if possible, or one below.
func (c *check) validated(ctx context.Context, domain string) string {
	names, err := c.names(ctx)
	if err != nil || len(names) == 0 {
		return "unknown"
	}
	for _, fits := range []func(string) bool{
		func(name string) bool { return strings.EqualFold(name, domain) },
		func(name string) bool { return isBelow(name, domain) },
	} {
		if i := slices.IndexFunc(names, fits); i >= 0 {
			return names[i]
		}
	}
	return names[0]
}

// isBelow reports whether a name is a domain, or below it.
func isBelow(name, domain string) bool {
	name, domain = strings.ToLower(name), strings.ToLower(domain)
	return domain != "" && (name == domain || strings.HasSuffix(name, "."+domain))
}

// isName reports whether a text is a domain of several labels (section 4.3).
func isName(text string) bool {
	text = strings.TrimSuffix(text, ".")
	if len(text) > maxName || !topLabel.MatchString(text) {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > maxLabel {
			return false
		}
	}
	return true
}

func isNotFound(err error) bool {
	d, ok := errors.AsType[*net.DNSError](err)
	return ok && d.IsNotFound
}
