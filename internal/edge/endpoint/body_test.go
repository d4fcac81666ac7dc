package endpoint_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryBrokenFieldIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	got := s.do("POST /t/acme/api/things?limit=0", `{
		"name": "a name that is far too long for this",
		"note": "a note that is long, too",
		"weight": "5",
		"active": null,
		"tags": ["a", 7],
		"owner": {},
		"arms": [{"weight": 1, "kind": "a"}, {"weight": 0, "kind": "c"}, {"weight": 1.5}],
		"unknown": {"whatever": null}
	}`, "X-API-Key: "+writer)
	if got.status != 400 || got.code() != "INVALID_INPUT" {
		t.Fatalf("answer = %d %s", got.status, got.body)
	}
	want := []string{"active", "arms[1].kind", "arms[1].weight", "arms[2].kind", "arms[2].weight", "limit", "name", "note", "owner.email", "tags", "weight"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got.fields()))); diff != "" {
		t.Errorf("paths (-want +got):\n%s\n%s", diff, got.body)
	}
	for path, message := range map[string]string{"owner.email": "required", "active": "must not be null", "tags": "1 element: expected string"} {
		if got.fields()[path] != message {
			t.Errorf("%s: %q, want %q", path, got.fields()[path], message)
		}
	}
}

func TestBodiesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	for _, tt := range []struct {
		name, body, code string
		paths            []string
	}{
		{name: "empty", body: "", code: "INVALID_JSON"},
		{name: "cut off", body: `{"name": "x"`, code: "INVALID_JSON"},
		{name: "trailing garbage", body: `{"name": "x"} {}`, code: "INVALID_JSON"},
		{name: "trailing brace", body: `{"name": "x"}}`, code: "INVALID_JSON"},
		{name: "a list", body: `[{"name": "x"}]`, code: "INVALID_JSON"},
		{name: "a string", body: `"name"`, code: "INVALID_JSON"},
		{name: "null", body: `null`, code: "INVALID_JSON"},
		{name: "not UTF-8", body: "{\"name\": \"\xff\"}", code: "INVALID_JSON"},
		{name: "deep nest at the top", body: strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), code: "INVALID_JSON"},
		{name: "deep nest inside", body: `{"name": "x", "props": ` + strings.Repeat(`{"a":`, 9_990) + "1" + strings.Repeat("}", 9_991), code: ""},
		{name: "deep nest for a scalar", body: `{"name": ` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}", code: "INVALID_INPUT", paths: []string{"name"}},
		{name: "deep nest in an unknown field", body: `{"name": "x", "zzz": ` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}", code: ""},
		{name: "number as a string", body: `{"name": "x", "weight": "5"}`, code: "INVALID_INPUT", paths: []string{"weight"}},
		{name: "string as a number", body: `{"name": 5}`, code: "INVALID_INPUT", paths: []string{"name"}},
		{name: "number out of range", body: `{"name": "x", "weight": 1e30, "props": {"n": 1e999}}`, code: "INVALID_INPUT", paths: []string{"props.n", "weight"}},
		{name: "whole number with a point", body: `{"name": "x", "weight": 5.0}`, code: ""},
		{name: "NUL", body: `{"name": "a\u0000b", "props": {"k\u0000": ["\u0000"]}, "zzz": "\u0000"}`, code: "INVALID_INPUT", paths: []string{"name", "props.k\x00"}},
		{name: "same key twice", body: `{"name": 5, "name": "x"}`, code: ""},
		{name: "same key twice, the last one bad", body: `{"name": "x", "name": 5}`, code: "INVALID_INPUT", paths: []string{"name"}},
		{name: "same object twice", body: `{"name": "x", "owner": {"email": 5}, "owner": {"email": "a"}}`, code: ""},
		{name: "another case is another field", body: `{"name": "x", "NAME": 5, "Owner": 7}`, code: ""},
		{name: "only in another case", body: `{"NAME": "x"}`, code: "INVALID_INPUT", paths: []string{"name"}},
		{name: "null for a list is the empty list", body: `{"name": "x", "tags": null, "note": null, "owner": null}`, code: ""},
		{name: "null inside a list", body: `{"name": "x", "tags": [null]}`, code: "INVALID_INPUT", paths: []string{"tags"}},
		{name: "a field with a code of its own", body: `{"name": "", "content": {"subject": 7}}`, code: "NO_CONTENT", paths: []string{"content.subject", "name"}},
		{name: "that field with a wrong type", body: `{"name": "x", "content": "hello"}`, code: "NO_CONTENT", paths: []string{"content"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.do("POST /t/acme/api/things", tt.body, "X-API-Key: "+writer)
			want := 400
			if tt.code == "" {
				want = 201
			}
			if got.status != want || got.code() != tt.code {
				t.Fatalf("answer = %d %.500s\nwant %d %s", got.status, got.body, want, tt.code)
			}
			if diff := cmp.Diff(tt.paths, slices.Sorted(maps.Keys(got.fields()))); diff != "" && len(tt.paths) > 0 {
				t.Errorf("paths (-want +got):\n%s%s", diff, got.body)
			}
		})
	}
}

