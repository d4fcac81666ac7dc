package contact

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/people/contactsearch"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// mergeState holds the contacts of a round of a batch, with the drafts applied so far.
type mergeState struct {
	b       *batch
	byID    map[id.Contact]*pending
	byEmail map[string]*pending
	byKey   map[string]id.Contact // by external id
	listed  map[string]bool
	order   []*pending // in the order of their first draft
	mailing *mailing   // before the activities were read
}

// pending is a contact with changes that are not written yet.
type pending struct {
	c               Contact
	isNew           bool            // to be inserted
	stored          Status          // empty: none yet
	parts           map[string]bool // names of what changed
	unshared        bool            // the maps and lists of c are not shared with an Outcome
	before          *Contact        // before the drafts, if it is to be traced what they replace
	activityChanged bool            // its activity must be written
	versionBegan    *time.Time      // of the version that ends; nil: none does
	entries         []journal.Entry
}

// keys are what the contacts of drafts are looked up by.
type keys struct {
	ids        []id.Contact
	emails     []string // also of contacts that are not looked up
	lookedUp   []string
	externalID []string
}

// keysOf returns the keys of drafts, as they are stored. lookUp says whether the address of a draft is looked up.
func keysOf(drafts []Draft, lookUp func(Draft) bool) keys {
	var k keys
	for _, d := range drafts {
		if !d.ID.IsZero() {
			k.ids = append(k.ids, d.ID)
		}
		if email := d.address(); email != nil {
			if addr, err := address.Normalize(*email); err == nil {
				k.emails = append(k.emails, addr)
				if lookUp(d) {
					k.lookedUp = append(k.lookedUp, addr)
				}
			}
		}
		if key := checkText(&fault.Problems{}, ExternalID, d.Change.Texts[ExternalID]); key != nil {
			k.externalID = append(k.externalID, *key)
		}
	}
	return k
}

func everyAddress(Draft) bool { return true }

// loadMergeState reads and locks every contact that the drafts concern, unless that is done.
func (b *batch) loadMergeState(ctx context.Context, tx *sqldb.DB, which []int) (*mergeState, error) {
	p := b.loaded
	b.loaded = nil
	if p == nil {
		p = &mergeState{}
		drafts := make([]Draft, len(which))
		for i, at := range which {
			drafts[i] = b.drafts[at]
		}
		q := tx.Batch()
		p.queue(q, tx, b.tenant, keysOf(drafts, func(d Draft) bool { return !b.expectsNew(d) }), b.rules.Listed)
		if err := q.Run(ctx); err != nil {
			return nil, err
		}
	}
	p.b = b
	return p, nil
}

// queue reads and locks, as part of a batch of tx, the contacts with some ids and addresses, and those that have some
// external ids.
func (p *mergeState) queue(q *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, k keys, listed QueueListed) {
	p.byID, p.byEmail, p.byKey = make(map[id.Contact]*pending, len(k.emails)), make(map[string]*pending, len(k.emails)), map[string]id.Contact{}
	p.mailing = queueMailing(q, tenant)
	p.queueLoad(q, tx, tenant, `c.id`, sqldb.List(tx, k.ids), len(k.ids))
	p.queueLoad(q, tx, tenant, `c.email`, sqldb.List(tx, k.lookedUp), len(k.lookedUp))
	if len(k.externalID) > 0 {
		q.Queue(`SELECT external_id, id FROM contact WHERE tenant_id = $1 AND external_id`+tx.In(2), func(scan func(...any) error) error {
			var key string
			var c id.Contact
			err := scan(&key, &c)
			p.byKey[key] = c
			return err
		}, tenant, sqldb.List(tx, k.externalID))
	}
	if listed != nil && len(k.emails) > 0 {
		p.listed = listed(q, tx, tenant, k.emails)
	}
}

// queueLoad reads and locks contacts as part of a batch of tx.
func (p *mergeState) queueLoad(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, column string, list any, n int) {
	if n == 0 {
		return
	}
	reader := newReader()
	b.Queue(`
		SELECT `+contactSelect+` FROM `+contactSource+`
		WHERE c.tenant_id = $1 AND `+column+tx.In(2)+` ORDER BY `+column+forUpdateOfContact(tx), func(scan func(...any) error) error {
		c, err := reader.read(scan)
		if err == nil && p.byID[c.ID] == nil {
			p.track(&pending{c: c, stored: c.Status})
		}
		return err
	}, tenant, list)
}

func (p *mergeState) track(one *pending) {
	p.byID[one.c.ID], p.byEmail[one.c.Email] = one, one
	if k := one.c.ExternalID; k != nil {
		p.byKey[*k] = one.c.ID
	}
	p.order = append(p.order, one)
}

