package sender

import (
	"context"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Identities returns the tenant's sending identities by address.
func Identities(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]Identity, error) {
	rows, err := db.Query(ctx, `SELECT `+identityColumns+identityTables+`
		WHERE i.tenant_id = $1 ORDER BY i.email_address`, tenant)
	list, err := sqldb.Collect(rows, err, scanIdentity(tenant))
	if err != nil {
		return nil, fmt.Errorf("list sending identities: %w", err)
	}
	return list, loadLinks(ctx, db, tenant, list)
}

// IdentityByID returns one identity, or ErrIdentityNotFound.
func IdentityByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, identity id.Identity) (Identity, error) {
	list, err := IdentitiesByID(ctx, db, tenant, []id.Identity{identity})
	if err != nil {
		return Identity{}, err
	}
	if len(list) == 0 {
		return Identity{}, ErrIdentityNotFound
	}
	return list[0], nil
}

// Addresses returns the addresses of those sending identities that exist.
func Addresses(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Identity) (map[id.Identity]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.Query(ctx, `SELECT id, email_address FROM sending_identity WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	names, err := sqldb.Names[id.Identity](rows, err)
	if err != nil {
		return nil, fmt.Errorf("read the addresses of sending identities: %w", err)
	}
	return names, nil
}

// DomainsOf returns the sending domains of those identities that exist.
func DomainsOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Identity) (map[id.Identity]id.Domain, error) {
	found := map[id.Identity]id.Domain{}
	rows, err := db.Query(ctx, `SELECT id, sending_domain_id FROM sending_identity WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var i id.Identity
		var d id.Domain
		err := scan(&i, &d)
		found[i] = d
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the domains of sending identities: %w", err)
	}
	return found, nil
}

// IdentitiesByID returns the existing identities among ids, by address.
func IdentitiesByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Identity) ([]Identity, error) {
	rows, err := db.Query(ctx, `SELECT `+identityColumns+identityTables+`
		WHERE i.tenant_id = $1 AND i.id`+db.In(2)+`ORDER BY i.email_address`, tenant, sqldb.List(db, ids))
	list, err := sqldb.Collect(rows, err, scanIdentity(tenant))
	if err != nil {
		return nil, fmt.Errorf("read sending identities: %w", err)
	}
	return list, loadLinks(ctx, db, tenant, list)
}

// IdentitiesByAddress returns the identities with the given addresses, in their order and without
// duplicates. For an unknown address the error is ErrUnknownIdentity.
func IdentitiesByAddress(ctx context.Context, db *sqldb.DB, tenant id.Tenant, addrs []string) ([]Identity, error) {
	wanted := make([]string, 0, len(addrs))
	for _, a := range addrs {
		a, err := address.Normalize(a)
		if err != nil {
			return nil, ErrUnknownIdentity.Sayf("not an address: %s", err).Because(err)
		}
		if !slices.Contains(wanted, a) {
			wanted = append(wanted, a)
		}
	}
	rows, err := db.Query(ctx, `SELECT `+identityColumns+identityTables+`
		WHERE i.tenant_id = $1 AND i.email_address`+db.In(2), tenant, sqldb.List(db, wanted))
	list, err := sqldb.Collect(rows, err, scanIdentity(tenant))
	if err != nil {
		return nil, fmt.Errorf("read sending identities: %w", err)
	}
	for _, a := range wanted {
		if !slices.ContainsFunc(list, func(i Identity) bool { return i.Address == a }) {
			return nil, ErrUnknownIdentity.Sayf("no sending identity has the address %s", a)
		}
	}
	slices.SortFunc(list, func(a, b Identity) int {
		return slices.Index(wanted, a.Address) - slices.Index(wanted, b.Address)
	})
	return list, loadLinks(ctx, db, tenant, list)
}

// Candidate is an identity that may send, with its domain.
type Candidate struct {
	Identity Identity
	Domain   Domain
}

// Pool is the identities from which a broadcast may be sent: the explicit ones if there are any,
// else all of the email type, restricted to active ones with a verified domain and live tracking.
type Pool struct {
	Able   []Candidate // may send now, by address
	Paused []Candidate // only their domain's pause prevents sending, by address
}

// Candidates returns the pool of some explicit identities or an email type.
func Candidates(ctx context.Context, db *sqldb.DB, tenant id.Tenant, explicit []id.Identity, typ id.EmailType) (Pool, error) {
	chosen, arg := `i.id`+db.In(2), sqldb.List(db, explicit)
	if len(explicit) == 0 {
		chosen, arg = `EXISTS (SELECT 1 FROM identity_email_type AS t
			WHERE t.tenant_id = i.tenant_id AND t.identity_id = i.id AND t.email_type_id = $2)`, typ
	}
	rows, err := db.Query(ctx, `SELECT `+identityColumns+identityTables+`
		WHERE i.tenant_id = $1 AND i.active AND (d.status = 'verified' OR d.paused) AND d.tracking_status = 'live'
			AND `+chosen+` ORDER BY i.email_address`, tenant, arg)
	list, err := sqldb.Collect(rows, err, scanIdentity(tenant))
	if err != nil {
		return Pool{}, fmt.Errorf("find candidate identities: %w", err)
	}
	if len(list) == 0 {
		return Pool{}, nil
	}
	if err := loadLinks(ctx, db, tenant, list); err != nil {
		return Pool{}, err
	}
	domains, err := Domains(ctx, db, tenant)
	if err != nil {
		return Pool{}, err
	}
	var p Pool
	for _, i := range list {
		at := slices.IndexFunc(domains, func(d Domain) bool { return d.ID == i.Domain })
		switch {
		case at < 0: // deleted meanwhile
		case domains[at].Paused:
			p.Paused = append(p.Paused, Candidate{i, domains[at]})
		default:
			p.Able = append(p.Able, Candidate{i, domains[at]})
		}
	}
	return p, nil
}

// loadLinks loads the email types and verified lanes of each identity.
func loadLinks(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []Identity) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]id.Identity, len(list))
	at := make(map[id.Identity]*Identity, len(list))
	for n := range list {
		ids[n], at[list[n].ID] = list[n].ID, &list[n]
	}
	types, err := linked[id.EmailType](ctx, db, `SELECT identity_id, email_type_id FROM identity_email_type WHERE tenant_id = $1 AND identity_id`+db.In(2), tenant, ids)
	if err != nil {
		return fmt.Errorf("read the email types of identities: %w", err)
	}
	lanes, err := linked[id.Lane](ctx, db, `SELECT identity_id, mta_config_id FROM identity_lane WHERE tenant_id = $1 AND identity_id`+db.In(2), tenant, ids)
	if err != nil {
		return fmt.Errorf("read the lanes of identities: %w", err)
	}
	for _, p := range types {
		at[p.identity].EmailTypes = append(at[p.identity].EmailTypes, p.other)
	}
	for _, p := range lanes {
		at[p.identity].VerifiedLanes = append(at[p.identity].VerifiedLanes, p.other)
	}
	return nil
}

// pair is an identity and the id of a record linked to it.
type pair[T any] struct {
	identity id.Identity
	other    T
}

// linked reads the records linked to identities, ordered by id.
func linked[T ~[16]byte](ctx context.Context, db *sqldb.DB, query string, tenant id.Tenant, ids []id.Identity) ([]pair[T], error) {
	rows, err := db.Query(ctx, query, tenant, sqldb.List(db, ids))
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (p pair[T], err error) {
		err = scan(&p.identity, &p.other)
		return p, err
	})
	slices.SortFunc(list, func(a, b pair[T]) int { return id.Compare(a.other, b.other) })
	return list, err
}
