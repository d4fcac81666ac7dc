package contact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contactsearch"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Selector selects contacts.
type Selector struct {
	Statuses []Status // none: those of undeleted
	Search   string   // every word must occur in names, company or address
	Where    []Condition
}

// undeleted are the statuses of contacts that are selected unless others are asked for: all but Suppressed.
var undeleted = statuses[:len(statuses)-1]

// Restrict restricts the statuses to those of a list. It returns false, and changes nothing, if none is left.
func (q *Selector) Restrict(to []Status) bool {
	from := q.Statuses
	if len(from) == 0 {
		from = undeleted
	}
	left := slices.DeleteFunc(slices.Clone(from), func(s Status) bool { return !slices.Contains(to, s) })
	if len(left) > 0 {
		q.Statuses = left
	}
	return len(left) > 0
}

// Condition is a condition from a package above: SQL over a contact's own row, c, and, with
// Activity, its activity, a. $1 is the tenant.
type Condition struct {
	Text     func(arg func(value any) string) string // arg adds a parameter and returns its placeholder
	Activity bool
}

// ParseStatuses parses the names of statuses.
func ParseStatuses(list []string) ([]Status, error) {
	out := make([]Status, 0, len(list))
	for _, s := range list {
		if Status(s).rank() == 0 && Status(s) != Pending {
			return nil, ErrInvalidStatus.Sayf("%q is not a status of contacts", s)
		}
		out = append(out, Status(s))
	}
	return out, nil
}

// Query selects one page of contacts.
type Query struct {
	Selector
	Sort  Sort
	Asc   bool
	After *Position // nil: the first page
	Limit int
	From  *Restriction
}

// Restriction restricts a query to rows of a table of a package above: a join on
// c.tenant_id and c.id, whose parameters begin at $2.
type Restriction struct {
	Join    string
	Args    []any
	AddedAt string // expression for member_added_at, never null; empty: null
}

// Position is the end of a page: the sort value, nil for null, and the id.
type Position struct {
	Value *string
	ID    id.Contact
}

// Page is one page of contacts; Next is nil on the last one.
type Page struct {
	Contacts []Contact
	Next     *Position
}

// Sort is the name of a sort order.
type Sort string

// Two sorts that code refers to; ParseSort accepts all.
const (
	ByCreated     Sort = "created_at"
	ByMemberAdded Sort = "member_added_at"
)

type order struct {
	column   string
	nullable bool
	indexed  bool // an index has the order
	words    bool // is sorted without regard to case and accents
	parse    func(string) (any, error)
	value    func(c *Contact) any // string, *string, int64, float64, bool, time.Time or *time.Time
}

// byID is the column of the sort by creation: ids are UUIDv7 of created_at
// (mergeState.create), so both have the same order.
const byID = "c.id"

func readText(s string) (any, error)   { return s, nil }
func readInt(s string) (any, error)    { return strconv.ParseInt(s, 10, 64) }
func readNumber(s string) (any, error) { return strconv.ParseFloat(s, 64) }
func readBool(s string) (any, error)   { return strconv.ParseBool(s) }
func readStage(s string) (any, error) { // as bytes: SQLite sorts every text before them
	stage, ok := id.Parse[id.Stage](s)
	if !ok {
		return nil, errors.New("not the id of a stage")
	}
	return stage, nil
}

