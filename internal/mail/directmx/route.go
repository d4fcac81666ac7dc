package directmx

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/dane"
	"github.com/packetboat/packetboat/internal/mail/mtasts"
	"github.com/packetboat/packetboat/internal/mail/mx"
)

// How long answers of the DNS are used.
const (
	keepRoute   = 5 * time.Minute
	keepMissing = time.Minute
	keepOwn     = time.Minute    // the addresses of this machine
	keepBroken  = 72 * time.Hour // since TLS with a server failed
)

// maxRoutes is the number of routes kept in memory.
const maxRoutes = 1 << 16

// Policies finds the MTA-STS policies of domains; maildomain.Policies implements it.
type Policies interface {
	Policy(ctx context.Context, domain string) (mtasts.Policy, bool, error)
}

// Router finds and connects routes. Its fields must not be changed after the first use.
type Router struct {
	Resolver mx.Resolver
	Guard    netguard.Guard
	Port     int // of the servers; 0 means 25
	Now      func() time.Time

	Policies Policies       // nil: MTA-STS is not applied
	DANE     *dane.Client   // nil: DANE is not applied
	RootCAs  *x509.CertPool // nil: the system's
	// Report is called with the result of each connection, by the kind of policy that applied to
	// it. The words are those of RFC 8460, sections 4.2 and 4.3; nil ignores them.
	Report func(policy PolicyType, result string)

	limits sync.Once
	routes cache.Cache[string, Route]
	hosts  cache.Cache[string, []netip.Addr]
	tlsa   cache.Cache[string, dane.Records]
	own    cache.Cache[struct{}, map[netip.Addr]bool]
	broken cache.Cache[string, bool] // servers with which TLS failed, by name

	mu        sync.Mutex
	newBroken []string // of broken, since the last call of BrokenTLS
}

// Route is the way to the mailboxes of a domain.
type Route struct {
	Domain      string
	Destination string // the same for all domains with the same servers, or at the same large provider
	Servers     mx.Servers
	Shape       Shape
	Resolved    time.Time     // when the DNS was asked
	Policy      mtasts.Policy // of MTA-STS; without a mode if there is none
	Proven      bool          // DNSSEC proves the names of the servers
}

// Security distinguishes connections by what was verified when they were made: one that was made for
// one route can be used for another one only if both have the same.
func (r Route) Security() string {
	s := ""
	if r.Policy.Mode == mtasts.Enforce {
		sum := sha256.Sum256([]byte(strings.Join(r.Policy.Hosts, ",")))
		s = "sts " + hex.EncodeToString(sum[:8])
	}
	if r.Proven {
		s += " dane " + r.Domain
	}
	return s
}

// Shape is how much a destination accepts.
type Shape struct {
	Connections int  // at once, from one address
	Messages    int  // on one connection
	TLS         bool // requires encryption
}

// defaultShape is that of destinations about which nothing is known.
var defaultShape = Shape{Connections: 10, Messages: 100}

// shapes are those of known servers, by the end of their names. The first that matches applies. The
// numbers are those of the shaping rules that KumoMTA publishes for these providers.
var shapes = []struct {
	suffix string
	Shape
}{
	{"google.com", Shape{5, 50, true}}, {"googlemail.com", Shape{5, 50, true}},
	{"yahoodns.net", Shape{10, 20, false}},
	{"protection.outlook.com", Shape{5, 50, false}}, {"mx.microsoft", Shape{5, 50, false}},
	{"icloud.com", Shape{10, 5, false}},
	{"comcast.net", Shape{25, 1000, true}},
	{"gmx.net", Shape{4, 20, true}}, {"web.de", Shape{4, 20, true}},
	{"mimecast.com", Shape{10, 100, false}},
	{"orange.fr", Shape{2, 100, true}},
	{"barracudanetworks.com", Shape{10, 15, true}},
	{"qq.com", Shape{4, 8, true}}, {"netease.com", Shape{4, 7, true}},
}

func shapeOf(hosts []mx.Host) Shape {
	for _, s := range shapes {
		if len(hosts) > 0 && (hosts[0].Name == s.suffix || strings.HasSuffix(hosts[0].Name, "."+s.suffix)) {
			return s.Shape
		}
	}
	return defaultShape
}

// setLimits sets the sizes of the caches.
func (r *Router) setLimits() {
	r.limits.Do(func() { r.routes.Max, r.hosts.Max, r.tlsa.Max = maxRoutes, maxRoutes, maxRoutes })
}

// Known returns a route that is in memory.
func (r *Router) Known(domain string) (Route, bool) {
	r.setLimits()
	return r.routes.Get(domain, r.Now())
}

// Route returns the route to a domain. An error means that the DNS did not answer.
func (r *Router) Route(ctx context.Context, domain string) (Route, error) {
	if known, ok := r.Known(domain); ok {
		return known, nil
	}
	now := r.Now()
	s, err := mx.LookupServers(ctx, r.Resolver, domain)
	if err != nil {
		return Route{}, err
	}
	route, keep := Route{Domain: domain, Servers: s, Resolved: now}, keepRoute
	if len(s.Hosts) == 0 {
		keep = keepMissing
	} else if err := r.addPolicies(ctx, &route); err != nil {
		return Route{}, err
	}
	route.Destination, route.Shape = destinationOf(route.Servers), shapeOf(route.Servers.Hosts)
	r.routes.Put(domain, route, now, keep)
	return route, nil
}

// rolledUp are the names of the destinations of providers that several kinds of domains share.
var rolledUp = map[mx.Provider]string{mx.GoogleWorkspace: string(mx.Gmail), mx.Microsoft365: string(mx.Outlook), mx.Other: ""}

// destinationOf returns the name of a destination: the provider, or the names of the servers. Long lists are hashed.
func destinationOf(s mx.Servers) string {
	name, ok := rolledUp[s.Provider]
	if !ok {
		name = string(s.Provider)
	}
	if name != "" {
		return name
	}
	const longest = 128
	if name = s.Name(); len(name) > longest {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	return name
}
