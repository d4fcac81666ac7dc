package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The description of the API for signed-in users, which a test of the server holds against its
// operations, and the types made from it.
const (
	descriptionFile = "internal/edge/httpapi/testdata/openapi-app.json"
	schemaFile      = "src/api/schema.ts"
)

// description is the part of an OpenAPI 3.1 document that types are made from.
type description struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	Role       string `json:"x-role"`
	Parameters []struct {
		In       string `json:"in"`
		Name     string `json:"name"`
		Required bool   `json:"required"`
		Schema   schema `json:"schema"`
	} `json:"parameters"`
	Body struct {
		Content map[string]media `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]media `json:"content"`
	} `json:"responses"`
}

type media struct {
	Schema schema `json:"schema"`
}

// schema is a JSON Schema. Its zero value matches everything.
type schema struct {
	Ref                  string            `json:"$ref"`
	Type                 any               `json:"type"` // a name or several
	Enum                 []any             `json:"enum"`
	Const                any               `json:"const"`
	Properties           map[string]schema `json:"properties"`
	Required             []string          `json:"required"`
	AdditionalProperties json.RawMessage   `json:"additionalProperties"`
	Items                *schema           `json:"items"`
	AllOf                []schema          `json:"allOf"`
	AnyOf                []schema          `json:"anyOf"`
	OneOf                []schema          `json:"oneOf"`
	Description          string            `json:"description"`
}

// types returns the source of web/src/api/schema.ts.
func (p project) types() ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(descriptionFile)))
	if err != nil {
		return nil, err
	}
	var d description
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", descriptionFile, err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "// Made from %s by `make web-types`. Do not edit.\n", descriptionFile)
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		s := d.Components.Schemas[name]
		fmt.Fprintf(&out, "\nexport type %s = %s;\n", name, s.typescript(0))
	}
	err = d.routes(&out)
	return out.Bytes(), err
}

// routes writes the types of requests and answers, and the roles that may send them.
func (d description) routes(out *bytes.Buffer) error {
	roles := map[string]string{}
	fmt.Fprint(out, "\n// Requests by method and path. Paths of a workspace are without \"/t/{tenant_slug}/api\".\nexport type Routes = {\n")
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			if !slices.Contains([]string{"get", "put", "post", "patch", "delete"}, method) {
				continue
			}
			var o operation
			if err := json.Unmarshal(d.Paths[path][method], &o); err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			key := strings.ToUpper(method) + " " + path
			if _, installation := d.Paths[path]["servers"]; !installation {
				key = strings.ToUpper(method) + " " + strings.TrimPrefix(path, "/api")
			}
			fmt.Fprintf(out, "\t%q: { path: %s; query: %s; body: %s; answer: %s };\n",
				key, o.parameters("path"), o.parameters("query"), o.body(), o.answer())
			if o.Role != "" {
				roles[key] = o.Role
			}
		}
	}
	fmt.Fprint(out, "};\n\n// The least role that may send a request; where there is none, every caller may.\nexport const roles: { [route: string]: \"viewer\" | \"editor\" | \"admin\" | \"owner\" } = {\n")
	for _, key := range slices.Sorted(maps.Keys(roles)) {
		if roles[key] != "viewer" { // the least: left out to save bytes
			fmt.Fprintf(out, "\t%q: %q,\n", key, roles[key])
		}
	}
	fmt.Fprint(out, "};\n")
	return nil
}

func (o operation) parameters(in string) string {
	var fields []string
	for _, p := range o.Parameters {
		if p.In != in {
			continue
		}
		mark := "?"
		if p.Required {
			mark = ""
		}
		typed := p.Schema.typescript(0)
		if p.Schema.Items != nil {
			typed = "string | " + typed // separated by commas, as addresses of pages have it too
		}
		fields = append(fields, fmt.Sprintf("%s%s: %s", property(p.Name), mark, typed))
	}
	if len(fields) == 0 {
		return "never"
	}
	return "{ " + strings.Join(fields, "; ") + " }"
}

func (o operation) body() string {
	if m, ok := o.Body.Content["application/json"]; ok {
		return m.Schema.typescript(1)
	}
	if len(o.Body.Content) > 0 {
		return "globalThis.FormData"
	}
	return "never"
}

// answer returns the type of a success.
func (o operation) answer() string {
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		if strings.HasPrefix(status, "2") {
			if m, ok := o.Responses[status].Content["application/json"]; ok {
				return m.Schema.typescript(1)
			}
		}
	}
	return "undefined"
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func property(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return fmt.Sprintf("%q", name)
}

// typescript returns the type of values that match s; depth is that of the indentation.
func (s schema) typescript(depth int) string {
	if s.Ref != "" {
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	}
	if s.Const != nil {
		return literal(s.Const)
	}
	if len(s.Enum) > 0 {
		return union(s.Enum, literal)
	}
	if parts := cmp.Or(len(s.AnyOf), len(s.OneOf)); parts > 0 && s.Properties == nil {
		return union(slices.Concat(s.AnyOf, s.OneOf), func(t schema) string { return t.typescript(depth) })
	}
	if len(s.AllOf) > 0 {
		var all []string
		for _, t := range s.AllOf {
			all = append(all, t.typescript(depth))
		}
		if s.Properties != nil {
			all = append(all, s.object(depth))
		}
		return strings.Join(all, " & ")
	}
	switch t := s.Type.(type) {
	case string:
		return s.named(t, depth)
	case []any:
		return union(t, func(name any) string { return s.named(fmt.Sprint(name), depth) })
	}
	if s.Properties != nil {
		return s.object(depth)
	}
	return "unknown"
}

// named returns the type of values of the JSON type name.
func (s schema) named(name string, depth int) string {
	switch name {
	case "string", "boolean", "null":
		return name
	case "integer", "number":
		return "number"
	case "array":
		if s.Items == nil {
			return "unknown[]"
		}
		item := s.Items.typescript(depth)
		if strings.ContainsAny(item, "|&") && !strings.HasPrefix(item, "{") {
			item = "(" + item + ")"
		}
		return item + "[]"
	case "object":
		return s.object(depth)
	}
	return "unknown"
}

// object returns the type of objects.
func (s schema) object(depth int) string {
	var more schema
	hasMore := len(s.AdditionalProperties) > 0 && json.Unmarshal(s.AdditionalProperties, &more) == nil
	if len(s.Properties) == 0 {
		switch {
		case hasMore:
			return "{ [key: string]: " + more.typescript(depth) + " }"
		case string(s.AdditionalProperties) == "false":
			return "{ [key: string]: never }"
		}
		return "{ [key: string]: unknown }"
	}
	indent := strings.Repeat("\t", depth)
	var b strings.Builder
	b.WriteString("{\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		mark := "?"
		if slices.Contains(s.Required, name) {
			mark = ""
		}
		fmt.Fprintf(&b, "%s\t%s%s: %s;\n", indent, property(name), mark, s.Properties[name].typescript(depth+1))
	}
	if hasMore {
		fmt.Fprintf(&b, "%s\t[key: string]: unknown;\n", indent)
	}
	b.WriteString(indent + "}")
	return b.String()
}

func literal(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// union joins the different types of all.
func union[T any](all []T, typed func(T) string) string {
	var types []string
	for _, t := range all {
		if text := typed(t); !slices.Contains(types, text) {
			types = append(types, text)
		}
	}
	return strings.Join(types, " | ")
}

func (p project) writeTypes() error {
	source, err := p.types()
	if err != nil {
		return err
	}
	file := filepath.Join(p.web, filepath.FromSlash(schemaFile))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, source, 0o644)
}
