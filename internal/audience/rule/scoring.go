package rule

import (
	"encoding/json"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/people/score"
)

// EventFilters are tests of an event's properties, all of which must pass.
type EventFilters []Property

// ParseEventFilters parses a JSON array of {property, operator, value} like the filters of an event
// leaf. The paths of problems begin with path.
func ParseEventFilters(raw []byte, path string) (EventFilters, []fault.Field) {
	var p parser
	var list EventFilters
	if n := p.read(raw, path); n != nil {
		list = p.properties(n, path)
	}
	return list, p.problems
}

// ScoringFilters is ParseEventFilters for the filters of a scoring rule.
func ScoringFilters(raw []byte, path string) (score.Filters, []fault.Field) {
	return ParseEventFilters(raw, path)
}

// Match reports whether the decoded properties of an event pass every test at a time. Days are
// those of zone.
func (list EventFilters) Match(event map[string]any, now time.Time, zone *time.Location) bool {
	env := Env{Now: now, Schema: Schema{Zone: zone}}
	for _, p := range list {
		if !p.holds(env, event) {
			return false
		}
	}
	return true
}

// MarshalJSON returns the canonical encoding of the tests.
func (list EventFilters) MarshalJSON() ([]byte, error) { return json.Marshal(wireFilters(list)) }
