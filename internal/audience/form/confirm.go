package form

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/language"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const (
	linkLasts    = 7 * 24 * time.Hour
	mailInterval = 10 * time.Minute // between two mails to an address
	mailsPerDay  = 3                // to an address
)

// The faults of confirmations.
var (
	ErrNoSubmission = fault.New(fault.NotFound, "NOT_FOUND", "there is no such submission")
	ErrExpired      = fault.New(fault.NotFound, "NOT_FOUND", "the link has expired")
)

// confirmation is the send of a form's confirmation mails and their content, once there was one.
type confirmation struct {
	send    id.Send
	content id.Content
	hash    string // of the content's source
}

//go:embed texts/*.json
var textFiles embed.FS

var mailTexts = language.MustLoad(textFiles, "texts")

const confirmVariable = "subscribe_confirm_url"

// builtInMail returns the confirmation mail of forms without a message of their own, in a language.
func builtInMail(tag string) content.Source {
	say := func(key string) string {
		return mailTexts.Text(tag, key, "sender", "{{ account.name }}", "address", "{{ contact.email }}")
	}
	return content.Source{
		Subject: say("subject"),
		HTML: `<!doctype html><html lang="` + tag + `"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>` + say("subject") + `</title></head>
<body style="margin:0;padding:24px;background:#f3f4f6;font:16px/1.5 Arial,Helvetica,sans-serif;color:#1f2937">
<div style="max-width:560px;margin:0 auto;padding:32px;background:#ffffff;border-radius:8px">
<p style="margin:0 0 16px">` + say("question") + `</p>
<p style="margin:0 0 24px"><a href="{{ subscribe_confirm_url }}" style="display:inline-block;padding:12px 24px;background:#1d4ed8;color:#ffffff;text-decoration:none;border-radius:6px">` + say("button") + `</a></p>
<p style="margin:0;color:#4b5563;font-size:14px">` + say("ignore") + `</p>
</div></body></html>`,
		Text: say("question") + "\n\n{{ subscribe_confirm_url }}\n\n" + say("ignore") + "\n",
	}
}

// confirmSource returns the content of the form's confirmation mail: a message of the library, or the
// built-in one in the account's language. A fault says what is wrong with the message of the library.
func (f Form) confirmSource(ctx context.Context, db *sqldb.DB) (content.Source, error) {
	var s content.Source
	if f.ConfirmMessage.IsZero() {
		account, err := tenant.ByID(ctx, db, f.Tenant)
		if err != nil {
			return s, err
		}
		s = builtInMail(language.Choose("", account.Settings.Locale))
	} else {
		c, _, err := library.Content(ctx, db, f.Tenant, f.ConfirmMessage, 0)
		if errors.Is(err, library.ErrNoEntry) {
			return s, fault.Input(fault.Field{Path: "confirm_message_id", Message: "the message was deleted"}).Sayf("the message was deleted")
		}
		if err != nil {
			return s, err
		}
		s = c.Source()
	}
	s.Tracking, s.Context.Confirmation = false, true
	if !strings.Contains(s.HTML, confirmVariable) {
		return s, fault.Input(fault.Field{Path: "confirm_message_id", Message: "no link"}).Sayf("the message has no link to {{ %s }}", confirmVariable)
	}
	return s, content.Check(s)
}

var errNoRoute = errors.New("no sender can send the confirmation")

// confirmRoute returns the identity and the lane of a contact's confirmation mail: the account's
// default identity, else the first of the consented type. One whose domain is paused is used only if
// there is no other; its mail waits. The error is errNoRoute if there is none.
func (f Form) confirmRoute(ctx context.Context, db *sqldb.DB, b bindings, c id.Contact) (route.Route, error) {
	account, err := tenant.ByID(ctx, db, f.Tenant)
	if err != nil {
		return route.Route{}, err
	}
	var selections []sender.Selection
	if i := account.Settings.DefaultIdentity; !i.IsZero() {
		selections = append(selections, sender.Selection{Identities: []id.Identity{i}})
	}
	if t := f.consentedType(b); !t.IsZero() {
		selections = append(selections, sender.Selection{EmailType: t})
	}
	var paused []route.Route
	for _, s := range selections {
		r, err := sender.LoadRouting(ctx, db, f.Tenant, account.Settings, s)
		if err != nil {
			return route.Route{}, err
		}
		if routes := firstSender(r, s, r.Candidates); len(routes) > 0 {
			return pick(ctx, db, f.Tenant, routes, c)
		}
		if len(paused) == 0 {
			paused = firstSender(r, s, r.Paused)
		}
	}
	if len(paused) == 0 {
		return route.Route{}, errNoRoute
	}
	return pick(ctx, db, f.Tenant, paused, c)
}

