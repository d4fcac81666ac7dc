package sender

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/mail/address"
)

// setLine sets *to from a single line of text, if one was given. A line that
// may end up in a header holds no line break.
func setLine(p *fault.Problems, path string, to, from *string, most int) {
	if from == nil {
		return
	}
	*to = norm.NFC.String(strings.TrimSpace(*from))
	if utf8.RuneCountInString(*to) > most || !utf8.ValidString(*to) || strings.ContainsFunc(*to, isControl) {
		p.Add(path, "must be at most "+strconv.Itoa(most)+" characters on one line")
	}
}

// setText sets *to from text of several lines, if one was given.
func setText(p *fault.Problems, path string, to, from *string, most int) {
	if from == nil {
		return
	}
	*to = norm.NFC.String(strings.TrimSpace(*from))
	if utf8.RuneCountInString(*to) > most || !utf8.ValidString(*to) || strings.ContainsRune(*to, 0) {
		p.Add(path, "must be at most "+strconv.Itoa(most)+" characters")
	}
}

// isControl also counts the separators that some programs take for line breaks.
func isControl(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// hostPort returns s, a host with or without a port, as it is stored. Hosts
// without a dot and addresses are for machines without DNS.
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
