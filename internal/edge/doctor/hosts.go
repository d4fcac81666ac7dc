package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/mail/spf"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// why returns an error of the DNS or the network in few words.
func why(err error) string {
	var d *net.DNSError
	switch {
	case errors.As(err, &d) && d.IsNotFound:
		return "the name does not exist"
	case errors.As(err, &d) && d.IsTimeout, errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &d):
		return d.Err
	}
	return err.Error()
}

func notFound(err error) bool {
	var d *net.DNSError
	return errors.As(err, &d) && d.IsNotFound
}

// nameServer examines whether the DNS answers at all.
func (e *examination) nameServer(ctx context.Context, n *notes) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	subject := e.DNSResolver
	if subject == "" {
		subject = "of this machine"
	}
	begun := e.Now()
	_, err := e.dns.LookupNS(ctx, ".")
	if err != nil && !notFound(err) {
		n.fail(subject, "set up a name server in /etc/resolv.conf, or set PACKETBOAT_DNS_RESOLVER; a resolver on this machine, such as unbound, is best for sending mail", "the DNS does not answer: %s", why(err))
		return
	}
	n.ok(subject, "the DNS answers within %s", max(e.Now().Sub(begun).Round(time.Millisecond), time.Millisecond))
}

// hosts examines the names of the installation in the DNS, and whether the base URL leads here.
func (e *examination) hosts(ctx context.Context, n *notes) {
	if e.Loopback {
		n.skip(e.BaseURL.Host, "the base URL is on loopback, as in a trial: set PACKETBOAT_BASE_URL to the name by which others reach this installation")
	} else {
		if e.BaseURL.Scheme == "http" {
			n.warn(e.BaseURL.String(), "set PACKETBOAT_BASE_URL to an https address, with a proxy before it: mailbox providers demand https for unsubscribing by one click", "passwords and links go over http")
		}
		for _, h := range []struct{ option, host string }{
			{"PACKETBOAT_BASE_URL", e.BaseURL.Hostname()}, {"PACKETBOAT_TRACK_HOST", e.Hosts.Track}, {"PACKETBOAT_MX_HOST", e.Hosts.MX},
		} {
			e.address(ctx, n, h.option, h.host)
		}
		e.policy(ctx, n)
	}
	e.reach(ctx, n)
}

// address examines the addresses of one of the installation's hosts.
func (e *examination) address(ctx context.Context, n *notes, option, host string) {
	if host == "" {
		n.warn(option, "set "+option+" to a name in the DNS", "the base URL has no name in the DNS, so that tenants cannot publish records that lead here")
		return
	}
	list, err := e.lookup(ctx, host)
	switch {
	case err != nil && !notFound(err):
		n.warn(host, "check the name server", "its addresses (%s) could not be looked up: %s", option, why(err))
	case len(list) == 0:
		n.fail(host, fmt.Sprintf("publish %s A with the address of this installation, or set %s to another host", host, option), "it has no address in the DNS (%s)", option)
	case !slices.ContainsFunc(list, public):
		n.warn(host, "publish a public address", "it has only addresses that others cannot reach: %s", texts(list))
	default:
		n.ok(host, "%s leads to %s", option, texts(list))
	}
}

func public(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsGlobalUnicast() && !ip.IsPrivate()
}

func texts(list []netip.Addr) string {
	var b []string
	for i, ip := range list {
		if i == 5 {
			b = append(b, "…")
			break
		}
		b = append(b, ip.String())
	}
	return strings.Join(b, ", ")
}

// policy examines the SPF record that tenants' records include.
func (e *examination) policy(ctx context.Context, n *notes) {
	host := e.Hosts.SPF
	if host == "" {
		return // the other hosts say it
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	list, err := e.dns.LookupTXT(ctx, host+".")
	list = slices.DeleteFunc(list, func(t string) bool { return !spf.Is(t) })
	switch {
	case err != nil && !notFound(err):
		n.warn(host, "check the name server", "its SPF record could not be looked up: %s", why(err))
	case len(list) == 0:
		n.fail(host, fmt.Sprintf(`publish %s TXT "v=spf1 ip4:ADDRESS -all" with every address that mail leaves from, or set PACKETBOAT_SPF_HOST`, host), "it has no SPF record, which those of tenants include")
	case len(list) > 1:
		n.fail(host, "delete all but one of them", "it has %d SPF records, which receivers treat as an error", len(list))
	case !strings.Contains(list[0], "all"):
		n.warn(host, "end the record with -all", "its SPF record does not say what applies to other addresses: %.200s", list[0])
	default:
		n.ok(host, "its SPF record is %.200s", list[0])
	}
}

// ping returns what asks hosts whether they lead to this installation, or nil if there is no key.
func (e *examination) ping(scheme string) *sender.Pinger {
	box := e.box.Load()
	if box == nil {
		return nil
	}
	return sender.NewPinger(sender.NewNonce(box), scheme, e.dns.Resolver, guard, e.transport())
}

// transport returns a transport that trusts the authorities of the installation, or nil.
func (e *examination) transport() *http.Transport {
	if e.RootCAs == nil {
		return nil
	}
	return &http.Transport{TLSClientConfig: e.tls("")}
}

// reach examines whether the base URL leads to this installation.
func (e *examination) reach(ctx context.Context, n *notes) {
	p := e.ping(e.BaseURL.Scheme)
	if p == nil {
		n.skip(e.BaseURL.String(), "without the secret key, it cannot be asked whether it leads here")
		return
	}
	problem := p.Unreached(ctx, e.BaseURL.Host)
	switch {
	case problem == "":
		n.ok(e.BaseURL.String(), "it leads to this installation")
	case !e.serving.Load() && e.Loopback:
		n.skip(e.BaseURL.String(), "packetboat serve does not run here")
	case !e.serving.Load():
		n.warn(e.BaseURL.String(), "start packetboat serve, and check the proxy, the firewall and the DNS", "%s; packetboat serve does not run on this machine", problem)
	default:
		n.fail(e.BaseURL.String(), "check the proxy, the firewall and the DNS, and that all processes have the same secret key", "%s", problem)
	}
}

// clock compares the clock with that of the server of the base URL; the database's is compared when it is
// opened.
func (e *examination) clock(ctx context.Context, n *notes) {
	if e.Loopback {
		n.skip("", "the base URL is on loopback, so that no other clock is there to compare with")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	u := url.URL{Scheme: e.BaseURL.Scheme, Host: e.BaseURL.Host, Path: sender.PingPath}
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, u.String(), nil)
	if err != nil {
		return
	}
	transport := &http.Transport{DialContext: e.dialer().DialContext, DisableKeepAlives: true, TLSClientConfig: e.tls("")}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		n.skip("", "the base URL does not answer, so that its clock is not known")
		return
	}
	_ = response.Body.Close()
	at, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		n.skip("", "the server of the base URL sends no date")
		return
	}
	by := at.Sub(e.Now())
	if by < 0 { // the header has whole seconds
		by = min(by+time.Second, 0)
	}
	e.drift(n, "the clock of "+e.BaseURL.Host, by)
}
