package trigger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// moved is the data of an entry about a contact that entered or left a segment.
type moved struct {
	Segment id.Segment `json:"segment_id"`
	Holder  id.Holder  `json:"holder_id,omitzero"` // for this holder only: the contact was inside before
}

// watcher is a holder that follows a segment.
type watcher struct {
	segment id.Segment
	holder  id.Holder
}

// watchers returns which holders of a tenant follow which segments, and since when.
func watchers(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (map[watcher]time.Time, error) {
	rows, err := db.Query(ctx, `SELECT segment_id, holder_id, since FROM segment_watcher WHERE tenant_id = $1`, tenant)
	all := map[watcher]time.Time{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var w watcher
		var since time.Time
		err := scan(&w.segment, &w.holder, sqldb.ToTime(&since))
		all[w] = since
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what follows segments: %w", err)
	}
	return all, nil
}

// Follower keeps the members of watched segments up to date: of each contact that an entry is about it
// evaluates the rules that the entry may affect, and appends SegmentEntered and SegmentLeft for what
// changed. It also keeps up to date when triggers by date fire.
func Follower(now func() time.Time) journal.Follower {
	return journal.Follower{
		Name: "trigger",
		Types: []journal.Type{
			journal.EmailSent, journal.EmailDelivered, journal.EmailDeferred, journal.EmailBounced, journal.BounceApplied, journal.BounceWithdrawn, journal.EmailFailed,
			journal.EmailOpened, journal.EmailClicked, journal.EmailComplained, journal.EmailUnsubscribed,
			journal.ContactCreated, journal.ContactUpdated, journal.ContactDeleted, journal.ContactRestored, journal.ContactAnonymized,
			journal.TagAdded, journal.TagRemoved, journal.ScoreChanged, journal.SubscriptionChanged, journal.StageChanged,
			journal.ListAdded, journal.ListRemoved, journal.SuppressionAdded, journal.SuppressionRemoved,
			journal.CustomEvent, journal.PageViewed, journal.FormSubmitted, journal.OptInConfirmed,
			journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited,
		},
		Tenants: journal.TenantsWith(`EXISTS (SELECT 1 FROM segment_watch AS w WHERE w.tenant_id = v.tenant_id)
			OR EXISTS (SELECT 1 FROM date_watch AS w WHERE w.tenant_id = v.tenant_id)`),
		Follow: journal.PerTenant(func(ctx context.Context, tx *sqldb.DB, t id.Tenant, entries []journal.Entry) error {
			schema := sync.OnceValues(func() (rule.Schema, error) { return segment.Schema(ctx, tx, t) })
			if err := followDates(ctx, tx, t, entries, schema); err != nil {
				return fmt.Errorf("follow the dates of contacts: %w", err)
			}
			return follow(ctx, tx, t, entries, now())
		}),
	}
}

// state is the state of a watch.
type state string

const (
	filling state = "filling"
	ready   state = "ready"
	ending  state = "ending"
)

// watch is a watched segment.
type watch struct {
	tenant  id.Tenant
	segment id.Segment
	state   state
	passed  id.Contact // while it is filling: up to which contact
	since   time.Time
	passAt  time.Time // when the last pass began
	digest  string
}

const watchColumns = `tenant_id, segment_id, state, passed, since, passed_at, digest`

func scanWatch(scan func(...any) error) (watch, error) {
	var w watch
	err := scan(&w.tenant, &w.segment, sqldb.ToText(&w.state), &w.passed, sqldb.ToTime(&w.since), sqldb.ToTime(&w.passAt), sqldb.ToText(&w.digest))
	return w, err
}

// knows reports whether the watch has recorded whether a contact is inside.
func (w watch) knows(c id.Contact) bool {
	return w.state == ready || w.state == filling && id.Compare(c, w.passed) <= 0
}

func follow(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry, now time.Time) error {
	rows, err := tx.Query(ctx, `SELECT segment_id FROM segment_watch WHERE tenant_id = $1 AND state <> 'ending' ORDER BY segment_id`, tenant)
	watched, err := sqldb.Collect(rows, err, scanSegment)
	if err != nil || len(watched) == 0 {
		return err
	}
	env, err := segment.Env(ctx, tx, tenant, now)
	if err != nil {
		return err
	}
	touched := map[id.Segment][]id.Contact{}
	for _, s := range watched {
		r, ok := env.Segments(s.String())
		if !ok {
			continue
		}
		if list := touching(entries, segment.Tree(r).Inputs(env.Schema)); len(list) > 0 {
			touched[s] = list
		}
	}
	if len(touched) == 0 {
		return nil
	}
	// The lock makes the evaluation see what a pass that is under way commits, and the other way around.
	rows, err = tx.Query(ctx, `SELECT `+watchColumns+` FROM segment_watch WHERE tenant_id = $1 AND segment_id`+tx.In(2)+`
		ORDER BY segment_id`+tx.ForUpdate(), tenant, sqldb.List(tx, slices.Collect(maps.Keys(touched))))
	locked, err := sqldb.Collect(rows, err, scanWatch)
	if err != nil {
		return err
	}
	env.Paged = true
	m := moves{tx: tx, env: env, now: now}
	if err := m.compare(ctx, locked, touched); err != nil {
		return err
	}
	return m.write(ctx)
}

// touching returns the contacts of the entries that may change the result of a rule, each once.
func touching(entries []journal.Entry, in rule.Inputs) []id.Contact {
	seen := map[id.Contact]bool{}
	var list []id.Contact
	for _, e := range entries {
		if !seen[e.Contact] && touches(e, in) {
			seen[e.Contact] = true
			list = append(list, e.Contact)
		}
	}
	return list
}

// touches reports whether an entry may change the result of a rule for its contact.
func touches(e journal.Entry, in rule.Inputs) bool {
	if in.Sources[rule.FromComputed] {
		return true
	}
	switch e.Type {
	case journal.ContactCreated, journal.ContactDeleted, journal.ContactRestored, journal.ContactAnonymized, journal.OptInConfirmed:
		return true
	case journal.ContactUpdated:
		var d contact.Updated
		if e.Decode(&d) != nil {
			return true
		}
		// A change of address may change whether it is suppressed; the status of a pending contact
		// changes whether it is in any segment.
		return slices.ContainsFunc(d.Fields, func(name string) bool {
			return in.Fields[name] || name == "global_status" || name == "email" && in.Sources[rule.FromSuppressions]
		}) || slices.ContainsFunc(d.CustomFields, func(key string) bool { return in.Fields[customPrefix+key] })
	case journal.TagAdded, journal.TagRemoved:
		return in.Fields["tags"]
	case journal.StageChanged:
		return in.Fields["stage_id"] || in.Sources[rule.FromScores]
	case journal.ScoreChanged:
		return in.Sources[rule.FromScores]
	case journal.SubscriptionChanged, journal.EmailUnsubscribed:
		return in.Sources[rule.FromSubscriptions] || in.Sources[rule.FromMails]
	case journal.ListAdded, journal.ListRemoved:
		return in.Sources[rule.FromLists]
	case journal.SuppressionAdded, journal.SuppressionRemoved:
		return in.Sources[rule.FromSuppressions]
	case journal.CustomEvent:
		return in.Sources[rule.FromEvents] && (in.Events[""] || in.Events[e.Name])
	case journal.PageViewed:
		return in.Sources[rule.FromPages]
	case journal.FormSubmitted:
		return in.Sources[rule.FromForms]
	case journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited:
		return in.Sources[rule.FromSequences]
	case journal.EmailBounced, journal.BounceApplied, journal.BounceWithdrawn, journal.EmailComplained:
		return in.Sources[rule.FromMails] || in.Sources[rule.FromSuppressions]
	}
	return in.Sources[rule.FromMails]
}

// move is a contact that entered or left a segment.
type move struct {
	segment id.Segment
	key     string
	contact id.Contact
	entered bool
}

// moves collects who enters and leaves segments of a tenant, in one transaction.
type moves struct {
	tx   *sqldb.DB
	env  rule.Env
	now  time.Time
	list []move
}

// manyRules is the number of rules from which contacts are loaded once and compared in memory,
// instead of one statement for each rule.
const manyRules = 6

// loadPage is how many contacts are loaded with their history at a time.
const loadPage = 200

// compare compares who is inside segments with what is recorded, for some contacts of each segment.
func (m *moves) compare(ctx context.Context, watches []watch, contacts map[id.Segment][]id.Contact) error {
	inside, all, err := m.recorded(ctx, watches, contacts)
	if err != nil {
		return err
	}
	now, err := m.evaluate(ctx, watches, contacts, all)
	if err != nil {
		return err
	}
	for _, w := range watches {
		r, ok := m.env.Segments(w.segment.String())
		if !ok {
			continue
		}
		for _, c := range contacts[w.segment] {
			p := place{w.segment, c}
			if w.knows(c) && now[p] != inside[p] {
				m.list = append(m.list, move{w.segment, r.Key, c, now[p]})
			}
		}
	}
	return nil
}

// place is a contact and a segment.
type place struct {
	segment id.Segment
	contact id.Contact
}

// recorded returns which of the contacts are recorded as inside, and all contacts.
func (m *moves) recorded(ctx context.Context, watches []watch, contacts map[id.Segment][]id.Contact) (map[place]bool, []id.Contact, error) {
	seen := map[id.Contact]bool{}
	var all []id.Contact
	segments := make([]id.Segment, len(watches))
	for i, w := range watches {
		segments[i] = w.segment
		for _, c := range contacts[w.segment] {
			if !seen[c] {
				seen[c] = true
				all = append(all, c)
			}
		}
	}
	rows, err := m.tx.Query(ctx, `
		SELECT segment_id, contact_id FROM segment_inside WHERE tenant_id = $1 AND contact_id`+m.tx.In(2)+` AND segment_id`+m.tx.In(3),
		m.env.Tenant, sqldb.List(m.tx, all), sqldb.List(m.tx, segments))
	inside := map[place]bool{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var p place
		err := scan(&p.segment, &p.contact)
		inside[p] = true
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the members of watched segments: %w", err)
	}
	return inside, all, nil
}

// evaluate returns which of the contacts are inside by the rules.
func (m *moves) evaluate(ctx context.Context, watches []watch, contacts map[id.Segment][]id.Contact, all []id.Contact) (map[place]bool, error) {
	found := map[place]bool{}
	if len(watches) < manyRules {
		for _, w := range watches {
			r, ok := m.env.Segments(w.segment.String())
			if !ok {
				continue
			}
			cond, err := segment.Inside(m.tx, m.env, r)
			if err != nil {
				return nil, err
			}
			in, err := contact.Among(ctx, m.tx, m.env.Tenant, contacts[w.segment], cond)
			if err != nil {
				return nil, err
			}
			for _, c := range in {
				found[place{w.segment, c}] = true
			}
		}
		return found, nil
	}
	touched := map[place]bool{}
	for _, w := range watches {
		for _, c := range contacts[w.segment] {
			touched[place{w.segment, c}] = true
		}
	}
	for page := range slices.Chunk(all, loadPage) {
		people, err := rule.Load(ctx, m.tx, m.env.Tenant, page)
		if err != nil {
			return nil, err
		}
		for _, w := range watches {
			r, ok := m.env.Segments(w.segment.String())
			for _, who := range people {
				if p := (place{w.segment, who.Contact.ID}); ok && touched[p] && segment.Has(m.env, r, who) {
					found[p] = true
				}
			}
		}
	}
	return found, nil
}

// write records the moves and appends their entries. It is the last statement of a transaction.
func (m *moves) write(ctx context.Context) error {
	if len(m.list) == 0 {
		return nil
	}
	in, out := m.tx.Table("segment_id UUID", "contact_id UUID", "entered_at BIGINT"), m.tx.Table("segment_id UUID", "contact_id UUID")
	entries := make([]journal.Entry, len(m.list))
	for i, v := range m.list {
		e := journal.Entry{Tenant: m.env.Tenant, Type: journal.SegmentLeft, Name: v.key, Contact: v.contact, At: m.now, Data: moved{Segment: v.segment}}
		if v.entered {
			e.Type = journal.SegmentEntered
			in.Add(v.segment, v.contact, sqldb.Micros(m.now))
		} else {
			out.Add(v.segment, v.contact)
		}
		entries[i] = e
	}
	if in.Len() > 0 {
		if err := in.Load(ctx, m.tx, "segment_inside", m.env.Tenant); err != nil {
			return fmt.Errorf("record who entered segments: %w", err)
		}
	}
	if out.Len() > 0 {
		_, err := m.tx.Exec(ctx, `
			DELETE FROM segment_inside WHERE tenant_id = $1 AND (segment_id, contact_id) IN (SELECT v.segment_id, v.contact_id FROM `+out.As("v", 2)+`)`,
			out.Args(m.env.Tenant)...)
		if err != nil {
			return fmt.Errorf("record who left segments: %w", err)
		}
	}
	return journal.Append(ctx, m.tx, entries...)
}
