package audience

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// slices of time, each with one broadcast to a tenth of the contacts, more or
// less, and what people did besides.
const (
	periods = 30
	span    = 400 * 24 * time.Hour // that all periods are
)

// What of a thousand entries happened. The rest are contact_created.
const (
	partDelivered = 600
	partOpened    = 100
	partClicked   = 40
	partEvents    = 120
	partViews     = 70
	partBounced   = 10
	partForms     = 8
	partLeft      = 4
)

var (
	eventNames = []choice{
		{"product_viewed", 400}, {"cart_updated", 220}, {"login", 200}, {"order_placed", 120}, {"trial_started", 40}, {"meeting_booked", 15}, {"refund_asked", 5},
	}
	agents = []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:109.0) Gecko/20100101 Firefox/115.0 Thunderbird/115.2.0",
		"Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)", "Mozilla/5.0",
	}
)

// entry is a journal entry to be written.
type entry struct {
	at      int64
	kind    journal.Type
	name    string
	contact int32
	message id.Message
	data    string
}

// history writes the journal and the related rows.
type history struct {
	*loader
	r *rand.Rand

	journal, outbox, notes, hits, engaged *sheet
	pos                                   int64
	entries                               []entry // of the period
}

func (l *loader) fillHistory(ctx context.Context) error {
	h := &history{
		loader: l, r: rand.New(rand.NewPCG(3, 3)),
		journal: newSheet(l.db, l.tenant, "journal", []string{fmt.Sprint("grp ", l.tenant.Group())}, "id UUID", "pos BIGINT", "type TEXT", "name TEXT", "contact_id UUID", "send_id UUID",
			"message_id UUID", "occurred_at BIGINT", "data JSONB"),
		outbox: newSheet(l.db, l.tenant, "outbox", []string{"mix 1", "attempts 1", "answered TRUE"},
			"id UUID", "send_id UUID", "contact_id UUID", "email TEXT", "lane_id UUID",
			"state TEXT", "due_at BIGINT", "first_at BIGINT", "sent_at BIGINT"),
		notes: newSheet(l.db, l.tenant, "outbox_note", []string{"state 'bounced'", "bounce_type 'soft'"},
			"send_id UUID", "contact_id UUID", "message_id UUID", "ended_at BIGINT"),
		hits: newSheet(l.db, l.tenant, "hit", []string{"method 'GET'", "ip '192.0.2.1'", "prefetch FALSE"},
			"id UUID", "send_id UUID", "message_id UUID", "contact_id UUID", "kind TEXT", "link BIGINT", "url TEXT", "at BIGINT", "since_sent BIGINT",
			"agent TEXT", "class TEXT", "rule TEXT"),
		engaged: newSheet(l.db, l.tenant, "engagement", nil, "message_id UUID", "send_id UUID", "flags BIGINT"),
	}
	if err := l.db.QueryRow(ctx, `SELECT COALESCE(MAX(pos), 0) FROM journal`).Scan(&h.pos); err != nil {
		return err
	}
	for p := range periods {
		if err := h.period(ctx, p); err != nil {
			return err
		}
	}
	for _, s := range []*sheet{h.journal, h.outbox, h.notes, h.hits, h.engaged} {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) period(ctx context.Context, p int) error {
	length := span / periods
	from := h.people.now.Add(-span + time.Duration(p)*length)
	known := min(int(float64(h.extent.contacts)*(1-float64(h.people.now.Sub(from))/float64(past))), h.extent.contacts)
	known = max(known, 1)
	n := h.extent.entries / periods
	h.entries = h.entries[:0]
	send := uuidAt[id.Send](h.r, from)
	sent, bounced, err := h.broadcast(ctx, send, from, length, known, n)
	if err != nil {
		return err
	}
	if err := h.record(ctx, p, send, from, sent, bounced); err != nil {
		return err
	}
	h.addActivity(from, length, known, n)
	slices.SortFunc(h.entries, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	for i := range h.entries {
		e := &h.entries[i]
		h.pos++
		var of id.Send
		if !e.message.IsZero() {
			of = send
		}
		err := h.journal.add(ctx, uuidAt[id.Entry](h.r, time.UnixMicro(e.at)), h.pos, string(e.kind), sqldb.Null(e.name), h.contacts[e.contact],
			sqldb.Null(of), sqldb.Null(e.message), e.at, sqldb.Null(e.data))
		if err != nil {
			return err
		}
	}
	return nil
}

// broadcast writes the mails of a period and what their readers did. Some
// contacts get much more mail than others.
func (h *history) broadcast(ctx context.Context, send id.Send, from time.Time, length time.Duration, known, n int) (sent, bounced int, err error) {
	delivered := n * partDelivered / 1000
	opens, clicks, bounces := partOpened*1000/partDelivered, partClicked*1000/partOpened, partBounced*1000/partDelivered
	content, identity, lane := uuidAt[id.Content](h.r, from), uuidAt[id.Identity](h.r, from), uuidAt[id.Lane](h.r, from)
	_, err = h.db.Exec(ctx, `
		INSERT INTO outbox_mix (tenant_id, send_id, n, content_id, content_version, identity_id) VALUES ($1, $2, 1, $3, 1, $4)`,
		h.tenant, send, content, identity)
	if err != nil {
		return 0, 0, err
	}
	mean := float64(delivered) / float64(known)
	for c := range known {
		share := mean * []float64{0.25, 0.25, 0.5, 1, 3}[c%5]
		if h.r.Float64() >= share {
			continue
		}
		queued := from.Add(time.Duration(c) * time.Microsecond)
		at := queued.Add(time.Duration(h.r.Int64N(int64(time.Hour))))
		message := uuidAt[id.Message](h.r, queued)
		state := "delivered"
		t := &h.totals[c]
		kind, data := journal.EmailDelivered, ""
		if h.r.IntN(1000) < bounces {
			kind, state, data = journal.EmailBounced, "bounced", `{"class":"soft"}`
			t.bounceAt = at.UnixMicro()
			bounced++
		} else {
			t.sent++
			t.sentAt = at.UnixMicro()
			sent++
		}
		h.entries = append(h.entries, entry{at.UnixMicro(), kind, "", int32(c), message, data})
		err := h.outbox.add(ctx, message, send, h.contacts[c], h.people.person(c).email, lane,
			state, queued.UnixMicro(), queued.UnixMicro(), at.UnixMicro())
		if err == nil && state == "bounced" {
			err = h.notes.add(ctx, send, h.contacts[c], message, at.UnixMicro())
		}
		if err == nil && state == "delivered" {
			err = h.reader(ctx, send, message, c, at, length, opens, clicks)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return sent, bounced, nil
}

// reader writes what became of one mail.
func (h *history) reader(ctx context.Context, send id.Send, message id.Message, c int, sent time.Time, length time.Duration, opens, clicks int) error {
	var flags track.Flags
	hit := func(kind, class, rule, url string, at time.Time) error {
		var link any
		if url != "" {
			link = 1
		}
		return h.hits.add(ctx, uuidAt[id.Hit](h.r, at), send, message, h.contacts[c], kind, link, sqldb.Null(url), at.UnixMicro(), at.Sub(sent).Microseconds(),
			agents[h.r.IntN(len(agents))], class, rule)
	}
	if h.r.IntN(1000) < opens/4 {
		flags |= track.ApparentOpened | track.BotOpened
		if err := hit("open", "bot", "scanner", "", sent.Add(time.Second)); err != nil {
			return err
		}
	}
	if h.r.IntN(1000) < opens {
		at := sent.Add(time.Duration(float64(length) / 2 * h.r.Float64() * h.r.Float64()))
		class := []string{"human", "human", "privacy"}[h.r.IntN(3)]
		flags = flags&^track.BotOpened | track.ApparentOpened | track.VerifiedOpened
		if class == "human" {
			flags |= track.HumanOpened | track.Confirmed
		}
		t := &h.totals[c]
		t.opened++
		t.openedAt, t.activityAt = max(t.openedAt, at.UnixMicro()), max(t.activityAt, at.UnixMicro())
		h.entries = append(h.entries, entry{at.UnixMicro(), journal.EmailOpened, "", int32(c), message, `{"classification":"` + class + `","first":true}`})
		if err := hit("open", class, "agent", "", at); err != nil {
			return err
		}
		if h.r.IntN(1000) < clicks {
			at = at.Add(time.Duration(h.r.Int64N(int64(10 * time.Minute))))
			url := fmt.Sprintf("https://www.example.com/offers/%d", h.r.IntN(20))
			flags |= track.HumanClicked
			t.clicked++
			t.clickedAt, t.activityAt = max(t.clickedAt, at.UnixMicro()), max(t.activityAt, at.UnixMicro())
			h.entries = append(h.entries, entry{at.UnixMicro(), journal.EmailClicked, "", int32(c), message, `{"classification":"human","first":true,"link_url":"` + url + `"}`})
			if err := hit("click", "human", "agent", url, at); err != nil {
				return err
			}
		}
	}
	if flags == 0 {
		return nil
	}
	return h.engaged.add(ctx, message, send, int64(flags))
}

// record writes the broadcast of a period and the sums of its send.
func (h *history) record(ctx context.Context, p int, send id.Send, from time.Time, sent, bounced int) error {
	at := from.UnixMicro()
	broadcast := uuidAt[id.Broadcast](h.r, from)
	b := newSheet(h.db, h.tenant, "broadcast", []string{"revision 3", "status 'completed'", "kind 'regular'", "content_version 1", "include_segments '[]'",
		"exclude_segments '[]'", "tags '[]'", "metadata '{}'", "tracking TRUE", "created_by '{}'", "subject 'News'", "body_html '<p>News</p>'"},
		"id UUID", "send_id UUID", "name TEXT", "email_type_id UUID", "scheduled_at BIGINT", "dispatch_started_at BIGINT", "completed_at BIGINT", "created_at BIGINT", "updated_at BIGINT")
	if err := b.add(ctx, broadcast, send, fmt.Sprintf("News %d", p+1), h.emailType, at, at, at, at, at); err != nil {
		return err
	}
	s := newSheet(h.db, h.tenant, "send", []string{"source_kind 'broadcast'", "phase 'done'", "sealed TRUE"},
		"id UUID", "source_id UUID", "opened_at BIGINT", "last_send_at BIGINT", "total BIGINT", "delivered BIGINT", "bounced BIGINT", "email_type_id UUID")
	if err := s.add(ctx, send, broadcast, at, at, int64(sent+bounced), int64(sent), int64(bounced), h.emailType); err != nil {
		return err
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	return s.flush(ctx)
}

// addActivity adds events other than those of mail. A few contacts have most of them.
func (h *history) addActivity(from time.Time, length time.Duration, known, n int) {
	add := func(part int, kind journal.Type, what func(c int, at int64) (name, data string)) {
		for range n * part / 1000 {
			c := int(float64(known) * h.r.Float64())
			if h.r.IntN(2) == 0 { // one contact in ten does half of everything
				c = c / 10 * 10
			}
			at := from.Add(time.Duration(h.r.Int64N(int64(length)))).UnixMicro()
			name, data := what(c, at)
			h.entries = append(h.entries, entry{at, kind, name, int32(c), id.Message{}, data})
		}
	}
	active := func(c int, at int64) { h.totals[c].activityAt = max(h.totals[c].activityAt, at) }
	add(partEvents, journal.CustomEvent, func(c int, at int64) (string, string) {
		active(c, at)
		return pick(h.r, eventNames), fmt.Sprintf(`{"properties":{"amount":%d.5,"currency":"EUR","items":[{"sku":"A-%d","quantity":%d}]}}`,
			h.r.IntN(300), h.r.IntN(500), 1+h.r.IntN(3))
	})
	add(partViews, journal.PageViewed, func(c int, at int64) (string, string) {
		active(c, at)
		h.totals[c].viewedAt = max(h.totals[c].viewedAt, at)
		page := h.r.IntN(30) * h.r.IntN(30)
		return fmt.Sprintf("https://www.example.com/page/%d", page), fmt.Sprintf(`{"url":"https://www.example.com/page/%d"}`, page)
	})
	add(partForms, journal.FormSubmitted, func(c int, at int64) (string, string) {
		active(c, at)
		return "footer", ""
	})
	add(partLeft, journal.EmailUnsubscribed, func(int, int64) (string, string) { return "", `{"scope":"type"}` })
	add(1000-partDelivered-partOpened-partClicked-partEvents-partViews-partForms-partLeft-partBounced, journal.ContactCreated,
		func(int, int64) (string, string) { return "", "" })
}
