package track

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// Hit is one open or click.
type Hit struct {
	Tenant    id.Tenant
	ID        id.Hit // made by Record
	Stream    string
	Message   id.Message
	Contact   id.Contact
	Click     bool   // else an open
	Link      int    // of the content, for clicks
	URL       string // as authored, for clicks
	At        time.Time
	SinceSent *time.Duration // since the receiver accepted the message; nil before
	Method    string
	Agent     string // at most maxAgent bytes
	IP        string
	Prefetch  bool // a header said so: Purpose, Sec-Purpose, X-Purpose, X-Moz

	Class Class
	Rule  string // that decided Class

	was Class // when it was read
}

// Class is what a hit was found to be (contract 12.1).
type Class string

// The classes.
const (
	Pending Class = "pending"
	Bot     Class = "bot"
	Privacy Class = "privacy" // opens only: fetched by a mailbox' privacy proxy
	Human   Class = "human"
)

// counts reports whether a class is not a machine's.
func (c Class) counts() bool { return c == Human || c == Privacy }

const (
	maxAgent = 512
	// maxHits bounds the hits kept of one message: more than a recipient makes,
	// and few enough to weigh all of them again with each new one. Whatever
	// fetches a link more often than that teaches us nothing more.
	maxHits = 1000
)

// Record keeps hits, pending, and counts them. It is called inside a transaction.
// A hit that differs from another by less than a second is that one, repeated.
func Record(ctx context.Context, tx *sqldb.DB, hits []Hit) error {
	hits, err := wanted(ctx, tx, hits)
	if err != nil || len(hits) == 0 {
		return err
	}
	if err := forgetSources(ctx, tx, hits); err != nil {
		return err
	}
	t := tx.Table("tenant_id TEXT", "id TEXT", "stream_id TEXT", "message_id TEXT", "contact_id TEXT", "kind TEXT",
		"link BIGINT", "url TEXT", "at BIGINT", "since_sent BIGINT", "method TEXT", "agent TEXT", "ip TEXT", "prefetch BOOLEAN")
	for _, h := range hits {
		h.Method, h.Agent = clean(h.Method), clean(h.Agent)
		kind, link, url := "open", any(nil), any(nil)
		if h.Click {
			kind, link, url = "click", h.Link, h.URL
		}
		var since any
		if h.SinceSent != nil {
			since = h.SinceSent.Microseconds()
		}
		t.Add(h.Tenant, h.identity(), h.Stream, h.Message, h.Contact, kind, link, url, h.At.UnixMicro(), since,
			h.Method, h.Agent, h.IP, h.Prefetch)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO hit (tenant_id, id, stream_id, message_id, contact_id, kind, link, url, at, since_sent, method, agent, ip, prefetch, class)
		SELECT v.tenant_id, v.id, v.stream_id, v.message_id, v.contact_id, v.kind, v.link, v.url, v.at, v.since_sent, v.method, v.agent, v.ip, v.prefetch, 'pending'
		FROM `+t.As("v", 1)+` WHERE true
		ON CONFLICT (tenant_id, id) DO NOTHING`, t.Args()...)
	if err != nil {
		return fmt.Errorf("record hits: %w", err)
	}
	return recountAll(ctx, tx, hits)
}

// clean makes what a stranger sent fit for a text column.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) > maxAgent {
		s = strings.ToValidUTF8(s[:maxAgent], "") // not half a character
	}
	return s
}

// identity returns an id by which a repeated request is known (mail-notes 6.2).
// It begins with the second, so that ids sort by time like all others.
func (h Hit) identity() id.Hit {
	second := h.At.Unix()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %t %d %d %t %q %q %q", h.Message, h.Click, h.Link, second, h.Prefetch, h.Method, h.Agent, h.IP))
	u := uuid.UUID(sum[:16])
	binary.BigEndian.PutUint32(u[:4], uint32(second*1000>>16))
	binary.BigEndian.PutUint16(u[4:6], uint16(second*1000))
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // RFC 9562 section 5.8
	return id.Hit(u.String())
}

// wanted returns the hits of messages that do not have too many yet.
func wanted(ctx context.Context, tx *sqldb.DB, hits []Hit) ([]Hit, error) {
	have := map[id.Message]int{}
	for tenant, messages := range byTenant(hits) {
		rows, err := tx.Query(ctx, `
			SELECT message_id, COUNT(*) FROM hit WHERE tenant_id = $1 AND message_id`+tx.In(2)+` GROUP BY message_id`,
			tenant, sqldb.List(tx, messages))
		_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) {
			var n int
			err = scan(&m, &n)
			have[m] = n
			return m, err
		})
		if err != nil {
			return nil, fmt.Errorf("count hits: %w", err)
		}
	}
	return slices.DeleteFunc(slices.Clone(hits), func(h Hit) bool {
		have[h.Message]++
		return have[h.Message] > maxHits
	}), nil
}

func byTenant(hits []Hit) map[id.Tenant][]id.Message {
	messages := map[id.Tenant][]id.Message{}
	for _, h := range hits {
		messages[h.Tenant] = append(messages[h.Tenant], h.Message)
	}
	for t, list := range messages {
		slices.Sort(list)
		messages[t] = slices.Compact(list)
	}
	return messages
}

// recountAll derives anew the flags of every message that hits belong to.
func recountAll(ctx context.Context, tx *sqldb.DB, hits []Hit) error {
	news := map[id.Hit]bool{}
	for _, h := range hits {
		if h.Class.counts() && !h.was.counts() {
			news[h.ID] = true
		}
	}
	messages := byTenant(hits)
	for _, t := range slices.Sorted(maps.Keys(messages)) {
		if err := recount(ctx, tx, t, messages[t], news); err != nil {
			return fmt.Errorf("recount engagement: %w", err)
		}
	}
	return nil
}

const hitColumns = `tenant_id, id, stream_id, message_id, contact_id, kind, link, url, at, since_sent, method, agent, ip, prefetch, class, rule`

func scanHit(scan func(...any) error) (Hit, error) {
	var h Hit
	var kind string
	var link, since sql.NullInt64
	var url, rule sql.NullString
	var at int64
	err := scan(&h.Tenant, &h.ID, &h.Stream, &h.Message, &h.Contact, &kind, &link, &url, &at, &since,
		&h.Method, &h.Agent, &h.IP, &h.Prefetch, &h.Class, &rule)
	h.Click, h.Link, h.URL, h.At, h.Rule = kind == "click", int(link.Int64), url.String, sqldb.Time(at), rule.String
	h.was = h.Class
	if since.Valid {
		h.SinceSent = new(time.Duration(since.Int64) * time.Microsecond)
	}
	return h, err
}

// HitsOf returns every hit of the messages, by time.
func HitsOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) ([]Hit, error) {
	rows, err := db.Query(ctx, `
		SELECT `+hitColumns+` FROM hit WHERE tenant_id = $1 AND message_id`+db.In(2)+` ORDER BY at, id`,
		tenant, sqldb.List(db, messages))
	return sqldb.Collect(rows, err, scanHit)
}

// Evidence is HitsOf inside a transaction that will judge: of two that judge the
// same messages, the later sees what the earlier found.
func Evidence(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, messages []id.Message) ([]Hit, error) {
	if _, err := flagsOf(ctx, tx, tenant, messages); err != nil {
		return nil, fmt.Errorf("lock engagement: %w", err)
	}
	return HitsOf(ctx, tx, tenant, messages)
}

// PendingBefore returns up to limit pending hits that came in before a time,
// oldest first, of all tenants.
func PendingBefore(ctx context.Context, db *sqldb.DB, before time.Time, limit int) ([]Hit, error) {
	rows, err := db.Query(ctx, `
		SELECT `+hitColumns+` FROM hit WHERE class = 'pending' AND at <= $1 ORDER BY at LIMIT $2 /* all tenants: one classifier */`,
		before.UnixMicro(), limit)
	return sqldb.Collect(rows, err, scanHit)
}

// Neighbour is a hit as its neighbours see it.
type Neighbour struct {
	Message id.Message
	At      time.Time
	Agent   string
	Class   Class
}

// Neighbours returns the hits of a stream from one address between two times,
// both included, by time.
func Neighbours(ctx context.Context, db *sqldb.DB, tenant id.Tenant, stream, ip string, from, to time.Time) ([]Neighbour, error) {
	rows, err := db.Query(ctx, `
		SELECT message_id, at, agent, class FROM hit
		WHERE tenant_id = $1 AND stream_id = $2 AND ip = $3 AND at BETWEEN $4 AND $5 ORDER BY at, id`,
		tenant, stream, ip, from.UnixMicro(), to.UnixMicro())
	return sqldb.Collect(rows, err, func(scan func(...any) error) (n Neighbour, err error) {
		var at int64
		err = scan(&n.Message, &at, &n.Agent, &n.Class)
		n.At = sqldb.Time(at)
		return n, err
	})
}

// Judge writes verdicts (Class and Rule of each hit, as Evidence returned it) and
// recounts what they change.
func Judge(ctx context.Context, tx *sqldb.DB, hits []Hit, now time.Time) error {
	if len(hits) == 0 {
		return nil
	}
	t := tx.Table("tenant_id TEXT", "id TEXT", "class TEXT", "rule TEXT")
	for _, h := range hits {
		t.Add(h.Tenant, h.ID, h.Class, sqldb.Null(h.Rule))
	}
	_, err := tx.Exec(ctx, `
		UPDATE hit SET class = v.class, rule = v.rule, classified_at = $1
		FROM `+t.As("v", 2)+` WHERE hit.tenant_id = v.tenant_id AND hit.id = v.id`, t.Args(now.UnixMicro())...)
	if err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	return recountAll(ctx, tx, hits)
}
