package sequence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Seal returns the step of a request with its headers as they are stored. Headers without a value keep
// that of own, the step before the change, or of others; see webhook.Headers.
func (s WebhookStep) Seal(box *secret.Box, t id.Tenant, own Step, others []Step) (WebhookStep, error) {
	var mine webhook.HeaderSource
	if w, ok := own.(WebhookStep); ok {
		mine = webhook.HeaderSource{URL: w.URL, Headers: w.Headers}
	}
	var rest []webhook.HeaderSource
	for _, o := range others {
		if w, ok := o.(WebhookStep); ok {
			rest = append(rest, webhook.HeaderSource{URL: w.URL, Headers: w.Headers})
		}
	}
	var err error
	s.Headers, err = s.Headers.Seal(box, t, s.URL, mine, rest)
	return s, err
}

// sealer returns what seals the webhooks of a graph that replaces old.
func sealer(box *secret.Box, t id.Tenant, old Graph) func(node string, w WebhookStep) (WebhookStep, error) {
	steps, byNode := []Step{}, map[string]Step{}
	for _, n := range old.Nodes {
		if n.Type == WebhookNode {
			byNode[n.ID] = ParseAction(n.Type, n.Config)
			steps = append(steps, byNode[n.ID])
		}
	}
	return func(node string, w WebhookStep) (WebhookStep, error) { return w.Seal(box, t, byNode[node], steps) }
}

// SealStored seals the headers of a stored step that an earlier version stored as texts, and reports
// whether there were any.
func SealStored(box *secret.Box, t id.Tenant, typ NodeType, config *json.RawMessage) (sealed bool, err error) {
	w, ok := ParseAction(typ, *config).(WebhookStep)
	if !ok || !w.Headers.Plain() {
		return false, nil
	}
	if w, err = w.Seal(box, t, nil, nil); err != nil {
		return false, err
	}
	*config, err = encodeStep(w)
	return err == nil, err
}

// StoredSteps are the steps of all records of a kind, in the column in which each record has them.
type StoredSteps[ID fmt.Stringer, Steps any] struct {
	List func() (*sqldb.Rows, error)                           // the tenants, ids and steps of records that may have headers
	Lock func(tx *sqldb.DB, t id.Tenant, record ID) *sqldb.Row // the steps of one
	Save func(tx *sqldb.DB, t id.Tenant, record ID, steps string) error
	Seal func(id.Tenant, *Steps) (changed bool, err error)
}

// SealAll seals the headers that earlier versions stored as texts.
func (s StoredSteps[ID, Steps]) SealAll(ctx context.Context, db *sqldb.DB) error {
	type place struct {
		tenant id.Tenant
		record ID
	}
	var plain []place
	rows, err := s.List()
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var p place
		var steps Steps
		if err := scan(&p.tenant, &p.record, sqldb.ToJSON(&steps)); err != nil {
			return err
		}
		changed, err := s.Seal(p.tenant, &steps)
		if changed {
			plain = append(plain, p)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("find headers of webhooks: %w", err)
	}
	for _, p := range plain {
		err := db.InTx(ctx, func(tx *sqldb.DB) error { return s.seal(tx, p.tenant, p.record) })
		if err != nil && !errors.Is(err, sqldb.ErrNoRows) { // it was deleted meanwhile
			return fmt.Errorf("seal headers of webhooks of %s: %w", p.record, err)
		}
	}
	return nil
}

func (s StoredSteps[ID, Steps]) seal(tx *sqldb.DB, t id.Tenant, record ID) error {
	var steps Steps
	if err := s.Lock(tx, t, record).Scan(sqldb.ToJSON(&steps)); err != nil {
		return err
	}
	if _, err := s.Seal(t, &steps); err != nil {
		return err
	}
	text, err := json.Marshal(steps)
	if err != nil {
		return err
	}
	return s.Save(tx, t, record, string(text))
}

// SealAll seals the headers of webhooks that earlier versions stored as texts. It runs at the start of
// the program, because SQL has no key.
func SealAll(ctx context.Context, db *sqldb.DB, box *secret.Box) error {
	return StoredSteps[id.Sequence, Graph]{
		List: func() (*sqldb.Rows, error) {
			return db.Query(ctx, `
				SELECT tenant_id, id, graph FROM sequence WHERE CAST(graph AS TEXT) LIKE '%"headers"%' /* all tenants: each may have sequences of earlier versions */`)
		},
		Lock: func(tx *sqldb.DB, t id.Tenant, s id.Sequence) *sqldb.Row {
			return tx.QueryRow(ctx, `SELECT graph FROM sequence WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), t, s)
		},
		Save: func(tx *sqldb.DB, t id.Tenant, s id.Sequence, graph string) error {
			_, err := tx.Exec(ctx, `UPDATE sequence SET graph = $3 WHERE tenant_id = $1 AND id = $2`, t, s, graph)
			return err
		},
		Seal: func(t id.Tenant, g *Graph) (changed bool, err error) {
			for i, n := range g.Nodes {
				sealed, err := SealStored(box, t, n.Type, &g.Nodes[i].Config)
				if changed = changed || sealed; err != nil {
					return changed, err
				}
			}
			return changed, nil
		},
	}.SealAll(ctx, db)
}
