package rule

import (
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// Schema is what a tenant has declared, which its rules may refer to.
type Schema struct {
	Tenant   id.Tenant
	Fields   field.Catalog
	Types    contact.Types
	Stages   []contact.Stage
	Segments Segments
	// Broadcasts reports whether a broadcast exists. Only Warnings calls it; nil means that all
	// exist.
	Broadcasts func(id.Broadcast) bool
	Zone       *time.Location // the account's; nil is UTC
}

// Segments looks up a list or a segment by its key or id. Package segment provides it; nil finds
// none.
type Segments func(keyOrID string) (SegmentRule, bool)

// SegmentRule is a list or a segment with the fields that rules need.
type SegmentRule struct {
	ID     id.Segment
	Key    string
	Static bool
	Tree   Tree // of a dynamic segment
}

// Env is the environment in which a rule is evaluated.
type Env struct {
	Now time.Time
	Schema

	// Paged says that a condition is asked about a page of some thousand contacts, so that looking up what each of
	// them did is cheaper than reading what all contacts did.
	Paged bool

	inlined *inlined // the segments that contain the current leaf
}

func (s Schema) zone() *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

// segment finds a list or a segment.
func (s Schema) segment(keyOrID string) (SegmentRule, bool) {
	if s.Segments == nil {
		return SegmentRule{}, false
	}
	return s.Segments(keyOrID)
}

// emailType finds an email type by its key or its id.
func (s Schema) emailType(keyOrID string) (contact.EmailType, bool) {
	uuid, isID := id.Parse[id.EmailType](keyOrID)
	for _, t := range s.Types.EmailTypes {
		if t.Key == keyOrID || isID && t.ID == uuid {
			return t, true
		}
	}
	return contact.EmailType{}, false
}

func (s Schema) category(c id.Category) bool { return slices.Contains(s.Types.Categories, c) }

func (s Schema) categoryNamed(name string) bool {
	c, ok := id.Parse[id.Category](name)
	return ok && s.category(c)
}

// stage finds a stage by its slug or its id.
func (s Schema) stage(slugOrID string) (contact.Stage, bool) {
	uuid, isID := id.Parse[id.Stage](slugOrID)
	for _, st := range s.Stages {
		if st.Slug == slugOrID || isID && st.ID == uuid {
			return st, true
		}
	}
	return contact.Stage{}, false
}
