package form_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// site is an account that can send, with a form on its website.
type site struct {
	*broadcasttest.Account
	t      *testing.T
	intake *form.Intake
	now    time.Time
	form   form.Form
}

var noon = broadcasttest.Now

func newSite(t *testing.T, db *sqldb.DB, slug string) *site {
	t.Helper()
	s := &site{Account: broadcasttest.New(t, db, slug), t: t, now: noon}
	account, err := tenant.ByID(t.Context(), db, s.Tenant)
	s.ok(err)
	account.Settings.DefaultLane = s.Lane.ID
	s.ok(tenant.SaveSettings(t.Context(), db, s.Tenant, account.Name, account.Settings, noon))
	_, err = field.Create(t.Context(), db, s.Tenant, field.Draft{Name: "Plan", Key: "plan", Type: field.Enum, EnumValues: []string{"free", "pro"}}, noon)
	s.ok(err)
	_, err = field.Create(t.Context(), db, s.Tenant, field.Draft{Name: "Age", Key: "age", Type: field.Number}, noon)
	s.ok(err)
	box := broadcasttest.Box(t)
	s.intake = &form.Intake{DB: db, Tokens: form.NewTokens(box), Captcha: form.NewCaptcha(box, nil, true)}
	return s
}

// each runs f on both databases, for a tenant beside another one whose contacts and forms must not
// change.
func each(t *testing.T, f func(s *site)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, other := newSite(t, db, "acme"), newSite(t, db, "other")
		other.publish(form.Change{})
		other.submit(map[string]any{"email": "ann@example.com", "first_name": "Other"}, true)
		before := other.state()
		f(s)
		if diff := cmp.Diff(before, other.state()); diff != "" {
			t.Errorf("the other tenant changed:\n%s", diff)
		}
	})
}

// state describes a tenant's form and its contacts.
func (s *site) state() []string {
	s.t.Helper()
	f, err := form.ByID(s.t.Context(), s.DB, s.Tenant, s.form.ID)
	s.ok(err)
	list, _, err := form.Submissions(s.t.Context(), s.DB, s.Tenant, s.form.ID, nil, 100)
	s.ok(err)
	c := s.contact("ann@example.com")
	return []string{fmt.Sprint(f.Status, f.SubmissionCount, len(list)), *c.FirstName, fmt.Sprint(c.Status, c.UpdatedAt)}
}

func (s *site) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// fields are an address, a name, a choice, a number and a consent.
func fields() []form.Field {
	return []form.Field{
		{Type: form.ContactField, Binding: "email", Label: "Email", Required: true},
		{Type: form.ContactField, Binding: "first_name", Label: "First name", SortOrder: 1},
		{Type: form.CustomField, Binding: "plan", Label: "Plan", SortOrder: 2},
		{Type: form.CustomField, Binding: "age", Label: "Age", SortOrder: 3},
		{Type: form.HiddenField, Binding: "company", Default: "From the web", SortOrder: 4},
		{Type: form.ConsentField, Binding: "newsletter", Label: "Send me the newsletter", SortOrder: 5},
	}
}

// publish creates and publishes a form, without double opt-in unless the change says otherwise.
func (s *site) publish(ch form.Change) form.Form {
	s.t.Helper()
	if ch.Name == nil {
		ch.Name = new("Newsletter")
	}
	if ch.DoubleOptIn == nil {
		ch.DoubleOptIn = new(false)
	}
	if ch.Fields == nil {
		ch.Fields = new(fields())
	}
	f, err := form.Create(s.t.Context(), s.DB, broadcasttest.Box(s.t), s.Tenant, ch, s.now)
	s.ok(err)
	s.form, err = form.Publish(s.t.Context(), s.DB, s.Tenant, f.ID, s.now)
	s.ok(err)
	return s.form
}

func (s *site) input(values map[string]any, agreed bool) form.Submitted {
	return form.Submitted{
		Values: values, Consents: map[string]bool{"newsletter": agreed}, Token: s.intake.Tokens.Sign(s.form.Slug, s.now.Add(-5*time.Second)),
		IP: "192.0.2.9", Agent: "Test", PageURL: "https://www.example.com/join",
	}
}

func (s *site) submit(values map[string]any, agreed bool) form.Answer {
	s.t.Helper()
	a, err := s.intake.Submit(s.t.Context(), s.form, s.input(values, agreed), s.now)
	s.ok(err)
	return a
}

func (s *site) contact(email string) contact.Contact {
	s.t.Helper()
	c, err := contact.ByEmail(s.t.Context(), s.DB, s.Tenant, email)
	s.ok(err)
	return c
}

func (s *site) last() form.Submission {
	s.t.Helper()
	list, _, err := form.Submissions(s.t.Context(), s.DB, s.Tenant, s.form.ID, nil, 1)
	s.ok(err)
	if len(list) == 0 {
		s.t.Fatal("there is no submission")
	}
	return list[0]
}

