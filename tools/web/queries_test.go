package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// kindOf finds the kinds of cached answers in base/queries.ts, and which of them GET /collections answers.
	kindOf = regexp.MustCompile(`(?m)^\t"?([\w.]+)"?: (kind|rows)\b`)
	// answered finds the kinds whose key, and so whose request, a module names: "kind", or `${kind}.part`.
	answered = regexp.MustCompile("\\banswer\\((?:\"([\\w.]+)\"|`\\$\\{kind\\}\\.(\\w+)`)")
	// loose finds a key of a cached answer that the table does not make.
	loose = regexp.MustCompile(`queryKey:\s*\[`)
)

// Each kind of cached answers has one request: two would store different answers under the same key.
func TestEachKindOfAnswersHasOneRequest(t *testing.T) {
	t.Parallel()
	const table = "../../web/src/base/queries.ts"
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	collections, requests := map[string]bool{}, map[string][]string{}
	for _, m := range kindOf.FindAllStringSubmatch(string(text), -1) {
		requests[m[1]], collections[m[1]] = nil, m[2] == "rows"
	}
	if len(requests) < 100 {
		t.Fatalf("%s has %d kinds", table, len(requests))
	}
	err = filepath.WalkDir("../../web/src", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(filepath.Ext(name), ".ts") || name == filepath.FromSlash(table) || strings.HasSuffix(name, ".test.ts") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if loose.Match(text) {
			t.Errorf("%s makes a key by itself; %s makes keys", name, table)
		}
		for _, m := range answered.FindAllStringSubmatch(string(text), -1) {
			kinds := []string{m[1]}
			if m[2] != "" {
				kinds = nil
				for _, of := range []string{"template", "block", "message", "starter"} {
					if _, ok := requests[of+"."+m[2]]; ok {
						kinds = append(kinds, of+"."+m[2])
					}
				}
			}
			for _, kind := range kinds {
				requests[kind] = append(requests[kind], name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind, by := range requests {
		switch {
		case collections[kind] && len(by) > 0:
			t.Errorf("%v ask for %s, which base/collections.ts asks for", by, kind)
		case !collections[kind] && len(by) != 1:
			t.Errorf("%d modules ask for %s: %v; want one", len(by), kind, by)
		}
	}
}
