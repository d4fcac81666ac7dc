package rule

import (
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
)

// mails is the common meaning of the leaves about mails: which messages are counted, and what must
// have happened to them.
type mails struct {
	event   EmailEvent
	level   Level
	window  *Window
	types   []id.EmailType // of the sends; nil: any
	source  outbox.Source  // zero: any
	variant string         // empty: any
	link    string         // empty: any
}

func (l Email) sql(b *builder) string {
	m, known := l.mails(b.env)
	if !known {
		return b.answer(condition{known: true, deny: !l.Count.holds(0)}.unless(l.Operator == DidNot))
	}
	return b.answer(b.occurred(b.mails(m), l.Count).unless(l.Operator == DidNot))
}

func (l Email) match(env Env, s *Subject) bool {
	m, known := l.mails(env)
	n := 0
	if known {
		n = m.count(env, s)
	}
	return l.Count.holds(n) == (l.Operator != DidNot)
}

// mails returns the meaning of the leaf; known is false if none of its email types exists.
func (l Email) mails(env Env) (m mails, known bool) {
	m = mails{event: l.Event, level: l.Level, window: l.Window}
	for _, key := range l.Types {
		if t, ok := env.emailType(key); ok {
			m.types = append(m.types, t.ID)
		}
	}
	return m, len(l.Types) == 0 || len(m.types) > 0
}

func (l Broadcast) mails() mails {
	return mails{event: l.Event, level: l.Level, source: outbox.FromBroadcast(l.ID), variant: l.Variant, link: l.LinkURL}
}

func (l Broadcast) sql(b *builder) string {
	return b.answer(b.occurred(b.mails(l.mails()), nil).unless(l.Operator == DidNot))
}

func (l Broadcast) match(env Env, s *Subject) bool {
	return l.mails().count(env, s) > 0 == (l.Operator != DidNot)
}

func (l SequenceEmail) mails() mails {
	return mails{event: l.Event, level: l.Level, source: outbox.FromSequence(l.Sequence), variant: l.Node}
}

func (l SequenceEmail) sql(b *builder) string {
	return b.answer(b.occurred(b.mails(l.mails()), nil).unless(l.Operator == DidNot))
}

func (l SequenceEmail) match(env Env, s *Subject) bool {
	return l.mails().count(env, s) > 0 == (l.Operator != DidNot)
}

// mails returns the rows of messages that meet m.
func (b *builder) mails(m mails) source {
	switch m.event {
	case Opened, Clicked, Engaged:
		return b.hits(m)
	case Complained, LeftBy:
		return b.journalEvents(m)
	}
	return b.messages(m)
}

// messages returns the rows of the outbox in the required state.
func (b *builder) messages(m mails) source {
	all := m.anySource() && m.types == nil
	t := source{from: "outbox AS x", where: "x.tenant_id = $1", broad: all && m.event != Bounced && b.broad(m.window)}
	switch m.event {
	case Bounced:
		t.from = "outbox_note AS x"
		t.where += " AND x.state = 'bounced'" + m.window.sql(b, "x.ended_at")
	case Recipient:
	default:
		t.where += " AND x.sent_at IS NOT NULL"
		if m.event == Delivered {
			t.where += " AND x.state IN ('sent', 'delivered')"
		}
		t.where += m.window.sql(b, "x.sent_at")
	}
	if !m.anySource() {
		t.where += " AND x.send_id" + b.sendsOf(m.source)
	}
	if m.variant != "" {
		if m.event == Bounced {
			t.where += b.variant(m)
		} else {
			t.where += " AND (x.send_id, x.mix) IN " + b.mixes(m)
		}
	}
	var since time.Time
	if m.event != Bounced && !t.broad {
		since, _ = m.window.bounds(b.env)
	}
	if sends := b.sends(m.types, since); sends != "" {
		t.where += " AND x.send_id IN " + sends
	}
	return t
}

