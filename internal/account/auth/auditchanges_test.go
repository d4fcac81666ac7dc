package auth_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
)

func TestChangesAreTheFieldsThatDiffer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 600)
	around := strings.Repeat("ä", 30) // 60 bytes
	many := map[string]int{}
	for i := range 100 {
		many[fmt.Sprintf("f%02d", i)] = i
	}
	for _, tt := range []struct {
		name          string
		before, after any
		want          string // in JSON
	}{
		{"nothing", map[string]any{"a": 1, "updated_at": 1}, map[string]any{"a": 1, "updated_at": 2}, `null`},
		{"fields in their order", map[string]any{"b": 1, "a": "x"}, map[string]any{"b": 2, "a": nil}, `[{"field":"a","before":"x","after":null},{"field":"b","before":1,"after":2}]`},
		{"a field of an object", map[string]any{"o": map[string]any{"p": 1, "q": 2}}, map[string]any{"o": map[string]any{"p": 1, "q": 3}}, `[{"field":"o.q","before":2,"after":3}]`},
		{"a list", map[string]any{"l": []int{1}}, map[string]any{"l": []int{1, 2}}, `[{"field":"l","before":[1],"after":[1,2]}]`},
		{"one that is new", map[string]any{}, map[string]any{"n": true}, `[{"field":"n","before":null,"after":true}]`},
		{"a long text", map[string]any{"t": ""}, map[string]any{"t": long}, `[{"field":"t","before":"","after":"` + long[:1000] + `…","length":{"before":0,"after":600}}]`},
		{"a word in a long text", map[string]any{"t": long + "one" + long}, map[string]any{"t": long + "two" + long}, `[{"field":"t","before":"…` + around + `one` + around + `…","after":"…` + around + `two` + around + `…","length":{"before":1203,"after":1203}}]`},
		{"the end of a long text", map[string]any{"t": long}, map[string]any{"t": long + "ö"}, `[{"field":"t","before":"…` + around + `","after":"…` + around + `ö","length":{"before":600,"after":601}}]`},
		{"half of a character", map[string]any{"t": long + "ä" + long}, map[string]any{"t": long + "å" + long}, `[{"field":"t","before":"…` + around + `ä` + around + `…","after":"…` + around + `å` + around + `…","length":{"before":1201,"after":1201}}]`},
		{"a long list", map[string]any{"l": []string{long}}, map[string]any{"l": nil}, `[{"field":"l","before":"[\"` + long[:996] + `…","after":null,"length":{"before":604,"after":0}}]`},
	} {
		got, err := auth.Changes(tt.before, tt.after)
		text, _ := json.Marshal(got)
		if diff := cmp.Diff(tt.want, string(text)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
	if got, err := auth.Changes(map[string]any{}, many); err != nil || len(got) != 60 {
		t.Errorf("of a hundred changes %d are kept, %v", len(got), err)
	}
}
