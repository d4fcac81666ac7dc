package starter_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/content/template/starter"
	"github.com/packetboat/packetboat/internal/mail/liquid"
)

var (
	// textNode matches the text between two elements of MJML.
	textNode   = regexp.MustCompile(`>([^<>]+)<`)
	anyLiquid  = regexp.MustCompile(`\{\{.*?\}\}|\{%.*?%\}`)
	someWord   = regexp.MustCompile(`\p{L}{3}`)
	styleSheet = regexp.MustCompile(`(?s)<mj-style>.*?</mj-style>`)
)

// The German starters have no English words, and are as whole as the English ones.
func TestStartersSpeakTheLanguageOfTheAccount(t *testing.T) {
	t.Parallel()
	c := needCompiler(t)
	var language struct{ Values, Code map[string]string }
	file, err := os.ReadFile(filepath.Join("languages", "de.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, &language); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, s := range starter.All() {
		all.WriteString(s.Subject + s.MJML + s.Text)
		t.Run(s.Slug, func(t *testing.T) {
			made := s.In("de-CH")
			if language.Values[s.Name] != made.Name {
				t.Errorf("the name is %q", made.Name)
			}
			words := func(code string) (list []string) {
				for _, m := range textNode.FindAllStringSubmatch(styleSheet.ReplaceAllString(code, ""), -1) {
					if text := strings.TrimSpace(anyLiquid.ReplaceAllString(m[1], "")); someWord.MatchString(text) {
						list = append(list, text)
					}
				}
				return list
			}
			for _, text := range words(made.MJML) {
				if slices.Contains(words(s.MJML), text) {
					t.Errorf("the code says %q", text)
				}
			}
			for _, part := range []json.RawMessage{s.Schema, s.Sample} {
				var v any
				if err := json.Unmarshal(part, &v); err != nil {
					t.Fatal(err)
				}
				for _, text := range texts(v, "") {
					if language.Values[text] == "" {
						t.Errorf("not translated: %q", text)
					}
				}
			}
			l := withSample(t, made)
			r, err := c.Compile(t.Context(), "tenant", l.bodies.MJML)
			if err != nil || len(r.Warnings) > 0 {
				t.Fatalf("%v, %v", err, r.Warnings)
			}
			for _, known := range []bool{true, false} {
				if page := l.render(t, r.HTML, liquid.HTML, known); !strings.Contains(page, `lang="de"`) {
					t.Error("the page is in another language")
				}
				if text := l.render(t, l.bodies.Text, liquid.Text, known); !strings.Contains(text, "Von diesen E-Mails abmelden: https://mail.example.com/u") {
					t.Errorf("the text is\n%s", text)
				}
			}
			if same := s.In("en-GB"); same.MJML != s.MJML || same.Name != s.Name {
				t.Error("English changes it")
			}
		})
	}
	for from := range language.Code {
		if !strings.Contains(all.String(), from) {
			t.Errorf("nothing has %q", from)
		}
	}
}

// texts returns the texts of a schema or a sample that people read.
func texts(v any, name string) (list []string) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch key {
			case "type", "value", "path", "validation", "schemes", "strategy", "block_id", "tag_filter", "allowed_strategies", "default_strategy":
				continue
			case "slots":
				if _, ok := value.([]any); ok {
					continue // names of a group
				}
			case "parameters", "sections":
				if _, ok := value.([]any); ok {
					continue // names of a group
				}
			}
			list = append(list, texts(value, key)...)
		}
	case []any:
		for _, value := range v {
			list = append(list, texts(value, name)...)
		}
	case string:
		if someWord.MatchString(anyLiquid.ReplaceAllString(v, "")) && !strings.Contains(v, "example.com") && strings.ToUpper(v) != v && strings.ToLower(v) != v {
			list = append(list, v)
		}
	}
	return list
}
