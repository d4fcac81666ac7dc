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

// Filter restricts a listing; an empty field means no restriction.
type Filter struct {
	Tags     []string // all of these
	SlotKeys []string // any of these; for blocks only
}

// where returns the conditions, and the parameters of a statement whose first is the tenant.
func (f Filter) where(db *sqldb.DB, tenant id.Tenant) (text string, args []any) {
	args = []any{tenant}
	if len(f.Tags) > 0 {
		tags, _ := json.Marshal(f.Tags) // strings always encode
		args = append(args, string(tags))
		text += ` AND ` + db.JSONContains("tags", len(args))
	}
	if len(f.SlotKeys) > 0 {
		args = append(args, sqldb.List(db, f.SlotKeys))
		text += ` AND ` + db.AnyElement("slot_keys", len(args))
	}
	return text, args
}

// head are the columns of a listing; body are the others.
const (
	head = `tenant_id, id, slug, name, format, tags, counts, created_at, updated_at`
	body = `subject, content_html, content_mjml, content_text, inline_css, parameters, sections, slots, groups, expects`
)

type scanner func(dest ...any) error

func scanHead(row scanner) (Template, error) { return scan(row, nil) }

func scanWhole(row scanner) (Template, error) {
	return scan(row, func(t *Template) []any {
		return []any{
			&t.Subject, &t.HTML, &t.MJML, &t.Text, &t.InlineCSS, stored(&t.Schema.Parameters), stored(&t.Schema.Sections),
			stored(&t.Schema.Slots), stored(&t.Schema.Groups), stored(&t.Schema.Expects),
		}
	})
}

func scan(row scanner, more func(t *Template) []any) (Template, error) {
	var t Template
	var created, updated int64
	dest := []any{&t.Tenant, &t.ID, &t.Slug, &t.Name, &t.Format, stored(&t.Tags), stored(&t.Counts), &created, &updated}
	if more != nil {
		dest = append(dest, more(&t)...)
	}
	if err := row(dest...); err != nil {
		return Template{}, err
	}
	t.CreatedAt, t.UpdatedAt = sqldb.Time(created), sqldb.Time(updated)
	return t, nil
}

// jsonColumn scans a JSON column.
type jsonColumn struct{ to any }

func stored(to any) jsonColumn { return jsonColumn{to} }

// Scan decodes the column.
func (c jsonColumn) Scan(v any) error {
	switch v := v.(type) {
	case string:
		return json.Unmarshal([]byte(v), c.to)
	case []byte:
		return json.Unmarshal(v, c.to)
	}
	return fmt.Errorf("a column of JSON holds a %T", v)
}

// List returns the templates of an account by name; whole includes bodies and schemas, otherwise
// only the schemas' lengths are set.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter, whole bool) ([]Template, error) {
	columns, scan := head, scanHead
	if whole {
		columns, scan = head+`, `+body, scanWhole
	}
	where, args := f.where(db, tenant)
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM template WHERE tenant_id = $1`+where+` ORDER BY `+db.Bytewise("name")+`, id`, args...)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (Template, error) { return scan(row) })
	if err != nil {
		return nil, fmt.Errorf("list templates: %w", err)
	}
	return list, nil
}

// ByRef returns the template with an id or a slug.
func ByRef(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ref string) (Template, error) {
	where, key := `slug = $2`, any(ref)
	if t, ok := id.Parse[id.Template](ref); ok {
		where, key = `id = $2`, t
	}
	if unstorable(ref) {
		return Template{}, ErrNotFound
	}
	t, err := scanWhole(db.QueryRow(ctx, `SELECT `+head+`, `+body+` FROM template WHERE tenant_id = $1 AND `+where, tenant, key).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Template{}, ErrNotFound
	}
	if err != nil {
		return Template{}, fmt.Errorf("read a template: %w", err)
	}
	return t, nil
}

// Create creates a template after validating it. If the slug is taken, a number is appended.
func Create(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, tenant id.Tenant, ch Change, now time.Time) (Template, []binding.Warning, error) {
	now = sqldb.Time(now.UnixMicro())
	t := Template{Tenant: tenant, ID: id.New[id.Template](), Format: binding.HTML, Tags: []string{}, CreatedAt: now, UpdatedAt: now}
	if err := t.apply(ch); err != nil {
		return Template{}, nil, err
	}
	warnings, err := t.check(ctx, db, c, ch, now)
	if err != nil {
		return Template{}, nil, err
	}
	if t.Slug == "" {
		t.Slug = slug.Derive(t.Name, '-')
	}
	values, err := t.values()
	if err != nil {
		return Template{}, nil, err
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM template WHERE tenant_id = $1`, tenant).Scan(&n); err != nil {
			return err
		}
		if n >= maxTemplates {
			return ErrLimit.Sayf("an account may have at most %d templates", maxTemplates)
		}
		var err error
		t.Slug, err = free(t.Slug, func(try string) (int64, error) {
			return tx.Exec(ctx, `
				INSERT INTO template (tenant_id, id, slug, created_at, updated_at, name, format, tags, counts,
					subject, content_html, content_mjml, content_text, inline_css, parameters, sections, slots, groups, expects)
				VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
				ON CONFLICT (tenant_id, slug) DO NOTHING`,
				append([]any{tenant, t.ID, try, sqldb.Micros(now)}, values...)...)
		})
		return err
	})
	if err != nil {
		return Template{}, nil, fmt.Errorf("create a template: %w", err)
	}
	return t, warnings, nil
}

