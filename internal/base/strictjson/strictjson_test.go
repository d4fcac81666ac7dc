package strictjson

import (
	"strings"
	"testing"
)

func TestOnlyOneKnownObjectIsDecoded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"n": 7}`:            "",
		" {\"n\":\t7}\n":      "",
		`{"n": 7} {}`:         "it must be one object",
		`{"n": 7}]`:           "it must be one object",
		`{"n": 7, "m": 8}`:    `unknown field "m"`,
		`{"n": "7"}`:          "cannot unmarshal string",
		`{"n": 7`:             "unexpected EOF",
		``:                    "EOF",
		`{"n": 000000000000}`: "invalid character",
		`{"n": 7,          "n": 7,           "n": 7           }`: "it is larger than 0 KB",
	} {
		v := struct{ N int }{}
		err := Decode([]byte(text), 30, &v)
		if want == "" {
			if err != nil || v.N != 7 {
				t.Errorf("%q: %v, %v", text, v, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.HasPrefix(err.Error(), "json:") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
