package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Names of the server that pages have words for, in tables that are read by these names.
func TestEveryNameOfTheServerHasWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, source string
		names        string // the first group of it is a name
		except       string
		words        string // the file with the table
		key          func(name string) string
	}{
		{
			"event of a contact", "internal/account/journal/journal.go", `Type += "(\w+)"`,
			`^(?:event|send_ended|seed_bounced|import_completed|(?:broadcast|domain|mta)_\w+)$`,
			"web/src/base/words/activityTitles.ts", func(name string) string { return name },
		},
		{
			"bulk action", "internal/engine/bulk/action.go", `Action += "(\w+)"`, `^$`,
			"web/src/base/words/jobTitles.ts", func(name string) string { return strings.ReplaceAll(name, "_", " ") },
		},
		{
			"reason of deliverability", "internal/people/contact/activity.go", `return (?:Blocked|AtRisk|Watch), "(\w+)"`, `^$`,
			"web/src/features/contacts/About.tsx", func(name string) string { return name },
		},
		{
			"built-in segment", "internal/audience/segment/builtin.go", `(?m)^\t\{"(\w+)", "`, `^$`,
			"web/src/base/words/builtInSegments.ts", func(name string) string { return name },
		},
	} {
		read := func(file string) string {
			data, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		words, found := read(c.words), 0
		for _, m := range regexp.MustCompile(c.names).FindAllStringSubmatch(read(c.source), -1) {
			name := m[1]
			if regexp.MustCompile(c.except).MatchString(name) {
				continue
			}
			found++
			if !regexp.MustCompile(`(?m)^\t+"?` + c.key(name) + `"?: "`).MatchString(words) {
				t.Errorf("%s has no words for the %s %s", c.words, c.what, name)
			}
		}
		if found < 5 {
			t.Errorf("found %d names of %s, which cannot be all", found, c.source)
		}
	}
}
