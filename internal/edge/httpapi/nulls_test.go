package httpapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// checkNulls fails if an answer to method and path has a null, or lacks a field, where the document of the caller does
// not allow it. It is quick enough for every answer of every test.
func checkNulls(t *testing.T, key bool, method, path string, r response) {
	t.Helper()
	name := "openapi-app.json"
	if key {
		name = "openapi.json"
	}
	path, _, _ = strings.Cut(path, "?")
	op := documentedAt(t, name, method, tenantPrefix.ReplaceAllString(path, ""))
	if op == nil || r.status >= 300 || r.text == "" {
		return
	}
	res := op.Responses.Status(r.status)
	if res == nil {
		t.Errorf("%s %s answered %d, which %s does not know", method, path, r.status, name)
		return
	}
	c := res.Value.Content["application/json"]
	if c == nil {
		return
	}
	var v any
	if err := json.Unmarshal([]byte(r.text), &v); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return
	}
	if problem := nullIn(c.Schema.Value, v, ""); problem != "" {
		t.Errorf("%s %s: %s, which %s does not allow\n%.500s", method, path, problem, name, r.text)
	}
}

var tenantPrefix = regexp.MustCompile(`^/t/[^/]+`)

var operationsByPath sync.Map // of document, method and path; only those that tests ask for

// documentedAt returns the operation of a document at a path with values in place of parameters, or nil. Of several
// the one with the fewest parameters is it.
func documentedAt(t *testing.T, name, method, path string) *openapi3.Operation {
	at := name + " " + method + " " + path
	if op, ok := operationsByPath.Load(at); ok {
		return op.(*openapi3.Operation)
	}
	var found *openapi3.Operation
	fewest := 100
	for pattern, item := range documents(t)[name].Paths.Map() {
		steps, values := strings.Split(pattern, "/"), strings.Split(path, "/")
		if len(steps) != len(values) || item.GetOperation(method) == nil {
			continue
		}
		parameters := 0
		for i, step := range steps {
			if strings.HasPrefix(step, "{") {
				parameters++
			} else if step != values[i] {
				parameters = 100
			}
		}
		if parameters < fewest {
			found, fewest = item.GetOperation(method), parameters
		}
	}
	operationsByPath.Store(at, found)
	return found
}

// nullIn names the first place in a value that is null, or missing, though its schema does not allow that.
func nullIn(s *openapi3.Schema, v any, path string) string {
	if choices := append(s.AnyOf[:len(s.AnyOf):len(s.AnyOf)], s.OneOf...); len(choices) > 0 {
		problem := ""
		for _, c := range choices {
			if c.Value.Type.Is("null") && v != nil {
				continue
			}
			if problem = nullIn(c.Value, v, path); problem == "" {
				break
			}
		}
		return problem
	}
	switch v := v.(type) {
	case nil:
		if s.Type != nil && !s.Type.Includes("null") {
			return fmt.Sprintf("%s is null", path)
		}
	case []any:
		if s.Items == nil {
			return ""
		}
		for i, e := range v {
			if problem := nullIn(s.Items.Value, e, fmt.Sprintf("%s[%d]", path, i)); problem != "" {
				return problem
			}
		}
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				return fmt.Sprintf("%s.%s is missing", path, name)
			}
		}
		for name, e := range v {
			p := s.Properties[name]
			if p == nil {
				p = s.AdditionalProperties.Schema
			}
			if p == nil {
				continue
			}
			if problem := nullIn(p.Value, e, path+"."+name); problem != "" {
				return problem
			}
		}
	}
	return ""
}
