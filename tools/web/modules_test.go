package main

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"modernc.org/quickjs"
)

// TestModules runs the tests of modules that need no page (web/src/**/*.test.ts) in an interpreter.
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
	for _, file := range files {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			t.Parallel()
			runModule(t, file)
		})
	}
}

// runModule runs each test of a file.
func runModule(t *testing.T, file string) {
	t.Helper()
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{file}, Bundle: true, Format: api.FormatIIFE, GlobalName: "module", Target: api.ES2020, LogLevel: api.LogLevelWarning,
	})
	if len(built.Errors) > 0 || len(built.OutputFiles) != 1 {
		t.Fatalf("%s does not build", file)
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	eval := func(script string) (string, error) {
		answer, err := vm.Eval(script, quickjs.EvalGlobal)
		text, _ := answer.(string)
		return text, err
	}
	if err := vm.SetEvalTimeout(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := eval(string(built.OutputFiles[0].Contents)); err != nil {
		t.Fatal(err)
	}
	list, err := eval(`JSON.stringify(Object.keys(module.default))`)
	if err != nil {
		t.Fatal(err)
	}
	var claims []string
	if err := json.Unmarshal([]byte(list), &claims); err != nil || len(claims) == 0 {
		t.Fatalf("the tests of %s are %q, %v", file, list, err)
	}
	for _, claim := range claims {
		t.Run(claim, func(t *testing.T) {
			quoted, err := json.Marshal(claim)
			if err != nil {
				t.Fatal(err)
			}
			if said, err := eval(`try { module.default[` + string(quoted) + `](); "" } catch (e) { String(e) + "\n" + e.stack }`); err != nil || said != "" {
				t.Errorf("%s %v", said, err)
			}
		})
	}
}