var orders = map[Sort]order{
	"email":                 {"c.email", false, true, false, readText, func(c *Contact) any { return c.Email }},
	"first_name":            {"c.first_name", true, false, true, readText, func(c *Contact) any { return c.FirstName }},
	"last_name":             {"c.last_name", true, false, true, readText, func(c *Contact) any { return c.LastName }},
	"company":               {"c.company", true, false, true, readText, func(c *Contact) any { return c.Company }},
	"title":                 {"c.title", true, false, true, readText, func(c *Contact) any { return c.Title }},
	"phone":                 {"c.phone", true, false, true, readText, func(c *Contact) any { return c.Phone }},
	"city":                  {"c.city", true, false, true, readText, func(c *Contact) any { return c.City }},
	"state":                 {"c.state", true, false, true, readText, func(c *Contact) any { return c.State }},
	"country":               {"c.country", true, false, true, readText, func(c *Contact) any { return c.Country }},
	"postal_code":           {"c.postal_code", true, false, true, readText, func(c *Contact) any { return c.PostalCode }},
	"source":                {"c.source", true, false, true, readText, func(c *Contact) any { return c.Source }},
	"global_status":         {"c.global_status", false, false, false, readText, func(c *Contact) any { return string(c.Status) }},
	"deliverability_status": {ActivityColumn("deliverability_status"), false, false, false, readText, func(c *Contact) any { return string(c.DeliverabilityStatus) }},
	"do_not_contact":        {"c.do_not_contact", false, false, false, readBool, func(c *Contact) any { return c.DoNotContact }},
	"prospect_score":        {"c.prospect_score", false, false, false, readNumber, func(c *Contact) any { return c.ProspectScore }},
	"customer_score":        {"c.customer_score", false, false, false, readNumber, func(c *Contact) any { return c.CustomerScore }},
	"total_emails_sent":     {ActivityColumn("total_emails_sent"), false, false, false, readInt, func(c *Contact) any { return c.TotalEmailsSent }},
	"total_emails_opened":   {ActivityColumn("total_emails_opened"), false, false, false, readInt, func(c *Contact) any { return c.TotalEmailsOpened }},
	"total_emails_clicked":  {ActivityColumn("total_emails_clicked"), false, false, false, readInt, func(c *Contact) any { return c.TotalEmailsClicked }},
	"last_activity_at":      {"a.last_activity_at", true, false, false, readInt, func(c *Contact) any { return c.LastActivityAt }},
	"last_email_sent_at":    {"a.last_email_sent_at", true, false, false, readInt, func(c *Contact) any { return c.LastEmailSentAt }},
	"last_email_opened_at":  {"a.last_email_opened_at", true, false, false, readInt, func(c *Contact) any { return c.LastEmailOpenedAt }},
	"last_email_clicked_at": {"a.last_email_clicked_at", true, false, false, readInt, func(c *Contact) any { return c.LastEmailClickedAt }},
	"last_page_viewed_at":   {"a.last_page_viewed_at", true, false, false, readInt, func(c *Contact) any { return c.LastPageViewedAt }},
	"created_at":            {byID, false, true, false, readInt, func(c *Contact) any { return c.CreatedAt }},
	"updated_at":            {"c.updated_at", false, true, false, readInt, func(c *Contact) any { return c.UpdatedAt }},
	"stage_id": {"c.stage_id", true, false, false, readStage, func(c *Contact) any {
		if c.Stage.IsZero() {
			return nil
		}
		return c.Stage.String()
	}},
}

// ParseSort returns the sort with a name, ByCreated if there is none.
func ParseSort(name string) Sort {
	if _, ok := orders[Sort(name)]; ok {
		return Sort(name)
	}
	return ByCreated
}

// Sorts returns every name that ParseSort accepts.
func Sorts() []string {
	list := make([]string, 0, len(orders))
	for s := range orders {
		list = append(list, string(s))
	}
	return list
}

// activity reports whether the sort is by a column of the activity.
func (o order) activity() bool {
	return strings.HasPrefix(o.column, "a.") || strings.HasPrefix(o.column, "COALESCE(a.")
}

// orderBy returns the ORDER BY clause: the sort's column, nulls last, then the id.
func (o order) orderBy(asc bool) string {
	way, nulls := " DESC", ""
	if asc {
		way = " ASC"
	}
	if o.column == byID {
		return ` ORDER BY c.id` + way
	}
	if o.nullable {
		nulls = " NULLS LAST"
	}
	return ` ORDER BY ` + o.column + way + nulls + `, c.id` + way
}

func (o order) position(c *Contact) *Position {
	p := &Position{ID: c.ID}
	switch v := o.value(c).(type) {
	case string:
		p.Value = &v
	case *string:
		p.Value = v
	case int64:
		p.Value = new(strconv.FormatInt(v, 10))
	case float64:
		p.Value = new(strconv.FormatFloat(v, 'g', -1, 64))
	case bool:
		p.Value = new(strconv.FormatBool(v))
	case time.Time:
		p.Value = new(strconv.FormatInt(v.UnixMicro(), 10))
	case *time.Time:
		if v != nil {
			p.Value = new(strconv.FormatInt(v.UnixMicro(), 10))
		}
	}
	return p
}

// statement collects the variable parts of a query of contacts c: joins, conditions (each
// begins with AND), and parameters, the first of which is the tenant.
type statement struct {
	joins, conditions strings.Builder
	args              []any
	activity          bool // a is joined
}

