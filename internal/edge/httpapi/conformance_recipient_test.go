package httpapi_test

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// addRecipient makes the contact of a tenant a recipient of its second broadcast: the mail was accepted
// at the second attempt, and opened.
func (s *conformance) addRecipient(t testing.TB, tenant id.Tenant, slug string) {
	t.Helper()
	ctx, m := t.Context(), s.records[slug]
	err := s.db.InTx(ctx, func(tx *sqldb.DB) error {
		b, err := broadcast.Head(ctx, tx, tenant, id.Read[id.Broadcast](m["second"]))
		if err != nil {
			return err
		}
		c, err := content.Freeze(ctx, tx, tenant, content.Source{Subject: "Hi", HTML: "<p>Hi</p>", Tracking: true, Send: b.Send, Context: content.Context{Broadcast: b.ID}}, s.now)
		if err != nil {
			return err
		}
		from, err := sender.IdentityByID(ctx, tx, tenant, id.Read[id.Identity](m["identity"]))
		if err != nil {
			return err
		}
		if err := outbox.Create(ctx, tx, outbox.Send{Tenant: tenant, ID: b.Send, Source: outbox.FromBroadcast(b.ID)}, outbox.Terms{}, s.now); err != nil {
			return err
		}
		message := outbox.Message{
			ID: id.New[id.Message](), Contact: id.Read[id.Contact](m["contact"]), Email: "ann@example.org", Content: c, ContentVersion: 1,
			Identity: from.ID, Lane: id.Read[id.Lane](m["lane"]), DueAt: s.now,
		}
		if _, err := outbox.AddMessages(ctx, tx, tenant, b.Send, []outbox.Message{message}); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE outbox SET state = 'delivered', sent_at = $2, first_at = $2, attempts = 2, accept_reply = '250 2.0.0 Ok: queued as 7' WHERE tenant_id = $1 AND id = $3`,
			tenant, s.now.UnixMicro(), message.ID)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO outbox_failed_attempt (tenant_id, message_id, at, lane_id, smtp_code, reply) VALUES ($1, $2, $3, $4, 451, '4.2.0 come back later')`,
			tenant, message.ID, s.now.Add(-time.Minute).UnixMicro(), message.Lane)
		if err != nil {
			return err
		}
		return track.Record(ctx, tx, []track.Hit{{
			Tenant: tenant, Send: b.Send, Message: message.ID, Contact: message.Contact, At: s.now, SinceSent: new(time.Minute),
			Method: "GET", Agent: "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", IP: "192.0.2.1", Class: track.Pending,
		}})
	})
	if err != nil {
		t.Fatal(err)
	}
}
