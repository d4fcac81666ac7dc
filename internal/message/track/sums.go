package track

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// TimeSums are the recipients of a send by what they did first within a time.
type TimeSums struct {
	VerifiedOpened, HumanOpened, HumanClicked, Unsubscribed, Complained int
}

// Plus returns the sum of s and o.
func (s TimeSums) Plus(o TimeSums) TimeSums {
	return TimeSums{
		s.VerifiedOpened + o.VerifiedOpened, s.HumanOpened + o.HumanOpened, s.HumanClicked + o.HumanClicked,
		s.Unsubscribed + o.Unsubscribed, s.Complained + o.Complained,
	}
}

// timeOf returns sums with n recipients of one flag.
func timeOf(flag Flags, n int) (s TimeSums) {
	switch flag {
	case VerifiedOpened:
		s.VerifiedOpened = n
	case HumanOpened:
		s.HumanOpened = n
	case HumanClicked:
		s.HumanClicked = n
	case Unsubscribed:
		s.Unsubscribed = n
	case Complained:
		s.Complained = n
	}
	return s
}

// Attribute is an attribute of opens and clicks by which recipients are counted.
type Attribute string

// The attributes. A recipient counts once for each program and device.
const (
	AttributeProgram Attribute = "client"  // Client.Program
	AttributeDevice  Attribute = "device"  // Client.Device
	AttributeCountry Attribute = "country" // of the contact; empty: unknown
	AttributeDelay   Attribute = "delay"   // time until the first open and click: MedianDelay
)

// AttributeValue is a value of an attribute.
type AttributeValue struct {
	Attribute Attribute
	Value     string
}

// AttributeSums are the recipients who opened (verified) and clicked.
type AttributeSums struct{ Opened, Clicked int }

// Plus returns the sum of s and o.
func (s AttributeSums) Plus(o AttributeSums) AttributeSums {
	return AttributeSums{s.Opened + o.Opened, s.Clicked + o.Clicked}
}

// sendMix identifies a row of sums: those of a mix (outbox.LoadMixes) of a send.
type sendMix struct {
	send id.Send
	mix  int64
}

func compareSendMix(a, b sendMix) int {
	return cmp.Or(id.Compare(a.send, b.send), cmp.Compare(a.mix, b.mix))
}

// ofSend are changes of the sums of a send.
type ofSend struct {
	times      map[int64]TimeSums // by the beginning of the interval (outbox.IntervalOf)
	attributes map[AttributeValue]AttributeSums
	links      map[string]LinkSums
	withdrawn  map[string]bool // links with clicks that do not count any more
}

func newOfSend() *ofSend {
	return &ofSend{
		times: map[int64]TimeSums{}, attributes: map[AttributeValue]AttributeSums{}, links: map[string]LinkSums{}, withdrawn: map[string]bool{},
	}
}

// changes are to be added to the sums of a tenant's sends. The zero value is no change.
type changes struct {
	flags map[sendMix][]int64
	sends map[id.Send]*ofSend
}

// addFlags adds the change of the flags of one message.
func (c *changes) addFlags(at sendMix, old, now Flags) {
	if (old^now)&(1<<len(sumColumns)-1) == 0 {
		return
	}
	if c.flags == nil {
		c.flags = map[sendMix][]int64{}
	}
	if c.flags[at] == nil {
		c.flags[at] = make([]int64, len(sumColumns))
	}
	for i := range sumColumns {
		c.flags[at][i] += int64(now>>i&1) - int64(old>>i&1)
	}
}

func (c *changes) of(send id.Send) *ofSend {
	if c.sends == nil {
		c.sends = map[id.Send]*ofSend{}
	}
	s := c.sends[send]
	if s == nil {
		s = newOfSend()
		c.sends[send] = s
	}
	return s
}

// addTime adds to the sums of the interval of a time.
func (c *changes) addTime(send id.Send, at time.Time, t TimeSums) {
	c.of(send).addTime(at, t)
}

func (s *ofSend) addTime(at time.Time, t TimeSums) {
	begin := outbox.IntervalOf(at).UnixMicro()
	s.times[begin] = s.times[begin].Plus(t)
}

func (s *ofSend) addAttribute(a Attribute, value string, n AttributeSums) {
	if n != (AttributeSums{}) {
		k := AttributeValue{a, value}
		s.attributes[k] = s.attributes[k].Plus(n)
	}
}