// join joins the activity, once.
func (s *statement) join() {
	if !s.activity {
		s.activity = true
		s.joins.WriteString(WithActivity)
	}
}

func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args))
}

// CheckSearch reports a search text that is too long.
func CheckSearch(text string) error {
	if utf8.RuneCountInString(text) > contactsearch.MaxSearch {
		return fault.Input(fault.Field{Path: "search", Message: fmt.Sprintf("at most %d characters", contactsearch.MaxSearch)})
	}
	return nil
}

func newStatement(db *sqldb.DB, tenant id.Tenant, q Selector, r *Restriction) (*statement, error) {
	if err := CheckSearch(q.Search); err != nil {
		return nil, err
	}
	s := &statement{args: []any{tenant}}
	if r != nil {
		s.args = append(s.args, r.Args...)
		s.joins.WriteString(r.Join)
	}
	if len(q.Statuses) == 0 {
		s.conditions.WriteString(` AND c.global_status <> 'suppressed' `)
	} else {
		s.conditions.WriteString(` AND c.global_status` + db.In(len(s.args)+1))
		s.args = append(s.args, sqldb.List(db, q.Statuses))
	}
	for _, word := range contactsearch.Terms(q.Search) {
		s.conditions.WriteString(` AND c.search_text LIKE ` + s.arg(contactsearch.Pattern(word)) + ` ESCAPE '\' `)
	}
	for _, w := range q.Where {
		if w.Activity {
			s.join()
		}
		s.conditions.WriteString(` AND (` + w.Text(s.arg) + `) `)
	}
	return s, nil
}

// among restricts the query to some contacts: the candidates that the search index returns. The result
// does not depend on it, since they include every contact that can match.
func (s *statement) among(db *sqldb.DB, list []id.Contact) {
	s.conditions.WriteString(` AND c.id` + db.In(len(s.args)+1))
	s.args = append(s.args, sqldb.List(db, list))
}

// Among returns those of some contacts for which a condition holds, deleted ones too. Unlike lists,
// it reads within the caller's transaction.
func Among(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, w Condition) ([]id.Contact, error) {
	s, err := newStatement(db, tenant, Selector{Statuses: Statuses(), Where: []Condition{w}}, nil)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, `
		SELECT c.id FROM contact c `+s.joins.String()+` WHERE c.tenant_id = $1 AND c.id`+db.In(len(s.args)+1)+s.conditions.String(),
		append(s.args, sqldb.List(db, ids))...)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (id.Contact, error) {
		var c id.Contact
		err := row(&c)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("find contacts for which a condition holds: %w", err)
	}
	return list, nil
}

// Between returns the contacts after one id and up to another for which a condition holds, in the
// order of ids, deleted ones too. Like Among, it reads within the caller's transaction.
func Between(ctx context.Context, db *sqldb.DB, tenant id.Tenant, after, upTo id.Contact, w Condition) ([]id.Contact, error) {
	s, err := newStatement(db, tenant, Selector{Statuses: Statuses(), Where: []Condition{w}}, nil)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, `
		SELECT c.id FROM contact c `+s.joins.String()+`
		WHERE c.tenant_id = $1 AND c.id > `+s.arg(after)+` AND c.id <= `+s.arg(upTo)+s.conditions.String()+` ORDER BY c.id`, s.args...)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (id.Contact, error) {
		var c id.Contact
		err := row(&c)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("find contacts between two ids for which a condition holds: %w", err)
	}
	return list, nil
}

// PageEnd returns the id of the contact that is n places after another in the order of ids; ok is
// false if there are fewer.
func PageEnd(ctx context.Context, db *sqldb.DB, tenant id.Tenant, after id.Contact, n int) (end id.Contact, ok bool, err error) {
	err = db.QueryRow(ctx, `SELECT id FROM contact WHERE tenant_id = $1 AND id > $2 ORDER BY tenant_id, id LIMIT 1 OFFSET $3`, tenant, after, n-1).Scan(&end)
	if errors.Is(err, sqldb.ErrNoRows) {
		return end, false, nil
	}
	if err != nil {
		return end, false, fmt.Errorf("find the end of a page of contacts: %w", err)
	}
	return end, true, nil
}

