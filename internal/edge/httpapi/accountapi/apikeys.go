package accountapi

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// APIKeys serves API keys.
type APIKeys struct {
	db   *sqldb.DB
	gate *auth.Gate
	now  func() time.Time
}

// NewAPIKeys returns the operations on API keys.
func NewAPIKeys(e wire.Env, gate *auth.Gate) APIKeys {
	return APIKeys{db: e.DB, gate: gate, now: e.Now}
}

// On returns the operations on another handle.
func (api APIKeys) On(db *sqldb.DB) APIKeys { api.db = db; return api }

// Register adds the operations on API keys.
func (api APIKeys) Register(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "api keys", Session: true, Role: auth.Admin, Faults: faults}
	}
	created := op("createApiKey", "Create an API key; its secret is shown once.", auth.ErrInvalidScope, auth.ErrTooManyKeys).Once()
	created.Status = 201
	endpoint.Handle(r, "GET /t/{tenant}/api/auth/api-keys", op("listApiKeys", "List the API keys, newest first."), api.listAPIKeys)
	endpoint.Handle(r, "POST /t/{tenant}/api/auth/api-keys", created.ExampleBody(`{"name": "CRM sync", "scopes": ["contacts:read", "contacts:write"], "expires_at": null}`), wire.Once(api, api.db, APIKeys.createAPIKey), api.checkNewAPIKey)
	endpoint.Handle(r, "GET /t/{tenant}/api/auth/api-keys/scopes", op("listScopes", "List the scopes that a key may have."), api.listScopes)
	endpoint.Handle(r, "GET /t/{tenant}/api/auth/api-keys/{id}", op("getApiKey", "Get an API key.", auth.ErrNoKey), api.getAPIKey)
	endpoint.Handle(r, "PATCH /t/{tenant}/api/auth/api-keys/{id}", op("updateApiKey", "Update an API key's name, scopes or expiry.", auth.ErrNoKey, auth.ErrInvalidScope, auth.ErrKeyRevoked).ExampleBody(`{"name": "CRM", "scopes": ["contacts:read"]}`), api.updateAPIKey, api.checkAPIKey)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/auth/api-keys/{id}", op("revokeApiKey", "Revoke an API key immediately and permanently.", auth.ErrNoKey), api.revokeAPIKey)
	endpoint.Handle(r, "POST /t/{tenant}/api/auth/api-keys/{id}/rotate", op("rotateApiKey", "Rotate an API key's secret; the old one works during the grace period.", auth.ErrNoKey, auth.ErrKeyRevoked).ExampleBody(`{"grace_seconds": 3600}`), api.rotateAPIKey)
}

// APIKey is an API key without its secret.
type APIKey struct {
	ID         id.APIKey       `json:"id"`
	Name       string          `json:"name"`
	Prefix     string          `json:"prefix"`
	Scopes     []string        `json:"scopes"`
	Status     auth.KeyStatus  `json:"status" enum:"active,expired,revoked"`
	CreatedBy  *apiKeyAuthor   `json:"created_by" doc:"null for keys that the operator made"`
	CreatedAt  endpoint.Stamp  `json:"created_at"`
	ExpiresAt  *endpoint.Stamp `json:"expires_at"`
	LastUsedAt *endpoint.Stamp `json:"last_used_at"`
	RevokedAt  *endpoint.Stamp `json:"revoked_at"`
}

type apiKeyAuthor struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (api APIKeys) listAPIKeys(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[APIKey], error) {
	now := api.now()
	list, err := auth.Keys(ctx, api.db, p.Tenant, now)
	if err != nil {
		return endpoint.List[APIKey]{}, err
	}
	rows := make([]APIKey, len(list))
	for i, k := range list {
		rows[i] = ShowAPIKey(k, now)
	}
	return endpoint.Whole(rows), nil
}

// ShowAPIKey returns the row of k. The command line prints it too.
func ShowAPIKey(k auth.Key, now time.Time) APIKey {
	row := APIKey{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Scopes: k.Scopes.Strings(), Status: k.Status(now),
		CreatedAt: endpoint.At(k.CreatedAt), ExpiresAt: endpoint.AtOr(k.ExpiresAt),
		LastUsedAt: endpoint.AtOr(k.LastUsedAt), RevokedAt: endpoint.AtOr(k.RevokedAt),
	}
	if k.CreatedBy.ID != "" {
		row.CreatedBy = &apiKeyAuthor{k.CreatedBy.ID, k.CreatedBy.Name}
	}
	return row
}

type createAPIKeyRequest struct {
	Body struct {
		Name      string               `json:"name"`
		Scopes    []string             `json:"scopes"`
		ExpiresAt endpoint.Opt[string] `json:"expires_at" doc:"date-time"`
	}
}

// NewAPIKey is an API key with its secret, which is shown only once.
type NewAPIKey struct {
	APIKey
	Key string `json:"key"`
}

