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

// SealStored returns the configuration of a stored step with the headers sealed that an earlier version
// stored as texts; nil: there are none.
func SealStored(box *secret.Box, t id.Tenant, typ NodeType, config json.RawMessage) (json.RawMessage, error) {
	w, ok := ParseAction(typ, config).(WebhookStep)
	if !ok || !w.Headers.Plain() {
		return nil, nil
	}
	w, err := w.Seal(box, t, nil, nil)
	if err != nil {
		return nil, err
	}
	return encodeStep(w)
}

// SealAll seals the headers of webhooks that earlier versions stored as texts. It runs at the start of
// the program, because SQL has no key.
func SealAll(ctx context.Context, db *sqldb.DB, box *secret.Box) error {
	type place struct {
		tenant id.Tenant
		id     id.Sequence
	}
	var plain []place
	rows, err := db.Query(ctx, `
		SELECT tenant_id, id, graph FROM sequence WHERE CAST(graph AS TEXT) LIKE '%"headers"%' /* all tenants: each may have sequences of earlier versions */`)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var p place
		var g Graph
		if err := scan(&p.tenant, &p.id, sqldb.ToJSON(&g)); err != nil {
			return err
		}
		changed, err := g.sealStored(box, p.tenant)
		if changed {
			plain = append(plain, p)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("find headers of webhooks of sequences: %w", err)
	}
	for _, p := range plain {
		err := db.InTx(ctx, func(tx *sqldb.DB) error {
			s, err := load(ctx, tx, p.tenant, p.id, tx.ForUpdate())
			if err != nil {
				return err
			}
			if _, err := s.Graph.sealStored(box, p.tenant); err != nil {
				return err
			}
			graph, err := json.Marshal(s.Graph)
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE sequence SET graph = $3 WHERE tenant_id = $1 AND id = $2`, p.tenant, p.id, string(graph))
			return err
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("seal headers of webhooks of sequence %s: %w", p.id, err)
		}
	}
	return nil
}

func (g *Graph) sealStored(box *secret.Box, t id.Tenant) (changed bool, err error) {
	for i, n := range g.Nodes {
		sealed, err := SealStored(box, t, n.Type, n.Config)
		if err != nil {
			return changed, err
		}
		if sealed != nil {
			g.Nodes[i].Config, changed = sealed, true
		}
	}
	return changed, nil
}
