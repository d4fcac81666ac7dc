package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Terms are the routes and the rate of a send. Its source sets them, so that engine/deliver needs
// nothing else of the source.
type Terms struct {
	Routes  []route.Route `json:"routes,omitempty"`   // of messages in the send, and of those to come
	PerHour int           `json:"per_hour,omitempty"` // maximum number of messages per hour; 0: limited by the lanes only
}

// LoadTerms returns the terms of a send; the zero Terms if it has none.
func LoadTerms(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (Terms, error) {
	t, _, err := loadTerms(ctx, db, tenant, send, "")
	return t, err
}

func loadTerms(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, lock string) (t Terms, found bool, err error) {
	var document string
	err = db.QueryRow(ctx, `SELECT document FROM send_terms WHERE tenant_id = $1 AND send_id = $2`+lock, tenant, send).Scan(&document)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Terms{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(document), &t)
	}
	if err != nil {
		return Terms{}, false, fmt.Errorf("load the terms of a send: %w", err)
	}
	return t, true, nil
}

// AddRoutes adds routes to the terms of a send and returns all of its routes. A route that it
// already has keeps its weights, so that processes which prepare the same send one after another
// use the same weights.
func AddRoutes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, routes []route.Route) ([]route.Route, error) {
	var all []route.Route
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		t, found, err := loadTerms(ctx, tx, tenant, send, tx.ForUpdate())
		if err != nil || !found {
			return err
		}
		all = route.Merge(t.Routes, routes)
		if slices.Equal(all, t.Routes) {
			return nil
		}
		t.Routes = all
		return t.write(ctx, tx, tenant, send)
	})
	if err != nil {
		return nil, fmt.Errorf("add routes to a send: %w", err)
	}
	return all, nil
}

// write stores the terms of a send, replacing earlier ones.
func (t Terms) write(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) error {
	document, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO send_terms (tenant_id, send_id, document) VALUES ($1, $2, $3)
		ON CONFLICT (tenant_id, send_id) DO UPDATE SET document = excluded.document`, tenant, send, string(document))
	return err
}
