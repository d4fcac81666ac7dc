package segment

import (
	"context"
	"iter"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData returns the lists that contacts are on, for exports. Membership does not identify a
// person, so erasing a contact leaves it and the counts unchanged.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "lists", Export: export}
}

// exported is a membership as a personal export shows it.
type exported struct {
	Key           string    `json:"segment_key"`
	Name          string    `json:"name"`
	MemberAddedAt time.Time `json:"member_added_at"`
}

func export(ctx context.Context, db *sqldb.DB, tenant id.Tenant, p contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		list, err := Memberships(ctx, db, tenant, p.ID)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, m := range list {
			if !yield(exported{m.Segment.Key, m.Segment.Name, m.AddedAt}, nil) {
				return
			}
		}
	}
}
