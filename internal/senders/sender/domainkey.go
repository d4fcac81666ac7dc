package sender

import (
	"context"
	"crypto/ed25519"
	"crypto/rsa"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/dkim"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// ErrRotating reports that a rotation of the domain's keys has begun already.
var ErrRotating = fault.New(fault.Conflict, "ROTATION_IN_PROGRESS", "a new DKIM key waits for its record to be published")

// Algorithm is the algorithm of a DKIM key.
type Algorithm string

// The algorithms.
const (
	RSA     Algorithm = "rsa"
	Ed25519 Algorithm = "ed25519"
)

// KeyState is what a key is used for.
type KeyState string

// The states.
const (
	KeyNext    KeyState = "next"    // an RSA key that will replace the current one once it is published
	KeyOffered KeyState = "offered" // an Ed25519 key that will sign once it is published
	KeySigning KeyState = "signing" // an Ed25519 key that signs beside the RSA key
	KeyRetired KeyState = "retired" // signs no more, but mails with its signature may still be on their way
)

// retireAfter is how long a key stays published after it has signed the last mail: as long as
// signatures are valid.
const retireAfter = dkim.Lifetime

// DKIMKey is a DKIM key of a domain besides its current RSA key.
type DKIMKey struct {
	Selector  string
	Algorithm Algorithm
	Record    string // the text of its TXT record
	State     KeyState
	CreatedAt time.Time
	RetireAt  *time.Time // of retired keys: until when the record must stay
}

// Rotation describes the rotation of a domain's RSA key.
type Rotation struct {
	NextSelector    string // waits for its record; empty: none
	StartedAt       *time.Time
	RetiredSelector string // the last key that was replaced; empty: none
	RetireAt        *time.Time
}

// Rotation returns the state of the rotation of the RSA key, or false if none takes place.
func (d Domain) Rotation() (r Rotation, ok bool) {
	for _, k := range d.Keys {
		switch {
		case k.Algorithm != RSA:
		case k.State == KeyNext:
			r.NextSelector, r.StartedAt = k.Selector, &k.CreatedAt
		case k.State == KeyRetired:
			r.RetiredSelector, r.RetireAt = k.Selector, k.RetireAt
		}
	}
	return r, r != (Rotation{})
}

// Ed25519Selector returns the selector of the Ed25519 key that signs, or "".
func (d Domain) Ed25519Selector() string {
	for _, k := range d.Keys {
		if k.State == KeySigning {
			return k.Selector
		}
	}
	return ""
}

func rsaSelector(n int) string { return "es" + strconv.Itoa(n) }
func edSelector(n int) string  { return "ed" + strconv.Itoa(n) }

// selectorNumber returns n of the selector of rsaSelector or edSelector.
func selectorNumber(selector string) int {
	n, _ := strconv.Atoi(strings.TrimLeft(selector, "esd"))
	return n
}

// newKeys are an RSA and an Ed25519 key that are not stored yet.
type newKeys struct {
	rsaSealed, rsaRecord string
	edSealed, edRecord   string
}

func generateKeys(box *secret.Box, tenant id.Tenant, domain id.Domain) (k newKeys, err error) {
	private, err := dkim.GenerateKey()
	if err != nil {
		return k, fmt.Errorf("make a DKIM key: %w", err)
	}
	if k.rsaRecord, err = dkim.Record(&private.PublicKey); err != nil {
		return k, err
	}
	text, err := dkim.MarshalKey(private)
	if err != nil {
		return k, err
	}
	k.rsaSealed = box.Seal(text, keyPlace(tenant, domain))
	second, err := dkim.GenerateEd25519()
	if err != nil {
		return k, fmt.Errorf("make a DKIM key: %w", err)
	}
	if text, err = dkim.MarshalEd25519(second); err != nil {
		return k, err
	}
	k.edRecord = dkim.Ed25519Record(second.Public().(ed25519.PublicKey))
	k.edSealed = box.Seal(text, edKeyPlace(tenant, domain))
	return k, nil
}

func keyPlace(tenant id.Tenant, domain id.Domain) string {
	return fmt.Sprintf("sending_domain:%s:%s:dkim_key", tenant, domain)
}

func edKeyPlace(tenant id.Tenant, domain id.Domain) string {
	return fmt.Sprintf("sending_domain_key:%s:%s:ed25519", tenant, domain)
}

// SigningKeys are the opened keys of a domain.
type SigningKeys struct {
	Selector        string
	RSA             *rsa.PrivateKey
	Ed25519Selector string
	Ed25519         ed25519.PrivateKey // nil: none signs
}

// OpenKeys opens the private keys that sign a domain's mail.
func OpenKeys(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, domain id.Domain) (SigningKeys, error) {
	var k SigningKeys
	var err error
	if k.RSA, k.Selector, err = DomainKey(ctx, db, box, tenant, domain); err != nil {
		return SigningKeys{}, err
	}
	rows, err := db.Query(ctx, `
		SELECT selector, sealed FROM sending_domain_key WHERE tenant_id = $1 AND domain_id = $2 AND state = 'signing'`, tenant, domain)
	var sealed string
	err = sqldb.Each(rows, err, func(scan func(...any) error) error { return scan(&k.Ed25519Selector, &sealed) })
	if err != nil {
		return SigningKeys{}, fmt.Errorf("read the Ed25519 key of a domain: %w", err)
	}
	if k.Ed25519Selector == "" {
		return k, nil
	}
	text, err := box.Open(sealed, edKeyPlace(tenant, domain))
	if err == nil {
		k.Ed25519, err = dkim.ParseEd25519(text)
	}
	if err != nil {
		return SigningKeys{}, fmt.Errorf("open the Ed25519 key of domain %s: %w", domain, err)
	}
	return k, nil
}

// DomainKey opens the domain's current RSA key and returns it with its selector.
func DomainKey(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, domain id.Domain) (*rsa.PrivateKey, string, error) {
	var selector, sealed string
	err := db.QueryRow(ctx, `SELECT dkim_selector, dkim_key FROM sending_domain WHERE tenant_id = $1 AND id = $2`,
		tenant, domain).Scan(&selector, &sealed)
	if err != nil {
		return nil, "", notFoundFault(err, ErrDomainNotFound)
	}
	private, err := box.Open(sealed, keyPlace(tenant, domain))
	if err != nil {
		return nil, "", fmt.Errorf("open the DKIM key of domain %s: %w", domain, err)
	}
	key, err := dkim.ParseKey(private)
	if err != nil {
		return nil, "", fmt.Errorf("read the DKIM key of domain %s: %w", domain, err)
	}
	return key, selector, nil
}

const keyColumns = `domain_id, selector, algorithm, record, state, created_at, retire_at`

// loadKeys sets the keys of each domain of a tenant.
func loadKeys(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []Domain) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]id.Domain, len(list))
	for i, d := range list {
		ids[i] = d.ID
	}
	rows, err := db.Query(ctx, `SELECT `+keyColumns+` FROM sending_domain_key WHERE tenant_id = $1 AND domain_id`+db.In(2)+`ORDER BY created_at, selector`,
		tenant, sqldb.List(db, ids))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		domain, k, err := scanKey(scan)
		if at := slices.Index(ids, domain); err == nil && at >= 0 {
			list[at].Keys = append(list[at].Keys, k)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read the keys of sending domains: %w", err)
	}
	return nil
}

