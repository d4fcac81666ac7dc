package spf

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Record is a policy. Terms are in lower case, apart from their domains.
type Record struct {
	Mechanisms []Mechanism
	Redirect   string // a domain with macros; empty: none
}

// Kind is the name of a mechanism.
type Kind string

// The mechanisms (section 5).
const (
	All     Kind = "all"
	Include Kind = "include"
	A       Kind = "a"
	MX      Kind = "mx"
	PTR     Kind = "ptr"
	IP4     Kind = "ip4"
	IP6     Kind = "ip6"
	Exists  Kind = "exists"
)

// Queries reports whether evaluation of the mechanism asks the DNS, which counts against MaxQueries.
func (k Kind) Queries() bool { return k != All && k != IP4 && k != IP6 }

// Mechanism is a term that matches the addresses of some hosts.
type Mechanism struct {
	Result  Result // if it matches
	Kind    Kind
	Domain  string       // with macros; empty: that of the record
	Network netip.Prefix // of IP4 and IP6
	Bits4   int          // of A and MX: how many bits of an address must be equal
	Bits6   int
}

// Is reports whether a TXT record is an SPF record (section 4.5).
func Is(text string) bool {
	version, _, _ := strings.Cut(text, " ")
	return strings.EqualFold(version, "v=spf1")
}

// Permissive reports whether the record lets everyone send.
func (r Record) Permissive() bool {
	return slices.ContainsFunc(r.Mechanisms, func(m Mechanism) bool { return m.Kind == All && m.Result == Pass })
}

// Parse parses a record. Unlike evaluation, which ends at the first match, it finds a mistake anywhere:
// receivers answer permerror then (section 4.6).
func Parse(text string) (Record, error) {
	var r Record
	if !Is(text) {
		return r, errors.New("an SPF record begins with v=spf1")
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return r, errors.New("an SPF record has only ASCII characters, and spaces between its terms")
		}
	}
	seen := map[string]bool{} // modifiers that may be there once
	for term := range strings.SplitSeq(text[len("v=spf1"):], " ") {
		if term == "" {
			continue
		}
		if m := modifier.FindStringSubmatch(term); m != nil {
			if err := r.modify(strings.ToLower(m[1]), m[2], seen); err != nil {
				return r, fmt.Errorf("the term %s: %w", term, err)
			}
			continue
		}
		m, err := parseMechanism(term)
		if err != nil {
			return r, fmt.Errorf("the term %s: %w", term, err)
		}
		r.Mechanisms = append(r.Mechanisms, m)
	}
	return r, nil
}

var modifier = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9._-]*)=(.*)$`)

// modify reads a modifier (section 6).
func (r *Record) modify(name, value string, seen map[string]bool) error {
	if name != "redirect" && name != "exp" {
		_, err := splitMacros(value, true)
		return err
	}
	if seen[name] {
		return fmt.Errorf("%s= may be there only once", name)
	}
	seen[name] = true
	if name == "redirect" {
		r.Redirect = value
	}
	return checkDomain(value)
}

var results = map[byte]Result{'+': Pass, '-': Fail, '~': SoftFail, '?': Neutral}

func parseMechanism(term string) (Mechanism, error) {
	m := Mechanism{Result: Pass, Bits4: 32, Bits6: 128}
	text := term
	if result, ok := results[term[0]]; ok {
		m.Result, text = result, term[1:]
	}
	end := strings.IndexAny(text, ":/")
	if end < 0 {
		end = len(text)
	}
	m.Kind = Kind(strings.ToLower(text[:end]))
	argument, given := strings.CutPrefix(text[end:], ":")
	var err error
	switch m.Kind {
	case All:
		if text[end:] != "" {
			return m, errors.New("all has no argument")
		}
		return m, nil
	case IP4, IP6:
		m.Network, err = parseNetwork(argument, m.Kind == IP6)
		return m, err
	case A, MX:
		if argument, err = m.cutBits(argument); err != nil {
			return m, err
		}
		given = given && text[end:end+1] == ":"
	case Include, Exists:
		if !given {
			return m, errors.New("a domain is missing")
		}
	case PTR:
		if !given && text[end:] != "" {
			return m, errors.New("ptr has no length of a network")
		}
	default:
		return m, errors.New("there is no such term")
	}
	if !given {
		if argument != "" {
			return m, errors.New("it has a superfluous character")
		}
		return m, nil
	}
	m.Domain = argument
	return m, checkDomain(argument)
}

var lengths = regexp.MustCompile(`^(.*?)(?:/(\d+))?(?://(\d+))?$`)

// cutBits removes the lengths of networks from the end of an argument (section 5.3).
func (m *Mechanism) cutBits(argument string) (string, error) {
	parts := lengths.FindStringSubmatch(argument)
	var err error
	if parts[2] != "" {
		m.Bits4, err = parseBits(parts[2], 32)
	}
	if parts[3] != "" && err == nil {
		m.Bits6, err = parseBits(parts[3], 128)
	}
	return parts[1], err
}

func parseBits(text string, limit int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n > limit || len(text) > 1 && text[0] == '0' {
		return 0, fmt.Errorf("/%s is not from /0 to /%d", text, limit)
	}
	return n, nil
}

// parseNetwork parses an address or a network; bits after its length do not matter.
func parseNetwork(text string, six bool) (netip.Prefix, error) {
	address, length, limited := strings.Cut(text, "/")
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Is6() != six || ip.Zone() != "" {
		return netip.Prefix{}, errors.New("an address or a network is missing")
	}
	bits := ip.BitLen()
	if limited {
		if bits, err = parseBits(length, bits); err != nil {
			return netip.Prefix{}, err
		}
	}
	return ip.Prefix(bits)
}

var errDomain = errors.New("a domain such as spf.example.org is missing")

// topLabel is how a domain ends (section 7.1).
var topLabel = regexp.MustCompile(`\.([A-Za-z0-9]*[A-Za-z][A-Za-z0-9]*|[A-Za-z0-9]+-[A-Za-z0-9-]*[A-Za-z0-9])\.?$`)

// checkDomain checks a domain-spec: text with macros that ends with a macro or with a top-level label.
func checkDomain(text string) error {
	parts, err := splitMacros(text, false)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return errDomain
	}
	if last := parts[len(parts)-1]; last.macro {
		return nil
	} else if !topLabel.MatchString(last.text) {
		return errDomain
	}
	return nil
}
