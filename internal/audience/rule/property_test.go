package rule_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var (
	acme  = id.Tenant(101)
	other = id.Tenant(102)
	news  = idtest.Must[id.Category]("01900000-0000-7000-8000-0000000000c1")
	gone  = idtest.Must[id.Category]("01900000-0000-7000-8000-0000000000c2")
	lead  = idtest.Must[id.Stage]("01900000-0000-7000-8000-0000000000d1")
	buyer = idtest.Must[id.Stage]("01900000-0000-7000-8000-0000000000d2")
)

// schema declares a custom field of every type, named like it.
func schema() rule.Schema {
	s := rule.Schema{
		Fields: field.Catalog{},
		Types: contact.Types{
			EmailTypes: []contact.EmailType{
				{ID: idtest.Must[id.EmailType]("01900000-0000-7000-8000-0000000000e1"), Key: "offers"},
				{ID: idtest.Must[id.EmailType]("01900000-0000-7000-8000-0000000000e2"), Key: "digest", Category: news},
			},
			Categories: []id.Category{news},
		},
		Stages: []contact.Stage{{ID: lead, Slug: "lead"}, {ID: buyer, Slug: "buyer"}},
	}
	for _, t := range field.Types() {
		s.Fields[string(t)] = field.Field{Key: string(t), Type: t, Constraint: field.Open}
	}
	return s
}

// sample draws values for contacts and for leaves from the same small sets, so that they match
// often.
type sample struct {
	*rand.Rand
	now  time.Time
	zone *time.Location
}

func newSampleAt(now time.Time) sample { return sample{rand.New(rand.NewPCG(7, 11)), now, time.UTC} }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

var names = []string{
	"Anna", "anna", "ANNA", "ann", "Müller", "MÜLLER", "müller", "ü", "Straße", "STRAẞE", "STRASSE", "ΝΙΚΟΣ", "Νικος", "νικοσ", "Σ",
	"100%", "100", "%", "_", "a_b", "axb", `a\b`, `\`, "O'Neil", "K", "k", "İstanbul", "istanbul", "ısırgan", "two words", "x\ny", "🚢 boat", "ſ", "s",
	"Ǆ", "ǅ", "ǆ", "ПЕТР", "Пётр", "null", "true", "5", `"`, "$1", "'; DROP TABLE contact; --",
}

func (s sample) text() string { return pick(s.Rand, names...) }

func (s sample) number() float64 {
	return pick(s.Rand, 0, 1, 2, 5, -1, 0.1, 2.5, 1e15, 0.3333333333333333, 5, 12.34, -0.5)
}

func (s sample) word() string { return pick(s.Rand, "basic", "pro", "Pro", "old") }

var tagNames = []string{"vip", "VIP", "a", "b", "ü", `q"'`, "a b"}

func (s sample) tags() []string {
	list := []string{}
	for _, t := range tagNames {
		if s.IntN(4) == 0 {
			list = append(list, t)
		}
	}
	return list
}

// moment returns a time near one of the boundaries of the date operators.
func (s sample) moment() time.Time {
	base := s.now
	switch s.IntN(4) {
	case 0:
		base = base.AddDate(0, 0, s.IntN(21)-10)
	case 1:
		base = base.AddDate(pick(s.Rand, -1, 1, -2, -27), pick(s.Rand, -1, 0, 1), s.IntN(5)-2)
	case 2:
		base = pick(s.Rand,
			time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC), time.Date(2025, 2, 28, 12, 0, 0, 0, time.UTC), time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC),
			time.Date(2025, 10, 26, 1, 30, 0, 0, time.UTC), time.Date(1999, 12, 31, 23, 30, 0, 0, time.UTC), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	}
	if s.IntN(2) == 0 { // a midnight
		y, m, d := base.In(s.zone).Date()
		base = time.Date(y, m, d, 0, 0, 0, 0, s.zone)
	}
	return base.Add(pick(s.Rand, 0, 0, time.Microsecond, -time.Microsecond, time.Millisecond, -time.Millisecond, time.Hour, -time.Hour)).UTC()
}

func (s sample) day() string { return s.moment().In(s.zone).Format(time.DateOnly) }

func (s sample) clock() string {
	return pick(s.Rand, "00:00", "09:30", "09:30:00", "09:30:01", "22:00", "23:59:59")
}

const stamp = "2006-01-02T15:04:05.000Z"

