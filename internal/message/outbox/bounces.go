package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// BounceAttribute is an attribute by which bounces are counted.
type BounceAttribute string

// The attributes.
const (
	BounceClass  BounceAttribute = "class"  // hard, soft or block
	BounceDomain BounceAttribute = "domain" // of the address
	BounceCode   BounceAttribute = "code"   // of the reply, and the enhanced code, if there are any
)

// BounceValue is a value of an attribute.
type BounceValue struct {
	Attribute BounceAttribute
	Value     string
}

// codeOf returns the value of BounceCode.
func codeOf(code int, enhanced string) string {
	text := ""
	if code != 0 {
		text = strconv.Itoa(code)
	}
	return strings.TrimSpace(text + " " + enhanced)
}

// bounceValues returns the values of a bounce.
func bounceValues(email, class string, code int, enhanced string) []BounceValue {
	return []BounceValue{{BounceClass, class}, {BounceDomain, address.Domain(email)}, {BounceCode, codeOf(code, enhanced)}}
}

// addBounce adds n to the sums of the values of a bounce.
func (c *change) addBounce(r Result, n int) {
	if c.bounces == nil {
		c.bounces = map[BounceValue]int{}
	}
	for _, v := range bounceValues(r.Item.Email, r.BounceType, r.Code, r.Enhanced) {
		c.bounces[v] += n
	}
}

func addBounceSums(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, sums map[id.Send]map[BounceValue]int) {
	t := tx.Table("send_id UUID", "attribute TEXT", "value TEXT", "bounced BIGINT")
	for _, send := range slices.SortedFunc(maps.Keys(sums), id.Compare) {
		for _, v := range slices.SortedFunc(maps.Keys(sums[send]), compareBounceValues) {
			if n := sums[send][v]; n != 0 {
				t.Add(send, string(v.Attribute), v.Value, n)
			}
		}
	}
	if t.Len() == 0 {
		return
	}
	b.Queue(`
		INSERT INTO outbox_bounce_sum (tenant_id, send_id, attribute, value, bounced)
		SELECT h.tenant_id, v.send_id, v.attribute, v.value, v.bounced FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, send_id, attribute, value) DO UPDATE SET bounced = outbox_bounce_sum.bounced + excluded.bounced`, nil, t.Args(tenant)...)
}

func compareBounceValues(a, b BounceValue) int {
	return cmp.Or(cmp.Compare(a.Attribute, b.Attribute), cmp.Compare(a.Value, b.Value))
}

// eraseBounceDomains moves the bounces of contacts to the domain of anonymised addresses, before
// their addresses are erased: a domain may be that of one person.
func eraseBounceDomains(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact) error {
	rows, err := tx.Query(ctx, `
		SELECT m.send_id, m.email FROM outbox AS m JOIN outbox_note AS n ON n.tenant_id = m.tenant_id AND n.message_id = m.id
		WHERE m.tenant_id = $1 AND m.contact_id`+tx.In(2)+` AND n.state || '' = 'bounced'`, tenant, sqldb.List(tx, contacts))
	sums := map[id.Send]map[BounceValue]int{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var send id.Send
		var email string
		err := scan(&send, &email)
		if sums[send] == nil {
			sums[send] = map[BounceValue]int{}
		}
		sums[send][BounceValue{BounceDomain, address.Domain(email)}]--
		sums[send][BounceValue{BounceDomain, contact.AnonymousDomain}]++
		return err
	})
	if err != nil || len(sums) == 0 {
		return err
	}
	b := tx.Batch()
	addBounceSums(b, tx, tenant, sums)
	if err := b.Run(ctx); err != nil {
		return err
	}
	for send := range sums {
		_, err := tx.Exec(ctx, `DELETE FROM outbox_bounce_sum WHERE tenant_id = $1 AND send_id = $2 AND attribute = 'domain' AND bounced = 0`, tenant, send)
		if err != nil {
			return err
		}
	}
	return nil
}

// BounceCount is the number of bounces with a value.
type BounceCount struct {
	Value string
	Count int
}

// BounceCounts returns up to limit values of an attribute with the most bounces of a send, and their
// numbers, most first.
func BounceCounts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, by BounceAttribute, limit int) ([]BounceCount, error) {
	rows, err := db.Query(ctx, `
		SELECT value, bounced FROM outbox_bounce_sum WHERE tenant_id = $1 AND send_id = $2 AND attribute = $3 AND bounced > 0
		ORDER BY bounced DESC, value LIMIT $4`, tenant, send, by, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (c BounceCount, err error) {
		err = scan(&c.Value, &c.Count)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("count the bounces of a send: %w", err)
	}
	return list, nil
}

// BounceRecord is a message that bounced.
type BounceRecord struct {
	Message  id.Message
	Contact  id.Contact
	Email    string
	Class    string // hard, soft or block
	Category string
	Code     int // of the reply; 0: none
	Enhanced string
	Text     string
	At       time.Time
}

// BouncePosition is a position in the list of bounces: after a bounce.
type BouncePosition struct {
	At      time.Time
	Message id.Message
}

// ListBounces returns up to limit bounces of a send, the newest first, and whether there are more.
func ListBounces(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, after *BouncePosition, limit int) (list []BounceRecord, more bool, err error) {
	at, last := int64(1<<62), id.Message{}
	if after != nil {
		at, last = after.At.UnixMicro(), after.Message
	}
	rows, err := db.Query(ctx, `
		SELECT n.message_id, n.contact_id, m.email, n.bounce_type, n.category, n.smtp_code, n.enhanced_code, n.error, n.ended_at
		FROM outbox_note AS n JOIN outbox AS m ON m.tenant_id = n.tenant_id AND m.id = n.message_id
		WHERE n.tenant_id = $1 AND m.tenant_id = $1 AND n.send_id = $2 AND n.state = 'bounced' AND n.ended_at <= $3 AND (n.ended_at, n.message_id) < ($3, $4)
		ORDER BY n.ended_at DESC, n.message_id DESC LIMIT $5`, tenant, send, at, last, limit+1)
	list, err = sqldb.Collect(rows, err, func(scan func(...any) error) (b BounceRecord, err error) {
		var code sql.NullInt64
		err = scan(&b.Message, &b.Contact, &b.Email, sqldb.ToText(&b.Class), sqldb.ToText(&b.Category), &code,
			sqldb.ToText(&b.Enhanced), sqldb.ToText(&b.Text), sqldb.ToTime(&b.At))
		b.Code = int(code.Int64)
		return b, err
	})
	if err != nil {
		return nil, false, fmt.Errorf("list the bounces of a send: %w", err)
	}
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}
