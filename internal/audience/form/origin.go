package form

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/address"
)

// normalizeOrigin returns an origin as browsers send it (RFC 6454 section 6.2): scheme, host and a
// port that is not the scheme's default.
func normalizeOrigin(text string) (string, error) {
	bad := errors.New("must be an origin such as https://example.com: scheme, host and port, nothing else")
	u, err := url.Parse(strings.ToLower(strings.TrimSpace(text)))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.User != nil || strings.HasSuffix(text, "#") {
		return "", bad
	}
	host, port := u.Hostname(), u.Port()
	if !isLocal(host) {
		if host, err = address.Hostname(host); err != nil {
			return "", bad
		}
	}
	if strings.HasSuffix(u.Host, ":") {
		return "", bad
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port) {
		return "", bad
	}
	if port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		return u.Scheme + "://" + host, nil
	}
	return u.Scheme + "://" + host + ":" + port, nil
}

// isLocal reports whether a host is one of the developer's own, which is no name in the DNS.
func isLocal(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// Admits reports whether a page of an origin may submit the form. An empty origin is that of a
// request without one.
func (f Form) Admits(origin string) bool {
	return len(f.Origins) == 0 || origin != "" && slices.Contains(f.Origins, origin)
}
