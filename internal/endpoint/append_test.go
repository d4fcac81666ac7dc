package endpoint_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/packetboat/packetboat/internal/endpoint"
)

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
