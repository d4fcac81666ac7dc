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

// templateHead are the columns of a listing; templateAll are all columns.
const (
	templateHead = `tenant_id, id, slug, name, format, tags, counts, created_at, updated_at, revision`
	templateAll  = templateHead + `, subject, content_html, content_mjml, content_text, inline_css, parameters, sections, slots, groups, expects`
)

func (t *Template) destHead() []any {
	return []any{
		&t.Tenant, &t.ID, &t.Slug, &t.Name, &t.Format, sqldb.ToJSON(&t.Tags), sqldb.ToJSON(&t.Counts),
		sqldb.ToTime(&t.CreatedAt), sqldb.ToTime(&t.UpdatedAt), &t.Revision,
	}
}

func (t *Template) destAll() []any {
	s := &t.Schema
	return append(t.destHead(), &t.Subject, &t.HTML, &t.MJML, &t.Text, &t.InlineCSS,
		sqldb.ToJSON(&s.Parameters), sqldb.ToJSON(&s.Sections), sqldb.ToJSON(&s.Slots), sqldb.ToJSON(&s.Groups), sqldb.ToJSON(&s.Expects))
}

func (t *Template) head() head {
	return head{t.Tenant, t.ID, &t.Name, &t.Slug, &t.CreatedAt, &t.UpdatedAt, &t.Revision}
}

func (t *Template) values() ([]any, error) {
	s := t.Schema
	t.Counts = Counts{len(s.Parameters), len(s.Sections), len(s.Slots), len(s.Groups)}
	list, err := encodeColumns(t.Tags, t.Counts, optional.List(s.Parameters), optional.List(s.Sections), optional.List(s.Slots), optional.List(s.Groups), optional.List(s.Expects))
	if err != nil {
		return nil, err
	}
	return append([]any{t.Name, t.Format, list[0], list[1], t.Subject, t.HTML, t.MJML, t.Text, t.InlineCSS}, list[2:]...), nil
}

// List returns the templates of an account by name. Unless all is set, they have no bodies, and of
// their schemas only the lengths.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter, all bool) ([]Template, error) {
	columns, dest := templateHead, (*Template).destHead
	if all {
		columns, dest = templateAll, (*Template).destAll
	}
	return listRecords(ctx, db, "template", columns, dest, tenant, f)
}

// ByRef returns the template with an id or a slug.
func ByRef(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ref string) (Template, error) {
	return recordByRef[id.Template](ctx, db, "template", templateAll, (*Template).destAll, tenant, ref, ErrNotFound)
}

// Create creates a template after validating it. If the slug is taken, a number is appended.
func Create(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, tenant id.Tenant, ch Change, now time.Time, then ...func(tx *sqldb.DB, t Template, warnings []binding.Warning) error) (Template, []binding.Warning, error) {
	t := Template{Tenant: tenant, ID: id.New[id.Template](), Format: binding.HTML, Tags: []string{}}
	warnings, err := createRecord(ctx, db, c, "template", `
		INSERT INTO template (tenant_id, id, slug, created_at, updated_at, revised_by, name, format, tags, counts,
			subject, content_html, content_mjml, content_text, inline_css, parameters, sections, slots, groups, expects)
		VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
		ON CONFLICT (tenant_id, slug) DO NOTHING`, maxTemplates, &t, ch, now, func(tx *sqldb.DB, warnings []binding.Warning) error { return callEach(then, tx, t, warnings) })
	if err != nil {
		return Template{}, nil, err
	}
	return t, warnings, nil
}

// Update applies a change to a template and validates the result. What compare returns runs in the transaction that stores it.
func Update(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, tenant id.Tenant, ref string, ch Change, now time.Time, compare ...Compare[Template]) (t Template, warnings []binding.Warning, err error) {
	t, err = revision.Retry(func() (Template, error) {
		t, err := ByRef(ctx, db, tenant, ref)
		if err != nil {
			return Template{}, err
		}
		before := t
		warnings, err = updateRecord(ctx, db, c, "template", `
			UPDATE template SET slug = $4, updated_at = $5, revision = revision + 1, revised_by = $6, name = $7, format = $8, tags = $9, counts = $10,
				subject = $11, content_html = $12, content_mjml = $13, content_text = $14, inline_css = $15,
				parameters = $16, sections = $17, slots = $18, groups = $19, expects = $20
			WHERE tenant_id = $1 AND id = $2 AND revision = $3`, &t, ch, now, func() (func(context.Context, *sqldb.DB) error, error) { return compareEach(compare, before, t) })
		return t, err
	})
	if err != nil {
		return Template{}, nil, err
	}
	return t, warnings, nil
}

// Delete deletes a template. Unless forced, drafts and recent broadcasts must not use it; a nil
// counter finds none.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ref string, force bool, counter usage.Counter, now time.Time) error {
	return deleteRecord(ctx, db, "template", tenant, func(tx *sqldb.DB) (fmt.Stringer, error) {
		t, err := ByRef(ctx, tx, tenant, ref)
		return t.ID, err
	}, force, counter, now)
}
