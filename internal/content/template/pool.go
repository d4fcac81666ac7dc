package template

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// blockPool is a binding.Pool: the blocks that a binding may refer to, without bodies.
type blockPool struct {
	named      map[string]*binding.Block // by id and by slug: the blocks that the binding names
	candidates []*binding.Block          // for random slots, by name, then id
	revisions  map[id.Block]int64        // of each block that was loaded
}

// Find returns the block with an id or a slug.
func (p *blockPool) Find(ref string) (*binding.Block, bool) {
	if uuid, ok := id.Canonical(ref); ok {
		ref = uuid
	}
	b, ok := p.named[ref]
	return b, ok
}

// Eligible returns the blocks that have every tag of the slot's filter.
func (p *blockPool) Eligible(slot binding.Slot) []*binding.Block {
	fit := []*binding.Block{}
	for _, b := range p.candidates {
		if hasTags(b.Tags, slot.TagFilter) {
			fit = append(fit, b)
		}
	}
	return fit
}

// hasTags reports whether tags contain all of the filter.
func hasTags(tags, filter []string) bool {
	return !slices.ContainsFunc(filter, func(t string) bool { return !slices.Contains(tags, t) })
}

// Pool returns the blocks that a binding of the template names, and those that fit its random
// slots, without bodies.
func (t Template) Pool(ctx context.Context, db *sqldb.DB, raw json.RawMessage) (binding.Pool, error) {
	return t.loadPool(ctx, db, raw)
}

// slotChoice is the part of a slot's binding that selects its block.
type slotChoice struct {
	strategy binding.Strategy
	block    string
}

// namesBlock reports whether the binding names a block for the slot.
func (f slotChoice) namesBlock() bool {
	return f.strategy == binding.Fixed || f.strategy == "" && f.block != ""
}

// slotChoices parses the slots of a binding. It ignores errors, which binding.Check reports.
func slotChoices(raw json.RawMessage) map[string]slotChoice {
	var parts, slots map[string]json.RawMessage
	_ = json.Unmarshal(raw, &parts)
	_ = json.Unmarshal(parts["slots"], &slots)
	all := make(map[string]slotChoice, len(slots))
	for name, text := range slots {
		var slot map[string]json.RawMessage
		var c slotChoice
		_ = json.Unmarshal(text, &slot)
		_ = json.Unmarshal(slot["strategy"], &c.strategy)
		if _ = json.Unmarshal(slot["block_id"], &c.block); unstorable(c.block) {
			c.block = ""
		}
		all[name] = c
	}
	return all
}

// loadPool loads the blocks that a binding may refer to.
func (t Template) loadPool(ctx context.Context, db *sqldb.DB, raw json.RawMessage) (*blockPool, error) {
	choices := slotChoices(raw)
	var refs []string
	open := []binding.Slot{} // slots for any block that fits
	for _, s := range t.Schema.Slots {
		switch f := choices[s.Name]; {
		case !f.namesBlock():
			if s.Required || f.strategy == binding.Random || f.strategy == "" && s.Default == binding.Random {
				open = append(open, s)
			}
		case f.block != "":
			refs = append(refs, f.block)
		}
	}
	return t.loadBlocks(ctx, db, choices, refs, open)
}

// loadBlocks loads the blocks that the binding names, and all that fit the open slots. The latter
// are also needed if a named block does not fit, for the error message.
func (t Template) loadBlocks(ctx context.Context, db *sqldb.DB, choices map[string]slotChoice, refs []string, open []binding.Slot) (*blockPool, error) {
	pool := &blockPool{named: map[string]*binding.Block{}, revisions: map[id.Block]int64{}}
	var all, list []candidate
	var err error
	if len(open) > 0 {
		all, err = t.usableBlocks(ctx, db)
		list = all
	} else {
		list, err = t.namedBlocks(ctx, db, refs)
	}
	if err == nil {
		err = pool.addNamed(list, refs)
	}
	if err != nil {
		return nil, fmt.Errorf("find the blocks of a binding: %w", err)
	}
	for _, s := range t.Schema.Slots {
		f := choices[s.Name]
		if b, ok := pool.Find(f.block); f.namesBlock() && (!ok || !hasTags(b.Tags, s.TagFilter)) {
			open = append(open, s)
		}
	}
	if len(open) > 0 && all == nil {
		if all, err = t.usableBlocks(ctx, db); err != nil {
			return nil, fmt.Errorf("find the blocks that fit: %w", err)
		}
	}
	for _, c := range all {
		if len(open) == 0 || !c.fits(open) {
			continue
		}
		b, err := pool.decode(c)
		if err != nil {
			return nil, err
		}
		pool.candidates = append(pool.candidates, b)
	}
	return pool, nil
}

