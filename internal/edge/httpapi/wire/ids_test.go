package wire

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
)

func TestListsOfIDsAreRead(t *testing.T) {
	a, b := idtest.Named[id.Segment]("a"), idtest.Named[id.Segment]("b")
	list := func(ids ...any) string { text, _ := json.Marshal(ids); return string(text) }
	for raw, want := range map[string]string{
		"":                     "absent",
		"null":                 "[]",
		"[]":                   "[]",
		list(a, b, a):          fmt.Sprint([]id.Segment{a, b}),
		list(a, "no id"):       "ids: must be a list of uuids",
		`"` + a.String() + `"`: "ids: must be a list of uuids",
		`{"id": 1}`:            "ids: must be a list of uuids",
		list(a, 1):             "ids: must be a list of uuids",
	} {
		var bad fault.Problems
		got := "absent"
		if ids := ReadIDs[id.Segment](&bad, "ids", json.RawMessage(raw)); ids != nil {
			got = fmt.Sprint(*ids)
		}
		for _, f := range bad.Fields().Fields {
			got = f.Path + ": " + f.Message
		}
		if got != want {
			t.Errorf("%s is read as %s, want %s", raw, got, want)
		}
	}
}
