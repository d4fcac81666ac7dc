package rule

import (
	"fmt"
	"strings"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
)

// Kinds of records that rules refer to, besides those of package usage.
const (
	RefStage                = usage.Stage
	RefCategory  usage.Kind = "category"
	RefBroadcast usage.Kind = "broadcast"
	RefSequence  usage.Kind = "sequence"
	RefForm      usage.Kind = "form"
)

// Reference is one reference of a tree to a record that may be deleted.
type Reference struct {
	Kind usage.Kind
	Name string // as in the tree: a key, a slug or an id
	Path string
}

// References returns all references of the tree, in order. A list is a usage.Segment.
func (t Tree) References() []Reference {
	var r references
	t.walk(r.leaf)
	return r.list
}

// Warning reports that a leaf, or a part of one, has no effect because it refers to a record that
// does not exist.
type Warning struct {
	Path string `json:"path"`
	Code string `json:"code"`
}

// Warnings returns the references to records that the schema does not have. Sequences and forms are
// not checked.
func (t Tree) Warnings(s Schema) []Warning {
	list := []Warning{}
	t.walk(func(c Condition, path string) {
		if b, ok := c.(Broken); ok {
			list = append(list, Warning{path, b.Code})
		}
		var r references
		r.leaf(c, path)
		for _, ref := range r.list {
			if code := s.lacks(ref); code != "" {
				list = append(list, Warning{ref.Path, code})
			}
		}
	})
	return list
}

// lacks returns a code if the schema does not have the referenced record, else "".
func (s Schema) lacks(r Reference) string {
	var has bool
	var code string
	switch r.Kind {
	case usage.Segment:
		_, has = s.segment(r.Name)
		has, code = has || s.Segments == nil, codeSegment
	case usage.Field:
		_, has = s.Fields[r.Name]
		code = codeField
	case usage.EmailType:
		_, has = s.emailType(r.Name)
		code = codeType
	case RefStage:
		_, has = s.stage(r.Name)
		code = codeStage
	case RefCategory:
		has, code = s.categoryNamed(r.Name), codeCategory
	case RefBroadcast:
		has, code = s.Broadcasts == nil || s.Broadcasts(id.Read[id.Broadcast](r.Name)), codeBroadcast
	default:
		return ""
	}
	if has {
		return ""
	}
	return code
}

// walk calls f for each leaf, with its path.
func (t Tree) walk(f func(c Condition, path string)) { walk(t.Root, rootDefinition, f) }

func walk(g Group, path string, f func(Condition, string)) {
	for i, c := range g.Conditions {
		at := fmt.Sprintf("%s.conditions[%d]", path, i)
		if inner, ok := c.(Group); ok {
			walk(inner, at, f)
		} else {
			f(c, at)
		}
	}
}

type references struct{ list []Reference }

func (r *references) add(kind usage.Kind, name, path string) {
	if name != "" {
		r.list = append(r.list, Reference{kind, name, path})
	}
}

func (r *references) all(kind usage.Kind, names []string, path string) {
	for i, n := range names {
		r.add(kind, n, fmt.Sprintf("%s[%d]", path, i))
	}
}

func (r *references) leaf(c Condition, path string) {
	switch c := c.(type) {
	case Field:
		r.field(c, path)
	case List:
		r.all(usage.Segment, c.Keys, path+".segment_keys")
	case InSegment:
		r.all(usage.Segment, c.Keys, path+".segment_keys")
	case Email:
		r.all(usage.EmailType, c.Types, path+".email_type_keys")
	case Broadcast:
		r.add(RefBroadcast, c.ID.String(), path+".broadcast_id")
	case SequenceEmail:
		r.add(RefSequence, c.Sequence.String(), path+".sequence_id")
	case Form:
		r.add(RefForm, c.Slug, path+".form_slug")
	case Subscription:
		r.add(usage.EmailType, c.TypeKey, path+".email_type_key")
		r.add(RefCategory, c.Category.String(), path+".category_id")
	case InSequence:
		r.add(RefSequence, c.Sequence.String(), path+".sequence_id")
	}
}

func (r *references) field(f Field, path string) {
	if key, ok := strings.CutPrefix(f.Name, customPrefix); ok {
		r.add(usage.Field, key, path+".field")
	}
	if key, ok := strings.CutPrefix(f.Name, typePrefix); ok {
		r.add(usage.EmailType, key, path+".field")
	}
	if key, ok := strings.CutPrefix(f.Name, categoryPrefix); ok {
		r.add(RefCategory, key, path+".field")
	}
	kind := map[string]usage.Kind{"list": usage.Segment, "stage": RefStage, "stage_id": RefStage}[f.Name]
	if kind == "" {
		return
	}
	if f.Operator.shape() == manyValues {
		r.all(kind, f.Value.Texts, path+".value")
	} else if len(f.Value.Texts) > 0 {
		r.add(kind, f.Value.Texts[0], path+".value")
	}
}
