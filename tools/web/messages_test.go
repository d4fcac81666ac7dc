package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written returns a project with files.
func written(t *testing.T, files map[string]string) project {
	t.Helper()
	web := t.TempDir()
	parser, err := os.ReadFile(filepath.Join("..", "..", "web", filepath.FromSlash(messageFile)))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		file := filepath.Join(web, "src", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.TrimPrefix(messageFile, "src/"), string(parser))
	for name, text := range files {
		write(name, text)
	}
	return project{web: web}
}

const sourceOfForms = `import { catalogue } from "../../base/words/catalogue";
// catalogue( in a comment is none
const words = catalogue("forms.page", {
	title: "Forms", // a comment with a ) and a "
	'quoted': 'It is “(”, isn\'t it?',
	none: "{count, plural, =0 {Nobody} other {{count, plural, one {# of them} other {# of them}}}}",
	empty: "",
	rows: "{count, plural, one {# row} other {# rows}} of {name}",
	kinds: { a: "A", b: "{state, select, on {On} other {Off}}" } as { [k: string]: string },
	at: ` + "`On {at, date}`" + `,
});
`

const formsInGerman = `{"forms.page": {"title": "Formulare", "quoted": "„(“", "none": "{count, plural, =0 {Niemand} other {Jemand}}", "empty": "", "rows": "{count, plural, one {# Zeile} other {# Zeilen}} von {name}",
	"kinds": {"a": "A", "b": "{state, select, on {An} other {Aus}}"}, "at": "Am {at, date}"}}`

func TestMessagesThatFitPass(t *testing.T) {
	t.Parallel()
	p := written(t, map[string]string{"features/forms/Page.tsx": sourceOfForms, "languages/de/forms.json": formsInGerman})
	if err := p.checkMessages(); err != nil {
		t.Error(err)
	}
}

func TestMessagesThatDoNotFitAreReported(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change [2]string // in the sources
		german [2]string // in the translation
		want   string
	}{
		"a text that is computed":          {change: [2]string{`"Forms"`, "`${mail}s`"}, want: "not literal"},
		"a text of another value":          {change: [2]string{`"Forms"`, "7"}, want: "title is no text"},
		"a place that does not end":        {change: [2]string{`"Forms"`, `"{count"`}, want: "“{count” is no message"},
		"a plural without other":           {change: [2]string{`one {# row} other {# rows}`, `one {# row}`}, want: "lacks a form for other"},
		"a plural without a category":      {change: [2]string{`one {# row} other {# rows}`, `other {# rows}`}, want: "lacks the form for one of count"},
		"an id of another feature":         {change: [2]string{`"forms.page"`, `"home.page"`}, want: "does not begin with the name of the feature"},
		"no id":                            {change: [2]string{`"forms.page"`, `"Forms"`}, want: "no id"},
		"an unknown kind":                  {change: [2]string{"{at, date}", "{at, moon}"}, want: "of the unknown kind moon"},
		"a missing translation":            {german: [2]string{`"title": "Formulare", `, ""}, want: "de: forms.page.title is missing"},
		"an empty translation":             {german: [2]string{`"Formulare"`, `""`}, want: "title is empty"},
		"a translation of nothing":         {german: [2]string{`"title"`, `"other": "x", "title"`}, want: "de: forms.page.other is not in the sources any more"},
		"a catalogue that is not there":    {german: [2]string{`"forms.page"`, `"forms.pages"`}, want: "there is no catalogue forms.pages"},
		"a catalogue in another file":      {german: [2]string{`"forms.page"`, `"home.page"`}, want: "belong in home.json"},
		"a place without a value":          {german: [2]string{"{name}", "{nom}"}, want: "has the places"},
		"a place that lacks":               {german: [2]string{" von {name}", ""}, want: "has the places"},
		"a number as a list":               {german: [2]string{"{count, plural, one {# Zeile} other {# Zeilen}}", "{count, list}"}, want: "{count} (list)"},
		"a choice that is not translated":  {german: [2]string{"on {An} ", ""}, want: "has the places"},
		"a category of another language":   {german: [2]string{"one {# Zeile}", "one {# Zeile} few {# Zeilen}"}, want: "no category of this language"},
		"a number without its category":    {german: [2]string{"{Jemand}", "{{count, number} Leute}"}, want: "lacks the form for one of count"},
		"a category that lacks":            {german: [2]string{"one {# Zeile} ", ""}, want: "lacks the form for one of count"},
		"a translation that is no message": {german: [2]string{"Formulare", "Formulare}"}, want: "closes more than it opens"},
		"a file that is no JSON":           {german: [2]string{`"title"`, `title`}, want: "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, german := strings.Replace(sourceOfForms, tt.change[0], tt.change[1], 1), strings.Replace(formsInGerman, tt.german[0], tt.german[1], 1)
			if source == sourceOfForms && german == formsInGerman {
				t.Fatal("nothing is changed")
			}
			p := written(t, map[string]string{"features/forms/Page.tsx": source, "features/home/Home.tsx": "", "languages/de/forms.json": german})
			if err := p.checkMessages(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the check says %v; want %q", err, tt.want)
			}
		})
	}
}

func TestIdsOfCataloguesAreUnique(t *testing.T) {
	t.Parallel()
	p := written(t, map[string]string{"features/forms/Page.tsx": sourceOfForms, "features/forms/Second.tsx": sourceOfForms, "languages/de/forms.json": "{}"})
	if err := p.checkMessages(); err == nil || !strings.Contains(err.Error(), "the id forms.page is that of a catalogue in features/forms/Page.tsx") {
		t.Errorf("the check says %v", err)
	}
}

func TestFilesOfALanguageAreThoseOfTheCatalogues(t *testing.T) {
	t.Parallel()
	p := written(t, map[string]string{"features/forms/Page.tsx": sourceOfForms, "languages/de/form.json": "{}"})
	err := p.checkMessages()
	for _, want := range []string{"languages/de/forms.json is missing", "languages/de/form.json: no catalogue has its texts there"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the check says %v; want %q", err, want)
		}
	}
}

func TestTranslatorsGetTheTextsThatLack(t *testing.T) {
	t.Parallel()
	p := written(t, map[string]string{
		"features/forms/Page.tsx": sourceOfForms, "features/home/Home.tsx": `const words = catalogue("home.home", { z: "Last", a: "<b>" });`,
		"languages/de/forms.json": formsInGerman, "languages/de/home.json": "{}",
	})
	dir := t.TempDir()
	if err := p.writeMessages(dir); err != nil {
		t.Fatal(err)
	}
	const home = "{\n\t\"home.home\": {\n\t\t\"z\": \"Last\",\n\t\t\"a\": \"<b>\"\n\t}\n}\n"
	for _, language := range []string{"en", "de"} {
		if data, err := os.ReadFile(filepath.Join(dir, language, "home.json")); err != nil || string(data) != home {
			t.Errorf("%s has %q, %v; want %q", language, data, err, home)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "en", "forms.json")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "de", "forms.json")); err == nil {
		t.Error("forms.json has no text that lacks a translation, but is written")
	}
}
