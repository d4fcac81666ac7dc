package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Example is a request that documents show as a shell command. Variables such as $CONTACT_ID stand for
// values of the caller; parameters of paths become such variables.
type Example struct {
	Query string // such as "email=ann@example.org"
	Body  string // JSON; of an upload: the options
	File  string // of an upload: the content of the file
	Name  string // of the file
}

// ExampleBody returns op with an example of a body.
func (op Op) ExampleBody(body string) Op {
	op.Example.Body = body
	return op
}

// ExampleQuery returns op with an example of a query.
func (op Op) ExampleQuery(query string) Op {
	op.Example.Query = query
	return op
}

// WithTitle returns op with this title.
func (op Op) WithTitle(title string) Op {
	op.Title = title
	return op
}

// title returns the title of an operation in two or three words.
func (op *Op) title() string {
	if op.Title != "" {
		return op.Title
	}
	var b strings.Builder
	for i, c := range op.Name {
		switch {
		case i == 0:
			b.WriteRune(unicode.ToUpper(c))
		case unicode.IsUpper(c):
			b.WriteString(" " + string(unicode.ToLower(c)))
		default:
			b.WriteRune(c)
		}
	}
	return strings.NewReplacer(" api", " API", " mta", " MTA").Replace(b.String())
}

// SetResponseExamples adds examples of responses to the documents, by operation.
func (r *Router) SetResponseExamples(answers map[string]json.RawMessage) {
	r.responseExamples = answers
}

// variables matches the variables of an example.
var variables = regexp.MustCompile(`\$[A-Z][A-Z0-9_]*`)

// variable returns the name for a parameter of a path: CONTACT_ID for {id} below contacts.
func variable(path, param string) string {
	before, _, _ := strings.Cut(path, "/{"+param+"}")
	resource := before[strings.LastIndexByte(before, '/')+1:]
	for strings.HasPrefix(resource, "{") { // another parameter
		before = strings.TrimSuffix(before, "/"+resource)
		resource = before[strings.LastIndexByte(before, '/')+1:]
	}
	if stem, ok := strings.CutSuffix(resource, "ies"); ok {
		resource = stem + "y"
	}
	name := param
	if param == "id" || param == "key" {
		name = strings.TrimSuffix(resource, "s") + "_" + param
	}
	if resource == "users" {
		name = "user_id"
	}
	return "$" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// examplePath returns the path of the example, with variables.
func (rt *route) examplePath() string {
	path := rt.documentedPath()
	for _, p := range rt.params {
		if p.in == "path" && p.name != "tenant" {
			path = strings.ReplaceAll(path, "{"+p.name+"}", variable(rt.documentedPath(), p.name))
		}
	}
	if rt.Example.Query != "" {
		path += "?" + rt.Example.Query
	}
	return path
}

// exampleCommand returns the example as a shell command, with a key or a session.
func (rt *route) exampleCommand(session bool) string {
	var b strings.Builder
	if rt.upload != nil {
		b.WriteString("printf '" + printfText(rt.Example.File) + "' |\n")
	}
	b.WriteString("curl ")
	if rt.method != http.MethodGet {
		b.WriteString("-X " + rt.method + " ")
	}
	server := "$SERVER"
	if rt.Installation {
		server = "$BASE"
	}
	b.WriteString(`"` + server + rt.examplePath() + `"`)
	const next = " \\\n  "
	switch {
	case !session:
		b.WriteString(next + `-H "X-API-Key: $KEY"`)
	case rt.beginsSession:
		b.WriteString(next + "-c cookies.txt")
	case !rt.Public:
		b.WriteString(next + "-b cookies.txt")
	}
	body := rt.Example.Body
	switch {
	case rt.upload != nil:
		b.WriteString(next + "-F 'file=@-;filename=" + rt.Example.Name + "'")
		if body != "" {
			b.WriteString(next + "-F options=" + quote(body))
		}
	case body != "" && variables.MatchString(body):
		b.WriteString(next + "-H 'Content-Type: application/json' -d @- <<JSON\n" + indented(body) + "\nJSON")
	case body != "":
		b.WriteString(next + "-H 'Content-Type: application/json'" + next + "-d " + quote(indented(body)))
	}
	return b.String()
}

// printfText returns a text with which printf (POSIX) writes the bytes of a file.
func printfText(file string) string {
	var b strings.Builder
	for _, c := range []byte(file) {
		switch {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '%':
			b.WriteString("%%")
		case c < ' ' || c > '~' || c == '\'' || c == '\\':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// quote quotes text for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func indented(text string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", "  "); err != nil {
		return text
	}
	return b.String()
}

// sample returns the example's body with values in place of variables.
func (e Example) sample() json.RawMessage {
	return json.RawMessage(variables.ReplaceAllStringFunc(e.Body, func(name string) string {
		if strings.HasSuffix(name, "_ID") {
			return sampleID
		}
		return strings.ToLower(strings.TrimPrefix(name, "$"))
	}))
}

const sampleID = "01930000-0000-7000-8000-000000000000"

// addExamples adds the operation's example to its description.
func (d *documentWriter) addExamples(rt *route, op object) {
	op["x-title"] = rt.title()
	op["x-codeSamples"] = []object{{"lang": "Shell", "label": "curl", "source": rt.exampleCommand(d.session)}}
	if body, ok := op["requestBody"].(object); ok && rt.Example.Body != "" && rt.upload == nil {
		body["content"].(object)[jsonType].(object)["example"] = rt.Example.sample()
	}
	answer, ok := d.router.responseExamples[rt.Name]
	if !ok || d.session && rt.Op.listed() {
		return // the session form may differ
	}
	responses := op["responses"].(object)
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		content, _ := responses[status].(object)["content"].(object)
		if c, ok := content[jsonType].(object); ok && status < "300" {
			c["example"] = answer
		}
	}
}

// ExampleUpload returns op with an example of a file with a name, and of its options.
func (op Op) ExampleUpload(name, file, options string) Op {
	op.Example = Example{Name: name, File: file, Body: options}
	return op
}
