// Package usage lets a package find out which records refer to one of its own, without importing
// the packages of those records, which are above it.
//
// Before a package deletes a record, it asks a Finder. The packages with references implement it,
// and app passes them in.
package usage

import (
	"context"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Kind is the kind of a record.
type Kind string

// The kinds of records that can be referred to.
const (
	Segment   Kind = "segment"
	Field     Kind = "custom_field"
	EmailType Kind = "email_type"
	Identity  Kind = "sending_identity"
	Lane      Kind = "mta_config"
	Domain    Kind = "sending_domain"
	Template  Kind = "template"
	Block     Kind = "block"
	Library   Kind = "library_entry"
	Sequence  Kind = "sequence"
	Stage     Kind = "stage" // its key is its id
)

// Subject is the record to look up.
type Subject struct {
	Kind Kind
	ID   string
	Key  string // its public key, for references by key
}

// Holder is one record that refers to the subject.
type Holder struct {
	ID         string `json:"id,omitempty"`
	SegmentKey string `json:"segment_key,omitempty"`
	Name       string `json:"name"`
	Status     string `json:"status,omitempty"`
	Where      string `json:"where,omitempty"`
	Version    int    `json:"version,omitempty"` // of a library entry; 0: the current one
}

// Holders are the records that refer to a subject, by source: broadcasts, sequences, …
type Holders map[string][]Holder

// Any reports whether there are any.
func (h Holders) Any() bool {
	for _, list := range h {
		if len(list) > 0 {
			return true
		}
	}
	return false
}

// With returns h with an empty list for each source that has none, as shown in details.
func (h Holders) With(sources ...string) Holders {
	all := Holders{}
	for _, s := range sources {
		all[s] = []Holder{}
	}
	for s, list := range h {
		if len(list) > 0 {
			all[s] = list
		}
	}
	return all
}

// Finder finds the references of one package. It returns only holders that would break if the
// subject was deleted. It is called in the transaction that deletes the subject.
type Finder interface {
	Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Subject) (Holders, error)
	// FindAll looks up several subjects of one kind, for lists. It returns the holders by the id of the
	// subject; subjects without any may be missing.
	FindAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, kind Kind, subjects []Subject) (map[string]Holders, error)
}

// Func is a function that implements Finder by looking up one subject at a time.
type Func func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Subject) (Holders, error)

// Find calls f.
func (f Func) Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Subject) (Holders, error) {
	return f(ctx, db, tenant, s)
}

// FindAll calls f for each subject.
func (f Func) FindAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, _ Kind, subjects []Subject) (map[string]Holders, error) {
	all := make(map[string]Holders, len(subjects))
	for _, s := range subjects {
		found, err := f(ctx, db, tenant, s)
		if err != nil {
			return nil, err
		}
		all[s.ID] = found
	}
	return all, nil
}

// Many is a function that implements Finder by looking up all subjects together, with a number of
// statements that does not depend on theirs.
type Many func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, kind Kind, subjects []Subject) (map[string]Holders, error)

// Find calls f for one subject.
func (f Many) Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Subject) (Holders, error) {
	found, err := f(ctx, db, tenant, s.Kind, []Subject{s})
	return found[s.ID], err
}

// FindAll calls f.
func (f Many) FindAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, kind Kind, subjects []Subject) (map[string]Holders, error) {
	return f(ctx, db, tenant, kind, subjects)
}

// Finders combines several finders. An empty list finds nothing.
type Finders []Finder

// Find returns the results of all finders.
func (fs Finders) Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Subject) (Holders, error) {
	all, err := fs.FindAll(ctx, db, tenant, s.Kind, []Subject{s})
	return all[s.ID], err
}

// FindAll returns the results of all finders.
func (fs Finders) FindAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, kind Kind, subjects []Subject) (map[string]Holders, error) {
	all := make(map[string]Holders, len(subjects))
	for _, s := range subjects {
		all[s.ID] = Holders{}
	}
	for _, f := range fs {
		found, err := f.FindAll(ctx, db, tenant, kind, subjects)
		if err != nil {
			return nil, err
		}
		for subject, holders := range found {
			for source, list := range holders {
				all[subject][source] = append(all[subject][source], list...)
			}
		}
	}
	return all, nil
}