// find returns the contact of a draft, or nil.
func (p *mergeState) find(c id.Contact, email string) *pending {
	if !c.IsZero() {
		return p.byID[c]
	}
	return p.byEmail[email]
}

// keyTaken reports whether another contact than c has the external id of ch.
func (p *mergeState) keyTaken(c id.Contact, ch checked) bool {
	k := ch.texts[ExternalID]
	if k == nil {
		return false
	}
	holder, taken := p.byKey[*k]
	return taken && holder != c
}

// create adds a new contact.
func (p *mergeState) create(ch checked, by id.Author) Outcome {
	b := p.b
	c := Contact{
		ID: id.Made[id.Contact](b.now), Tenant: b.tenant, Email: ch.email, EmailDomain: address.Domain(ch.email),
		CustomFields: map[string]any{}, Tags: []string{},
		Subscriptions: map[string]bool{}, CategorySubscriptions: map[id.Category]bool{},
		Status: Active, CreatedAt: b.now, UpdatedAt: b.now, Revision: 1, RevisedBy: by, Version: 1, VersionAt: b.now,
	}
	if p.keyTaken(c.ID, ch) {
		return Outcome{Err: ErrDuplicateExternalID}
	}
	one := &pending{c: c, isNew: true, unshared: true}
	if err := p.begin(one, ch); err != nil {
		return Outcome{Err: err}
	}
	p.track(one)
	return Outcome{Contact: one.c, Created: true, Changed: true, Stopped: one.c.Status != Active && !ch.unverified}
}

// begin applies a change to an empty contact.
func (p *mergeState) begin(one *pending, ch checked) error {
	b, c := p.b, &one.c
	done, err := c.apply(ch)
	if err != nil {
		return err
	}
	if c.Source == nil && ch.sourceIfNew != "" {
		c.Source = &ch.sourceIfNew
	}
	if !ch.unverified {
		for _, s := range []*id.Stage{ch.stage, ch.stageIfNew} {
			if s != nil && !s.IsZero() && c.Stage.IsZero() {
				c.Stage = *s
			}
		}
	}
	switch {
	case ch.pending():
		c.Status = Pending // it gets its stage when it is activated
	case c.Stage.IsZero():
		c.Stage = defaultStage(*b.settings.stages)
	}
	if ch.status == Suppressed {
		c.Status = Unsubscribed // what it was before is unknown, and Restore must not make up consent
	}
	effects, _ := c.adopt(ch.status, b.now)
	c.listed = p.listed[c.Email]
	c.evaluate(c.Status, b.now)
	one.log(b, journal.ContactCreated, "", nil)
	for _, t := range done.subscriptions {
		one.log(b, journal.SubscriptionChanged, "", t)
	}
	one.logEffects(b, effects)
	return nil
}

// merge applies a draft to an existing contact.
func (p *mergeState) merge(one *pending, ch checked, by id.Author) Outcome {
	b := p.b
	emailChanges := ch.email != "" && ch.email != one.c.Email
	if emailChanges {
		if other := p.byEmail[ch.email]; other != nil {
			return Outcome{Err: ErrDuplicateEmail.With(existing{other.c.ID, other.c.Status})}
		}
	}
	if p.keyTaken(one.c.ID, ch) {
		return Outcome{Err: ErrDuplicateExternalID}
	}
	one.unshare()
	key := one.c.ExternalID
	done, err := one.c.apply(ch)
	if err != nil {
		return Outcome{Err: err}
	}
	parts := done.parts
	if emailChanges {
		delete(p.byEmail, one.c.Email)
		one.c.Email, one.c.EmailDomain = ch.email, address.Domain(ch.email)
		if on := p.listed[ch.email]; on != one.c.listed {
			one.c.listed, one.activityChanged = on, true
		}
		p.byEmail[ch.email] = one
		parts = append(parts, "email")
	}
	if !equalText(key, one.c.ExternalID) {
		if key != nil {
			delete(p.byKey, *key)
		}
		if one.c.ExternalID != nil {
			p.byKey[*one.c.ExternalID] = one.c.ID
		}
	}
	if one.c.Status == Pending && !ch.pending() && ch.status.rank() <= Active.rank() {
		one.c.Status = Active
		parts = append(parts, "global_status")
		if one.c.Stage.IsZero() && (ch.stage == nil || ch.stage.IsZero()) {
			ch.stage = new(defaultStage(*b.settings.stages))
		}
	}
	before := one.c.Status
	effects, adopted := one.c.adopt(ch.status, b.now)
	if adopted && !slices.Contains(parts, "global_status") {
		parts = append(parts, "global_status")
	}
	if ch.stage != nil && *ch.stage != one.c.Stage {
		one.log(b, journal.StageChanged, "", map[string]any{"from": sqldb.Null(one.c.Stage), "to": sqldb.Null(*ch.stage)})
		for _, r := range one.c.moveTo(*ch.stage, *b.settings.stages, b.now) {
			one.log(b, journal.ScoreChanged, "", r)
		}
		parts = append(parts, "stage_id")
	}
	if len(parts) == 0 {
		return Outcome{Contact: one.c}
	}
	one.c.UpdatedAt, one.c.RevisedBy = b.now, by
	one.c.Revision++
	one.addParts(parts)
	if !one.isNew && one.versionBegan == nil && slices.ContainsFunc(parts, inVersions) {
		one.versionBegan = new(one.c.VersionAt)
		one.c.Version, one.c.VersionAt = one.c.Version+1, b.now
	}
	if one.c.evaluate(one.c.Status, b.now) {
		one.activityChanged = true
	}
	for _, t := range done.subscriptions {
		one.log(b, journal.SubscriptionChanged, "", t)
	}
	for _, t := range done.tagged {
		one.log(b, journal.TagAdded, t, nil)
	}
	for _, t := range done.untagged {
		one.log(b, journal.TagRemoved, t, nil)
	}
	one.log(b, journal.ContactUpdated, "", Updated{Fields: parts, CustomFields: done.customFields})
	one.logEffects(b, effects)
	return Outcome{Contact: one.c, Changed: true, Stopped: one.c.Status != before}
}

