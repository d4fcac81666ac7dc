package mtasts

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Mode is how a policy is to be applied (RFC 8461 section 5).
type Mode string

// The modes of a policy.
const (
	Enforce Mode = "enforce" // mail is not delivered unless the server is listed and its certificate is valid
	Testing Mode = "testing" // failures are reported, and mail is delivered all the same
	None    Mode = "none"    // the domain has no policy any more
)

// What is read of a policy (RFC 8461 section 3.2).
const (
	maxPolicy = 64 << 10
	maxAge    = 31557600 * time.Second // about a year; longer ages are an error
	maxHosts  = 1000
)

// Policy is the policy of one domain.
type Policy struct {
	ID     string // of the DNS record with which it was found
	Mode   Mode
	MaxAge time.Duration
	Hosts  []string // patterns of mail servers, as lower-case names; the first label may be *
}

// ErrInvalid is wrapped by the errors about policies that violate RFC 8461.
var ErrInvalid = errors.New("the MTA-STS policy is not valid")

// Parse reads a policy.
func Parse(text []byte) (Policy, error) {
	if len(text) > maxPolicy {
		return Policy{}, fmt.Errorf("%w: it is longer than %d bytes", ErrInvalid, maxPolicy)
	}
	var p Policy
	seen := map[string]string{}
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.TrimRight(line, "\r \t")
		if line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			return Policy{}, fmt.Errorf("%w: a line has no colon", ErrInvalid)
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if key == "mx" {
			host := strings.ToLower(strings.TrimSuffix(value, "."))
			if !validPattern(host) || len(p.Hosts) == maxHosts {
				return Policy{}, fmt.Errorf("%w: mx is not the name of a host, or there are too many", ErrInvalid)
			}
			p.Hosts = append(p.Hosts, host)
			continue
		}
		if _, again := seen[key]; !again { // the first of several counts
			seen[key] = value
		}
	}
	seconds, err := strconv.ParseUint(seen["max_age"], 10, 31)
	p.Mode, p.MaxAge = Mode(seen["mode"]), time.Duration(seconds)*time.Second
	switch {
	case seen["version"] != "STSv1":
		return Policy{}, fmt.Errorf("%w: its version is not STSv1", ErrInvalid)
	case p.Mode != Enforce && p.Mode != Testing && p.Mode != None:
		return Policy{}, fmt.Errorf("%w: unknown mode", ErrInvalid)
	case err != nil || p.MaxAge > maxAge:
		return Policy{}, fmt.Errorf("%w: max_age is not a number of seconds up to a year", ErrInvalid)
	case len(p.Hosts) == 0 && p.Mode != None:
		return Policy{}, fmt.Errorf("%w: it has no mx", ErrInvalid)
	}
	return p, nil
}

// validPattern reports whether a pattern is the name of a host whose first label may be *.
func validPattern(pattern string) bool {
	labels := strings.Split(strings.TrimPrefix(pattern, "*."), ".")
	return len(pattern) <= 255 && !slices.ContainsFunc(labels, func(l string) bool {
		return l == "" || len(l) > 63 || strings.ContainsFunc(l, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
		})
	})
}

// Lists reports whether the policy lists a mail server. A pattern such as *.example.org lists hosts
// with exactly one more label (RFC 8461 section 4.1).
func (p Policy) Lists(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	_, parent, _ := strings.Cut(host, ".")
	return slices.ContainsFunc(p.Hosts, func(pattern string) bool {
		rest, wild := strings.CutPrefix(pattern, "*.")
		return pattern == host || wild && parent == rest
	})
}

// recordID returns the id in the TXT records at _mta-sts, or false if there is not exactly one record
// of MTA-STS, which means that the domain has no policy (RFC 8461 section 3.1).
func recordID(texts []string) (id string, ok bool) {
	for _, text := range texts {
		if text != "v=STSv1" && !strings.HasPrefix(text, "v=STSv1;") && !strings.HasPrefix(text, "v=STSv1 ") {
			continue
		}
		if ok {
			return "", false
		}
		ok = true
		for field := range strings.SplitSeq(text, ";") {
			if key, value, _ := strings.Cut(strings.TrimSpace(field), "="); strings.TrimSpace(key) == "id" && id == "" {
				id = strings.TrimSpace(value)
			}
		}
	}
	if id == "" || len(id) > 32 || strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) {
		return "", false
	}
	return id, ok
}