// anySource reports whether messages of all sources count.
func (m mails) anySource() bool { return m.source == outbox.Source{} }

// sendsOf renders the condition that the preceding column is a send of a source: a broadcast has
// one, a sequence one per step.
func (b *builder) sendsOf(s outbox.Source) string {
	all := "(SELECT s.id FROM send AS s WHERE s.tenant_id = $1 AND s.source_kind = " + b.arg(string(s.Kind)) + " AND s.source_id = " + b.arg(s.ID)
	if s.Kind == outbox.KindBroadcast {
		return " = " + all + " LIMIT 1)"
	}
	return " IN " + all + ")"
}

// sends renders the sends of some email types with a message sent at or after a time. It is needed
// because outbox has no index by time.
func (b *builder) sends(types []id.EmailType, since time.Time) string {
	if types == nil && since.IsZero() {
		return ""
	}
	s := "(SELECT s.id FROM send AS s WHERE s.tenant_id = $1"
	if !since.IsZero() {
		s += " AND s.last_send_at >= " + b.at(since)
	}
	if types != nil {
		s += " AND s.email_type_id" + in(b, types)
	}
	return s + ")"
}

// hits returns the opens and clicks of the required level.
func (b *builder) hits(m mails) source {
	const human = "x.class = 'human'"
	t := source{
		from: "hit AS x", where: "x.tenant_id = $1 AND ", distinct: "x.message_id",
		broad: m.anySource() && m.types == nil && b.broad(m.window),
	}
	switch {
	case m.event == Opened && m.level == Apparent:
		t.where += "x.kind = 'open'"
	case m.event == Opened && m.level == Confirmed:
		t.where += "x.kind = 'open' AND " + human + " AND " + corroborated
	case m.event == Clicked && m.level == Apparent:
		t.where += "x.kind = 'click' AND x.url IS NOT NULL" // not of the invisible link
	case m.event == Clicked:
		t.where += "x.kind = 'click' AND " + human
	case m.level == Apparent:
		t.where += "x.kind IN ('open', 'click') AND (x.kind = 'open' OR x.url IS NOT NULL)"
	case m.level == Confirmed:
		t.where += "x.kind IN ('open', 'click') AND " + human + " AND (x.kind = 'click' OR " + corroborated + ")"
	default: // verified opens; a click implies an open, so this serves Engaged too
		t.where += "x.kind IN ('open', 'click') AND (" + human + " OR x.kind = 'open' AND x.class = 'privacy')"
	}
	t.where += m.window.sql(b, "x.at")
	if m.link != "" {
		t.where += " AND x.url = " + b.arg(m.link)
	}
	if !m.anySource() {
		t.where += " AND x.send_id" + b.sendsOf(m.source)
	}
	if sends := b.sends(m.types, time.Time{}); sends != "" {
		t.where += " AND x.send_id IN " + sends
	}
	t.where += b.variant(m)
	return t
}

// corroborated is the condition that the message of a hit has a confirmed open.
var corroborated = fmt.Sprintf("EXISTS (SELECT 1 FROM engagement AS e WHERE e.tenant_id = $1 AND e.message_id = x.message_id AND (e.flags & %d) <> 0)", track.Confirmed)

// variant restricts rows with a message to those of a variant.
func (b *builder) variant(m mails) string {
	if m.variant == "" {
		return ""
	}
	return " AND x.message_id IN (SELECT m.id FROM outbox AS m WHERE m.tenant_id = $1 AND m.send_id" + b.sendsOf(m.source) +
		" AND (m.send_id, m.mix) IN " + b.mixes(m) + ")"
}

// mixes renders the rows of outbox_mix of a variant.
func (b *builder) mixes(m mails) string {
	return "(SELECT c.send_id, c.n FROM outbox_mix AS c WHERE c.tenant_id = $1 AND c.send_id" + b.sendsOf(m.source) +
		" AND c.variant_id = " + b.arg(m.variant) + ")"
}

