package transfer_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/recount"
)

// picture is what an undo may change of a contact, each part as text.
type picture struct {
	revision int64
	events   int
	values   map[string]string // texts, custom fields, the stage; subscriptions that are on
	tags     []string
	lists    []string
	off      []string // subscriptions that are off
	status   contact.Status
	blocked  bool
	scores   [2]float64
	gone     bool // withdrawn
}

// world is an account whose contacts change at random.
type world struct {
	*fixture
	r      *rand.Rand
	lists  []segment.Segment
	events map[id.Contact]int
	ids    map[string]id.Contact
}

const people = 30 // addresses that files may have

func address(i int) string { return fmt.Sprintf("p%d@example.org", i) }

// pictures returns the pictures of all contacts.
func (w *world) pictures() map[string]picture {
	w.Helper()
	all := map[string]picture{}
	for i := range people {
		c, err := contact.ByEmail(w.Context(), w.db, w.tenant, address(i))
		if err != nil {
			continue
		}
		w.ids[address(i)] = c.ID
		p := picture{revision: c.Revision, events: w.events[c.ID], values: map[string]string{}, tags: c.Tags, status: c.Status, blocked: c.DoNotContact,
			scores: [2]float64{c.ProspectScore, c.CustomerScore}, gone: c.Withdrawn}
		for _, t := range contact.Texts() {
			if v, _ := c.Value(string(t)); v != nil {
				p.values[string(t)] = fmt.Sprint(*v.(*string))
			}
		}
		for key, v := range c.CustomFields {
			p.values["custom_fields."+key] = fmt.Sprint(v)
		}
		if !c.Stage.IsZero() {
			p.values["stage_id"] = c.Stage.String()
		}
		for key, on := range c.Subscriptions {
			if on {
				p.values["subscriptions."+key] = "on"
			} else {
				p.off = append(p.off, key)
			}
		}
		slices.Sort(p.off)
		lists, err := segment.Memberships(w.Context(), w.db, w.tenant, c.ID)
		w.ok(err)
		for _, m := range lists {
			p.lists = append(p.lists, fmt.Sprintf("%s %d", m.Segment.Key, m.AddedAt.UnixMicro()))
		}
		all[address(i)] = p
	}
	return all
}

// pick returns one of some texts.
func (w *world) pick(texts ...string) string { return texts[w.r.IntN(len(texts))] }

// change is a random change of a contact.
func (w *world) change() contact.Change {
	ch := contact.Change{Texts: map[contact.Text]*string{}, CustomFields: map[string]any{}}
	for range 1 + w.r.IntN(3) {
		switch w.r.IntN(8) {
		case 0:
			ch.Texts[contact.City] = new(w.pick("", "Bonn", "Rome", "Oslo"))
		case 1:
			ch.Texts[contact.FullName] = new(w.pick("", "Ann Lee", "Bob Ray"))
		case 2:
			ch.Texts[contact.FirstName] = new(w.pick("", "Ann", "Bob"))
		case 3:
			ch.CustomFields["plan"] = w.pick("free", "pro", "max")
		case 4:
			ch.CustomFields["seats"] = float64(w.r.IntN(3))
		case 5:
			ch.Tags = &[]string{w.pick("a", "b", "c")}
		case 6:
			ch.RemoveTags = []string{w.pick("a", "b", "c")}
		case 7:
			ch.Subscriptions = map[string]*bool{"offers": new(w.r.IntN(2) == 0)}
		}
	}
	return ch
}

// file is a random file. Its thousands of columns make it several steps of an import.
func (w *world) file() string {
	var b strings.Builder
	padding := strings.Repeat(",", 3900)
	blocked := w.pick("yes", "no") // of both, the refusal stays
	b.WriteString("email,city,full_name,plan,seats,tags,status,do_not_contact,subscriptions.offers,stage_id" + padding + "\n")
	for range 40 + w.r.IntN(40) {
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s%s\n", address(w.r.IntN(people)), w.pick("", "Bonn", "Rome", "Oslo"), w.pick("", "", "Ann Lee", "Bob Ray", "Cher"),
			w.pick("", "free", "pro", "max"), w.pick("", "1", "2"), w.pick("", "a", "b", "d"), w.pick("", "", "", "", "", "", "", "unsubscribed", "bounced", "pending"),
			w.pick("", "", blocked), w.pick("", "", "", "yes", "no"), w.pick("", "", "lead", "customer"), padding)
	}
	return b.String()
}

// disturb changes some contacts at random, as others do.
func (w *world) disturb() {
	w.Helper()
	for i := range people {
		c, err := contact.ByEmail(w.Context(), w.db, w.tenant, address(i))
		if err != nil || c.Withdrawn || w.r.IntN(3) > 0 {
			continue
		}
		switch w.r.IntN(4) {
		case 0:
			w.happens(journal.CustomEvent, c.Email)
			w.events[c.ID]++
		case 1:
			l := w.lists[w.r.IntN(len(w.lists))]
			_, err = segment.Add(w.Context(), w.db, w.tenant, l.ID, segment.People{IDs: []id.Contact{c.ID}}, w.now)
			w.ok(err)
		default:
			w.edit(c.Email, w.change())
		}
	}
	w.now = w.now.Add(time.Minute)
}

