package template

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// blockHead are the columns of a listing; blockAll are all columns.
const (
	blockHead = `tenant_id, id, slug, name, active, tags, slot_keys, created_at, updated_at, revision, parameters, sections`
	blockAll  = blockHead + `, groups, content_html, content_mjml, content_text`
)

func (b *Block) destHead() []any {
	return []any{
		&b.Tenant, &b.ID, &b.Slug, &b.Name, &b.Active, sqldb.ToJSON(&b.Tags), sqldb.ToJSON(&b.SlotKeys),
		sqldb.ToTime(&b.CreatedAt), sqldb.ToTime(&b.UpdatedAt), &b.Revision, sqldb.ToJSON(&b.Schema.Parameters), sqldb.ToJSON(&b.Schema.Sections),
	}
}

func (b *Block) destAll() []any {
	return append(b.destHead(), sqldb.ToJSON(&b.Schema.Groups), &b.HTML, &b.MJML, &b.Text)
}

func (b *Block) head() head {
	return head{b.Tenant, b.ID, &b.Name, &b.Slug, &b.CreatedAt, &b.UpdatedAt, &b.Revision}
}

func (b *Block) values() ([]any, error) {
	s := b.Schema
	list, err := encodeColumns(b.Tags, b.SlotKeys, optional.List(s.Parameters), optional.List(s.Sections), optional.List(s.Groups))
	if err != nil {
		return nil, err
	}
	return append(append([]any{b.Name, b.Active}, list...), b.HTML, b.MJML, b.Text), nil
}

// ListBlocks returns the blocks of an account by name, including inactive ones. Unless all is set,
// they have no bodies and no groups.
func ListBlocks(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter, all bool) ([]Block, error) {
	columns, dest := blockHead, (*Block).destHead
	if all {
		columns, dest = blockAll, (*Block).destAll
	}
	return listRecords(ctx, db, "block", columns, dest, tenant, f)
}

// BlockByRef returns the block with an id or a slug.
func BlockByRef(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ref string) (Block, error) {
	return recordByRef[id.Block](ctx, db, "block", blockAll, (*Block).destAll, tenant, ref, ErrNoBlock)
}

// CreateBlock creates a block after validating it. If the slug is taken, a number is appended.
func CreateBlock(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, tenant id.Tenant, ch BlockChange, now time.Time, then ...func(tx *sqldb.DB, b Block, warnings []binding.Warning) error) (Block, []binding.Warning, error) {
	b := Block{Tenant: tenant, ID: id.New[id.Block](), Active: true, Tags: []string{}, SlotKeys: []string{}}
	warnings, err := createRecord(ctx, db, c, "block", `
		INSERT INTO block (tenant_id, id, slug, created_at, updated_at, revised_by, name, active, tags, slot_keys,
			parameters, sections, groups, content_html, content_mjml, content_text)
		VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (tenant_id, slug) DO NOTHING`, maxBlocks, &b, ch, now, func(tx *sqldb.DB, warnings []binding.Warning) error { return callEach(then, tx, b, warnings) })
	if err != nil {
		return Block{}, nil, err
	}
	return b, warnings, nil
}

// UpdateBlock applies a change to a block and validates the result. What compare returns runs in the transaction that stores it.
func UpdateBlock(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, tenant id.Tenant, ref string, ch BlockChange, now time.Time, compare ...Compare[Block]) (b Block, warnings []binding.Warning, err error) {
	b, err = revision.Retry(func() (Block, error) {
		b, err := BlockByRef(ctx, db, tenant, ref)
		if err != nil {
			return Block{}, err
		}
		before := b
		warnings, err = updateRecord(ctx, db, c, "block", `
			UPDATE block SET slug = $4, updated_at = $5, revision = revision + 1, revised_by = $6, name = $7, active = $8, tags = $9, slot_keys = $10,
				parameters = $11, sections = $12, groups = $13, content_html = $14, content_mjml = $15, content_text = $16
			WHERE tenant_id = $1 AND id = $2 AND revision = $3`, &b, ch, now, func() (func(context.Context, *sqldb.DB) error, error) { return compareEach(compare, before, b) })
		return b, err
	})
	if err != nil {
		return Block{}, nil, err
	}
	return b, warnings, nil
}

// DeleteBlock deletes a block. Unless forced, drafts and recent broadcasts must not use it; a nil
// counter finds none.
func DeleteBlock(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ref string, force bool, counter usage.Counter, now time.Time) error {
	return deleteRecord(ctx, db, "block", tenant, func(tx *sqldb.DB) (fmt.Stringer, error) {
		b, err := BlockByRef(ctx, tx, tenant, ref)
		return b.ID, err
	}, force, counter, now)
}
