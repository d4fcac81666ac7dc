package lane

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

const columns = `id, key, name, type, active, settings, password IS NOT NULL, bounce_password IS NOT NULL, caps, throttles, warmup, retry_max_age_hours,
	return_path_records, created_at, revision, tested_at`

// Create adds an MTA config. Its key is derived from the name.
func Create(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, f Fields, rules Rules, now time.Time) (Config, error) {
	var p fault.Problems
	c := f.apply(defaultConfig(), rules, &p)
	if err := p.Err(); err != nil {
		return Config{}, err
	}
	c.ID, c.Tenant, c.CreatedAt, c.Revision = id.New[id.Lane](), tenant, sqldb.Time(now.UnixMicro()), 1
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		for {
			if err := c.pickKey(ctx, tx); err != nil {
				return err
			}
			n, err := tx.Exec(ctx, `
				INSERT INTO mta_config (tenant_id, id, key, name, type, active, settings, password, caps, retry_max_age_hours, created_at, throttles, warmup,
					bounce_password, return_path_records, revised_by)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
				ON CONFLICT (tenant_id, key) DO NOTHING`,
				tenant, c.ID, c.Key, c.Name, c.Type, c.Active, c.settings(), seal(box, f.secret(), secretPlace(c.Tenant, c.ID)), encode(c.Caps),
				int(c.RetryMaxAge/time.Hour), now.UnixMicro(), encodeList(c.Throttles), encode(c.Warmup),
				seal(box, f.bouncePassword(), bounceSecretPlace(c.Tenant, c.ID)), encodeList(c.ReturnPath), revision.By(ctx))
			if err != nil {
				return err
			}
			if n == 1 && c.SMTP.BounceMailbox != nil {
				return f.queueMailbox(ctx, tx, Config{}, c)
			}
			if n == 1 {
				return nil
			} // else another transaction has just taken the key
		}
	})
	if err != nil {
		return Config{}, fmt.Errorf("create an MTA config: %w", err)
	}
	return c, nil
}

// pickKey sets a key that is unique in the tenant.
func (c *Config) pickKey(ctx context.Context, tx *sqldb.DB) error {
	all, err := List(ctx, tx, c.Tenant)
	if err != nil {
		return err
	}
	if len(all) >= MaxConfigs {
		return ErrTooMany
	}
	c.Key, err = slug.Free(slug.Derive(c.Name, '_'), '_', func(s string) (bool, error) {
		return slices.ContainsFunc(all, func(other Config) bool { return other.Key == s }), nil
	})
	return err
}

