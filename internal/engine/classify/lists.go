package classify

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"regexp"
	"strings"

	"github.com/packetboat/packetboat/internal/message/track"
)

// Lists are the networks and agents that rules use: the bundled ones, and those of an operator. They
// are immutable; nil means the bundled ones.
type Lists struct {
	networks networks
	machine  *regexp.Regexp // agents of an operator's list; nil: none
	people   *regexp.Regexp // exceptions
}

// Limits of a file of lists.
const (
	maxListLine     = 1000 // bytes
	maxListEntries  = 200_000
	maxListAgents   = 5000
	maxListMistakes = 20
)

// LoadLists reads the lists of a file, in addition to the bundled ones. The error names every mistake
// with its line, up to some number of them.
func LoadLists(name string) (*Lists, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return parseLists(f, name)
}

// listKinds are the first words of lines about networks.
var listKinds = map[string]networkKind{
	"scanner-network": scannerNetwork,
	"cloud-network":   cloudNetwork,
	"people-network":  peopleNetwork,
}

// parseLists parses the lines of a file: a kind, a network or the words of an agent, and for networks
// an optional name. Text after # is a comment.
func parseLists(r io.Reader, name string) (*Lists, error) {
	l := &Lists{networks: bundledTable()}
	agents := map[string][]string{}
	var mistakes []error
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxListLine)
	n, entries := 0, 0
	for lines.Scan() && len(mistakes) < maxListMistakes {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if entries++; entries > maxListEntries {
			mistakes = append(mistakes, fmt.Errorf("%s:%d: at most %d entries are allowed", name, n, maxListEntries))
			break
		}
		if err := l.entry(fields[0], fields[1:], agents); err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s:%d: %w", name, n, err))
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		mistakes = append(mistakes, fmt.Errorf("%s:%d: a line has at most %d bytes", name, n+1, maxListLine-1))
	} else if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	l.machine, l.people = agentPattern(agents["machine-agent"]), agentPattern(agents["people-agent"])
	return l, nil
}

// entry adds one line.
func (l *Lists) entry(kind string, rest []string, agents map[string][]string) error {
	if kind == "machine-agent" || kind == "people-agent" {
		words := strings.Join(rest, " ")
		switch {
		case len(words) < 3:
			return fmt.Errorf("%s needs at least three characters of a user agent", kind)
		case len(agents[kind]) == maxListAgents:
			return fmt.Errorf("at most %d lines with %s are allowed", maxListAgents, kind)
		}
		agents[kind] = append(agents[kind], words)
		return nil
	}
	is, ok := listKinds[kind]
	if !ok {
		return fmt.Errorf("%q is not a kind of entry; write scanner-network, cloud-network, people-network, machine-agent or people-agent", kind)
	}
	if len(rest) == 0 {
		return fmt.Errorf("%s needs a network such as 192.0.2.0/24", kind)
	}
	p, err := netip.ParsePrefix(rest[0])
	if a, bad := netip.ParseAddr(rest[0]); err != nil && bad == nil {
		p, err = netip.PrefixFrom(a, a.BitLen()), nil
	}
	switch {
	case err != nil || p.Addr().Zone() != "" || p.Addr().Is4In6():
		return fmt.Errorf("%q is not a network such as 192.0.2.0/24 or 2001:db8::/32", rest[0])
	case p != p.Masked():
		return fmt.Errorf("%s has bits after its prefix; write %s", p, p.Masked())
	case p.Bits() < 4:
		return fmt.Errorf("%s is too large a network", p)
	}
	name := strings.Join(rest[1:], " ")
	if name == "" {
		name = p.String()
	}
	l.networks.add(p, network{kind: is, name: name})
	return nil
}

// agentPattern returns a pattern that matches agents with one of these texts between word boundaries,
// in any case.
func agentPattern(texts []string) *regexp.Regexp {
	if len(texts) == 0 {
		return nil
	}
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = strings.ReplaceAll(regexp.QuoteMeta(t), " ", `\s+`)
	}
	return regexp.MustCompile(`(?i)(?:^|[^a-z0-9])(?:` + strings.Join(quoted, "|") + `)(?:$|[^a-z0-9])`)
}

func (l *Lists) find(ip string) network {
	if l == nil {
		l = bundled
	}
	return l.networks.find(ip)
}

// NetworkOf describes the network of an address for people: its prefix, and its operator if that is in
// a list. It is empty for no address.
func (l *Lists) NetworkOf(ip string) string {
	if ip == "" {
		return ""
	}
	if name := l.find(ip).name; name != "" {
		return track.Network(ip) + " " + name
	}
	return track.Network(ip)
}

// isMachine reports whether an agent is empty or that of a program.
func (l *Lists) isMachine(agent string) bool {
	if l != nil && l.people != nil && l.people.MatchString(agent) {
		return false
	}
	return isMachine(agent) || l != nil && l.machine != nil && l.machine.MatchString(agent)
}
