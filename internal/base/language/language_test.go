package language_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/packetboat/packetboat/internal/base/language"
)

func TestTheReadersLanguageComesFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ accept, fallback, want string }{
		{"", "", "en"},
		{"de-AT,de;q=0.9,en;q=0.8", "fr", "de"},
		{"en-GB,en;q=0.9,de;q=0.8", "de", "en"},
		{"fi,nl;q=0.5", "en", "nl"},
		{"nl;q=0.5,ja;q=0.7", "en", "ja"},
		{"fi", "pt-BR", "pt"},
		{"zh-CN", "sv", "sv"},
		{"*", "da", "da"},
		{"fi", "fi", "en"},
		{";;;,q=\x00", "it", "it"},
		{strings.Repeat("de,", 1000), "pl", "pl"},
		{"de;q=0", "cs", "cs"},
	} {
		if got := language.Choose(tt.accept, tt.fallback); got != tt.want {
			t.Errorf("Choose(%.40q, %q) = %s, want %s", tt.accept, tt.fallback, got, tt.want)
		}
	}
}

func FuzzChoose(f *testing.F) {
	f.Add("de-CH;q=0.8, *;q=0.1", "en")
	f.Add("x-\xff;q=9", "\x00")
	f.Fuzz(func(t *testing.T, accept, fallback string) {
		got := language.Choose(accept, fallback)
		if slices.Contains(language.Tags, got) {
			return
		}
		t.Errorf("Choose = %q", got)
	})
}

func TestACatalogIsComplete(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for _, tag := range language.Tags {
		files["x/"+tag+".json"] = &fstest.MapFile{Data: []byte(`{"hello": "Hello {name}, {name} from {place}"}`)}
	}
	c, err := language.Load(files, "x")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Text("de", "hello", "name", "{place}", "place", "Rome"); got != "Hello {place}, {place} from Rome" {
		t.Errorf("Text = %q", got)
	}
	for name, text := range map[string]string{
		"a missing text":  `{}`,
		"another place":   `{"hello": "Hello {name}, {nmae} from {place}"}`,
		"one text more":   `{"hello": "{name} {name} {place}", "bye": "Bye"}`,
		"something else":  `[]`,
		"an empty string": `{"hello": ""}`,
	} {
		files["x/sv.json"] = &fstest.MapFile{Data: []byte(text)}
		if _, err := language.Load(files, "x"); err == nil || !strings.HasPrefix(err.Error(), "sv.json: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	delete(files, "x/sv.json")
	if _, err := language.Load(files, "x"); err == nil {
		t.Error("a missing file is not noticed")
	}
}
