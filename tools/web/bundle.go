package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// metafile is the part of esbuild's report that is used here
// (https://esbuild.github.io/api/#metafile).
type metafile struct {
	Outputs map[string]struct {
		Bytes      int    `json:"bytes"`
		EntryPoint string `json:"entryPoint"`
		CSSBundle  string `json:"cssBundle"`
		Imports    []struct {
			Path string `json:"path"`
			Kind string `json:"kind"`
		} `json:"imports"`
		Inputs map[string]struct {
			Bytes int `json:"bytesInOutput"`
		} `json:"inputs"`
	} `json:"outputs"`
}

// bundle is the built application.
type bundle struct {
	files map[string][]byte // by their names below /app/assets/
	meta  metafile
}

// outputDir is where esbuild believes to write.
const outputDir = "assets"

// options are those of every build.
func (p project) options(production bool) api.BuildOptions {
	mode := `"development"`
	if production {
		mode = `"production"`
	}
	return api.BuildOptions{
		AbsWorkingDir:     p.web,
		EntryPoints:       []string{"src/main.tsx", "src/ui/frame/frame.ts"},
		Outdir:            outputDir,
		PublicPath:        "/app/assets",
		Bundle:            true,
		Splitting:         true,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		Platform:          api.PlatformBrowser,
		JSX:               api.JSXAutomatic,
		EntryNames:        "[name]-[hash]",
		ChunkNames:        "[name]-[hash]",
		AssetNames:        "[name]-[hash]",
		MinifyWhitespace:  production,
		MinifyIdentifiers: production,
		MinifySyntax:      production,
		Metafile:          true,
		LegalComments:     api.LegalCommentsNone,
		Define:            map[string]string{"process.env.NODE_ENV": mode},
		Plugins:           []api.Plugin{ownLanguages, gregorianOnly, smallGrammars},
		LogLevel:          api.LogLevelWarning,
		Write:             false,
	}
}

// localeFile matches the texts of React Aria in one language.
var localeFile = regexp.MustCompile(`[\\/]([a-z]{2}-[A-Z]{2})\.(?:m?js)$`)

// ownLanguages replaces the texts of React Aria in languages that the application does not have by the English ones:
// all of them are two fifths of React Aria.
var ownLanguages = api.Plugin{Name: "own-languages", Setup: func(b api.PluginBuild) {
	b.OnLoad(api.OnLoadOptions{Filter: `(@react-aria|@react-stately|react-aria|react-stately|react-aria-components)[\\/].*[\\/][a-z]{2}-[A-Z]{2}\.m?js$`},
		func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			m := localeFile.FindStringSubmatch(a.Path)
			if m == nil || m[1] == "en-US" || categories[m[1][:2]] != nil {
				return api.OnLoadResult{}, nil
			}
			english := "./en-US" + filepath.Ext(a.Path)
			if _, err := os.Stat(filepath.Join(filepath.Dir(a.Path), english)); err != nil {
				return api.OnLoadResult{}, nil
			}
			text := fmt.Sprintf("export { default } from %q;", english)
			return api.OnLoadResult{Contents: &text, ResolveDir: filepath.Dir(a.Path), Loader: api.LoaderJS}, nil
		})
}}

// gregorianOnly leaves out the other calendars that date fields can have: dates are those of the API.
var gregorianOnly = api.Plugin{Name: "gregorian-only", Setup: func(b api.PluginBuild) {
	b.OnLoad(api.OnLoadOptions{Filter: `@internationalized[\\/]date[\\/].*[\\/]createCalendar\.mjs$`},
		func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			text := `import { GregorianCalendar } from "./calendars/GregorianCalendar.mjs";
export const createCalendar = () => new GregorianCalendar();`
			return api.OnLoadResult{Contents: &text, ResolveDir: filepath.Dir(a.Path), Loader: api.LoaderJS}, nil
		})
}}

// plainGrammar stands in for the grammars of JavaScript and CSS in the code editor. They are more than a fourth
// of it: mail contains no scripts, and little CSS.
const plainGrammar = `import { NodeType, Parser, Tree } from "@lezer/common";
const type = NodeType.define({ id: 0, name: "Text", top: true });
class Plain extends Parser {
	createParse(input, fragments, ranges) {
		const end = ranges[ranges.length - 1].to;
		return { advance: () => new Tree(type, [], [], end - ranges[0].from), parsedPos: end, stoppedAt: null, stopAt() {} };
	}
	configure() { return this; }
}
const language = { parser: new Plain() };
const support = () => ({ support: [] });
export { language as cssLanguage, language as javascriptLanguage, language as typescriptLanguage, language as jsxLanguage,
	language as tsxLanguage, support as css, support as javascript };`

// smallGrammars puts plainGrammar in the place of two packages.
var smallGrammars = api.Plugin{Name: "small-grammars", Setup: func(b api.PluginBuild) {
	const namespace = "small-grammar"
	b.OnResolve(api.OnResolveOptions{Filter: `^@codemirror/lang-(css|javascript)$`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: "plain", Namespace: namespace, PluginData: a.ResolveDir}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: namespace}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		text := plainGrammar
		dir, _ := a.PluginData.(string)
		return api.OnLoadResult{Contents: &text, ResolveDir: dir, Loader: api.LoaderJS}, nil
	})
}}

// bundle builds the application.
func (p project) bundle(production bool) (bundle, error) {
	return collect(api.Build(p.options(production)))
}

// collect returns the files of a build.
func collect(result api.BuildResult) (bundle, error) {
	if len(result.Errors) > 0 {
		return bundle{}, errors.New("the application does not build")
	}
	out := bundle{files: map[string][]byte{}}
	for _, f := range result.OutputFiles {
		out.files[filepath.Base(f.Path)] = f.Contents
	}
	return out, json.Unmarshal([]byte(result.Metafile), &out.meta)
}

// manifest tells the server which files the page loads.
type manifest struct {
	Script  string   `json:"script"`
	Style   string   `json:"style"`
	Preload []string `json:"preload"` // what the script imports statically
	Frame   string   `json:"frame"`   // script of the page that shows mails
}

func (b bundle) manifest() (manifest, error) {
	var m manifest
	for name, out := range b.meta.Outputs {
		switch out.EntryPoint {
		case "src/main.tsx":
			m.Script, m.Style = filepath.Base(name), filepath.Base(out.CSSBundle)
			for _, file := range b.static(name) {
				if file != name {
					m.Preload = append(m.Preload, filepath.Base(file))
				}
			}
		case "src/ui/frame/frame.ts":
			if m.Frame = filepath.Base(name); len(out.Imports) > 0 {
				return m, fmt.Errorf("the script of the frame imports %s: its page has no other scripts", out.Imports[0].Path)
			}
		}
	}
	slices.Sort(m.Preload)
	if m.Script == "" || m.Frame == "" {
		return m, errors.New("the build has no entry point")
	}
	return m, nil
}

// static returns the script name and all that it imports statically.
func (b bundle) static(name string) []string {
	seen, queue := map[string]bool{name: true}, []string{name}
	for len(queue) > 0 {
		var next string
		next, queue = queue[0], queue[1:]
		for _, i := range b.meta.Outputs[next].Imports {
			if i.Kind == "import-statement" && strings.HasSuffix(i.Path, ".js") && !seen[i.Path] {
				seen[i.Path] = true
				queue = append(queue, i.Path)
			}
		}
	}
	all := make([]string, 0, len(seen))
	for name := range seen {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
