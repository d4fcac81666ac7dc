package template

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/slug"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/usage"
)

const (
	blockHead = `tenant_id, id, slug, name, active, tags, slot_keys, created_at, updated_at`
	blockLean = blockHead + `, parameters, sections`
	blockBody = blockLean + `, groups, content_html, content_mjml, content_text`
)

func scanBlockLean(row scanner) (Block, error) {
	return scanBlock(row, func(b *Block) []any {
		return []any{stored(&b.Schema.Parameters), stored(&b.Schema.Sections)}
	})
}

func scanBlockWhole(row scanner) (Block, error) {
	return scanBlock(row, func(b *Block) []any {
		return []any{stored(&b.Schema.Parameters), stored(&b.Schema.Sections), stored(&b.Schema.Groups), &b.HTML, &b.MJML, &b.Text}
	})
}

func scanBlock(row scanner, more func(b *Block) []any) (Block, error) {
	var b Block
	var created, updated int64
	dest := []any{&b.Tenant, &b.ID, &b.Slug, &b.Name, &b.Active, stored(&b.Tags), stored(&b.SlotKeys), &created, &updated}
	if more != nil {
		dest = append(dest, more(&b)...)
	}
	if err := row(dest...); err != nil {
		return Block{}, err
	}
	b.CreatedAt, b.UpdatedAt = sqldb.Time(created), sqldb.Time(updated)
	return b, nil
}

// ListBlocks returns the blocks of an account by name, including inactive ones; whole includes
// bodies and groups.
func ListBlocks(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter, whole bool) ([]Block, error) {
	columns, scan := blockLean, scanBlockLean
	if whole {
		columns, scan = blockBody, scanBlockWhole
	}
	where, args := f.where(db, tenant)
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM block WHERE tenant_id = $1`+where+` ORDER BY `+db.Bytewise("name")+`, id`, args...)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (Block, error) { return scan(row) })
	if err != nil {
		return nil, fmt.Errorf("list blocks: %w", err)
	}
	return list, nil
}

// BlockByRef returns the block with an id or a slug.
func BlockByRef(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ref string) (Block, error) {
	where, key := `slug = $2`, any(ref)
	if b, ok := id.Parse[id.Block](ref); ok {
		where, key = `id = $2`, b
	}
	if unstorable(ref) {
		return Block{}, ErrNoBlock
	}
	b, err := scanBlockWhole(db.QueryRow(ctx, `SELECT `+blockBody+` FROM block WHERE tenant_id = $1 AND `+where, tenant, key).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Block{}, ErrNoBlock
	}
	if err != nil {
		return Block{}, fmt.Errorf("read a block: %w", err)
	}
	return b, nil
}

// CreateBlock creates a block after validating it. If the slug is taken, a number is appended.
func CreateBlock(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, tenant id.Tenant, ch BlockChange, now time.Time) (Block, []binding.Warning, error) {
	now = sqldb.Time(now.UnixMicro())
	b := Block{Tenant: tenant, ID: id.New[id.Block](), Active: true, Tags: []string{}, SlotKeys: []string{}, CreatedAt: now, UpdatedAt: now}
	if err := b.apply(ch); err != nil {
		return Block{}, nil, err
	}
	warnings, err := b.check(ctx, c, ch)
	if err != nil {
		return Block{}, nil, err
	}
	if b.Slug == "" {
		b.Slug = slug.Derive(b.Name, '-')
	}
	values, err := b.values()
	if err != nil {
		return Block{}, nil, err
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM block WHERE tenant_id = $1`, tenant).Scan(&n); err != nil {
			return err
		}
		if n >= maxBlocks {
			return ErrLimit.Sayf("an account may have at most %d blocks", maxBlocks)
		}
		var err error
		b.Slug, err = free(b.Slug, func(try string) (int64, error) {
			return tx.Exec(ctx, `
				INSERT INTO block (tenant_id, id, slug, created_at, updated_at, name, active, tags, slot_keys,
					parameters, sections, groups, content_html, content_mjml, content_text)
				VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
				ON CONFLICT (tenant_id, slug) DO NOTHING`,
				append([]any{tenant, b.ID, try, sqldb.Micros(now)}, values...)...)
		})
		return err
	})
	if err != nil {
		return Block{}, nil, fmt.Errorf("create a block: %w", err)
	}
	return b, warnings, nil
}

// values returns the columns that an author writes, in the order of the statements.
func (b *Block) values() ([]any, error) {
	s := b.Schema
	var texts [5]string
	for i, v := range []any{b.Tags, b.SlotKeys, some(s.Parameters), some(s.Sections), some(s.Groups)} {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("write a block: %w", err)
		}
		texts[i] = string(text)
	}
	return []any{b.Name, b.Active, texts[0], texts[1], texts[2], texts[3], texts[4], b.HTML, b.MJML, b.Text}, nil
}

// UpdateBlock applies a change to a block.
func UpdateBlock(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, tenant id.Tenant, ref string, ch BlockChange, now time.Time) (Block, []binding.Warning, error) {
	return attempt(func() (Block, []binding.Warning, error) {
		b, err := BlockByRef(ctx, db, tenant, ref)
		if err != nil {
			return Block{}, nil, err
		}
		before := b.UpdatedAt
		if err := b.apply(ch); err != nil {
			return Block{}, nil, err
		}
		var warnings []binding.Warning
		if ch.content() {
			if warnings, err = b.check(ctx, c, ch); err != nil {
				return Block{}, nil, err
			}
		}
		b.UpdatedAt = after(before, now)
		values, err := b.values()
		if err != nil {
			return Block{}, nil, err
		}
		n, err := db.Exec(ctx, `
			UPDATE block SET slug = $4, updated_at = $5, name = $6, active = $7, tags = $8, slot_keys = $9,
				parameters = $10, sections = $11, groups = $12, content_html = $13, content_mjml = $14, content_text = $15
			WHERE tenant_id = $1 AND id = $2 AND updated_at = $3`,
			append([]any{tenant, b.ID, sqldb.Micros(before), b.Slug, sqldb.Micros(b.UpdatedAt)}, values...)...)
		switch {
		case sqldb.IsUniqueViolation(err):
			return Block{}, nil, ErrSlug.Sayf("another block has the slug %s", b.Slug)
		case err != nil:
			return Block{}, nil, fmt.Errorf("update a block: %w", err)
		case n == 0:
			return Block{}, nil, errMeanwhile
		}
		return b, warnings, nil
	})
}

// DeleteBlock deletes a block. Unless forced, drafts and recent broadcasts must not use it; a nil
// counter finds none.
func DeleteBlock(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ref string, force bool, counter usage.Counter, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		b, err := BlockByRef(ctx, tx, tenant, ref)
		if err != nil {
			return err
		}
		if !force {
			if err := unused(ctx, tx, tenant, usage.Block, b.ID.String(), counter, now); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `DELETE FROM block WHERE tenant_id = $1 AND id = $2`, tenant, b.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete a block: %w", err)
	}
	return nil
}