// Update changes the fields in f.
func Update(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, config id.Lane, f Fields, rules Rules, now time.Time) (Config, error) {
	var c Config
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		before, err := scanOne(tx.QueryRow(ctx, `SELECT `+columns+` FROM mta_config WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), tenant, config), tenant)
		if err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, config); err != nil {
			return err
		}
		var p fault.Problems
		c = f.apply(before, rules, &p)
		if err := p.Err(); err != nil {
			return err
		}
		if f.secret() != nil || c.connection() != before.connection() {
			c.TestedAt = nil
		}
		if _, err := tx.Exec(ctx, `
			UPDATE mta_config SET name = $3, active = $4, settings = $5, caps = $6, retry_max_age_hours = $7, throttles = $8, warmup = $9,
				return_path_records = $10, revision = revision + 1, revised_at = $11, revised_by = $12, tested_at = $13
			WHERE tenant_id = $1 AND id = $2`,
			tenant, config, c.Name, c.Active, c.settings(), encode(c.Caps), int(c.RetryMaxAge/time.Hour), encodeList(c.Throttles), encode(c.Warmup),
			encodeList(c.ReturnPath), now.UnixMicro(), revision.By(ctx), sqldb.NullMicros(c.TestedAt)); err != nil {
			return err
		}
		c.Revision++
		if err := makeProbeDue(ctx, tx, tenant, config); err != nil {
			return err
		}
		if err := f.queueMailbox(ctx, tx, before, c); err != nil {
			return err
		}
		if secret := f.secret(); secret != nil {
			if _, err = tx.Exec(ctx, `UPDATE mta_config SET password = $3 WHERE tenant_id = $1 AND id = $2`,
				tenant, config, seal(box, secret, secretPlace(tenant, config))); err != nil {
				return err
			}
		}
		if secret := f.bouncePassword(); secret != nil {
			_, err = tx.Exec(ctx, `UPDATE mta_config SET bounce_password = $3 WHERE tenant_id = $1 AND id = $2`,
				tenant, config, seal(box, secret, bounceSecretPlace(tenant, config)))
		}
		return err
	})
	if err != nil {
		return Config{}, fmt.Errorf("update an MTA config: %w", err)
	}
	return c, nil
}

// Delete removes an MTA config that is not in use. The caller must have removed it from sending
// identities in the same transaction.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, config id.Lane, who usage.Finder) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		c, err := ByID(ctx, tx, tenant, config)
		if err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, config); err != nil {
			return err
		}
		holders, err := who.Find(ctx, tx, tenant, usage.Subject{Kind: usage.Lane, ID: c.ID.String(), Key: c.Key})
		if err != nil {
			return fmt.Errorf("find uses of MTA config: %w", err)
		}
		if holders.Any() {
			return ErrInUse.With(map[string]any{"usage": holders.With("broadcasts", "sequences")})
		}
		if _, err := tx.Exec(ctx, `DELETE FROM mta_config WHERE tenant_id = $1 AND id = $2`, tenant, config); err != nil {
			return fmt.Errorf("delete an MTA config: %w", err)
		}
		return nil
	})
}

// List returns the tenant's MTA configs by name.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]Config, error) {
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM mta_config WHERE tenant_id = $1 ORDER BY `+db.SortText("name")+`, id`, tenant)
	list, err := sqldb.Collect(rows, err, scanFor(tenant))
	if err != nil {
		return nil, fmt.Errorf("list MTA configs: %w", err)
	}
	return list, nil
}

// Keys returns the keys of those MTA configs that exist.
func Keys(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Lane) (map[id.Lane]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.Query(ctx, `SELECT id, key FROM mta_config WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	names, err := sqldb.Names[id.Lane](rows, err)
	if err != nil {
		return nil, fmt.Errorf("read the keys of MTA configs: %w", err)
	}
	return names, nil
}

// ByID returns one MTA config, or ErrNotFound.
func ByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, config id.Lane) (Config, error) {
	return scanOne(db.QueryRow(ctx, `SELECT `+columns+` FROM mta_config WHERE tenant_id = $1 AND id = $2`, tenant, config), tenant)
}

// ByKey returns the MTA config with the key, or ErrUnknown.
func ByKey(ctx context.Context, db *sqldb.DB, tenant id.Tenant, key string) (Config, error) {
	c, err := scanOne(db.QueryRow(ctx, `SELECT `+columns+` FROM mta_config WHERE tenant_id = $1 AND key = $2`, tenant, key), tenant)
	if errors.Is(err, ErrNotFound) {
		return Config{}, ErrUnknown
	}
	return c, err
}

// Password opens the password of an MTA config, or the secret access key of one of type ses; "" if
// there is none.
func Password(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, config id.Lane) (string, error) {
	row := db.QueryRow(ctx, `SELECT password FROM mta_config WHERE tenant_id = $1 AND id = $2`, tenant, config)
	return open(row, box, secretPlace(tenant, config))
}

// BouncePassword opens the password of an MTA config's bounce mailbox; "" if there is none.
func BouncePassword(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, config id.Lane) (string, error) {
	row := db.QueryRow(ctx, `SELECT bounce_password FROM mta_config WHERE tenant_id = $1 AND id = $2`, tenant, config)
	return open(row, box, bounceSecretPlace(tenant, config))
}

// open returns the secret in a row, or ErrNotFound without a row.
func open(row *sqldb.Row, box *secret.Box, place string) (string, error) {
	var sealed sql.NullString
	err := row.Scan(&sealed)
	switch {
	case errors.Is(err, sqldb.ErrNoRows):
		return "", ErrNotFound
	case err != nil:
		return "", fmt.Errorf("read %s: %w", place, err)
	case !sealed.Valid:
		return "", nil
	}
	plain, err := box.Open(sealed.String, place)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", place, err)
	}
	return string(plain), nil
}

// secretPlace and bounceSecretPlace are what the secrets of an MTA config are sealed for.
func secretPlace(tenant id.Tenant, config id.Lane) string {
	return fmt.Sprintf("mta_config:%s:%s:password", tenant, config)
}

func bounceSecretPlace(tenant id.Tenant, config id.Lane) string {
	return fmt.Sprintf("mta_config:%s:%s:bounce_password", tenant, config)
}

// secret returns the lane's secret in f; nil if it is absent.
func (f Fields) secret() *string {
	if f.SecretAccessKey != nil {
		return f.SecretAccessKey
	}
	return f.Password
}

// bouncePassword returns the password of the bounce mailbox in f, "" to remove it, or nil to keep it.
func (f Fields) bouncePassword() *string {
	switch {
	case f.BounceMailbox == nil:
		return nil
	case f.BounceMailbox.Remove:
		return new("")
	}
	return f.BounceMailbox.Password
}

// seal returns a sealed secret, or nil if there is none.
func seal(box *secret.Box, text *string, place string) any {
	if text == nil || *text == "" {
		return nil
	}
	return box.Seal([]byte(*text), place)
}

// settings encodes the settings of the type.
func (c Config) settings() string {
	switch c.Type {
	case SMTP:
		return encode(c.SMTP)
	case DirectMX:
		return encode(c.Direct)
	case SES:
		return encode(c.SES)
	case Sink:
		return encode(c.Sink)
	}
	return "{}"
}

// encodeList encodes a list, one without elements as "[]".
func encodeList[T any](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	return encode(list)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs always encode
	}
	return string(b)
}

func scanOne(row *sqldb.Row, tenant id.Tenant) (Config, error) {
	c, err := scanFor(tenant)(row.Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Config{}, ErrNotFound
	}
	if err != nil {
		return Config{}, fmt.Errorf("read an MTA config: %w", err)
	}
	return c, nil
}

func scanFor(tenant id.Tenant) func(func(...any) error) (Config, error) {
	return func(scan func(...any) error) (Config, error) {
		c := Config{Tenant: tenant}
		var settings, caps, throttles, warmup, returnPath string
		var hasPassword, hasBouncePassword bool
		var hours, created int64
		var tested sql.NullInt64
		if err := scan(&c.ID, &c.Key, &c.Name, &c.Type, &c.Active, &settings, &hasPassword, &hasBouncePassword, &caps, &throttles, &warmup, &hours,
			&returnPath, &created, &c.Revision, &tested); err != nil {
			return Config{}, err
		}
		var to any
		switch c.Type {
		case SMTP:
			to = &c.SMTP
		case DirectMX:
			to = &c.Direct
		case SES:
			to = &c.SES
		case Sink:
			to = &c.Sink
		}
		if to != nil {
			if err := json.Unmarshal([]byte(settings), to); err != nil {
				return Config{}, fmt.Errorf("settings of MTA config %s: %w", c.ID, err)
			}
		}
		c.SMTP.HasPassword = hasPassword && c.Type == SMTP
		c.SES.HasSecret = hasPassword && c.Type == SES
		if m := c.SMTP.BounceMailbox; m != nil {
			m.HasPassword = hasBouncePassword
		}
		if err := json.Unmarshal([]byte(caps), &c.Caps); err != nil {
			return Config{}, fmt.Errorf("caps of MTA config %s: %w", c.ID, err)
		}
		if err := json.Unmarshal([]byte(throttles), &c.Throttles); err != nil {
			return Config{}, fmt.Errorf("throttles of MTA config %s: %w", c.ID, err)
		}
		if len(c.Throttles) == 0 {
			c.Throttles = nil
		}
		c.Warmup = noWarmup
		if err := json.Unmarshal([]byte(warmup), &c.Warmup); err != nil {
			return Config{}, fmt.Errorf("warm-up of MTA config %s: %w", c.ID, err)
		}
		if err := json.Unmarshal([]byte(returnPath), &c.ReturnPath); err != nil {
			return Config{}, fmt.Errorf("return path records of MTA config %s: %w", c.ID, err)
		}
		if len(c.ReturnPath) == 0 {
			c.ReturnPath = nil
		}
		c.RetryMaxAge, c.CreatedAt, c.TestedAt = time.Duration(hours)*time.Hour, sqldb.Time(created), sqldb.NullTime(tested)
		return c, nil
	}
}