// mails returns the messages of confirmation mails, oldest first.
func (s *site) mails() []id.Message {
	s.t.Helper()
	rows, err := s.DB.Query(s.t.Context(), `SELECT message_id FROM form_submission WHERE tenant_id = $1 AND message_id IS NOT NULL ORDER BY mailed_at, id`, s.Tenant)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) { err = scan(&m); return m, err })
	s.ok(err)
	return list
}

func (s *site) confirm(m id.Message) (form.Pending, error) {
	return s.intake.Confirm(s.t.Context(), s.Tenant, m, "192.0.2.10", "Mail reader", s.now)
}

func (s *site) onList(c id.Contact) bool {
	s.t.Helper()
	list, err := segment.Memberships(s.t.Context(), s.DB, s.Tenant, c)
	s.ok(err)
	return slices.ContainsFunc(list, func(m segment.Membership) bool { return m.Segment.ID == s.List.ID })
}

// journalOf returns the types of a contact's entries about forms.
func (s *site) journalOf(c id.Contact) []journal.Type {
	s.t.Helper()
	var types []journal.Type
	for e, err := range journal.Timeline(s.t.Context(), s.DB, s.Tenant, c) {
		s.ok(err)
		switch e.Type {
		case journal.FormSubmitted, journal.OptInRequested, journal.OptInConfirmed:
			if e.Name != s.form.Slug {
				s.t.Errorf("an entry of type %s has the name %q", e.Type, e.Name)
			}
			types = append(types, e.Type)
		}
	}
	slices.Sort(types)
	return types
}

func codeOf(err error) string {
	f, ok := fault.As(err)
	if !ok {
		return fmt.Sprint(err)
	}
	return f.Code
}

func pathsOf(t *testing.T, err error) []string {
	t.Helper()
	f, _ := fault.As(err)
	if f == nil {
		t.Fatalf("no fault: %v", err)
	}
	d, _ := f.Details.(fault.Fields)
	var paths []string
	for _, one := range d.Fields {
		paths = append(paths, one.Path)
	}
	slices.Sort(paths)
	return paths
}

func TestASubmissionBecomesAContactWithProofOfItsConsent(t *testing.T) {
	each(t, func(s *site) {
		stages, err := contact.Stages(s.t.Context(), s.DB, s.Tenant)
		s.ok(err)
		change := form.Change{ListKeys: &[]string{s.List.Key}, Tags: &[]string{"web"}}
		if len(stages) > 0 {
			change.Stage = new(stages[len(stages)-1].ID.String())
		}
		s.publish(change)
		if a := s.submit(map[string]any{"email": " Ann@Example.com", "first_name": "Ann", "plan": "pro", "custom_fields.age": "41"}, true); a.ConfirmationSent {
			s.t.Error("a confirmation was sent")
		}
		c := s.contact("ann@example.com")
		if c.Status != contact.Active || *c.FirstName != "Ann" || *c.Company != "From the web" || c.CustomFields["plan"] != "pro" || c.CustomFields["age"] != 41.0 ||
			!c.Subscriptions["newsletter"] || *c.Source != "form:"+s.form.Slug || !slices.Equal(c.Tags, []string{"web"}) || !s.onList(c.ID) ||
			change.Stage != nil && c.Stage.String() != *change.Stage {
			s.t.Errorf("the contact is %+v", c)
		}
		records, err := consent.List(s.t.Context(), s.DB, s.Tenant, c.ID)
		s.ok(err)
		if len(records) != 1 {
			s.t.Fatalf("%d consent records", len(records))
		}
		records[0].ID = id.ConsentRecord{}
		want := consent.Record{
			Contact: c.ID, TypeKey: "newsletter", Granted: true, At: s.now, Proof: consent.Proof{
				Source: "form:" + s.form.Slug, Wording: "Send me the newsletter", IP: "192.0.2.9", Agent: "Test", PageURL: "https://www.example.com/join",
			},
		}
		if diff := cmp.Diff(want, records[0]); diff != "" {
			s.t.Errorf("the proof:\n%s", diff)
		}
		if got := s.journalOf(c.ID); !slices.Equal(got, []journal.Type{journal.FormSubmitted}) {
			s.t.Errorf("the journal has %v", got)
		}
		if one := s.last(); one.Outcome != form.Accepted || one.Contact != c.ID || one.Email != "ann@example.com" || len(one.Consents) != 1 {
			s.t.Errorf("the submission is %+v", one)
		}
		f, err := form.ByID(s.t.Context(), s.DB, s.Tenant, s.form.ID)
		s.ok(err)
		if f.SubmissionCount != 1 || f.LastSubmissionAt == nil || !f.LastSubmissionAt.Equal(s.now) {
			s.t.Errorf("counted %d, last at %v", f.SubmissionCount, f.LastSubmissionAt)
		}
	})
}

