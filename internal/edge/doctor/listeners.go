package doctor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"
)

// listeners examines whether the program can listen where it is configured to, or does so already.
func (e *examination) listeners(ctx context.Context, n *notes) {
	for _, l := range []struct {
		option, address string
		ours            func(ctx context.Context, address string) bool
	}{
		{"PACKETBOAT_LISTEN", e.Listen, answersHealth},
		{"PACKETBOAT_TLS_LISTEN", e.TLSListen, e.answersTLS},
		{"PACKETBOAT_ADMIN_LISTEN", e.AdminListen, answersMetrics},
		{"PACKETBOAT_INBOUND_LISTEN", e.InboundListen, answersSMTP},
	} {
		if l.address == "" {
			continue
		}
		err := tryListen(ctx, l.address)
		switch {
		case err == nil:
			n.ok(l.address, "it is free for %s", l.option)
		case errors.Is(err, syscall.EADDRINUSE) && l.ours(ctx, reachable(l.address)):
			if l.option == "PACKETBOAT_LISTEN" {
				e.serving.Store(true)
			}
			n.ok(l.address, "packetboat listens on it (%s)", l.option)
		case errors.Is(err, syscall.EADDRINUSE):
			n.fail(l.address, "stop the other program, or set "+l.option+" to another address", "another program listens on it")
		case errors.Is(err, syscall.EACCES), errors.Is(err, os.ErrPermission):
			n.fail(l.address, "ports below 1024 need a right: AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit of systemd, or setcap cap_net_bind_service=+ep on the program", "this user may not listen on it (%s)", l.option)
		case errors.Is(err, syscall.EADDRNOTAVAIL):
			n.fail(l.address, "set "+l.option+" to an address of this machine, or to :PORT", "it is not an address of this machine")
		default:
			n.fail(l.address, "set "+l.option+" to host:port of this machine", "%s", err)
		}
	}
}

func tryListen(ctx context.Context, address string) error {
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return l.Close()
}

// reachable returns the address at which a listener can be connected to from this machine.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if err == nil && ip.Is6() {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}

// ownTimeout limits a request to this machine.
const ownTimeout = 3 * time.Second

func get(ctx context.Context, url string) (body []byte, status int) {
	ctx, cancel := context.WithTimeout(ctx, ownTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil, 0
	}
	defer response.Body.Close() //nolint:errcheck // only read
	body, _ = io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return body, response.StatusCode
}

func answersHealth(ctx context.Context, address string) bool {
	body, status := get(ctx, "http://"+address+"/healthz")
	var answer struct{ Status string }
	return status == http.StatusOK && json.Unmarshal(body, &answer) == nil && answer.Status == "ok"
}

// answersTLS reports whether a server answers by TLS, with whatever certificate: those of hosts are examined
// elsewhere, and there may be none yet.
func (e *examination) answersTLS(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, ownTimeout)
	defer cancel()
	settings := e.tls(e.BaseURL.Hostname())
	settings.InsecureSkipVerify = true
	d := tls.Dialer{Config: settings}
	c, err := d.DialContext(ctx, "tcp", address)
	if err == nil {
		_ = c.Close()
		return true
	}
	_, alert := errors.AsType[tls.AlertError](err)
	return alert || strings.Contains(err.Error(), "remote error: tls")
}

func answersMetrics(ctx context.Context, address string) bool {
	body, status := get(ctx, "http://"+address+"/metrics")
	return status == http.StatusOK && strings.Contains(string(body), "packetboat_")
}

func answersSMTP(ctx context.Context, address string) bool {
	d := net.Dialer{Timeout: ownTimeout}
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer c.Close() //nolint:errcheck // only read
	banner := readBanner(c, ownTimeout)
	return strings.HasPrefix(banner, "220")
}

// readBanner returns the first line of an SMTP server, or what came of it, and says goodbye.
func readBanner(c net.Conn, within time.Duration) string {
	_ = c.SetDeadline(time.Now().Add(within))
	line := make([]byte, 0, 512)
	b := make([]byte, 1)
	for len(line) < cap(line) {
		if _, err := c.Read(b); err != nil || b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	_, _ = io.WriteString(c, "QUIT\r\n")
	return strings.TrimRight(strings.ToValidUTF8(string(line), "?"), "\r")
}