// decode decodes a block with its schema.
func (p *blockPool) decode(c candidate) (*binding.Block, error) {
	b, err := c.withoutBodies()
	p.revisions[b.ID] = b.Revision
	return &binding.Block{ID: b.ID, Slug: b.Slug, Name: b.Name, Tags: b.Tags, Schema: b.Schema}, err
}

// addNamed adds those of the list that refs name.
func (p *blockPool) addNamed(list []candidate, refs []string) error {
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
		b, err := p.decode(c)
		if err != nil {
			return err
		}
		p.named[b.ID.String()], p.named[b.Slug] = b, b
	}
	return nil
}

// usableIn returns the condition for blocks that can be used in a template of a format.
func usableIn(f binding.Format) string {
	if f == binding.MJML {
		return ` active AND content_mjml IS NOT NULL `
	}
	return ` active AND content_html IS NOT NULL `
}

// namedBlocks returns the blocks that refs name; twice one that is named by its id and by its slug.
func (t Template) namedBlocks(ctx context.Context, db *sqldb.DB, refs []string) ([]candidate, error) {
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
	// Two selections, since a scan of one index cannot serve both conditions.
	usable := `SELECT ` + candidateColumns + ` FROM block WHERE tenant_id = $1 AND` + usableIn(t.Format)
	rows, err := db.Query(ctx, usable+`AND id`+db.In(2)+` UNION ALL `+usable+`AND slug`+db.In(3), t.Tenant, sqldb.List(db, ids), sqldb.List(db, slugs))
	return sqldb.Collect(rows, err, scanCandidate)
}

// usableBlocks returns the blocks that can be used in the template, by name.
func (t Template) usableBlocks(ctx context.Context, db *sqldb.DB) ([]candidate, error) {
	rows, err := db.Query(ctx, `SELECT `+candidateColumns+` FROM block WHERE tenant_id = $1 AND`+usableIn(t.Format)+
		`ORDER BY `+db.Bytewise("name")+`, id`, t.Tenant)
	return sqldb.Collect(rows, err, scanCandidate)
}

// candidate is a block whose JSON columns are decoded on demand, since there may be a thousand of
// them.
type candidate struct {
	Block
	slotKeys, parameters, sections string
}

const candidateColumns = `tenant_id, id, slug, name, active, tags, slot_keys, parameters, sections, created_at, updated_at, revision`

func scanCandidate(row func(...any) error) (candidate, error) {
	var c candidate
	var tags string
	var created, updated int64
	err := row(&c.Tenant, &c.ID, &c.Slug, &c.Name, &c.Active, &tags, &c.slotKeys, &c.parameters, &c.sections, &created, &updated, &c.Revision)
	if err != nil {
		return candidate{}, err
	}
	c.CreatedAt, c.UpdatedAt = sqldb.Time(created), sqldb.Time(updated)
	c.Tags, err = decodeStrings(tags)
	return c, err
}

// fits reports whether the block fits any of the slots.
func (c candidate) fits(slots []binding.Slot) bool {
	return slices.ContainsFunc(slots, func(s binding.Slot) bool { return hasTags(c.Tags, s.TagFilter) })
}

// decodeStrings decodes an array of strings, without encoding/json if there are no escapes.
func decodeStrings(text string) ([]string, error) {
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

// withoutBodies decodes the block, except for its bodies.
func (c candidate) withoutBodies() (Block, error) {
	b := c.Block
	var err error
	if b.SlotKeys, err = decodeStrings(c.slotKeys); err == nil {
		err = errors.Join(decodeList(c.parameters, &b.Schema.Parameters), decodeList(c.sections, &b.Schema.Sections))
	}
	if err != nil {
		return b, fmt.Errorf("read block %s: %w", b.ID, err)
	}
	return b, nil
}

// decodeList decodes a part of a schema.
func decodeList[T any](text string, to *[]T) error {
	if text == `[]` {
		*to = []T{}
		return nil
	}
	return json.Unmarshal([]byte(text), to)
}