func TestAStrangerCannotRewriteAContact(t *testing.T) {
	each(t, func(s *site) {
		s.publish(form.Change{})
		s.submit(map[string]any{"email": "ann@example.com", "first_name": "Ann", "age": "41"}, false)
		s.now = s.now.Add(time.Minute)
		s.submit(map[string]any{"email": "ann@example.com", "first_name": "Mallory", "plan": "pro", "age": 7.0}, false)
		c := s.contact("ann@example.com")
		if *c.FirstName != "Ann" || c.CustomFields["age"] != 41.0 || c.CustomFields["plan"] != "pro" {
			s.t.Errorf("the contact is %s with %v", *c.FirstName, c.CustomFields)
		}
		if _, given := c.Subscriptions["newsletter"]; given {
			s.t.Error("a consent was stored that was not given")
		}
	})
}

func TestAConsentEndsAnUnsubscription(t *testing.T) {
	each(t, func(s *site) {
		s.publish(form.Change{})
		s.submit(map[string]any{"email": "ann@example.com"}, true)
		c := s.contact("ann@example.com")
		s.ok(contact.Unsubscribe(s.t.Context(), s.DB, s.Tenant, c.ID, contact.UnsubscribeScope{Everything: true}, s.now))
		s.submit(map[string]any{"email": "ann@example.com"}, false)
		if c := s.contact("ann@example.com"); c.Status != contact.Unsubscribed {
			s.t.Errorf("without consent the contact is %s", c.Status)
		}
		s.submit(map[string]any{"email": "ann@example.com"}, true)
		if c := s.contact("ann@example.com"); c.Status != contact.Active || !c.Subscriptions["newsletter"] {
			s.t.Errorf("with consent the contact is %s, %v", c.Status, c.Subscriptions)
		}
	})
}

func TestAFormLiftsNoBounceComplaintDeletionOrSuppression(t *testing.T) {
	each(t, func(s *site) {
		for _, double := range []bool{false, true} {
			s.publish(form.Change{DoubleOptIn: &double})
			for _, status := range []contact.Status{contact.Bounced, contact.Complained, contact.Suppressed} {
				email := fmt.Sprintf("%s-%v@example.com", status, double)
				c, err := contact.Create(s.t.Context(), s.DB, s.Tenant, email, contact.Change{}, contact.Rules{}, s.now)
				s.ok(err)
				if status == contact.Suppressed {
					_, err := contact.Delete(s.t.Context(), s.DB, s.Tenant, []id.Contact{c.ID}, s.now)
					s.ok(err)
				} else if _, err := s.DB.Exec(s.t.Context(), `UPDATE contact SET global_status = $3 WHERE tenant_id = $1 AND id = $2`, s.Tenant, c.ID, status); err != nil {
					s.t.Fatal(err)
				}
				if a := s.submit(map[string]any{"email": email, "first_name": "Ann"}, true); a.ConfirmationSent != double {
					s.t.Errorf("%s: the answer is %+v", email, a)
				}
				if c := s.contact(email); c.Status != status || c.FirstName != nil || len(c.Subscriptions) > 0 {
					s.t.Errorf("%s: the contact is %s, %v", email, c.Status, c.Subscriptions)
				}
			}
		}
		_, err := suppression.Add(s.t.Context(), s.DB, s.Tenant, "listed@example.com", "", s.now)
		s.ok(err)
		s.publish(form.Change{})
		s.submit(map[string]any{"email": "listed@example.com"}, true)
		listed, err := suppression.Listed(s.t.Context(), s.DB, s.Tenant, []string{"listed@example.com"})
		s.ok(err)
		if !listed["listed@example.com"] || len(s.mails()) > 0 {
			s.t.Error("the address is not on the suppression list any more, or got mail")
		}
	})
}

