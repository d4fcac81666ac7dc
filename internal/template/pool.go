package template

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"packetboat/internal/binding"
	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// shelf holds those blocks of an account that a binding is about, without their
// bodies.
type shelf struct {
	refs   map[string]*binding.Block // by id and by slug, those that bindings name
	likely []*binding.Block          // for random slots, by name, then id
	read   map[id.Block]time.Time    // as of when
}

// Find returns the block of an id or a slug.
func (s *shelf) Find(ref string) (*binding.Block, bool) {
	if uuid, ok := id.Parse[string](ref); ok {
		ref = uuid
	}
	b, ok := s.refs[ref]
	return b, ok
}

// Eligible returns the blocks that carry every tag of the slot's filter.
func (s *shelf) Eligible(slot binding.Slot) []*binding.Block {
	fit := []*binding.Block{}
	for _, b := range s.likely {
		if carries(b.Tags, slot.TagFilter) {
			fit = append(fit, b)
		}
	}
	return fit
}

// carries reports whether tags hold all of the filter.
func carries(tags, filter []string) bool {
	return !slices.ContainsFunc(filter, func(t string) bool { return !slices.Contains(tags, t) })
}

// Pool returns the blocks that a binding of the template is about: those it
// names, and those that could stand in its random slots. They have no bodies.
func (t Template) Pool(ctx context.Context, db *sqldb.DB, raw json.RawMessage) (binding.Pool, error) {
	return t.shelf(ctx, db, raw)
}

// filling is what a binding says of a slot, as far as choosing blocks needs it.
type filling struct {
	Strategy binding.Strategy `json:"strategy"`
	Block    string           `json:"block_id"`
}

func (t Template) shelf(ctx context.Context, db *sqldb.DB, raw json.RawMessage) (*shelf, error) {
	var said struct {
		Slots map[string]json.RawMessage `json:"slots"`
	}
	_ = json.Unmarshal(raw, &said) // what is wrong with it is told by whoever checks it
	wanted, refs := map[string]filling{}, []string{}
	for _, s := range t.Schema.Slots {
		f := filling{}
		if text, ok := said.Slots[s.Name]; ok && json.Unmarshal(text, &f) == nil && f.Block != "" && !unstorable(f.Block) {
			refs = append(refs, f.Block)
		}
		wanted[s.Name] = f
	}
	sh := &shelf{refs: map[string]*binding.Block{}, read: map[id.Block]time.Time{}}
	if err := t.fetch(ctx, db, sh, refs); err != nil {
		return nil, fmt.Errorf("find the blocks of a binding: %w", err)
	}
	open := slices.DeleteFunc(slices.Clone(t.Schema.Slots), func(s binding.Slot) bool { return sh.settles(s, wanted[s.Name]) })
	if len(open) == 0 {
		return sh, nil
	}
	list, err := t.likely(ctx, db, open)
	if err != nil {
		return nil, fmt.Errorf("find the blocks for random slots: %w", err)
	}
	for _, c := range list {
		b, err := sh.put(c)
		if err != nil {
			return nil, err
		}
		sh.likely = append(sh.likely, b)
	}
	return sh, nil
}

// put reads the schema of a block that is wanted.
func (s *shelf) put(c candidate) (*binding.Block, error) {
	b, err := c.lean()
	s.read[b.ID] = b.UpdatedAt
	return &binding.Block{ID: b.ID, Slug: b.Slug, Name: b.Name, Tags: b.Tags, Schema: b.Schema}, err
}

// settles reports whether nobody will ask for the blocks that fit a slot.
func (s *shelf) settles(slot binding.Slot, f filling) bool {
	switch {
	case f.Strategy == binding.Empty:
		return !slot.Required
	case f.Strategy == binding.Fixed, f.Strategy == "" && f.Block != "":
		b, ok := s.Find(f.Block)
		return ok && carries(b.Tags, slot.TagFilter)
	case f.Strategy == "":
		return !slot.Required && slot.Default != binding.Random
	}
	return false
}

// active are the blocks that may stand in a template of a format.
func active(f binding.Format) string {
	if f == binding.MJML {
		return ` active AND content_mjml IS NOT NULL `
	}
	return ` active AND content_html IS NOT NULL `
}

