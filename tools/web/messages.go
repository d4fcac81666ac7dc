package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"modernc.org/quickjs"
)

// categories are the plural categories of numbers in the languages of the application
// (https://www.unicode.org/cldr/charts/latest/supplemental/language_plural_rules.html).
var categories = map[string][]string{"en": {"one", "other"}, "de": {"one", "other"}}

// whole are the languages in which no text may be missing.
var whole = []string{"en", "de"}

// messageFile is the module that reads messages in the browser; the check uses the same.
const messageFile = "src/base/words/message.ts"

// message is a text of a catalogue, and what it is made of.
type message struct {
	text  string
	parts []part
}

// part is a piece of a message, as messageFile describes it.
type part struct {
	Text  string            `json:"text"`
	Name  string            `json:"name"`
	Kind  string            `json:"kind"`
	Forms map[string][]part `json:"forms"`
}

func (p *part) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &p.Text)
	}
	type place part
	return json.Unmarshal(data, (*place)(p))
}

// catalogue has the messages of a catalogue by their keys: "kinds.form" is the text of form in kinds.
type catalogue struct {
	source   string          // where it stands
	tree     json.RawMessage // as it stands there
	messages map[string]message
}

// catalogues are all catalogues in a language by their ids.
type catalogues map[string]catalogue

// messageReader reads catalogues and messages.
type messageReader struct{ vm *quickjs.VM }

// newMessageReader returns a reader that must be closed.
func (p project) newMessageReader() (messageReader, error) {
	built := api.Build(api.BuildOptions{
		AbsWorkingDir: p.web, EntryPoints: []string{messageFile}, Bundle: true, Format: api.FormatIIFE, GlobalName: "icu", Target: api.ES2020, LogLevel: api.LogLevelWarning,
	})
	if len(built.Errors) > 0 || len(built.OutputFiles) != 1 {
		return messageReader{}, fmt.Errorf("%s does not build", messageFile)
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		return messageReader{}, err
	}
	r := messageReader{vm}
	if _, err := r.eval(string(built.OutputFiles[0].Contents)); err != nil {
		r.close()
		return messageReader{}, err
	}
	return r, nil
}

func (r messageReader) close() { _ = r.vm.Close() }

func (r messageReader) eval(script string) (string, error) {
	answer, err := r.vm.Eval(script, quickjs.EvalGlobal)
	text, _ := answer.(string)
	return text, err
}

// parse reads a message.
func (r messageReader) parse(text string) (message, error) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return message{}, err
	}
	answer, err := r.eval(`try { JSON.stringify({ parts: icu.parse(` + string(quoted) + `) }) } catch (e) { JSON.stringify({ problem: e.message }) }`)
	if err != nil {
		return message{}, err
	}
	var parsed struct {
		Parts   []part
		Problem string
	}
	if err := json.Unmarshal([]byte(answer), &parsed); err != nil {
		return message{}, err
	}
	if parsed.Problem != "" {
		return message{}, errors.New(parsed.Problem)
	}
	return message{text, parsed.Parts}, nil
}

// read returns the messages of a catalogue, and what is wrong with them.
func (r messageReader) read(source string, tree json.RawMessage) (catalogue, error) {
	c := catalogue{source, tree, map[string]message{}}
	var add func(key string, tree json.RawMessage) error
	add = func(key string, tree json.RawMessage) error {
		var text string
		if json.Unmarshal(tree, &text) == nil {
			m, err := r.parse(text)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", source, key, err)
			}
			c.messages[key] = m
			return nil
		}
		var inner map[string]json.RawMessage
		if err := json.Unmarshal(tree, &inner); err != nil {
			return fmt.Errorf("%s: %s is no text: %s", source, key, tree)
		}
		var problems []error
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			problems = append(problems, add(strings.TrimPrefix(key+"."+name, "."), inner[name]))
		}
		return errors.Join(problems...)
	}
	return c, add("", tree)
}