func TestBodiesAreNormalized(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	// é as e and a combining accent; key, value and nested value alike.
	if got := s.do("POST /t/acme/api/things", `{"name": "cafe\u0301", "note": null, "tags": null, "weight": 3,
		"props": {"cafe\u0301": {"x": ["e\u0301", 12345678901234567890, null]}, "html": "<b>&"}}`, "X-API-Key: "+writer); got.status != 201 {
		t.Fatal(got.body)
	}
	in := s.seen[0]
	if in.Name != "café" {
		t.Errorf("name = %q, want it in normal form", in.Name)
	}
	if !in.Note.Set || !in.Note.Null || in.Note.Given() {
		t.Errorf("note = %+v, want set and null", in.Note)
	}
	if in.Tags == nil || len(in.Tags) != 0 {
		t.Errorf("tags = %#v, want the empty list", in.Tags)
	}
	if !in.Weight.Given() || in.Weight.Value != 3 {
		t.Errorf("weight = %+v, want 3", in.Weight)
	}
	if in.Owner != nil || in.Active != nil || in.Content != nil {
		t.Error("absent fields are not nil")
	}
	props, _ := json.Marshal(in.Props)
	if want := `{"café":{"x":["é",12345678901234567000,null]},"html":"\u003cb\u003e\u0026"}`; string(props) != want {
		t.Errorf("props = %s, want %s", props, want)
	}
	if got := s.do("POST /t/acme/api/things", `{"name": "x"}`, "X-API-Key: "+writer); got.status != 201 {
		t.Fatal(got.body)
	}
	if in := s.seen[1]; in.Note.Set || in.Weight.Set {
		t.Errorf("absent note and weight are %+v and %+v, want unset", in.Note, in.Weight)
	}
}

func TestStrictOperationsRefuseUnknownFields(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	got := s.do("POST /t/acme/api/strict", `{"email": "a", "force": true, "": 1}`, "X-API-Key: key+sequences:enroll")
	if want := map[string]string{"force": "is not a field of this request", `""`: "is not a field of this request"}; got.status != 400 || !maps.Equal(got.fields(), want) {
		t.Errorf("answer = %d %s", got.status, got.body)
	}
}