func (api APIKeys) checkNewAPIKey(_ auth.Principal, in *createAPIKeyRequest) error {
	return in.key().Check(api.now())
}

func (api APIKeys) createAPIKey(ctx context.Context, p auth.Principal, in *createAPIKeyRequest) (NewAPIKey, error) {
	now := api.now()
	k, secret, err := auth.CreateKey(ctx, api.db, p.Tenant, in.key(), p.By(), now)
	if err != nil {
		return NewAPIKey{}, err
	}
	return NewAPIKey{ShowAPIKey(k, now), secret}, nil
}

func (in *createAPIKeyRequest) key() auth.NewKey {
	return auth.NewKey{Name: in.Body.Name, Scopes: in.Body.Scopes, ExpiresAt: expiryOf(in.Body.ExpiresAt)}
}

// expiryOf returns the time at which a key expires, or nil for never. For a text that is no time it
// returns the zero time, which package auth reports together with other problems.
func expiryOf(o endpoint.Opt[string]) *time.Time {
	if !o.Given() {
		return nil
	}
	t, err := endpoint.ParseTime(o.Value)
	if err != nil {
		return new(time.Time)
	}
	return &t
}

type scopeRow struct {
	Scope       auth.Scope   `json:"scope"`
	Description string       `json:"description"`
	Implies     []auth.Scope `json:"implies"`
}

func (api APIKeys) listScopes(context.Context, auth.Principal, *struct{}) (endpoint.List[scopeRow], error) {
	var rows []scopeRow
	for _, s := range auth.Scopes() {
		rows = append(rows, scopeRow{s.Scope, s.Description, s.Implies})
	}
	return endpoint.Whole(rows), nil
}

func (api APIKeys) getAPIKey(ctx context.Context, p auth.Principal, in *wire.RecordPath) (APIKey, error) {
	key, err := wire.RecordID[id.APIKey](in.ID, auth.ErrNoKey)
	if err != nil {
		return APIKey{}, err
	}
	k, err := auth.KeyByID(ctx, api.db, p.Tenant, key)
	if err != nil {
		return APIKey{}, err
	}
	return ShowAPIKey(k, api.now()), nil
}

type updateAPIKeyRequest struct {
	wire.RecordPath
	Body struct {
		Name      endpoint.Opt[string]   `json:"name" nullable:"false"`
		Scopes    endpoint.Opt[[]string] `json:"scopes" nullable:"false"`
		ExpiresAt endpoint.Opt[string]   `json:"expires_at" doc:"date-time"`
	}
}

func (api APIKeys) checkAPIKey(_ auth.Principal, in *updateAPIKeyRequest) error {
	return in.change().Check(api.now())
}

func (api APIKeys) updateAPIKey(ctx context.Context, p auth.Principal, in *updateAPIKeyRequest) (APIKey, error) {
	key, err := wire.RecordID[id.APIKey](in.ID, auth.ErrNoKey)
	if err != nil {
		return APIKey{}, err
	}
	now := api.now()
	k, err := auth.ChangeKey(ctx, api.db, p.Tenant, key, in.change(), p.By(), now)
	if err != nil {
		return APIKey{}, err
	}
	api.gate.ClearCache()
	return ShowAPIKey(k, now), nil
}

func (in *updateAPIKeyRequest) change() auth.KeyChange {
	return auth.KeyChange{
		Name: in.Body.Name.Pointer(), Scopes: in.Body.Scopes.Pointer(),
		ExpiresAt: expiryOf(in.Body.ExpiresAt), NeverExpire: in.Body.ExpiresAt.Null,
	}
}

func (api APIKeys) revokeAPIKey(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	key, err := wire.RecordID[id.APIKey](in.ID, auth.ErrNoKey)
	if err != nil {
		return endpoint.None{}, err
	}
	if err := auth.RevokeKey(ctx, api.db, p.Tenant, key, p.By(), api.now()); err != nil {
		return endpoint.None{}, err
	}
	api.gate.ClearCache()
	return endpoint.None{}, nil
}

type rotateAPIKeyRequest struct {
	wire.RecordPath
	Body *struct {
		GraceSeconds int `json:"grace_seconds" required:"false" minimum:"0" maximum:"86400" default:"0"`
	}
}

func (api APIKeys) rotateAPIKey(ctx context.Context, p auth.Principal, in *rotateAPIKeyRequest) (NewAPIKey, error) {
	key, err := wire.RecordID[id.APIKey](in.ID, auth.ErrNoKey)
	if err != nil {
		return NewAPIKey{}, err
	}
	var grace time.Duration
	if in.Body != nil {
		grace = time.Duration(in.Body.GraceSeconds) * time.Second
	}
	now := api.now()
	k, secret, err := auth.RotateKey(ctx, api.db, p.Tenant, key, grace, p.By(), now)
	if err != nil {
		return NewAPIKey{}, err
	}
	api.gate.ClearCache()
	return NewAPIKey{ShowAPIKey(k, now), secret}, nil
}
