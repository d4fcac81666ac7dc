package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"modernc.org/quickjs"
)

// The editor of formatted text writes every text of this repository as it was: the contents of all elements of MJML that
// hold text, all starters and demo mails, pages as a whole, and the markup that tests of rich text have.
func TestFormattedTextOfTheRepositoryIsKept(t *testing.T) {
	t.Parallel()
	texts := markupOfTheRepository(t)
	if len(texts) < 1000 {
		t.Fatalf("%d texts of the repository; want more", len(texts))
	}
	built := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{ResolveDir: "../../web/src/ui/richtext", Contents: `
			import { read } from "./read";
			import { write } from "./write";
			export const lost = (texts) => JSON.stringify(JSON.parse(texts).filter((text) => write(read(text)) !== text));`},
		Bundle: true, Format: api.FormatIIFE, GlobalName: "module", Target: api.ES2022, LogLevel: api.LogLevelWarning,
	})
	if len(built.Errors) > 0 {
		t.Fatal("the editor does not build")
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if _, err := vm.Eval(string(built.OutputFiles[0].Contents), quickjs.EvalGlobal); err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := vm.Eval("module.lost("+strconv.Quote(string(all))+")", quickjs.EvalGlobal)
	if err != nil {
		t.Fatal(err)
	}
	var lost []string
	if err := json.Unmarshal([]byte(answer.(string)), &lost); err != nil {
		t.Fatal(err)
	}
	for _, text := range lost {
		t.Errorf("not kept: %.400q", text)
	}
}

// holders are the elements whose contents are edited as formatted text.
var holders = regexp.MustCompile(`(?s)<(mj-text|mj-button|mj-table|mj-navbar-link|mj-accordion-text)\b[^>]*>(.*?)</mj-[a-z-]+>`)

func markupOfTheRepository(t *testing.T) (texts []string) {
	t.Helper()
	for _, root := range []string{"internal", "e2e", "docs", "bench", "cmd"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				if entry != nil && entry.Name() == "dist" {
					return fs.SkipDir
				}
				return err
			}
			kind := filepath.Ext(path)
			if !slices.Contains([]string{".go", ".mjml", ".html", ".md"}, kind) {
				return nil
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, found := range holders.FindAllStringSubmatch(string(source), -1) {
				texts = append(texts, found[2])
			}
			switch {
			case kind == ".mjml" || kind == ".html" && len(source) < 12_000:
				texts = append(texts, string(source))
			case strings.HasSuffix(path, "_test.go") && strings.Contains(filepath.ToSlash(path), "internal/mail/"):
				texts = append(texts, markupLiterals(t, path, source)...)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// markupLiterals returns the texts of a Go file that have markup or Liquid.
func markupLiterals(t *testing.T, path string, source []byte) (texts []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && strings.ContainsAny(text, "<{&") && len(text) < 30_000 {
			texts = append(texts, text)
		}
		return true
	})
	return texts
}
