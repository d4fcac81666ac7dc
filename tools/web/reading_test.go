package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"modernc.org/quickjs"
)

// anything stands in for what modules use of the browser and of packages while they are loaded: each of its members,
// and what it returns and makes, is the same again.
const anything = `
globalThis.anything = new Proxy(function () {}, {
	get: (of, name) => name === "prototype" ? of.prototype : name === Symbol.toPrimitive ? () => "" : name === Symbol.iterator ? function* () {} : name === "then" ? undefined : anything,
	apply: () => anything,
	construct: () => anything,
	set: () => true,
	has: () => true,
	getPrototypeOf: () => anything, // what esbuild makes of a package inherits its members
});
globalThis.window = globalThis;
for (const name of ["document", "navigator", "location", "localStorage", "matchMedia", "addEventListener", "setTimeout", "crypto", "performance", "BroadcastChannel", "Intl", "indexedDB", "history", "URLSearchParams"]) globalThis[name] = anything;
`

// packagesAsAnything replaces all packages.
var packagesAsAnything = api.Plugin{Name: "packages-as-anything", Setup: func(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: `^[^./]`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		if filepath.IsAbs(a.Path) {
			return api.OnResolveResult{}, nil
		}
		return api.OnResolveResult{Path: a.Path, Namespace: "anything"}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "anything"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
		text := "module.exports = anything;"
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
	})
}}

// loadModules loads modules below root in an interpreter without a browser, and returns what they throw.
func loadModules(t *testing.T, root string, files []string) string {
	t.Helper()
	var all strings.Builder
	for _, file := range files {
		name, err := json.Marshal("./" + file)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString("import " + string(name) + ";\n")
	}
	built := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: all.String(), ResolveDir: root},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2022, JSX: api.JSXAutomatic, Outdir: "out", LogLevel: api.LogLevelWarning,
		Plugins: []api.Plugin{packagesAsAnything},
	})
	if len(built.Errors) > 0 {
		t.Fatal("the modules do not build")
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	for _, script := range built.OutputFiles {
		if filepath.Ext(script.Path) != ".js" {
			continue
		}
		if _, err := vm.Eval(anything, quickjs.EvalGlobal); err != nil {
			t.Fatal(err)
		}
		thrown, err := vm.Eval("try { "+string(script.Contents)+"; '' } catch (e) { e + '\\n' + e.stack }", quickjs.EvalGlobal)
		if text, _ := thrown.(string); err != nil || text != "" {
			return fmt.Sprint(text, err)
		}
	}
	return ""
}

// A text that is read while its module is loaded is in English in every language.
func TestTextsAreReadInFunctions(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../web/src")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	err = filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		name, nameErr := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		ext := filepath.Ext(name)
		if err != nil || nameErr != nil || e.IsDir() || ext != ".ts" && ext != ".tsx" || strings.HasSuffix(name, ".test.ts") || strings.HasSuffix(name, ".d.ts") {
			return err
		}
		if name != "main.tsx" && !strings.HasPrefix(name, "ui/frame/") { // these run at once
			files = append(files, name)
		}
		return nil
	})
	if err != nil || len(files) < 100 {
		t.Fatalf("%d modules, %v", len(files), err)
	}
	if thrown := loadModules(t, root, files); thrown != "" {
		t.Error(thrown)
	}
}

func TestATextThatIsReadWhileItsModuleIsLoadedIsReported(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("testdata/reading")
	if err != nil {
		t.Fatal(err)
	}
	if thrown := loadModules(t, root, []string{"module.ts"}); !strings.Contains(thrown, "the catalogue home.example is read while modules are loaded") {
		t.Errorf("loading throws %q", thrown)
	}
}