// value returns a random value of a type of custom field.
func (s sample) value(t field.Type) any {
	switch t {
	case field.String:
		return pick(s.Rand, s.text(), "")
	case field.Number, field.Currency:
		return s.number()
	case field.Boolean:
		return s.IntN(2) == 0
	case field.Date:
		return s.day()
	case field.DateTime:
		return s.moment().Format(stamp)
	case field.Time:
		return s.clock()
	case field.Enum:
		return s.word()
	case field.Tags:
		return s.tags()
	case field.Email:
		return pick(s.Rand, "ann@example.org", "bob@example.net", "o'neil@xn--mller-kva.example")
	case field.URL:
		return pick(s.Rand, "https://Example.org/A?b=1%25", "http://example.org/a")
	case field.TimeZone:
		return pick(s.Rand, "Europe/Berlin", "UTC")
	case field.Country:
		return pick(s.Rand, "DE", "AT", "NL")
	}
	return pick(s.Rand, "01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000002")
}

// insert stores a random contact.
func (s sample) insert(t *testing.T, db *sqldb.DB, tenant id.Tenant, n int) id.Contact {
	t.Helper()
	created := s.moment()
	key := id.At[id.Contact](created)
	maybe := func(v any) any {
		if s.IntN(3) == 0 {
			return nil
		}
		return v
	}
	at := func() any { return maybe(sqldb.Micros(s.moment())) }
	fields := map[string]any{}
	for _, typ := range field.Types() {
		if s.IntN(3) > 0 {
			fields[string(typ)] = s.value(typ)
		}
	}
	consent := func(keys ...string) map[string]bool {
		m := map[string]bool{}
		for _, k := range keys {
			if s.IntN(3) > 0 {
				m[k] = s.IntN(2) == 0
			}
		}
		return m
	}
	status := pick(s.Rand, contact.Statuses()...)
	values := map[string]any{
		"tenant_id": tenant, "id": key,
		"email": fmt.Sprintf("%s%d@%s", pick(s.Rand, "ann", "bob", "o'neil", "a_b%"), n, "example.org"), "email_domain": pick(s.Rand, "example.org", "example.net", "gmail.com"),
		"external_id": maybe(fmt.Sprintf("%s-%d", s.text(), n)), "global_status": status, "status_before_suppress": maybe(contact.Active),
		"country": maybe(s.value(field.Country)), "timezone": maybe(s.value(field.TimeZone)), "stage_id": maybe(pick(s.Rand, lead, buyer)),
		"custom_fields": encoded(fields), "tags": encoded(s.tags()), "subscriptions": encoded(consent("offers", "digest")),
		"category_subscriptions": encoded(consent(news.String(), gone.String())),
		"do_not_contact":         s.IntN(2) == 0, "prospect_score": s.number(), "customer_score": s.number(), "search_text": "",
		"created_at": sqldb.Micros(created), "updated_at": sqldb.Micros(s.moment()),
		"score_updated_at": at(), "anonymized_at": at(), "suppressed_at": at(), "unsubscribed_at": at(),
	}
	for _, c := range []string{"first_name", "last_name", "full_name", "title", "company", "phone", "website", "address_line1", "address_line2", "city", "state", "postal_code", "source"} {
		values[c] = maybe(s.text())
	}
	insert(t, db, "contact", values)
	if s.IntN(4) == 0 { // no activity
		return key
	}
	touch := map[string]any{}
	for _, k := range []string{"first_touch_campaign", "first_touch_landing_url", "first_touch_medium", "first_touch_referrer", "first_touch_source", "last_touch_campaign", "last_touch_medium", "last_touch_source"} {
		touch[k] = maybe(s.text())
	}
	touch["first_touch_country"], touch["first_touch_timezone"] = maybe(s.value(field.Country)), maybe(s.value(field.TimeZone))
	touch["first_touch_at"], touch["last_touch_at"] = at(), at()
	insert(t, db, "contact_activity", map[string]any{
		"tenant_id": tenant, "contact_id": key, "last_activity_at": at(), "last_activity_pending": s.IntN(2) == 0,
		"last_email_sent_at": at(), "last_email_opened_at": at(), "last_email_clicked_at": at(), "last_page_viewed_at": at(),
		"total_emails_sent": int64(s.IntN(4)), "total_emails_opened": int64(s.IntN(4)), "total_emails_clicked": int64(s.IntN(4)),
		"bounce_type": maybe(pick(s.Rand, "hard", "soft")), "soft_bounces": int64(0), "listed": false,
		"deliverability_status": pick(s.Rand, contact.Healthy, contact.Watch, contact.AtRisk, contact.Blocked), "deliverability_reason": maybe("hard_bounce"),
		"deliverability_updated_at": sqldb.Micros(s.moment()), "touch": maybe(encoded(touch)),
	})
	return key
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// insert stores a row given by its columns.
func insert(t *testing.T, db *sqldb.DB, table string, values map[string]any) {
	t.Helper()
	var columns, params []string
	var args []any
	for c, v := range values {
		args = append(args, v)
		columns, params = append(columns, c), append(params, fmt.Sprintf("$%d", len(args)))
	}
	if _, err := db.Exec(t.Context(), "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(params, ", ")+")", args...); err != nil {
		t.Fatalf("insert into %s: %v", table, err)
	}
}

