package track

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData returns the opens and clicks of contacts, for exports, and erases them.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "opens_and_clicks", Export: exportHits, Erase: eraseHits}
}

// exportedHit is a hit in a personal export.
type exportedHit struct {
	Kind           string     `json:"kind"` // open or click; without a URL: of the invisible link
	Message        id.Message `json:"message_id"`
	At             time.Time  `json:"at"`
	URL            *string    `json:"url"`
	IP             string     `json:"ip"`
	Agent          string     `json:"user_agent"`
	Classification Class      `json:"classification"`

	id id.Hit
}

// exportPage is the number of hits that an export reads at a time.
const exportPage = 500

func exportHits(ctx context.Context, db *sqldb.DB, tenant id.Tenant, p contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		last := exportedHit{At: time.UnixMicro(-1 << 62)}
		for {
			rows, err := db.Query(ctx, `
				SELECT id, kind, message_id, at, url, ip, agent, class FROM hit
				WHERE tenant_id = $1 AND contact_id = $2 AND at >= $3 AND (at, id) > ($3, $4)
				ORDER BY at, id LIMIT $5`, tenant, p.ID, last.At.UnixMicro(), last.id, exportPage)
			page, err := sqldb.Collect(rows, err, func(scan func(...any) error) (exportedHit, error) {
				var h exportedHit
				var at int64
				err := scan(&h.id, &h.Kind, &h.Message, &at, &h.URL, &h.IP, &h.Agent, &h.Classification)
				h.At = sqldb.Time(at)
				return h, err
			})
			if err != nil {
				yield(nil, fmt.Errorf("export opens and clicks: %w", err))
				return
			}
			for _, h := range page {
				if !yield(h, nil) {
					return
				}
			}
			if len(page) < exportPage {
				return
			}
			last = page[len(page)-1]
		}
	}
}

// eraseHits removes addresses and agents from hits. Their class stays, and so does the part
// of an agent that Derive needs (ImageProxy).
func eraseHits(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	ids := make([]id.Contact, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	_, err := tx.Exec(ctx, `
		UPDATE hit SET ip = '', net = '', agent = `+keptAgent+`
		WHERE tenant_id = $1 AND contact_id`+tx.In(2), tenant, sqldb.List(tx, ids))
	return err
}
