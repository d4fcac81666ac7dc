package automation

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData returns the runs of contacts. Erasing a contact removes the events that started them, and
// the results of the actions, whose reasons may repeat values; the runs stay, for the numbers of the
// automations.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "automations", Export: export, Erase: erase}
}

// exported is a run as a personal export shows it.
type exported struct {
	Automation id.Automation   `json:"automation_id"`
	Event      journal.Trigger `json:"trigger"`
	Status     RunStatus       `json:"status"`
	CreatedAt  time.Time       `json:"created_at"`
	EndedAt    *time.Time      `json:"ended_at"`
}

// exportPage is how many runs of a contact are read at a time.
const exportPage = 500

func export(ctx context.Context, db *sqldb.DB, tenant id.Tenant, p contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		var after id.AutomationRun
		for {
			rows, err := db.Query(ctx, `
				SELECT `+runColumns+` FROM automation_run WHERE tenant_id = $1 AND contact_id = $2 AND id > $3 ORDER BY id LIMIT $4`, tenant, p.ID, after, exportPage)
			list, err := sqldb.Collect(rows, err, scanRun)
			if err != nil {
				yield(nil, fmt.Errorf("export runs of automations: %w", err))
				return
			}
			for _, r := range list {
				started, err := r.Event()
				if !yield(exported{r.Automation, started, r.Status, r.CreatedAt, r.EndedAt}, err) || err != nil {
					return
				}
				after = r.ID
			}
			if len(list) < exportPage {
				return
			}
		}
	}
}

func erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	ids := make([]id.Contact, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	_, err := tx.Exec(ctx, `
		UPDATE automation_run SET trigger_data = NULL, actions = '[]' WHERE tenant_id = $1 AND contact_id`+tx.In(2), tenant, sqldb.List(tx, ids))
	if err != nil {
		return fmt.Errorf("erase the trigger events of runs: %w", err)
	}
	return nil
}
