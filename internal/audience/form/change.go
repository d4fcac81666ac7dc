package form

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Change holds the changes of a request; nil leaves a part unchanged, an empty text clears it.
type Change struct {
	Name               *string
	Origins            *[]string
	SubmitLabel        *string
	SuccessMode        *string
	SuccessMessage     *string
	RedirectURL        *string
	DoubleOptIn        *bool
	ConfirmMessage     *string // the id of a library entry
	ConfirmRedirectURL *string
	ListKeys           *[]string
	Tags               *[]string
	Stage              *string // the id of a stage
	Captcha            *CaptchaChange
	Fields             *[]Field
}

// CaptchaChange is a change of the captcha.
type CaptchaChange struct {
	Provider  *string // none, turnstile or hcaptcha
	SiteKey   *string
	SecretKey *string
}

// Limits of settings.
const (
	maxName    = 200
	maxSubmit  = 100
	maxMessage = 2000
	maxURL     = 2000
	maxOrigins = 50
	maxLists   = 20
	maxTags    = 50
	maxTag     = 64
	maxKey     = 200
)

// defaults are the settings of a new form.
func defaults(doubleOptIn bool) Settings {
	return Settings{
		Origins: []string{}, SubmitLabel: "Subscribe", SuccessMode: ShowMessage, SuccessMessage: "Thank you!", DoubleOptIn: doubleOptIn,
		Lists: []id.Segment{}, Tags: []string{}, CaptchaProvider: NoCaptcha, Fields: []Field{},
	}
}

// CheckNew validates the parts of a new form that do not refer to other records.
func (ch Change) CheckNew() error {
	s := defaults(false)
	return ch.check(&s)
}

// Check validates the parts of a change that do not refer to other records, independently of the
// form.
func (ch Change) Check() error {
	s := defaults(false)
	s.Name = "-"
	return ch.check(&s)
}

func (ch Change) check(s *Settings) error {
	var p fault.Problems
	ch.texts(&p, s)
	return p.Err()
}

// texts sets the parts that do not refer to other records.
func (ch Change) texts(p *fault.Problems, s *Settings) {
	setText(p, "name", &s.Name, ch.Name, maxName)
	if s.Name == "" {
		p.Add("name", "required")
	}
	setText(p, "submit_label", &s.SubmitLabel, ch.SubmitLabel, maxSubmit)
	setText(p, "success_message", &s.SuccessMessage, ch.SuccessMessage, maxMessage)
	setURL(p, "redirect_url", &s.RedirectURL, ch.RedirectURL)
	setURL(p, "confirm_redirect_url", &s.ConfirmRedirectURL, ch.ConfirmRedirectURL)
	if ch.SuccessMode != nil {
		if s.SuccessMode = *ch.SuccessMode; s.SuccessMode != ShowMessage && s.SuccessMode != Redirect {
			p.Add("success_mode", "must be message or redirect")
		}
	}
	checkID[id.Stage](p, "stage_id", ch.Stage)
	checkID[id.LibraryEntry](p, "confirm_message_id", ch.ConfirmMessage)
	if ch.DoubleOptIn != nil {
		s.DoubleOptIn = *ch.DoubleOptIn
	}
	if ch.Origins != nil {
		s.Origins = []string{}
		if len(*ch.Origins) > maxOrigins {
			p.Add("allowed_origins", fmt.Sprintf("at most %d origins", maxOrigins))
		} else {
			for _, text := range *ch.Origins {
				origin, err := normalizeOrigin(text)
				switch {
				case err != nil:
					p.AddElement("allowed_origins", err.Error())
				case !slices.Contains(s.Origins, origin):
					s.Origins = append(s.Origins, origin)
				}
			}
		}
	}
	if ch.Tags != nil {
		s.Tags = []string{}
		if len(*ch.Tags) > maxTags {
			p.Add("tags", fmt.Sprintf("at most %d tags", maxTags))
		} else {
			for _, t := range *ch.Tags {
				t = strings.TrimSpace(norm.NFC.String(t))
				if n := utf8.RuneCountInString(t); n == 0 || n > maxTag || strings.ContainsRune(t, 0) {
					p.AddElement("tags", fmt.Sprintf("must have 1 to %d characters", maxTag))
				} else if !slices.Contains(s.Tags, t) {
					s.Tags = append(s.Tags, t)
				}
			}
		}
	}
	if c := ch.Captcha; c != nil {
		if c.Provider != nil {
			if s.CaptchaProvider = *c.Provider; !slices.Contains([]string{NoCaptcha, Turnstile, HCaptcha}, s.CaptchaProvider) {
				p.Add("captcha.provider", "must be none, turnstile or hcaptcha")
			}
		}
		setText(p, "captcha.site_key", &s.CaptchaSiteKey, c.SiteKey, maxKey)
		if c.SecretKey != nil && (len(*c.SecretKey) > maxKey || strings.ContainsFunc(*c.SecretKey, func(r rune) bool { return r <= ' ' || r > '~' })) {
			p.Add("captcha.secret_key", fmt.Sprintf("at most %d visible ASCII characters", maxKey))
		}
	}
}

