package contact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// TakenBack is what became of a Replaced.
type TakenBack struct {
	Contact  id.Contact
	Restored bool   // something of it
	Kept     []Kept // why the rest is not
	Verdict  Verdict
}

// Verdict is what is known of a contact once the last of several Replaced has been taken back: it is for those before,
// since then the contact differs from what they left.
type Verdict struct {
	Changed []string `json:"f,omitempty"` // fields that somebody changed
	Claim   Kept     `json:"k,omitempty"` // what happened with the contact; empty: nothing
}

// TakeBack gives contacts their former values back, where they still have those by which these were replaced. The
// journal ended at pos when they were replaced, at the time at.
//
// It never gives a contact more mail: a worse status, do_not_contact and subscriptions that were turned off stay. A
// contact that was pending becomes so again only if nothing happened with it since. Changes of a contact are taken back
// from the last to the first, with the verdicts of the last ones.
func TakeBack(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Replaced, verdicts map[id.Contact]Verdict, pos int64, at time.Time, r Rules, now time.Time) ([]TakenBack, error) {
	if len(list) == 0 {
		return nil, nil
	}
	t := &takingBack{tenant: tenant, verdicts: verdicts, rules: r, now: micros(now), at: at, current: map[id.Contact]*Contact{}, results: make([]TakenBack, len(list))}
	err := t.run(ctx, tx, list, pos)
	if err != nil {
		return nil, fmt.Errorf("take back changes of contacts: %w", err)
	}
	return t.results, nil
}

// takingBack is the state of a TakeBack.
type takingBack struct {
	tenant   id.Tenant
	rules    Rules
	now, at  time.Time
	current  map[id.Contact]*Contact // as they are, by id
	seen     seen
	verdicts map[id.Contact]Verdict
	fields   field.Catalog
	stages   []Stage
	holders  map[string]id.Contact // of external ids
	results  []TakenBack
}

func (t *takingBack) run(ctx context.Context, tx *sqldb.DB, list []Replaced, pos int64) error {
	if err := t.load(ctx, tx, list, pos); err != nil {
		return err
	}
	var drafts []Draft
	var of []int // the results of drafts
	steps := map[id.Contact]step{}
	for i, r := range list {
		t.results[i].Contact = r.Contact
		c := t.current[r.Contact]
		if c == nil || c.AnonymizedAt != nil {
			t.keep(i, KeptAnonymized)
			continue
		}
		if r.Refused {
			t.keep(i, KeptRefusal)
		}
		t.results[i].Verdict = t.verdict(c, r)
		if ch := t.profile(i, c, r); ch != nil {
			drafts, of = append(drafts, Draft{ID: c.ID, Change: *ch}), append(of, i)
		}
		if s := t.consent(i, c, r); s != nil {
			steps[c.ID] = s
		}
	}
	outcomes, err := SaveAll(ctx, tx, t.tenant, drafts, t.rules, t.now)
	if err != nil {
		return err
	}
	saved := map[int]Contact{}
	for i, o := range outcomes {
		if o.Err != nil {
			t.keep(of[i], KeptInvalid)
			continue
		}
		t.results[of[i]].Restored = t.results[of[i]].Restored || o.Changed
		saved[of[i]] = o.Contact
	}
	if err := t.applySteps(ctx, tx, steps); err != nil {
		return err
	}
	return t.restoreScores(ctx, tx, list, saved)
}

