package template

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
	if err == nil {
		err = schemas(ctx, db, t.Tenant, list)
	}
	if err != nil {
		return nil, fmt.Errorf("find the blocks for random slots: %w", err)
	}
	for _, b := range list {
		sh.likely = append(sh.likely, b.bound())
		sh.read[b.ID] = b.UpdatedAt
	}
	return sh, nil
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
	rows, err := db.Query(ctx, `SELECT `+blockLean+` FROM block WHERE tenant_id = $1 AND`+active(t.Format)+
		`AND (id`+db.In(2)+` OR slug`+db.In(3)+`)`, t.Tenant, sqldb.List(db, ids), sqldb.List(db, slugs))
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (Block, error) { return scanBlockLean(row) })
	for _, b := range list {
		bound := b.bound()
		sh.refs[string(b.ID)], sh.refs[b.Slug] = bound, bound
		sh.read[b.ID] = b.UpdatedAt
	}
	return err
}

// likely returns the blocks that fit any of the slots, by name, without their
// schemas.
func (t Template) likely(ctx context.Context, db *sqldb.DB, slots []binding.Slot) ([]Block, error) {
	rows, err := db.Query(ctx, `SELECT `+blockHead+` FROM block WHERE tenant_id = $1 AND`+active(t.Format)+
		`ORDER BY `+db.Bytewise("name")+`, id`, t.Tenant)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (Block, error) { return scanBlockHead(row) })
	return slices.DeleteFunc(list, func(b Block) bool {
		return !slices.ContainsFunc(slots, func(s binding.Slot) bool { return carries(b.Tags, s.TagFilter) })
	}), err
}

// schemas reads those of the blocks.
func schemas(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []Block) error {
	if len(list) == 0 {
		return nil
	}
	at := make(map[id.Block]int, len(list))
	for i, b := range list {
		at[b.ID] = i
	}
	rows, err := db.Query(ctx, `SELECT `+blockLean+` FROM block WHERE tenant_id = $1 AND id`+db.In(2),
		tenant, sqldb.List(db, slices.Collect(maps.Keys(at))))
	found, err := sqldb.Collect(rows, err, func(row func(...any) error) (Block, error) { return scanBlockLean(row) })
	for _, b := range found {
		list[at[b.ID]] = b
	}
	return err
}

// bound returns the block as bindings know it, without bodies.
func (b Block) bound() *binding.Block {
	return &binding.Block{ID: b.ID, Slug: b.Slug, Name: b.Name, Tags: b.Tags, Schema: b.Schema}
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
	var shown []Block
	at := map[id.Block]int{}
	places := make([][]int, len(o.Slots)) // in shown
	for i, s := range t.Schema.Slots {
		o.Slots[i] = SlotOptions{Slot: s, Blocks: []Block{}}
		for _, b := range list {
			if !carries(b.Tags, s.TagFilter) {
				continue
			}
			if o.Slots[i].Total++; o.Slots[i].Total > MaxEligible {
				continue
			}
			n, seen := at[b.ID]
			if !seen {
				n = len(shown)
				at[b.ID], shown = n, append(shown, b)
			}
			places[i] = append(places[i], n)
		}
	}
	if err := schemas(ctx, db, t.Tenant, shown); err != nil {
		return Options{}, fmt.Errorf("read the blocks for slots: %w", err)
	}
	for i := range o.Slots {
		for _, n := range places[i] {
			o.Slots[i].Blocks = append(o.Slots[i].Blocks, shown[n])
		}
	}
	return o, nil
}
