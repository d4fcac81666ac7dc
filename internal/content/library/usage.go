package library

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// InUse is the details of ErrInUse.
type InUse struct {
	Usage []Use `json:"usage"`
}

// Use is one broadcast or sequence that refers to an entry.
type Use struct {
	Version *int   `json:"version"` // nil: the current one, whichever it is
	Kind    string `json:"kind"`    // "broadcast" or "sequence"
	Name    string `json:"name"`
	Status  string `json:"status"`
}

type uses []Use

// usesOf finds the uses of an entry. It returns nil if finder is nil, and ErrUnavailable if the lookup
// fails.
func usesOf(ctx context.Context, db *sqldb.DB, e Entry, finder usage.Finder) (uses, error) {
	if finder == nil {
		return nil, nil
	}
	holders, err := finder.Find(ctx, db, e.Tenant, subjectOf(e))
	if err != nil {
		return nil, ErrUnavailable.Because(err)
	}
	return usesBy(holders), nil
}

func subjectOf(e Entry) usage.Subject {
	return usage.Subject{Kind: usage.Library, ID: e.ID.String(), Key: e.Slug}
}

func usesBy(holders usage.Holders) uses {
	found := uses{}
	for _, source := range slices.Sorted(maps.Keys(holders)) {
		for _, h := range holders[source] {
			u := Use{Kind: strings.TrimSuffix(source, "s"), Name: h.Name, Status: h.Status}
			if h.Version > 0 {
				u.Version = new(h.Version)
			}
			found = append(found, u)
		}
	}
	return found
}

// finished are the statuses of holders that do not need the entry any more. They remain in the
// usage of a version.
var finished = []string{"completed", "failed", "cancelled", "archived"}

// blocking returns the uses that prevent deletion.
func (u uses) blocking() uses {
	return slices.DeleteFunc(slices.Clone(u), func(one Use) bool { return slices.Contains(finished, one.Status) })
}

// ofVersion returns the uses of a version: those with its number, and those of the current version if it
// is the current one.
func (u uses) ofVersion(number, current int) []Use {
	if u == nil {
		return nil
	}
	list := []Use{}
	for _, one := range u {
		if cmp.Or(optional.Value(one.Version), current) == number {
			list = append(list, one)
		}
	}
	return list
}
