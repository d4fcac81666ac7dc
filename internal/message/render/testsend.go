package render

import (
	"context"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
)

// Limits on one test send: addresses, and mails to all of them together.
const (
	MaxTestAddresses = 10
	MaxTestMails     = 200
)

// ErrTestRecipients is the fault of a test send to no valid addresses, or to too many.
var ErrTestRecipients = fault.New(fault.Invalid, "INVALID_RECIPIENTS", "a test goes to 1 to 10 valid addresses")

// TestAddresses parses the addresses of a test send, without duplicates.
func TestAddresses(list []string) ([]string, error) {
	if len(list) == 0 || len(list) > MaxTestAddresses {
		return nil, ErrTestRecipients.Sayf("a test goes to 1 to %d addresses", MaxTestAddresses).With(fault.Fields{Fields: []fault.Field{
			{Path: "to", Message: fmt.Sprintf("must hold 1 to %d addresses", MaxTestAddresses)},
		}})
	}
	var bad []fault.Field
	var to []string
	for i, text := range list {
		addr, err := address.Normalize(text)
		if err != nil {
			bad = append(bad, fault.Field{Path: fmt.Sprintf("to[%d]", i), Message: err.Error()})
		} else if !slices.Contains(to, addr) {
			to = append(to, addr)
		}
	}
	if len(bad) > 0 {
		return nil, ErrTestRecipients.Sayf("%s: %s", bad[0].Path, bad[0].Message).With(fault.Fields{Fields: bad})
	}
	return to, nil
}

// TestSender builds and sends the mails of a test.
type TestSender interface {
	// SendTest returns the outcome of each mail, in the same order.
	SendTest(ctx context.Context, tenant id.Tenant, mails []TestMail) ([]TestOutcome, error)
}

// TestStatus is the outcome of one mail of a test.
type TestStatus string

// The statuses.
const (
	TestSent       TestStatus = "sent"       // accepted by the server
	TestFailed     TestStatus = "failed"     // refused, or not attempted
	TestSuppressed TestStatus = "suppressed" // the address is on the suppression list
)

// TestResult is what became of one mail of a test.
type TestResult struct {
	Status    TestStatus
	MessageID string // with angle brackets; empty if the mail was not built
	Error     string
}

// PlannedTest is one mail of a test that is to be sent, or not.
type PlannedTest struct {
	Mail       TestMail
	Suppressed bool   // the address is on the suppression list
	Problem    string // why the mail cannot be sent; empty: it can
}

// SendTests sends the mails of a test that can be sent, and returns the result of each, in the same
// order. Nothing of them is stored or counted.
func SendTests(ctx context.Context, by TestSender, tenant id.Tenant, list []PlannedTest) ([]TestResult, error) {
	results := make([]TestResult, len(list))
	var mails []TestMail
	var sent []int // indices of their results
	for i, p := range list {
		switch {
		case p.Suppressed:
			results[i] = TestResult{Status: TestSuppressed, Error: "the address is on the suppression list"}
		case p.Problem != "":
			results[i] = TestResult{Status: TestFailed, Error: p.Problem}
		default:
			mails, sent = append(mails, p.Mail), append(sent, i)
		}
	}
	outcomes, err := by.SendTest(ctx, tenant, mails)
	if err != nil {
		return nil, err
	}
	for i, o := range outcomes {
		r := TestResult{Status: TestSent, MessageID: o.MessageID}
		if o.Err != nil {
			r.Status, r.Error = TestFailed, o.Err.Error()
		}
		results[sent[i]] = r
	}
	return results, nil
}