func TestDoubleOptInWaitsForTheConfirmation(t *testing.T) {
	each(t, func(s *site) {
		s.publish(form.Change{DoubleOptIn: new(true), ListKeys: &[]string{s.List.Key}, Tags: &[]string{"web"}, ConfirmRedirectURL: new("https://www.example.com/welcome")})
		if a := s.submit(map[string]any{"email": "ann@example.com", "first_name": "Ann"}, true); !a.ConfirmationSent {
			s.t.Error("no confirmation was sent")
		}
		c := s.contact("ann@example.com")
		if on, given := c.Subscriptions["newsletter"]; c.Status != contact.Pending || !given || on || len(c.Tags) > 0 || s.onList(c.ID) {
			s.t.Errorf("before the confirmation the contact is %s, %v, %v", c.Status, c.Subscriptions, c.Tags)
		}
		mails := s.mails()
		if len(mails) != 1 {
			s.t.Fatalf("%d mails", len(mails))
		}
		record, err := outbox.Find(s.t.Context(), s.DB, s.Tenant, mails[0])
		s.ok(err)
		sources, err := outbox.Sources(s.t.Context(), s.DB, s.Tenant, []id.Send{record.Send})
		s.ok(err)
		if sources[record.Send] != outbox.FromForm(s.form.ID) || record.Email != "ann@example.com" || record.Identity != s.Identity.ID {
			s.t.Errorf("the mail is %+v of %+v", record, sources[record.Send])
		}
		for range 2 { // looking at the page changes nothing
			p, err := s.intake.Pending(s.t.Context(), s.Tenant, mails[0], s.now)
			s.ok(err)
			if p.Confirmed || p.Email != "ann@example.com" || !slices.Equal(p.Wordings, []string{"Send me the newsletter"}) {
				s.t.Errorf("pending: %+v", p)
			}
		}
		s.now = s.now.Add(time.Hour)
		for range 2 { // the second one has no effect
			p, err := s.confirm(mails[0])
			s.ok(err)
			if !p.Confirmed || p.RedirectURL != "https://www.example.com/welcome" {
				s.t.Errorf("confirmed: %+v", p)
			}
		}
		c = s.contact("ann@example.com")
		if c.Status != contact.Active || !c.Subscriptions["newsletter"] || !slices.Equal(c.Tags, []string{"web"}) || !s.onList(c.ID) {
			s.t.Errorf("after the confirmation the contact is %s, %v, %v", c.Status, c.Subscriptions, c.Tags)
		}
		records, err := consent.List(s.t.Context(), s.DB, s.Tenant, c.ID)
		s.ok(err)
		if len(records) != 1 || !records[0].Confirmed || records[0].Message.IsZero() || records[0].IP != "192.0.2.10" || records[0].Agent != "Mail reader" || !records[0].At.Equal(s.now) {
			s.t.Errorf("the proof is %+v", records)
		}
		if got := s.journalOf(c.ID); !slices.Equal(got, []journal.Type{journal.FormSubmitted, journal.OptInConfirmed, journal.OptInRequested}) {
			s.t.Errorf("the journal has %v", got)
		}
		if one := s.last(); one.Outcome != form.Confirmed || one.ConfirmedAt == nil {
			s.t.Errorf("the submission is %+v", one)
		}
	})
}

// A confirmation proves that the address is the person's, so its values replace others.
func TestConfirmedValuesReplaceOthers(t *testing.T) {
	each(t, func(s *site) {
		s.publish(form.Change{})
		s.submit(map[string]any{"email": "ann@example.com", "first_name": "Ann"}, false)
		c := s.contact("ann@example.com")
		s.ok(contact.Unsubscribe(s.t.Context(), s.DB, s.Tenant, c.ID, contact.UnsubscribeScope{Everything: true}, s.now))
		s.publish(form.Change{DoubleOptIn: new(true)})
		s.submit(map[string]any{"email": "ann@example.com", "first_name": "Anne", "plan": "pro"}, true)
		if c := s.contact("ann@example.com"); c.Status != contact.Unsubscribed || *c.FirstName != "Ann" || c.CustomFields["plan"] != "pro" || c.Subscriptions["newsletter"] {
			s.t.Errorf("before: %s %s %v %v", c.Status, *c.FirstName, c.CustomFields, c.Subscriptions)
		}
		_, err := s.confirm(s.mails()[0])
		s.ok(err)
		if c := s.contact("ann@example.com"); c.Status != contact.Active || *c.FirstName != "Anne" || !c.Subscriptions["newsletter"] {
			s.t.Errorf("after: %s %s %v", c.Status, *c.FirstName, c.Subscriptions)
		}
	})
}

func TestConfirmationMailsAreLimited(t *testing.T) {
	each(t, func(s *site) {
		s.publish(form.Change{DoubleOptIn: new(true)})
		for _, tt := range []struct {
			after time.Duration
			mails int
		}{{0, 1}, {9 * time.Minute, 1}, {10 * time.Minute, 2}, {30 * time.Minute, 3}, {2 * time.Hour, 3}, {24*time.Hour + 31*time.Minute, 4}} {
			s.now = noon.Add(tt.after)
			s.submit(map[string]any{"email": "ann@example.com"}, true)
			if n := len(s.mails()); n != tt.mails {
				s.t.Errorf("after %v there are %d mails, want %d", tt.after, n, tt.mails)
			}
		}
	})
}

func TestALinkIsValidForSevenDays(t *testing.T) {
	each(t, func(s *site) {
		s.publish(form.Change{DoubleOptIn: new(true)})
		s.submit(map[string]any{"email": "ann@example.com"}, true)
		m := s.mails()[0]
		s.now = noon.Add(7*24*time.Hour + time.Second)
		if _, err := s.confirm(m); !errors.Is(err, form.ErrExpired) {
			s.t.Errorf("after seven days: %v", err)
		}
		if _, err := s.confirm(id.New[id.Message]()); !errors.Is(err, form.ErrNoSubmission) {
			s.t.Errorf("an unknown mail: %v", err)
		}
		s.now = noon.Add(7 * 24 * time.Hour)
		if _, err := s.confirm(m); err != nil {
			s.t.Errorf("within seven days: %v", err)
		}
	})
}

