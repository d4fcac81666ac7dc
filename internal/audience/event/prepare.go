package event

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
)

// prepared is an event in the form to store, and its result.
type prepared struct {
	invalid    error // the fault of the input; nil: valid
	id         id.Entry
	name, kind string
	contact    id.Contact // zero: that of email
	email      string     // normalised
	properties []byte     // a JSON object
	at         time.Time
	source     string
	key        key // zero: none
	warnings   []string

	deleted bool      // the contact is deleted
	same    *prepared // an earlier event of the transaction with the same key
	result  Result
}

// prepare validates events and normalises their properties.
func prepare(list []Input, now time.Time) []*prepared {
	out := make([]*prepared, len(list))
	for i, in := range list {
		var p fault.Problems
		e := in.check(&p)
		e.invalid = p.Err()
		e.id, e.at = id.Made[id.Entry](now), now
		if !in.OccurredAt.IsZero() {
			e.at = in.OccurredAt
		}
		if e.at.Sub(now) > maxAhead {
			e.at = now
			e.warnings = append(e.warnings, "occurred_at is in the future; stored as now")
		}
		out[i] = e
	}
	return out
}

// setProperties sets the properties, with canonical names in addition to aliases, and the warnings
// about them. It returns why they are not valid, or an empty text.
func (e *prepared) setProperties(properties map[string]any) string {
	text, err := appendObject(nil, properties, 1)
	if err != nil {
		return err.Error()
	}
	if len(text) > maxProperties {
		return fmt.Sprintf("at most %d bytes as JSON", maxProperties)
	}
	if e.kind != "" {
		canonical, changed, warnings := normalize(e.kind, properties)
		e.warnings = warnings
		if changed {
			if text, err = appendObject(text[:0], canonical, 1); err != nil {
				return err.Error()
			}
		}
	}
	e.properties = text
	return ""
}

// entryData returns the data of the journal entry: a journal.Event.
func (e *prepared) entryData() json.RawMessage {
	b := append(make([]byte, 0, len(e.properties)+64), '{')
	text := func(name, value string) {
		if value != "" {
			b = append(append(append(b, '"'), name...), `":`...)
			b = append(appendString(b, value), ',')
		}
	}
	text("type", e.kind)
	text("source", e.source)
	if e.deleted {
		b = append(b, `"deleted":true,`...)
	}
	if len(e.properties) > len("{}") {
		b = append(append(b, `"properties":`...), e.properties...)
		b = append(b, ',')
	}
	if len(b) > 1 {
		b = b[:len(b)-1]
	}
	return append(b, '}')
}