func checkID[T ~[16]byte](p *fault.Problems, path string, text *string) {
	if text == nil || *text == "" {
		return
	}
	if _, ok := id.Parse[T](*text); !ok {
		p.Add(path, "must be a UUID")
	}
}

func setText(p *fault.Problems, path string, to *string, from *string, most int) {
	if from == nil {
		return
	}
	*to = strings.TrimSpace(norm.NFC.String(*from))
	if utf8.RuneCountInString(*to) > most || strings.ContainsRune(*to, 0) {
		p.Add(path, fmt.Sprintf("at most %d characters, without NUL", most))
	}
}

func setURL(p *fault.Problems, path string, to *string, from *string) {
	if from == nil {
		return
	}
	*to = strings.TrimSpace(*from)
	if *to != "" && !isWebURL(*to) {
		p.Add(path, fmt.Sprintf("must be an absolute http or https URL of at most %d bytes", maxURL))
	}
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && len(text) <= maxURL &&
		!strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f })
}

// apply sets and validates all parts of a change. A published form must stay fit for publishing.
func (ch Change) apply(ctx context.Context, tx *sqldb.DB, box *secret.Box, f *Form) error {
	var p fault.Problems
	ch.texts(&p, &f.Settings)
	if err := ch.references(ctx, tx, f, &p); err != nil {
		return err
	}
	if c := ch.Captcha; c != nil && c.SecretKey != nil {
		f.captchaSecret = ""
		if *c.SecretKey != "" {
			f.captchaSecret = box.Seal([]byte(*c.SecretKey), f.secretPlace())
		}
	}
	if p.Any() {
		return p.Err()
	}
	if f.Status != Published {
		return nil
	}
	return f.ready(ctx, tx)
}

