package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"modernc.org/quickjs"

	"github.com/packetboat/packetboat/internal/mail/mjml"
)

// document is MJML on which acts of the visual editor are tried.
type document struct {
	Name     string `json:"name"`
	Text     string `json:"text"`
	Fragment bool   `json:"fragment"`
}

// outcome is a document after an act.
type outcome struct {
	Name string `json:"name"`
	What string `json:"what"`
	Text string `json:"text"`
}

// TestActsOfTheVisualEditorKeepTheCode does random acts on every document of MJML that the tests of the
// repository have: no other bytes change, undo restores the text, the tree has what it has to have (web/src/features/design/model/testing.ts),
// and the document compiles. PACKETBOAT_ACTS is how many acts there are; if it is set, the document is compiled after each of
// them, and not after some. PACKETBOAT_SEED chooses the acts.
func TestActsOfTheVisualEditorKeepTheCode(t *testing.T) {
	t.Parallel()
	acts, _ := strconv.Atoi(os.Getenv("PACKETBOAT_ACTS"))
	all := acts > 0
	if !all {
		acts = 1000
	}
	seed, _ := strconv.Atoi(os.Getenv("PACKETBOAT_SEED"))
	c := mjml.New()
	if !c.Available() {
		t.Log("the program was built without the compiler: what comes out is not compiled")
	}
	model := designModel(t)
	documents := slices.DeleteFunc(designDocuments(t), func(d document) bool {
		return model.broken(d) || compile(t, c, d, d.Text) != nil
	})
	each := acts/len(documents) + 1
	compiled, large, every := 0, 0, len(documents)*each/150
	for i, d := range documents {
		outcomes := model.acts(d, seed*1000+i, each)
		if len(outcomes) < each {
			t.Errorf("%s: %d acts; want %d", d.Name, len(outcomes), each)
		}
		for n, o := range outcomes {
			if !all && (i*each+n)%every != 0 {
				continue
			}
			compiled++
			err := compile(t, c, d, o.Text)
			if errors.Is(err, mjml.ErrTooMuch) && len(o.Text) > len(d.Text) { // acts made it longer
				large++
			} else if err != nil {
				t.Errorf("%s, seed %d, after %s: %v\n%s", d.Name, seed*1000+i, o.What, err, o.Text)
			}
		}
		if all {
			fmt.Fprintf(os.Stderr, "%d of %d documents, %d compiled\n", i+1, len(documents), compiled)
		}
	}
	t.Logf("%d documents, %d acts on each, %d compiled, %d of them too large", len(documents), each, compiled, large)
}

// TestTheVisualEditorReadsWhatTheServerReads compares what the model of the visual editor calls broken with what
// the server's check refuses, for documents, for pieces of them and for mixtures.
func TestTheVisualEditorReadsWhatTheServerReads(t *testing.T) {
	t.Parallel()
	model := designModel(t)
	documents := designDocuments(t)
	random := uint64(1)
	below := func(n int) int {
		random = random*6364136223846793005 + 1442695040888963407
		return int(random>>33) % n
	}
	pieces := []string{"<", ">", "/", "\"", "'", "{{", "}}", "{% raw %}", "{% endraw %}", "<!--", "-->", "<![CDATA[", "]]>", "</mj-text>", "<mj-text>", "<br>", "<p>", "=", " ", "\x01", "\u00a0", "<mj-raw>", "<style>", "</", "<?", "{% comment %}"}
	for _, d := range documents {
		if len(d.Text) > 20_000 {
			continue
		}
		for n := range 10 {
			changed := d
			runes := []rune(d.Text)
			if at := below(len(runes)); n > 0 {
				to := min(len(runes), at+below(3)*below(4))
				changed.Text = string(runes[:at]) + pieces[below(len(pieces))] + string(runes[to:])
			}
			var err error
			if d.Fragment {
				_, err = mjml.FragmentDocument(changed.Text)
			} else {
				_, err = mjml.Check(changed.Text)
			}
			_, refused := err.(*mjml.Error) // unknown elements are shown, and moved
			broken, why := model.brokenAt(changed)
			if refused && !broken || broken && why != "liquid" && err == nil {
				t.Errorf("%s: broken is %v (%s), the server says %v:\n%s", d.Name, broken, why, err, changed.Text)
				return
			}
		}
	}
}

