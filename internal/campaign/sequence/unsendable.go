package sequence

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// maxLookedAt is how many sequences Unsendable looks at.
const maxLookedAt = 20

// Unsendable is an active sequence with a mail that no sender can send now.
type Unsendable struct {
	Sequence Sequence
	Problem  string
}

// UnsendableOf returns those of the active sequences of a tenant that were changed last, at most 20, that
// have a mail which no sender can send now.
func UnsendableOf(ctx context.Context, db *sqldb.DB, account tenant.Tenant) ([]Unsendable, error) {
	list, err := List(ctx, db, account.ID, Filter{Statuses: []Status{Active}})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b Sequence) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	var found []Unsendable
	known := map[string]error{} // steps with the same choice of senders have the same routes
	for _, head := range list[:min(len(list), maxLookedAt)] {
		s, err := Load(ctx, db, account.ID, head.ID)
		if err != nil {
			return nil, err
		}
		problem, err := s.firstUnsendable(ctx, db, account, known)
		if err != nil {
			return nil, err
		}
		if problem != "" {
			found = append(found, Unsendable{s, problem})
		}
	}
	return found, nil
}

// firstUnsendable returns what is wrong with the first mail that has no sender, if there is one.
func (s Sequence) firstUnsendable(ctx context.Context, db *sqldb.DB, account tenant.Tenant, known map[string]error) (string, error) {
	for _, n := range s.Graph.Nodes {
		if n.Type != SendNode {
			continue
		}
		p, err := parseStep(n)
		step, ok := p.(SendStep)
		if err != nil || !ok {
			continue
		}
		key, err := json.Marshal([]any{step.EmailType, step.Identities, step.Lane})
		if err != nil {
			return "", err
		}
		err, ok = known[string(key)]
		if !ok {
			_, err = step.routes(ctx, db, account)
			known[string(key)] = err
		}
		if f, ok := fault.As(err); ok {
			return f.Message, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", nil
}