// pending reports whether the change leaves a contact unconfirmed.
func (c checked) pending() bool { return c.unverified || c.status == Pending }

func (o *pending) log(b *batch, t journal.Type, name string, data any) {
	o.entries = append(o.entries, journal.Entry{Tenant: b.tenant, Type: t, Name: name, Contact: o.c.ID, At: b.now, Data: data})
}

func (o *pending) logEffects(b *batch, list []effect) {
	for _, e := range list {
		o.log(b, e.what, "", e.data)
	}
}

// unshare copies the contact's maps and lists before they change, since an Outcome may
// share them.
func (o *pending) unshare() {
	if !o.unshared {
		o.c, o.unshared = o.copy(), true
	}
}

// copy returns the contact with maps and lists that later drafts do not change.
func (o *pending) copy() Contact {
	c := o.c
	c.CustomFields, c.Tags = maps.Clone(c.CustomFields), slices.Clone(c.Tags)
	c.Subscriptions, c.CategorySubscriptions = maps.Clone(c.Subscriptions), maps.Clone(c.CategorySubscriptions)
	return c
}

// save writes all contacts, and returns those that were not inserted because another
// transaction took their address or external id. If last, nothing else is to be done in the transaction: save fails
// if a key was taken, and commits.
func (p *mergeState) save(ctx context.Context, tx *sqldb.DB, last bool) (taken map[id.Contact]bool, err error) {
	var created, changed, reevaluated []*pending
	for _, one := range p.order {
		switch {
		case one.isNew:
			created = append(created, one)
		case len(one.parts) > 0:
			changed = append(changed, one)
			if one.activityChanged {
				reevaluated = append(reevaluated, one)
			}
		}
	}
	// All batches insert in the same order, so that two of them cannot deadlock.
	slices.SortFunc(created, func(a, b *pending) int { return strings.Compare(a.c.Email, b.c.Email) })
	q := tx.Batch()
	taken, err = p.insert(ctx, q, tx, created, last)
	if err != nil {
		return nil, err
	}
	if err := p.queueVersions(ctx, q, tx, changed); err != nil {
		return nil, err
	}
	if err := p.queueUpdate(q, tx, changed); err != nil {
		return nil, err
	}
	if len(reevaluated) > 0 {
		q.Call(func(ctx context.Context) error { return p.saveActivities(ctx, tx, reevaluated) })
	}
	var entries []journal.Entry
	var written []id.Contact
	var moved ByStatus
	for _, one := range p.order {
		if taken[one.c.ID] {
			continue
		}
		entries = append(entries, one.entries...)
		if one.isNew || len(one.parts) > 0 {
			written = append(written, one.c.ID)
			moved.move(one.stored, one.c.Status)
		}
	}
	contactlog.QueueContacts(q, p.b.tenant, written)
	if err := journal.QueueEntries(q, tx, entries...); err != nil {
		return nil, err
	}
	queueCounts(q, tx, p.b.tenant, moved)
	if last {
		return taken, q.Commit(ctx)
	}
	return taken, q.Run(ctx)
}

