package spf

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// part is a piece of a text with macros (section 7).
type part struct {
	macro bool
	text  string // what stands there, or between %{ and }; of %%, %_ and %-, the text that they mean
	fixed bool   // a macro of the latter kind
}

var expansion = regexp.MustCompile(`^([A-Za-z])(\d*)(r|R)?([-.+,/_=]*)$`)

// splitMacros splits a text. The letters c, r and t are only for explanations.
func splitMacros(text string, explaining bool) ([]part, error) {
	var parts []part
	for text != "" {
		percent := strings.IndexByte(text, '%')
		if percent != 0 {
			if percent < 0 {
				percent = len(text)
			}
			parts = append(parts, part{text: text[:percent]})
			text = text[percent:]
			continue
		}
		if len(text) < 2 {
			return nil, errors.New("% stands for itself only as %%")
		}
		if plain, ok := map[byte]string{'%': "%", '_': " ", '-': "%20"}[text[1]]; ok {
			parts = append(parts, part{macro: true, fixed: true, text: plain})
			text = text[2:]
			continue
		}
		inner, rest, closed := strings.Cut(text[1:], "}")
		inner, opened := strings.CutPrefix(inner, "{")
		m := expansion.FindStringSubmatch(inner)
		letters := "slodiphv"
		if explaining {
			letters += "crt"
		}
		if !opened || !closed || m == nil || !strings.Contains(letters, strings.ToLower(m[1])) || m[2] != "" && strings.Trim(m[2], "0") == "" {
			return nil, fmt.Errorf("there is no macro %.20q", text)
		}
		parts = append(parts, part{macro: true, text: inner})
		text = rest
	}
	return parts, nil
}

// expand returns the name of a domain-spec, or "" if it is not a name.
func (c *check) expand(ctx context.Context, spec, domain string) string {
	parts, err := splitMacros(spec, false)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		if !p.macro || p.fixed {
			b.WriteString(p.text)
		} else {
			b.WriteString(c.macro(ctx, p.text, domain))
		}
	}
	name := strings.TrimSuffix(b.String(), ".")
	for len(name) > maxName { // section 7.3
		_, shorter, ok := strings.Cut(name, ".")
		if !ok {
			return ""
		}
		name = shorter
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > maxLabel {
			return ""
		}
	}
	return name
}

func (c *check) macro(ctx context.Context, text, domain string) string {
	m := expansion.FindStringSubmatch(text)
	value := ""
	switch strings.ToLower(m[1]) {
	case "s":
		value = c.local + "@" + c.sender
	case "l":
		value = c.local
	case "o":
		value = c.sender
	case "d":
		value = domain
	case "i":
		value = dotted(c.ip)
	case "p":
		value = c.validated(ctx, domain)
	case "v":
		value = "in-addr"
		if c.ip.Is6() {
			value = "ip6"
		}
	case "h":
		value = c.helo
	}
	delimiters := m[4]
	if delimiters == "" {
		delimiters = "."
	}
	labels := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(delimiters, r) })
	if m[3] != "" {
		slices.Reverse(labels)
	}
	if n, err := strconv.Atoi(m[2]); err == nil && n < len(labels) {
		labels = labels[len(labels)-n:]
	}
	value = strings.Join(labels, ".")
	if m[1][0] < 'a' {
		value = strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	}
	return value
}

// dotted returns an address with dots: of IPv6, a dot between each two hexadecimal digits.
func dotted(ip netip.Addr) string {
	if ip.Is4() {
		return ip.String()
	}
	return strings.Join(strings.Split(strings.ReplaceAll(ip.StringExpanded(), ":", ""), ""), ".")
}
