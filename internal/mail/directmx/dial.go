package directmx

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// How much one attempt tries.
const (
	maxHosts     = 4
	maxAddresses = 2  // of one host
	maxRecords   = 64 // addresses of one host that are looked at
	dnsTimeout   = 5 * time.Second
	bannerWait   = 2 * time.Minute
)

// Source is an address from which connections are made, and the name given there in EHLO.
type Source struct {
	IP   netip.Addr
	HELO string
}

// From is how a connection is made.
type From struct {
	Sources []Source           // IPv4 is used if there is an IPv4 source and the server has such an address
	Pick    uint64             // selects one of several sources
	TLS     smtpclient.TLSMode // Opportunistic or Required
}

// source returns the selected source of a family, or false if there is none.
func (f From) source(v4 bool) (Source, bool) {
	var own []Source
	for _, s := range f.Sources {
		if s.IP.Is4() == v4 {
			own = append(own, s)
		}
	}
	if len(own) == 0 {
		return Source{}, false
	}
	return own[f.Pick%uint64(len(own))], true
}

// unreachable says why servers cannot be reached whose addresses are all of a family without a source.
func (f From) unreachable() string {
	if _, v4 := f.source(true); v4 {
		return "the mail servers of the domain have only IPv6 addresses, and this MTA config sends from IPv4 addresses only"
	}
	return "the mail servers of the domain have only IPv4 addresses, and this MTA config sends from IPv6 addresses only"
}

// Dial connects to one of the servers of a route. Its errors are those of smtpclient.Dial. The
// outcome of a route that leads only to addresses that must not be connected to, or to which there is
// no source, is a permanent refusal.
func (r *Router) Dial(ctx context.Context, route Route, from From) (*smtpclient.Conn, error) {
	var last error
	forbidden, allowed, otherFamily := 0, 0, 0
	for i, host := range route.Servers.Shuffled() {
		if i == maxHosts {
			break
		}
		addresses, refused, err := r.addresses(ctx, host.Name, from)
		forbidden += refused
		if err != nil {
			last = failed(reply.Connect, err)
		}
		if len(addresses) == 0 {
			if all, err := r.resolve(ctx, host.Name); err == nil && len(all) > 0 && refused == 0 {
				otherFamily++
			}
			continue
		}
		demand, err := r.demandFor(ctx, route, host.Name)
		if err != nil {
			allowed++
			last = failed(reply.TLS, err)
			continue
		}
		for _, a := range addresses {
			allowed++
			conn, err := r.dialOne(ctx, host.Name, a, route, demand, from)
			if err == nil {
				r.connected(demand, route, host.Name, conn)
				return conn, nil
			}
			err = r.notConnected(demand, err)
			if ctx.Err() != nil {
				return nil, err
			}
			last = err
		}
	}
	switch {
	case allowed == 0 && forbidden > 0 && last == nil:
		return nil, &smtpclient.DialError{Outcome: reply.Outcome{
			Stage: reply.Rcpt, Code: 550, Enhanced: "5.1.2", Text: "the mail servers of the domain have no address that mail may be sent to",
		}}
	case last == nil && otherFamily > 0 && len(route.Servers.Hosts) <= maxHosts: // waiting does not help
		return nil, &smtpclient.DialError{Outcome: reply.Outcome{Stage: reply.Rcpt, Code: 550, Enhanced: "5.4.1", Text: from.unreachable()}}
	case last == nil:
		return nil, failed(reply.Connect, errors.New("the mail servers of the domain have no address"))
	}
	return nil, last
}

func failed(stage reply.Stage, err error) error {
	return &smtpclient.DialError{Outcome: reply.Outcome{Stage: stage, Text: reply.Clean(err.Error())}, Err: err}
}

