package internal

import (
	"go/parser"
	"go/token"
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

// TestEveryPackageHasAComment checks that each directory of Go code says what its package is for.
func TestEveryPackageHasAComment(t *testing.T) {
	described := map[string]bool{}
	for _, root := range []string{"../cmd", ".", "../e2e", "../bench", "../tools"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				return err
			}
			begins := "Package " + file.Name.Name + " "
			if file.Name.Name == "main" {
				begins = "Command "
			}
			dir := filepath.Dir(path)
			described[dir] = described[dir] || strings.HasPrefix(file.Doc.Text(), begins)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir, ok := range described {
		if !ok {
			t.Errorf("no file of %s has a package comment", dir)
		}
	}
}
