package form

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ready checks what a form needs to accept submissions.
func (f Form) ready(ctx context.Context, db *sqldb.DB) error {
	var p fault.Problems
	if n := len(slices.Collect(f.fieldsWhere(Field.isEmail))); n != 1 {
		p.Add("fields", "exactly one field must be bound to email")
	} else if email := f.first(Field.isEmail); !email.Required {
		p.Add("fields", "the email field must be required")
	}
	b, err := loadBindings(ctx, db, f.Tenant)
	if err != nil {
		return err
	}
	for i, one := range f.Fields {
		b.checkBinding(&one, func(name, message string) { p.Add(fmt.Sprintf("fields[%d].%s", i, name), message) })
	}
	if f.SuccessMode == Redirect && f.RedirectURL == "" {
		p.Add("redirect_url", "required with success_mode redirect")
	}
	if f.CaptchaProvider != NoCaptcha {
		if f.CaptchaSiteKey == "" {
			p.Add("captcha.site_key", "required with a captcha")
		}
		if f.captchaSecret == "" {
			p.Add("captcha.secret_key", "required with a captcha")
		}
	}
	if err := f.checkTargets(ctx, db, &p); err != nil {
		return err
	}
	if f.DoubleOptIn {
		if err := f.checkConfirmation(ctx, db, b, &p); err != nil {
			return err
		}
	}
	return p.Err()
}

// checkTargets checks that the lists and the stage exist.
func (f Form) checkTargets(ctx context.Context, db *sqldb.DB, p *fault.Problems) error {
	keys, err := segment.Keys(ctx, db, f.Tenant, f.Lists)
	if err != nil {
		return err
	}
	if len(keys) < len(f.Lists) {
		p.Add("list_segment_keys", "a list was deleted")
	}
	if f.Stage.IsZero() {
		return nil
	}
	if _, err = contact.StageByID(ctx, db, f.Tenant, f.Stage); errors.Is(err, contact.ErrNoStage) {
		p.Add("stage_id", "the stage was deleted")
		return nil
	}
	return err
}

// checkConfirmation checks that a confirmation mail can be made and sent.
func (f Form) checkConfirmation(ctx context.Context, db *sqldb.DB, b bindings, p *fault.Problems) error {
	if _, err := f.confirmSource(ctx, db); err != nil {
		found, ok := fault.As(err)
		if !ok {
			return err
		}
		p.Add("confirm_message_id", found.Message)
	}
	_, err := f.confirmRoute(ctx, db, b, id.Contact{})
	if errors.Is(err, errNoRoute) {
		p.Add("double_opt_in", "no sender can send the confirmation: set a default sending identity, or an active one for the email type of a consent, with a verified domain and an MTA config")
		return nil
	}
	return err
}

func (f Form) fieldsWhere(is func(Field) bool) func(yield func(Field) bool) {
	return func(yield func(Field) bool) {
		for _, one := range f.Fields {
			if is(one) && !yield(one) {
				return
			}
		}
	}
}

func (f Form) first(is func(Field) bool) Field {
	for one := range f.fieldsWhere(is) {
		return one
	}
	return Field{}
}

// consentedType returns the email type of the form's first consent: that of the binding, or one in its
// category. It is zero without a consent.
func (f Form) consentedType(b bindings) id.EmailType {
	for one := range f.fieldsWhere(func(x Field) bool { return x.Type == ConsentField }) {
		c, ofCategory := one.category()
		for _, t := range b.types.EmailTypes {
			if ofCategory && t.Category == c || !ofCategory && t.Key == one.Binding {
				return t.ID
			}
		}
	}
	return id.EmailType{}
}
