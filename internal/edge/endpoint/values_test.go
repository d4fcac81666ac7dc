package endpoint_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

func cursors(t testing.TB) *endpoint.Cursors {
	t.Helper()
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return endpoint.NewCursors(box)
}

func TestCursorsComeBackAsTheyWent(t *testing.T) {
	t.Parallel()
	cs := cursors(t)
	rapid.Check(t, func(t *rapid.T) {
		c := endpoint.Cursor{
			Sort: rapid.StringMatching(`[a-z_]{1,20}`).Draw(t, "sort"), Dir: rapid.SampledFrom([]string{"asc", "desc"}).Draw(t, "dir"),
			LastID: rapid.String().Draw(t, "id"),
		}
		if rapid.Bool().Draw(t, "has value") {
			c.LastValue = new(rapid.String().Draw(t, "value"))
		}
		got, err := cs.Decode(cs.Encode(c), c.Sort, c.Dir)
		if err != nil || got.LastID != c.LastID || (got.LastValue == nil) != (c.LastValue == nil) || (c.LastValue != nil && *got.LastValue != *c.LastValue) {
			t.Fatalf("Decode = %+v, %v; want %+v", got, err, c)
		}
		if _, err := cs.Decode(cs.Encode(c), c.Sort+"x", c.Dir); !errors.Is(err, endpoint.ErrCursor) {
			t.Fatalf("another sort: %v, want ErrCursor", err)
		}
		if _, err := cs.Decode(cs.Encode(c), c.Sort, c.Dir+"x"); !errors.Is(err, endpoint.ErrCursor) {
			t.Fatalf("another dir: %v, want ErrCursor", err)
		}
	})
}

// Only signed cursors are accepted, whatever the text.
func FuzzCursor(f *testing.F) {
	cs := cursors(f)
	good := cs.Encode(endpoint.Cursor{Sort: "created_at", Dir: "desc", LastID: "x"})
	for _, seed := range []string{good, good[:len(good)-1], good + "A", "", "e30", "{}", "====", base64.RawURLEncoding.EncodeToString([]byte(`{"v":1}12345678`))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := cs.Decode(text, "created_at", "desc"); (err == nil) != (text == good) {
			t.Errorf("Decode(%q) = %+v, %v", text, c, err)
		}
	})
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-03-01T09:30:00Z":           "2026-03-01T09:30:00.000Z",
		"2026-03-01T09:30:00.123456789Z": "2026-03-01T09:30:00.123Z",
		"2026-03-01T09:30:00+02:00":      "2026-03-01T07:30:00.000Z",
		"2026-03-01T09:30:00":            "2026-03-01T09:30:00.000Z",
		"2026-03-01T09:30":               "2026-03-01T09:30:00.000Z",
		"2026-03-01":                     "2026-03-01T00:00:00.000Z",
		" 2026-03-01 ":                   "2026-03-01T00:00:00.000Z",
		"":                               "",
		"tomorrow":                       "",
		"2026-02-30":                     "",
		"2026-03-01 09:30:00":            "2026-03-01T09:30:00.000Z",
		"2026-03-01t09:30:00z":           "2026-03-01T09:30:00.000Z",
		"2026-03-01 09:30:00Z":           "2026-03-01T09:30:00.000Z",
		"2026-03-01T09:30:00+0200":       "2026-03-01T07:30:00.000Z",
		"1740821400":                     "",
		"0001-01-01T00:00:00+14:00":      "",
	} {
		got, err := endpoint.ParseTime(in)
		if (err != nil) != (want == "") || (err == nil && endpoint.At(got).String() != want) {
			t.Errorf("ParseTime(%q) = %v, %v; want %s", in, got, err, want)
		}
	}
}

func TestAnswersShowTimesInUTC(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 30, 0, 5e6, time.FixedZone("", 3600))
	text, err := json.Marshal([]*endpoint.Stamp{endpoint.AtOr(&at), endpoint.AtOr(nil)})
	if want := `["2026-03-01T08:30:00.005Z",null]`; err != nil || string(text) != want {
		t.Errorf("stamps = %s, %v; want %s", text, err, want)
	}
}