// free inserts with the slug, or with the first free number appended. A text that looks like an id
// is not used as a slug.
func free(s string, insert func(try string) (int64, error)) (string, error) {
	return slug.Free(s, '-', func(try string) (bool, error) {
		if id.Valid(try) {
			return true, nil
		}
		made, err := insert(try)
		return made == 0, err
	})
}

// values returns the columns that an author writes, in the order of the statements.
func (t *Template) values() ([]any, error) {
	s := t.Schema
	t.Counts = Counts{len(s.Parameters), len(s.Sections), len(s.Slots), len(s.Groups)}
	var texts [7]string
	for i, v := range []any{t.Tags, t.Counts, some(s.Parameters), some(s.Sections), some(s.Slots), some(s.Groups), some(s.Expects)} {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("write a template: %w", err)
		}
		texts[i] = string(b)
	}
	return []any{
		t.Name, t.Format, texts[0], texts[1], t.Subject, t.HTML, t.MJML, t.Text, t.InlineCSS,
		texts[2], texts[3], texts[4], texts[5], texts[6],
	}, nil
}

// some returns list, never nil, so that its JSON is an array.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Update applies a change to a template. The result is validated as a whole, and stored only if no
// other writer has changed it meanwhile, so that schema and bodies always fit.
func Update(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, tenant id.Tenant, ref string, ch Change, now time.Time) (Template, []binding.Warning, error) {
	return attempt(func() (Template, []binding.Warning, error) {
		t, err := ByRef(ctx, db, tenant, ref)
		if err != nil {
			return Template{}, nil, err
		}
		before := t.UpdatedAt
		if err := t.apply(ch); err != nil {
			return Template{}, nil, err
		}
		var warnings []binding.Warning
		if ch.content() {
			if warnings, err = t.check(ctx, db, c, ch, now); err != nil {
				return Template{}, nil, err
			}
		}
		t.UpdatedAt = after(before, now)
		values, err := t.values()
		if err != nil {
			return Template{}, nil, err
		}
		n, err := db.Exec(ctx, `
			UPDATE template SET slug = $4, updated_at = $5, name = $6, format = $7, tags = $8, counts = $9,
				subject = $10, content_html = $11, content_mjml = $12, content_text = $13, inline_css = $14,
				parameters = $15, sections = $16, slots = $17, groups = $18, expects = $19
			WHERE tenant_id = $1 AND id = $2 AND updated_at = $3`,
			append([]any{tenant, t.ID, sqldb.Micros(before), t.Slug, sqldb.Micros(t.UpdatedAt)}, values...)...)
		switch {
		case sqldb.IsUniqueViolation(err):
			return Template{}, nil, ErrSlug.Sayf("another template has the slug %s", t.Slug)
		case err != nil:
			return Template{}, nil, fmt.Errorf("update a template: %w", err)
		case n == 0:
			return Template{}, nil, errMeanwhile
		}
		return t, warnings, nil
	})
}

// after returns the time of a change: now, but later than the previous one, since a writer detects
// concurrent changes by it.
func after(before, now time.Time) time.Time {
	if next := before.Add(time.Microsecond); now.Before(next) {
		return next
	}
	return sqldb.Time(now.UnixMicro())
}

// errMeanwhile means that the row was written since it was read.
var errMeanwhile = errors.New("the row was written meanwhile")

// attempt calls f again, up to 10 times, while it returns errMeanwhile.
func attempt[T any](f func() (T, []binding.Warning, error)) (T, []binding.Warning, error) {
	for try := 1; ; try++ {
		v, warnings, err := f()
		if !errors.Is(err, errMeanwhile) || try == 10 {
			return v, warnings, err
		}
	}
}

// Delete deletes a template. Unless forced, drafts and recent broadcasts must not use it; a nil
// counter finds none.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ref string, force bool, counter usage.Counter, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		t, err := ByRef(ctx, tx, tenant, ref)
		if err != nil {
			return err
		}
		if !force {
			if err := unused(ctx, tx, tenant, usage.Template, t.ID.String(), counter, now); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `DELETE FROM template WHERE tenant_id = $1 AND id = $2`, tenant, t.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete a template: %w", err)
	}
	return nil
}

// unused returns ErrInUse if broadcasts use the template or block.
func unused(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, kind usage.Kind, thing string, counter usage.Counter, now time.Time) error {
	if counter == nil {
		return nil
	}
	counts, err := counter.Count(ctx, tx, tenant, kind, thing, now)
	if err != nil {
		return err
	}
	if n := counts[thing]; n.Any() {
		return ErrInUse.With(n)
	}
	return nil
}