// addSummary adds the change of the summary of a message.
func (c *changes) addSummary(e *engagement, old, now summary) {
	s := c.of(e.send)
	s.apply(old, e.country, -1)
	s.apply(now, e.country, 1)
	for url, was := range old.links {
		is := now.links[url]
		if was == is {
			continue
		}
		sum := s.links[url]
		sum.Unique -= was.Unique
		sum.Total -= was.Total
		s.links[url] = sum
		if is.Total == 0 || is.FirstAt.After(was.FirstAt) || is.LastAt.Before(was.LastAt) {
			s.withdrawn[url] = true
		}
	}
	for url, is := range now.links {
		if is == old.links[url] {
			continue
		}
		s.links[url] = s.links[url].plus(is)
	}
}

// apply adds a summary, or subtracts it if sign is -1.
func (s *ofSend) apply(m summary, country string, sign int) {
	var did acts
	if h := m.verified; h != nil {
		did.opened = true
		s.addTime(h.At, timeOf(VerifiedOpened, sign))
		if d := h.delay(); d >= 0 {
			s.addAttribute(AttributeDelay, strconv.Itoa(d), AttributeSums{Opened: sign})
		}
	}
	if h := m.opened; h != nil {
		s.addTime(h.At, timeOf(HumanOpened, sign))
	}
	if h := m.clicked; h != nil {
		did.clicked = true
		s.addTime(h.At, timeOf(HumanClicked, sign))
		if d := h.delay(); d >= 0 {
			s.addAttribute(AttributeDelay, strconv.Itoa(d), AttributeSums{Clicked: sign})
		}
	}
	s.addAttribute(AttributeCountry, country, did.sums(sign))
	for program, a := range m.programs {
		s.addAttribute(AttributeProgram, program, a.sums(sign))
	}
	for device, a := range m.devices {
		s.addAttribute(AttributeDevice, device, a.sums(sign))
	}
}

// saveEngagements writes the rows of a tenant's messages and adds the changes of their flags, and
// those in c, to the sums of their sends. It is the last step of a transaction, since many
// transactions write the same sums.
func (c *changes) saveEngagements(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, messages map[id.Message]*engagement) error {
	t := tx.Table("message_id UUID", "flags BIGINT")
	for _, m := range slices.SortedFunc(maps.Keys(messages), id.Compare) {
		if e := messages[m]; e.flags != e.old {
			t.Add(m, int64(e.flags))
			c.addFlags(sendMix{e.send, e.mix}, e.old, e.flags)
		}
	}
	if t.Len() > 0 {
		_, err := tx.Exec(ctx, `
			UPDATE engagement SET flags = v.flags FROM `+t.As("v", 2)+`
			WHERE engagement.tenant_id = $1 AND engagement.message_id = v.message_id`, t.Args(tenant)...)
		if err != nil {
			return err
		}
	}
	return c.save(ctx, tx, tenant)
}

// sumParts is the number of rows that the sums of a mix may have on PostgreSQL, so that
// transactions rarely wait for each other's lock on one.
const sumParts = 8

// save adds the changes to the sums. All transactions write the tables, and the rows of each, in
// the same order, so that they do not deadlock.
func (c *changes) save(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	b := tx.Batch()
	c.queueTimes(b, tx, tenant)
	c.queueAttributes(b, tx, tenant)
	c.queueLinks(b, tx, tenant)
	c.queueFlags(b, tx, tenant)
	return b.Run(ctx)
}

// sortedSends returns the sends of the changes.
func (c *changes) sortedSends() []id.Send {
	return slices.SortedFunc(maps.Keys(c.sends), id.Compare)
}

// increase returns the SET clause that adds the inserted values to columns of a table.
func increase(table string, columns ...string) string {
	sets := make([]string, len(columns))
	for i, name := range columns {
		sets[i] = fmt.Sprintf("%s = %s.%[1]s + excluded.%[1]s", name, table)
	}
	return strings.Join(sets, ", ")
}

