// Package form implements the forms by which visitors of websites subscribe.
//
// A form has fields, each bound to a field of contacts or to a consent. Its slug is its public key:
// requests of visitors name nothing else.
//
//	draft ⇄ published      Publish checks that everything the form refers to exists
//	draft, published → archived → draft
//
// A submission becomes a contact (Intake.Submit). Anybody can enter anybody's address, so without
// proof a submission changes little of an existing contact: it fills empty fields and gives the
// consents of the form. With double opt-in it also gives no consent, and a new contact is pending,
// until the link in a mail to the address is followed and its button pressed (Intake.Confirm). The
// confirmation mail is a message of an ordinary send whose source is the form.
//
// Submissions that only a program would make are stored as spam. Their answer does not differ from
// that of others.
package form

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Status is the state of a form.
type Status string

// The statuses.
const (
	Draft     Status = "draft"
	Published Status = "published"
	Archived  Status = "archived"
)

// The faults of this package.
var (
	ErrNotFound      = fault.New(fault.NotFound, "NOT_FOUND", "there is no such form")
	ErrInvalidStatus = fault.New(fault.Invalid, "INVALID_STATUS", "status must be draft, published or archived")
	ErrTransition    = fault.New(fault.Conflict, "INVALID_TRANSITION", "the form's status does not allow this")
	ErrLimit         = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a limit is exceeded")
)

// maxForms is how many forms a tenant may have.
const maxForms = 100

// Form is one form.
type Form struct {
	Tenant id.Tenant
	ID     id.Form
	Slug   string
	Status Status
	Settings

	SubmissionCount  int // without spam
	LastSubmissionAt *time.Time
	CreatedAt        time.Time
	UpdatedAt        time.Time
	Revision         int64 // increases with each write of the settings and the status

	captchaSecret string // sealed
	confirm       confirmation
}

// Revisions is the table of forms, for conditions on their revisions.
var Revisions = revision.Table{Name: "form"}

// Settings are what the author of a form decides.
type Settings struct {
	Name               string          `json:"name"`
	Origins            []string        `json:"allowed_origins"` // empty: any
	SubmitLabel        string          `json:"submit_label"`
	SuccessMode        string          `json:"success_mode"`
	SuccessMessage     string          `json:"success_message"`
	RedirectURL        string          `json:"redirect_url,omitempty"`
	DoubleOptIn        bool            `json:"double_opt_in"`
	ConfirmMessage     id.LibraryEntry `json:"confirm_message_id,omitzero"` // zero: the built-in mail
	ConfirmRedirectURL string          `json:"confirm_redirect_url,omitempty"`
	Lists              []id.Segment    `json:"lists"`
	Tags               []string        `json:"tags"`
	Stage              id.Stage        `json:"stage_id,omitzero"`
	CaptchaProvider    string          `json:"captcha_provider"`
	CaptchaSiteKey     string          `json:"captcha_site_key,omitempty"`
	Fields             []Field         `json:"fields"`
}

// The modes of success.
const (
	ShowMessage = "message"
	Redirect    = "redirect"
)

// ParseStatuses parses the statuses of a list; none means drafts and published forms.
func ParseStatuses(names []string) ([]Status, error) {
	if len(names) == 0 {
		return []Status{Draft, Published}, nil
	}
	var out []Status
	for _, n := range names {
		if !slices.Contains([]Status{Draft, Published, Archived}, Status(n)) {
			return nil, ErrInvalidStatus
		}
		out = append(out, Status(n))
	}
	return out, nil
}

const columns = `id, slug, status, document, captcha_secret, submission_count, last_submission_at,
	confirm_send, confirm_content, confirm_hash, created_at, updated_at, revision`

func scanner(tenant id.Tenant) func(func(...any) error) (Form, error) {
	return func(row func(...any) error) (Form, error) {
		f := Form{Tenant: tenant}
		var document string
		var created, updated int64
		err := row(&f.ID, &f.Slug, &f.Status, &document, sqldb.ToText(&f.captchaSecret), &f.SubmissionCount, sqldb.ToNullTime(&f.LastSubmissionAt),
			&f.confirm.send, &f.confirm.content, sqldb.ToText(&f.confirm.hash), &created, &updated, &f.Revision)
		if err != nil {
			return Form{}, err
		}
		f.CreatedAt, f.UpdatedAt = sqldb.Time(created), sqldb.Time(updated)
		if err := json.Unmarshal([]byte(document), &f.Settings); err != nil {
			return Form{}, fmt.Errorf("settings of form %s: %w", f.ID, err)
		}
		return f, nil
	}
}

// List returns the forms of a tenant with one of the statuses, newest first.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, statuses ...Status) ([]Form, error) {
	rows, err := db.Query(ctx, `
		SELECT `+columns+` FROM form WHERE tenant_id = $1 AND status`+db.In(2)+` ORDER BY created_at DESC, id DESC`,
		tenant, sqldb.List(db, statuses))
	list, err := sqldb.Collect(rows, err, scanner(tenant))
	if err != nil {
		return nil, fmt.Errorf("list forms: %w", err)
	}
	return list, nil
}

// ByID returns one form, or ErrNotFound.
func ByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, form id.Form) (Form, error) {
	return find(ctx, db, tenant, form, " ")
}

func find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, form id.Form, lock string) (Form, error) {
	f, err := scanner(tenant)(db.QueryRow(ctx, `SELECT `+columns+` FROM form WHERE tenant_id = $1 AND id = $2`+lock, tenant, form).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Form{}, ErrNotFound
	}
	if err != nil {
		return Form{}, fmt.Errorf("read a form: %w", err)
	}
	return f, nil
}

// BySlug returns the published form with a slug, of any tenant, or ErrNotFound.
func BySlug(ctx context.Context, db *sqldb.DB, slug string) (Form, error) {
	if !isSlug(slug) {
		return Form{}, ErrNotFound
	}
	var tenant id.Tenant
	var form id.Form
	err := db.QueryRow(ctx, `
		SELECT tenant_id, form_id FROM form_slug
		WHERE slug = $1 /* all tenants: the slug finds the tenant */`, slug).Scan(&tenant, &form)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Form{}, ErrNotFound
	}
	if err != nil {
		return Form{}, fmt.Errorf("find a form: %w", err)
	}
	f, err := ByID(ctx, db, tenant, form)
	if err == nil && f.Status != Published {
		return Form{}, ErrNotFound
	}
	return f, err
}

const (
	slugLength   = 12
	slugAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
)

// newSlug returns a random slug of 60 bits.
func newSlug() string {
	b := make([]byte, slugLength)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = slugAlphabet[b[i]%byte(len(slugAlphabet))]
	}
	return string(b)
}

func isSlug(s string) bool {
	return len(s) == slugLength && !strings.ContainsFunc(s, func(c rune) bool { return !strings.ContainsRune(slugAlphabet, c) })
}

// Source is the source of contacts that the form creates, and of their consents.
func (f Form) Source() string { return "form:" + f.Slug }
