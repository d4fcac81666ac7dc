package textpart_test

import (
	"flag"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/mail/markup"
	"github.com/packetboat/packetboat/internal/mail/textpart"
)

var update = flag.Bool("update", false, "write the golden files")

// compiled are newsletters as the MJML compiler makes them.
var compiled = []string{"accordion", "carousel", "hero-fluid", "liquid", "navbar", "newsletter", "outlook", "receipt", "social", "table", "unicode", "wrapper"}

// documents returns HTML by the name of its golden file.
func documents(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d documents: %v", len(files), err)
	}
	for _, name := range compiled {
		files = append(files, "../mjml/testdata/reference/"+name+".html")
	}
	docs := map[string]string{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".html")
		if strings.Contains(file, "mjml") {
			name = "mjml-" + name
		}
		docs[name] = string(src)
	}
	return docs
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, src := range documents(t) {
		golden := "testdata/" + name + ".txt"
		got := textpart.FromHTML(src)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: the text differs from the golden file:\n%s", name, got)
		}
		wellFormed(t, name, got)
	}
}

// wellFormed holds what is true of every text.
func wellFormed(t *testing.T, name, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: broken UTF-8", name)
	}
	if text != "" && (!strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") || strings.HasPrefix(text, "\n")) {
		t.Errorf("%s: it begins or ends badly", name)
	}
	plain := markup.Mask(text)
	if strings.Contains(plain, "\n\n\n") {
		t.Errorf("%s: more than one blank line", name)
	}
	spans := markup.Spans(text)
	for i := range len(text) - 1 {
		if text[i] == ' ' && text[i+1] == '\n' && !inside(spans, i) {
			t.Errorf("%s: a trailing space before %q", name, text[i:min(i+20, len(text))])
		}
	}
}

func inside(spans []markup.Span, at int) bool {
	for _, s := range spans {
		if s.Start <= at && at < s.End {
			return true
		}
	}
	return false
}

// A text that was made once says the same when it is made again.
func TestTextStaysAsItIs(t *testing.T) {
	t.Parallel()
	for name, src := range documents(t) {
		once := textpart.FromHTML(src)
		if strings.Contains(once, "{") {
			continue // what Liquid holds is no text to be escaped
		}
		if again := textpart.FromHTML("<pre>\n" + html.EscapeString(once) + "</pre>"); again != once {
			t.Errorf("%s:\n%s\nagain:\n%s", name, once, again)
		}
	}
}

// Whatever Liquid tags a document has, the text has, in the same order, so that
// what one opens another closes.
func TestTagsAreKept(t *testing.T) {
	t.Parallel()
	for name, src := range documents(t) {
		if got, want := tagsOf(textpart.FromHTML(src)), tagsOf(src); got != want {
			t.Errorf("%s: the tags are %s, want %s", name, got, want)
		}
	}
}

func tagsOf(s string) string {
	var b strings.Builder
	for _, p := range markup.Spans(s) {
		if piece := s[p.Start:p.End]; !p.Output && !strings.HasPrefix(piece, "{% comment") {
			b.WriteString(piece)
		}
	}
	return b.String()
}
