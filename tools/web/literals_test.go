package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// shownProperties are the properties of elements and of objects whose texts are shown or read out.
var shownProperties = []string{"label", "title", "aria-label", "aria-description", "aria-roledescription", "aria-valuetext", "placeholder", "alt", "help", "hint", "description", "legend", "heading", "subtitle", "tooltip", "confirmLabel"}

// sameEverywhere are texts that are the same in every language: names of products, formats and protocols, and signs.
var sameEverywhere = regexp.MustCompile(`^(?:Packetboat|JSON|MJML|HTML|CSS|Liquid|CSV|DKIM|SPF|DMARC|MX|TXT|CNAME|IP|ms|px|k|M|A|a|x|https?://\S*|\S+@\S+\.\S+|&\w+;|[a-z_]+\.[a-z_.{}]+|#rrggbb|Cloudflare Turnstile|hCaptcha|B|packetboat user .*|/signup\?setup_token=|http, https, mailto, tel)$`)

// shownTexts returns the texts in a source that are shown, and are not from a catalogue: children of elements, and
// properties that are shown. What is called or computed is not looked into.
func shownTexts(file string, source []byte) ([]string, error) {
	loader := api.LoaderTS
	if strings.HasSuffix(file, ".tsx") {
		loader = api.LoaderTSX
	}
	plain := api.Transform(string(source), api.TransformOptions{Loader: loader, JSX: api.JSXTransform, JSXFactory: "element", JSXFragment: "fragment", Charset: api.CharsetUTF8, Target: api.ESNext})
	if len(plain.Errors) > 0 {
		return nil, fmt.Errorf("%s: %s", file, plain.Errors[0].Text)
	}
	s := literals{src: string(plain.Code)}
	s.expressions(len(s.src), "")
	return s.found, nil
}

// literals reads the code that esbuild writes.
type literals struct {
	src   string
	at    int
	found []string
}

var (
	elementCall    = regexp.MustCompile(`^(?:/\* @__PURE__ \*/ )?element\(`)
	catalogueStart = regexp.MustCompile(`^catalogue\(`)
	propertyName   = regexp.MustCompile(`^(?:([A-Za-z_$][\w$]*)|"([^"\\]*)"): `)
	afterValue     = regexp.MustCompile(`^[\w$\])]`)
	word           = regexp.MustCompile(`^[\w$]+`)
)

// expressions reads code up to a position, or to the bracket that closes what is around it. of says whose value it is,
// "" if none that is shown.
func (s *literals) expressions(end int, of string) {
	start := s.at
	for s.at < end {
		rest := s.src[s.at:]
		switch c := s.src[s.at]; {
		case c == ')' || c == ']' || c == '}':
			return
		case c == '"' || c == '\'':
			if text := s.quoted(c); !strings.HasPrefix(s.src[min(s.at, len(s.src)):], " in ") {
				s.text(of, text)
			}
		case c == '`':
			s.template(of)
		case c == '/' && strings.HasPrefix(rest, "//"):
			s.at += max(strings.IndexByte(rest, '\n'), 1)
		case c == '/' && strings.HasPrefix(rest, "/*") && !elementCall.MatchString(rest):
			s.at += strings.Index(rest, "*/") + 2
		case c == '/' && !elementCall.MatchString(rest) && s.beginsRegExp(start):
			s.regExp()
		case elementCall.MatchString(rest):
			s.at += len(elementCall.FindString(rest))
			s.element()
		case catalogueStart.MatchString(rest):
			s.at += len("catalogue")
			s.skip()
		case c == '{':
			s.object()
		case c == '[':
			before := len(s.found)
			computed := afterValue.MatchString(s.src[max(0, s.at-1):s.at]) // the name of a member
			if s.at++; computed {
				s.expressions(end, "")
			} else {
				s.expressions(end, of) // a list of children or of texts
			}
			if s.at++; strings.HasPrefix(s.src[min(s.at, len(s.src)):], ".") {
				s.found = s.found[:before] // something is made of the list
			}
		case c == '(':
			called := afterValue.MatchString(s.src[max(0, s.at-1):s.at])
			s.at++
			if called {
				s.expressions(end, "")
			} else {
				s.expressions(end, of)
			}
			s.at++
		case word.MatchString(rest):
			s.at += len(word.FindString(rest))
			if strings.HasPrefix(s.src[s.at:], " === \"") || strings.HasPrefix(s.src[s.at:], " !== \"") {
				s.at += len(" === ")
				s.quoted('"') // what is compared is not shown
			}
		case strings.HasPrefix(rest, "=== \"") || strings.HasPrefix(rest, "!== \""):
			s.at += len("=== ")
			s.quoted('"')
		case c == ',' && of != "" && of != "children":
			of = "" // the property has ended
			s.at++
		default:
			s.at++
		}
	}
}

