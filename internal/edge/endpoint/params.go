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
type param struct {
	index    []int
	in, name string
	required bool
	schema   *Schema
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
			required := place == "path" || f.Tag.Get("required") == "true"
			list = append(list, param{f.Index, place, name, required, huma.SchemaFromField(r.schemas, f, "")})
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
