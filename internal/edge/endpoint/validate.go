package endpoint

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/packetboat/packetboat/internal/base/fault"
)

// findings are the problems of a body: one for each path, and one for elements of an array with the same
// problem.
type findings struct{ fault.Problems }

// add adds a problem at path, unless there is one already.
func (f *findings) add(path, message string) {
	if !f.Truncated() && !f.At(path) {
		f.Add(path, message)
	}
}

// validator checks a body against its schema. huma checks values of limited size; arrays and mappings are
// iterated here, so that the work and the number of problems are limited: the length of an array is checked
// before its elements, elements that break the same rule are one problem, and checking ends when there are
// more problems than are reported.
type validator struct {
	shallow *shallowSchemas
	found   *findings
	path    []byte
	at      *huma.PathBuffer // the current path
	res     huma.ValidateResult
}

// validate adds the problems of the value at a path by its schema.
func (r *Router) validate(found *findings, path string, s *Schema, value any) {
	v := validator{shallow: &r.shallow, found: found, path: []byte(path), at: huma.NewPathBuffer(make([]byte, 0, 64), 0)}
	v.validateValue(s, value)
}

// validateShallow checks a value except for what is inside its arrays and mappings.
func (v *validator) validateShallow(s *Schema, value any) []error {
	v.res.Reset()
	v.at.Reset()
	huma.Validate(v.shallow, v.shallow.shallow(s), v.at, huma.ModeWriteToServer, value, &v.res)
	return v.res.Errors
}

func (v *validator) validateValue(s *Schema, value any) {
	for _, err := range v.validateShallow(s, value) {
		f := problemOf(err)
		v.found.add(v.pathBelow(f.Path), f.Message)
	}
	v.validateContents(s, value)
}

// validateContents checks the contents of arrays and mappings in a value that was checked itself.
func (v *validator) validateContents(s *Schema, value any) {
	s = v.shallow.resolve(s)
	switch value := value.(type) {
	case []any:
		v.validateArray(s, value)
	case map[string]any:
		others, _ := s.AdditionalProperties.(*Schema)
		if len(s.Properties) == 0 && others == nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if v.found.Truncated() {
				return
			}
			n := v.pushStep(pathKey(name))
			if p, ok := s.Properties[name]; ok {
				v.validateContents(p, value[name])
			} else if others != nil {
				v.validateValue(others, value[name])
			}
			v.path = v.path[:n]
		}
	}
}

func (v *validator) validateArray(s *Schema, list []any) {
	if s.Items == nil || s.MaxItems != nil && len(list) > *s.MaxItems {
		return
	}
	items, path := v.shallow.resolve(s.Items), string(v.path)
	for i, e := range list {
		if v.found.Truncated() {
			return
		}
		if e == nil && v.found.At(path) {
			continue
		}
		if wrong := wrongKind(items, e); wrong != "" {
			v.found.AddElement(path, wrong)
			continue
		}
		errs := v.validateShallow(items, e)
		nested := isContainer(e)
		if len(errs) == 0 && !nested {
			continue
		}
		n := v.pushStep("[" + strconv.Itoa(i) + "]")
		for _, err := range errs {
			if f := problemOf(err); f.Path == "" {
				v.found.AddElement(path, f.Message)
			} else {
				v.found.add(v.pathBelow(f.Path), f.Message)
			}
		}
		if nested {
			v.validateContents(items, e)
		}
		v.path = v.path[:n]
	}
}

// pushStep adds a step to the path and returns the previous length.
func (v *validator) pushStep(name string) int {
	n := len(v.path)
	v.path = append(v.path[:n], withSeparator(n, name)...)
	return n
}

// pathBelow returns another path below the current one.
func (v *validator) pathBelow(path string) string {
	if path == "" {
		return string(v.path)
	}
	return string(v.path) + withSeparator(len(v.path), path)
}

// withSeparator returns a step as it continues a path of n bytes.
func withSeparator(n int, step string) string {
	if n > 0 && !strings.HasPrefix(step, "[") {
		return "." + step
	}
	return step
}

// problemOf translates an error of huma.
func problemOf(err error) fault.Field {
	if d, ok := errors.AsType[*huma.ErrorDetail](err); ok {
		return translated(d.Location, d.Message)
	}
	return fault.Field{Message: err.Error()}
}

func isContainer(value any) bool {
	switch value.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// wrongKind returns the message if a value does not have the JSON type of its schema, or "".
func wrongKind(s *Schema, value any) string {
	if value == nil && s.Nullable {
		return ""
	}
	ok, message := true, ""
	switch s.Type {
	case huma.TypeBoolean:
		_, ok = value.(bool)
		message = validation.MsgExpectedBoolean
	case TypeString:
		_, ok = value.(string)
		message = validation.MsgExpectedString
	case huma.TypeInteger:
		_, ok = value.(json.Number)
		message = validation.MsgExpectedInteger
	case huma.TypeNumber:
		_, ok = value.(json.Number)
		message = validation.MsgExpectedNumber
	case huma.TypeArray:
		_, ok = value.([]any)
		message = validation.MsgExpectedArray
	case TypeObject:
		_, ok = value.(map[string]any)
		message = validation.MsgExpectedObject
	}
	if ok {
		return ""
	}
	return message
}

// shallowSchemas makes schemas without rules for the elements of arrays and mappings. It is also the registry that
// they refer to.
type shallowSchemas struct {
	Registry
	copies sync.Map // *Schema -> *Schema
}

// SchemaFromRef returns the schema of a reference, cut.
func (c *shallowSchemas) SchemaFromRef(ref string) *Schema {
	return c.shallow(c.Registry.SchemaFromRef(ref))
}

func (c *shallowSchemas) shallow(s *Schema) *Schema {
	if s == nil || s.Ref != "" {
		return s
	}
	if made, ok := c.copies.Load(s); ok {
		return made.(*Schema)
	}
	cut := *s
	if s.Items != nil {
		cut.Items = &Schema{}
	}
	if _, ok := s.AdditionalProperties.(*Schema); ok {
		cut.AdditionalProperties = true
	}
	if s.Properties != nil {
		cut.Properties = make(map[string]*Schema, len(s.Properties))
		for name, p := range s.Properties {
			cut.Properties[name] = c.shallow(p)
		}
	}
	made, _ := c.copies.LoadOrStore(s, &cut)
	return made.(*Schema)
}

// resolve returns the schema that s refers to, not cut.
func (c *shallowSchemas) resolve(s *Schema) *Schema {
	for s.Ref != "" {
		s = c.Registry.SchemaFromRef(s.Ref)
	}
	return s
}
