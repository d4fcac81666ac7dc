package markup

import "strings"

// behind returns where the first mark at or after from ends, and else where the
// text does.
func behind(m string, from int, mark string) int {
	if from >= len(m) {
		return len(m)
	}
	n := strings.Index(m[from:], mark)
	if n < 0 {
		return len(m)
	}
	return from + n + len(mark)
}

// commentEnd returns where the comment ends whose text begins at from: behind
// --> or --!>, or at once behind > or ->.
func commentEnd(m string, from int) int {
	for _, abrupt := range []string{">", "->"} {
		if strings.HasPrefix(m[from:], abrupt) {
			return from + len(abrupt)
		}
	}
	for i := from; ; {
		i = behind(m, i, ">")
		if text := strings.TrimSuffix(m[from:i], ">"); i == len(m) || strings.HasSuffix(text, "--") || strings.HasSuffix(text, "--!") {
			return i
		}
	}
}

// rawTextEnd returns where the text of an element ends that holds only text: at
// the end tag.
func rawTextEnd(m string, from int, name string) int {
	switch name {
	case "plaintext":
		return len(m)
	case "script":
		return scriptEnd(m, from)
	}
	for i := from; ; i++ {
		n := strings.IndexByte(m[i:], '<')
		if n < 0 {
			return len(m)
		}
		if i += n; startsTag(m[i:], "</", name) {
			return i
		}
	}
}

// scriptEnd returns where a script ends. In <!-- … --> a script may hold another
// one (HTML Living Standard, section 4.12.1.3).
func scriptEnd(m string, from int) int {
	escaped, nested := false, false
	for i := from; i < len(m); i++ {
		rest := m[i:]
		switch {
		case rest[0] == '-':
			if escaped && strings.HasPrefix(rest, "-->") {
				escaped, nested = false, false
			}
		case rest[0] != '<':
		case startsTag(rest, "</", "script"):
			if !nested {
				return i
			}
			nested = false
		case escaped && !nested:
			nested = startsTag(rest, "<", "script")
		case !escaped && strings.HasPrefix(rest, "<!--"):
			escaped = true
			i++ // <!--> begins and ends it
		}
	}
	return len(m)
}

// startsTag reports whether m starts with the mark, the name in any case, and what
// ends a name.
func startsTag(m, mark, name string) bool {
	n := len(mark) + len(name)
	if len(m) <= n || m[:len(mark)] != mark || !(IsSpace(m[n]) || m[n] == '/' || m[n] == '>') {
		return false
	}
	for i := range len(name) {
		if c := m[len(mark)+i]; c != name[i] && !(IsLetter(c) && c|0x20 == name[i]) {
			return false
		}
	}
	return true
}

// nameEnd returns where the name of a tag ends that begins at i.
func nameEnd(m string, i int) int {
	for i < len(m) && !IsSpace(m[i]) && m[i] != '/' && m[i] != '>' {
		i++
	}
	return i
}

// attributeNameEnd returns where the name of an attribute ends that begins at
// start: before white space, a / or the stop. A = may be its first byte.
func attributeNameEnd(m string, start int, stop byte) int {
	i := start
	for i < len(m) && !IsSpace(m[i]) && m[i] != '/' && m[i] != stop && (m[i] != '=' || i == start) {
		i++
	}
	return i
}

// valueStart returns where the value of an attribute begins whose name ends at
// i, and whether it has one.
func valueStart(m string, i int) (int, bool) {
	j := skipSpace(m, i)
	if j == len(m) || m[j] != '=' {
		return i, false
	}
	return skipSpace(m, j+1), true
}

func unquotedEnd(m string, i int) int {
	for i < len(m) && !IsSpace(m[i]) && m[i] != '>' {
		i++
	}
	return i
}

func skipSpace(m string, i int) int {
	for i < len(m) && IsSpace(m[i]) {
		i++
	}
	return i
}

// IsSpace reports whether c is white space in HTML.
func IsSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// IsLetter reports whether c is a letter of ASCII.
func IsLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// lower returns a name with its ASCII letters in lower case.
func lower(name string) string {
	for i := range len(name) {
		if c := name[i]; 'A' <= c && c <= 'Z' {
			b := []byte(name)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return name
}