// firstSender returns the routes of the first candidate that has a lane.
func firstSender(r sender.Routing, s sender.Selection, candidates []sender.Candidate) []route.Route {
	for _, one := range candidates {
		r.Candidates = []sender.Candidate{one}
		if routes := r.Routes(s); len(routes) > 0 {
			return routes
		}
	}
	return nil
}

func pick(ctx context.Context, db *sqldb.DB, t id.Tenant, routes []route.Route, c id.Contact) (route.Route, error) {
	states, err := lane.StatesOf(ctx, db, t, route.Lanes(routes))
	if err != nil {
		return route.Route{}, err
	}
	down := map[id.Lane]bool{}
	for l, health := range states {
		down[l] = health.State == lane.Down
	}
	return route.NewPicker(routes).Pick(c, id.Identity{}, down), nil
}

// sendConfirmation queues the confirmation mail, unless the address got too many.
func (s *submission) sendConfirmation(ctx context.Context, tx *sqldb.DB) error {
	may, err := s.mayMail(ctx, tx)
	if err != nil || !may {
		return err
	}
	way, err := s.form.confirmRoute(ctx, tx, s.bindings, s.contact.ID)
	if errors.Is(err, errNoRoute) {
		return errUnavailable.Because(err)
	}
	if err != nil {
		return err
	}
	to, err := s.form.openSend(ctx, tx, way, s.at)
	if err != nil {
		return err
	}
	var visit int
	err = tx.QueryRow(ctx, `
		SELECT COUNT(*) FROM form_submission
		WHERE tenant_id = $1 AND contact_id = $2 AND form_id = $3 AND message_id IS NOT NULL`,
		s.form.Tenant, s.contact.ID, s.form.ID).Scan(&visit)
	if err != nil {
		return err
	}
	s.message = id.New[id.Message]()
	_, err = outbox.AddMessages(ctx, tx, s.form.Tenant, to.send, []outbox.Message{{
		ID: s.message, Contact: s.contact.ID, Visit: visit, Email: s.contact.Email, Content: to.content,
		Identity: way.Identity, Lane: way.Lane, DueAt: s.at,
	}})
	return err
}

// mayMail reports whether another confirmation mail may be sent to the address. The row of the contact
// is locked, so that two submissions do not both send one.
func (s *submission) mayMail(ctx context.Context, tx *sqldb.DB) (bool, error) {
	rows, err := tx.Query(ctx, `
		SELECT mailed_at FROM form_submission
		WHERE tenant_id = $1 AND email = $2 AND mailed_at > $3 ORDER BY mailed_at DESC LIMIT $4`,
		s.form.Tenant, s.email, sqldb.Micros(s.at.Add(-24*time.Hour)), mailsPerDay)
	times, err := sqldb.Collect(rows, err, func(scan func(...any) error) (at int64, err error) {
		err = scan(&at)
		return at, err
	})
	if err != nil {
		return false, fmt.Errorf("find confirmation mails: %w", err)
	}
	return len(times) == 0 || len(times) < mailsPerDay && s.at.Sub(sqldb.Time(times[0])) >= mailInterval, nil
}