// fetch puts the blocks that refs name on the shelf.
func (t Template) fetch(ctx context.Context, db *sqldb.DB, sh *shelf, refs []string) error {
	if len(refs) == 0 {
		return nil
	}
	var ids, slugs []string
	for _, ref := range refs {
		if uuid, ok := id.Parse[string](ref); ok {
			ids = append(ids, uuid)
			continue
		}
		slugs = append(slugs, ref)
	}
	rows, err := db.Query(ctx, `SELECT `+candidateColumns+` FROM block WHERE tenant_id = $1 AND`+active(t.Format)+
		`AND (id`+db.In(2)+` OR slug`+db.In(3)+`)`, t.Tenant, sqldb.List(db, ids), sqldb.List(db, slugs))
	list, err := sqldb.Collect(rows, err, scanCandidate)
	if err != nil {
		return err
	}
	for _, c := range list {
		b, err := sh.put(c)
		if err != nil {
			return err
		}
		sh.refs[string(b.ID)], sh.refs[b.Slug] = b, b
	}
	return nil
}

// likely returns the blocks that fit any of the slots, by name.
func (t Template) likely(ctx context.Context, db *sqldb.DB, slots []binding.Slot) ([]candidate, error) {
	rows, err := db.Query(ctx, `SELECT `+candidateColumns+` FROM block WHERE tenant_id = $1 AND`+active(t.Format)+
		`ORDER BY `+db.Bytewise("name")+`, id`, t.Tenant)
	list, err := sqldb.Collect(rows, err, scanCandidate)
	return slices.DeleteFunc(list, func(c candidate) bool {
		return !slices.ContainsFunc(slots, func(s binding.Slot) bool { return carries(c.Tags, s.TagFilter) })
	}), err
}

// candidate is a block of which more is read when it is wanted: there may be a
// thousand of them for every question.
type candidate struct {
	Block
	slotKeys, parameters, sections string
}

const candidateColumns = `tenant_id, id, slug, name, active, tags, slot_keys, parameters, sections, created_at, updated_at`

func scanCandidate(row func(...any) error) (candidate, error) {
	var c candidate
	var tags string
	var created, updated int64
	err := row(&c.Tenant, &c.ID, &c.Slug, &c.Name, &c.Active, &tags, &c.slotKeys, &c.parameters, &c.sections, &created, &updated)
	if err != nil {
		return candidate{}, err
	}
	c.CreatedAt, c.UpdatedAt = sqldb.Time(created), sqldb.Time(updated)
	c.Tags, err = labels(tags)
	return c, err
}

// labels reads an array of strings. Without escapes, they are what stands between
// the quotes.
func labels(text string) ([]string, error) {
	list := []string{}
	if strings.ContainsRune(text, '\\') {
		err := json.Unmarshal([]byte(text), &list)
		return list, err
	}
	for {
		_, rest, more := strings.Cut(text, `"`)
		if !more {
			return list, nil
		}
		label, rest, _ := strings.Cut(rest, `"`)
		list, text = append(list, label), rest
	}
}

// lean returns the block without its bodies.
func (c candidate) lean() (Block, error) {
	b := c.Block
	var err error
	if b.SlotKeys, err = labels(c.slotKeys); err == nil {
		err = errors.Join(entries(c.parameters, &b.Schema.Parameters), entries(c.sections, &b.Schema.Sections))
	}
	if err != nil {
		return b, fmt.Errorf("read block %s: %w", b.ID, err)
	}
	return b, nil
}

// entries reads a part of a schema.
func entries[T any](text string, to *[]T) error {
	if text == `[]` {
		*to = []T{}
		return nil
	}
	return json.Unmarshal([]byte(text), to)
}

// Options are the ways in which a template can be filled.
type Options struct {
	Template Template
	Slots    []SlotOptions
}

// SlotOptions are the blocks for a slot: the first of them by name, and how
// many there are.
type SlotOptions struct {
	binding.Slot
	Blocks []Block // without bodies
	Total  int
}

// MaxEligible is how many blocks a slot's options name.
const MaxEligible = 25

// Options returns the template with the blocks that fit its slots.
func (t Template) Options(ctx context.Context, db *sqldb.DB) (Options, error) {
	o := Options{Template: t, Slots: make([]SlotOptions, len(t.Schema.Slots))}
	if len(o.Slots) == 0 {
		return o, nil
	}
	list, err := t.likely(ctx, db, t.Schema.Slots)
	if err != nil {
		return Options{}, fmt.Errorf("find the blocks for slots: %w", err)
	}
	shown := map[id.Block]Block{} // each is read but once
	for i, s := range t.Schema.Slots {
		o.Slots[i] = SlotOptions{Slot: s, Blocks: []Block{}}
		for _, c := range list {
			if !carries(c.Tags, s.TagFilter) {
				continue
			}
			if o.Slots[i].Total++; o.Slots[i].Total > MaxEligible {
				continue
			}
			b, seen := shown[c.ID]
			if !seen {
				if b, err = c.lean(); err != nil {
					return Options{}, err
				}
				shown[c.ID] = b
			}
			o.Slots[i].Blocks = append(o.Slots[i].Blocks, b)
		}
	}
	return o, nil
}