func TestAnOptionalBodyMayBeAbsent(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	for body, want := range map[string]int{"": 200, "null": 200, "{}": 200, `{"hard": true}`: 201, `{"hard": 1}`: 400, `[]`: 400, " ": 400} {
		if got := s.do("POST /t/acme/api/poke", body, "X-API-Key: key+x"); got.status != want {
			t.Errorf("body %q: %d %s, want %d", body, got.status, got.body, want)
		}
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	for header, want := range map[string]int{
		"Content-Type: application/json": 201, "Content-Type: APPLICATION/JSON; charset=UTF-8": 201, "Content-Type: application/merge-patch+json": 201,
		"Content-Type: text/plain": 415, "Content-Type: application/x-www-form-urlencoded": 415, "Content-Type: ;;;": 415, "Content-Type: application/jsonx": 415,
		"Content-Encoding: gzip": 415, "Content-Encoding: identity": 201,
	} {
		if got := s.do("POST /t/acme/api/things", `{"name": "x"}`, "X-API-Key: "+writer, header); got.status != want {
			t.Errorf("%s: %d %s, want %d", header, got.status, got.body, want)
		}
	}
}

func TestHostileQueriesAndPaths(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	for target, want := range map[string]string{
		"POST /t/acme/api/things?loud=%00":                   "INVALID_INPUT",
		"POST /t/acme/api/things?loud=%ff":                   "INVALID_INPUT",
		"POST /t/acme/api/things?limit=many":                 "INVALID_INPUT",
		"POST /t/acme/api/things?limit=99999999999999999999": "INVALID_INPUT",
		"POST /t/acme/api/things?other=%00":                  "",
		"POST /t/acme/api/things?loud=%zz&;":                 "",
		"POST /t/acme/api/%00":                               "NOT_FOUND",
		"POST /t/acme/api/%ff":                               "NOT_FOUND",
		"POST /t/%00/api/things":                             "NOT_FOUND",
		"POST //t/acme/api/things":                           "NOT_FOUND",
		"POST /t/acme/../acme/api/things":                    "NOT_FOUND",
		"POST /t/acme/api/things/":                           "NOT_FOUND",
		"DELETE /t/acme/api/things/%2e%2e%2f%2e%2e":          "",
	} {
		got := s.do(target, `{"name": "x"}`, "X-API-Key: "+writer)
		if got.code() != want || (want == "" && got.status >= 300) {
			t.Errorf("%s = %d %s, want %q", target, got.status, got.body, want)
		}
	}
}

// Whatever is sent, the response has the envelope and is never a 5xx.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{"name":"x"}`, `{"name":null,"tags":[{}],"arms":[{"weight":{}}]}`, `[`, `{"a":1e-99999999999}`, `{"props":{"":{"[0]":null}}}`, "\x00", `{"weight":-0.0,"name":"x"}`, `{"name":"\ud800"}`, `{"weight":9223372036854775808}`} {
		f.Add(seed)
	}
	s := newServer(f, options{rate: 1 << 30})
	f.Fuzz(func(t *testing.T, body string) {
		s.t = t
		got := s.do("POST /t/acme/api/things", body, "X-API-Key: "+writer)
		if got.status != 201 && (got.status < 400 || got.status > 499 || got.code() == "") {
			t.Errorf("%q: %d %s", body, got.status, got.body)
		}
	})
}

// Problems found by the operation's Check are reported together with those of its types,
// for fields that have no problem yet, and the operation is not run.
func TestAllProblemsOfABodyAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	got := s.do("POST /t/acme/api/things", `{"name": "nameless", "note": "none", "tags": 5}`, "X-API-Key: "+writer)
	want := map[string]string{"name": "must be a name", "note": "must say something", "tags": "expected array"}
	if got.status != 400 || !maps.Equal(got.fields(), want) || s.created != 0 {
		t.Errorf("got %d %s, want %v", got.status, got.body, want)
	}
	got = s.do("POST /t/acme/api/things", `{"name": 7, "note": "none", "content": {"subject": 5}}`, "X-API-Key: "+writer)
	want = map[string]string{"name": "expected string", "note": "must say something", "content.subject": "expected string"}
	if got.code() != "NO_CONTENT" || !maps.Equal(got.fields(), want) {
		t.Errorf("got %d %s, want %v as NO_CONTENT", got.status, got.body, want)
	}
	if got := s.do("POST /t/acme/api/things", `{"name": "nameless"}`, "X-API-Key: "+writer); got.status != 201 {
		t.Errorf("a body of the right types = %d %s, want it left to the operation", got.status, got.body)
	}
}
