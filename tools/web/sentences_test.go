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

// sentencesModule returns the sentences that pages show for texts of the server, and whether it knows them: what is shown
// as a quotation, or in general, it does not know.
const sentencesModule = `
import { clauseSentence, fieldSentence, general, mailFix, mailProblem } from "./base/words/problems";
import { hasWords, loadProblems, sentenceFor } from "./base/words/errors";
import { attemptText } from "./base/words/attemptTexts";
import { quoted } from "./base/words/forms";
import { missingText } from "./features/home/steps";
import { noticeText } from "./features/home/noticeTexts";
import { eligibilityText } from "./features/contacts/eligibilityTexts";
import { recordText } from "./features/sending/recordTexts";
import { problemWords } from "./features/sequences/steps";
loadProblems();
const strange = quoted("").replace(/[^\p{L} ].*$/su, "");
const known = (text) => text.startsWith(strange) ? null : text;
const ownWords = (code) => code !== "" && sentenceFor(code, "the job failed") === sentenceFor(code, ""); // whatever the server says
const first = (...texts) => { for (const text of texts) if (text) return text; return null; };
const of = {
	field: (t) => fieldSentence({ path: "name", message: t.Text }),
	message: (t) => ownWords(t.Code) ? sentenceFor(t.Code, t.Text) : first(clauseSentence(t.Text), eligibilityText(t.Text), missingText(t.Text), known(noticeText({ kind: "x", message: t.Text })), attemptText(t.Text), known(mailProblem({ field: "", message: t.Text }))),
	mail: (t) => known(mailProblem({ field: "parameters.name", message: t.Text })),
	fix: (t) => known(mailFix(t.Text)),
	link: (t) => mailProblem({ field: "body_html", message: 'the link "https://example.com" ' + t.Text }),
	record: (t) => known(recordText(t.Text)),
	attempt: (t) => attemptText(t.Text),
	flow: (t) => problemWords(t.Text),
	notice: (t) => known(noticeText({ kind: "x", message: "example.com: " + t.Text })),
};
const ofAny = [general("Name"), sentenceFor("", ""), mailProblem({ field: "body_html", message: 'the link "https://example.com" is bad' })];
export const sentences = (json) => JSON.stringify(JSON.parse(json).map((t) => {
	const text = of[t.Kind](t);
	return { text: text ?? "", unknown: !text || t.Kind === "flow" && text === sentenceFor("INVALID_GRAPH", "") || t.Code !== "" && !hasWords(t.Code) || ofAny.includes(text) };
}));
`

// TestEveryErrorOfTheServerHasASentence reads all texts in the server's sources.
func TestEveryErrorOfTheServerHasASentence(t *testing.T) {
	t.Parallel()
	texts := serverTexts(t, "../../internal")
	for _, text := range ofLibrary {
		texts = append(texts, serverText{Text: text, Kind: ofField})
	}
	kinds, codes := map[textKind]int{}, map[string]bool{}
	for _, text := range texts {
		kinds[text.Kind]++
		codes[text.Code] = true
	}
	for kind, least := range map[textKind]int{ofField: 300, ofMessage: 300, ofMail: 120, ofFix: 40, ofLink: 7, ofRecord: 50, ofAttempt: 17, ofFlow: 30, ofNotice: 6} {
		if kinds[kind] < least {
			t.Errorf("found %d texts of the kind %s, which cannot be all", kinds[kind], kind)
		}
	}
	if len(codes) < 70 {
		t.Fatalf("found %d codes, which cannot be all", len(codes))
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
			t.Errorf("%s %s %q has no sentence: %q", text.Kind, text.Code, text.Text, s.Text)
		case !wholeSentence.MatchString(s.Text), technical.MatchString(s.Text):
			t.Errorf("%s %q is shown as %q, which is no sentence for people", text.Code, text.Text, s.Text)
		}
	}
	if unknown > 0 {
		t.Errorf("%d of %d texts have no sentence", unknown, len(texts))
	}
}

var (
	wholeSentence = regexp.MustCompile(`^(?:["“A-Z0-9]|</?\w+>|_dmarc\.).*(?:[.!?…]|[.!?…:] ?“.*”)$`)
	technical     = regexp.MustCompile(`(?:^|[^{\w ]|[^{] )\b[a-z]+_[a-z_]+\b|\w\[\d`)
)

// ofLibrary are problems that the library for schemas words (github.com/danielgtaylor/huma/v2/validation).
var ofLibrary = []string{
	"unexpected property", "expected boolean", "expected number", "expected integer", "expected string", "expected array", "expected object", "expected array items to be unique",
	"expected value to be 3", "expected number >= 3", "expected number > 3", "expected number <= 3", "expected number < 3", "expected number to be a multiple of 3", "expected length >= 1",
	"expected length >= 3", "expected length <= 3", "expected string to match pattern ^a$", "expected array length >= 3", "expected array length <= 3",
	"expected object with at least 3 properties", "expected object with at most 3 properties", "expected value to match at least one schema but matched none",
}