func TestSpamIsStoredAndNothingElse(t *testing.T) {
	each(t, func(s *site) {
		s.publish(form.Change{})
		for name, spoil := range map[string]func(in *form.Submitted){
			"honeypot":     func(in *form.Submitted) { in.Honeypot = "x" },
			"forged token": func(in *form.Submitted) { in.Token = "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" },
			"other form":   func(in *form.Submitted) { in.Token = s.intake.Tokens.Sign("000000000000", s.now.Add(-time.Minute)) },
			"too fast": func(in *form.Submitted) {
				in.Token = s.intake.Tokens.Sign(s.form.Slug, s.now.Add(-1999*time.Millisecond))
			},
			"from the future": func(in *form.Submitted) { in.Token = s.intake.Tokens.Sign(s.form.Slug, s.now.Add(time.Minute)) },
		} {
			in := s.input(map[string]any{"email": "ann@example.com"}, true)
			spoil(&in)
			if _, err := s.intake.Submit(s.t.Context(), s.form, in, s.now); err != nil {
				s.t.Errorf("%s: %v", name, err)
			}
			if one := s.last(); one.Outcome != form.Spam || !one.Contact.IsZero() {
				s.t.Errorf("%s: the submission is %+v", name, one)
			}
		}
		if _, err := contact.ByEmail(s.t.Context(), s.DB, s.Tenant, "ann@example.com"); !errors.Is(err, contact.ErrNotFound) {
			s.t.Errorf("spam made a contact: %v", err)
		}
		for name, token := range map[string]string{"none": "", "expired": s.intake.Tokens.Sign(s.form.Slug, s.now.Add(-2*time.Hour-time.Second))} {
			in := s.input(map[string]any{"email": "ann@example.com"}, true)
			in.Token = token
			if _, err := s.intake.Submit(s.t.Context(), s.form, in, s.now); codeOf(err) != "INVALID_INPUT" || !slices.Equal(pathsOf(s.t, err), []string{"token"}) {
				s.t.Errorf("%s: %v", name, err)
			}
		}
		in := s.input(map[string]any{"email": "ann@example.com"}, true)
		in.Token, in.Encoded = "", true
		if _, err := s.intake.Submit(s.t.Context(), s.form, in, s.now); err != nil {
			s.t.Errorf("a plain form without a token: %v", err)
		}
		s.ok(form.Prune(s.t.Context(), s.DB, s.now.Add(31*24*time.Hour)))
		list, _, err := form.Submissions(s.t.Context(), s.DB, s.Tenant, s.form.ID, nil, 100)
		s.ok(err)
		if len(list) != 1 || list[0].Outcome != form.Accepted {
			s.t.Errorf("after a month there are %d submissions", len(list))
		}
	})
}

func TestAllProblemsOfASubmissionAreReported(t *testing.T) {
	each(t, func(s *site) {
		s.publish(form.Change{Fields: new(append(fields()[:5], form.Field{Type: form.ConsentField, Binding: "newsletter", Label: "Yes", Required: true, SortOrder: 9}))})
		in := s.input(map[string]any{"email": "nope", "first_name": strings.Repeat("x", 300), "plan": "gold", "age": "old"}, false)
		_, err := s.intake.Submit(s.t.Context(), s.form, in, s.now)
		if want := []string{"consents.newsletter", "fields.age", "fields.email", "fields.first_name", "fields.plan"}; codeOf(err) != "INVALID_INPUT" || !slices.Equal(pathsOf(s.t, err), want) {
			s.t.Errorf("problems at %v, want %v", pathsOf(s.t, err), want)
		}
		in.Encoded = true
		_, err = s.intake.Submit(s.t.Context(), s.form, in, s.now)
		if want := []string{"consents.newsletter", "custom_fields.age", "custom_fields.plan", "email", "first_name"}; !slices.Equal(pathsOf(s.t, err), want) {
			s.t.Errorf("problems of an encoded form at %v, want %v", pathsOf(s.t, err), want)
		}
	})
}

