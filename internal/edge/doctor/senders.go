package doctor

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/engine/watch"
	"github.com/packetboat/packetboat/internal/mail/dnscheck"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/mail/spf"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// inParallel calls f for 0 to n-1, a few at a time.
func inParallel(n int, f func(i int)) {
	var all sync.WaitGroup
	free := make(chan struct{}, concurrently)
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			f(i)
		})
	}
	all.Wait()
}

// eachTenant calls f for the tenants that may send, until it returns false.
func (e *examination) eachTenant(ctx context.Context, n *notes, f func(tenant.Tenant) (bool, error)) {
	db := e.db.Load()
	if db == nil {
		n.skip("", "the database cannot be used")
		return
	}
	list, err := tenant.List(ctx, db)
	for _, t := range list {
		if t.Status != tenant.Active {
			continue
		}
		var more bool
		if more, err = f(t); err != nil || !more {
			break
		}
	}
	if err != nil {
		n.fail("", "check the log of the database", "%s", err)
	}
}

// eachDomain calls f for the sending domains of tenants, until it returns false.
func (e *examination) eachDomain(ctx context.Context, n *notes, f func(tenant.Tenant, sender.Domain) bool) {
	e.eachTenant(ctx, n, func(t tenant.Tenant) (bool, error) {
		list, err := sender.Domains(ctx, e.db.Load(), t.ID)
		for _, d := range list {
			if !f(t, d) {
				return false, err
			}
		}
		return true, err
	})
}

// owned is a record with the tenant that it belongs to.
type owned[T any] struct {
	tenant tenant.Tenant
	record T
}

// domains examines the sending domains.
func (e *examination) domains(ctx context.Context, n *notes) {
	var list []owned[sender.Domain]
	e.eachDomain(ctx, n, func(t tenant.Tenant, d sender.Domain) bool {
		list = append(list, owned[sender.Domain]{t, d})
		return len(list) < maxDomains
	})
	if len(list) == maxDomains {
		n.skip("", "only the first %d sending domains are examined", maxDomains)
	}
	box := e.box.Load()
	if box == nil || len(list) == 0 {
		return
	}
	v := &sender.Verifier{
		DB: e.db.Load(), DNS: e.dns, Hosts: e.Hosts, Log: slog.New(slog.DiscardHandler), Now: e.Now,
		Tracking: sender.NewPinger(sender.NewNonce(box), e.BaseURL.Scheme, e.dns.Resolver, netguard.Guard{AllowPrivate: e.AllowPrivate}, e.transport()),
	}
	inParallel(len(list), func(i int) { e.domain(ctx, n, v, list[i].tenant, list[i].record) })
}

// warningAdvice is what to do about warnings.
var warningAdvice = map[sender.Metric]string{
	sender.Complaints:   "mail only those who asked for it, and less often those who do not read it",
	sender.HardBounces:  "find out where the addresses came from, and remove lists that are old",
	sender.Refusals:     "read the replies in the reports of the broadcasts; the provider may have put the domain or an address on a list",
	sender.AuthFailures: "check the DKIM, SPF and DMARC records of the domain, and the replies in the reports",
	sender.UnknownUsers: "pause the broadcast and find out where the list came from",
	sender.Throughput:   "check the MTA configs and the log of the workers",
}

