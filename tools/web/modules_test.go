package main

import (
	_ "embed"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones that tests name

	"github.com/evanw/esbuild/pkg/api"
	"modernc.org/quickjs"
	"modernc.org/quickjs/intl"
)

// platform is what the interpreter lacks of a browser's globals, and tests need.
//
//go:embed platform_test.js
var platform string

// TestModules runs the tests of modules that need no page (web/src/**/*.test.ts) in an interpreter. Tests may be
// asynchronous; there are no timers, so they bring a clock of their own.
func TestModules(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../web/src")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".test.ts") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d test files in %s, %v; want some", len(files), root, err)
	}
	built := api.Build(api.BuildOptions{
		EntryPoints: files, Outdir: root, Outbase: root, Bundle: true, Format: api.FormatIIFE, GlobalName: "module",
		Target: api.ES2022, MinifySyntax: true, LogLevel: api.LogLevelWarning,
		Define: map[string]string{"process.env.NODE_ENV": `"production"`},
	})
	if len(built.Errors) > 0 {
		t.Fatal("the tests do not build")
	}
	for _, output := range built.OutputFiles {
		if filepath.Ext(output.Path) != ".js" {
			continue // the styles of components
		}
		name, err := filepath.Rel(root, strings.TrimSuffix(output.Path, ".js")+".ts")
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			t.Parallel()
			runModule(t, string(output.Contents))
		})
	}
}

// runModule runs each test of a file.
func runModule(t *testing.T, script string) {
	t.Helper()
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if err := intl.Register(vm, intl.TimeZone("UTC")); err != nil {
		t.Fatal(err)
	}
	eval := func(script string) (string, error) {
		answer, err := vm.Eval(script, quickjs.EvalGlobal)
		text, _ := answer.(string)
		return text, err
	}
	if err := vm.SetEvalTimeout(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{platform, script} {
		if _, err := eval(s); err != nil {
			t.Fatal(err)
		}
	}
	list, err := eval(`JSON.stringify(Object.keys(module.default))`)
	if err != nil {
		t.Fatal(err)
	}
	var claims []string
	if err := json.Unmarshal([]byte(list), &claims); err != nil || len(claims) == 0 {
		t.Fatalf("the tests are %q, %v", list, err)
	}
	for _, claim := range claims {
		t.Run(claim, func(t *testing.T) {
			quoted, err := json.Marshal(claim)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := eval(`globalThis.outcome = "it waits for what never comes";
				(async () => module.default[` + string(quoted) + `]())().then(
					() => { outcome = "" },
					(e) => { outcome = String(e) + "\n" + (e?.stack ?? "") },
				);`); err != nil {
				t.Fatal(err)
			}
			if _, err := vm.ExecutePendingJobs(); err != nil {
				t.Fatal(err)
			}
			if outcome, err := eval("outcome"); err != nil || outcome != "" {
				t.Errorf("%s %v", outcome, err)
			}
		})
	}
}