// queueFlags adds a statement that adds the flags to one row of the sums of each mix.
func (c *changes) queueFlags(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant) {
	if len(c.flags) == 0 {
		return
	}
	part := 0
	if tx.Dialect() == sqldb.Postgres { // SQLite has one writer
		part = rand.N(sumParts)
	}
	columns := []string{"send_id UUID", "mix INTEGER"}
	for _, name := range sumColumns {
		columns = append(columns, name+" BIGINT")
	}
	t := tx.Table(columns...)
	for _, at := range slices.SortedFunc(maps.Keys(c.flags), compareSendMix) {
		row := []any{at.send, at.mix}
		for _, d := range c.flags[at] {
			row = append(row, d)
		}
		t.Add(row...)
	}
	names := strings.Join(sumColumns, ", ")
	b.Queue(`
		INSERT INTO engagement_sum (tenant_id, send_id, part, mix, `+names+`)
		SELECT h.tenant_id, send_id, `+tx.Param(2, "INTEGER")+`, mix, `+names+` FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3)+` WHERE true
		ON CONFLICT (tenant_id, send_id, part, mix) DO UPDATE SET `+increase("engagement_sum", sumColumns...), nil, t.Args(tenant, part)...)
}

func (c *changes) queueTimes(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant) {
	t := tx.Table("send_id UUID", "at BIGINT", "verified_opened BIGINT", "human_opened BIGINT", "human_clicked BIGINT", "unsubscribed BIGINT", "complained BIGINT")
	for _, send := range c.sortedSends() {
		times := c.sends[send].times
		for _, at := range slices.Sorted(maps.Keys(times)) {
			if s := times[at]; s != (TimeSums{}) {
				t.Add(send, at, s.VerifiedOpened, s.HumanOpened, s.HumanClicked, s.Unsubscribed, s.Complained)
			}
		}
	}
	if t.Len() == 0 {
		return
	}
	b.Queue(`
		INSERT INTO engagement_time_sum (tenant_id, send_id, at, verified_opened, human_opened, human_clicked, unsubscribed, complained)
		SELECT h.tenant_id, v.send_id, v.at, v.verified_opened, v.human_opened, v.human_clicked, v.unsubscribed, v.complained
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, send_id, at) DO UPDATE SET `+
		increase("engagement_time_sum", "verified_opened", "human_opened", "human_clicked", "unsubscribed", "complained"), nil, t.Args(tenant)...)
}

func (c *changes) queueAttributes(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant) {
	t := tx.Table("send_id UUID", "attribute TEXT", "value TEXT", "opened BIGINT", "clicked BIGINT")
	for _, send := range c.sortedSends() {
		sums := c.sends[send].attributes
		for _, k := range slices.SortedFunc(maps.Keys(sums), compareAttributes) {
			if s := sums[k]; s != (AttributeSums{}) {
				t.Add(send, string(k.Attribute), k.Value, s.Opened, s.Clicked)
			}
		}
	}
	if t.Len() == 0 {
		return
	}
	b.Queue(`
		INSERT INTO engagement_attribute_sum (tenant_id, send_id, attribute, value, opened, clicked)
		SELECT h.tenant_id, v.send_id, v.attribute, v.value, v.opened, v.clicked FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, send_id, attribute, value) DO UPDATE SET `+increase("engagement_attribute_sum", "opened", "clicked"), nil, t.Args(tenant)...)
}

func compareAttributes(a, b AttributeValue) int {
	return cmp.Or(cmp.Compare(a.Attribute, b.Attribute), cmp.Compare(a.Value, b.Value))
}

func (c *changes) queueLinks(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant) {
	t := tx.Table("send_id UUID", "url TEXT", "unique_clicks BIGINT", "total_clicks BIGINT", "first_at BIGINT", "last_at BIGINT")
	for _, send := range c.sortedSends() {
		links := c.sends[send].links
		for _, url := range slices.Sorted(maps.Keys(links)) {
			l := links[url]
			t.Add(send, url, l.Unique, l.Total, nullMicros(l.FirstAt), nullMicros(l.LastAt))
		}
	}
	if t.Len() > 0 {
		earlier, later := "link_sum.first_at", "link_sum.last_at"
		b.Queue(`
			INSERT INTO link_sum (tenant_id, send_id, url, unique_clicks, total_clicks, first_at, last_at)
			SELECT h.tenant_id, v.send_id, v.url, v.unique_clicks, v.total_clicks, v.first_at, v.last_at FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
			ON CONFLICT (tenant_id, send_id, url) DO UPDATE SET `+increase("link_sum", "unique_clicks", "total_clicks")+`,
				first_at = CASE WHEN excluded.first_at < COALESCE(`+earlier+`, excluded.first_at + 1) THEN excluded.first_at ELSE `+earlier+` END,
				last_at = CASE WHEN excluded.last_at > COALESCE(`+later+`, excluded.last_at - 1) THEN excluded.last_at ELSE `+later+` END`, nil, t.Args(tenant)...)
	}
	t = tx.Table("send_id UUID", "url TEXT")
	for _, send := range c.sortedSends() {
		for _, url := range slices.Sorted(maps.Keys(c.sends[send].withdrawn)) {
			t.Add(send, url)
		}
	}
	if t.Len() > 0 {
		b.Queue(`
			UPDATE link_sum SET first_at = `+clickOf("v", "ASC")+`, last_at = `+clickOf("v", "DESC")+` FROM `+t.As("v", 2)+`
			WHERE link_sum.tenant_id = $1 AND link_sum.send_id = v.send_id AND link_sum.url = v.url`, nil, t.Args(tenant)...)
	}
}

// clickOf is the time of the first or the last click by a person on a link.
func clickOf(link, order string) string {
	return `(SELECT h.at FROM hit AS h WHERE h.tenant_id = $1 AND h.send_id = ` + link + `.send_id AND h.url = ` + link + `.url
		AND h.kind = 'click' AND h.class || '' = 'human' AND NOT h.late ORDER BY h.at ` + order + ` LIMIT 1)`
}

// nullMicros returns a time for a column; NULL if it is zero.
func nullMicros(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return sqldb.Micros(at)
}

// LoadTimes returns the sums of a send by the beginning of the interval (outbox.Interval).
func LoadTimes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (map[time.Time]TimeSums, error) {
	rows, err := db.Query(ctx, `
		SELECT at, verified_opened, human_opened, human_clicked, unsubscribed, complained
		FROM engagement_time_sum WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	found := map[time.Time]TimeSums{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var at time.Time
		var s TimeSums
		err := scan(sqldb.ToTime(&at), &s.VerifiedOpened, &s.HumanOpened, &s.HumanClicked, &s.Unsubscribed, &s.Complained)
		found[at] = s
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the engagement of a send by time: %w", err)
	}
	return found, nil
}

