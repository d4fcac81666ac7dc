package revision_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// accepted returns which of the revisions 0 to 20 a condition accepts.
func accepted(c revision.Condition) string {
	var list []string
	for n := range int64(21) {
		if err := c.Compare(revision.Conflict{Revision: n}); err == nil {
			list = append(list, fmt.Sprint(n))
		} else if !errors.Is(err, revision.ErrConflict) {
			return err.Error()
		}
	}
	return strings.Join(list, " ")
}

func TestConditions(t *testing.T) {
	t.Parallel()
	all := accepted(revision.Condition{})
	for value, want := range map[string]string{
		`*`: all, ` * `: all, `"7"`: "7", `W/"7"`: "7", `"7", "9"`: "7 9", ` "7"	,,W/"9" , `: "7 9", `"7","7"`: "7",
		`""`: "", `"x"`: "", `"007"`: "", `"7.0"`: "", `"+7"`: "", `"99999999999999999999"`: "", `"é", "7"`: "7", `"*"`: "", `"a,b", "3"`: "3",
		strings.Repeat(`"7",`, 100): "7",
	} {
		c, ok := revision.Parse(value)
		if got := accepted(c); !ok || got != want {
			t.Errorf("%.40s accepts %q, %v; want %q", value, got, ok, want)
		}
	}
	for _, value := range []string{``, ` `, `,`, `7`, `"7`, `7"`, `"7" "9"`, `"7"x`, `w/"7"`, `W/ "7"`, `W/7`, `*, "7"`, `"7", *`, "\"a\x01\"", `"a b"`, strings.Repeat(`"7",`, 101)} {
		if _, ok := revision.Parse(value); ok {
			t.Errorf("%.40q is accepted", value)
		}
	}
}

// A condition that consists of a tag accepts its revision and no other.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`*`, `"7"`, `W/"7", "x"`, `"7" "8"`, `,,"`, `"a`, "\"\x00\""} {
		f.Add(seed, int64(7))
	}
	f.Fuzz(func(t *testing.T, value string, n int64) {
		c, ok := revision.Parse(value)
		if ok && strings.Trim(value, " \t") != "*" && c.Compare(revision.Conflict{Revision: n}) == nil && !strings.Contains(value, revision.Tag(n)) {
			t.Errorf("%q accepts %d", value, n)
		}
		if c, ok := revision.Parse(revision.Tag(n)); !ok || c.Compare(revision.Conflict{Revision: n}) != nil || c.Compare(revision.Conflict{Revision: n + 1}) == nil {
			t.Errorf("the tag %s does not accept just %d", revision.Tag(n), n)
		}
	})
}
