package binding

import (
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/optional"
)

// slots rebases what fills each slot.
func (r *rebase) slots(base, theirs []Slot, bound map[string]any) map[string]any {
	out := map[string]any{}
	before := map[string]*Slot{}
	for i := range base {
		before[base[i].Name] = &base[i]
	}
	for i := range theirs {
		sl := &theirs[i]
		old := before[sl.Name]
		if old == nil {
			value := defaultFilling(sl)
			if value != nil {
				out[sl.Name] = value
			}
			r.added = append(r.added, Added{Path: "slots." + sl.Name, Required: sl.Required, Value: written(value)})
			continue
		}
		delete(before, sl.Name)
		if filled := r.slot(old, sl, asObject(bound[sl.Name])); filled != nil {
			out[sl.Name] = filled
		}
	}
	for i := range base {
		if name := base[i].Name; before[name] != nil {
			r.removed = append(r.removed, Removed{Path: "slots." + name, Value: written(bound[name])})
		}
	}
	return out
}

// defaultFilling returns how a slot is filled if a binding does not specify it: by its default
// strategy, unless that is fixed, which needs a block.
func defaultFilling(sl *Slot) map[string]any {
	if sl.Default == Fixed {
		return nil
	}
	return map[string]any{"strategy": string(sl.Default)}
}

// slot rebases one slot; nil if nothing is bound to it.
func (r *rebase) slot(old, sl *Slot, bound map[string]any) map[string]any {
	path := "slots." + sl.Name
	from, to := differences(slotFacets(old), slotFacets(sl))
	if bound == nil {
		if len(from) > 0 {
			r.changed = append(r.changed, Changed{Path: path, From: from, To: to})
		}
		return nil
	}
	quiet := checker{pool: r.pool}
	strategy, ok := quiet.strategy(location{slot: sl.Name}, sl, bound)
	var blocks []*Block
	if ok && strategy == Fixed {
		ref, _ := bound["block_id"].(string)
		b, found := quiet.findBlock(ref)
		if ok = found && len(missingTags(b, sl)) == 0; ok {
			blocks = []*Block{b}
		}
	}
	if !ok {
		fallen := defaultFilling(sl)
		from["strategy"], to["strategy"] = bound["strategy"], string(sl.Default)
		if bound["block_id"] != nil {
			from["block_id"], to["block_id"] = bound["block_id"], nil
		}
		r.changed = append(r.changed, Changed{Path: path, From: from, To: to, Value: written(bound)})
		return fallen
	}
	if len(from) > 0 {
		r.changed = append(r.changed, Changed{Path: path, From: from, To: to, ValueKept: true})
	}
	if strategy == Random && r.pool != nil {
		blocks = r.pool.Eligible(*sl)
	}
	out := maps.Clone(bound)
	if strategy != Empty {
		r.ofBlocks(path+".parameters.", out, "parameters", UnknownParam, blocks)
		r.ofBlocks(path+".sections.", out, "sections", UnknownSection, blocks)
	}
	return out
}

// ofBlocks removes values that none of the blocks declares. The declarations at the time of binding
// are not known, so types are left to the check.
func (r *rebase) ofBlocks(path string, filled map[string]any, part string, code IssueCode, blocks []*Block) {
	bound := asObject(filled[part])
	if len(bound) == 0 {
		return
	}
	kept, known := map[string]any{}, declaredNames(blocks, code)
	for _, name := range slices.Sorted(maps.Keys(bound)) {
		if known[name] {
			kept[name] = bound[name]
			continue
		}
		r.removed = append(r.removed, Removed{Path: path + clip.Ellipsis(name, maxQuoted), Value: written(bound[name])})
	}
	filled[part] = kept
}

func slotFacets(sl *Slot) map[string]any {
	return map[string]any{
		"required":           sl.Required,
		"tag_filter":         written(optional.List(sl.TagFilter)),
		"allowed_strategies": written(optional.List(sl.Allowed)),
	}
}