// addresses returns the addresses of a host that may be connected to, of one family, and the number
// of those that must not.
func (r *Router) addresses(ctx context.Context, host string, from From) (list []netip.Addr, forbidden int, err error) {
	all, err := r.resolve(ctx, host)
	if err != nil {
		return nil, 0, errors.New("the address of a mail server could not be resolved")
	}
	own := r.ownAddresses()
	for _, v4 := range []bool{true, false} {
		if _, ok := from.source(v4); !ok || len(list) > 0 {
			continue
		}
		for _, ip := range all {
			switch {
			case ip.Is4() != v4:
			case r.Guard.Allow(ip) != nil || own[ip] && !ip.IsLoopback():
				forbidden++
			case len(list) < maxAddresses:
				list = append(list, ip)
			}
		}
	}
	return list, forbidden, nil
}

// resolve returns all addresses of a host, from memory if they were looked up a short time ago.
func (r *Router) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	r.setLimits()
	now := r.Now()
	if known, ok := r.hosts.Get(host, now); ok {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dnsTimeout)
	defer cancel()
	texts, err := r.Resolver.LookupHost(ctx, host+".")
	if d, ok := errors.AsType[*net.DNSError](err); ok && d.IsNotFound {
		texts, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []netip.Addr
	for _, text := range texts[:min(len(texts), maxRecords)] {
		if ip, err := netip.ParseAddr(text); err == nil {
			all = append(all, ip.Unmap())
		}
	}
	keep := keepRoute
	if len(all) == 0 {
		keep = keepMissing
	}
	r.hosts.Put(host, all, now, keep)
	return all, nil
}

// ownAddresses returns the addresses of this machine: mail sent there would come back.
func (r *Router) ownAddresses() map[netip.Addr]bool {
	own, _ := r.own.Load(struct{}{}, r.Now(), keepOwn, func() (map[netip.Addr]bool, error) {
		list, err := net.InterfaceAddrs()
		own := make(map[netip.Addr]bool, len(list))
		for _, a := range list {
			if p, bad := netip.ParsePrefix(a.String()); bad == nil && err == nil {
				own[p.Addr().Unmap().WithZone("")] = true
			}
		}
		return own, err
	})
	return own
}

// dialOne connects to one address of a host. A server with which TLS failed is remembered, and gets
// mail in clear from then on, if that is allowed.
func (r *Router) dialOne(ctx context.Context, host string, to netip.Addr, route Route, d demand, from From) (*smtpclient.Conn, error) {
	source, _ := from.source(to.Is4())
	mode := from.TLS
	switch {
	case d.mode != "":
		mode = d.mode
	case route.Shape.TLS:
		mode = smtpclient.Required
	}
	if mode == smtpclient.Opportunistic {
		if broken, _ := r.broken.Get(host, r.Now()); broken {
			mode = smtpclient.None
		}
	}
	target := netip.AddrPortFrom(to, uint16(r.port())).String()
	dialer := net.Dialer{Control: r.Guard.Control, LocalAddr: &net.TCPAddr{IP: source.IP.AsSlice()}}
	conn, err := smtpclient.Dial(ctx, smtpclient.Config{
		Host: host, Port: r.port(), TLS: mode, HELO: source.HELO, Timeouts: smtpclient.Timeouts{Banner: bannerWait},
		RootCAs: r.RootCAs, Verify: r.verify(d, route, host),
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, target)
		},
	})
	if d, ok := errors.AsType[*smtpclient.DialError](err); ok && d.Outcome.Stage == reply.TLS && mode == smtpclient.Opportunistic {
		r.NoteBrokenTLS(host, r.Now())
		r.mu.Lock()
		r.newBroken = append(r.newBroken, host)
		r.mu.Unlock()
	}
	return conn, err
}

// NoteBrokenTLS notes that TLS with a server failed at a time: it gets mail in clear for 72 hours, if
// that is allowed.
func (r *Router) NoteBrokenTLS(host string, at time.Time) { r.broken.Put(host, true, at, keepBroken) }

// BrokenTLS returns the servers with which TLS failed since the last call.
func (r *Router) BrokenTLS() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.newBroken
	r.newBroken = nil
	return list
}

// port returns the port of the servers.
func (r *Router) port() int { return cmp.Or(r.Port, 25) }

// Primary returns the source that is used if the server has addresses of its family: an IPv4 one if
// there is any.
func (f From) Primary() Source {
	if s, ok := f.source(true); ok {
		return s
	}
	s, _ := f.source(false)
	return s
}