// Count returns the number of contacts that a selector selects. If it selects by status alone, that is the sum of
// stored numbers.
func Count(ctx context.Context, db *sqldb.DB, tenant id.Tenant, q Selector) (int, error) {
	if err := CheckSearch(q.Search); err != nil {
		return 0, err
	}
	if len(q.Where) == 0 && len(contactsearch.Terms(q.Search)) == 0 {
		n, err := CountByStatus(ctx, db, tenant)
		if len(q.Statuses) == 0 {
			return n.Of(undeleted...), err
		}
		return n.Of(q.Statuses...), err
	}
	s, err := newStatement(db, tenant, q, nil)
	if err != nil {
		return 0, err
	}
	var n int
	err = db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		candidates, ok, err := contactsearch.Candidates(ctx, db, tenant, q.Search, false)
		if err != nil {
			return err
		}
		if ok {
			s.among(db, candidates)
		}
		return db.ScanTx(ctx, func() error {
			return db.QueryRow(ctx, `SELECT COUNT(*) FROM contact c `+s.joins.String()+` WHERE c.tenant_id = $1`+s.conditions.String(), s.args...).Scan(&n)
		})
	})
	if err != nil {
		return 0, fmt.Errorf("count contacts: %w", err)
	}
	return n, nil
}

// List returns one page of contacts. Null sort values come last in either direction, and
// ties are ordered by id. While pages are read, a contact that does not change is on one
// page only, even if others are added or changed.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, q Query) (p Page, err error) {
	if q.indexed() {
		return listPage(ctx, db, tenant, q)
	}
	err = db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		p, err = listPage(ctx, db, tenant, q)
		return err
	})
	return p, err
}

// indexed reports whether an index leads to the page: no conditions, and a sort that has an
// index. Other pages may need all contacts to be read.
func (q Query) indexed() bool {
	o, ok := orders[q.Sort]
	return (!ok || o.indexed) && q.From == nil && len(q.Where) == 0 && len(q.Statuses) == 0 && len(contactsearch.Terms(q.Search)) == 0
}

func listPage(ctx context.Context, db *sqldb.DB, tenant id.Tenant, q Query) (Page, error) {
	o, ok := orders[q.Sort]
	added := "NULL"
	if q.From != nil && q.From.AddedAt != "" {
		added = q.From.AddedAt
		if q.Sort == ByMemberAdded {
			o, ok = order{added, false, true, false, readInt, func(c *Contact) any { return c.MemberAddedAt }}, true
		}
	}
	if !ok {
		o = orders[ByCreated]
	}
	if o.words {
		o.column = db.SortText(o.column)
	}
	s, err := newStatement(db, tenant, q.Selector, q.From)
	if err != nil {
		return Page{}, err
	}
	candidates, few, err := contactsearch.Candidates(ctx, db, tenant, q.Search, o.indexed)
	if err != nil {
		return Page{}, err
	}
	if err := s.seek(db, o, q); err != nil {
		return Page{}, err
	}
	var list []Contact
	if few && o.column == byID {
		list, err = s.readInOrder(ctx, db, q, added, candidates)
	} else {
		if few { // they are read by id, whatever the order
			o.indexed = false
			s.among(db, candidates)
		}
		list, err = readPage(ctx, db, make([]Contact, 0, q.Limit+1), s.page(o, q, added), s.args)
	}
	if err != nil {
		return Page{}, fmt.Errorf("list contacts: %w", err)
	}
	p := Page{Contacts: list}
	if len(list) > q.Limit {
		p.Contacts = list[:q.Limit]
		p.Next = o.position(&p.Contacts[q.Limit-1])
	}
	return p, nil
}

// readPage appends the contacts of a statement to list.
func readPage(ctx context.Context, db *sqldb.DB, list []Contact, text string, args []any) ([]Contact, error) {
	rows, err := db.Query(ctx, text, args...)
	var at *time.Time
	reader := newReader(sqldb.ToNullTime(&at))
	return sqldb.CollectInto(list, rows, err, func(row func(...any) error) (Contact, error) {
		c, err := reader.read(row)
		c.MemberAddedAt = at
		return c, err
	})
}

