package mjml

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestElementsAreThoseOfTheCompiler holds our table against the compiler: it has
// these elements, and it leaves what is in those of HTML alone.
func TestElementsAreThoseOfTheCompiler(t *testing.T) {
	t.Parallel()
	open(t)
	m, err := openMachine(maxTime)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for name, kind := range known {
		source := "<" + name + "><x-y></x-y></" + name + ">"
		switch {
		case name == "mj-body":
			source = "<mjml>" + source + "</mjml>"
		case name == "mj-head":
			source = "<mjml>" + source + "<mj-body/></mjml>"
		case slices.Contains(inHead, name):
			source = "<mjml><mj-head>" + source + "</mj-head><mj-body/></mjml>"
		case name != "mjml":
			source = "<mjml><mj-body>" + source + "</mj-body></mjml>"
		default:
			source = strings.Replace(source, "</mjml>", "<mj-body/></mjml>", 1)
		}
		o, err := m.compile(source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		found := map[string]bool{}
		for _, f := range o.Findings {
			if strings.Contains(f.Message, "doesn't exist or is not registered") {
				found[f.Tag] = true
			}
		}
		if found[name] || found["x-y"] != (kind == elements) {
			t.Errorf("%s: the compiler does not know %v, and ours is of kind %d", name, found, kind)
		}
	}
}

// TestContentEndsWhereTheCompilerEndsIt: HTML hides end tags in many ways.
func TestContentEndsWhereTheCompilerEndsIt(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a hundred documents")
	}
	t.Parallel()
	open(t)
	m, err := openMachine(maxTime)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	pieces := strings.Split("a| |\n|<|>|</|/>|\"|'|=|</mj-text>|</mj-text |<mj-text>|<mj-text/>|<mj-raw>|</mj-raw>|<div>|</div>|<p>|</p>|<br>|<li>|<b |<a href=|<a href=\"|<a href='|<!--|-->|--|<!|<!-|<!x>|<![|CDATA|-|>|<![CDATA[|]]>|<?|?>|<script>|</script>|<style>|</style>|<STYLE>|</Style |<title>|</title>|<textarea>|</textarea>|<1>|</ x>|<>|</>|<tr>|<td>|<p/>|<svg>|x=y|/", "|")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "pieces"), "")
		source := "<mjml><mj-body><mj-text>" + text + "</mj-text></mj-body></mjml>"
		s := contentScanner{scanner: newScanner(source), name: "mj-text", outside: []string{"mjml", "mj-body"}, count: map[string]int{}, inside: func(string, int) {}, comment: func(int) {}}
		s.pos = len("<mjml><mj-body><mj-text>")
		want, err := s.end(0)
		if err != nil {
			return // refused
		}
		got, err := m.vm.Call("(function (s) { return mjml(s).json.children[0].children[0].content || '' })", source)
		if err != nil || got != strings.TrimFunc(want, isSpace) {
			t.Fatalf("%q: the compiler reads %q, %v; we read %q", source, got, err, want)
		}
	})
}