func TestACaptchaIsVerifiedWithItsProvider(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	s := newSite(t, db, "acme")
	var got url.Values
	answer, status := `{"success": true}`, http.StatusOK
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		got = r.PostForm
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer provider.Close()
	box := broadcasttest.Box(t)
	s.intake.Captcha = form.NewCaptcha(box, map[string]string{form.Turnstile: provider.URL, form.HCaptcha: provider.URL}, true)
	s.publish(form.Change{Captcha: &form.CaptchaChange{Provider: new(form.HCaptcha), SiteKey: new("site"), SecretKey: new("very-secret")}})
	in := s.input(map[string]any{"email": "ann@example.com"}, true)
	if _, err := s.intake.Submit(t.Context(), s.form, in, s.now); codeOf(err) != "INVALID_INPUT" || got != nil {
		t.Errorf("without a token: %v, the provider got %v", err, got)
	}
	in.CaptchaToken = "solved"
	if _, err := s.intake.Submit(t.Context(), s.form, in, s.now); err != nil {
		t.Error(err)
	}
	if want := (url.Values{"secret": {"very-secret"}, "response": {"solved"}, "remoteip": {"192.0.2.9"}, "sitekey": {"site"}}); cmp.Diff(want, got) != "" {
		t.Errorf("the provider got %v", got)
	}
	answer = `{"success": false}`
	if _, err := s.intake.Submit(t.Context(), s.form, in, s.now); !slices.Equal(pathsOf(t, err), []string{"captcha_token"}) {
		t.Errorf("not solved: %v", err)
	}
	for _, broken := range []func(){func() { status = http.StatusBadGateway }, func() { status, answer = http.StatusOK, "<html>" }, func() {
		s.intake.Captcha = form.NewCaptcha(box, map[string]string{form.HCaptcha: provider.URL}, false) // refuses private addresses
	}} {
		broken()
		if _, err := s.intake.Submit(t.Context(), s.form, in, s.now); codeOf(err) != "UNAVAILABLE" || strings.Contains(fmt.Sprint(err), "very-secret") {
			t.Errorf("the provider does not answer: %v", err)
		}
	}
	var stored string
	s.ok(db.QueryRow(t.Context(), `SELECT captcha_secret FROM form WHERE tenant_id = $1 AND id = $2`, s.Tenant, s.form.ID).Scan(&stored))
	if strings.Contains(stored, "very-secret") {
		t.Error("the secret is not sealed")
	}
}

func TestPublishingReportsWhatIsMissing(t *testing.T) {
	each(t, func(s *site) {
		ctx, box := s.t.Context(), broadcasttest.Box(s.t)
		create := func(ch form.Change) form.Form {
			s.t.Helper()
			ch.Name = new("x")
			f, err := form.Create(ctx, s.DB, box, s.Tenant, ch, s.now)
			s.ok(err)
			return f
		}
		email := form.Field{Type: form.ContactField, Binding: "email", Label: "Email", Required: true}
		empty := create(form.Change{SuccessMode: new(form.Redirect), Captcha: &form.CaptchaChange{Provider: new(form.Turnstile)}, DoubleOptIn: new(false)})
		_, err := form.Publish(ctx, s.DB, s.Tenant, empty.ID, s.now)
		if want := []string{"captcha.secret_key", "captcha.site_key", "fields", "redirect_url"}; !slices.Equal(pathsOf(s.t, err), want) {
			s.t.Errorf("problems at %v, want %v", pathsOf(s.t, err), want)
		}
		unsendable := create(form.Change{DoubleOptIn: new(true), Fields: &[]form.Field{email}})
		_, err = form.Publish(ctx, s.DB, s.Tenant, unsendable.ID, s.now)
		if !slices.Equal(pathsOf(s.t, err), []string{"double_opt_in"}) {
			s.t.Errorf("without a sender: %v", err)
		}
		account, err := tenant.ByID(ctx, s.DB, s.Tenant)
		s.ok(err)
		account.Settings.DefaultIdentity = s.Identity.ID
		s.ok(tenant.SaveSettings(ctx, s.DB, s.Tenant, account.Name, account.Settings, s.now))
		f, err := form.Publish(ctx, s.DB, s.Tenant, unsendable.ID, s.now)
		s.ok(err)
		if _, err := form.Update(ctx, s.DB, box, s.Tenant, f.ID, form.Change{Fields: &[]form.Field{}}, s.now); codeOf(err) != "INVALID_INPUT" {
			s.t.Errorf("a published form lost its fields: %v", err)
		}
		for _, step := range []struct {
			what string
			do   func() error
			code string
		}{
			{"delete", func() error { return form.Delete(ctx, s.DB, s.Tenant, f.ID) }, "INVALID_TRANSITION"},
			{"unarchive", func() error { _, err := form.Unarchive(ctx, s.DB, s.Tenant, f.ID, s.now); return err }, "INVALID_TRANSITION"},
			{"archive", func() error { _, err := form.Archive(ctx, s.DB, s.Tenant, f.ID, s.now); return err }, ""},
			{"publish archived", func() error { _, err := form.Publish(ctx, s.DB, s.Tenant, f.ID, s.now); return err }, "INVALID_TRANSITION"},
			{"find archived", func() error { _, err := form.BySlug(ctx, s.DB, f.Slug); return err }, "NOT_FOUND"},
			{"delete archived", func() error { return form.Delete(ctx, s.DB, s.Tenant, f.ID) }, ""},
			{"delete again", func() error { return form.Delete(ctx, s.DB, s.Tenant, f.ID) }, "NOT_FOUND"},
		} {
			if err := step.do(); err == nil && step.code != "" || err != nil && codeOf(err) != step.code {
				s.t.Errorf("%s: %v, want %s", step.what, err, step.code)
			}
		}
		s.publish(form.Change{})
	})
}