// journalEvents returns the complaints or unsubscribes caused by a message.
func (b *builder) journalEvents(m mails) source {
	t := journal.EmailUnsubscribed
	if m.event == Complained {
		t = journal.EmailComplained
	}
	where := "x.tenant_id = $1" + b.inGroup() + "AND x.type = '" + string(t) + "' AND " + rare + " AND x.message_id IS NOT NULL" +
		m.window.sql(b, "x.occurred_at")
	if !m.anySource() {
		where += " AND x.send_id" + b.sendsOf(m.source)
	}
	if sends := b.sends(m.types, time.Time{}); sends != "" {
		where += " AND x.send_id IN " + sends
	}
	return source{from: "journal AS x", where: where + b.variant(m), distinct: "x.message_id"}
}

// rare repeats the predicate of the index journal_rare verbatim; SQLite recognizes no other form.
const rare = "x.type IN ('email_bounced', 'email_complained', 'email_unsubscribed')"

// count returns the number of a contact's messages that meet m.
func (m mails) count(env Env, s *Subject) int {
	found := map[id.Message]bool{}
	switch m.event {
	case Opened, Clicked, Engaged:
		for _, h := range s.Hits {
			if m.shows(h) && m.means(s, h.Send, h.Message) && m.window.holds(env, h.At) && (m.link == "" || h.Click && h.URL == m.link) {
				found[h.Message] = true
			}
		}
	case Complained, LeftBy:
		for _, e := range s.Complaints {
			if e.Complaint == (m.event == Complained) && m.means(s, e.Send, e.Message) && m.window.holds(env, e.At) {
				found[e.Message] = true
			}
		}
	default:
		for _, x := range s.Messages {
			if m.matchesLevel(env, x) && m.means(s, x.Send, x.ID) {
				found[x.ID] = true
			}
		}
	}
	return len(found)
}

// matchesLevel reports whether a message is in the required state.
func (m mails) matchesLevel(env Env, x Message) bool {
	switch m.event {
	case Recipient:
		return true
	case Bounced:
		return x.State == outbox.Bounced && m.window.holdsAt(env, x.EndedAt)
	case Delivered:
		if x.State != outbox.Sent && x.State != outbox.Delivered {
			return false
		}
	}
	return x.SentAt != nil && m.window.holdsAt(env, x.SentAt)
}

// means reports whether a message is one of those that m counts.
func (m mails) means(s *Subject, send id.Send, message id.Message) bool {
	if !m.anySource() && m.source != s.Sends[send].Source || m.types != nil && !slices.Contains(m.types, s.Sends[send].Type) {
		return false
	}
	return m.variant == "" || slices.ContainsFunc(s.Messages, func(x Message) bool {
		return x.ID == message && x.Send == send && x.Variant == m.variant
	})
}

// shows reports whether a hit is of the required kind and level.
func (m mails) shows(h Hit) bool {
	human := h.Class == track.Human
	opened := map[Level]bool{
		Apparent:  !h.Click,
		Confirmed: !h.Click && human && h.Corroborated,
	}
	switch {
	case m.event == Clicked || m.event == Engaged && h.Click:
		return h.Click && (human || m.level == Apparent)
	case m.level == Apparent, m.level == Confirmed:
		return opened[m.level]
	}
	return human || !h.Click && h.Class == track.Privacy
}

// holds reports whether n meets the count; nil means at least once.
func (c *Count) holds(n int) bool {
	switch {
	case c == nil:
		return n >= 1
	case c.Operator == AtLeast:
		return n >= c.N
	case c.Operator == AtMost:
		return n <= c.N
	}
	return n == c.N
}

// holdsAt is holds for a time that may be missing, which only an unbounded window contains.
func (w *Window) holdsAt(env Env, at *time.Time) bool {
	if at == nil {
		from, to := w.bounds(env)
		return from.IsZero() && to.IsZero()
	}
	return w.holds(env, *at)
}
