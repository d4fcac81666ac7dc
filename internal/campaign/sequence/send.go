package sequence

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Mail is the mail of a node, ready to be queued.
type Mail struct {
	Send    id.Send
	Content id.Content
	Version int
	Consent contact.Consent
	Type    id.EmailType
	Picker  *route.Picker
	Down    map[id.Lane]bool
}

// visitsPerEnrollment is more than an enrollment can visit a node.
const visitsPerEnrollment = MaxVisits + 1

// VisitNumber returns a number that differs for each visit of a node by a contact, in all of its
// enrollments: the Visit of the node's message.
func (e Enrollment) VisitNumber() int { return e.Number*visitsPerEnrollment + e.Visits[e.Node] }

// ErrNoMail means that the mail of a node cannot be sent now, because something that it refers to
// is missing or inactive.
var ErrNoMail = errors.New("the mail of the node cannot be sent")

// selection resolves what a step names.
func (s SendStep) selection(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (sender.Selection, sender.EmailType, error) {
	t, err := sender.EmailTypeByKey(ctx, db, tenant, s.EmailType)
	if err != nil {
		return sender.Selection{}, t, err
	}
	sel := sender.Selection{EmailType: t.ID}
	if len(s.Identities) > 0 {
		list, err := sender.IdentitiesByAddress(ctx, db, tenant, s.Identities)
		if err != nil {
			return sel, t, err
		}
		for _, i := range list {
			sel.Identities = append(sel.Identities, i.ID)
		}
	}
	if s.Lane != nil {
		l, err := lane.ByKey(ctx, db, tenant, *s.Lane)
		if err != nil {
			return sel, t, err
		}
		sel.Lane = l.ID
	}
	return sel, t, nil
}

// source returns the content of the step's mail, and its version.
func (s SendStep) source(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (content.Source, int, error) {
	c, version, err := library.Content(ctx, db, tenant, s.Message, optional.Value(s.Version))
	if err != nil {
		return content.Source{}, 0, err
	}
	c.FromName, c.ReplyTo = cmp.Or(s.FromName, c.FromName), cmp.Or(s.ReplyTo, c.ReplyTo)
	src := c.Source()
	return src, version, content.Check(src)
}

// unready returns what keeps a draft with a valid graph from being activated: mails that cannot be sent now,
// and a trigger that refers to what does not exist.
func (c *checker) unready(ctx context.Context, s Sequence) ([]Issue, error) {
	issues, err := c.unsendable(ctx, s)
	if err != nil {
		return nil, err
	}
	var p fault.Problems
	s.Trigger.Refer(c.schema, "entry_trigger", &p)
	return append(issues, issuesOf(UnknownReference, &p)...), nil
}

// unsendable returns an issue for each node whose mail cannot be sent now.
func (c *checker) unsendable(ctx context.Context, s Sequence) ([]Issue, error) {
	account, err := tenant.ByID(ctx, c.db, c.tenant)
	if err != nil {
		return nil, err
	}
	var issues []Issue
	for _, n := range s.Graph.Nodes {
		if n.Type != SendNode {
			continue
		}
		p, err := parseStep(n)
		step, ok := p.(SendStep)
		if err != nil || !ok {
			continue // reported by check
		}
		_, err = step.routes(ctx, c.db, account)
		if err == nil {
			_, _, err = step.source(ctx, c.db, c.tenant)
		}
		if f, ok := fault.As(err); ok {
			issues = append(issues, Issue{NodeID: &n.ID, Code: UnknownReference, Message: f.Message})
		} else if err != nil {
			return nil, err
		}
	}
	return issues, nil
}

// errNoRoute reports that a mail has no sender or no lane.
var errNoRoute = fault.New(fault.Invalid, "NO_IDENTITY", "no sending identity and MTA config of the step can send: an identity must be active, its domain verified and its tracking host live, and its MTA config active")

// routes returns the routes of the step's mail, of which there is at least one.
func (s SendStep) routes(ctx context.Context, db *sqldb.DB, account tenant.Tenant) ([]route.Route, error) {
	sel, t, err := s.selection(ctx, db, account.ID)
	if err != nil {
		return nil, err
	}
	if !t.Active {
		return nil, sender.ErrEmailTypeNotFound.Sayf("the email type %q is not active", t.Key)
	}
	routing, err := sender.LoadRouting(ctx, db, account.ID, account.Settings, sel)
	if err != nil {
		return nil, err
	}
	if list := routing.Routes(sel); len(list) > 0 {
		return list, nil
	}
	if len(routing.Candidates) == 0 && len(routing.Paused) > 0 { // mails wait in the queue
		routing.Candidates = routing.Paused
		if list := routing.Routes(sel); len(list) > 0 {
			return list, nil
		}
	}
	return nil, errNoRoute
}

// prospect is what the mail of a step is made of.
type prospect struct {
	routes  []route.Route
	source  content.Source
	version int
	typ     sender.EmailType
}

func (p prospect) consent() contact.Consent {
	return contact.Consent{TypeKey: p.typ.Key, Category: p.typ.Category}
}

// prospect finds what the mail of the step is made of. The error is a fault if it cannot be sent now.
func (s SendStep) prospect(ctx context.Context, db *sqldb.DB, account tenant.Tenant) (p prospect, err error) {
	if p.routes, err = s.routes(ctx, db, account); err != nil {
		return p, err
	}
	if p.source, p.version, err = s.source(ctx, db, account.ID); err != nil {
		return p, err
	}
	p.typ, err = sender.EmailTypeByKey(ctx, db, account.ID, s.EmailType)
	return p, err
}

// Consent returns the consent that the mail of the step needs. The error is a fault if it cannot be sent now. Nothing is
// stored.
func (s SendStep) Consent(ctx context.Context, db *sqldb.DB, account tenant.Tenant) (contact.Consent, error) {
	p, err := s.prospect(ctx, db, account)
	return p.consent(), err
}

// Mail returns the mail of a node, whose send and content it stores if they are new. If the mail
// cannot be sent, the error is ErrNoMail with the fault.
func (s Sequence) Mail(ctx context.Context, tx *sqldb.DB, account tenant.Tenant, node string, step SendStep, now time.Time) (Mail, error) {
	m, err := s.mail(ctx, tx, account, node, step, now)
	if f, ok := fault.As(err); ok {
		return Mail{}, fmt.Errorf("%w: %w", ErrNoMail, f)
	}
	if err != nil {
		return Mail{}, fmt.Errorf("prepare the mail of a node: %w", err)
	}
	return m, nil
}

func (s Sequence) mail(ctx context.Context, tx *sqldb.DB, account tenant.Tenant, node string, step SendStep, now time.Time) (Mail, error) {
	p, err := step.prospect(ctx, tx, account)
	if err != nil {
		return Mail{}, err
	}
	src, version, routes, t := p.source, p.version, p.routes, p.typ
	m := Mail{Version: version, Type: t.ID, Consent: p.consent(), Down: map[id.Lane]bool{}}
	if m.Send, err = s.send(ctx, tx, node, t.ID, routes, now); err != nil {
		return Mail{}, err
	}
	if routes, err = outbox.AddRoutes(ctx, tx, s.Tenant, m.Send, routes); err != nil {
		return Mail{}, err
	}
	m.Picker = route.NewPicker(routes)
	states, err := lane.StatesOf(ctx, tx, s.Tenant, route.Lanes(routes))
	if err != nil {
		return Mail{}, err
	}
	for l, h := range states {
		m.Down[l] = h.State == lane.Down
	}
	src.Send = m.Send
	s.complete(&src, account, node, step, t)
	m.Content, err = s.content(ctx, tx, m.Send, src, version, now)
	return m, err
}

// complete sets what the content of a node's mail has of its sequence and account.
func (s Sequence) complete(src *content.Source, account tenant.Tenant, node string, step SendStep, t sender.EmailType) {
	src.Tracking = step.Tracked()
	src.Context.Sequence, src.Context.SequenceName, src.Context.EmailType = s.ID, s.Name, t.ID
	src.Context.UTM, src.Context.UTMContent = account.Settings.Tracking.UTM, node
	src.Context.UTMCampaign = t.UTMCampaignPrefix + slug.Derive(s.Name, '-')
}

// send returns the send of a node, which it creates and opens if it is new.
func (s Sequence) send(ctx context.Context, tx *sqldb.DB, node string, t id.EmailType, routes []route.Route, now time.Time) (id.Send, error) {
	var send id.Send
	find := func() error {
		return tx.QueryRow(ctx, `SELECT send_id FROM sequence_send WHERE tenant_id = $1 AND sequence_id = $2 AND node_id = $3`, s.Tenant, s.ID, node).Scan(&send)
	}
	err := find()
	if !errors.Is(err, sqldb.ErrNoRows) {
		return send, err
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO sequence_send (tenant_id, sequence_id, node_id, send_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant_id, sequence_id, node_id) DO NOTHING RETURNING send_id`, s.Tenant, s.ID, node, id.New[id.Send]())
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (id.Send, error) {
		var one id.Send
		err := scan(&one)
		return one, err
	})
	if err != nil {
		return send, err
	}
	if len(list) == 0 { // another transaction inserted it
		err := find()
		return send, err
	}
	send = list[0]
	err = outbox.Create(ctx, tx, outbox.Send{Tenant: s.Tenant, ID: send, Source: outbox.FromSequence(s.ID), EmailType: t}, outbox.Terms{Routes: routes}, now)
	if err == nil {
		err = outbox.Start(ctx, tx, s.Tenant, send, now)
	}
	return send, err
}

// content returns the frozen content of a source. Each source is frozen once for each send.
func (s Sequence) content(ctx context.Context, tx *sqldb.DB, send id.Send, src content.Source, version int, now time.Time) (id.Content, error) {
	text, err := json.Marshal(src)
	if err != nil {
		return id.Content{}, err
	}
	sum := sha256.Sum256(text)
	fingerprint := hex.EncodeToString(sum[:16])
	var c id.Content
	err = tx.QueryRow(ctx, `SELECT content_id FROM sequence_content WHERE tenant_id = $1 AND send_id = $2 AND fingerprint = $3`, s.Tenant, send, fingerprint).Scan(&c)
	if !errors.Is(err, sqldb.ErrNoRows) {
		return c, err
	}
	if c, err = content.Freeze(ctx, tx, s.Tenant, src, now); err != nil {
		return c, err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO sequence_content (tenant_id, send_id, fingerprint, content_id, version) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant_id, send_id, fingerprint) DO NOTHING`, s.Tenant, send, fingerprint, c, version)
	return c, err
}

// Sends returns the sends of a sequence's nodes.
func Sends(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence) (map[string]id.Send, error) {
	rows, err := db.Query(ctx, `SELECT node_id, send_id FROM sequence_send WHERE tenant_id = $1 AND sequence_id = $2`, tenant, seq)
	all := map[string]id.Send{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var node string
		var send id.Send
		err := scan(&node, &send)
		all[node] = send
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the sends of a sequence: %w", err)
	}
	return all, nil
}

// Engaged returns which of some enrollments in the sequence have opened, or clicked in, the mail that a
// wait waits for. Mails of earlier enrollments of the contact do not count.
func (s Sequence) Engaged(ctx context.Context, db *sqldb.DB, w WaitStep, list []*Enrollment) (map[id.Enrollment]bool, error) {
	found := map[id.Enrollment]bool{}
	sends, err := Sends(ctx, db, s.Tenant, s.ID)
	send, sent := sends[w.Node]
	if err != nil || !sent {
		return found, err
	}
	type place struct {
		contact id.Contact
		number  int
	}
	enrollments := map[place]id.Enrollment{}
	contacts := make([]id.Contact, len(list))
	for i, e := range list {
		enrollments[place{e.Contact, e.Number}], contacts[i] = e.ID, e.Contact
	}
	visits, err := outbox.Visits(ctx, db, s.Tenant, send, contacts)
	if err != nil {
		return nil, err
	}
	mails := map[id.Message]id.Enrollment{}
	for _, v := range visits {
		if e, ok := enrollments[place{v.Contact, v.Number / visitsPerEnrollment}]; ok {
			mails[v.Message] = e
		}
	}
	flag := track.VerifiedOpened
	if w.Engagement == "clicked" {
		flag = track.HumanClicked
	}
	engaged, err := track.WithFlag(ctx, db, s.Tenant, slices.Collect(maps.Keys(mails)), flag)
	for m := range engaged {
		found[mails[m]] = true
	}
	return found, err
}

// TriggersOf returns the events that triggered the enrollments whose steps queued messages, by
// message. An enrollment by a call has none. The send is that of a node.
func TriggersOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, messages []outbox.Addressed) (map[outbox.Addressed]journal.Trigger, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	wanted := map[outbox.Addressed][]outbox.Addressed{} // by contact and number of the enrollment
	var contacts []id.Contact
	for _, m := range messages {
		k := outbox.Addressed{Contact: m.Contact, Visit: m.Visit / visitsPerEnrollment}
		wanted[k] = append(wanted[k], m)
		contacts = append(contacts, m.Contact)
	}
	rows, err := db.Query(ctx, `
		SELECT e.contact_id, e.number, e.trigger_data FROM sequence_send AS s
		JOIN enrollment AS e ON e.tenant_id = s.tenant_id AND e.sequence_id = s.sequence_id
		WHERE s.tenant_id = $1 AND s.send_id = $2 AND e.tenant_id = $1 AND e.contact_id`+db.In(3)+` AND e.trigger_data IS NOT NULL`,
		tenant, send, sqldb.List(db, contacts))
	found := map[outbox.Addressed]journal.Trigger{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var k outbox.Addressed
		var data string
		if err := scan(&k.Contact, &k.Visit, sqldb.ToText(&data)); err != nil || wanted[k] == nil {
			return err
		}
		t, err := journal.DecodeTrigger(json.RawMessage(data))
		for _, m := range wanted[k] {
			found[m] = t
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the events that triggered enrollments: %w", err)
	}
	return found, nil
}

// Message returns the message of a mail to a contact, or why the contact may not get it, as
// contact.Refusal does. Listed is whether the address is on the suppression list.
func (m Mail) Message(c contact.Contact, listed bool, node string, visit int, provider mx.Provider, due time.Time) (outbox.Message, string) {
	if refusal := c.Refusal(m.Consent, listed); refusal != "" {
		return outbox.Message{}, refusal
	}
	r := m.Picker.Pick(c.ID, id.Identity{}, m.Down)
	return outbox.Message{
		Contact: c.ID, Visit: visit, Email: c.Email, Content: m.Content, ContentVersion: m.Version, Variant: node,
		Identity: r.Identity, Provider: provider, Lane: r.Lane, DueAt: due,
	}, ""
}

// EmailTypes returns the keys of the email types of the sequence's mails, in the order of its nodes.
func (s Sequence) EmailTypes() []string {
	var keys []string
	for _, n := range s.Graph.Nodes {
		if step, ok := ParseAction(n.Type, n.Config).(SendStep); ok && !slices.Contains(keys, step.EmailType) {
			keys = append(keys, step.EmailType)
		}
	}
	return keys
}