// stages stores the schema's stages for both tenants.
func stages(t *testing.T, db *sqldb.DB) {
	t.Helper()
	for _, st := range []id.Stage{lead, buyer} {
		for _, tenant := range []id.Tenant{acme, other} {
			insert(t, db, "contact_stage", map[string]any{"tenant_id": tenant, "id": st, "name": st.String(), "slug": st.String(), "category": "prospect", "sort_order": 1, "is_default": false, "created_at": 1})
		}
	}
}

// leaf draws a leaf about a field of contacts, as JSON.
func (s sample) leaf(sch rule.Schema) map[string]any {
	l := map[string]any{}
	typed := func(t field.Type) (kind string, value func() any) {
		switch t {
		case field.String, field.Email, field.URL:
			return "text", func() any { return s.needle() }
		case field.Number, field.Currency:
			return "number", func() any { return s.number() }
		case field.Boolean:
			return "boolean", nil
		case field.Date:
			return "date", func() any { return s.date(false) }
		case field.DateTime:
			return "datetime", func() any { return s.date(true) }
		case field.Time:
			return "time", func() any { return s.clock() }
		case field.Tags:
			return "tags", func() any { return pick(s.Rand, tagNames...) }
		case field.Contact:
			return "reference", func() any { return s.value(field.Contact) }
		}
		return "choice", func() any { return s.value(t) }
	}
	var kind string
	var value func() any
	switch s.IntN(12) {
	case 0, 1, 2, 3:
		t := pick(s.Rand, field.Types()...)
		l["field"] = "custom_fields." + string(t)
		kind, value = typed(t)
	case 4, 5:
		l["field"] = pick(s.Rand, "email", "email_domain", "external_id", "first_name", "last_name", "full_name", "title", "company", "phone", "website",
			"address_line1", "address_line2", "city", "state", "postal_code", "source", "deliverability_reason", "mx_record", "first_touch_campaign",
			"first_touch_landing_url", "first_touch_medium", "first_touch_referrer", "first_touch_source", "last_touch_campaign", "last_touch_medium", "last_touch_source")
		kind, value = typed(field.String)
	case 6:
		l["field"] = pick(s.Rand, "prospect_score", "customer_score", "total_emails_sent", "total_emails_opened", "total_emails_clicked")
		kind, value = typed(field.Number)
	case 7, 8:
		l["field"] = pick(s.Rand, "score_updated_at", "created_at", "updated_at", "anonymized_at", "suppressed_at", "unsubscribed_at", "last_activity_at",
			"last_email_sent_at", "last_email_opened_at", "last_email_clicked_at", "last_page_viewed_at", "deliverability_updated_at", "first_touch_at", "last_touch_at")
		kind, value = typed(field.DateTime)
	case 9:
		words := map[string][]string{
			"country": {"DE", "at", "NL"}, "first_touch_country": {"DE", "AT"}, "timezone": {"Europe/Berlin", "UTC"}, "first_touch_timezone": {"UTC", "Europe/Berlin"},
			"global_status": {"active", "Pending", "bounced"}, "status_before_suppress": {"active", "bounced"}, "bounce_type": {"hard", "soft"},
			"deliverability_status": {"healthy", "watch", "suppressed"}, "smtp_provider": {"gmail", "other"}, "stage": {"lead", "buyer"}, "stage_id": {lead.String(), "buyer"},
		}
		l["field"] = pick(s.Rand, "country", "first_touch_country", "timezone", "first_touch_timezone", "global_status", "status_before_suppress",
			"bounce_type", "deliverability_status", "smtp_provider", "stage", "stage_id")
		list := words[l["field"].(string)]
		kind, value = "choice", func() any { return pick(s.Rand, list...) }
	case 10:
		switch s.IntN(3) {
		case 0:
			l["field"] = "tags"
			kind, value = typed(field.Tags)
		case 1:
			l["field"] = pick(s.Rand, "do_not_contact", "last_activity_pending")
			kind, value = typed(field.Boolean)
		default:
			l["field"] = pick(s.Rand, "id", "tenant_id")
			kind, value = typed(field.Contact)
		}
	default:
		l["field"] = pick(s.Rand, "subscriptions.offers", "subscriptions.digest", "category_subscriptions."+news.String())
		kind = "subscription"
	}
	op := pick(s.Rand, operators[kind]...)
	l["operator"] = op
	many := func() []any {
		list := make([]any, 1+s.IntN(3))
		for i := range list {
			list[i] = value()
		}
		return list
	}
	switch op {
	case "is_set", "is_not_set", "is_true", "is_false", "subscribed", "unsubscribed":
	case "in", "not_in", "has_any", "has_all", "has_none":
		l["value"] = many()
	case "in_the_last", "not_in_the_last", "in_the_next", "more_than_ago", "anniversary_in_next":
		l["value"] = s.span()
	case "between":
		a, b := value(), value()
		switch x := a.(type) {
		case float64:
			a, b = min(x, b.(float64)), max(x, b.(float64))
		case string:
			a, b = min(x, b.(string)), max(x, b.(string))
			if kind == "datetime" && (len(a.(string)) > 10) != (len(b.(string)) > 10) {
				a, b = a.(string)[:10], b.(string)[:10]
			}
			if kind == "time" && s.IntN(2) == 0 {
				a, b = b, a
			}
		}
		l["value"] = []any{a, b}
	default:
		if kind == "boolean" {
			l["value"] = s.IntN(2) == 0
		} else {
			l["value"] = value()
		}
	}
	return l
}