// LoadAttributes returns the sums of a send by the values of attributes.
func LoadAttributes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (map[AttributeValue]AttributeSums, error) {
	rows, err := db.Query(ctx, `
		SELECT attribute, value, opened, clicked FROM engagement_attribute_sum WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	found := map[AttributeValue]AttributeSums{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var k AttributeValue
		var s AttributeSums
		err := scan(sqldb.ToText(&k.Attribute), &k.Value, &s.Opened, &s.Clicked)
		found[k] = s
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the engagement of a send by attribute: %w", err)
	}
	return found, nil
}

// LoadLinks returns the clicks on the links of a send by URL, as authored.
func LoadLinks(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (map[string]LinkSums, error) {
	rows, err := db.Query(ctx, `
		SELECT url, unique_clicks, total_clicks, first_at, last_at FROM link_sum WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	found := map[string]LinkSums{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var url string
		var l LinkSums
		var first, last *time.Time
		err := scan(&url, &l.Unique, &l.Total, sqldb.ToNullTime(&first), sqldb.ToNullTime(&last))
		if first != nil && last != nil {
			l.FirstAt, l.LastAt = *first, *last
		}
		found[url] = l
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the clicks of a send by link: %w", err)
	}
	return found, nil
}

// FirstOpens returns for each send the verified first opens in each of the given number of hours,
// which begin with the first one. Sends without opens are not in the result.
func FirstOpens(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send, hours int) (map[id.Send][]int, error) {
	t := db.Table("send_id UUID")
	for _, send := range sends {
		t.Add(send)
	}
	rows, err := db.Query(ctx, `
		SELECT v.send_id, (SELECT s.at FROM engagement_time_sum AS s
			WHERE s.tenant_id = $1 AND s.send_id = v.send_id AND s.verified_opened > 0 ORDER BY s.at LIMIT 1)
		FROM `+t.As("v", 2), t.Args(tenant)...)
	first := map[id.Send]time.Time{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var send id.Send
		var at *time.Time
		err := scan(&send, sqldb.ToNullTime(&at))
		if at != nil {
			first[send] = *at
		}
		return err
	})
	found := make(map[id.Send][]int, len(first))
	if err != nil || len(first) == 0 {
		return found, err
	}
	t = db.Table("send_id UUID", "first BIGINT", "last BIGINT")
	for _, send := range slices.SortedFunc(maps.Keys(first), id.Compare) {
		at := first[send]
		t.Add(send, at.UnixMicro(), at.Add(time.Duration(hours)*time.Hour).UnixMicro())
		found[send] = make([]int, hours)
	}
	rows, err = db.Query(ctx, `
		SELECT s.send_id, s.at, s.verified_opened FROM `+t.As("v", 2)+`
		JOIN engagement_time_sum AS s ON s.tenant_id = $1 AND s.send_id = v.send_id AND s.at >= v.first AND s.at < v.last`, t.Args(tenant)...)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var send id.Send
		var at time.Time
		var n int
		err := scan(&send, sqldb.ToTime(&at), &n)
		if err == nil {
			found[send][int(at.Sub(first[send])/time.Hour)] += n
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the first opens of sends: %w", err)
	}
	return found, nil
}