// keysOf returns the keys of one domain, the oldest one first.
func keysOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, domain id.Domain) ([]DKIMKey, error) {
	list := []Domain{{ID: domain}}
	err := loadKeys(ctx, db, tenant, list)
	return list[0].Keys, err
}

func scanKey(scan func(...any) error) (domain id.Domain, k DKIMKey, err error) {
	var created int64
	var retire sql.NullInt64
	err = scan(&domain, &k.Selector, &k.Algorithm, &k.Record, &k.State, &created, &retire)
	k.CreatedAt, k.RetireAt = sqldb.Time(created), sqldb.NullTime(retire)
	return domain, k, err
}

func saveKey(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, domain id.Domain, k DKIMKey, sealed string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO sending_domain_key (tenant_id, domain_id, selector, algorithm, state, sealed, record, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		tenant, domain, k.Selector, k.Algorithm, k.State, sealed, k.Record, k.CreatedAt.UnixMicro())
	if err != nil {
		return fmt.Errorf("store a DKIM key: %w", err)
	}
	return nil
}

// NewRotation is a pair of keys that are not stored yet.
type NewRotation struct {
	tenant id.Tenant
	domain id.Domain
	keys   newKeys
}

// PrepareRotation generates the next keys of a domain, which takes too long for a transaction.
func PrepareRotation(box *secret.Box, tenant id.Tenant, domain id.Domain) (NewRotation, error) {
	keys, err := generateKeys(box, tenant, domain)
	return NewRotation{tenant, domain, keys}, err
}

