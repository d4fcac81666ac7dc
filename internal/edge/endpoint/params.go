package endpoint

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/text/unicode/norm"
)

// param is a field of an operation's In that is not in the body: a string or an int, tagged path, query or
// header with its name.
//
// Operations read most texts leniently: a limit that is no number is the default. Programs should send what is meant
// all the same, so the document may be stricter than the check: with the tag as, which names a type of shownTypes,
// the document shows that type and the rules of the other tags, and of these the request is checked for none.
type param struct {
	index    []int
	in, name string
	required bool
	schema   *Schema // what is checked
	shown    *Schema // what the document shows
}

// shownTypes are the types that the tag as may name.
var shownTypes = map[string]reflect.Type{
	"boolean": reflect.TypeFor[bool](),     // see Flag
	"integer": reflect.TypeFor[int](),      // see Limit and Offset
	"list":    reflect.TypeFor[[]string](), // see CommaList
	"text":    reflect.TypeFor[string](),
}

// paramsOf returns the parameters in the order of the fields of in, including those of embedded structs.
func (r *Router) paramsOf(in reflect.Type) []param {
	var list []param
	for f := range in.Fields() {
		if f.Anonymous {
			for _, p := range r.paramsOf(f.Type) {
				p.index = append(slices.Clone(f.Index), p.index...)
				list = append(list, p)
			}
			continue
		}
		for _, place := range []string{"path", "query", "header"} {
			name := f.Tag.Get(place)
			if name == "" {
				continue
			}
			if k := f.Type.Kind(); k != reflect.String && k != reflect.Int {
				panic(fmt.Sprintf("endpoint: the parameter %s of %s is neither string nor int", name, in))
			}
			p := param{index: f.Index, in: place, name: name, required: place == "path" || f.Tag.Get("required") == "true"}
			if as := f.Tag.Get("as"); as != "" {
				p.schema = r.schemas.Schema(f.Type, true, "")
				if f.Type = shownTypes[as]; f.Type == nil {
					panic(fmt.Sprintf("endpoint: the parameter %s of %s is shown as an unknown type: %s", name, in, as))
				}
				p.shown = huma.SchemaFromField(r.schemas, f, "")
			} else {
				p.schema = huma.SchemaFromField(r.schemas, f, "")
				p.shown = p.schema
			}
			list = append(list, p)
		}
	}
	return list
}

// bindParams sets the parameters of a request, with texts in normal form, and collects problems.
func (x *call) bindParams(r *http.Request, in reflect.Value) {
	var query url.Values
	if r.URL.RawQuery != "" {
		query = r.URL.Query()
	}
	for i := range x.route.params {
		p := &x.route.params[i]
		var text string
		switch p.in {
		case "path":
			text = r.PathValue(p.name)
		case "header":
			text = r.Header.Get(p.name)
		case "query":
			text = query.Get(p.name)
			if bad := textProblem(text); bad != "" {
				x.problems.add(p.name, bad)
				continue
			}
			text = norm.NFC.String(text)
		}
		switch {
		case text != "":
			x.setParam(p, in.FieldByIndex(p.index), text)
		case p.required:
			x.problems.add(p.name, "required")
		}
	}
}

func (x *call) setParam(p *param, to reflect.Value, text string) {
	var value any = text
	if to.Kind() == reflect.String {
		to.SetString(text)
	} else {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			x.problems.add(p.name, "invalid integer")
			return
		}
		to.SetInt(n)
		value = n
	}
	x.router.validate(&x.problems, p.name, p.schema, value)
}
