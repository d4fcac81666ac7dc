package phrase_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/phrase"
)

// expressions has every kind of syntax.
var expressions = []string{
	`user unknown`, `over ?quota`, `\bspam`, `\bspf\b`, `mailbox (is |was )?full`, `(user|recipient)s? (not|could ?n.t be) (found|known)`, `too many (\w+ )?(connections|messages)`,
	`r[ea]y[- ]?list`, `(\S+ ){0,3}?closed`, `^start`, `end$`, `(?i)Case`, `a+b`, `(ab){2,3}`, `[0-9]{3}x`, `x*`, `[a-z]q`, `переполнен`, `邮箱(空间不足|已满)`, `(a|b|)c`, `(?m)^line`, `bl0?[0-9]{1,3}\b`, `aaaa|aa`, `.`,
}

// Executing only the expressions that have literals in a text gives the same as executing all.
func TestHasIsTheSameAsMatching(t *testing.T) {
	t.Parallel()
	set := phrase.Compile(groupsOf(expressions))
	var pieces []string
	for _, x := range expressions {
		pieces = append(pieces, strings.NewReplacer(`\b`, "", "?", "", "(", "", ")", "", "|", " ", ".", "'", `\S+ `, "w ", `\w+ `, "w ").Replace(x))
	}
	pieces = append(pieces, "user", " ", "\n", "not", "found", "full", "quota", "spa", "m", "aab", "abab", "bl12", "grey list", "\xff", "Line", "\nline")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		compare(t, set, expressions, text)
	})
}

func FuzzHas(f *testing.F) {
	f.Add(`(user|recipient) (not|un)known`, "the user unknown")
	f.Add(`a(b|c?)d{2,4}`, "acdd")
	f.Add(`\bx[^a]y?`, " xz")
	f.Fuzz(func(t *testing.T, expression, text string) {
		if _, err := regexp.Compile(expression); err != nil || len(expression) > 200 || len(text) > 1000 {
			return
		}
		one := []string{expression, `user`}
		compare(t, phrase.Compile(groupsOf(one)), one, text)
	})
}

func groupsOf(list []string) (groups [][]string) {
	for _, x := range list {
		groups = append(groups, []string{x})
	}
	return groups
}

func compare(t interface{ Errorf(string, ...any) }, set *phrase.Set, list []string, text string) {
	found := set.Find(text)
	for i, x := range list {
		want := regexp.MustCompile(x).MatchString(text)
		for range 2 { // the second call uses the result of the first
			if got := found.Has(i); got != want {
				t.Errorf("%q in %q: %v, want %v", x, text, got, want)
			}
		}
	}
}

func TestGroupsMatchByAnyExpression(t *testing.T) {
	t.Parallel()
	set := phrase.Compile([][]string{{"cat", "dog.?house"}, nil, {"cow"}})
	found := set.Find("a dog house")
	if !found.Has(0) || found.Has(1) || found.Has(2) {
		t.Errorf("groups: %v %v %v", found.Has(0), found.Has(1), found.Has(2))
	}
	if found.Executed != 1 {
		t.Errorf("%d expressions were executed", found.Executed)
	}
}
