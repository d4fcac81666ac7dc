package classify

import (
	"regexp"
	"strings"
)

// products returns an agent without what describes the device. Programs are named outside comments, as
// name or name/version (RFC 9110 section 10.1.5), or in a comment that introduces a program. The comment
// about the platform also has the model of a device, whose name may be any words: of this comment, only
// what has the form name/version is left.
func products(agent string) string {
	if head := chipset.FindStringIndex(agent); head != nil {
		agent = agent[head[0]:]
	}
	platform := strings.HasPrefix(agent, "Mozilla/") // the first comment is about it
	var b strings.Builder
	for agent != "" {
		start := strings.IndexAny(agent, "([")
		if start < 0 {
			b.WriteString(agent)
			break
		}
		b.WriteString(agent[:start])
		end := start + commentLength(agent[start:])
		if comment := agent[start:end]; device.MatchString(comment) || platform && !introducing.MatchString(comment) {
			writeProducts(&b, comment)
		} else {
			b.WriteString(comment)
		}
		platform = false
		agent = agent[end:]
	}
	return strings.TrimSpace(b.String())
}

// writeProducts writes the names of the programs that a comment about a device also has.
func writeProducts(b *strings.Builder, comment string) {
	for _, field := range strings.FieldsFunc(comment, func(r rune) bool { return strings.ContainsRune("()[];,", r) }) {
		if name := product.FindStringSubmatch(strings.TrimSpace(field)); name != nil {
			b.WriteString("; " + name[1])
		}
	}
}

// commentLength returns the length of the comment, with those inside it, with which a text begins.
func commentLength(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

var (
	// device matches comments that name the model of a device.
	device = regexp.MustCompile(`(?i)\b(android|adr|harmony ?os|openharmony|tizen|kaios|web0s|hbbtv|smart-?tv|windows phone|iphone|ipad)\b|\d+ ?dpi\b|\bfb(an|dv)/`)

	// introducing matches comments that describe a program: those that give an address, that claim to
	// be compatible, and those of desktops, which name no model.
	introducing = regexp.MustCompile(`(?i)\bcompatible\b|https?:|www\.|@|like gecko|\b(windows nt|macintosh|x11|cros)\b`)

	// product matches a field of a comment that names a program.
	product = regexp.MustCompile(`^([A-Za-z][\w.-]*/)[\d.]*\d[\w.]*$`)

	// chipset matches what follows the model in the agents of some phones, which begin with it.
	chipset = regexp.MustCompile(`\bLinux/\S+ Android/`)
)
