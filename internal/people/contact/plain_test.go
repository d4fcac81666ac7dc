package contact

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzPlainJSON compares the parser with encoding/json.
func FuzzPlainJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `{"a": 1, "b": "x", "c": [1, "y", null, []], "d": true, "e": false, "f": null}`, ` { "a" : -1.5e+3 } `, `{"a":01}`, `{"a":1.}`,
		`{"a":1e400}`, `{"a":{}}`, `{"a":"\u00e9"}`, `{"a":"é"}`, "{\"a\":\"\xff\"}", `["a", "b"]`, `["a",]`, `[1]`, `{"a":1,"a":2}`, `{"a":-}`, `{"a":tru}`, `null`, ``,
		`[`, `{"a`, `{"a":[[[[[[[[[[]]]]]]]]]]}`, `{"a":1} x`, `{"a":-0}`, `["\n"]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := plainObject(text); ok {
			want := map[string]any{}
			if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("plainObject(%q) = %v, want %v, %v", text, got, want, err)
			}
		}
		if got, ok := plainTexts(text); ok {
			want := []string{}
			if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("plainTexts(%q) = %v, want %v, %v", text, got, want, err)
			}
		}
	})
}

func TestPlainJSONIsParsed(t *testing.T) {
	for _, text := range []string{`{}`, `{"plan": "gold", "age": 41, "vip": true, "likes": ["a", "b"], "none": null}`, `{"a":-1.5e3,"é":"ü"}`} {
		if _, ok := plainObject(text); !ok {
			t.Errorf("plainObject(%s) reports that it is not plain", text)
		}
	}
	for _, text := range []string{`[]`, `["vip", "new"]`, `["ü"]`} {
		if _, ok := plainTexts(text); !ok {
			t.Errorf("plainTexts(%s) reports that it is not plain", text)
		}
	}
}