// element reads the arguments of a call that makes an element: its type, its properties, and its children.
func (s *literals) element() {
	for n := 0; s.at < len(s.src) && s.src[s.at] != ')'; n++ {
		from := s.at
		if n == 0 {
			s.skipTo(",)")
		} else if n == 1 {
			s.argument("")
		} else {
			s.argument("children")
		}
		if s.at < len(s.src) && s.src[s.at] == ',' {
			s.at++
		}
		if s.at == from {
			s.at++
		}
	}
	s.at++
}

// argument reads an expression up to the comma or the bracket behind it.
func (s *literals) argument(of string) {
	from := s.at
	s.skipTo(",)")
	to := s.at
	s.at = from
	s.expressions(to, of)
	s.at = to
}

// skipTo moves to one of some characters that is in no bracket and no text.
func (s *literals) skipTo(ends string) {
	quiet := literals{src: s.src, at: s.at}
	from := s.at
	for quiet.at < len(quiet.src) && !strings.ContainsRune(ends, rune(quiet.src[quiet.at])) {
		quiet.one(from)
	}
	s.at = quiet.at
}

// one moves behind a text, a bracket with all that is in it, or a character.
func (s *literals) one(start int) {
	switch c := s.src[s.at]; c {
	case '"', '\'':
		s.quoted(c)
	case '`':
		s.template("")
	case '(', '[', '{':
		s.skip()
	case '/':
		switch rest := s.src[s.at:]; {
		case strings.HasPrefix(rest, "//"):
			s.at += max(strings.IndexByte(rest, '\n'), 1)
		case strings.HasPrefix(rest, "/*"):
			s.at += strings.Index(rest, "*/") + 2
		case s.beginsRegExp(start):
			s.regExp()
		default:
			s.at++
		}
	default:
		s.at++
	}
}

// skip moves behind the bracket at the position, and all that is in it.
func (s *literals) skip() {
	from := s.at
	s.at++
	for s.at < len(s.src) && !strings.ContainsRune(")]}", rune(s.src[s.at])) {
		s.one(from)
	}
	s.at++
}

// object reads an object, or a block of statements.
func (s *literals) object() {
	s.at++
	for s.at < len(s.src) && s.src[s.at] != '}' {
		from := s.at
		for s.at < len(s.src) && strings.ContainsRune(" \n\t,;", rune(s.src[s.at])) {
			s.at++
		}
		if m := propertyName.FindStringSubmatch(s.src[s.at:]); m != nil {
			s.at += len(m[0])
			of := ""
			if slices.Contains(shownProperties, m[1]+m[2]) {
				of = m[1] + m[2]
			}
			end := *s
			end.skipTo(",}")
			s.expressions(end.at, of)
			s.at = max(end.at, s.at)
		} else {
			end := *s
			end.skipTo(",;}\n")
			s.expressions(end.at, "")
			s.at = max(end.at, s.at)
		}
		if s.at == from {
			s.at++
		}
	}
	s.at++
}

