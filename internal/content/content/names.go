package content

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/markup"
	"github.com/packetboat/packetboat/internal/people/contact"
	custom "github.com/packetboat/packetboat/internal/people/field"
)

// objects are the roots that are no fields of a contact, with the names of what they hold; nil: anything,
// or nothing that can be told before sending.
var objects = map[string][]string{
	"unsubscribe_url": {}, "preferences_url": {}, "view_in_browser_url": {}, "subscribe_confirm_url": {},
	"account":   {"name", "website_url", "logo_url", "postal_address"},
	"brand":     {"colors", "fonts", "logo_url", "button", "width", "footer"},
	"broadcast": {"id", "name"},
	"sequence":  {"id", "name"},
	"email":     {"subject", "preheader", "type"},
	"event":     nil, "now": nil,
}

// ofBrand are the names in the parts of brand.
var ofBrand = map[string][]string{
	"colors": {"primary", "secondary", "text", "background", "surface"}, "fonts": {"heading", "body"}, "button": {"color", "text_color", "radius"},
}

// ofAny are the fields that texts and lists have.
var ofAny = []string{"size", "first", "last"}

// unknownNames returns the names in a text that nothing has, and that therefore print nothing.
func (tr trial) unknownNames(source string, t *liquid.Template) []Trouble {
	set := assigned(source)
	line := linesOf(source)
	var found []Trouble
	for _, path := range t.Variables() {
		root, _, _ := strings.Cut(path, ".")
		if set[root] || tr.knows(path) {
			continue
		}
		message := fmt.Sprintf("nothing is called %s, so that it prints nothing", path)
		if key, ok := strings.CutPrefix(path, "contact."); ok && tr.hasField(key) {
			message += ": the field is contact.custom_fields." + key
		}
		found = append(found, Trouble{Code: CodeUnknownName, Line: line(path), Message: message})
	}
	return found
}

// knows reports whether a path may print something for some recipient.
func (tr trial) knows(path string) bool {
	if slices.ContainsFunc(tr.paths, func(declared string) bool {
		return path == declared || strings.HasPrefix(path, declared+".") || strings.HasPrefix(declared, path+".")
	}) {
		return true
	}
	root, rest, deep := strings.Cut(path, ".")
	if _, ours := LinkVariable(root); ours || root == PixelVariable || root == HoneypotVariable || root == targetVariable {
		return true
	}
	switch root {
	case "contact":
		return !deep || tr.knowsField(rest)
	case "param":
		name, _, _ := strings.Cut(rest, ".")
		_, ok := tr.params[name]
		return !deep || ok
	}
	if inner, ok := objects[root]; ok {
		name, _, _ := strings.Cut(rest, ".")
		if part, ok := ofBrand[name]; ok && root == "brand" {
			_, of, deeper := strings.Cut(rest, ".")
			of, _, _ = strings.Cut(of, ".")
			return !deeper || slices.Contains(part, of)
		}
		return !deep || inner == nil || slices.Contains(inner, name) || slices.Contains(ofAny, name)
	}
	if tr.hasField(root) {
		return true
	}
	return tr.isContactField(root, rest)
}

// knowsField reports whether a contact has what a path within it names.
func (tr trial) knowsField(path string) bool {
	root, rest, deep := strings.Cut(path, ".")
	if root == "custom_fields" {
		key, _, _ := strings.Cut(rest, ".")
		return !deep || slices.Contains(ofAny, key) || tr.hasField(key)
	}
	return tr.isContactField(root, rest)
}

// isContactField reports whether a field that every contact has is called name, and has rest.
func (tr trial) isContactField(name, rest string) bool {
	_, known := (&contact.Contact{}).Value(name)
	return known && (rest == "" || slices.Contains(ofAny, rest))
}

// hasField reports whether the account has a custom field with a key.
func (tr trial) hasField(key string) bool {
	_, ok := tr.fields[key]
	return ok
}

// linesOf returns the line of the first Liquid that has a path, and 0 if it is written in another way.
func linesOf(source string) func(path string) int {
	named := Named(source)
	return func(path string) int {
		at := named(path)
		if at < 0 {
			return 0
		}
		return strings.Count(source[:at], "\n") + 1
	}
}

// Named returns where the first Liquid in a source has a path, and -1 if it is written in another way.
func Named(source string) func(path string) int {
	spans := sync.OnceValue(func() []markup.Span { return markup.Spans(source) })
	return func(path string) int { return firstNamed(source, spans(), path) }
}

func firstNamed(source string, spans []markup.Span, path string) int {
	for _, p := range spans {
		piece := source[p.Start:p.End]
		for at := 0; ; {
			n := strings.Index(piece[at:], path)
			if n < 0 {
				break
			}
			at += n
			end := at + len(path)
			if !markup.IsWord(piece[at-1]) && piece[at-1] != '.' && !(markup.IsWord(piece[end]) || piece[end] == '-') {
				return p.Start + at
			}
			at = end
		}
	}
	return -1
}

// pathsOf returns the paths of contacts' data as templates name them: with and without the prefixes that
// may be left out.
func pathsOf(declared []string) []string {
	var all []string
	for _, path := range declared {
		all = append(all, path)
		bare := strings.TrimPrefix(path, "contact.")
		all = append(all, bare, "contact."+bare)
		if key, ok := strings.CutPrefix(bare, "custom_fields."); ok {
			all = append(all, key)
		} else {
			all = append(all, "contact.custom_fields."+bare)
		}
	}
	return all
}

// Known are the names that an account and a content have, for Review.
type Known struct {
	Fields custom.Catalog // the custom fields
	Params []byte         // the values of param: a JSON object, or nothing
	Paths  []string       // of the data that a template expects
}