// english returns the catalogues in the sources, and what is wrong with them.
func (p project) english(r messageReader) (catalogues, error) {
	all := catalogues{}
	src := filepath.Join(p.web, "src")
	var problems []error
	err := filepath.WalkDir(src, func(file string, e fs.DirEntry, err error) error {
		if ext := filepath.Ext(file); err != nil || e.IsDir() || ext != ".ts" && ext != ".tsx" || strings.HasSuffix(file, ".test.ts") {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(src, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		for _, call := range catalogueCalls(data) {
			id, tree, err := r.evaluate(call)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: a catalogue is not literal: %w", name, err))
				continue
			}
			if first, ok := all[id]; ok {
				problems = append(problems, fmt.Errorf("%s: the id %s is that of a catalogue in %s", name, id, first.source))
				continue
			}
			c, err := r.read(name, tree)
			all[id] = c
			problems = append(problems, err, p.idFits(id, name))
		}
		return nil
	})
	return all, errors.Join(append(problems, err)...)
}

var idPattern = regexp.MustCompile(`^([a-z][A-Za-z0-9]*)(\.[a-z][A-Za-z0-9]*)+$`)

// idFits reports an id that is none, or whose texts would be loaded with another part of the application: the texts of
// a feature are in the file of its name.
func (p project) idFits(id, file string) error {
	m := idPattern.FindStringSubmatch(id)
	if m == nil {
		return fmt.Errorf("%s: %q is no id of a catalogue, such as contacts.import", file, id)
	}
	if parts := strings.Split(file, "/"); parts[0] == "features" && m[1] != parts[1] {
		return fmt.Errorf("%s: the id %s does not begin with the name of the feature", file, id)
	} else if _, err := os.Stat(filepath.Join(p.web, "src", "features", m[1])); parts[0] != "features" && err == nil {
		return fmt.Errorf("%s: the id %s begins with the name of a feature", file, id)
	}
	return nil
}

var catalogueCall = regexp.MustCompile(`\bcatalogue\(`)

// catalogueCalls returns the arguments of calls of catalogue in a source.
func catalogueCalls(source []byte) (calls []string) {
	for _, at := range catalogueCall.FindAllIndex(source, -1) {
		line := source[bytes.LastIndexByte(source[:at[0]], '\n')+1 : at[0]]
		if trimmed := bytes.TrimSpace(line); bytes.HasPrefix(trimmed, []byte("//")) || bytes.HasPrefix(trimmed, []byte("*")) {
			continue // a comment
		}
		if end := closing(source, at[1]); end > 0 {
			calls = append(calls, string(source[at[1]:end]))
		}
	}
	return calls
}

// closing returns where the bracket closes that was opened before from, and -1 if it does not.
func closing(source []byte, from int) int {
	depth := 1
	for i := from; i < len(source); i++ {
		switch c := source[i]; c {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			if depth--; depth == 0 {
				return i
			}
		case '"', '\'', '`':
			for i++; i < len(source) && source[i] != c; i++ {
				if source[i] == '\\' {
					i++
				}
			}
		case '/':
			if bytes.HasPrefix(source[i:], []byte("//")) {
				i += max(bytes.IndexByte(source[i:], '\n'), 0)
			} else if bytes.HasPrefix(source[i:], []byte("/*")) {
				i += max(bytes.Index(source[i:], []byte("*/")), 0) + 1
			}
		}
	}
	return -1
}

// evaluate returns the id and the texts of a call of catalogue. A call that names anything is not literal.
func (r messageReader) evaluate(arguments string) (id string, tree json.RawMessage, err error) {
	plain := api.Transform("JSON.stringify(["+arguments+"])", api.TransformOptions{Loader: api.LoaderTS, Charset: api.CharsetUTF8})
	if len(plain.Errors) > 0 {
		return "", nil, errors.New(plain.Errors[0].Text)
	}
	text, err := r.eval(string(plain.Code))
	if err != nil {
		return "", nil, err
	}
	var call []json.RawMessage
	if err := json.Unmarshal([]byte(text), &call); err != nil {
		return "", nil, err
	}
	if len(call) != 2 || json.Unmarshal(call[0], &id) != nil {
		return "", nil, errors.New("a call has an id and texts")
	}
	return id, call[1], nil
}

// languages returns the catalogues of all translations by language, and what is wrong with the files.
func (p project) languages(r messageReader, english catalogues) (map[string]catalogues, error) {
	all := map[string]catalogues{}
	dir := filepath.Join(p.web, "src", "languages")
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, language := range found {
		translated := catalogues{}
		for _, name := range filesOf(english) {
			file := "languages/" + language.Name() + "/" + name
			data, err := os.ReadFile(filepath.Join(dir, language.Name(), name))
			if errors.Is(err, fs.ErrNotExist) {
				problems = append(problems, fmt.Errorf("%s is missing; without translations it is {}", file))
				continue
			}
			var trees map[string]json.RawMessage
			if err := errors.Join(err, json.Unmarshal(data, &trees)); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", file, err))
				continue
			}
			for id, tree := range trees {
				c, err := r.read(file+": "+id, tree)
				if fileOf(id) != name {
					err = fmt.Errorf("%s: the texts of %s belong in %s", file, id, fileOf(id))
				}
				translated[id] = c
				problems = append(problems, err)
			}
		}
		files, err := os.ReadDir(filepath.Join(dir, language.Name()))
		problems = append(problems, err)
		for _, f := range files {
			if !slices.Contains(filesOf(english), f.Name()) {
				problems = append(problems, fmt.Errorf("languages/%s/%s: no catalogue has its texts there", language.Name(), f.Name()))
			}
		}
		all[language.Name()] = translated
	}
	return all, errors.Join(problems...)
}

