// Package mx finds out where a domain's mail goes and who runs those servers.
//
// A domain names its servers in MX records (RFC 5321 section 5.1). One without
// such records takes its mail at its own address; one whose only record is "."
// takes none (RFC 7505). The big providers' own domains are known by name, all
// others by the servers they name.
package mx

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Resolver asks the DNS; *net.Resolver does.
type Resolver interface {
	LookupMX(ctx context.Context, domain string) ([]*net.MX, error)
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// timeout bounds one look-up, both questions of it.
const timeout = 5 * time.Second

// NewResolver returns a Resolver that asks the server at address (host:port), or
// those of the machine's configuration when it is empty.
func NewResolver(address string) *net.Resolver {
	if address == "" {
		return net.DefaultResolver
	}
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		},
	}
}

// Answer is what is known of a domain.
type Answer struct {
	Record   string   // the server that is tried first; "." for a domain that takes no mail; empty: there is no such domain
	Provider Provider // empty when there is no such domain
}

// Null is the Record of a domain that says it takes no mail.
const Null = "."

// Lookup asks where a domain's mail goes. That there is no such domain is an
// answer; an error means that it could not be found out now.
func Lookup(ctx context.Context, r Resolver, domain string) (Answer, error) {
	domain = strings.ToLower(strings.TrimSuffix(domain, "."))
	if !askable(domain) {
		return Answer{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	name := domain + "." // as it stands, not below the machine's search domains
	records, err := r.LookupMX(ctx, name)
	hosts := sorted(records)
	if len(hosts) == 0 {
		if err != nil && !absent(err) {
			return Answer{}, fmt.Errorf("look up MX: %w", err)
		}
		_, err := r.LookupHost(ctx, name)
		switch {
		case err == nil:
			return Answer{domain, Classify(domain, []string{domain})}, nil
		case absent(err):
			return Answer{}, nil
		}
		return Answer{}, fmt.Errorf("look up the address: %w", err)
	}
	if hosts[0] == Null {
		return Answer{Null, Other}, nil
	}
	return Answer{hosts[0], Classify(domain, hosts)}, nil
}

func absent(err error) bool {
	d, ok := errors.AsType[*net.DNSError](err)
	return ok && d.IsNotFound
}

// sorted returns the hosts, most wanted first. The null record counts only when
// it stands alone.
func sorted(records []*net.MX) []string {
	records = slices.DeleteFunc(slices.Clone(records), func(m *net.MX) bool { return m == nil || m.Host == "" || len(m.Host) > 255 })
	if len(records) == 1 && records[0].Host == Null {
		return []string{Null}
	}
	slices.SortFunc(records, func(a, b *net.MX) int {
		if a.Pref != b.Pref {
			return int(a.Pref) - int(b.Pref)
		}
		return strings.Compare(strings.ToLower(a.Host), strings.ToLower(b.Host))
	})
	hosts := make([]string, 0, len(records))
	for _, m := range records {
		if h := strings.ToLower(strings.TrimSuffix(m.Host, ".")); h != "" {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// askable reports whether the DNS may know the domain. Names that are never
// public stay on this machine (RFC 6761, 6762 and 7686).
func askable(domain string) bool {
	if domain == "" || len(domain) > 253 || !strings.Contains(domain, ".") {
		return false
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
		}) {
			return false
		}
	}
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	return !slices.Contains([]string{"invalid", "localhost", "local", "onion"}, last) && strings.ContainsFunc(last, func(r rune) bool { return r > '9' })
}
