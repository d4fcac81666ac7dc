package bulk

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/suppression"
)

// Params are the parameters of an action; the action determines which are set. A job stores them,
// so records are referred to by id wherever a key may change.
type Params struct {
	Tags     []string    `json:"tags,omitempty"`
	Stage    id.Stage    `json:"stage,omitzero"` // zero: remove from the stage
	Field    string      `json:"field,omitempty"`
	Value    any         `json:"value,omitempty"` // nil clears
	Block    bool        `json:"block,omitempty"`
	TypeKey  string      `json:"type_key,omitempty"` // empty: all types
	Segment  id.Segment  `json:"segment,omitzero"`
	Sequence id.Sequence `json:"sequence,omitzero"`
	Reason   string      `json:"reason,omitempty"`
	Keep     bool        `json:"keep,omitempty"` // keep the anonymized address on the suppression list
}

// Limits of params. Those of contacts are in package contact.
const (
	maxTags = 200
	maxTag  = 64
)

// reader reads params as decoded from JSON and collects problems.
type reader struct {
	params map[string]any
	*fault.Problems
}

func (r reader) problem(name, message string) { r.Add("params."+name, message) }

// text returns a required string that is not empty.
func (r reader) text(name string) string {
	v, ok := r.params[name].(string)
	v = strings.TrimSpace(v)
	if !ok || v == "" {
		r.problem(name, required(r.params, name, "must be a string"))
	}
	return v
}

// optional returns a string that may be missing or null.
func (r reader) optional(name string, most int) string {
	switch v := r.params[name].(type) {
	case nil:
	case string:
		v = strings.TrimSpace(norm.NFC.String(v))
		if utf8.RuneCountInString(v) > most || strings.ContainsRune(v, 0) {
			r.problem(name, fmt.Sprintf("at most %d characters", most))
		}
		return v
	default:
		r.problem(name, "must be a string")
	}
	return ""
}

func (r reader) flag(name string) bool {
	v, ok := r.params[name].(bool)
	if !ok {
		r.problem(name, required(r.params, name, "must be true or false"))
	}
	return v
}

// required returns "required" if the param is missing, else message.
func required(params map[string]any, name, message string) string {
	if params[name] == nil {
		return "required"
	}
	return message
}

func (r reader) tags() []string {
	list, ok := r.params["tags"].([]any)
	if !ok || len(list) == 0 {
		r.problem("tags", required(r.params, "tags", "must be a list of 1 to 200 tags"))
		return nil
	}
	tags := make([]string, 0, min(len(list), maxTags))
	for _, v := range list {
		tag, ok := v.(string)
		tag = strings.TrimSpace(norm.NFC.String(tag))
		if n := utf8.RuneCountInString(tag); !ok || n == 0 || n > maxTag || strings.ContainsRune(tag, 0) {
			r.AddElement("params.tags", fmt.Sprintf("must be a string of 1 to %d characters", maxTag))
			continue
		}
		tags = append(tags, tag)
	}
	return tags
}

// readParams reads the params of an action without access to the database. Names of records are
// resolved by check.resolve.
func (r reader) readParams(a Action) Params {
	var p Params
	switch a {
	case AddTags, RemoveTags:
		p.Tags = r.tags()
	case SetField:
		p.Field, p.Value = r.text("field"), r.params["value"]
	case SetDoNotContact:
		p.Block = r.flag("value")
	case Suppress:
		p.Reason = r.optional("reason", suppression.MaxReason)
	case Enroll, ExitSequence:
		text := r.text("sequence_id")
		sequence, ok := id.Parse[id.Sequence](text)
		if text != "" && !ok {
			r.problem("sequence_id", "must be a UUID")
		}
		p.Sequence = sequence
	case Anonymize:
		p.Keep = true
		if r.params["suppress"] != nil {
			p.Keep = r.flag("suppress")
		}
	}
	return p
}
