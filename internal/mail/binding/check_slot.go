package binding

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/clip"
)

// slots fills each slot of a template.
func (c *checker) slots(s *Schema, bound map[string]any) map[string]Filling {
	out := make(map[string]Filling, len(s.Slots))
	known := 0
	for i := range s.Slots {
		sl := &s.Slots[i]
		v, found := bound[sl.Name]
		if found {
			known++
		}
		out[sl.Name] = c.slot(sl, v)
	}
	if known < len(bound) {
		c.unknown(UnknownSlot, location{}, bound, namesOf(s.Slots), scope{declares: "the template"})
	}
	return out
}

// slot fills one slot. An unbound slot is filled by its default strategy; if that is fixed, it
// stays empty, since no block is named. A required slot without a block is an issue, even if the
// binding says empty.
func (c *checker) slot(sl *Slot, v any) Filling {
	at := location{slot: sl.Name}
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		c.invalid(at, "must be an object, not "+kind(v), `Set %s to an object such as {"strategy": "fixed", "block_id": "<slug of a block>"}`)
		return noticeFilling(sl)
	}
	strategy := sl.Default
	if v != nil {
		if strategy, ok = c.strategy(at, sl, m); !ok {
			return noticeFilling(sl)
		}
	}
	switch {
	case strategy == Random:
		return c.random(at, sl, m)
	case strategy == Fixed && v != nil:
		return c.fixed(at, sl, m)
	case sl.Required:
		c.issue(at, RequiredMissing, "is required and is left empty", "Fill %s with a block: "+c.choices(sl))
		return noticeFilling(sl)
	}
	return Filling{Strategy: Empty}
}

// strategy returns how a slot is filled. If a block is named without a strategy, it is fixed.
func (c *checker) strategy(at location, sl *Slot, m map[string]any) (Strategy, bool) {
	at.part = "strategy"
	var s Strategy
	switch v := m["strategy"].(type) {
	case string:
		s = Strategy(v)
	case nil:
		if s = sl.Default; m["block_id"] != nil {
			s = Fixed
		}
	default:
		c.invalid(at, "must be a string, not "+kind(v), "Set %s to one of: "+join(sl.Allowed))
		return "", false
	}
	if slices.Contains(sl.Allowed, s) {
		return s, true
	}
	c.issue(at, InvalidStrategy, fmt.Sprintf("%q is not a strategy that the slot allows", clip.Ellipsis(string(s), maxQuoted)), "Set %s to one of: "+join(sl.Allowed))
	return "", false
}

// fixed fills a slot with the named block.
func (c *checker) fixed(at location, sl *Slot, m map[string]any) Filling {
	at.part = "block_id"
	ref, ok := m["block_id"].(string)
	switch {
	case m["block_id"] == nil || ok && ref == "":
		c.issue(at, RequiredMissing, "is required when the strategy is fixed", "Set %s to the slug of a block: "+c.choices(sl))
		return noticeFilling(sl)
	case !ok:
		c.invalid(at, "must be a string, not "+kind(m["block_id"]), "Set %s to the id or the slug of a block")
		return noticeFilling(sl)
	}
	b, found := c.findBlock(ref)
	if !found {
		c.issue(at, BlockNotEligible, fmt.Sprintf("there is no active block %q with a body of the template's format", clip.Ellipsis(ref, maxQuoted)), "Set %s to the slug of a block that fits: "+c.choices(sl))
		return noticeFilling(sl)
	}
	if lacking := missingTags(b, sl); len(lacking) > 0 {
		c.issue(at, BlockNotEligible, fmt.Sprintf("block %q lacks what the slot filters by: %s", b.Slug, listNames(lacking)), "Set %s to the slug of a block that fits: "+c.choices(sl))
		return noticeFilling(sl)
	}
	return Filling{Strategy: Fixed, Block: b, Bound: c.block(sl, b, m, nil)}
}

// maxTries is the maximum number of blocks that are tried for a random slot.
const maxTries = 25