// compile returns why a document, or one with a fragment, does not compile. On a busy machine a document can take too
// much time at first.
func compile(t *testing.T, c *mjml.Compiler, d document, text string) (err error) {
	t.Helper()
	if !c.Available() {
		return nil
	}
	for range 5 {
		if d.Fragment {
			_, err = mjml.CheckFragment(t.Context(), c, "owner", text)
		} else {
			_, err = c.Compile(t.Context(), "owner", text)
		}
		if !errors.Is(err, mjml.ErrTooMuch) && !errors.Is(err, mjml.ErrBusy) && !errors.Is(err, mjml.ErrOwnerBusy) {
			break
		}
	}
	return err
}

var (
	lookLine = regexp.MustCompile(`(?m)^<!-- look: (\w+) -->\n`)
	mjmlText = regexp.MustCompile("(?s)<mjml\\b.*?</mjml>")
)

// designDocuments returns the documents of all tests, the starter templates and blocks, those in code and
// in texts, and some that are made to be difficult.
func designDocuments(t *testing.T) []document {
	t.Helper()
	root := "../.."
	var all []document
	look := map[string]string{}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	glob := func(pattern string) []string {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		return files
	}
	for _, file := range glob("internal/content/template/starter/look/*.mjml") {
		look[strings.TrimSuffix(filepath.Base(file), ".mjml")] = read(file)
	}
	for _, pattern := range []string{"internal/mail/mjml/testdata/documents/*.mjml", "internal/content/template/starter/*/body.mjml", "internal/content/template/starter/blocks/*/body.mjml", "tools/web/testdata/design/*.mjml"} {
		for _, file := range glob(pattern) {
			if filepath.Base(filepath.Dir(file)) == "look" {
				continue
			}
			text := lookLine.ReplaceAllStringFunc(read(file), func(line string) string { return look[lookLine.FindStringSubmatch(line)[1]] })
			all = append(all, document{file, text, !strings.Contains(text, "<mjml")})
		}
	}
	for _, pattern := range []string{"e2e/*/*.go", "internal/*/*/*.go", "internal/*/*/*/*.go", "web/src/features/*/*.ts", "docs/*.md"} {
		for _, file := range glob(pattern) {
			for i, text := range mjmlText.FindAllString(read(file), -1) {
				text = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\t`, "\t").Replace(text)
				all = append(all, document{fmt.Sprintf("%s, %d", file, i), text, false})
			}
		}
	}
	return all
}

// model is the model of the visual editor, in an interpreter.
type model struct {
	t  *testing.T
	vm *quickjs.VM
}

func designModel(t *testing.T) model { return modelOf(t, "model/testing.ts") }

// modelOf returns what a file of the visual editor exports, in an interpreter.
func modelOf(t *testing.T, file string) model {
	t.Helper()
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{"../../web/src/features/design/" + file}, Bundle: true, Format: api.FormatIIFE, GlobalName: "design",
		Target: api.ES2022, LogLevel: api.LogLevelWarning,
	})
	if len(built.Errors) > 0 {
		t.Fatal("the model does not build")
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vm.Close() })
	if err := vm.SetEvalTimeout(time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := vm.Eval(string(built.OutputFiles[0].Contents), quickjs.EvalGlobal); err != nil {
		t.Fatal(err)
	}
	return model{t, vm}
}

// call calls a function of the model, and reads what it returns into answer.
func (m model) call(answer any, function string, args ...any) {
	m.t.Helper()
	list, err := json.Marshal(args)
	if err != nil {
		m.t.Fatal(err)
	}
	value, err := m.vm.Eval(`(() => {
		try { return JSON.stringify({ answer: design.`+function+`(...`+string(list)+`) }) }
		catch (error) { return JSON.stringify({ error: String(error) + "\n" + error.stack }) }
	})()`, quickjs.EvalGlobal)
	if err != nil {
		m.t.Fatal(err)
	}
	result := struct {
		Answer any    `json:"answer"`
		Error  string `json:"error"`
	}{Answer: answer}
	if err := json.Unmarshal([]byte(value.(string)), &result); err != nil {
		m.t.Fatal(err)
	}
	if result.Error != "" {
		m.t.Fatal(result.Error)
	}
}

func (m model) acts(d document, seed, count int) (all []outcome) {
	m.t.Helper()
	m.call(&all, "randomActs", d, seed, count)
	return all
}

func (m model) brokenAt(d document) (broken bool, why string) {
	m.t.Helper()
	var at *struct{ Why string }
	m.call(&at, "brokenAt", d)
	if at == nil {
		return false, ""
	}
	return true, at.Why
}

func (m model) broken(d document) bool {
	m.t.Helper()
	broken, _ := m.brokenAt(d)
	return broken
}