// readInOrder reads a page in the order of ids, of candidates in ascending order: first a few more than
// it has, since most candidates match, then more and more until it is full.
func (s *statement) readInOrder(ctx context.Context, db *sqldb.DB, q Query, added string, candidates []id.Contact) ([]Contact, error) {
	order := id.Compare[id.Contact]
	if !q.Asc {
		order = func(a, b id.Contact) int { return id.Compare(b, a) }
		slices.Reverse(candidates)
	}
	if q.After != nil {
		from, found := slices.BinarySearchFunc(candidates, q.After.ID, order)
		if found {
			from++
		}
		candidates = candidates[from:]
	}
	s.join()
	text := `SELECT ` + contactSelect + `, ` + added + ` FROM contact c ` + s.joins.String() + `
		WHERE c.tenant_id = $1 AND c.id` + db.In(len(s.args)+1) + s.conditions.String()
	list := make([]Contact, 0, q.Limit+1)
	for n := q.Limit + 1 + q.Limit/4; len(candidates) > 0 && len(list) <= q.Limit; n *= 2 {
		n = min(n, len(candidates))
		more, err := readPage(ctx, db, list, text, append(slices.Clip(s.args), sqldb.List(db, candidates[:n])))
		if err != nil {
			return nil, err
		}
		slices.SortFunc(more[len(list):], func(a, b Contact) int { return order(a.ID, b.ID) })
		list, candidates = more, candidates[n:]
	}
	return list, nil
}

// page returns the statement of one page. If no index has the order of the sort, a subquery
// sorts ids only, and the whole rows are read for the page alone.
func (s *statement) page(o order, q Query, added string) string {
	by, limit := o.orderBy(q.Asc), s.arg(q.Limit+1)
	if o.indexed {
		s.join()
		return `SELECT ` + contactSelect + `, ` + added + ` FROM contact c ` + s.joins.String() + `
			WHERE c.tenant_id = $1 ` + s.conditions.String() + by + ` LIMIT ` + limit
	}
	if o.activity() {
		s.join()
	}
	again := by
	if o.column == added {
		o.column = "k.added" // its table is joined in the subquery only
		again = o.orderBy(q.Asc)
	}
	return `SELECT ` + contactSelect + `, k.added FROM (
			SELECT c.id, ` + added + ` AS added FROM contact c ` + s.joins.String() + `
			WHERE c.tenant_id = $1 ` + s.conditions.String() + by + ` LIMIT ` + limit + `) AS k
		JOIN contact c ON c.tenant_id = $1 AND c.id = k.id ` + WithActivity + again
}

// ErrPosition reports a position of another sort.
var ErrPosition = fault.New(fault.Invalid, "INVALID_CURSOR", "the cursor does not belong to this list")

// seek adds the condition that the page begins after q.After.
func (s *statement) seek(db *sqldb.DB, o order, q Query) error {
	if q.After == nil {
		return nil
	}
	than := " < "
	if q.Asc {
		than = " > "
	}
	if q.After.Value == nil {
		if !o.nullable {
			return ErrPosition
		}
		s.conditions.WriteString(` AND ` + o.column + ` IS NULL AND c.id` + than + s.arg(q.After.ID))
		return nil
	}
	value, err := o.parse(*q.After.Value)
	if err != nil {
		return ErrPosition.Because(err)
	}
	if o.column == byID {
		s.conditions.WriteString(` AND c.id` + than + s.arg(q.After.ID))
		return nil
	}
	after := s.arg(value)
	if o.words {
		after = db.SortText(db.Param(len(s.args), "TEXT"))
	}
	s.conditions.WriteString(` AND ((` + o.column + `, c.id)` + than + `(` + after + `, ` + s.arg(q.After.ID) + `)`)
	if o.nullable {
		s.conditions.WriteString(` OR ` + o.column + ` IS NULL`)
	}
	s.conditions.WriteString(`)`)
	return nil
}

// Matching returns up to limit contacts of a selector with ids after the given one, in the
// order of ids. Fewer than limit means that there are no more. A caller that goes through
// all pages stores only the last id, and sees each contact once, even if earlier ones
// change or are deleted.
func Matching(ctx context.Context, db *sqldb.DB, tenant id.Tenant, q Selector, after id.Contact, limit int) ([]id.Contact, error) {
	s, err := newStatement(db, tenant, q, nil)
	if err != nil {
		return nil, err
	}
	var list []id.Contact
	err = db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		rows, err := db.Query(ctx, `
			SELECT c.id FROM contact c `+s.joins.String()+`
			WHERE c.tenant_id = $1 AND c.id > `+s.arg(after)+s.conditions.String()+`
			ORDER BY c.id LIMIT `+s.arg(limit), s.args...)
		list, err = sqldb.Collect(rows, err, func(row func(...any) error) (id.Contact, error) {
			var c id.Contact
			err := row(&c)
			return c, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find matching contacts: %w", err)
	}
	return list, nil
}
