// Package mx looks up the servers of a domain's mail and who operates them.
//
// A domain names its servers in MX records (RFC 5321 section 5.1). Without such records its mail is
// sent to its own address; if its only record is ".", it accepts none (RFC 7505). The large
// providers' own domains are known by name, all others are classified by their servers.
package mx

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Resolver queries the DNS; *net.Resolver implements it.
type Resolver interface {
	LookupMX(ctx context.Context, domain string) ([]*net.MX, error)
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// timeout limits one look-up of up to two queries.
const timeout = 5 * time.Second

// NewResolver returns a Resolver that uses the server at address (host:port), or those of the
// machine's configuration if it is empty.
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

// Answer is the result of a look-up.
type Answer struct {
	Record   string   // the preferred server; "." for a domain that accepts no mail; "" if the domain does not exist
	Provider Provider // "" if the domain does not exist
}

// Null is the Record of a domain that accepts no mail.
const Null = "."

// Lookup looks up the mail servers of a domain. A domain that does not exist is a result; an error
// means that the DNS did not answer.
func Lookup(ctx context.Context, r Resolver, domain string) (Answer, error) {
	s, err := LookupServers(ctx, r, domain)
	switch {
	case err != nil || s.Missing:
		return Answer{}, err
	case s.Null:
		return Answer{Null, Other}, nil
	}
	return Answer{s.Hosts[0].Name, s.Provider}, nil
}

func isNotFound(err error) bool {
	d, ok := errors.AsType[*net.DNSError](err)
	return ok && d.IsNotFound
}

// sorted returns the hosts in order of preference, without names that no host can have. The null record counts only if it is the only one.
func sorted(records []*net.MX) []Host {
	records = slices.DeleteFunc(slices.Clone(records), func(m *net.MX) bool {
		return m == nil || m.Host == "" || len(m.Host) > 255 || strings.ContainsFunc(m.Host, func(r rune) bool { return r > unicode.MaxASCII })
	})
	if len(records) == 1 && records[0].Host == Null {
		return []Host{{Name: Null}}
	}
	slices.SortFunc(records, func(a, b *net.MX) int {
		if a.Pref != b.Pref {
			return int(a.Pref) - int(b.Pref)
		}
		return strings.Compare(strings.ToLower(a.Host), strings.ToLower(b.Host))
	})
	hosts := make([]Host, 0, len(records))
	for _, m := range records {
		if h := strings.ToLower(strings.TrimSuffix(m.Host, ".")); h != "" {
			hosts = append(hosts, Host{h, m.Pref})
		}
	}
	return hosts
}

// canBePublic reports whether the domain can be in the DNS. Names that are never public are not sent to
// a name server (RFC 6761, 6762 and 7686).
func canBePublic(domain string) bool {
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
