// Package usage is the question "who still uses this?", asked upwards.
//
// A package that owns something others refer to must know who does before it
// lets go of it, and may not import them. So it asks a Finder; the packages
// that refer to things answer, and the program introduces them to each other.
package usage

import (
	"context"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Kind says what sort of thing is asked about.
type Kind string

// The things that can be referred to.
const (
	Segment   Kind = "segment"
	Field     Kind = "custom_field"
	EmailType Kind = "email_type"
	Identity  Kind = "sending_identity"
	MTAConfig Kind = "mta_config"
	Domain    Kind = "sending_domain"
	Template  Kind = "template"
	Block     Kind = "block"
	Library   Kind = "library_entry"
)

// Subject is the thing that is asked about.
type Subject struct {
	Kind Kind
	ID   string
	Key  string // its public key, for those who refer to it by that
}

// Holder is one record that refers to the subject.
type Holder struct {
	ID         string `json:"id,omitempty"`
	SegmentKey string `json:"segment_key,omitempty"`
	Name       string `json:"name"`
	Status     string `json:"status,omitempty"`
	Where      string `json:"where,omitempty"`
	Version    int    `json:"version,omitempty"` // of a library entry; 0: whichever is current
}

// Holders lists who refers to a subject, by source: broadcasts, sequences, …
type Holders map[string][]Holder

// Any reports whether anybody does.
func (h Holders) Any() bool {
	for _, list := range h {
		if len(list) > 0 {
			return true
		}
	}
	return false
}

// With returns h with an empty list for each source that has none, the form in
// which details are shown.
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

// Finder answers for one package. It returns only holders that are live: those
// that would break if the subject went away. It is asked inside the transaction
// that removes the subject.
type Finder interface {
	Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Subject) (Holders, error)
}

// Func is a function that is a Finder.
type Func func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Subject) (Holders, error)

// Find calls f.
func (f Func) Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Subject) (Holders, error) {
	return f(ctx, db, tenant, s)
}

// Finders asks all of them. None is a Finder that finds nobody.
type Finders []Finder

// Find returns what each finder found, together.
func (fs Finders) Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Subject) (Holders, error) {
	all := Holders{}
	for _, f := range fs {
		found, err := f.Find(ctx, db, tenant, s)
		if err != nil {
			return nil, err
		}
		for source, list := range found {
			all[source] = append(all[source], list...)
		}
	}
	return all, nil
}