// fileOf returns the name of the file with the translations of a catalogue.
func fileOf(id string) string {
	name, _, _ := strings.Cut(id, ".")
	return name + ".json"
}

func filesOf(all catalogues) (files []string) {
	for id := range all {
		files = append(files, fileOf(id))
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// checkMessages reports what is wrong with the messages of the catalogues and their translations. It prints how many
// texts are missing in languages that need not be whole.
func (p project) checkMessages() error {
	r, err := p.newMessageReader()
	if err != nil {
		return err
	}
	defer r.close()
	english, err := p.english(r)
	problems := []error{err, fits("en", english, english)}
	languages, err := p.languages(r, english)
	problems = append(problems, err)
	for _, name := range slices.Sorted(maps.Keys(languages)) {
		problems = append(problems, fits(name, english, languages[name]))
		missing := missing(english, languages[name])
		if len(missing) == 0 {
			continue
		}
		count := 0
		for id := range missing {
			count += len(english[id].messages)
		}
		if slices.Contains(whole, name) {
			problems = append(problems, fmt.Errorf("languages/%s lacks %d texts, of %s", name, count, strings.Join(slices.Sorted(maps.Keys(missing)), ", ")))
		} else {
			fmt.Fprintf(os.Stderr, "web: languages/%s lacks %d texts in %d catalogues\n", name, count, len(missing))
		}
	}
	return errors.Join(problems...)
}

// missing returns the catalogues that have no translation.
func missing(english, translated catalogues) catalogues {
	out := maps.Clone(english)
	maps.DeleteFunc(out, func(id string, _ catalogue) bool { _, ok := translated[id]; return ok })
	return out
}

// fits reports texts of a language that do not fit those of the sources: catalogues and texts that are not there,
// texts that a catalogue lacks, places of other values, and forms that the language does not have or needs.
func fits(language string, english, translated catalogues) error {
	var problems []error
	wrong := func(id, key, format string, a ...any) {
		problems = append(problems, fmt.Errorf("%s: %s.%s %s", language, id, key, fmt.Sprintf(format, a...)))
	}
	forms := categories[language]
	if forms == nil {
		return fmt.Errorf("%s: categories lacks its plural categories", language)
	}
	for _, id := range slices.Sorted(maps.Keys(translated)) {
		source, ok := english[id]
		if !ok {
			problems = append(problems, fmt.Errorf("%s: there is no catalogue %s", language, id))
			continue
		}
		have := translated[id].messages
		for _, key := range slices.Sorted(maps.Keys(source.messages)) {
			m, ok := have[key]
			if !ok {
				wrong(id, key, "is missing")
				continue
			}
			if m.text == "" && source.messages[key].text != "" {
				wrong(id, key, "is empty")
			}
			want, has := places(source.messages[key].parts), places(m.parts)
			if !maps.Equal(want, has) {
				wrong(id, key, "has the places %s; its English text has %s", describe(has), describe(want))
			}
			for _, p := range plurals(m.parts) {
				chosen := slices.Sorted(maps.Keys(p.Forms))
				for _, form := range chosen {
					if !strings.HasPrefix(form, "=") && !slices.Contains(forms, form) {
						wrong(id, key, "has a form for %s, which is no category of this language", form)
					}
				}
				if tellsApart(p, chosen) {
					continue
				}
				for _, form := range forms {
					if !slices.Contains(chosen, form) && (form != "one" || !slices.Contains(chosen, "=1")) {
						wrong(id, key, "lacks the form for %s of %s", form, p.Name)
					}
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(have)) {
			if _, ok := source.messages[key]; !ok {
				wrong(id, key, "is not in the sources any more")
			}
		}
	}
	return errors.Join(problems...)
}

// tellsApart reports whether a plural only tells single numbers from all others, whose form does not write the number,
// so that it needs no forms by category.
func tellsApart(p part, chosen []string) bool {
	single := func(form string) bool { return form == "other" || strings.HasPrefix(form, "=") }
	writes := func(inner part) bool { return inner.Name == p.Name && (inner.Kind == "#" || inner.Kind == "number") }
	return !slices.ContainsFunc(chosen, func(form string) bool { return !single(form) }) && !slices.ContainsFunc(p.Forms["other"], writes)
}

// places returns what the places of a message take: by its name text, a number, a list or a time, or the choices that it
// chooses from.
func places(parts []part) map[string]string {
	out := map[string]string{}
	for _, p := range parts {
		switch p.Kind {
		case "plural", "number", "#":
			out[p.Name] = "number"
		case "date", "time", "datetime":
			out[p.Name] = "time"
		case "select":
			out[p.Name] = strings.Join(slices.Sorted(maps.Keys(p.Forms)), " or ")
		case "list":
			out[p.Name] = "list"
		case "":
			if p.Name != "" && out[p.Name] == "" {
				out[p.Name] = "text"
			}
		default:
			out[p.Name] = "of the unknown kind " + p.Kind
		}
		for _, inner := range p.Forms {
			for name, kind := range places(inner) {
				if out[name] == "" || kind != "text" {
					out[name] = kind
				}
			}
		}
	}
	return out
}

func describe(places map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(places)) {
		out = append(out, fmt.Sprintf("{%s} (%s)", name, places[name]))
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}

// plurals returns the plurals of a message, those in forms too.
func plurals(parts []part) (out []part) {
	for _, p := range parts {
		if p.Kind == "plural" {
			out = append(out, p)
		}
		for _, inner := range p.Forms {
			out = append(out, plurals(inner)...)
		}
	}
	return out
}

// writeMessages writes what translators work on below dir: the English texts of all catalogues, and for each language
// the English texts of those that it lacks.
func (p project) writeMessages(dir string) error {
	r, err := p.newMessageReader()
	if err != nil {
		return err
	}
	defer r.close()
	english, err := p.english(r)
	if err != nil {
		return err
	}
	languages, err := p.languages(r, english)
	if err != nil {
		return err
	}
	problems := []error{english.write(filepath.Join(dir, "en"))}
	for name, translated := range languages {
		problems = append(problems, missing(english, translated).write(filepath.Join(dir, name)))
	}
	return errors.Join(problems...)
}

// write writes catalogues to files as those of the translations are.
func (c catalogues) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range filesOf(c) {
		texts := map[string]json.RawMessage{}
		for id, one := range c {
			if fileOf(id) == name {
				texts[id] = one.tree
			}
		}
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "\t")
		if err := encoder.Encode(texts); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
