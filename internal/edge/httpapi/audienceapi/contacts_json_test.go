package audienceapi

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// AppendJSON encodes rows with random values as encoding/json does.
func TestContactsAreEncodedAsByEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Contact
		fill(t, reflect.ValueOf(&c).Elem())
		var want strings.Builder
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(c); err != nil {
			t.Fatal(err)
		}
		got, err := c.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(got)+"\n" != want.String() {
			t.Fatalf("got\n%s\nwant\n%s", got, want.String())
		}
	})
}

var anyText = rapid.OneOf(
	rapid.StringMatching(`[a-z <>&"\\/]{0,6}`), rapid.String(), rapid.SampledFrom([]string{"\u2028", "\xff", "é\x00", "\x7f", "日本"}))

// fill sets v, of any type in a row, to a random value.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Interface().(type) {
	case id.Tenant:
		v.SetInt(rapid.Int64Range(1, math.MaxInt32).Draw(t, "tenant"))
		return
	case id.Contact, id.Stage, id.Category:
		bytes := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")
		bytes[0] |= 1 // a row has nil in place of the zero id
		reflect.Copy(v, reflect.ValueOf(bytes))
		return
	case endpoint.Stamp:
		at := time.UnixMicro(rapid.Int64Range(-1e15, 4e15).Draw(t, "at"))
		v.Set(reflect.ValueOf(endpoint.At(at)))
		return
	case map[string]any:
		v.Set(reflect.ValueOf(rapid.MapOf(anyText, rapid.Just(any([]any{"<", 1.5}))).Draw(t, "map")))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(t, field)
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.String:
		v.SetString(anyText.Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case reflect.Float64:
		v.SetFloat(rapid.OneOf(rapid.Float64Range(-1e20, 1e20), rapid.Just(3.0)).Draw(t, "number"))
	case reflect.Slice:
		if n := rapid.IntRange(-1, 3).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(t, v.Index(i))
			}
		}
	case reflect.Map:
		if n := rapid.IntRange(-1, 3).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(t, key)
				fill(t, value)
				v.SetMapIndex(key, value)
			}
		}
	default:
		t.Fatalf("a field of kind %s: encode it in AppendJSON, and fill it here", v.Kind())
	}
}
