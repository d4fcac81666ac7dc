package template

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Options are the values a template can be filled with.
type Options struct {
	Template Template
	Slots    []SlotOptions
}

// SlotOptions are the blocks for a slot: the first ones by name, and their total number.
type SlotOptions struct {
	binding.Slot
	Blocks []Block // without bodies
	Total  int
}

// MaxEligible is the maximum number of blocks listed for a slot.
const MaxEligible = 25

// Options returns the template with the blocks that fit its slots.
func (t Template) Options(ctx context.Context, db *sqldb.DB) (Options, error) {
	o := Options{Template: t, Slots: make([]SlotOptions, len(t.Schema.Slots))}
	if len(o.Slots) == 0 {
		return o, nil
	}
	list, err := t.usableBlocks(ctx, db)
	if err != nil {
		return Options{}, fmt.Errorf("find the blocks for slots: %w", err)
	}
	shown := map[id.Block]Block{} // each is loaded once
	for i, s := range t.Schema.Slots {
		o.Slots[i] = SlotOptions{Slot: s, Blocks: []Block{}}
		for _, c := range list {
			if !hasTags(c.Tags, s.TagFilter) {
				continue
			}
			if o.Slots[i].Total++; o.Slots[i].Total > MaxEligible {
				continue
			}
			b, seen := shown[c.ID]
			if !seen {
				if b, err = c.withoutBodies(); err != nil {
					return Options{}, err
				}
				shown[c.ID] = b
			}
			o.Slots[i].Blocks = append(o.Slots[i].Blocks, b)
		}
	}
	return o, nil
}