func TestCollectionsAreNeverNull(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		list any
		want string
	}{
		{endpoint.Whole[int](nil), `{"data":[],"next_cursor":null,"has_more":false}`},
		{endpoint.Page([]int{1}, "abc"), `{"data":[1],"next_cursor":"abc","has_more":true}`},
		{endpoint.Page[int](nil, ""), `{"data":[],"next_cursor":null,"has_more":false}`},
		{endpoint.Window([]int{1, 2}, 2, 5), `{"data":[1,2],"next_cursor":null,"has_more":true,"total":5}`},
		{endpoint.Window([]int{5}, 4, 5), `{"data":[5],"next_cursor":null,"has_more":false,"total":5}`},
		{endpoint.Window[int](nil, 0, 0), `{"data":[],"next_cursor":null,"has_more":false,"total":0}`},
	} {
		if got, err := json.Marshal(tt.list); err != nil || string(got) != tt.want {
			t.Errorf("list = %s, %v; want %s", got, err, tt.want)
		}
	}
}

func TestPagingParameters(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]int{"": 50, "x": 50, "1.5": 50, "10": 10, "0": 1, "-3": 1, "201": 200, "200": 200, "99999999999999999999": 50} {
		if got := endpoint.Limit(q); got != want {
			t.Errorf("Limit(%q) = %d, want %d", q, got, want)
		}
	}
	for q, want := range map[string]int{"": 0, "0": 0, "7": 7, "-1": -1, "x": -1, "1.5": -1} {
		got, err := endpoint.Offset(q)
		if (err != nil) != (want < 0) || (err == nil && got != want) {
			t.Errorf("Offset(%q) = %d, %v; want %d", q, got, err, want)
		}
	}
	if got := endpoint.CommaList(" a, ,b,,c "); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("CommaList = %q", got)
	}
	if endpoint.CommaList("") == nil || endpoint.Flag("TRUE") || endpoint.Flag("1") || !endpoint.Flag("true") {
		t.Error("empty lists are nil, or another flag than true counts")
	}
}

func TestOptDistinguishesAbsentNullAndValue(t *testing.T) {
	t.Parallel()
	type body struct {
		A, B, C endpoint.Opt[int]
	}
	var b body
	if err := json.Unmarshal([]byte(`{"B": null, "C": 5}`), &b); err != nil {
		t.Fatal(err)
	}
	if want := (body{B: endpoint.Opt[int]{Set: true, Null: true}, C: endpoint.Some(5)}); b != want {
		t.Errorf("body = %+v, want %+v", b, want)
	}
	if b.A.Or(1) != 1 || b.B.Or(1) != 1 || b.C.Or(1) != 5 || b.B.Pointer() != nil || *b.C.Pointer() != 5 {
		t.Error("Or or Pointer is wrong")
	}
}

func TestAppendValueWritesWhatEncodingJSONDoes(t *testing.T) {
	for _, v := range []any{
		nil, true, "", "a\"b\\c\n\x01é\u2028<&>\xff", 0.0, math.Copysign(0, -1), 41.0, -1.5, 1e15, 1e21, 1e-7, 123456789012345678.0,
		[]any(nil), []any{}, []any{1.0, "x", nil, []any{false}}, map[string]any(nil), map[string]any{},
		map[string]any{"b": 1.0, "a": []any{"x"}, "é": map[string]any{"z": nil, "y": true}, "": "empty"},
		map[string]any{"a": 1, "b": []string{"c"}, "c": struct{ D int }{4}}, []string{"a"}, 7,
	} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		got, err := endpoint.AppendValue([]byte("x"), v)
		if err != nil || string(got) != "x"+string(bytes.TrimSuffix(want.Bytes(), []byte("\n"))) {
			t.Errorf("AppendValue(%#v) = %s, %v; want x%s", v, got, err, want.Bytes())
		}
	}
	if _, err := endpoint.AppendValue(nil, map[string]any{"a": math.NaN()}); err == nil {
		t.Error("AppendValue takes what is no number")
	}
}
