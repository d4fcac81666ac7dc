package broadcast

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Revisions is the table of broadcasts, for conditions on their revisions.
var Revisions = revision.Table{Name: "broadcast"}

// Create creates a draft and stores it.
func Create(ctx context.Context, w draft.Author, account id.Tenant, ch Change, by auth.Actor) (Broadcast, error) {
	b, err := New(ctx, w, account, ch, by)
	if err != nil {
		return Broadcast{}, err
	}
	return b, b.Insert(ctx, w.DB)
}

// New returns a draft made from a change, after validating it, without storing it. Tracking is the
// account's default unless the change sets it.
func New(ctx context.Context, w draft.Author, account id.Tenant, ch Change, by auth.Actor) (Broadcast, error) {
	if err := ch.Check(); err != nil {
		return Broadcast{}, err
	}
	t, err := tenant.ByID(ctx, w.DB, account)
	if err != nil {
		return Broadcast{}, err
	}
	b := Broadcast{
		Plan: Plan{Tracking: t.Settings.Tracking.Enabled}, Tenant: account, ID: id.New[id.Broadcast](), Send: id.New[id.Send](),
		Revision: 1, Status: Draft, Kind: Regular, ContentVersion: 1, CreatedBy: by, CreatedAt: sqldb.Time(w.Now.UnixMicro()),
	}
	if b.Plan, err = ch.rewrite(ctx, w, b); err != nil {
		return Broadcast{}, err
	}
	if ch.Variants != nil {
		if b.Variants, err = writeVariants(ctx, w, b, *ch.Variants); err != nil {
			return Broadcast{}, err
		}
	}
	b.Plan = ch.apply(b.Plan)
	if err := ch.Delivery.checkRequiredAfter(b.Delivery, spread.DayOf(w.Now, t.Location())); err != nil {
		return Broadcast{}, err
	}
	b.UpdatedAt = b.CreatedAt
	b.Bodies = b.bodies()
	return b, nil
}

// bodies returns which bodies a completely loaded broadcast has.
func (b Broadcast) bodies() Bodies {
	c := b.Content
	return Bodies{HTML: c.HTML != nil, MJML: c.MJML != nil, Text: c.Text != nil, Snapshot: c.Origin != nil}
}

// Insert stores a draft made by New.
func (b Broadcast) Insert(ctx context.Context, db *sqldb.DB) error {
	creator, err := json.Marshal(b.CreatedBy)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, `
		INSERT INTO broadcast (tenant_id, id, send_id, revision, status, kind, content_version, created_by, created_at, updated_at,
			name, subject, preheader, from_name, reply_to, body_html, body_mjml, body_text,
			template_id, template_slug, authored_subject, template_binding, template_snapshot, template_params, block_ids,
			message_id, message_version, variant_shares, variants, email_type_id, mta_config_id,
			include_segments, exclude_segments, identities, tags, metadata, scheduled_at, tracking, delivery, seed_lists, mjml_findings, revised_by)
		VALUES ($1, $2, $36, 1, 'draft', 'regular', 1, $3, $4, $4,
			$5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $37)`,
		append([]any{b.Tenant, b.ID, string(creator), b.CreatedAt.UnixMicro()}, append(b.written(), b.Send, revision.By(ctx))...)...)
	if err != nil {
		return fmt.Errorf("create a broadcast: %w", err)
	}
	return nil
}

// complete sets defaults for values that the author left out.
func (p Plan) complete() Plan {
	if p.Name == "" {
		p.Name = "Untitled broadcast"
		if s := p.Content.Subject; s != nil && *s != "" {
			p.Name = string([]rune(*s)[:min(200, len([]rune(*s)))])
		}
	}
	p.Include, p.Exclude, p.Tags = distinct(p.Include), distinct(p.Exclude), distinct(p.Tags)
	if p.Identities != nil {
		p.Identities = distinct(p.Identities)
	}
	if p.Metadata == nil {
		p.Metadata = Metadata{}
	}
	if p.ScheduledAt != nil {
		p.ScheduledAt = new(p.ScheduledAt.UTC().Truncate(time.Microsecond))
	}
	return p
}