// quoted moves behind a text in quotes, and returns it.
func (s *literals) quoted(quote byte) string {
	from := s.at
	for s.at++; s.at < len(s.src) && s.src[s.at] != quote; s.at++ {
		if s.src[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	raw := s.src[from:min(s.at, len(s.src))]
	if text, err := strconv.Unquote(raw); err == nil {
		return text
	}
	return strings.Trim(raw, string(quote))
}

// template reads a template, and what it inserts.
func (s *literals) template(of string) {
	var text strings.Builder
	for s.at++; s.at < len(s.src) && s.src[s.at] != '`'; {
		switch {
		case s.src[s.at] == '\\':
			s.at += 2
		case strings.HasPrefix(s.src[s.at:], "${"):
			s.text(of, text.String())
			text.Reset()
			s.at += 2
			s.expressions(len(s.src), "")
			s.at++
		default:
			text.WriteByte(s.src[s.at])
			s.at++
		}
	}
	s.at++
	s.text(of, text.String())
}

// beginsRegExp reports whether a slash begins a regular expression, and does not divide.
func (s *literals) beginsRegExp(start int) bool {
	before := strings.TrimRight(s.src[max(0, s.at-40):s.at], " \n\t")
	return before == "" || strings.HasSuffix(before, "return") || !regexp.MustCompile(`[\w$)\]"'}]$`).MatchString(before)
}

// regExp moves behind a regular expression.
func (s *literals) regExp() {
	class := false
	for s.at++; s.at < len(s.src) && (class || s.src[s.at] != '/') && s.src[s.at] != '\n'; s.at++ {
		switch s.src[s.at] {
		case '\\':
			s.at++
		case '[':
			class = true
		case ']':
			class = false
		}
	}
	s.at++
}

var letters = regexp.MustCompile(`\p{L}`)

func (s *literals) text(of, text string) {
	if text = strings.TrimSpace(text); of != "" && letters.MatchString(text) && !sameEverywhere.MatchString(text) {
		s.found = append(s.found, of+": "+text)
	}
}

// A text that is in no catalogue is in English in every language.
func TestTextsOfPagesAreFromCatalogues(t *testing.T) {
	t.Parallel()
	root := filepath.FromSlash("../../web/src")
	files := 0
	for _, folder := range []string{"features", "ui", "app"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, e fs.DirEntry, err error) error {
			ext := filepath.Ext(file)
			if err != nil || e.IsDir() || ext != ".ts" && ext != ".tsx" || strings.HasSuffix(file, ".test.ts") || strings.HasSuffix(file, ".d.ts") {
				return err
			}
			source, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			files++
			found, err := shownTexts(file, source)
			for _, text := range found {
				t.Errorf("%s: %s", file, text)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 200 {
		t.Fatalf("read %d files, which cannot be all", files)
	}
}

func TestTextsInNoCatalogueAreFound(t *testing.T) {
	t.Parallel()
	const source = `
const words = catalogue("a.b", { label: "Of a catalogue", title: "It's (one" });
const split = /["'(]/.test("x") ? 1 / 2 : 3;
const columns = [{ id: "id", label: "Column" }];
export function Page({ n, kind }: { n: number; kind: string }) {
	const help = { label: words.label, help: kind === "a" ? "Help" : words.title };
	return (
		<Frame label="Label" title={words.label} kind="kind" placeholder={` + "`Up to ${n} rows`" + `} onClick={() => post("/a", { kind: "b" })}>
			Child {words.title} of{" "}
			<b className="bold">{n > 1 && "Several"}</b> · {kind === "many" ? "Many" : ["One", words["t" + n]({ n })]} MJML {["a", "b"].map((x) => x)}
			<Item key="one" aria-label={cond ? "Read" : undefined}>{list.map((x) => <li key={x}>{x.name} item</li>)}</Item>
		</Frame>
	);
}`
	found, err := shownTexts("page.tsx", []byte(source))
	want := []string{
		"label: Column", "help: Help", "label: Label", "placeholder: Up to", "placeholder: rows", "children: Child", "children: of", "children: Several",
		"children: Many", "children: One", "aria-label: Read", "children: item",
	}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("found %q, %v, want %q", found, err, want)
	}
}
