// Package language chooses the language in which a person is addressed, and holds the texts of pages
// and mails in each language.
package language

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Tags are the languages, as BCP 47 tags.
var Tags = []string{"en", "cs", "da", "de", "es", "fr", "it", "ja", "nl", "pl", "pt", "sv"}

var matcher = func() language.Matcher {
	tags := make([]language.Tag, len(Tags))
	for i, t := range Tags {
		tags[i] = language.MustParse(t)
	}
	return language.NewMatcher(tags)
}()

// maxAccept is the maximal length in bytes of an Accept-Language header that is read.
const maxAccept = 500

// Choose returns the tag of the first language that suits: of an Accept-Language header (RFC 9110
// section 12.5.4), or of fallback, a BCP 47 tag. If none does, it is English.
func Choose(accept, fallback string) string {
	var wanted []language.Tag
	if len(accept) <= maxAccept {
		wanted, _, _ = language.ParseAcceptLanguage(accept)
	}
	if t, err := language.Parse(fallback); err == nil {
		wanted = append(wanted, t)
	}
	for _, t := range wanted { // Match would prefer an exact match to an earlier wish
		if _, i, sure := matcher.Match(t); sure >= language.High {
			return Tags[i]
		}
	}
	return Tags[0]
}

// Catalog has texts by tag and key. A text contains places such as {sender}.
type Catalog map[string]map[string]string

// Load reads a catalog from the files <tag>.json of a directory. All must have the keys of English,
// with the same places.
func Load(files fs.FS, dir string) (Catalog, error) {
	c := Catalog{}
	for _, tag := range Tags {
		text, err := fs.ReadFile(files, path.Join(dir, tag+".json"))
		if err != nil {
			return nil, err
		}
		var texts map[string]string
		if err := json.Unmarshal(text, &texts); err != nil {
			return nil, fmt.Errorf("%s.json: %w", tag, err)
		}
		c[tag] = texts
	}
	for _, tag := range Tags {
		if err := c.compare(tag); err != nil {
			return nil, fmt.Errorf("%s.json: %w", tag, err)
		}
	}
	return c, nil
}

// MustLoad is Load of embedded files, whose faults are those of the program.
func MustLoad(files fs.FS, dir string) Catalog {
	c, err := Load(files, dir)
	if err != nil {
		panic(err)
	}
	return c
}

var place = regexp.MustCompile(`\{[a-z_]+\}`)

func (c Catalog) compare(tag string) error {
	for _, key := range slices.Sorted(maps.Keys(c[Tags[0]])) {
		text := c[tag][key]
		if text == "" {
			return fmt.Errorf("the text %q is missing", key)
		}
		want, got := place.FindAllString(c[Tags[0]][key], -1), place.FindAllString(text, -1)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			return fmt.Errorf("the text %q has the places %v, want %v", key, got, want)
		}
	}
	if len(c[tag]) != len(c[Tags[0]]) {
		return fmt.Errorf("has %d texts, want %d", len(c[tag]), len(c[Tags[0]]))
	}
	return nil
}

// Text returns a text with the values of its places: their names and values in turn.
func (c Catalog) Text(tag, key string, values ...string) string {
	text := c[tag][key]
	if len(values) == 0 {
		return text
	}
	pairs := slices.Clone(values)
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