// distinct returns the list without duplicates, in its order; never nil.
func distinct[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	out := make([]T, 0, len(list))
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// written returns the columns that an author writes, in the order of the statements.
func (b Broadcast) written() []any {
	c := b.Content
	var identities any
	if b.Identities != nil {
		identities = jsonArray(b.Identities)
	}
	columns := []any{b.Name, c.Subject, c.Preheader, c.FromName, c.ReplyTo, c.HTML, c.MJML, c.Text}
	if o := c.Origin; o != nil {
		columns = append(columns, o.Template, o.Slug, o.Subject, string(o.Binding), string(o.Snapshot), string(o.Params), jsonArray(o.Blocks))
	} else {
		columns = append(columns, nil, nil, nil, nil, nil, nil, nil)
	}
	if m := b.Message; m != nil {
		columns = append(columns, m.Entry, m.Version)
	} else {
		columns = append(columns, nil, nil)
	}
	if b.Variants != nil {
		withoutContent := slices.Clone(b.Variants)
		for i := range withoutContent {
			withoutContent[i].Overrides, withoutContent[i].HTML, withoutContent[i].Findings = nil, nil, nil
		}
		shares, _ := json.Marshal(withoutContent) // strings and numbers always encode
		all, _ := json.Marshal(b.Variants)
		columns = append(columns, string(shares), string(all))
	} else {
		columns = append(columns, nil, nil)
	}
	delivery, _ := json.Marshal(b.Delivery) // strings and finite numbers always encode
	var seeds any
	if b.SeedLists != nil {
		seeds = jsonArray(*b.SeedLists)
	}
	var findings any
	if len(c.Findings) > 0 {
		findings = jsonArray(c.Findings)
	}
	return append(columns,
		sqldb.Null(b.EmailType), sqldb.Null(b.Lane),
		jsonArray(b.Include), jsonArray(b.Exclude), identities, jsonArray(b.Tags), b.Metadata.JSON(),
		sqldb.NullMicros(b.ScheduledAt), b.Tracking, string(delivery), seeds, findings)
}

func jsonArray[T any](list []T) string {
	b, _ := json.Marshal(list) // strings and ids always encode
	return string(b)
}

// Update applies a validated change to a draft. Content made from a template is rendered again. The
// content version increases if the content changed.
func Update(ctx context.Context, w draft.Author, account id.Tenant, bid id.Broadcast, ch Change) (Broadcast, error) {
	if err := ch.Check(); err != nil {
		return Broadcast{}, err
	}
	t, err := tenant.ByID(ctx, w.DB, account)
	if err != nil {
		return Broadcast{}, err
	}
	return revision.Retry(func() (Broadcast, error) {
		b, err := Load(ctx, w.DB, account, bid)
		if err != nil {
			return Broadcast{}, err
		}
		if err := b.compare(ctx, w.DB); err != nil {
			return Broadcast{}, err
		}
		if !b.Can(ActionUpdate) {
			return Broadcast{}, ErrNotDraft
		}
		before, variants := b.Content, b.Variants
		if ch.Content != nil || ch.Message != nil || before.Origin != nil {
			if b.Plan, err = ch.rewrite(ctx, w, b); err != nil {
				return Broadcast{}, err
			}
		}
		changed := !before.Equal(b.Content)
		if ch.Variants != nil {
			b.Variants = *ch.Variants
		}
		if changed || ch.Variants != nil {
			if b.Variants, err = writeVariants(ctx, w, b, b.Variants); err != nil {
				return Broadcast{}, err
			}
		}
		b.Plan = ch.apply(b.Plan)
		if err := ch.Delivery.checkRequiredAfter(b.Delivery, spread.DayOf(w.Now, t.Location())); err != nil {
			return Broadcast{}, err
		}
		if changed || !sameVariants(variants, b.Variants) {
			b.ContentVersion++
		}
		n, err := w.DB.Exec(ctx, `
			UPDATE broadcast SET revision = revision + 1, content_version = $4, updated_at = $5,
				name = $6, subject = $7, preheader = $8, from_name = $9, reply_to = $10, body_html = $11, body_mjml = $12, body_text = $13,
				template_id = $14, template_slug = $15, authored_subject = $16, template_binding = $17, template_snapshot = $18,
				template_params = $19, block_ids = $20, message_id = $21, message_version = $22,
				variant_shares = $23, variants = $24,
				email_type_id = $25, mta_config_id = $26, include_segments = $27, exclude_segments = $28, identities = $29,
				tags = $30, metadata = $31, scheduled_at = $32, tracking = $33, delivery = $34, seed_lists = $35, mjml_findings = $36, revised_by = $37
			WHERE tenant_id = $1 AND id = $2 AND revision = $3 AND status = 'draft'`,
			append([]any{account, bid, b.Revision, b.ContentVersion, w.Now.UnixMicro()}, append(b.written(), revision.By(ctx))...)...)
		if err != nil {
			return Broadcast{}, fmt.Errorf("edit a broadcast: %w", err)
		}
		if n == 0 {
			return Broadcast{}, revision.ErrOvertaken
		}
		return Load(ctx, w.DB, account, bid)
	})
}

// compare checks the condition of ctx against the revision of b that was read. The caller writes only this
// revision.
func (b Broadcast) compare(ctx context.Context, db *sqldb.DB) error {
	if err := Revisions.Compare(ctx, revision.Conflict{Revision: b.Revision}); err == nil {
		return nil
	}
	if err := Revisions.Check(ctx, db, b.Tenant, b.ID); err != nil {
		return err
	}
	return revision.ErrOvertaken // it was written since b was read
}

// Delete deletes a draft.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast) error {
	var n int64
	err := db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if err := Revisions.Check(ctx, tx, tenant, bid); err != nil {
			return err
		}
		n, err = tx.Exec(ctx, `DELETE FROM broadcast WHERE tenant_id = $1 AND id = $2 AND status = 'draft'`, tenant, bid)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete a broadcast: %w", err)
	}
	if n == 0 {
		if _, err := statusOf(ctx, db, tenant, bid); err != nil {
			return err
		}
		return ErrNotDraft
	}
	return nil
}

