package endpoint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// list returns an array in JSON that holds a value n times.
func list(n int, value string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(value+",", n), ",") + "]"
}

func (r reply) truncated() bool {
	e, _ := r.json["error"].(map[string]any)
	d, _ := e["details"].(map[string]any)
	truncated, _ := d["truncated"].(bool)
	return truncated
}

func TestWrongElementsOfAnArrayAreOneProblem(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	for _, tt := range []struct {
		name, body string
		want       map[string]string
	}{
		{"scalars where objects belong", `{"name": "x", "arms": ` + list(5000, `1`) + `}`,
			map[string]string{"arms": "5000 elements: expected object"}},
		{"nulls", `{"name": "x", "arms": ` + list(5000, `null`) + `}`,
			map[string]string{"arms": "5000 elements: must not be null"}},
		{"more than there may be, of the wrong type", `{"name": "x", "tags": ` + list(5000, `1`) + `}`,
			map[string]string{"tags": "expected array length <= 3"}},
		{"more than there may be, with text that is none", `{"name": "x", "tags": ` + list(5000, `"\u0000"`) + `}`,
			map[string]string{"tags": "expected array length <= 3"}},
		{"text that is none, where anything goes", `{"name": "x", "props": {"a": ` + list(5000, `"\u0000"`) + `}}`,
			map[string]string{"props.a": "5000 elements: must not contain a NUL character"}},
		{"numbers out of range", `{"name": "x", "props": {"a": ` + list(5000, `1e999`) + `}}`,
			map[string]string{"props.a": "5000 elements: is out of range"}},
		{"an array where a number belongs", `{"name": "x", "weight": ` + list(5000, `"\u0000"`) + `}`,
			map[string]string{"weight": "5000 elements: must not contain a NUL character"}},
		{"one wrong member of one element", `{"name": "x", "arms": [{"weight": 1, "kind": "a"}, {"weight": 1, "kind": "z"}]}`,
			map[string]string{"arms[1].kind": "must be one of a, b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.do("POST /t/acme/api/things", tt.body, "X-API-Key: "+writer)
			if diff := cmp.Diff(tt.want, got.fields()); got.status != 400 || got.truncated() || diff != "" {
				t.Errorf("%d %.500s (-want +got):\n%s", got.status, got.body, diff)
			}
		})
	}
}

func TestAtMostAHundredProblemsAreAnswered(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	for _, tt := range []struct{ name, route, body string }{
		{"objects", "POST /t/acme/api/things", `{"name": "x", "arms": ` + list(5000, `{}`) + `}`},
		{"lists of lists", "POST /t/acme/api/things", `{"name": "x", "props": {"a": ` + list(5000, `["\u0000"]`) + `}}`},
		{"members of a mapping", "POST /t/acme/api/things", `{"name": "x", "props": {` + keys(500) + `"k": 1}}`},
		{"without a session", "POST /api/auth/login", `{"email": ` + list(1000, `["\u0000"]`) + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.do(tt.route, tt.body, "X-API-Key: "+writer)
			if got.status != 400 || len(got.fields()) != 100 || !got.truncated() {
				t.Errorf("%d with %d problems, truncated %v", got.status, len(got.fields()), got.truncated())
			}
			if len(got.body) > 20<<10 {
				t.Errorf("the answer has %d bytes", len(got.body))
			}
		})
	}
}

// keys returns members that a database would refuse.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`"\u0000` + string(rune('a'+i%26)) + strings.Repeat("b", i%97) + string(rune('a'+i/97%26)) + `": 1,`)
	}
	return b.String()
}

// The cost of wrong elements beyond reading and normalizing them does not grow with
// their number.
func TestTheCostOfWrongElementsIsBounded(t *testing.T) {
	s := newServer(t, options{})
	cost := func(field, element string) float64 {
		body := `{"name": "", ` + strings.Replace(field, "*", list(4000, element), 1) + `}`
		return testing.AllocsPerRun(5, func() { s.do("POST /t/acme/api/things", body, "X-API-Key: "+writer) })
	}
	for _, element := range []string{`1`, `"a"`, `null`, `true`} {
		right, wrong := cost(`"props": {"a": *}`, element), cost(`"arms": *`, element)
		if wrong > right+1000 {
			t.Errorf("4000 times %s: %v allocations where they are wrong, %v where anything goes", element, wrong, right)
		}
	}
}