func TestInvalidFieldsAreReported(t *testing.T) {
	each(t, func(s *site) {
		s.publish(form.Change{})
		for name, tt := range map[string]struct {
			field form.Field
			path  string
		}{
			"unknown type":      {form.Field{Type: "magic", Label: "x"}, "fields[0].type"},
			"unknown column":    {form.Field{Type: form.ContactField, Binding: "shoe_size", Label: "x"}, "fields[0].binding"},
			"withheld column":   {form.Field{Type: form.ContactField, Binding: "external_id", Label: "x"}, "fields[0].binding"},
			"unknown custom":    {form.Field{Type: form.CustomField, Binding: "nope", Label: "x"}, "fields[0].binding"},
			"unknown consent":   {form.Field{Type: form.ConsentField, Binding: "nope", Label: "x"}, "fields[0].binding"},
			"unknown category":  {form.Field{Type: form.ConsentField, Binding: "category:" + id.NewText(), Label: "x"}, "fields[0].binding"},
			"hidden email":      {form.Field{Type: form.HiddenField, Binding: "email"}, "fields[0].binding"},
			"no label":          {form.Field{Type: form.ContactField, Binding: "city"}, "fields[0].label"},
			"input of a column": {form.Field{Type: form.ContactField, Binding: "city", Label: "x", Input: form.InputCheckbox}, "fields[0].input"},
			"no options":        {form.Field{Type: form.ContactField, Binding: "city", Label: "x", Input: form.InputSelect}, "fields[0].options"},
			"options of a text": {form.Field{Type: form.ContactField, Binding: "city", Label: "x", Options: []string{"a"}}, "fields[0].options"},
			"param":             {form.Field{Type: form.ContactField, Binding: "city", Label: "x", Param: "c"}, "fields[0].param"},
			"bad id":            {form.Field{ID: "a b", Type: form.ContactField, Binding: "city", Label: "x"}, "fields[0].id"},
			"default":           {form.Field{Type: form.ContactField, Binding: "city", Label: "x", Default: []any{}}, "fields[0].default_value"},
		} {
			_, err := form.Create(s.t.Context(), s.DB, broadcasttest.Box(s.t), s.Tenant, form.Change{Name: new("x"), Fields: &[]form.Field{tt.field}}, s.now)
			if got := pathsOf(s.t, err); !slices.Equal(got, []string{tt.path}) {
				s.t.Errorf("%s: problems at %v, want %s", name, got, tt.path)
			}
		}
	})
}

func TestOriginsAreExact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://Example.com": "https://example.com", "https://example.com:443": "https://example.com", "http://example.com:8080": "http://example.com:8080",
		"http://localhost:3000": "http://localhost:3000", "https://example.com/": "", "https://example.com/path": "", "https://*.example.com": "", "*": "",
		"example.com": "", "https://": "", "https://example.com?x": "", "https://u@example.com": "", "https://example.com:0": "", "https://example.com:99999": "",
		"null": "", "ftp://example.com": "", "https://example.com#": "", "https://example.com:": "", "": "",
	} {
		ch := form.Change{Name: new("x"), Origins: &[]string{text}}
		if err := ch.CheckNew(); (err == nil) != (want != "") {
			t.Errorf("%q: %v", text, err)
		}
	}
	f := form.Form{Settings: form.Settings{Origins: []string{"https://example.com"}}}
	for origin, want := range map[string]bool{"https://example.com": true, "": false, "null": false, "https://example.com.evil.org": false, "http://example.com": false, "https://www.example.com": false} {
		if f.Admits(origin) != want {
			t.Errorf("Admits(%q) = %v", origin, !want)
		}
	}
	if !(form.Form{}).Admits("") || !(form.Form{}).Admits("https://any.example") {
		t.Error("a form without origins does not admit all")
	}
}

func TestWhatAFormUsesCannotBeDeleted(t *testing.T) {
	each(t, func(s *site) {
		s.publish(form.Change{ListKeys: &[]string{s.List.Key}})
		who := form.Finder()
		ctx := s.t.Context()
		if err := segment.Delete(ctx, s.DB, s.Tenant, s.List.ID, who); codeOf(err) != "SEGMENT_IN_USE" {
			s.t.Errorf("delete the list: %v", err)
		}
		if err := sender.DeleteEmailType(ctx, s.DB, s.Tenant, s.Type.ID, who); codeOf(err) != "IN_USE" {
			s.t.Errorf("delete the email type: %v", err)
		}
		for _, subject := range []usage.Subject{{Kind: usage.Field, Key: "plan"}, {Kind: usage.Segment, ID: s.List.ID.String()}} {
			found, err := who.Find(ctx, s.DB, s.Tenant, subject)
			s.ok(err)
			if len(found["forms"]) != 1 {
				s.t.Errorf("%v is used by %v", subject, found)
			}
		}
		_, err := form.Archive(ctx, s.DB, s.Tenant, s.form.ID, s.now)
		s.ok(err)
		found, err := who.Find(ctx, s.DB, s.Tenant, usage.Subject{Kind: usage.Segment, ID: s.List.ID.String()})
		s.ok(err)
		if found.Any() {
			s.t.Errorf("an archived form still uses %v", found)
		}
		_, err = form.Unarchive(ctx, s.DB, s.Tenant, s.form.ID, s.now)
		s.ok(err)
	})
}

