package track

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// Hit is one open or click.
type Hit struct {
	Tenant    id.Tenant
	ID        id.Hit // made by Record when empty
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

const maxAgent = 512

// Record keeps hits, pending, and counts them. It is called inside a transaction.
func Record(ctx context.Context, tx *sqldb.DB, hits []Hit) error {
	t := tx.Table("tenant_id TEXT", "id TEXT", "stream_id TEXT", "message_id TEXT", "contact_id TEXT", "kind TEXT",
		"link BIGINT", "url TEXT", "at BIGINT", "since_sent BIGINT", "method TEXT", "agent TEXT", "ip TEXT", "prefetch BOOLEAN")
	for _, h := range hits {
		if h.ID == "" {
			h.ID = id.New[id.Hit]()
		}
		kind, link, url := "open", any(nil), any(nil)
		if h.Click {
			kind, link, url = "click", h.Link, h.URL
		}
		var since any
		if h.SinceSent != nil {
			since = h.SinceSent.Microseconds()
		}
		t.Add(h.Tenant, h.ID, h.Stream, h.Message, h.Contact, kind, link, url, h.At.UnixMicro(), since,
			h.Method, h.Agent[:min(len(h.Agent), maxAgent)], h.IP, h.Prefetch)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO hit (tenant_id, id, stream_id, message_id, contact_id, kind, link, url, at, since_sent, method, agent, ip, prefetch, class)
		SELECT v.tenant_id, v.id, v.stream_id, v.message_id, v.contact_id, v.kind, v.link, v.url, v.at, v.since_sent, v.method, v.agent, v.ip, v.prefetch, 'pending'
		FROM `+t.As("v", 1), t.Args()...)
	if err != nil {
		return fmt.Errorf("record hits: %w", err)
	}
	return recountAll(ctx, tx, hits)
}

// recountAll derives anew the flags of every message that hits belong to.
func recountAll(ctx context.Context, tx *sqldb.DB, hits []Hit) error {
	messages := map[id.Tenant][]id.Message{}
	for _, h := range hits {
		messages[h.Tenant] = append(messages[h.Tenant], h.Message)
	}
	tenants := make([]id.Tenant, 0, len(messages))
	for t := range messages {
		tenants = append(tenants, t)
	}
	slices.Sort(tenants)
	for _, t := range tenants {
		list := messages[t]
		slices.Sort(list)
		if err := recount(ctx, tx, t, slices.Compact(list)); err != nil {
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

// PendingBefore returns up to limit pending hits that came in before a time,
// oldest first, of all tenants.
func PendingBefore(ctx context.Context, db *sqldb.DB, before time.Time, limit int) ([]Hit, error) {
	rows, err := db.Query(ctx, `
		SELECT `+hitColumns+` FROM hit WHERE class = 'pending' AND at <= $1 ORDER BY at LIMIT $2 /* all tenants: one classifier */`,
		before.UnixMicro(), limit)
	return sqldb.Collect(rows, err, scanHit)
}

// Recipients returns how many different messages of a stream one address has
// hit between two times.
func Recipients(ctx context.Context, db *sqldb.DB, tenant id.Tenant, stream, ip string, from, to time.Time) (int, error) {
	var n int
	err := db.QueryRow(ctx, `
		SELECT COUNT(DISTINCT message_id) FROM hit
		WHERE tenant_id = $1 AND stream_id = $2 AND ip = $3 AND at BETWEEN $4 AND $5`,
		tenant, stream, ip, from.UnixMicro(), to.UnixMicro()).Scan(&n)
	return n, err
}

// Judge writes verdicts (Class and Rule of each hit) and recounts what they change.
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
