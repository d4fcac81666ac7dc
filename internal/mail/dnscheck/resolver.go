package dnscheck

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"github.com/packetboat/packetboat/internal/mail/mx"
)

// Resolver queries the DNS by a recursive name server. It implements DNS.
type Resolver struct {
	*net.Resolver
	servers []string // host:port
}

// maxServers is how many of the machine's name servers are tried.
const maxServers = 3

// NewResolver returns a Resolver that uses the server at address (host:port), or those of the
// machine's configuration if it is empty.
func NewResolver(address string) *Resolver {
	r := &Resolver{Resolver: mx.NewResolver(address), servers: []string{address}}
	if address == "" {
		r.servers = []string{"127.0.0.1:53"} // as in resolv.conf(5)
		if config, err := dns.ClientConfigFromFile("/etc/resolv.conf"); err == nil && len(config.Servers) > 0 {
			r.servers = nil
			for _, s := range config.Servers[:min(maxServers, len(config.Servers))] {
				r.servers = append(r.servers, net.JoinHostPort(s, config.Port))
			}
		}
	}
	return r
}

// LookupAlias returns the target of the CNAME record of name, which is absolute, or "" if it has
// none. net.Resolver has no such query: its LookupCNAME fails if the target has no address.
func (r *Resolver) LookupAlias(ctx context.Context, name string) (string, error) {
	answers, err := r.query(ctx, name, dns.TypeCNAME)
	for _, rr := range answers {
		if c, ok := rr.(*dns.CNAME); ok && normal(c.Hdr.Name) == normal(name) {
			return normal(c.Target), nil
		}
	}
	return "", err
}

// Addresses returns the addresses of name in the DNS. Unlike the functions of net.Resolver, it does not
// read /etc/hosts, which says nothing about what others see.
func (r *Resolver) Addresses(ctx context.Context, name string) ([]netip.Addr, error) {
	var list []netip.Addr
	var failure error
	for _, t := range []uint16{dns.TypeA, dns.TypeAAAA} {
		answers, err := r.query(ctx, name, t)
		if err != nil {
			failure = err
		}
		for _, rr := range answers {
			var ip net.IP
			switch rr := rr.(type) {
			case *dns.A:
				ip = rr.A
			case *dns.AAAA:
				ip = rr.AAAA
			}
			if a, ok := netip.AddrFromSlice(ip); ok {
				list = append(list, a.Unmap())
			}
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	return nil, failure
}

// Names returns the names of the PTR records of an address in the DNS, without final dots.
func (r *Resolver) Names(ctx context.Context, ip netip.Addr) ([]string, error) {
	name, err := dns.ReverseAddr(ip.String())
	if err != nil {
		return nil, err
	}
	answers, err := r.query(ctx, name, dns.TypePTR)
	var list []string
	for _, rr := range answers {
		if p, ok := rr.(*dns.PTR); ok {
			list = append(list, normal(p.Ptr))
		}
	}
	return list, err
}

// query returns the answers of the first name server that gives some.
func (r *Resolver) query(ctx context.Context, name string, t uint16) ([]dns.RR, error) {
	query := new(dns.Msg).SetQuestion(dns.Fqdn(name), t)
	var failure error
	for _, server := range r.servers {
		reply, err := exchange(ctx, query, server)
		switch {
		case err != nil:
			failure = &net.DNSError{Err: err.Error(), Name: name, IsTimeout: ctx.Err() != nil, IsTemporary: true}
			continue
		case reply.Rcode == dns.RcodeNameError:
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		case reply.Rcode != dns.RcodeSuccess:
			failure = &net.DNSError{Err: "server misbehaving: " + dns.RcodeToString[reply.Rcode], Name: name, IsTemporary: true}
			continue
		}
		return reply.Answer, nil
	}
	return nil, failure
}

// exchange sends a query by UDP, and by TCP if the answer was too long.
func exchange(ctx context.Context, query *dns.Msg, server string) (*dns.Msg, error) {
	client := dns.Client{Timeout: 3 * time.Second}
	reply, _, err := client.ExchangeContext(ctx, query, server)
	if err == nil && reply.Truncated {
		client.Net = "tcp"
		reply, _, err = client.ExchangeContext(ctx, query, server)
	}
	return reply, err
}
