package auth

import (
	"context"
	"errors"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ActorOf returns the user or the API key of a tenant that wrote a revision of a record, with its present
// name; nil if there is none any more.
func ActorOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, by id.Author) (*Actor, error) {
	a := Actor{Type: "user", ID: by.String()}
	err := db.QueryRow(ctx, `SELECT name FROM app_user WHERE id = $1 /* all tenants: a user belongs to the installation */`, by).Scan(&a.Name)
	if errors.Is(err, sqldb.ErrNoRows) {
		a.Type = "api_key"
		err = db.QueryRow(ctx, `SELECT name FROM api_key WHERE tenant_id = $1 AND id = $2`, tenant, by).Scan(&a.Name)
	}
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find the author of a revision: %w", err)
	}
	return &a, nil
}