func (s sample) needle() string {
	n := pick(s.Rand, s.text(), s.text(), "ann", "example", ".org", "@", "hard_bounce", "mx.example.org")
	if r := []rune(n); len(r) > 2 && s.IntN(3) == 0 {
		n = string(r[1 : len(r)-1])
	}
	return n
}

func (s sample) date(moments bool) string {
	if moments && s.IntN(2) == 0 {
		return pick(s.Rand, s.moment().Format(stamp), s.moment().Format("2006-01-02T15:04:05.000000Z"))
	}
	return s.day()
}

func (s sample) span() map[string]any {
	return map[string]any{"amount": pick(s.Rand, 1, 1, 2, 7, 24, 30, 40), "unit": pick(s.Rand, "hour", "hours", "day", "days", "week", "month", "year")}
}

var operators = map[string][]string{
	"text":         {"equals", "not_equals", "contains", "not_contains", "starts_with", "ends_with", "in", "not_in", "is_set", "is_not_set"},
	"number":       {"equals", "not_equals", "greater_than", "greater_or_equal", "less_than", "less_or_equal", "between", "in", "not_in", "is_set", "is_not_set"},
	"boolean":      {"equals", "is_true", "is_false", "is_set", "is_not_set"},
	"choice":       {"equals", "not_equals", "in", "not_in", "is_set", "is_not_set"},
	"date":         {"on", "not_on", "before", "after", "on_or_before", "on_or_after", "between", "in_the_last", "not_in_the_last", "in_the_next", "more_than_ago", "anniversary_in_next", "is_set", "is_not_set"},
	"datetime":     {"on", "not_on", "before", "after", "on_or_before", "on_or_after", "between", "in_the_last", "not_in_the_last", "in_the_next", "more_than_ago", "anniversary_in_next", "is_set", "is_not_set"},
	"time":         {"equals", "before", "after", "between", "is_set", "is_not_set"},
	"tags":         {"has_any", "has_all", "has_none", "is_set", "is_not_set"},
	"reference":    {"equals", "not_equals", "in", "not_in", "is_set", "is_not_set"},
	"subscription": {"subscribed", "unsubscribed"},
}