// statusOf returns the status of a broadcast.
func statusOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast) (Status, error) {
	var s Status
	err := db.QueryRow(ctx, `SELECT status FROM broadcast WHERE tenant_id = $1 AND id = $2`, tenant, bid).Scan(&s)
	if errors.Is(err, sqldb.ErrNoRows) {
		return "", ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("look up a broadcast: %w", err)
	}
	return s, nil
}

// columns are the columns that scan reads. Large values come last, and are NULL without bodies, so
// that PostgreSQL does not read them from TOAST.
const (
	columns = `tenant_id, id, send_id, revision, name, status, kind, subject, preheader, from_name, reply_to,
		body_html IS NOT NULL, body_mjml IS NOT NULL, body_text IS NOT NULL, template_snapshot IS NOT NULL,
		template_id, template_slug, authored_subject, template_binding, message_id, message_version, variant_shares,
		content_version, email_type_id, mta_config_id,
		include_segments, exclude_segments, identities, tags, metadata, scheduled_at, tracking, delivery, seed_lists, pause_reason,
		archived_at, dispatch_started_at, completed_at, failure, created_by, created_at, updated_at`
	withBodies    = columns + `, body_html, body_mjml, body_text, template_snapshot, template_params, block_ids, variants, mjml_findings`
	withoutBodies = columns + `, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL`
)

// Load returns a broadcast with its bodies.
func Load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast) (Broadcast, error) {
	rows, err := db.Query(ctx, `SELECT `+withBodies+` FROM broadcast WHERE tenant_id = $1 AND id = $2`, tenant, bid)
	return loadOne(rows, err)
}

// Head returns a broadcast without its bodies.
func Head(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast) (Broadcast, error) {
	rows, err := db.Query(ctx, `SELECT `+withoutBodies+` FROM broadcast WHERE tenant_id = $1 AND id = $2`, tenant, bid)
	return loadOne(rows, err)
}

