package mx

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Servers are the mail servers of a domain.
type Servers struct {
	Hosts    []Host // in order of preference; empty if the domain accepts no mail or does not exist
	Implicit bool   // the domain has no MX records: its own address is that of its server
	Null     bool   // the domain accepts no mail (RFC 7505)
	Missing  bool   // the domain does not exist, or has neither MX records nor an address
	Provider Provider
}

// Host is the name of a mail server, as lower-case letters without a final dot.
type Host struct {
	Name       string
	Preference uint16
}

// LookupServers looks up the mail servers of a domain (RFC 5321 section 5.1). A domain that does not
// exist is a result; an error means that the DNS did not answer.
func LookupServers(ctx context.Context, r Resolver, domain string) (Servers, error) {
	domain = strings.ToLower(strings.TrimSuffix(domain, "."))
	if !canBePublic(domain) {
		return Servers{Missing: true}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	name := domain + "." // absolute, so that the machine's search domains are not appended
	records, err := r.LookupMX(ctx, name)
	hosts := sorted(records)
	if len(hosts) == 0 {
		if err != nil && !isNotFound(err) {
			return Servers{}, fmt.Errorf("look up MX: %w", err)
		}
		_, err := r.LookupHost(ctx, name)
		switch {
		case err == nil:
			return Servers{Hosts: []Host{{Name: domain}}, Implicit: true, Provider: Classify(domain, []string{domain})}, nil
		case isNotFound(err):
			return Servers{Missing: true}, nil
		}
		return Servers{}, fmt.Errorf("look up the address: %w", err)
	}
	if hosts[0].Name == Null {
		return Servers{Null: true, Provider: Other}, nil
	}
	return Servers{Hosts: hosts, Provider: Classify(domain, names(hosts))}, nil
}

// Name returns a name for the mail servers that is the same for all domains with the same servers.
func (s Servers) Name() string {
	list := names(s.Hosts)
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ",")
}

// Shuffled returns the hosts in the order in which they are to be tried: by preference, and in random
// order among equals.
func (s Servers) Shuffled() []Host {
	list := slices.Clone(s.Hosts)
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortStableFunc(list, func(a, b Host) int { return int(a.Preference) - int(b.Preference) })
	return list
}

func names(hosts []Host) []string {
	list := make([]string, len(hosts))
	for i, h := range hosts {
		list[i] = h.Name
	}
	return list
}