func (ch Change) references(ctx context.Context, tx *sqldb.DB, f *Form, p *fault.Problems) error {
	if ch.Fields != nil {
		b, err := loadBindings(ctx, tx, f.Tenant)
		if err != nil {
			return err
		}
		f.Fields = b.checkFields(p, *ch.Fields)
	}
	if ch.ListKeys != nil {
		if len(*ch.ListKeys) > maxLists {
			p.Add("list_segment_keys", fmt.Sprintf("at most %d lists", maxLists))
		} else if err := f.setLists(ctx, tx, *ch.ListKeys, p); err != nil {
			return err
		}
	}
	if ch.Stage != nil {
		f.Stage = id.Read[id.Stage](*ch.Stage)
		if *ch.Stage != "" && !p.At("stage_id") {
			_, err := contact.StageByID(ctx, tx, f.Tenant, f.Stage)
			if errors.Is(err, contact.ErrNoStage) {
				p.Add("stage_id", "there is no such stage")
			} else if err != nil {
				return err
			}
		}
	}
	if ch.ConfirmMessage != nil {
		f.ConfirmMessage = id.Read[id.LibraryEntry](*ch.ConfirmMessage)
		if *ch.ConfirmMessage != "" && !p.At("confirm_message_id") {
			_, err := library.Load(ctx, tx, f.Tenant, f.ConfirmMessage)
			if errors.Is(err, library.ErrNotFound) {
				p.Add("confirm_message_id", "there is no such message in the library")
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Form) setLists(ctx context.Context, tx *sqldb.DB, keys []string, p *fault.Problems) error {
	list, err := segment.ByKeys(ctx, tx, f.Tenant, keys)
	if errors.Is(err, segment.ErrInvalid) {
		p.Add("list_segment_keys", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	f.Lists = []id.Segment{}
	for _, s := range list {
		if s.Type != segment.Static {
			p.Add("list_segment_keys", s.Key+" is not a static list")
			continue
		}
		f.Lists = append(f.Lists, s.ID)
	}
	return nil
}

func loadBindings(ctx context.Context, db *sqldb.DB, t id.Tenant) (bindings, error) {
	catalog, err := field.Load(ctx, db, t)
	if err != nil {
		return bindings{}, err
	}
	types, err := sender.ContactTypes(ctx, db, t)
	return bindings{catalog, types}, err
}

// Create creates a form, as a draft.
func Create(ctx context.Context, db *sqldb.DB, box *secret.Box, t id.Tenant, ch Change, now time.Time) (Form, error) {
	now = now.UTC().Truncate(time.Microsecond)
	var f Form
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		account, err := tenant.ByID(ctx, tx, t)
		if err != nil {
			return err
		}
		f = Form{
			Tenant: t, ID: id.New[id.Form](), Slug: newSlug(), Status: Draft, Settings: defaults(account.Settings.DoubleOptInDefault),
			CreatedAt: now, UpdatedAt: now, Revision: 1,
		}
		if err := ch.apply(ctx, tx, box, &f); err != nil {
			return err
		}
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM form WHERE tenant_id = $1`, t).Scan(&n); err != nil {
			return err
		}
		if n >= maxForms {
			return ErrLimit.Sayf("a tenant may have at most %d forms", maxForms)
		}
		document, err := json.Marshal(f.Settings)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO form (tenant_id, id, slug, status, document, captcha_secret, created_at, updated_at, revised_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)`,
			t, f.ID, f.Slug, f.Status, string(document), sqldb.Null(f.captchaSecret), sqldb.Micros(now), revision.By(ctx))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO form_slug (slug, tenant_id, form_id) VALUES ($1, $2, $3)`, f.Slug, t, f.ID)
		return err
	})
	if err != nil {
		return Form{}, fmt.Errorf("create a form: %w", err)
	}
	return f, nil
}

// Update applies a change to a form.
func Update(ctx context.Context, db *sqldb.DB, box *secret.Box, t id.Tenant, form id.Form, ch Change, now time.Time) (Form, error) {
	f, err := edit(ctx, db, t, form, now, func(tx *sqldb.DB, f *Form) error { return ch.apply(ctx, tx, box, f) })
	if err != nil {
		return Form{}, fmt.Errorf("update a form: %w", err)
	}
	return f, nil
}

// With returns a form with a change, for a preview: nothing is stored, and what is wrong stays as it was sent.
func (f Form) With(ctx context.Context, db *sqldb.DB, ch Change) (Form, error) {
	var p fault.Problems
	ch.texts(&p, &f.Settings)
	if err := ch.references(ctx, db, &f, &p); err != nil {
		return Form{}, fmt.Errorf("preview a form: %w", err)
	}
	return f, nil
}

// Publish makes a draft accept submissions. It fails with the problems of everything that the form
// needs and does not have. Publishing a published form has no effect.
func Publish(ctx context.Context, db *sqldb.DB, t id.Tenant, form id.Form, now time.Time) (Form, error) {
	return move(ctx, db, t, form, now, Published, []Status{Draft, Published}, func(tx *sqldb.DB, f *Form) error { return f.ready(ctx, tx) })
}

// Unpublish makes a published form a draft.
func Unpublish(ctx context.Context, db *sqldb.DB, t id.Tenant, form id.Form, now time.Time) (Form, error) {
	return move(ctx, db, t, form, now, Draft, []Status{Published, Draft}, nil)
}

// Archive archives a form. It does not accept submissions any more; those that wait for their
// confirmation can still be confirmed.
func Archive(ctx context.Context, db *sqldb.DB, t id.Tenant, form id.Form, now time.Time) (Form, error) {
	return move(ctx, db, t, form, now, Archived, []Status{Draft, Published, Archived}, nil)
}

// Unarchive makes an archived form a draft.
func Unarchive(ctx context.Context, db *sqldb.DB, t id.Tenant, form id.Form, now time.Time) (Form, error) {
	return move(ctx, db, t, form, now, Draft, []Status{Archived}, nil)
}

func move(ctx context.Context, db *sqldb.DB, t id.Tenant, form id.Form, now time.Time, to Status, from []Status, guard func(*sqldb.DB, *Form) error) (Form, error) {
	f, err := edit(ctx, db, t, form, now, func(tx *sqldb.DB, f *Form) error {
		if !slices.Contains(from, f.Status) {
			return ErrTransition.Sayf("a form that is %s cannot become %s", f.Status, to)
		}
		f.Status = to
		if guard != nil {
			return guard(tx, f)
		}
		return nil
	})
	if err != nil {
		return Form{}, fmt.Errorf("set the status of a form to %s: %w", to, err)
	}
	return f, nil
}

// edit locks a form, changes it with fn, and saves it.
func edit(ctx context.Context, db *sqldb.DB, t id.Tenant, form id.Form, now time.Time, fn func(tx *sqldb.DB, f *Form) error) (Form, error) {
	var f Form
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if f, err = find(ctx, tx, t, form, tx.ForUpdate()); err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, t, form); err != nil {
			return err
		}
		if err := fn(tx, &f); err != nil {
			return err
		}
		f.UpdatedAt = now.UTC().Truncate(time.Microsecond)
		f.Revision++
		document, err := json.Marshal(f.Settings)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE form SET status = $3, document = $4, captcha_secret = $5, updated_at = $6, revision = revision + 1, revised_by = $7
			WHERE tenant_id = $1 AND id = $2`,
			t, form, f.Status, string(document), sqldb.Null(f.captchaSecret), sqldb.Micros(f.UpdatedAt), revision.By(ctx))
		return err
	})
	return f, err
}

// Delete deletes an archived form and its submissions.
func Delete(ctx context.Context, db *sqldb.DB, t id.Tenant, form id.Form) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		f, err := find(ctx, tx, t, form, tx.ForUpdate())
		if err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, t, form); err != nil {
			return err
		}
		if f.Status != Archived {
			return ErrTransition.Sayf("only an archived form can be deleted")
		}
		if _, err := tx.Exec(ctx, `DELETE FROM form_submission WHERE tenant_id = $1 AND form_id = $2`, t, form); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM form_slug WHERE slug = $1 AND tenant_id = $2`, f.Slug, t); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM form WHERE tenant_id = $1 AND id = $2`, t, form)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete a form: %w", err)
	}
	return nil
}