// group draws a tree of leaves, as JSON.
func (s sample) group(level int, leaf func() map[string]any) map[string]any {
	list := make([]any, 1+s.IntN(4))
	for i := range list {
		if level < 4 && s.IntN(5) == 0 {
			list[i] = s.group(level+1, leaf)
		} else {
			list[i] = leaf()
		}
	}
	g := map[string]any{"logic": pick(s.Rand, "and", "or", "ANY", "All"), "conditions": list}
	if s.IntN(4) == 0 {
		g["negate"] = true
	}
	return g
}

// selected returns the contacts that a tree selects in the database.
func selected(t interface {
	Helper()
	Fatalf(string, ...any)
}, db *sqldb.DB, ctx interface {
	Deadline() (time.Time, bool)
	Done() <-chan struct{}
	Err() error
	Value(any) any
}, tree rule.Tree, env rule.Env) []id.Contact {
	t.Helper()
	c, err := tree.Condition(db, env)
	if err != nil {
		t.Fatalf("Condition: %v", err)
	}
	args := []any{acme}
	where := c.Text(func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	})
	join := ""
	if c.Activity {
		join = contact.WithActivity
	}
	rows, err := db.Query(ctx, `SELECT c.id FROM contact c `+join+` WHERE c.tenant_id = $1 AND (`+where+`) ORDER BY c.id`, args...)
	ids, err := sqldb.Collect(rows, err, func(scan func(...any) error) (id.Contact, error) {
		var c id.Contact
		err := scan(&c)
		return c, err
	})
	if err != nil {
		t.Fatalf("%v\n%s\n%v", err, where, args[1:])
	}
	return ids
}

var zones = []string{"UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia", "America/Havana", "Asia/Kolkata"}

// SQL and Match agree: random trees over random contacts.
func TestSQLAgreesWithMatch(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSampleAt(time.Date(2026, 3, 29, 10, 30, 0, 0, time.UTC))
		stages(t, db)
		insert(t, db, "mail_domain", map[string]any{"domain": "example.org", "mx_record": "MX.Example.org", "smtp_provider": "other", "checked_at": 1, "next_at": 1, "tries": 0})
		insert(t, db, "mail_domain", map[string]any{"domain": "gmail.com", "mx_record": nil, "smtp_provider": "gmail", "checked_at": 1, "next_at": 1, "tries": 0})
		var ids []id.Contact
		for n := range 150 {
			zone, err := time.LoadLocation(pick(s.Rand, zones...))
			if err != nil {
				t.Fatal(err)
			}
			s.zone = zone
			ids = append(ids, s.insert(t, db, acme, n))
			s.insert(t, db, other, n)
		}
		slices.SortFunc(ids, id.Compare)
		subjects, err := rule.Load(t.Context(), db, acme, ids)
		if err != nil || len(subjects) != len(ids) {
			t.Fatalf("Load = %d subjects, %v", len(subjects), err)
		}
		sch := schema()
		ctx := t.Context()
		rapid.Check(t, func(t *rapid.T) {
			s := sample{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), s.now, nil}
			env := rule.Env{Now: s.now.Add(pick(s.Rand, 0, -10*time.Hour, 12*time.Hour, -28*24*time.Hour, -88*24*time.Hour)), Schema: sch}
			zone, err := time.LoadLocation(pick(s.Rand, zones...))
			if err != nil {
				t.Fatal(err)
			}
			s.zone, env.Zone = zone, zone
			text := encoded(s.group(1, func() map[string]any { return s.leaf(sch) }))
			tree, err := rule.ParseDefinition([]byte(text), env.Schema)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			again, err := rule.ParseDefinition([]byte(encoded(tree)), env.Schema)
			if diff := cmp.Diff(tree, again); err != nil || diff != "" {
				t.Fatalf("%s reads back otherwise: %v\n%s", encoded(tree), err, diff)
			}
			want := []id.Contact{}
			for _, sub := range subjects {
				if tree.Match(env, sub) {
					want = append(want, sub.Contact.ID)
				}
			}
			got := selected(t, db, ctx, tree, env)
			if !slices.Equal(got, want) {
				t.Fatalf("%s at %s in %s\nSQL only: %v\nMatch only: %v", text, env.Now, env.Zone, without(got, want), without(want, got))
			}
		})
	})
}

func without(a, b []id.Contact) []id.Contact {
	return slices.DeleteFunc(slices.Clone(a), func(c id.Contact) bool { return slices.Contains(b, c) })
}
