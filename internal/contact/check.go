package contact

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ParseText returns the text column with a name.
func ParseText(name string) (Text, bool) {
	_, ok := longest[Text(name)]
	return Text(name), ok
}

// Texts lists the text columns, by name.
func Texts() []Text { return slices.Sorted(maps.Keys(longest)) }

// Check says what is wrong with a change of contacts that are there, whoever
// they are: a fault, which each of them would be refused with, or nothing.
func (ch Change) Check(ctx context.Context, db *sqldb.DB, tenant id.Tenant, r Rules) error {
	b := &batch{tenant: tenant, rules: r, drafts: []Draft{{ID: id.New[id.Contact](), Change: ch}}, outcomes: make([]Outcome, 1)}
	if err := b.check(ctx, db); err != nil {
		return fmt.Errorf("check a change of contacts: %w", err)
	}
	return b.outcomes[0].Err
}
