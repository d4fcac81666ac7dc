package broadcast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// TestRequest is a request for a test send.
type TestRequest struct {
	To       []string
	Contact  id.Contact // whose data to use; zero: sample data
	Variants []string   // ids; empty: all
}

// Test is a prepared test send: each variant goes to each address from each identity. It is sent within
// the request and not stored.
type Test struct {
	Tenant     id.Tenant
	Broadcast  id.Broadcast
	Send       id.Send // the broadcast's send, for links and headers
	EmailType  id.EmailType
	Variants   []TestVariant
	Routes     []TestRoute
	To         []string
	Suppressed map[string]bool  // addresses of To that are on the suppression list
	Contact    *contact.Contact // nil: sample data for each address

	expects draft.Samples
}

// TestVariant is the compiled content of one variant.
type TestVariant struct {
	ID      string // empty without variants
	Name    string // shown in the subject
	Content *content.Compiled
}

// TestRoute is an identity and the lane for its mail.
type TestRoute struct {
	Identity sender.Identity
	Lane     lane.Config
}

// TestResult is the result of one mail of a test.
type TestResult struct {
	To      string
	Variant string // empty without variants
	Sender  string
	render.TestResult
}

// Mails is the number of mails of the test.
func (t Test) Mails() int { return len(t.To) * len(t.Variants) * len(t.Routes) }

// Recipient returns the contact whose data the mail to an address shows.
func (t Test) Recipient(to string) contact.Contact {
	if t.Contact != nil {
		return *t.Contact
	}
	return t.expects.Contact(t.Tenant, to)
}

// PrepareTest prepares a test send if the content, the lane and the identities of the broadcast
// allow it, in any status unless it is archived. A draft is rendered with the current settings.
func PrepareTest(ctx context.Context, db *sqldb.DB, account id.Tenant, bid id.Broadcast, r TestRequest) (Test, error) {
	b, err := Load(ctx, db, account, bid)
	if err != nil {
		return Test{}, err
	}
	if !b.Can(ActionTestSend) {
		return Test{}, ErrTransition.Sayf("an archived broadcast is not tested").With(map[string]Status{"status": b.Status})
	}
	to, err := render.TestAddresses(r.To)
	if err != nil {
		return Test{}, err
	}
	contents, err := b.chosen(r.Variants)
	if err != nil {
		return Test{}, err
	}
	test := Test{Tenant: account, Broadcast: bid, Send: b.Send, EmailType: b.EmailType, To: to}
	if !r.Contact.IsZero() {
		c, err := contact.ByID(ctx, db, account, r.Contact)
		if err != nil {
			return Test{}, err
		}
		test.Contact = &c
	} else if test.expects, err = b.Content.Samples(); err != nil {
		return Test{}, err
	}
	f, err := LoadPreconditions(ctx, db, b)
	if err != nil {
		return Test{}, err
	}
	if err := f.checkContent(b, contents); err != nil {
		return Test{}, err
	}
	if err := testable(b, f).Err(); err != nil {
		return Test{}, err
	}
	for _, c := range f.Candidates {
		if l, ok := f.Lane(b, c.Identity); ok {
			test.Routes = append(test.Routes, TestRoute{c.Identity, l})
		}
	}
	if n := len(to) * len(contents) * len(test.Routes); n > render.MaxTestMails {
		return Test{}, render.ErrTestRecipients.Sayf("%d addresses, %d variants and %d senders make %d mails, and a test has at most %d",
			len(to), len(contents), len(test.Routes), n, render.MaxTestMails)
	}
	if test.Variants, err = b.compile(ctx, db, contents, f); err != nil {
		return Test{}, err
	}
	test.Suppressed, err = suppression.Listed(ctx, db, account, to)
	return test, err
}

