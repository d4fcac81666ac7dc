package main

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"modernc.org/quickjs"
)

// component is what the compiler of MJML says of an element: the kinds of its attributes, and what holds without them.
type component struct {
	Allowed  map[string]string `json:"allowed"`
	Defaults map[string]any    `json:"defaults"`
}

// attribute is what the design says of an attribute.
type attribute struct {
	Offered bool     `json:"offered"`
	Kind    string   `json:"kind"`
	Choices []string `json:"choices"`
	Default string   `json:"default"`
}

// The table of attributes of the design, and the hints of the code editor, have what the compiler has: its attributes,
// its choices and its defaults.
func TestAttributesAreThoseOfTheCompiler(t *testing.T) {
	t.Parallel()
	components := compilerComponents(t)
	if len(components) < 25 {
		t.Fatalf("the compiler has %d elements", len(components))
	}
	var ours map[string]map[string]attribute
	run(t, &ours, designAttributes(t), "JSON.stringify(module.table())")
	for tag, c := range components {
		for name, kind := range c.Allowed {
			a, known := ours[tag][name]
			if !known {
				t.Errorf("%s: %s is missing", tag, name)
				continue
			}
			want, _ := c.Defaults[name].(string)
			if a.Offered && a.Default != want {
				t.Errorf("%s: %s is %q without a value; want %q", tag, name, a.Default, want)
			}
			if a.Offered && (a.Kind == "color") != (kind == "color") {
				t.Errorf("%s: %s is of kind %s; the compiler has %s", tag, name, a.Kind, kind)
			}
			isLength := strings.HasPrefix(kind, "unit(") && !strings.Contains(kind, ",)") // those may be numbers
			if a.Offered && isLength && a.Kind != "length" {
				t.Errorf("%s: %s is of kind %s; the compiler has %s", tag, name, a.Kind, kind)
			}
			values, isChoice := strings.CutPrefix(kind, "enum(")
			if !isChoice || !a.Offered {
				continue
			}
			choices := slices.DeleteFunc(strings.Split(strings.TrimSuffix(values, ")"), ","), func(s string) bool { return s == "" })
			slices.Sort(choices)
			slices.Sort(a.Choices)
			if !slices.Equal(a.Choices, choices) {
				t.Errorf("%s: %s is one of %v; want %v", tag, name, a.Choices, choices)
			}
		}
		for name := range ours[tag] {
			if _, known := c.Allowed[name]; !known && name != "css-class" && name != "mj-class" {
				t.Errorf("%s: the compiler has no %s", tag, name)
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(ours)) {
		if _, known := components[tag]; !known && !slices.Contains([]string{"mjml", "mj-class", "mj-selector", "mj-html-attribute"}, tag) {
			t.Errorf("the compiler has no %s", tag)
		}
	}
}

// compilerComponents returns the elements that the compiler of the program has.
func compilerComponents(t *testing.T) (components map[string]component) {
	t.Helper()
	files, err := filepath.Glob("../../internal/mail/mjml/dist/mjml-browser-*.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the program was built without the compiler")
	}
	file, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	script, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	// Each class says what its element is called.
	const before = `globalThis.window = globalThis.self = globalThis;
		globalThis.console = { log() {}, warn() {}, error() {}, info() {} };
		const seen = [];
		const define = Object.defineProperty;
		define(Function.prototype, "componentName", { configurable: true, writable: true, value: "" });
		Object.defineProperty = (object, name, how) => {
			if (name === "componentName" && typeof object === "function") seen.push(object);
			return define(object, name, how);
		};`
	run(t, &components, before+string(script), `JSON.stringify(Object.fromEntries(seen.map(({ componentName, allowedAttributes, defaultAttributes }) =>
		[componentName, { allowed: allowedAttributes ?? {}, defaults: defaultAttributes ?? {} }])))`)
	return components
}

// designAttributes returns a script that makes a table of what the design says of attributes.
func designAttributes(t *testing.T) string {
	t.Helper()
	built := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{ResolveDir: "../../web/src/features/design", Loader: api.LoaderTS, Contents: `
			import { attributes } from "../../ui/editor/mjml";
			import { choicesOf, defaultOf, isOffered, kindOf } from "./attributes";
			const of = (tag, name) => {
				const tree = { text: "", root: { kind: "root", from: 0, to: 0, fragment: true, children: [], parent: null } };
				const element = { kind: "element", tag, attributes: [], children: [], parent: tree.root };
				return { offered: isOffered(tag, name), kind: kindOf(tag, name), choices: choicesOf(tag, name), default: defaultOf(tree, element, name) };
			};
			export const table = () => Object.fromEntries(Object.entries(attributes).map(([tag, names]) =>
				[tag, Object.fromEntries(names.map((name) => [name, of(tag, name)]))]));`},
		Bundle: true, Format: api.FormatIIFE, GlobalName: "module", Target: api.ES2022, LogLevel: api.LogLevelWarning,
	})
	if len(built.Errors) > 0 {
		t.Fatal("the table of attributes does not build")
	}
	return string(built.OutputFiles[0].Contents)
}

// run runs a script, and reads the JSON that an expression then has.
func run(t *testing.T, into any, script, expression string) {
	t.Helper()
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if _, err := vm.Eval(script, quickjs.EvalGlobal); err != nil {
		t.Fatal(err)
	}
	answer, err := vm.Eval(expression, quickjs.EvalGlobal)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(answer.(string)), into); err != nil {
		t.Fatal(err)
	}
}
