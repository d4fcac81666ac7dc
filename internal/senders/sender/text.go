package sender

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/mail/address"
)

// setLine sets *to to a single line of text, if given. It must not contain line breaks, since it
// may be used in a header.
func setLine(p *fault.Problems, path string, to, from *string, most int) {
	if from == nil {
		return
	}
	*to = norm.NFC.String(strings.TrimSpace(*from))
	if utf8.RuneCountInString(*to) > most || !utf8.ValidString(*to) || strings.ContainsFunc(*to, isControl) {
		p.Add(path, "must be at most "+strconv.Itoa(most)+" characters on one line")
	}
}

// setText sets *to to text of several lines, if given.
func setText(p *fault.Problems, path string, to, from *string, most int) {
	if from == nil {
		return
	}
	*to = norm.NFC.String(strings.TrimSpace(*from))
	if utf8.RuneCountInString(*to) > most || !utf8.ValidString(*to) || strings.ContainsRune(*to, 0) {
		p.Add(path, "must be at most "+strconv.Itoa(most)+" characters")
	}
}

// isControl includes the separators that some programs treat as line breaks.
func isControl(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// hostPort returns a host, with or without a port, as stored. Hosts without a dot, and IP
// addresses, are for machines without DNS.
func hostPort(s string) (string, error) {
	host, port := strings.ToLower(strings.TrimSpace(s)), ""
	if at := strings.LastIndexByte(host, ':'); at >= 0 && at == strings.IndexByte(host, ':') || strings.Contains(host, "]:") {
		host, port = host[:at], host[at:]
		if n, err := strconv.Atoi(port[1:]); err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port[1:] {
			return "", &address.Error{Reason: "the port is not a number from 1 to 65535"}
		}
	}
	if bare, ok := strings.CutPrefix(host, "["); ok {
		bare, ok = strings.CutSuffix(bare, "]")
		ip, err := netip.ParseAddr(bare)
		if !ok || err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", &address.Error{Reason: "not a host name or an address"}
		}
		return "[" + ip.String() + "]" + port, nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() || host == "localhost" {
		return host + port, nil
	}
	name, err := address.Hostname(host)
	if err != nil {
		return "", err
	}
	return name + port, nil
}
