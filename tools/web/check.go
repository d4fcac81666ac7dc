package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Budgets in bytes after gzip -9.
const (
	budgetStart  = 150_000   // script of the first page
	budgetStyle  = 30_000    // all styles
	budgetPage   = 60_000    // script that one more page loads
	budgetEditor = 161_000   // the code editor, loaded on first use
	budgetAria   = 84_000    // one of the parts on React Aria, loaded on first use or when idle
	budgetText   = 88_000    // the editor of formatted text, loaded on first use
	budgetPlots  = 25_000    // plots
	budgetCanvas = 80_000    // the canvas of sequences
	budgetAll    = 1_150_000 // all scripts, without translations
	budgetWords  = 200_000   // the translations of one language
)

// lazyBudgets are the budgets of parts that are loaded on first use, by the names of their chunks.
var lazyBudgets = map[string]int{"editor": budgetEditor, "aria": budgetAria, "plots": budgetPlots, "richtext": budgetText, "canvas": budgetCanvas}

// check holds the application against its budgets, the API's description, the rules of messages, the type checker, the linter and the formatter, the
// scripts of browser tests against the type checker, and the packages against the registry's advisories.
// It reports all problems.
func (p project) check() error {
	if err := p.fetch(true); err != nil {
		return err
	}
	return errors.Join(p.checkTypes(), p.checkMessages(), p.run(typescript(), "--noEmit", "-p", "."), p.run(typescript(), "-p", "../e2e/browser"), p.run(biome(), "check", "--error-on-warnings", "src"), p.checkBudgets(), p.checkAdvisories())
}

func (p project) checkTypes() error {
	want, err := p.types()
	if err != nil {
		return err
	}
	have, err := os.ReadFile(filepath.Join(p.web, filepath.FromSlash(schemaFile)))
	if err != nil || !bytes.Equal(want, have) {
		return fmt.Errorf("web/%s is not the one of %s: run make web-types", schemaFile, descriptionFile)
	}
	return nil
}

// nodeArch is the name of this machine's processor in names of packages.
func nodeArch() string {
	if runtime.GOARCH == "amd64" {
		return "x64"
	}
	return runtime.GOARCH
}

func typescript() string {
	return fmt.Sprintf("node_modules/@typescript/typescript-%s-%s/lib/tsc", runtime.GOOS, nodeArch())
}

func biome() string {
	return fmt.Sprintf("node_modules/@biomejs/cli-%s-%s/biome", runtime.GOOS, nodeArch())
}

// run runs a program of a package in the directory of the sources.
func (p project) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(p.web, filepath.FromSlash(program)), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.web, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(program), err)
	}
	return nil
}

// checkBudgets builds the application and measures what each page loads.
func (p project) checkBudgets() error {
	b, err := p.bundle(true)
	if err != nil {
		return err
	}
	sizes := map[string]int{}
	all, style := 0, 0
	words := map[string]int{}
	for name, data := range b.files {
		n, err := zipped(data)
		if err != nil {
			return err
		}
		sizes[outputDir+"/"+name] = n
		switch filepath.Ext(name) {
		case ".js":
			if language, ok := languageOf(b.meta.Outputs[outputDir+"/"+name].EntryPoint); ok {
				words[language] += n
			} else {
				all += n
			}
		case ".css":
			style = max(style, n) // the one that is served; those of lazy pages are parts of it
		}
	}
	total := func(files []string) (n int) {
		for _, f := range files {
			n += sizes[f]
		}
		return n
	}
	var problems []error
	limit := func(what string, n, most int) {
		if n > most {
			problems = append(problems, fmt.Errorf("%s has %d bytes, at most %d are allowed", what, n, most))
		}
	}
	var start []string
	for name, out := range b.meta.Outputs {
		if out.EntryPoint == "src/main.tsx" {
			start = b.static(name)
			for _, i := range out.Imports {
				if i.Kind == "dynamic-import" && b.meta.Outputs[i.Path].EntryPoint == "src/features/home/Home.tsx" {
					start = including(start, b.static(i.Path))
				}
			}
		}
	}
	limit("the script of the first page", total(start), budgetStart)
	limit("the style sheet", style, budgetStyle)
	limit("the whole application", all, budgetAll)
	for language, n := range words {
		limit("the translation "+language, n, budgetWords)
	}
	for name, out := range b.meta.Outputs {
		if out.EntryPoint == "" || !strings.HasSuffix(name, ".js") || slices.Contains(start, name) || strings.HasPrefix(out.EntryPoint, "src/ui/frame/") {
			continue
		}
		more := slices.DeleteFunc(b.static(name), func(f string) bool { return slices.Contains(start, f) })
		most := budgetPage
		for part, budget := range lazyBudgets {
			if strings.Contains(out.EntryPoint, "/"+part+"/") {
				most = budget
			}
		}
		limit(out.EntryPoint, total(more), most)
		if os.Getenv("WEB_SIZES") != "" {
			fmt.Fprintf(os.Stderr, "web: %7d bytes  %s\n", total(more), out.EntryPoint)
		}
	}
	fmt.Fprintf(os.Stderr, "web: first page %d bytes, styles %d, all scripts %d (gzip)\n", total(start), style, all)
	return errors.Join(problems...)
}

// languageOf returns the language of a file of translations.
func languageOf(file string) (language string, ok bool) {
	rest, ok := strings.CutPrefix(file, "src/languages/")
	language, _, _ = strings.Cut(rest, "/")
	return language, ok
}

// including returns a with what it lacks of b.
func including(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

func zipped(data []byte) (int, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close())
	return out.Len(), err
}