// importRandom imports a random file, and returns the job with the pictures before and after it.
func (w *world) importRandom() (j job.Job, before, after map[string]picture) {
	w.Helper()
	before = w.pictures()
	o := transfer.Options{Mode: transfer.Mode(w.pick("", "create", "update"))}
	if w.r.IntN(2) == 0 {
		o.SegmentKey = w.lists[0].Key
	}
	if j = w.load(w.file(), o); j.Status != job.Completed {
		w.Fatalf("the import is %s: %v", j.Status, j.Error)
	}
	return j, before, w.pictures()
}

// expected returns what a contact must be after the undo of an import: as before, except for what is not as the import
// left it, and for refusals.
func expected(before, after, since picture, existed bool) picture {
	touched := since.revision != after.revision || since.events != after.events || !slices.Equal(since.lists, after.lists)
	want := since
	if !existed || before.gone && !after.gone {
		if !touched && since.status != contact.Suppressed {
			want.gone, want.status = true, contact.Suppressed
			want.lists = nil
		}
		return want
	}
	want.values = maps.Clone(since.values)
	for _, name := range slices.Concat(slices.Collect(maps.Keys(before.values)), slices.Collect(maps.Keys(after.values))) {
		was, had := before.values[name]
		if was == after.values[name] || since.values[name] != after.values[name] {
			continue
		}
		if strings.HasPrefix(name, "subscriptions.") && after.values[name] == "" {
			continue // the import turned it off
		}
		if want.values[name] = was; !had {
			delete(want.values, name)
		}
	}
	if before.scores != after.scores && since.scores == [2]float64{} && want.values["stage_id"] == before.values["stage_id"] {
		want.scores = before.scores
	}
	want.tags = slices.DeleteFunc(slices.Clone(since.tags), func(tag string) bool {
		return slices.Contains(after.tags, tag) && !slices.Contains(before.tags, tag)
	})
	want.lists = slices.DeleteFunc(slices.Clone(since.lists), func(l string) bool {
		return slices.Contains(after.lists, l) && !slices.Contains(before.lists, l)
	})
	if before.blocked && !after.blocked {
		want.blocked = true
	}
	if before.status == contact.Pending && after.status == contact.Active && !touched {
		want.status = contact.Pending
	}
	return want
}

// undoAndCompare undoes an import, interrupted again and again, and compares all contacts.
func (w *world) undoAndCompare(j job.Job, before, after map[string]picture) {
	w.Helper()
	since := w.pictures()
	undo, err := w.startUndo(j)
	if err != nil {
		if len(after) > len(before) {
			w.Fatalf("the undo of an import that created contacts: %v", err)
		}
		return // it changed nothing
	}
	w.undone(undo)
	for email, got := range w.pictures() {
		_, existed := before[email]
		want := expected(before[email], after[email], since[email], existed)
		want.revision, want.events = got.revision, got.events
		if text, wanted := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); text != wanted {
			w.Errorf("%s:\nbefore %+v\nafter  %+v\nsince  %+v\nundone %s\nwant   %s", email, before[email], after[email], since[email], text, wanted)
		}
	}
}

// Random imports over random contacts with random changes since: after the undo each contact is as before the import,
// except for what was changed since. Imports overlap, and undos die at any moment.
func TestAnUndoTakesBackWhatTheImportDid(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	each(t, func(d *fixture) {
		for round := range uint64(3) {
			w := &world{fixture: d, r: rand.New(rand.NewPCG(seed, round)), events: map[id.Contact]int{}, ids: map[string]id.Contact{}}
			died := int(round)
			d.e.Runners[job.ImportUndo] = d.interruptedRunner(transfer.UndoImport, &died)
			d.newTenant(fmt.Sprintf("round-%d", round))
			w.lists = []segment.Segment{d.list("One"), d.list("Two")}
			w.populate()
			first, before, after := w.importRandom()
			w.disturb()
			second, before2, after2 := w.importRandom()
			w.undoAndCompare(first, before, after)
			w.disturb()
			w.undoAndCompare(second, before2, after2)
			w.importRandom() // who was deleted comes again
			w.recount()
			if d.Failed() {
				return
			}
		}
	})
}

// populate creates the contacts that are there before the imports.
func (w *world) populate() {
	w.Helper()
	for i := range people / 2 {
		ch := w.change()
		ch.Unverified, ch.DoNotContact = w.r.IntN(4) == 0, new(w.r.IntN(4) == 0)
		c := w.save(address(i), ch)
		if w.r.IntN(2) == 0 {
			w.ok(w.db.InTx(w.Context(), func(tx *sqldb.DB) error {
				return contact.SaveScores(w.Context(), tx, w.tenant, []contact.Scored{{Contact: c.ID, Prospect: 5}}, w.now)
			}))
		}
	}
	w.now = w.now.Add(time.Minute)
}

// recount compares stored numbers with what they count.
func (w *world) recount() {
	w.Helper()
	var found []recount.Difference
	r := recount.Recount{DB: w.db, Now: func() time.Time { return w.now }, Found: func(d recount.Difference) { found = append(found, d) }}
	_, err := r.Run(w.Context(), []id.Tenant{w.tenant})
	w.ok(err)
	if len(found) > 0 {
		w.Errorf("a recount finds %v", found)
	}
}