func TestErasureRemovesSubmissionsAndConsents(t *testing.T) {
	each(t, func(s *site) {
		s.publish(form.Change{DoubleOptIn: new(true)})
		s.submit(map[string]any{"email": "ann@example.com", "first_name": "Ann"}, true)
		m := s.mails()[0]
		_, err := s.confirm(m)
		s.ok(err)
		in := s.input(map[string]any{"email": "ann@example.com"}, true)
		in.Honeypot = "x"
		_, err = s.intake.Submit(s.t.Context(), s.form, in, s.now)
		s.ok(err)
		c := s.contact("ann@example.com")
		stores := []contact.PersonalData{form.PersonalData(), consent.PersonalData()}
		parts, err := contact.Personal(s.t.Context(), s.DB, c, stores, outbox.Broadcasts)
		s.ok(err)
		for _, p := range parts[len(parts)-len(stores):] {
			n := 0
			for record, err := range p.Records {
				s.ok(err)
				text, err := json.Marshal(record)
				s.ok(err)
				if !strings.Contains(string(text), "192.0.2.") {
					s.t.Errorf("%s exports %s", p.Name, text)
				}
				n++
			}
			if n != 1 {
				s.t.Errorf("%s exports %d records", p.Name, n)
			}
		}
		_, err = suppression.Anonymize(s.t.Context(), s.DB, s.Tenant, []id.Contact{c.ID}, false, stores, s.now)
		s.ok(err)
		for _, table := range []string{"form_submission", "consent_record"} {
			rows, err := s.DB.Query(s.t.Context(), `SELECT ip FROM `+table+` WHERE tenant_id = $1 AND ip <> ''`, s.Tenant)
			list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (ip string, err error) { err = scan(&ip); return ip, err })
			s.ok(err)
			if len(list) > 0 {
				s.t.Errorf("%s still has %v", table, list)
			}
		}
		if _, err := s.confirm(m); !errors.Is(err, form.ErrNoSubmission) {
			s.t.Errorf("the link still works: %v", err)
		}
	})
}

func TestTheEmbedCodeEscapesAndNamesTheHost(t *testing.T) {
	each(t, func(s *site) {
		list := fields()
		list[1].Label = `<script>alert("x")</script>`
		s.publish(form.Change{Fields: &list, SubmitLabel: new(`"Go" & <b>`)})
		e, err := form.EmbedCode(s.t.Context(), s.DB, s.form, "https")
		s.ok(err)
		if e.TrackingDomain != s.Domain.TrackingHost || strings.Contains(e.HTML, "<script") || strings.Contains(e.HTML, "<b>") || strings.Contains(e.HTML, "style=") ||
			!strings.Contains(e.HTML, `action="https://`+e.TrackingDomain+`/_q/f/`+s.form.Slug+`"`) || !strings.Contains(e.HTML, `name="consents.newsletter"`) ||
			!strings.Contains(e.HTML, `name="custom_fields.plan"`) || !strings.Contains(e.HTML, `autocomplete="email"`) || !strings.Contains(e.HTML, form.Honeypot) {
			s.t.Errorf("the code is %+v", e)
		}
		if e.ScriptTag != `<script src="https://`+e.TrackingDomain+`/_q/f.js" defer></script>` {
			s.t.Errorf("the script tag is %s", e.ScriptTag)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"fields": {"email": "a@example.org", "plan": ["x"]}, "consents": {"newsletter": true}, "token": "t", "honeypot": "", "visitor_id": "v", "page_url": "https://example.org/"}`))
	f.Add([]byte(`email=a%40example.org&consents.newsletter=on&custom_fields.plan=x&custom_fields.plan=y&website_url_2=`))
	f.Add([]byte(`{"fields": 1, "consents": {"x": "y"}, "token": null}`))
	f.Add([]byte("\xff\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > form.MaxBody {
			return
		}
		for _, s := range []form.Submitted{parsed(body), encoded(body)} {
			for _, text := range []string{s.VisitorID, s.PageURL} {
				if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
					t.Errorf("%q is not storable", text)
				}
			}
			if s.PageURL != "" && !strings.HasPrefix(strings.ToLower(s.PageURL), "http") {
				t.Errorf("the page is %q", s.PageURL)
			}
		}
	})
}

func parsed(body []byte) form.Submitted {
	s, _ := form.ParseJSON(body)
	return s
}

func encoded(body []byte) form.Submitted {
	v, _ := url.ParseQuery(string(body))
	return form.ParseForm(v)
}
