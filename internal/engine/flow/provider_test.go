package flow

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestMailsCountForTheirProvider sends a mail to contacts at different providers.
func TestMailsCountForTheirProvider(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		for domain, provider := range map[string]mx.Provider{"gmail.com": mx.Gmail, "shop.example": mx.GoogleWorkspace} {
			_, err := db.Exec(t.Context(), `INSERT INTO mail_domain (domain, mx_record, smtp_provider, checked_at, next_at, tries) VALUES ($1, 'mx.example', $2, 1, 1, 0)`, domain, string(provider))
			f.must(err)
		}
		s := f.start(graph("hello", []sequence.Node{
			node("hello", sequence.SendNode, object{"message_id": f.entry.ID, "email_type_key": f.Type.Key}),
		}), sequence.Change{})
		for _, address := range []string{"ann@gmail.com", "bob@gmail.com", "cas@shop.example", "dea@nowhere.example"} {
			c, err := contact.Create(t.Context(), db, f.Tenant, address, contact.Change{}, contact.Rules{}, f.now)
			f.must(err)
			f.enroll(s, nil, c.ID)
		}
		f.tick()
		sends, err := sequence.Sends(t.Context(), db, f.Tenant, s.ID)
		f.must(err)
		list, err := outbox.LoadMixes(t.Context(), db, f.Tenant, sends["hello"])
		f.must(err)
		got := map[mx.Provider]int{}
		for _, m := range list {
			got[m.Provider] += m.Total
		}
		if d := cmp.Diff(map[mx.Provider]int{mx.Gmail: 2, mx.GoogleWorkspace: 1, "": 1}, got); d != "" {
			t.Errorf("mails by provider (-want +got)\n%s", d)
		}
	})
}