// openSend returns the send and the content of the form's confirmation mails. The send is opened for
// the first mail, and content is frozen when it has changed.
func (f Form) openSend(ctx context.Context, tx *sqldb.DB, way route.Route, now time.Time) (confirmation, error) {
	locked, err := find(ctx, tx, f.Tenant, f.ID, tx.ForUpdate())
	if err != nil {
		return confirmation{}, err
	}
	to := locked.confirm
	if to.send.IsZero() {
		to.send = id.New[id.Send]()
		err := outbox.Create(ctx, tx, outbox.Send{
			Tenant: f.Tenant, ID: to.send, Source: outbox.FromForm(f.ID),
		}, outbox.Terms{Routes: []route.Route{way}}, now)
		if err != nil {
			return to, err
		}
		if err := outbox.Start(ctx, tx, f.Tenant, to.send, now); err != nil {
			return to, err
		}
	} else if _, err := outbox.AddRoutes(ctx, tx, f.Tenant, to.send, []route.Route{way}); err != nil {
		return to, err
	}
	source, err := f.confirmSource(ctx, tx)
	if err != nil {
		return to, unavailable(err)
	}
	source.Send = to.send
	text, err := json.Marshal(source)
	if err != nil {
		return to, err
	}
	sum := sha256.Sum256(text)
	hash := hex.EncodeToString(sum[:])
	if hash != to.hash {
		to.hash = hash
		if to.content, err = content.Freeze(ctx, tx, f.Tenant, source, now); err != nil {
			return to, err
		}
	}
	if to == locked.confirm {
		return to, nil
	}
	_, err = tx.Exec(ctx, `
		UPDATE form SET confirm_send = $3, confirm_content = $4, confirm_hash = $5 WHERE tenant_id = $1 AND id = $2`,
		f.Tenant, f.ID, to.send, to.content, to.hash)
	return to, err
}

// Pending is a submission that waits for its confirmation, or has got it.
type Pending struct {
	Email       string
	Confirmed   bool
	RedirectURL string // where to go when it is confirmed; empty: nowhere
	Wordings    []string

	tenant id.Tenant
	id     id.FormSubmission
}

// Pending returns the submission of a confirmation mail. The error is ErrNoSubmission or ErrExpired.
func (in *Intake) Pending(ctx context.Context, t id.Tenant, message id.Message, now time.Time) (Pending, error) {
	s, err := loadByMessage(ctx, in.DB, t, message, " ")
	if err != nil {
		return Pending{}, err
	}
	return s.pending(now)
}

func (s stored) pending(now time.Time) (Pending, error) {
	p := Pending{Email: s.Email, Confirmed: s.Outcome == Confirmed, RedirectURL: s.redirect, tenant: s.tenant, id: s.ID}
	for _, g := range s.Consents {
		p.Wordings = append(p.Wordings, g.Wording)
	}
	if !p.Confirmed && now.Sub(s.At) > linkLasts {
		return Pending{}, ErrExpired
	}
	return p, nil
}

// stored is a submission with what its confirmation needs.
type stored struct {
	Submission
	tenant   id.Tenant
	message  id.Message // the confirmation mail
	redirect string
}

func loadByMessage(ctx context.Context, db *sqldb.DB, t id.Tenant, message id.Message, lock string) (stored, error) {
	s, err := scanSubmission(db.QueryRow(ctx, `
		SELECT `+submissionColumns+` FROM form_submission WHERE tenant_id = $1 AND message_id = $2`+lock, t, message).Scan)
	if errors.Is(err, sqldb.ErrNoRows) || err == nil && (s.Contact.IsZero() || s.Email == "") {
		return stored{}, ErrNoSubmission // erased
	}
	if err != nil {
		return stored{}, fmt.Errorf("find the submission of a mail: %w", err)
	}
	f, err := ByID(ctx, db, t, s.Form)
	if errors.Is(err, ErrNotFound) {
		return stored{}, ErrNoSubmission
	}
	return stored{s, t, message, f.ConfirmRedirectURL}, err
}

// Confirm confirms the submission of a mail: the contact becomes active and subscribed, and gets the
// submitted values. ip and agent are the client's. It may be repeated.
func (in *Intake) Confirm(ctx context.Context, t id.Tenant, message id.Message, ip, agent string, now time.Time) (Pending, error) {
	now = now.UTC().Truncate(time.Microsecond)
	var p Pending
	err := in.DB.InTx(ctx, func(tx *sqldb.DB) error {
		s, err := loadByMessage(ctx, tx, t, message, tx.ForUpdate())
		if err != nil {
			return err
		}
		if p, err = s.pending(now); err != nil || p.Confirmed {
			return err
		}
		p.Confirmed = true
		f, err := ByID(ctx, tx, t, s.Form)
		if err != nil {
			return err
		}
		return s.confirm(ctx, tx, f, ip, agent, now)
	})
	if err != nil {
		return Pending{}, fmt.Errorf("confirm a submission: %w", err)
	}
	return p, nil
}