// Save stores the next keys of the domain, whose records then are to be published. The current RSA
// key signs until a check finds the next one in the DNS. It returns ErrRotating while such a key
// waits.
func (r NewRotation) Save(ctx context.Context, db *sqldb.DB, now time.Time) (Domain, error) {
	var d Domain
	err := db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if d, err = lockDomain(ctx, tx, r.tenant, r.domain); err != nil {
			return err
		}
		if err := DomainRevisions.Check(ctx, tx, r.tenant, r.domain); err != nil {
			return err
		}
		last := selectorNumber(d.DKIMSelector)
		for _, k := range d.Keys {
			if k.State == KeyNext {
				return ErrRotating.Sayf("the DKIM key %s waits for its record: publish %s._domainkey.%s, then verify the domain", k.Selector, k.Selector, d.Name)
			}
			last = max(last, selectorNumber(k.Selector))
		}
		created := sqldb.Time(now.UnixMicro())
		for _, k := range []struct {
			DKIMKey
			sealed string
		}{
			{DKIMKey{Selector: rsaSelector(last + 1), Algorithm: RSA, Record: r.keys.rsaRecord, State: KeyNext, CreatedAt: created}, r.keys.rsaSealed},
			{DKIMKey{Selector: edSelector(last + 1), Algorithm: Ed25519, Record: r.keys.edRecord, State: KeyOffered, CreatedAt: created}, r.keys.edSealed},
		} {
			if err := saveKey(ctx, tx, r.tenant, r.domain, k.DKIMKey, k.sealed); err != nil {
				return err
			}
			d.Keys = append(d.Keys, k.DKIMKey)
		}
		if d.offeredBefore(last + 1) {
			d.Keys = slices.DeleteFunc(d.Keys, func(k DKIMKey) bool { return k.State == KeyOffered && k.Selector != edSelector(last+1) })
			if _, err := tx.Exec(ctx, `
				DELETE FROM sending_domain_key WHERE tenant_id = $1 AND domain_id = $2 AND state = 'offered' AND selector <> $3`,
				r.tenant, r.domain, edSelector(last+1)); err != nil {
				return fmt.Errorf("replace the offered DKIM key: %w", err)
			}
		}
		d.Revision++
		if _, err := tx.Exec(ctx, `
			UPDATE sending_domain SET revision = revision + 1, revised_at = $3, revised_by = $4 WHERE tenant_id = $1 AND id = $2`,
			r.tenant, r.domain, now.UnixMicro(), revision.By(ctx)); err != nil {
			return fmt.Errorf("count the revision of a sending domain: %w", err)
		}
		return nil
	})
	return d, err
}

// offeredBefore reports whether an older Ed25519 key than number n was offered and never published.
func (d Domain) offeredBefore(n int) bool {
	return slices.ContainsFunc(d.Keys, func(k DKIMKey) bool { return k.State == KeyOffered && selectorNumber(k.Selector) < n })
}

