package template

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// shelf is the blocks that a binding may refer to, without bodies.
type shelf struct {
	refs   map[string]*binding.Block // by id and by slug: the blocks that the binding names
	likely []*binding.Block          // candidates for random slots, by name, then id
	read   map[id.Block]time.Time    // updated_at of each
}

// Find returns the block with an id or a slug.
func (s *shelf) Find(ref string) (*binding.Block, bool) {
	if uuid, ok := id.Canonical(ref); ok {
		ref = uuid
	}
	b, ok := s.refs[ref]
	return b, ok
}

// Eligible returns the blocks that have every tag of the slot's filter.
func (s *shelf) Eligible(slot binding.Slot) []*binding.Block {
	fit := []*binding.Block{}
	for _, b := range s.likely {
		if carries(b.Tags, slot.TagFilter) {
			fit = append(fit, b)
		}
	}
	return fit
}

// carries reports whether tags contain the whole filter.
func carries(tags, filter []string) bool {
	return !slices.ContainsFunc(filter, func(t string) bool { return !slices.Contains(tags, t) })
}

// Pool returns the blocks that a binding of the template names, and those that fit its random
// slots, without bodies.
func (t Template) Pool(ctx context.Context, db *sqldb.DB, raw json.RawMessage) (binding.Pool, error) {
	return t.shelf(ctx, db, raw)
}

// filling is the part of a binding about a slot that is needed to choose blocks.
type filling struct {
	strategy binding.Strategy
	block    string
}

// names reports whether the binding names a block for the slot.
func (f filling) names() bool {
	return f.strategy == binding.Fixed || f.strategy == "" && f.block != ""
}

// fillings parses the slots of a binding. It ignores errors, which binding.Check reports.
func fillings(raw json.RawMessage) map[string]filling {
	var whole, slots map[string]json.RawMessage
	_ = json.Unmarshal(raw, &whole)
	_ = json.Unmarshal(whole["slots"], &slots)
	all := make(map[string]filling, len(slots))
	for name, text := range slots {
		var slot map[string]json.RawMessage
		var f filling
		_ = json.Unmarshal(text, &slot)
		_ = json.Unmarshal(slot["strategy"], &f.strategy)
		if _ = json.Unmarshal(slot["block_id"], &f.block); unstorable(f.block) {
			f.block = ""
		}
		all[name] = f
	}
	return all
}

func (t Template) shelf(ctx context.Context, db *sqldb.DB, raw json.RawMessage) (*shelf, error) {
	said := fillings(raw)
	var refs []string
	open := []binding.Slot{} // slots for any block that fits
	for _, s := range t.Schema.Slots {
		switch f := said[s.Name]; {
		case !f.names():
			if s.Required || f.strategy == binding.Random || f.strategy == "" && s.Default == binding.Random {
				open = append(open, s)
			}
		case f.block != "":
			refs = append(refs, f.block)
		}
	}
	return t.gather(ctx, db, said, refs, open)
}

// gather loads the blocks that the binding names, and all that fit the open slots. The latter are
// also needed if a named block does not fit, for the error message.
func (t Template) gather(ctx context.Context, db *sqldb.DB, said map[string]filling, refs []string, open []binding.Slot) (*shelf, error) {
	sh := &shelf{refs: map[string]*binding.Block{}, read: map[id.Block]time.Time{}}
	var all, list []candidate
	var err error
	if len(open) > 0 {
		all, err = t.candidates(ctx, db)
		list = all
	} else {
		list, err = t.named(ctx, db, refs)
	}
	if err == nil {
		err = sh.name(list, refs)
	}
	if err != nil {
		return nil, fmt.Errorf("find the blocks of a binding: %w", err)
	}
	for _, s := range t.Schema.Slots {
		f := said[s.Name]
		if b, ok := sh.Find(f.block); f.names() && (!ok || !carries(b.Tags, s.TagFilter)) {
			open = append(open, s)
		}
	}
	if len(open) > 0 && all == nil {
		if all, err = t.candidates(ctx, db); err != nil {
			return nil, fmt.Errorf("find the blocks that fit: %w", err)
		}
	}
	for _, c := range all {
		if len(open) == 0 || !c.fits(open) {
			continue
		}
		b, err := sh.put(c)
		if err != nil {
			return nil, err
		}
		sh.likely = append(sh.likely, b)
	}
	return sh, nil
}

// put decodes a block with its schema.
func (s *shelf) put(c candidate) (*binding.Block, error) {
	b, err := c.lean()
	s.read[b.ID] = b.UpdatedAt
	return &binding.Block{ID: b.ID, Slug: b.Slug, Name: b.Name, Tags: b.Tags, Schema: b.Schema}, err
}

// name adds the blocks that refs name to the shelf.
func (s *shelf) name(list []candidate, refs []string) error {
	wanted := make(map[string]bool, len(refs))
	for _, ref := range refs {
		if uuid, ok := id.Canonical(ref); ok {
			ref = uuid
		}
		wanted[ref] = true
	}
	for _, c := range list {
		if !wanted[c.ID.String()] && !wanted[c.Slug] {
			continue
		}
		b, err := s.put(c)
		if err != nil {
			return err
		}
		s.refs[b.ID.String()], s.refs[b.Slug] = b, b
	}
	return nil
}

// active is the condition for blocks that can be used in a template of a format.
func active(f binding.Format) string {
	if f == binding.MJML {
		return ` active AND content_mjml IS NOT NULL `
	}
	return ` active AND content_html IS NOT NULL `
}

// named returns the blocks that refs name.
func (t Template) named(ctx context.Context, db *sqldb.DB, refs []string) ([]candidate, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	var ids []id.Block
	var slugs []string
	for _, ref := range refs {
		if b, ok := id.Parse[id.Block](ref); ok {
			ids = append(ids, b)
			continue
		}
		slugs = append(slugs, ref)
	}
	rows, err := db.Query(ctx, `SELECT `+candidateColumns+` FROM block WHERE tenant_id = $1 AND`+active(t.Format)+
		`AND (id`+db.In(2)+` OR slug`+db.In(3)+`)`, t.Tenant, sqldb.List(db, ids), sqldb.List(db, slugs))
	return sqldb.Collect(rows, err, scanCandidate)
}

// candidates returns the blocks that can be used in the template, by name.
func (t Template) candidates(ctx context.Context, db *sqldb.DB) ([]candidate, error) {
	rows, err := db.Query(ctx, `SELECT `+candidateColumns+` FROM block WHERE tenant_id = $1 AND`+active(t.Format)+
		`ORDER BY `+db.Bytewise("name")+`, id`, t.Tenant)
	return sqldb.Collect(rows, err, scanCandidate)
}

// candidate is a block whose JSON columns are decoded on demand, since there may be a thousand of
// them.
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

// fits reports whether the block fits any of the slots.
func (c candidate) fits(slots []binding.Slot) bool {
	return slices.ContainsFunc(slots, func(s binding.Slot) bool { return carries(c.Tags, s.TagFilter) })
}

// labels decodes an array of strings, without encoding/json if there are no escapes.
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

// lean decodes the block without its bodies.
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

// entries decodes a part of a schema.
func entries[T any](text string, to *[]T) error {
	if text == `[]` {
		*to = []T{}
		return nil
	}
	return json.Unmarshal([]byte(text), to)
}
