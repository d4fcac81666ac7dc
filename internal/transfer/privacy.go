package transfer

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/job"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData is what jobs keep about people: the files of exports, and the reports
// of rows that imports did not take. Whoever is anonymised may be in any of them,
// under an address or a name that is written in another way, or in columns
// without either; so none of the tenant's is kept. Parameters need not be looked
// at: a job keeps them only until it ends.
func PersonalData(now func() time.Time) contact.PersonalData {
	return contact.PersonalData{
		Name: "files of jobs",
		Erase: func(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, _ []contact.Person) error {
			return job.Forget(ctx, tx, tenant, []job.Kind{job.Export}, now())
		},
	}
}