func (s stored) confirm(ctx context.Context, tx *sqldb.DB, f Form, ip, agent string, now time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE form_submission SET outcome = 'confirmed', confirmed_at = $3 WHERE tenant_id = $1 AND id = $2`, s.tenant, s.ID, sqldb.Micros(now))
	if err != nil {
		return err
	}
	c, err := contact.ByID(ctx, tx, s.tenant, s.Contact)
	if errors.Is(err, contact.ErrNotFound) || err == nil && c.Email != s.Email {
		return ErrNoSubmission
	}
	if err != nil {
		return err
	}
	if isFinal(c) {
		return nil
	}
	b, err := loadBindings(ctx, tx, s.tenant)
	if err != nil {
		return err
	}
	if err := s.activate(ctx, tx, f, b, now); err != nil {
		return err
	}
	given := slices.DeleteFunc(slices.Clone(s.Consents), func(g Given) bool { _, ok := b.scope(g); return !ok })
	if err := giveConsents(ctx, tx, b, f, s.Contact, given, now); err != nil {
		return err
	}
	if len(given) == 0 {
		everything := contact.UnsubscribeScope{Everything: true}
		if _, err := contact.Subscribe(ctx, tx, s.tenant, []id.Contact{s.Contact}, everything, true, now); err != nil {
			return err
		}
	}
	if err := addToLists(ctx, tx, f, s.Contact, now); err != nil {
		return err
	}
	proof := &submission{form: f, bindings: b, given: given, contact: c, message: s.message, in: Submitted{IP: ip, Agent: storable(agent), PageURL: s.PageURL}}
	if err := consent.Add(ctx, tx, s.tenant, proof.records(now, true)...); err != nil {
		return err
	}
	return journal.Append(ctx, tx, journal.Entry{
		Tenant: s.tenant, Type: journal.OptInConfirmed, Name: f.Slug, Contact: s.Contact, At: now,
		Data: Entry{f.ID, f.Name, s.ID, s.PageURL},
	})
}

// activate gives the contact the submitted values. If the contact cannot have all of them, because it
// has too many tags for example, it only becomes active.
func (s stored) activate(ctx context.Context, tx *sqldb.DB, f Form, b bindings, now time.Time) error {
	rules, err := sender.ContactRules(ctx, tx, s.tenant)
	if err != nil {
		return err
	}
	ch := s.Answers.change(b)
	ch.Tags = &f.Tags
	if !f.Stage.IsZero() {
		ch.Stage = new(f.Stage.String())
	}
	for _, change := range []contact.Change{ch, {}} {
		list, err := contact.SaveAll(ctx, tx, s.tenant, []contact.Draft{{ID: s.Contact, Change: change}}, rules, now)
		if err != nil {
			return err
		}
		if err = list[0].Err; err == nil {
			return nil
		}
		if _, ok := fault.As(err); !ok {
			return err
		}
	}
	return nil
}

// AwaitingContacts returns those of contacts that have a link to confirm a submission, which has not expired.
func AwaitingContacts(ctx context.Context, db *sqldb.DB, t id.Tenant, contacts []id.Contact, now time.Time) (map[id.Contact]bool, error) {
	rows, err := db.Query(ctx, `
		SELECT contact_id FROM form_submission
		WHERE tenant_id = $1 AND contact_id IS NOT NULL AND contact_id`+db.In(2)+` AND outcome = 'awaiting_confirmation' AND submitted_at >= $3`,
		t, sqldb.List(db, contacts), sqldb.Micros(now.Add(-linkLasts)))
	found := map[id.Contact]bool{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		err := scan(&c)
		found[c] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find submissions that wait for a confirmation: %w", err)
	}
	return found, nil
}
