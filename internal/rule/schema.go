package rule

import (
	"context"
	"time"

	"packetboat/internal/contact"
	"packetboat/internal/field"
	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// Schema is what a tenant has declared, which a rule may speak of.
type Schema struct {
	Fields   field.Catalog
	Types    contact.Types
	Stages   []contact.Stage
	Segments Segments
	Zone     *time.Location // the account's
}

// Segments answers what a rule must know of lists and segments. Package segment
// does; within one evaluation it reads them once.
type Segments interface {
	// ByKey returns a list's or a segment's id and, of a dynamic one, its rule.
	ByKey(ctx context.Context, db *sqldb.DB, tenant id.Tenant, key string) (SegmentRule, bool, error)
}

// SegmentRule is a list or a segment as rules see it.
type SegmentRule struct {
	ID     id.Segment
	Key    string
	Static bool
	Tree   Tree // of a dynamic one
}
