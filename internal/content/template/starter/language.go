package starter

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// translation is what the starters say in another language.
type translation struct {
	Values map[string]string `json:"values"` // texts of schemas and samples, and names
	Code   map[string]string `json:"code"`   // pieces of MJML, texts and subjects
}

// replacers change names, JSON and code into a language.
type replacers struct {
	names      map[string]string
	json, code *strings.Replacer
}

// languages has the languages of the starters besides English.
var languages = sync.OnceValue(func() map[string]replacers {
	entries, err := files.ReadDir("languages")
	if err != nil {
		panic(err) // embedded in the program
	}
	all := map[string]replacers{}
	for _, e := range entries {
		var t translation
		if err := json.Unmarshal([]byte(readFile("languages", e.Name())), &t); err != nil {
			panic(err)
		}
		quoted := map[string]string{}
		for from, to := range t.Values {
			quoted[quote(from)] = quote(to)
		}
		all[strings.TrimSuffix(e.Name(), path.Ext(e.Name()))] = replacers{t.Values, replacer(quoted), replacer(t.Code)}
	}
	return all
})

// replacer replaces the longest piece where several begin.
func replacer(pieces map[string]string) *strings.Replacer {
	var pairs []string
	for _, from := range slices.SortedFunc(maps.Keys(pieces), func(a, b string) int { return len(b) - len(a) }) {
		pairs = append(pairs, from, pieces[from])
	}
	return strings.NewReplacer(pairs...)
}

// quote returns a text as the JSON of the starters has it.
func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // into memory
	return strings.TrimSpace(b.String())
}

// In returns the starter in the language of a locale such as de-CH, in English if it has no other.
func (s Starter) In(locale string) Starter {
	language, _, _ := strings.Cut(strings.ToLower(locale), "-")
	r, ok := languages()[language]
	if !ok {
		return s
	}
	if name := r.names[s.Name]; name != "" {
		s.Name = name
	}
	s.Subject = r.code.Replace(s.Subject)
	s.MJML, s.Text = r.code.Replace(s.MJML), r.code.Replace(s.Text)
	s.Schema, s.Sample = json.RawMessage(r.json.Replace(string(s.Schema))), json.RawMessage(r.json.Replace(string(s.Sample)))
	return s
}
