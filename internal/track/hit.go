package track

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// Hit is one open or click.
type Hit struct {
	Tenant    id.Tenant
	ID        id.Hit // made by Record
	Stream    id.Send
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

// Class is what a hit was found to be.
type Class string

// The classes.
const (
	Pending Class = "pending"
	Bot     Class = "bot"
	Privacy Class = "privacy" // opens only: fetched by the privacy proxy of a mailbox provider
	Human   Class = "human"
)

// counts reports whether a class is not a machine's.
func (c Class) counts() bool { return c == Human || c == Privacy }

const (
	maxAgent = 512
	// maxHits bounds the hits kept of one message: more than a recipient makes,
	// and few enough to judge all of them again with each new one. More hits than
	// that tell nothing new.
	maxHits = 1000
)

// Record keeps hits, pending, and counts them. It is called inside a transaction.
// A hit that differs from another by less than a second is that one, repeated.
//
// What it costs depends on how many hits are given, not on how many there are: a
// pending hit changes the flags of its message in a way that the flags alone tell.
func Record(ctx context.Context, tx *sqldb.DB, hits []Hit) error {
	if len(hits) == 0 {
		return nil
	}
	hits = slices.Clone(hits)
	if err := forgetSources(ctx, tx, hits); err != nil {
		return err
	}
	for i := range hits {
		h := &hits[i]
		h.Method, h.Agent, h.Class = clean(h.Method), clean(h.Agent), Pending
		h.ID = h.identity()
	}
	messages, err := begin(ctx, tx, hits)
	if err != nil {
		return fmt.Errorf("lock engagement: %w", err)
	}
	fresh, err := insert(ctx, tx, wanted(hits, messages))
	if err != nil {
		return fmt.Errorf("record hits: %w", err)
	}
	changed := map[mailKey]*engagement{}
	for _, h := range fresh {
		e := messages[h.mail()]
		e.add(h)
		changed[h.mail()] = e
	}
	if err := save(ctx, tx, changed); err != nil {
		return fmt.Errorf("count hits: %w", err)
	}
	return nil
}

// wanted returns the hits of messages that do not have too many yet, each once.
func wanted(hits []Hit, messages map[mailKey]*engagement) []Hit {
	list := make([]Hit, 0, len(hits))
	given := map[mailKey]int{}
	seen := make(map[id.Hit]bool, len(hits))
	for _, h := range hits {
		if seen[h.ID] || messages[h.mail()].hits+given[h.mail()] >= maxHits {
			continue
		}
		seen[h.ID] = true
		given[h.mail()]++
		list = append(list, h)
	}
	return list
}

// insert writes hits and returns those that were not there yet.
func insert(ctx context.Context, tx *sqldb.DB, hits []Hit) ([]Hit, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	t := tx.Table("tenant_id INTEGER", "id UUID", "send_id UUID", "message_id UUID", "contact_id UUID", "kind TEXT",
		"link BIGINT", "url TEXT", "at BIGINT", "since_sent BIGINT", "method TEXT", "agent TEXT", "proxy BOOLEAN", "ip TEXT", "prefetch BOOLEAN")
	for _, h := range hits {
		kind, link, url := "open", any(nil), any(nil)
		if h.Click {
			kind, link, url = "click", h.Link, h.URL
		}
		var since any
		if h.SinceSent != nil {
			since = h.SinceSent.Microseconds()
		}
		t.Add(h.Tenant, h.ID, h.Stream, h.Message, h.Contact, kind, link, url, h.At.UnixMicro(), since,
			h.Method, h.Agent, ImageProxy(h.Agent), h.IP, h.Prefetch)
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO hit (tenant_id, id, send_id, message_id, contact_id, kind, link, url, at, since_sent, method, agent, proxy, ip, prefetch, class)
		SELECT v.tenant_id, v.id, v.send_id, v.message_id, v.contact_id, v.kind, v.link, v.url, v.at, v.since_sent, v.method, v.agent, v.proxy, v.ip, v.prefetch, 'pending'
		FROM `+t.As("v", 1)+` WHERE true
		ON CONFLICT (tenant_id, id) DO NOTHING RETURNING id`, t.Args()...)
	fresh := map[id.Hit]bool{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (h id.Hit, err error) {
		err = scan(&h)
		fresh[h] = true
		return h, err
	})
	return slices.DeleteFunc(hits, func(h Hit) bool { return !fresh[h.ID] }), err
}

// clean makes what a stranger sent fit for a text column.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) > maxAgent {
		s = strings.ToValidUTF8(s[:maxAgent], "") // not half a character
	}
	return s
}

// identity returns an id by which a repeated request is known.
// It begins with the second, so that ids sort by time like all others.
func (h Hit) identity() id.Hit {
	second := h.At.Unix()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %t %d %d %t %q %q %q", h.Message, h.Click, h.Link, second, h.Prefetch, h.Method, h.Agent, h.IP))
	u := id.Hit(sum[:16])
	binary.BigEndian.PutUint32(u[:4], uint32(second*1000>>16))
	binary.BigEndian.PutUint16(u[4:6], uint16(second*1000))
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // RFC 9562 section 5.8
	return u
}

const hitColumns = `tenant_id, id, send_id, message_id, contact_id, kind, link, url, at, since_sent, method, agent, ip, prefetch, class, rule`

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
