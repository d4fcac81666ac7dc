package app

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/account/certificate"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// certificates returns what serves certificates, or nil if a proxy does.
func (s *Server) certificates(t tools) *certificate.Server {
	if !s.Config.ACME {
		return nil
	}
	return &certificate.Server{
		DB: s.Store.DB, Box: s.Store.Box, Default: s.Config.BaseURL.Hostname(), Log: s.Log.With("part", "certificates"), Now: t.now,
	}
}

// issuer returns the loop that requests certificates, for the installation's hosts and for those that
// lead recipients here.
func (s *Server) issuer(t tools, hosts *public.Hosts) loop {
	i := &certificate.Issuer{
		DB: s.Store.DB, Box: s.Store.Box, Directory: s.Config.ACMEDirectory, Email: s.Config.ACMEEmail,
		Log: s.Log.With("engine", "certificates"), Now: t.now, Serves: hosts.Serves,
		Hosts: func(ctx context.Context) ([]string, error) {
			list, err := sender.ServedHosts(ctx, s.Store.DB)
			return append(slices.Clone(hosts.Own), list...), err
		},
	}
	return s.led("certificates", loop{"certificates", i.Run})
}

// upgrade redirects requests for pages by http to https, if the program serves https itself. It leaves
// alone what may not be redirected: requests that change something, among them those for unsubscribing
// (RFC 8058 section 3.1), links of mails, health checks, challenges of the authority, and requests by
// proxies and from the same machine.
func (s *Server) upgrade(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.redirects(r) {
			next.ServeHTTP(w, r)
			return
		}
		to := url.URL{Scheme: "https", Host: s.Config.BaseURL.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, to.String(), http.StatusTemporaryRedirect)
	})
}

func (s *Server) redirects(r *http.Request) bool {
	if r.TLS != nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	for _, prefix := range []string{"/_q/", "/.well-known/", "/healthz", "/readyz"} {
		if strings.HasPrefix(r.URL.Path, prefix) {
			return false
		}
	}
	if !s.isBase(r.Host) {
		return false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || peer.Addr().IsLoopback() {
		return false
	}
	return !s.trustedProxy(peer.Addr().Unmap())
}

// isBase reports whether the Host of a request is that of the base URL.
func (s *Server) isBase(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	name, err := address.Hostname(host)
	return err == nil && name == s.Config.BaseURL.Hostname()
}

// requireTLS has browsers come back to the host of the base URL by https only (RFC 6797), for a year. Other
// hosts that lead here belong to tenants, who may move them to where no https is.
func (s *Server) requireTLS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.isBase(r.Host) {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// trustedProxy reports whether an address is that of a proxy, whose connections carry the requests of many clients.
func (s *Server) trustedProxy(ip netip.Addr) bool {
	return slices.ContainsFunc(s.Config.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}
