package trigger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// Refer checks the records that a trigger refers to, and adds problems to p with paths below path,
// as Parse does. A nil trigger refers to none.
func (t *Trigger) Refer(s rule.Schema, path string, p *fault.Problems) {
	if t == nil {
		return
	}
	at := below(path, "trigger_config")
	c := t.Config
	switch t.Type {
	case ListAdded:
		if r, ok := s.Segments(c.Segment); !ok || !r.Static {
			p.Add(below(at, "segment_key"), fmt.Sprintf("there is no static list %q", c.Segment))
		}
	case SegmentEntered, SegmentLeft:
		if _, ok := s.Segments(c.Segment); !ok {
			p.Add(below(at, "segment_key"), fmt.Sprintf("there is no list or segment %q", c.Segment))
		}
	case StageChanged:
		for _, f := range []struct {
			name  string
			stage id.Stage
		}{{"from_stage_id", c.FromStage}, {"to_stage_id", c.ToStage}} {
			known := slices.ContainsFunc(s.Stages, func(st contact.Stage) bool { return st.ID == f.stage })
			if !f.stage.IsZero() && !known {
				p.Add(below(at, f.name), fmt.Sprintf("there is no stage %s", f.stage))
			}
		}
	case Date:
		c.referDate(s, at, p)
	case FieldChanged:
		if !hasField(s, c.Field) {
			p.Add(below(at, "field"), fmt.Sprintf("the contact has no field %q", c.Field))
		} else if c.To != nil {
			_, err := rule.ParseStep(t.valueRule(), s)
			addFault(p, below(at, "to"), err)
		}
	}
	if len(c.Definition) > 0 {
		_, err := rule.ParseStep(c.Definition, s)
		addFault(p, below(at, "definition"), err)
	}
}

// hasField reports whether a contact has a field of a name, as in rules.
func hasField(s rule.Schema, name string) bool {
	if key, custom := customKey(name); custom {
		_, ok := s.Fields[key]
		return ok
	}
	return slices.Contains(contact.ColumnNames(), name)
}

// addFault adds a fault of a rule to the problems of a field.
func addFault(p *fault.Problems, path string, err error) {
	if err == nil {
		return
	}
	message := err.Error()
	if f, ok := fault.As(err); ok {
		message = f.Message
	}
	p.Add(path, message)
}

// Uses reports whether the trigger refers to a list or segment, a custom field or a stage.
func (t *Trigger) Uses(s usage.Subject, schema rule.Schema) bool {
	if t == nil {
		return false
	}
	c := t.Config
	if s.Kind == usage.Stage && (c.FromStage.String() == s.Key || c.ToStage.String() == s.Key) {
		return true
	}
	return s.Kind == usage.Segment && c.Segment == s.Key || s.Kind == usage.Field && c.Field == customPrefix+s.Key || RuleUses(c.Definition, s, schema)
}

// RuleUses reports whether a rule of a sequence or automation refers to a record. A rule that is
// empty or cannot be decoded any more refers to none.
func RuleUses(definition []byte, s usage.Subject, schema rule.Schema) bool {
	if len(definition) == 0 {
		return false
	}
	tree, err := rule.DecodeStep(definition, schema)
	return err == nil && slices.ContainsFunc(tree.References(), func(r rule.Reference) bool { return r.Kind == s.Kind && r.Name == s.Key })
}

const customPrefix = "custom_fields."

// customKey returns the key of a custom field that is named as in rules.
func customKey(name string) (key string, custom bool) {
	key, custom = strings.CutPrefix(name, customPrefix)
	return key, custom && key != ""
}