// lockDomain loads a domain and locks its row until the transaction ends.
func lockDomain(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, domain id.Domain) (Domain, error) {
	d, err := scanDomain(tenant)(tx.QueryRow(ctx, `
		SELECT `+domainColumns+` FROM sending_domain WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), tenant, domain).Scan)
	if err != nil {
		return Domain{}, notFoundFault(err, ErrDomainNotFound)
	}
	d.Keys, err = keysOf(ctx, tx, tenant, domain)
	return d, err
}

// updateKeys applies what a check has found to the keys, and returns the domain with them. It reports
// whether the current RSA key has changed.
func updateKeys(ctx context.Context, tx *sqldb.DB, d *Domain, published map[string]bool, absent map[string]bool, now time.Time) (switched bool, err error) {
	retire := sqldb.Time(now.Add(retireAfter).UnixMicro())
	set := func(k *DKIMKey, state KeyState) error {
		k.State, k.RetireAt = state, nil
		if state == KeyRetired {
			k.RetireAt = &retire
		}
		_, err := tx.Exec(ctx, `
			UPDATE sending_domain_key SET state = $4, retire_at = $5, sealed = CASE WHEN $4 = 'retired' THEN NULL ELSE sealed END
			WHERE tenant_id = $1 AND domain_id = $2 AND selector = $3`, d.Tenant, d.ID, k.Selector, state, sqldb.NullMicros(k.RetireAt))
		return err
	}
	for i := range d.Keys {
		k := &d.Keys[i]
		switch {
		case k.State == KeyNext && published[k.Selector]:
			err, switched = switchKey(ctx, tx, d, k, retire, now), true
		case k.State == KeyOffered && published[k.Selector]:
			for j := range d.Keys {
				if d.Keys[j].State == KeySigning && err == nil {
					err = set(&d.Keys[j], KeyRetired)
				}
			}
			if err == nil {
				err = set(k, KeySigning)
			}
		case k.State == KeySigning && absent[k.Selector]:
			err = set(k, KeyOffered) // receivers could not verify its signatures
		}
		if err != nil {
			return false, fmt.Errorf("change the DKIM keys of domain %s: %w", d.Name, err)
		}
	}
	d.Keys = slices.DeleteFunc(d.Keys, func(k DKIMKey) bool { return k.RetireAt != nil && !k.RetireAt.After(now) })
	if _, err := tx.Exec(ctx, `
		DELETE FROM sending_domain_key WHERE tenant_id = $1 AND domain_id = $2 AND retire_at <= $3`, d.Tenant, d.ID, now.UnixMicro()); err != nil {
		return false, fmt.Errorf("delete retired DKIM keys: %w", err)
	}
	return switched, nil
}

// switchKey makes the next RSA key the current one, and the current one retired. The private key of
// the latter is deleted.
func switchKey(ctx context.Context, tx *sqldb.DB, d *Domain, next *DKIMKey, retire, now time.Time) error {
	if _, err := tx.Exec(ctx, `
		UPDATE sending_domain SET dkim_selector = $3, dkim_record = $4,
			dkim_key = (SELECT k.sealed FROM sending_domain_key AS k WHERE k.tenant_id = $1 AND k.domain_id = $2 AND k.selector = $3),
			revision = revision + 1, revised_at = $5, revised_by = $6
		WHERE tenant_id = $1 AND id = $2`, d.Tenant, d.ID, next.Selector, next.Record, now.UnixMicro(), revision.By(ctx)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `
		DELETE FROM sending_domain_key WHERE tenant_id = $1 AND domain_id = $2 AND selector = $3`, d.Tenant, d.ID, next.Selector); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `
		INSERT INTO sending_domain_key (tenant_id, domain_id, selector, algorithm, state, record, created_at, retire_at)
		VALUES ($1, $2, $3, 'rsa', 'retired', $4, $5, $6)`,
		d.Tenant, d.ID, d.DKIMSelector, d.DKIMRecord, next.CreatedAt.UnixMicro(), retire.UnixMicro()); err != nil {
		return err
	}
	old := DKIMKey{Selector: d.DKIMSelector, Algorithm: RSA, Record: d.DKIMRecord, State: KeyRetired, CreatedAt: next.CreatedAt, RetireAt: &retire}
	d.DKIMSelector, d.DKIMRecord = next.Selector, next.Record
	d.Revision++
	*next = old
	return nil
}