// chosen returns the contents of some variants, in the broadcast's order.
func (b Broadcast) chosen(variants []string) ([]VariantContent, error) {
	contents := b.VariantContents()
	if len(variants) == 0 {
		return contents, nil
	}
	var p fault.Problems
	for i, v := range variants {
		if v == "" || !slices.ContainsFunc(contents, func(c VariantContent) bool { return c.Variant == v }) {
			p.Add(fmt.Sprintf("variant_ids[%d]", i), "the broadcast has no such variant")
		}
	}
	contents = slices.DeleteFunc(contents, func(c VariantContent) bool { return !slices.Contains(variants, c.Variant) })
	return contents, p.Err()
}

// testable checks the guards that a test depends on. The email type need not be active, but it must
// exist, because the unsubscribe links refer to it.
func testable(b Broadcast, f Preconditions) Readiness {
	r := Check(b, f)
	r.Reasons = slices.DeleteFunc(r.Reasons, func(reason Reason) bool {
		switch reason.Guard {
		case GuardMTA, GuardIdentity:
			return false
		case GuardContent:
			return f.Content == nil // a split test that tells nothing, of mails that can be sent
		case GuardEmailType:
			return f.EmailType != nil
		}
		return true
	})
	return r
}

// compile compiles contents for rendering.
func (b Broadcast) compile(ctx context.Context, db *sqldb.DB, contents []VariantContent, f Preconditions) ([]TestVariant, error) {
	account, err := tenant.ByID(ctx, db, b.Tenant)
	if err != nil {
		return nil, err
	}
	names := map[string]string{"": "main"}
	for _, v := range b.Variants {
		names[v.ID] = v.Name
	}
	made := make([]TestVariant, len(contents))
	for i, variant := range contents {
		c, err := content.Draft(b.SourceFor(account, variant, f))
		if err != nil {
			return nil, err
		}
		made[i] = TestVariant{variant.Variant, strings.Join(strings.Fields(names[variant.Variant]), " "), c}
	}
	return made, nil
}

// SendTest sends the mails of a test and returns the results, ordered by address, variant and
// identity. A route on which a mail was accepted is marked as verified.
func SendTest(ctx context.Context, db *sqldb.DB, t Test, by render.TestSender, now time.Time) ([]TestResult, error) {
	results := make([]TestResult, 0, t.Mails())
	planned := make([]render.PlannedTest, 0, t.Mails())
	for _, to := range t.To {
		for _, variant := range t.Variants {
			for _, route := range t.Routes {
				results = append(results, TestResult{To: to, Variant: variant.ID, Sender: route.Identity.Address})
				planned = append(planned, render.PlannedTest{Mail: t.mail(to, variant, route), Suppressed: t.Suppressed[to]})
			}
		}
	}
	sent, err := render.SendTests(ctx, by, t.Tenant, planned)
	if err != nil {
		return nil, err
	}
	for i := range sent {
		results[i].TestResult = sent[i]
	}
	return results, verifyRoutes(context.WithoutCancel(ctx), db, t, results, now)
}

func (t Test) mail(to string, variant TestVariant, route TestRoute) render.TestMail {
	return render.TestMail{
		Send: t.Send, EmailType: t.EmailType, To: to, Contact: t.Recipient(to), Content: variant.Content, Variant: variant.Name,
		Identity: route.Identity.ID, Lane: route.Lane,
	}
}

// verifyRoutes marks each route on which a mail of the test was accepted as verified.
func verifyRoutes(ctx context.Context, db *sqldb.DB, t Test, results []TestResult, now time.Time) error {
	var failures []error
	for _, route := range t.Routes {
		accepted := slices.ContainsFunc(results, func(r TestResult) bool {
			return r.Status == render.TestSent && r.Sender == route.Identity.Address
		})
		if accepted && route.Lane.Type != lane.Sink && !slices.Contains(route.Identity.VerifiedLanes, route.Lane.ID) {
			failures = append(failures, sender.LaneVerified(ctx, db, t.Tenant, route.Identity.ID, route.Lane.ID, now))
		}
	}
	return errors.Join(failures...)
}