// load locks the contacts, and reads what the former values are checked by.
func (t *takingBack) load(ctx context.Context, tx *sqldb.DB, list []Replaced, pos int64) (err error) {
	ids := make([]id.Contact, len(list))
	var pending []id.Contact
	var keys []string
	for i, r := range list {
		ids[i] = r.Contact
		if _, was := r.Values[statusField]; was || r.Again {
			pending = append(pending, r.Contact)
		}
		if key, ok := r.Values[string(ExternalID)].Was.(string); ok {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(ids, id.Compare)
	if t.seen, err = lockSeen(ctx, tx, t.tenant, ids, pending, t.at, pos); err != nil {
		return err
	}
	for i := range t.seen.list {
		t.current[t.seen.list[i].ID] = &t.seen.list[i]
	}
	if t.fields, err = field.Load(ctx, tx, t.tenant); err != nil {
		return err
	}
	if t.stages, err = Stages(ctx, tx, t.tenant); err != nil {
		return err
	}
	t.holders = map[string]id.Contact{}
	if len(keys) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `SELECT external_id, id FROM contact WHERE tenant_id = $1 AND external_id`+tx.In(2), t.tenant, sqldb.List(tx, keys))
	return sqldb.Each(rows, err, func(scan func(...any) error) error {
		var key string
		var c id.Contact
		err := scan(&key, &c)
		t.holders[key] = c
		return err
	})
}

// keep notes a reason for a contact, once.
func (t *takingBack) keep(i int, why Kept) {
	if !slices.Contains(t.results[i].Kept, why) {
		t.results[i].Kept = append(t.results[i].Kept, why)
	}
}

// still reports whether a field has the value that replaced the former one, and notes if it has not.
func (t *takingBack) still(i int, c *Contact, name string, v Former) bool {
	known := &t.results[i].Verdict
	if slices.Contains(known.Changed, name) {
		return false
	}
	if hashValue(c.traced(name)) == v.Now {
		return true
	}
	known.Changed = append(slices.Clip(known.Changed), name)
	t.keep(i, KeptChanged)
	return false
}

// verdict returns what is known of a contact before its change is taken back.
func (t *takingBack) verdict(c *Contact, r Replaced) Verdict {
	if v, later := t.verdicts[c.ID]; later {
		return v
	}
	return Verdict{Claim: t.seen.claim(c, r.Revision, t.at)}
}

// profile returns the change that gives a contact its former fields and tags back, nil if there is nothing to change.
func (t *takingBack) profile(i int, c *Contact, r Replaced) *Change {
	ch := &Change{Texts: map[Text]*string{}, CustomFields: map[string]any{}, Status: Pending} // it confirms no contact
	for _, name := range slices.Sorted(maps.Keys(r.Values)) {
		v := r.Values[name]
		if isConsent(name) || !t.still(i, c, name, v) {
			continue
		}
		if !t.valid(c, name, v.Was) {
			t.keep(i, KeptInvalid)
			continue
		}
		ch.setFormer(name, v.Was)
	}
	for _, tag := range r.Tags {
		if slices.Contains(c.Tags, tag) {
			ch.RemoveTags = append(ch.RemoveTags, tag)
		}
	}
	if len(ch.Texts)+len(ch.CustomFields)+len(ch.RemoveTags) == 0 && ch.Stage == nil && ch.DoNotContact == nil {
		return nil
	}
	if _, full := ch.Texts[FullName]; full { // first and last name do not follow from it here
		for _, part := range []Text{FirstName, LastName} {
			if _, given := ch.Texts[part]; !given {
				ch.Texts[part] = *c.text(part)
			}
		}
	}
	return ch
}

// isConsent reports whether a field is changed by a step (takingBack.consent).
func isConsent(name string) bool {
	return name == statusField || strings.HasPrefix(name, typeField) || strings.HasPrefix(name, categoryField)
}

// setFormer adds a former value to a change.
func (ch *Change) setFormer(name string, was any) {
	text, _ := was.(string)
	if t, ok := ParseText(name); ok {
		ch.Texts[t] = nil
		if was != nil {
			ch.Texts[t] = &text
		}
		return
	}
	switch name {
	case stageField:
		ch.Stage = &text
	case blockedField:
		ch.DoNotContact = new(true) // the only change of it that is taken back
	default:
		ch.CustomFields[strings.TrimPrefix(name, customField)] = was
	}
}

// valid reports whether a former value can be stored today.
func (t *takingBack) valid(c *Contact, name string, was any) bool {
	text, _ := was.(string)
	if key, custom := strings.CutPrefix(name, customField); custom {
		_, err := t.fields.Check(map[string]any{key: was})
		return err == nil
	}
	switch {
	case was == nil || name == blockedField:
		return true
	case name == stageField:
		return slices.ContainsFunc(t.stages, func(s Stage) bool { return s.ID.String() == text })
	case name == string(ExternalID):
		holder, taken := t.holders[text]
		return !taken || holder == c.ID
	}
	return Text(name).Refusal(text) == ""
}

// consent returns the step that gives a contact its former subscriptions back, of those that were turned on, and
// leaves it unconfirmed if it was; nil if there is nothing to change.
func (t *takingBack) consent(i int, c *Contact, r Replaced) step {
	var off []string
	pending := false
	for _, name := range slices.Sorted(maps.Keys(r.Values)) {
		if !isConsent(name) || !t.still(i, c, name, r.Values[name]) {
			continue
		}
		if name != statusField {
			off = append(off, name)
			continue
		}
		if why := t.results[i].Verdict.Claim; why != "" {
			t.keep(i, why)
			continue
		}
		pending = true
	}
	if len(off) == 0 && !pending {
		return nil
	}
	t.results[i].Restored = true
	return func(c *Contact) ([]effect, *fault.Error) {
		var changes []subscriptionChange
		for _, name := range off {
			if key, ok := strings.CutPrefix(name, typeField); ok {
				delete(c.Subscriptions, key)
				changes = append(changes, subscriptionChange{TypeKey: key})
				continue
			}
			category, _ := id.Parse[id.Category](strings.TrimPrefix(name, categoryField))
			delete(c.CategorySubscriptions, category)
			changes = append(changes, subscriptionChange{Category: category})
		}
		effects := subscriptionEffects(changes)
		if pending {
			c.Status = Pending
			effects = append(effects, effect{what: journal.ContactUpdated, data: updatedFields(statusField)})
		}
		return effects, nil
	}
}

func (t *takingBack) applySteps(ctx context.Context, tx *sqldb.DB, steps map[id.Contact]step) error {
	if len(steps) == 0 {
		return nil
	}
	ids := slices.SortedFunc(maps.Keys(steps), id.Compare)
	_, _, err := applyStep(ctx, tx, t.tenant, ids, t.now, func(c *Contact) ([]effect, *fault.Error) { return steps[c.ID](c) })
	return err
}

// restoreScores gives contacts the scores back that they lost with a stage that they do not have any more. Scores that
// they have got since stay, though a move to another stage resets them.
func (t *takingBack) restoreScores(ctx context.Context, tx *sqldb.DB, list []Replaced, saved map[int]Contact) error {
	var scores []Scored
	var entries []journal.Entry
	for i, r := range list {
		c := t.current[r.Contact]
		if c == nil || c.AnonymizedAt != nil {
			continue
		}
		now, changed := saved[i]
		if !changed {
			now = *c
		}
		want := [2]float64{c.ProspectScore, c.CustomerScore}
		if want == [2]float64{} && r.Scores != nil && now.Stage == r.Stage {
			want = *r.Scores
			t.results[i].Restored = true
		}
		if want == [2]float64{now.ProspectScore, now.CustomerScore} {
			continue
		}
		scores = append(scores, Scored{Contact: c.ID, Prospect: want[0], Customer: want[1]})
		for _, lost := range scoreResets(want[0], want[1]) {
			back := scoreReset{Score: lost.Score, To: lost.From}
			entries = append(entries, journal.Entry{Tenant: t.tenant, Type: journal.ScoreChanged, Contact: c.ID, At: t.now, Data: back})
		}
	}
	if err := SaveScores(ctx, tx, t.tenant, scores, t.now); err != nil {
		return err
	}
	return journal.Append(ctx, tx, entries...)
}
