package revision

import (
	"slices"
	"strconv"
	"strings"
)

// Condition is the revisions that a write accepts. The zero Condition accepts all.
type Condition struct {
	listed   bool // only those in accepted
	accepted []int64
}

// maxTags is how many entity tags a condition may list.
const maxTags = 100

// Parse parses the value of If-Match: "*", or entity tags that are separated by commas. Weak tags are
// accepted like strong ones, since proxies that compress answers make them weak. Tags that are no
// revision match none. ok is false if the value is malformed or has more than 100 tags.
func Parse(value string) (c Condition, ok bool) {
	if strings.Trim(value, " \t") == "*" {
		return Condition{}, true
	}
	c.listed = true
	for n := 0; ; {
		value = strings.TrimLeft(value, " \t,") // empty elements of a list are allowed (RFC 9110, section 5.6.1)
		if value == "" {
			return c, n > 0
		}
		if n++; n > maxTags {
			return Condition{}, false
		}
		value = strings.TrimPrefix(value, "W/")
		if !strings.HasPrefix(value, `"`) {
			return Condition{}, false
		}
		tag, rest, closed := strings.Cut(value[1:], `"`)
		rest = strings.TrimLeft(rest, " \t")
		if !closed || strings.ContainsFunc(tag, notInTag) || rest != "" && rest[0] != ',' {
			return Condition{}, false
		}
		if number, err := strconv.ParseInt(tag, 10, 64); err == nil && Tag(number) == `"`+tag+`"` {
			c.accepted = append(c.accepted, number)
		}
		value = rest
	}
}

// notInTag reports whether an entity tag cannot contain r (RFC 9110, section 8.8.3).
func notInTag(r rune) bool { return r <= ' ' || r == 0x7f }

// Tag returns the entity tag of a revision.
func Tag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

func (c Condition) empty() bool { return !c.listed }

// Compare returns ErrConflict, with the present revision, if the condition does not accept it.
func (c Condition) Compare(present Conflict) error {
	if c.empty() || slices.Contains(c.accepted, present.Revision) {
		return nil
	}
	return ErrConflict.With(present)
}
