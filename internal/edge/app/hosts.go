package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/mail/spf"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// hostsTimeout limits the time of all lookups by checkHosts.
const hostsTimeout = 10 * time.Second

// hosts returns a loop that logs once which hosts in tenants' DNS records do not resolve.
func (s *Server) hosts() loop {
	return loop{"hosts", func(ctx context.Context) error {
		if !s.Config.LoopbackBaseURL() {
			checkHosts(ctx, mx.NewResolver(s.Config.DNSResolver), s.Config.RecordHosts(), s.Log)
		}
		return nil
	}}
}

// hostResolver looks up names; *net.Resolver implements it.
type hostResolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// checkHosts logs a warning for each host that does not resolve: mail of tenants would fail SPF,
// bounces would not arrive, and links would not work.
func checkHosts(ctx context.Context, dns hostResolver, hosts sender.Hosts, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, hostsTimeout)
	defer cancel()
	address := func(ctx context.Context, host string) (bool, error) {
		found, err := dns.LookupHost(ctx, host+".")
		return len(found) > 0, err
	}
	policy := func(ctx context.Context, host string) (bool, error) {
		texts, err := dns.LookupTXT(ctx, host+".")
		return slices.ContainsFunc(texts, spf.Is), err
	}
	for _, c := range []struct {
		option, host, records string
		published             func(context.Context, string) (bool, error)
	}{
		{"PACKETBOAT_MX_HOST", hosts.MX, "A or AAAA", address},
		{"PACKETBOAT_SPF_HOST", hosts.SPF, "TXT v=spf1", policy},
		{"PACKETBOAT_TRACK_HOST", hosts.Track, "A or AAAA", address},
	} {
		if c.host == "" {
			log.Warn("tenants' DNS records are incomplete: the base URL has no name in the DNS", "set", c.option)
			continue
		}
		published, err := c.published(ctx, c.host)
		var dnsError *net.DNSError
		switch {
		case published || ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled):
		case err == nil, errors.As(err, &dnsError) && dnsError.IsNotFound:
			log.Warn("host named in tenants' DNS records does not resolve; publish it or set another", "host", c.host, "missing", c.records, "option", c.option)
		default:
			log.Warn("look up host named in tenants' DNS records failed", "host", c.host, "option", c.option, "err", err)
		}
	}
}

// ownHosts returns the hosts of the installation that answer by HTTP.
func (s *Server) ownHosts() []string {
	own := []string{}
	for _, host := range []string{s.Config.BaseURL.Hostname(), s.Config.RecordHosts().Track} {
		if name, err := address.Hostname(host); err == nil {
			own = append(own, name)
		}
	}
	return own
}