// insert inserts contacts, and adds to a batch of tx what depends on which of them were
// inserted. It returns those that were not. If their keys must be free, inserting them is part of the batch.
func (p *mergeState) insert(ctx context.Context, q *sqldb.Batch, tx *sqldb.DB, created []*pending, free bool) (map[id.Contact]bool, error) {
	if len(created) == 0 {
		return nil, nil
	}
	t := tx.Table(storedColumns...)
	t.Grow(len(created))
	texts := make([]contactsearch.Entry, len(created))
	for i, one := range created {
		texts[i] = contactsearch.Entry{Contact: one.c.ID, Text: one.c.searchText()}
		if err := one.c.add(t, texts[i].Text); err != nil {
			return nil, err
		}
	}
	taken := map[id.Contact]bool{}
	done := slices.Repeat([]bool{true}, len(created))
	var err error
	switch {
	case free:
		t.QueueNew(q, tx, "contact", p.b.tenant)
	case p.b.load:
		err = t.Load(ctx, tx, "contact", p.b.tenant)
	default:
		done, err = t.Insert(ctx, tx, "contact", p.b.tenant)
	}
	if err != nil {
		return nil, err
	}
	activities := tx.Table(append([]string{"contact_id UUID"}, activityColumnTypes...)...)
	for i, one := range created {
		if !done[i] {
			taken[one.c.ID] = true
			continue
		}
		if one.c.Activity != newActivity(one.c.CreatedAt) {
			activities.Add(append([]any{one.c.ID}, one.c.Activity.values()...)...)
		}
	}
	activities.QueueInsert(q, tx, "contact_activity", p.b.tenant)
	texts = slices.DeleteFunc(texts, func(w contactsearch.Entry) bool { return taken[w.Contact] })
	contactsearch.QueueNewEntries(q, tx, p.b.tenant, texts)
	return taken, nil
}

// queueUpdate writes, as part of a batch of tx, the columns that changed in any of the
// contacts, and no others, since each column may need an index to be updated.
func (p *mergeState) queueUpdate(q *sqldb.Batch, tx *sqldb.DB, changed []*pending) error {
	t := tx.Table(storedColumns...)
	t.Grow(len(changed))
	columns := map[string]bool{"id": true, "updated_at": true, "revision": true, "revised_by": true, "version": true, "version_at": true}
	var texts []contactsearch.Entry
	for _, one := range changed {
		text := one.c.searchText()
		if err := one.c.add(t, text); err != nil {
			return err
		}
		textChanged := false
		for part := range one.parts {
			for _, column := range columnsOf(part) {
				columns[column] = true
				textChanged = textChanged || column == "search_text"
			}
		}
		if textChanged {
			texts = append(texts, contactsearch.Entry{Contact: one.c.ID, Text: text})
		}
	}
	t.Only(func(column string) bool { return columns[column] }).QueueUpdate(q, "contact", p.b.tenant)
	contactsearch.QueueEntries(q, tx, p.b.tenant, texts)
	return nil
}

// saveActivities evaluates and writes the deliverability of contacts whose status or
// address changed.
func (p *mergeState) saveActivities(ctx context.Context, tx *sqldb.DB, reevaluated []*pending) error {
	if len(reevaluated) == 0 {
		return nil
	}
	ids := make([]id.Contact, len(reevaluated))
	for i, one := range reevaluated {
		ids[i] = one.c.ID
	}
	list, err := lockDeliveryStates(ctx, tx, p.b.tenant, ids)
	if err != nil {
		return err
	}
	changed := make([]savedActivity, len(list))
	for i, s := range list {
		one := p.byID[s.contact]
		s.listed = one.c.listed
		s.evaluate(one.c.Status, p.b.now)
		one.c.Activity = s.Activity
		changed[i] = savedActivity{s.contact, &one.c.Activity}
	}
	return saveActivities(ctx, tx, p.b.tenant, changed)
}

// Updated is the data of a journal entry about a changed contact.
type Updated struct {
	Fields       []string `json:"fields"`                  // names of what changed
	CustomFields []string `json:"custom_fields,omitempty"` // keys of the custom fields that changed
}

// addParts adds to the changed parts of the contact.
func (o *pending) addParts(parts []string) {
	if o.parts == nil {
		o.parts = make(map[string]bool, len(parts))
	}
	for _, part := range parts {
		o.parts[part] = true
	}
}

// columnsOf returns the columns that store a part of a contact.
func columnsOf(part string) []string {
	switch part {
	case "email":
		return []string{"email", "email_domain", "search_text"}
	case string(FirstName), string(LastName), string(FullName), string(Company):
		return []string{part, "search_text"}
	case "subscriptions":
		return []string{"subscriptions", "category_subscriptions"}
	case "global_status":
		return []string{"global_status", "status_before_suppress", "suppressed_at", "unsubscribed_at", "withdrawn"}
	case "stage_id":
		return []string{"stage_id", "prospect_score", "customer_score", "score_updated_at"}
	}
	return []string{part}
}
