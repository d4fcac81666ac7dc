package sequence

import (
	"context"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrNoMails is the fault of a test of a sequence that sends nothing.
var ErrNoMails = fault.New(fault.Invalid, "NO_CONTENT", "the sequence has no node of type send")

// Test is a prepared test of a sequence: the mail of each send node goes once to each address.
type Test struct {
	Sequence Sequence
	To       []string
	Mails    []TestMail // by node, in the order of the graph, then by address
}

// TestMail is one mail of a test.
type TestMail struct {
	Node       string
	To         string
	Sender     string // address of the sending identity; empty if Problem is set
	Suppressed bool   // the address is on the suppression list
	Problem    string // why the mail of the node cannot be sent; empty: it can
	mail       render.TestMail
}

// TestResult is the result of one mail of a test.
type TestResult struct {
	Node   string
	To     string
	Sender string // empty if the node has none
	render.TestResult
}

// PrepareTest prepares a test of a sequence in any status but archived, with the data of a contact
// and of the event of its latest enrollment, if there is one. The mails are those that the nodes
// would send now; a node that could not send has its reason in its mails.
func PrepareTest(ctx context.Context, db *sqldb.DB, account id.Tenant, seq id.Sequence, sample id.Contact, to []string) (Test, error) {
	s, err := Load(ctx, db, account, seq)
	if err != nil {
		return Test{}, err
	}
	if s.Status == Archived {
		return Test{}, ErrTransition.Sayf("an archived sequence is not tested")
	}
	t := Test{Sequence: s}
	if t.To, err = render.TestAddresses(to); err != nil {
		return Test{}, err
	}
	c, err := contact.ByID(ctx, db, account, sample)
	if err != nil {
		return Test{}, err
	}
	settings, err := tenant.ByID(ctx, db, account)
	if err != nil {
		return Test{}, err
	}
	trigger, err := latestTrigger(ctx, db, s, sample)
	if err != nil {
		return Test{}, err
	}
	listed, err := suppression.Listed(ctx, db, account, t.To)
	if err != nil {
		return Test{}, err
	}
	sends, err := Sends(ctx, db, account, seq)
	if err != nil {
		return Test{}, err
	}
	for _, n := range s.Graph.Nodes {
		parsed, _ := parseStep(n) // a step that cannot be parsed any more sends nothing
		step, ok := parsed.(SendStep)
		if !ok {
			continue
		}
		one := TestMail{Node: n.ID}
		one.mail, one.Sender, err = s.testMail(ctx, db, settings, n.ID, step)
		if f, ok := fault.As(err); ok {
			one.Problem = f.Message
		} else if err != nil {
			return Test{}, fmt.Errorf("prepare a test of a sequence: %w", err)
		}
		one.mail.Contact, one.mail.Event, one.mail.Send = c, trigger, sends[n.ID]
		if one.mail.Send.IsZero() { // nothing was sent yet: a send of which nothing is stored
			one.mail.Send = id.New[id.Send]()
		}
		for _, address := range t.To {
			one.To, one.mail.To, one.Suppressed = address, address, listed[address]
			t.Mails = append(t.Mails, one)
		}
	}
	switch {
	case len(t.Mails) == 0:
		return Test{}, ErrNoMails
	case len(t.Mails) > render.MaxTestMails:
		return Test{}, render.ErrTestRecipients.Sayf("%d addresses and %d nodes make %d mails, and a test has at most %d", len(t.To), len(t.Mails)/len(t.To), len(t.Mails), render.MaxTestMails)
	}
	return t, nil
}

// testMail returns the mail of a node, without what depends on the recipient, and its sender.
func (s Sequence) testMail(ctx context.Context, db *sqldb.DB, account tenant.Tenant, node string, step SendStep) (render.TestMail, string, error) {
	routes, err := step.routes(ctx, db, account)
	if err != nil {
		return render.TestMail{}, "", err
	}
	src, _, err := step.source(ctx, db, s.Tenant)
	if err != nil {
		return render.TestMail{}, "", err
	}
	t, err := sender.EmailTypeByKey(ctx, db, s.Tenant, step.EmailType)
	if err != nil {
		return render.TestMail{}, "", err
	}
	s.complete(&src, account, node, step, t)
	compiled, err := content.Draft(src)
	if err != nil {
		return render.TestMail{}, "", err
	}
	config, err := lane.ByID(ctx, db, s.Tenant, routes[0].Lane)
	if err != nil {
		return render.TestMail{}, "", err
	}
	identity, err := sender.IdentityByID(ctx, db, s.Tenant, routes[0].Identity)
	if err != nil {
		return render.TestMail{}, "", err
	}
	return render.TestMail{EmailType: t.ID, Content: compiled, Variant: node, Identity: identity.ID, Lane: config}, identity.Address, nil
}

// latestTrigger returns the event of a contact's latest enrollment.
func latestTrigger(ctx context.Context, db *sqldb.DB, s Sequence, c id.Contact) (journal.Trigger, error) {
	list, err := OfContact(ctx, db, s.Tenant, c)
	if err != nil {
		return journal.Trigger{}, err
	}
	i := slices.IndexFunc(list, func(e Enrollment) bool { return e.Sequence == s.ID })
	if i < 0 {
		return journal.Trigger{}, nil
	}
	return journal.DecodeTrigger(list[i].Trigger)
}

// SendTest sends the mails of a test and returns their results in the same order. Nothing of them is
// stored or counted.
func SendTest(ctx context.Context, t Test, by render.TestSender) ([]TestResult, error) {
	results := make([]TestResult, len(t.Mails))
	planned := make([]render.PlannedTest, len(t.Mails))
	for i, m := range t.Mails {
		results[i] = TestResult{Node: m.Node, To: m.To, Sender: m.Sender}
		planned[i] = render.PlannedTest{Mail: m.mail, Suppressed: m.Suppressed, Problem: m.Problem}
	}
	sent, err := render.SendTests(ctx, by, t.Sequence.Tenant, planned)
	for i := range sent {
		results[i].TestResult = sent[i]
	}
	return results, err
}
