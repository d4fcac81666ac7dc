package liquid

import "strings"

// tokenKind is the kind of a token of an expression.
type tokenKind int

const (
	tokenEnd     tokenKind = iota
	tokenWord              // a name or keyword
	tokenNumber            // -12 or 1.5
	tokenString            // text is the content of the quotes
	tokenCompare           // == != <> < > <= >=
	tokenRange             // ..
	tokenMark              // one of | . : , = [ ] ( )
	tokenBad               // text is the error
)

type token struct {
	kind tokenKind
	text string
}

// is reports whether the token is the given mark.
func (t token) is(mark string) bool { return t.kind == tokenMark && t.text == mark }

// word reports whether the token is the given word.
func (t token) word(w string) bool { return t.kind == tokenWord && t.text == w }

// String returns the token for an error message.
func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the tag"
	case tokenBad:
		return t.text
	}
	return `"` + t.text + `"`
}

// lexer splits the markup of a tag into tokens.
type lexer struct {
	src string
	pos int
}

func (l *lexer) next() token {
	src := strings.TrimLeftFunc(l.src[l.pos:], isSpace)
	l.pos = len(l.src) - len(src)
	if src == "" {
		return token{kind: tokenEnd}
	}
	t := scanToken(src)
	switch t.kind {
	case tokenString:
		l.pos += len(t.text) + 2
	case tokenBad:
		l.pos = len(l.src)
	default:
		l.pos += len(t.text)
	}
	return t
}

func scanToken(src string) token {
	c := src[0]
	switch {
	case isDigit(c), c == '-' && len(src) > 1 && isDigit(src[1]):
		return token{tokenNumber, src[:numberLen(src)]}
	case isWord(c):
		return token{tokenWord, src[:wordLen(src)]}
	case c == '"' || c == '\'':
		end := strings.IndexByte(src[1:], c)
		if end < 0 {
			return token{tokenBad, "a text without its closing quote"}
		}
		return token{tokenString, src[1 : 1+end]}
	case strings.HasPrefix(src, ".."):
		return token{tokenRange, ".."}
	}
	for _, op := range []string{"==", "!=", "<>", "<=", ">=", "<", ">"} {
		if strings.HasPrefix(src, op) {
			return token{tokenCompare, op}
		}
	}
	if strings.IndexByte("|.:,=[]()", c) >= 0 {
		return token{tokenMark, src[:1]}
	}
	for _, r := range src {
		return token{tokenBad, `"` + string(r) + `"`}
	}
	return token{kind: tokenEnd}
}

func numberLen(src string) int {
	digits := func(n int) int {
		for n < len(src) && isDigit(src[n]) {
			n++
		}
		return n
	}
	n := digits(1)
	if n+1 < len(src) && src[n] == '.' && isDigit(src[n+1]) {
		return digits(n + 1)
	}
	return n
}

// wordLen returns the length of a name, which may contain hyphens and end in a question mark.
func wordLen(src string) int {
	n := 1
	for n < len(src) && (isWord(src[n]) || src[n] == '-') {
		n++
	}
	if n < len(src) && src[n] == '?' {
		n++
	}
	return n
}