// random fills a slot with one of the blocks that match its filter and for which the binding is
// valid and complete. Other blocks are skipped, so that a binding is valid for any seed or for
// none; if no block remains, the issues are those of the first. Names that any of the matching
// blocks declares are known.
func (c *checker) random(at location, sl *Slot, m map[string]any) Filling {
	var all []*Block
	if c.pool != nil {
		all = c.pool.Eligible(*sl)
	}
	values, _ := m["parameters"].(map[string]any)
	rows, _ := m["sections"].(map[string]any)
	c.fitting = c.fitting[:0]
	for _, b := range all {
		if requirementsMet(&b.Schema, values, rows) {
			c.fitting = append(c.fitting, b)
		}
	}
	if len(c.fitting) == 0 {
		if !sl.Required {
			return Filling{Strategy: Random}
		}
		c.issue(at, RequiredMissing, "is required, and no block fits it", "Fill %s with a block: "+c.choices(sl))
		return noticeFilling(sl)
	}
	var first Filling
	var why []Issue
	before := len(c.issues)
	for try := range min(maxTries, len(c.fitting)) {
		i := pick(c.seed, sl.Name, len(c.fitting))
		b := c.fitting[i]
		f := Filling{Strategy: Random, Block: b, Bound: c.block(sl, b, m, all)}
		if !slices.ContainsFunc(c.issues[before:], isDueToBlock) {
			return f
		}
		if try == 0 {
			first, why = f, slices.Clone(c.issues[before:])
		}
		c.issues = c.issues[:before]
		c.fitting = slices.Delete(c.fitting, i, i+1)
	}
	c.issues = append(c.issues, why...)
	return first
}

// isDueToBlock reports whether an issue is due to the chosen block, and not to a name that no block has.
func isDueToBlock(i Issue) bool { return i.Code != UnknownParam && i.Code != UnknownSection }

// pick chooses one of n; the same for equal seed and slot.
func pick(seed, slot string, n int) int {
	sum := sha256.Sum256([]byte(seed + ":" + slot))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(n))
}

// requirementsMet reports whether everything that a block requires is bound or has a default.
func requirementsMet(s *Schema, values, rows map[string]any) bool {
	for i := range s.Parameters {
		p := &s.Parameters[i]
		if p.Required && values[p.Name] == nil && !HasValue(p.Default) {
			return false
		}
	}
	for i := range s.Sections {
		if s.Sections[i].Required && rows[s.Sections[i].Name] == nil {
			return false
		}
	}
	return true
}

// block checks the values of a slot against the block that fills it.
func (c *checker) block(sl *Slot, b *Block, m map[string]any, also []*Block) Bound {
	s := scope{slot: sl.Name, schema: &b.Schema, also: also, declares: "block " + b.Slug}
	var isValues, isRows bool
	s.values, isValues = c.slotPart(sl, m, "parameters", "names to values")
	s.rows, isRows = c.slotPart(sl, m, "sections", "names to arrays of rows")
	return Bound{
		Values: c.reporting(isValues).parameters(s),
		Rows:   c.reporting(isRows).sections(s),
	}
}

func (c *checker) slotPart(sl *Slot, m map[string]any, name, of string) (map[string]any, bool) {
	v := m[name]
	part, ok := v.(map[string]any)
	if !ok && v != nil {
		c.invalid(location{slot: sl.Name, part: name}, "must be an object, not "+kind(v), "Set %s to an object of "+of)
		return nil, false
	}
	return part, true
}

// findBlock looks up a block in the pool.
func (c *checker) findBlock(ref string) (*Block, bool) {
	if c.pool == nil {
		return nil, false
	}
	return c.pool.Find(ref)
}

// missingTags returns the tags of a slot's filter that a block does not have.
func missingTags(b *Block, sl *Slot) []string {
	var out []string
	for _, tag := range sl.TagFilter {
		if !slices.Contains(b.Tags, tag) {
			out = append(out, tag)
		}
	}
	return out
}

// choices lists the blocks allowed in a slot, for a fix.
func (c *checker) choices(sl *Slot) string {
	var names []string
	if c.pool != nil {
		for _, b := range c.pool.Eligible(*sl) {
			names = append(names, b.Slug)
		}
	}
	switch {
	case len(names) > 0:
		return listNames(names)
	case len(sl.TagFilter) > 0:
		return "there is none yet that carries " + strings.Join(sl.TagFilter, ", ")
	}
	return "there is none yet"
}
