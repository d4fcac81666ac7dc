package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pathsFile has the addresses of all pages.
const pathsFile = "../../web/src/base/paths.ts"

// pagePattern finds the paths of pages in pathsFile.
var pagePattern = regexp.MustCompile(`(?m)^\t\w+: "(/[^"]*)",$`)

// Links to pages are made by base/paths.ts, so that a page that moves takes them with it.
func TestPathsOfPagesStandInOneFile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(pathsFile)
	if err != nil {
		t.Fatal(err)
	}
	begin := map[string]bool{}
	for _, m := range pagePattern.FindAllStringSubmatch(string(text), -1) {
		begin[strings.Split(m[1], "/")[1]] = true
	}
	delete(begin, "")
	if len(begin) < 15 {
		t.Fatalf("%s has %d kinds of pages", pathsFile, len(begin))
	}
	written := regexp.MustCompile("[\"`]~?/([\\w-]+)[/?\"`]")
	err = filepath.WalkDir("../../web/src", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(filepath.Ext(name), ".ts") || strings.HasSuffix(name, ".test.ts") {
			return err
		}
		if slash := filepath.ToSlash(name); slash == pathsFile || strings.HasSuffix(slash, "/api/schema.ts") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range written.FindAllStringSubmatch(string(text), -1) {
			if begin[m[1]] {
				t.Errorf("%s has the path %s…, which base/paths.ts makes", name, m[0])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
