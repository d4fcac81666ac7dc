package dmarc

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Disposition is what the owner of a domain asks receivers to do with mail that fails.
type Disposition string

// The dispositions.
const (
	None       Disposition = "none"
	Quarantine Disposition = "quarantine"
	Reject     Disposition = "reject"
)

// MaxRecord is the length of a record that is still read, in bytes.
const MaxRecord = 4096

// Record is a policy record (RFC 9989 section 4.7).
type Record struct {
	Policy Disposition // p; None if it is missing or not valid
	// Ignored means that receivers act as without DMARC: p is missing, or p, sp or np is not valid, and nobody
	// gets reports (section 4.10.1).
	Ignored     bool
	Subdomains  Disposition // sp: for names below that have no record; empty: as Policy
	Nonexistent Disposition // np: for names below that do not exist; empty: as Subdomains
	StrictDKIM  bool        // adkim=s
	StrictSPF   bool        // aspf=s
	Test        bool        // t=y: receivers apply the next weaker disposition
	PublicSuffix
	Reports  []string // rua: URIs that get aggregate reports
	Problems []string // what is wrong or obsolete, a clause each
}

// PublicSuffix is the value of the psd tag: whether names below belong to others.
type PublicSuffix string

// The values of the tag. A record without it has UnknownSuffix.
const (
	IsSuffix      PublicSuffix = "y"
	IsNotSuffix   PublicSuffix = "n"
	UnknownSuffix PublicSuffix = "u"
)

// Parse parses the text of a TXT record. It reports false if the text is not a record of this
// version. Unknown tags are ignored.
func Parse(text string) (Record, bool) {
	version, rest, _ := strings.Cut(text, ";")
	if name, value, ok := cutTag(version); !ok || name != "v" || text[0] == ' ' || text[0] == '\t' || value != "DMARC1" || len(text) > MaxRecord {
		return Record{}, false
	}
	r := Record{PublicSuffix: UnknownSuffix}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(rest, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := cutTag(part)
		switch {
		case !ok:
			r.problem("%q is not a tag", strings.TrimSpace(part))
		case seen[name]:
			r.problem("the tag %s is there twice", name)
		default:
			seen[name] = true
			r.set(name, value)
		}
	}
	if !seen["p"] {
		r.problem("the tag p is missing")
	}
	if r.Policy == "" || seen["sp"] && r.Subdomains == "" || seen["np"] && r.Nonexistent == "" {
		r.Policy, r.Subdomains, r.Nonexistent = None, "", ""
		if r.Ignored = !slices.ContainsFunc(r.Reports, isURI); r.Ignored {
			r.problem("receivers act as without a record, since no policy is valid and nobody gets reports")
		} else {
			r.problem("receivers act as for p=none")
		}
	}
	return r, true
}

// isURI reports whether a text is a URI for reports.
func isURI(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return false
	}
	if u.Scheme == "mailto" {
		at := strings.LastIndexByte(u.Opaque, '@')
		return at > 0 && at < len(u.Opaque)-1
	}
	return u.Host != ""
}

// cutTag splits "name = value" and removes white space.
func cutTag(part string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(part, "=")
	name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
	return name, value, ok && name != ""
}

func (r *Record) set(name, value string) {
	switch name {
	case "p":
		r.Policy = r.disposition(name, value)
	case "sp":
		r.Subdomains = r.disposition(name, value)
	case "np":
		r.Nonexistent = r.disposition(name, value)
	case "adkim":
		r.StrictDKIM = r.choice(name, value, "s", "r")
	case "aspf":
		r.StrictSPF = r.choice(name, value, "s", "r")
	case "t":
		r.Test = r.choice(name, value, "y", "n")
	case "psd":
		switch s := PublicSuffix(strings.ToLower(value)); s {
		case IsSuffix, IsNotSuffix, UnknownSuffix:
			r.PublicSuffix = s
		default:
			r.problem("psd=%s is none of y, n and u", value)
		}
	case "rua":
		for uri := range strings.SplitSeq(value, ",") {
			if uri = strings.TrimSpace(uri); uri != "" {
				r.Reports = append(r.Reports, uri)
			}
		}
	case "pct", "rf", "ri":
		r.problem("the tag %s was removed from the standard: some receivers still use it, others ignore it", name)
	}
}

func (r *Record) disposition(name, value string) Disposition {
	switch d := Disposition(strings.ToLower(value)); d {
	case None, Quarantine, Reject:
		return d
	}
	r.problem("%s=%s is none of none, quarantine and reject", name, value)
	return ""
}

// choice reports whether a value is the first of the two that a tag may have.
func (r *Record) choice(name, value, yes, no string) bool {
	value = strings.ToLower(value)
	if value != yes && value != no {
		r.problem("%s=%s is neither %s nor %s", name, value, yes, no)
	}
	return value == yes
}

func (r *Record) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// weaker returns the disposition that a test applies.
func (d Disposition) weaker() Disposition {
	if d == Reject {
		return Quarantine
	}
	return None
}
