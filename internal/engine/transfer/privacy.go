package transfer

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData returns how to erase people from the files of jobs: those of exports, and the errors
// files of imports. An anonymized person may occur in any of them, with an address or name written
// differently, or in columns with neither; so all files of the tenant are removed. The parameters
// of jobs are cleared when a job ends.
func PersonalData(now func() time.Time) contact.PersonalData {
	return contact.PersonalData{
		Name: "files of jobs",
		Erase: func(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, _ []contact.Person) error {
			return job.EraseFiles(ctx, tx, tenant, []job.Kind{job.Export}, now())
		},
	}
}
