package internal

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitectureShowsTheBands checks that ARCHITECTURE.md lists the bands of this package.
func TestArchitectureShowsTheBands(t *testing.T) {
	page, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(page), "\n")
	for _, band := range bands {
		want := append([]string{band.name}, strings.Fields(band.packages)...)
		if !slices.ContainsFunc(lines, func(line string) bool { return slices.Equal(strings.Fields(line), want) }) {
			t.Errorf("ARCHITECTURE.md has no line %q", strings.Join(want, " "))
		}
	}
}

// TestLinksOfDocumentsLeadToFiles checks the links of all pages to files.
func TestLinksOfDocumentsLeadToFiles(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)[)#]`)
	pages, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("../docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			}
		}
	}
}
