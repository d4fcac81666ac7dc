package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/mark"
)

var (
	htmlText  = regexp.MustCompile("(?s)<html\\b.*?</html>")
	shownMark = regexp.MustCompile(mark.Prefix + `(\d+)`)
)

// TestHTMLInItsPictureKeepsTheCode writes each text, link and image of all documents of HTML that the tests of the repository
// have back as it is, and changes some of them: no other bytes change, undo restores the text, and what would change what is
// around it is refused (web/src/features/design/html/testing.ts). What the server marks can be edited, but where quotes are broken
// or elements are nested too deeply.
func TestHTMLInItsPictureKeepsTheCode(t *testing.T) {
	t.Parallel()
	model := modelOf(t, "html/testing.ts")
	tried, refused, unknown, marked := 0, 0, 0, 0
	for i, d := range htmlDocuments(t) {
		var got struct {
			Tried, Refused int
			Pieces         []int
		}
		model.call(&got, "tryHtml", d.Text, i, 4)
		tried, refused = tried+got.Tried, refused+got.Refused
		m := mark.New(d.Text)
		for _, found := range shownMark.FindAllStringSubmatch(m.Show(m.HTML(d.Text)), -1) {
			at, err := strconv.Atoi(found[1])
			if err != nil {
				t.Fatal(err)
			}
			marked++
			if !slices.Contains(got.Pieces, at) {
				unknown++
				t.Logf("%s: nothing is edited at %d", d.Name, at)
			}
		}
	}
	t.Logf("%d changes, %d refused; %d of %d marks unknown", tried, refused, unknown, marked)
	if tried < 100 || refused == 0 || refused > tried/2 || unknown > marked/100 {
		t.Errorf("%d changes, %d refused; %d of %d marks are of nothing that is edited", tried, refused, unknown, marked)
	}
}

// htmlDocuments returns the HTML of all tests.
func htmlDocuments(t *testing.T) (all []document) {
	t.Helper()
	read := func(pattern string, add func(file, text string)) {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			add(file, string(text))
		}
	}
	for _, pattern := range []string{"internal/mail/*/testdata/*.html", "internal/mail/mjml/testdata/reference/*.html", "internal/edge/demo/*.html"} {
		read(pattern, func(file, text string) { all = append(all, document{Name: file, Text: text}) })
	}
	for _, pattern := range []string{"e2e/*/*.go", "internal/*/*/*.go", "internal/*/*/*/*.go", "docs/*.md"} {
		read(pattern, func(file, text string) {
			for i, text := range htmlText.FindAllString(text, -1) {
				text = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\t`, "\t").Replace(text)
				all = append(all, document{Name: fmt.Sprintf("%s, %d", file, i), Text: text})
			}
		})
	}
	return all
}
