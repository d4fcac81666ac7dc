package internal

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArchitectureShowsTheFolders checks that ARCHITECTURE.md has a line for each folder, from the top
// down, with the packages in it.
func TestArchitectureShowsTheFolders(t *testing.T) {
	page, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, folder := range folders {
		line := []string{folder + "/"}
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			sources, err := filepath.Glob(filepath.Join(folder, e.Name(), "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			if len(sources) > 0 {
				line = append(line, e.Name())
			}
		}
		want = append(want, strings.Join(line, " "))
	}
	_, tree, _ := strings.Cut(string(page), "\ninternal/\n")
	tree, _, _ = strings.Cut(tree, "```")
	var got []string
	for line := range strings.Lines(tree) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ARCHITECTURE.md does not show the folders there are (-want +got):\n%s", diff)
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