// domain examines one sending domain.
func (e *examination) domain(ctx context.Context, n *notes, v *sender.Verifier, t tenant.Tenant, d sender.Domain) {
	subject := t.Slug + "/" + d.Name
	if d.Paused {
		n.warn(subject, "remove the cause, then packetboat domain resume --tenant "+t.Slug+" --domain "+d.Name, "the domain is paused (%s), so nothing is sent from it", d.PauseReason)
	}
	warnings, err := sender.Warnings(ctx, e.db.Load(), t.ID)
	if err != nil && ctx.Err() == nil {
		n.fail(subject, "check the log of the database", "%s", err)
	}
	for _, w := range warnings[d.ID] {
		n.warn(subject, warningAdvice[w.Metric], "%s", w)
	}
	records, unreached, err := v.Look(ctx, d)
	if ctx.Err() != nil {
		n.warn(subject, "run packetboat doctor again", "it was not examined in time")
		return
	}
	if err != nil {
		n.fail(subject, "check the log of the database", "%s", err)
		return
	}
	forced := d.VerifiedBy == sender.ByOperator
	complete := true
	for _, r := range records {
		if r.Status == dnscheck.OK || !r.Required || r.Purpose == sender.PurposeTracking && forced {
			continue
		}
		complete = false
		what := r.Type + " record " + r.Host
		advice := "its owner publishes: " + r.Host + " " + r.Type + " " + shown(r)
		if r.Problem != "" {
			advice = r.Problem
		}
		switch {
		case r.Status == dnscheck.Unknown:
			n.warn(subject, "check the name server", "the %s could not be looked up: %s", what, r.Problem)
		case d.Status == sender.Pending || forced:
			n.warn(subject, advice, "the %s is %s", what, r.Status)
		default:
			n.fail(subject, advice, "the %s is %s, though the domain was verified", what, r.Status)
		}
	}
	if i := slices.IndexFunc(records, func(r sender.Record) bool { return r.Purpose == sender.PurposeDMARC }); i >= 0 && records[i].Status != dnscheck.OK && records[i].Status != dnscheck.Unknown {
		n.warn(subject, "its owner publishes: "+records[i].Host+` TXT "v=DMARC1; p=none;"`, "there is no DMARC policy, which large mailbox providers demand")
	}
	switch {
	case unreached == "":
	case d.TrackingStatus == sender.Live && e.serving.Load():
		n.fail(subject, "check the DNS record, the certificate and the proxy of the tracking host", "tracking host %s: %s", d.TrackingHost, unreached)
	default:
		n.warn(subject, "check the DNS record, the certificate and the proxy of the tracking host, and that packetboat serve runs", "tracking host %s: %s", d.TrackingHost, unreached)
	}
	if complete && unreached == "" {
		n.ok(subject, "its DNS records are right, and its tracking host %s leads here", d.TrackingHost)
	} else if complete {
		n.ok(subject, "its DNS records are right")
	}
}

// shown returns the value of a record, shortened.
func shown(r sender.Record) string {
	value := r.Value
	if len(value) > 120 {
		value = value[:120] + "…"
	}
	if r.Type == "MX" {
		value = strconv.Itoa(r.Priority) + " " + value
	}
	return value
}

// lanes returns the active MTA configs of tenants.
func (e *examination) lanes(ctx context.Context, n *notes, keep func(lane.Config) bool) []owned[lane.Config] {
	var list []owned[lane.Config]
	e.eachTenant(ctx, n, func(t tenant.Tenant) (bool, error) {
		configs, err := lane.List(ctx, e.db.Load(), t.ID)
		for _, c := range configs {
			if c.Active && keep(c) && len(list) < maxLanes {
				list = append(list, owned[lane.Config]{t, c})
			}
		}
		return len(list) < maxLanes, err
	})
	if len(list) == maxLanes {
		n.skip("", "only the first %d MTA configs are examined", maxLanes)
	}
	return list
}

// relays examines the relays of tenants, and that of the installation.
func (e *examination) relays(ctx context.Context, n *notes) {
	if e.SystemRelay == nil {
		n.skip("PACKETBOAT_SYSTEM_SMTP_URL", "there is no relay for mail about accounts: links to set passwords are shown instead")
	} else {
		e.systemRelay(ctx, n)
	}
	list := e.lanes(ctx, n, func(c lane.Config) bool { return c.Type == lane.SMTP || c.Type == lane.SES })
	box := e.box.Load()
	if box == nil || len(list) == 0 {
		return
	}
	prober := &watch.Engine{DB: e.db.Load(), Box: box, AllowPrivate: e.AllowPrivate, SESEndpoint: e.SESEndpoint, Now: e.Now, Log: slog.New(slog.DiscardHandler)}
	inParallel(len(list), func(i int) {
		t, c := list[i].tenant, list[i].record
		subject := t.Slug + "/" + c.Key
		failure, err := prober.Probe(ctx, c)
		switch {
		case ctx.Err() != nil:
			n.warn(subject, "run packetboat doctor again", "it was not examined in time")
		case err != nil:
			n.fail(subject, "enter the password of the MTA config again", "it cannot be used: %s", err)
		case failure != "":
			n.fail(subject, "check host, port, TLS, login and firewall of the MTA config "+c.Name, "it does not work: %s", failure)
		default:
			n.ok(subject, "it accepts connections and the login")
		}
	})
}

func (e *examination) systemRelay(ctx context.Context, n *notes) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	subject := net.JoinHostPort(e.SystemRelay.Host, strconv.Itoa(e.SystemRelay.Port))
	c, err := smtpclient.Dial(ctx, *e.SystemRelay)
	if err != nil {
		n.fail(subject, "check PACKETBOAT_SYSTEM_SMTP_URL: host, port, TLS and login", "the relay for mail about accounts does not work: %s", err)
		return
	}
	_ = c.Quit()
	n.ok(subject, "the relay for mail about accounts accepts connections")
}