// lockBroadcast returns a broadcast without its bodies and locks its row until tx ends.
func lockBroadcast(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, bid id.Broadcast) (Broadcast, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+withoutBodies+` FROM broadcast WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), tenant, bid)
	return loadOne(rows, err)
}

func loadOne(rows *sqldb.Rows, err error) (Broadcast, error) {
	list, err := sqldb.Collect(rows, err, scanBroadcast)
	if err != nil {
		return Broadcast{}, fmt.Errorf("load a broadcast: %w", err)
	}
	if len(list) == 0 {
		return Broadcast{}, ErrNotFound
	}
	return list[0], nil
}

func scanBroadcast(row func(...any) error) (Broadcast, error) {
	var b Broadcast
	var identities, seeds, pause, failure sql.NullString
	var include, exclude, tags, metadata, delivery, creator string
	var scheduled, archived, started, completed sql.NullInt64
	var created, updated int64
	var origin originRow
	var message id.LibraryEntry
	var shares, variants, findings sql.NullString
	var version sql.NullInt64
	err := row(&b.Tenant, &b.ID, &b.Send, &b.Revision, &b.Name, &b.Status, &b.Kind,
		&b.Content.Subject, &b.Content.Preheader, &b.Content.FromName, &b.Content.ReplyTo,
		&b.Bodies.HTML, &b.Bodies.MJML, &b.Bodies.Text, &b.Bodies.Snapshot,
		&origin.template, &origin.slug, &origin.subject, &origin.binding, &message, &version, &shares,
		&b.ContentVersion, &b.EmailType, &b.Lane,
		&include, &exclude, &identities, &tags, &metadata, &scheduled, &b.Tracking, &delivery, &seeds, &pause,
		&archived, &started, &completed, &failure, &creator, &created, &updated,
		&b.Content.HTML, &b.Content.MJML, &b.Content.Text, &origin.snapshot, &origin.params, &origin.blocks, &variants, &findings)
	if err != nil {
		return Broadcast{}, err
	}
	b.PauseReason = PauseReason(pause.String)
	b.ScheduledAt, b.ArchivedAt = sqldb.NullTime(scheduled), sqldb.NullTime(archived)
	b.StartedAt, b.CompletedAt = sqldb.NullTime(started), sqldb.NullTime(completed)
	b.CreatedAt, b.UpdatedAt = sqldb.Time(created), sqldb.Time(updated)
	errs := []error{
		json.Unmarshal([]byte(include), &b.Include), json.Unmarshal([]byte(exclude), &b.Exclude),
		json.Unmarshal([]byte(tags), &b.Tags), decode([]byte(metadata), &b.Metadata), json.Unmarshal([]byte(delivery), &b.Delivery),
		json.Unmarshal([]byte(creator), &b.CreatedBy),
	}
	if !message.IsZero() {
		b.Message = &Message{message, int(version.Int64)}
	}
	if variants.Valid {
		shares = variants
	}
	if shares.Valid {
		errs = append(errs, json.Unmarshal([]byte(shares.String), &b.Variants))
	}
	if findings.Valid {
		errs = append(errs, json.Unmarshal([]byte(findings.String), &b.Content.Findings))
	}
	if !origin.template.IsZero() {
		b.Content.Origin, err = origin.decode()
		errs = append(errs, err)
	}
	if identities.Valid {
		errs = append(errs, json.Unmarshal([]byte(identities.String), &b.Identities))
	}
	if seeds.Valid {
		errs = append(errs, json.Unmarshal([]byte(seeds.String), &b.SeedLists))
	}
	if failure.Valid {
		errs = append(errs, json.Unmarshal([]byte(failure.String), &b.Failure))
	}
	if err := errors.Join(errs...); err != nil {
		return Broadcast{}, fmt.Errorf("broadcast %s: %w", b.ID, err)
	}
	return b, nil
}

// originRow is the template columns of a broadcast's row.
type originRow struct {
	template                                id.Template
	slug, binding, snapshot, params, blocks sql.NullString
	subject                                 *string
}

func (r originRow) decode() (*draft.Origin, error) {
	o := draft.Origin{
		Template: r.template, Slug: r.slug.String, Subject: r.subject,
		Binding: []byte(r.binding.String), Snapshot: []byte(r.snapshot.String), Params: []byte(r.params.String),
	}
	if !r.blocks.Valid {
		return &o, nil
	}
	return &o, json.Unmarshal([]byte(r.blocks.String), &o.Blocks)
}
