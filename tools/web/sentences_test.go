package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"modernc.org/quickjs"
	"modernc.org/quickjs/intl"
)

// sentencesModule returns the sentences that pages show for texts of the server.
const sentencesModule = `
import { fieldSentence, general } from "./base/words/problems";
import { hasWords, loadProblems, sentenceFor } from "./base/words/errors";
loadProblems();
export const sentences = (json) => JSON.stringify(JSON.parse(json).map((t) => {
	const text = t.Field ? fieldSentence({ path: "name", message: t.Text }) : sentenceFor(t.Code, t.Text);
	return { text, unknown: t.Code !== "" && !hasWords(t.Code) || [general("Name"), sentenceFor("", "")].includes(text) };
}));
`

// TestEveryErrorOfTheServerHasASentence reads all texts in the server's sources.
func TestEveryErrorOfTheServerHasASentence(t *testing.T) {
	t.Parallel()
	texts := serverTexts(t, "../../internal")
	for _, text := range ofLibrary {
		texts = append(texts, serverText{Text: text, Field: true})
	}
	fields, codes := 0, map[string]bool{}
	for _, text := range texts {
		if text.Field {
			fields++
		}
		codes[text.Code] = true
	}
	if fields < 300 || len(texts)-fields < 200 || len(codes) < 70 {
		t.Fatalf("found %d problems of fields, %d messages and %d codes, which cannot be all", fields, len(texts)-fields, len(codes))
	}
	root, err := filepath.Abs("../../web/src")
	if err != nil {
		t.Fatal(err)
	}
	built := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: sentencesModule, ResolveDir: root, Loader: api.LoaderTS},
		Bundle: true, Format: api.FormatIIFE, GlobalName: "module", Target: api.ES2020, LogLevel: api.LogLevelWarning,
	})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors)
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if err := intl.Register(vm, intl.TimeZone("UTC")); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{platform, string(built.OutputFiles[0].Contents)} {
		if _, err := vm.Eval(script, quickjs.EvalGlobal); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := vm.ExecutePendingJobs(); err != nil { // what is loaded later
		t.Fatal(err)
	}
	asked, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(string(asked))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := vm.Eval("module.sentences("+string(quoted)+")", quickjs.EvalGlobal)
	if err != nil {
		t.Fatal(err)
	}
	var shown []struct {
		Text    string
		Unknown bool
	}
	if err := json.Unmarshal([]byte(fmt.Sprint(answer)), &shown); err != nil || len(shown) != len(texts) {
		t.Fatalf("%d sentences for %d texts: %v", len(shown), len(texts), err)
	}
	unknown := 0
	for i, text := range texts {
		switch s := shown[i]; {
		case s.Unknown:
			unknown++
			t.Errorf("%s %q (field: %v) has no sentence: %q", text.Code, text.Text, text.Field, s.Text)
		case !wholeSentence.MatchString(s.Text), technical.MatchString(s.Text):
			t.Errorf("%s %q is shown as %q, which is no sentence for people", text.Code, text.Text, s.Text)
		}
	}
	if unknown > 0 {
		t.Errorf("%d of %d texts have no sentence", unknown, len(texts))
	}
}

var (
	wholeSentence = regexp.MustCompile(`^["“A-Z0-9].*[.!?…]$`)
	technical     = regexp.MustCompile(`(?:^|[^{\w ]|[^{] )\b[a-z]+_[a-z_]+\b|\w\[\d`)
)

// ofLibrary are problems that the library for schemas words (github.com/danielgtaylor/huma/v2/validation).
var ofLibrary = []string{
	"unexpected property", "expected boolean", "expected number", "expected integer", "expected string", "expected array", "expected object", "expected array items to be unique",
	"expected value to be 3", "expected number >= 3", "expected number > 3", "expected number <= 3", "expected number < 3", "expected number to be a multiple of 3", "expected length >= 1",
	"expected length >= 3", "expected length <= 3", "expected string to match pattern ^a$", "expected array length >= 3", "expected array length <= 3",
	"expected object with at least 3 properties", "expected object with at most 3 properties", "expected value to match at least one schema but matched none",
}
