package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const (
	filledAtOnce = 2000 // messages of a transaction
	mailLinks    = 30   // of a mail
)

// send writes a send of n messages, in two variants and from two senders, which was sent a week ago.
func (f *filler) send(ctx context.Context, n, clicks, bounces int) (id.Send, error) {
	send, began := id.New[id.Send](), f.now.Add(-7*24*time.Hour)
	var html strings.Builder
	for i := range mailLinks {
		html.WriteString(fmt.Sprintf(`<p><a href="https://example.org/%d">Link %d</a></p>`, i, i))
	}
	var contents []id.Content
	err := f.db.InTx(ctx, func(tx *sqldb.DB) error {
		contents = nil
		for range 2 {
			c, err := content.Freeze(ctx, tx, f.tenant, content.Source{Subject: "News", HTML: html.String(), Tracking: true, Send: send}, began)
			if err != nil {
				return err
			}
			contents = append(contents, c)
		}
		return outbox.Create(ctx, tx, outbox.Send{Tenant: f.tenant, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, began)
	})
	if err != nil {
		return send, err
	}
	identities, lane := []id.Identity{id.New[id.Identity](), id.New[id.Identity]()}, id.New[id.Lane]()
	providers := []mx.Provider{mx.Gmail, mx.Outlook, mx.Yahoo, mx.ICloud, mx.GoogleWorkspace, mx.Microsoft365, mx.Other}
	for from := 0; from < n; from += filledAtOnce {
		var messages []outbox.Message
		for i := from; i < min(from+filledAtOnce, n); i++ {
			messages = append(messages, outbox.Message{
				ID: id.New[id.Message](), Contact: id.New[id.Contact](), Email: fmt.Sprintf("p%d@domain%d.example", i, i%5000), Content: contents[i%2], Variant: string("ab"[i%2]),
				Identity: identities[i/2%2], Provider: providers[i%len(providers)], Lane: lane, DueAt: began,
			})
		}
		err := f.db.InTx(ctx, func(tx *sqldb.DB) error {
			if _, err := outbox.AddMessages(ctx, tx, f.tenant, send, messages); err != nil {
				return err
			}
			return f.results(ctx, tx, send, messages, from, clicks, bounces, began)
		})
		if err != nil {
			return send, err
		}
	}
	_, err = f.db.Exec(ctx, `UPDATE send SET phase = 'done', sealed = TRUE WHERE tenant_id = $1 AND id = $2`, f.tenant, send)
	return send, err
}

// results writes the results of messages, whose numbers begin with first: the last ones of the send
// bounce, and the first ones are opened and clicked.
func (f *filler) results(ctx context.Context, tx *sqldb.DB, send id.Send, messages []outbox.Message, first, clicks, bounces int, began time.Time) error {
	state := tx.Table("id UUID", "state TEXT", "sent_at BIGINT")
	notes := tx.Table("message_id UUID", "contact_id UUID", "at BIGINT")
	engaged := tx.Table("message_id UUID")
	hits := tx.Table("message_id UUID", "id UUID", "contact_id UUID", "url TEXT", "at BIGINT", "since BIGINT")
	for i, m := range messages {
		n := first + i
		sent := began.Add(time.Duration(n) * time.Millisecond * 50)
		result := "delivered"
		if n >= clicks && n < clicks+bounces {
			result = "bounced"
			notes.Add(m.ID, m.Contact, sent.UnixMicro())
		}
		state.Add(m.ID, result, sent.UnixMicro())
		if n < clicks {
			since := time.Duration(n%2880) * time.Minute / 4
			engaged.Add(m.ID)
			hits.Add(m.ID, id.New[id.Hit](), m.Contact, fmt.Sprintf("https://example.org/%d", n%mailLinks), sent.Add(since).UnixMicro(), since.Microseconds())
		}
	}
	_, err := tx.Exec(ctx, `
		UPDATE outbox SET state = v.state, sent_at = v.sent_at FROM `+state.As("v", 2)+`
		WHERE outbox.tenant_id = $1 AND outbox.id = v.id`, state.Args(f.tenant)...)
	if err == nil && notes.Len() > 0 {
		_, err = tx.Exec(ctx, `
			INSERT INTO outbox_note (tenant_id, send_id, contact_id, message_id, state, ended_at, bounce_type, category, smtp_code, enhanced_code, error)
			SELECT h.tenant_id, `+tx.Param(2, "UUID")+`, v.contact_id, v.message_id, 'bounced', v.at, 'hard', 'mailbox', 550, '5.1.1', 'no such user'
			FROM `+tx.Home(1)+` CROSS JOIN `+notes.As("v", 3), notes.Args(f.tenant, send)...)
	}
	if err != nil || engaged.Len() == 0 {
		return err
	}
	flags := track.VerifiedOpened | track.HumanClicked
	_, err = tx.Exec(ctx, `
		INSERT INTO engagement (tenant_id, message_id, send_id, flags, hits, mix)
		SELECT h.tenant_id, v.message_id, `+tx.Param(2, "UUID")+`, `+tx.Param(3, "INTEGER")+`, 1, m.mix
		FROM `+tx.Home(1)+` CROSS JOIN `+engaged.As("v", 4)+` JOIN outbox AS m ON m.tenant_id = $1 AND m.id = v.message_id`, engaged.Args(f.tenant, send, int64(flags))...)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO hit (tenant_id, message_id, id, send_id, contact_id, kind, link, url, at, since_sent, method, agent, ip, prefetch, class, client)
		SELECT h.tenant_id, v.message_id, v.id, `+tx.Param(2, "UUID")+`, v.contact_id, 'click', 0, v.url, v.at, v.since, 'GET', 'Firefox', '192.0.2.1', FALSE, 'human', 'firefox.desktop'
		FROM `+tx.Home(1)+` CROSS JOIN `+hits.As("v", 3), hits.Args(f.tenant, send)...)
	return err
}
