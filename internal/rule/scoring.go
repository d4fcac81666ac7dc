package rule

import (
	"encoding/json"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/score"
)

// properties are tests of what one event says, all of which must hold.
type properties []Property

// ScoringFilters reads the filters of a scoring rule, a JSON array of
// {property, operator, value}: they are those of an event leaf. What is wrong
// with them is told by its place, which begins with path.
func ScoringFilters(raw []byte, path string) (score.Filters, []fault.Field) {
	var p parser
	var list properties
	if n := p.read(raw, path); n != nil {
		list = p.properties(n, path)
	}
	return list, p.problems
}

// Hold reports whether the properties of an event, as JSON decodes them, pass
// every test at a moment. Days are those of zone.
func (list properties) Hold(said map[string]any, now time.Time, zone *time.Location) bool {
	env := Env{Now: now, Schema: Schema{Zone: zone}}
	for _, p := range list {
		if !p.holds(env, said) {
			return false
		}
	}
	return true
}

// MarshalJSON writes the tests in their canonical form.
func (list properties) MarshalJSON() ([]byte, error) {
	out := make([]leafJSON, 0, len(list))
	for _, p := range list {
		out = append(out, leafJSON{Property: p.Path, Operator: p.Operator, Value: wireProperty(p.Value)})
	}
	return json.Marshal(out)
}