// sources examines the addresses from which mail is sent directly to recipients' servers.
func (e *examination) sources(ctx context.Context, n *notes) {
	list := e.lanes(ctx, n, func(c lane.Config) bool { return c.Type == lane.DirectMX })
	if len(list) == 0 {
		if e.db.Load() != nil {
			n.skip("", "no MTA config sends directly to recipients' servers; relays have addresses of their own")
		}
		return
	}
	seen := map[string]bool{}
	var all []lane.Source
	for _, l := range list {
		if len(l.record.Direct.IPs) == 0 {
			n.warn(l.tenant.Slug+"/"+l.record.Key, "name the addresses and their names in the MTA config, so that they can be checked", "it sends from whatever address the machine has")
		}
		for _, s := range l.record.Direct.IPs {
			if key := s.IP.String() + " " + s.HELO; !seen[key] {
				seen[key] = true
				all = append(all, s)
			}
		}
	}
	inParallel(len(all), func(i int) { e.source(ctx, n, all[i]) })
}

// source examines one source address.
func (e *examination) source(ctx context.Context, n *notes, s lane.Source) {
	subject := s.IP.String()
	if l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: s.IP.AsSlice()}); err != nil {
		n.warn(subject, "add the address to this machine, or run workers only where it is", "it is not an address of this machine")
	} else {
		_ = l.Close()
	}
	e.reverse(ctx, n, s)
	host := e.Hosts.SPF
	if host == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	switch o := spf.Check(ctx, e.dns, s.IP, "", host); o.Result {
	case spf.Pass:
		n.ok(subject, "the SPF record of %s permits it", host)
	case spf.TempError:
		n.warn(subject, "check the name server", "the SPF record of %s could not be looked up", host)
	default:
		n.fail(subject, "add it to the SPF record of "+host, "the SPF record of %s does not permit it (%s: %s)", host, o.Result, o.Reason)
	}
}

// reverse examines whether the PTR record of a source names the host with which it greets, and the host
// leads back.
func (e *examination) reverse(ctx context.Context, n *notes, s lane.Source) {
	subject := s.IP.String()
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	names, err := e.dns.Names(ctx, s.IP)
	advice := "let the owner of the address set its PTR record to " + s.HELO + ", and publish " + s.HELO + " A " + subject + ": receivers refuse mail otherwise"
	if s.IP.Is6() {
		advice = strings.Replace(advice, " A ", " AAAA ", 1)
	}
	switch {
	case err != nil && !notFound(err):
		n.warn(subject, "check the name server", "its PTR record could not be looked up: %s", why(err))
		return
	case len(names) == 0:
		n.fail(subject, advice, "it has no PTR record")
		return
	case !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, s.HELO) }):
		n.fail(subject, advice, "its PTR record is %.200s, but it greets as %s", names[0], s.HELO)
		return
	}
	back, err := e.lookup(ctx, s.HELO)
	switch {
	case err != nil && !notFound(err):
		n.warn(subject, "check the name server", "%s could not be looked up: %s", s.HELO, why(err))
	case !slices.Contains(back, s.IP.Unmap()):
		n.fail(subject, advice, "its PTR record is %s, which does not lead back to it", s.HELO)
	default:
		n.ok(subject, "its PTR record and %s agree", s.HELO)
	}
}

func (e *examination) mailPort() string { return strconv.Itoa(e.MXPort) }

// port25 examines whether connections to the mail servers of others are possible, which many networks
// prevent.
func (e *examination) port25(ctx context.Context, n *notes) {
	direct := e.lanes(ctx, n, func(c lane.Config) bool { return c.Type == lane.DirectMX })
	if len(direct) == 0 || e.ProbeDomain == "" {
		if e.db.Load() != nil {
			n.skip("", "no MTA config sends directly to recipients' servers")
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	servers, err := mx.LookupServers(ctx, e.dns, e.ProbeDomain)
	if err != nil || len(servers.Hosts) == 0 {
		n.warn(e.ProbeDomain, "check the name server, or name another domain with --probe-domain", "its mail servers could not be looked up")
		return
	}
	host := strings.TrimSuffix(servers.Hosts[0].Name, ".")
	dialer := e.dialer()
	dialer.Control = netguard.Guard{AllowPrivate: e.AllowPrivate}.Control
	c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, e.mailPort()))
	if err != nil {
		n.fail(host, "ask the provider of the network to allow outgoing connections to port 25, or send by a relay", "no connection to port %s: %s", e.mailPort(), why(err))
		return
	}
	defer c.Close() //nolint:errcheck // only read
	if banner := readBanner(c, attempt); !strings.HasPrefix(banner, "220") {
		n.fail(host, "receivers may refuse the address of this machine: look it up in block lists", "the server did not accept the connection: %.150q", banner)
		return
	}
	n.ok(host, "outgoing connections to port %s are possible", e.mailPort())
}
