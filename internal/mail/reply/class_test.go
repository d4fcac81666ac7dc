package reply_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/reply"
)

// at makes the outcome of a reply in words, as a server sends it.
func at(t *testing.T, stage reply.Stage, line string) reply.Outcome {
	t.Helper()
	r, err := reply.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return r.Outcome(stage)
}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		stage    reply.Stage
		line     string
		class    reply.Class
		category reply.Category
	}{
		{reply.Dot, "250 2.0.0 OK queued", reply.Accepted, ""},

		// Before MAIL everything is the lane's.
		{reply.Connect, "554 5.7.1 you are on a block list", reply.Lane, reply.Network},
		{reply.Connect, "421 4.3.2 busy", reply.Lane, reply.Network},
		{reply.TLS, "454 4.7.0 TLS not available", reply.Lane, reply.Network},
		{reply.Auth, "535 5.7.8 authentication failed", reply.Lane, reply.Policy},
		{reply.Auth, "454 4.7.0 temporary authentication failure", reply.Lane, reply.Policy},
		{reply.Mail, "530 5.7.0 Must issue a STARTTLS command first", reply.Lane, reply.Policy},
		{reply.Mail, "530 5.7.0 Authentication required", reply.Lane, reply.Policy},
		{reply.Mail, "454 4.7.0 temporary authentication failure", reply.Lane, reply.Policy},
		{reply.Rcpt, "550 5.7.1 Authentication is required for relay", reply.Lane, reply.Policy},
		{reply.Mail, "550 5.7.57 Client was not authenticated to send mail", reply.Lane, reply.Policy},

		// The sender is never the recipient's fault.
		{reply.Mail, "550 5.1.1 no such user", reply.Block, reply.Policy},
		{reply.Mail, "553 5.1.8 Domain of sender address does not exist", reply.Block, reply.Policy},
		{reply.Mail, "550 5.7.1 blocked", reply.Block, reply.Policy},
		{reply.Mail, "552 5.3.4 message too large", reply.Soft, reply.Content},
		{reply.Mail, "421 4.7.0 try later", reply.Deferred, reply.Policy},
		{reply.Rcpt, "550 5.1.7 sender rejected", reply.Block, reply.Policy},
		{reply.Rcpt, "550 sender address rejected: user unknown", reply.Block, reply.Policy},

		// The recipient.
		{reply.Rcpt, "550 5.1.1 The email account that you tried to reach does not exist", reply.Hard, reply.Mailbox},
		{reply.Rcpt, "551 5.1.1 user not local", reply.Hard, reply.Mailbox},
		{reply.Rcpt, "553 5.1.2 bad host", reply.Hard, reply.Domain},
		{reply.Rcpt, "556 5.1.10 null MX", reply.Hard, reply.Domain},
		{reply.Rcpt, "550 5.1.10 RESOLVER.ADR.RecipientNotFound", reply.Hard, reply.Mailbox},
		{reply.Rcpt, "550 5.2.1 The email account is disabled", reply.Hard, reply.Mailbox},
		{reply.Rcpt, "550 5.4.1 Recipient address rejected: Access denied.", reply.Hard, reply.Mailbox},
		{reply.Rcpt, "550 <ann@x.example>: Recipient address rejected: User unknown in local table", reply.Hard, reply.Mailbox},
		{reply.Rcpt, "550 No such user here", reply.Hard, reply.Mailbox},
		{reply.Rcpt, "550 Domain does not exist", reply.Hard, reply.Domain},
		{reply.Rcpt, "550 5.1.1 <spam@x.example>: user unknown", reply.Hard, reply.Mailbox},
		{reply.Rcpt, "550 5.1.1 no mailbox for quota.exceeded@x.example", reply.Hard, reply.Mailbox},
		{reply.Rcpt, "550 requested action not taken", reply.Soft, reply.Other},

		// Words outrank codes.
		{reply.Rcpt, "550 5.2.1 The user you are trying to contact is receiving mail at a rate that", reply.Deferred, reply.Policy},
		{reply.Rcpt, "550 5.1.1 rejected, your IP is listed at Spamhaus", reply.Block, reply.Policy},
		{reply.Rcpt, "550 5.1.1 looks like spam", reply.Block, reply.Content},
		{reply.Rcpt, "552 5.2.2 The recipient's inbox is out of storage space and inactive", reply.Soft, reply.Full},
		{reply.Rcpt, "550 5.1.1 mailbox full", reply.Soft, reply.Full},

		// Full, size, policy.
		{reply.Rcpt, "552 5.2.2 over quota", reply.Soft, reply.Full},
		{reply.Dot, "552 5.2.2 mailbox full", reply.Soft, reply.Full},
		{reply.Rcpt, "552 requested action aborted", reply.Soft, reply.Full},
		{reply.Dot, "552 5.3.4 message size exceeds the limit", reply.Soft, reply.Content},
		{reply.Dot, "552 message size exceeds fixed limit", reply.Soft, reply.Content},
		{reply.Rcpt, "550 5.7.1 user unknown to our policy", reply.Block, reply.Policy},
		{reply.Rcpt, "554 5.7.1 Relay access denied", reply.Block, reply.Policy},
		{reply.Rcpt, "550 5.7.26 This mail is unauthenticated", reply.Block, reply.Policy},
		{reply.Rcpt, "550 Access denied", reply.Block, reply.Policy},
		{reply.Rcpt, "501 5.5.4 syntax error", reply.Block, reply.Other},
		{reply.Rcpt, "550 5.4.6 too many hops", reply.Soft, reply.Domain},

		// After the message, too, there is one recipient that a server can name.
		{reply.Dot, "550 5.1.1 user unknown", reply.Hard, reply.Mailbox},
		{reply.Dot, "550 5.2.1 mailbox disabled", reply.Hard, reply.Mailbox},
		{reply.Dot, "550 no such user", reply.Hard, reply.Mailbox},
		{reply.Dot, "554 transaction failed", reply.Block, reply.Content},
		{reply.Dot, "552 5.7.0 attachment type not allowed", reply.Block, reply.Content},
		{reply.Data, "554 no", reply.Block, reply.Content},

		// Later.
		{reply.Rcpt, "450 4.2.1 mailbox busy", reply.Deferred, reply.Other},
		{reply.Rcpt, "452 4.2.2 over quota", reply.Deferred, reply.Full},
		{reply.Rcpt, "450 4.7.1 Greylisted, try again", reply.Deferred, reply.Policy},
		{reply.Rcpt, "451 greylisting in action", reply.Deferred, reply.Policy},
		{reply.Rcpt, "451 4.4.3 DNS lookup failed", reply.Deferred, reply.Network},
		{reply.Rcpt, "450 4.1.1 user unknown", reply.Deferred, reply.Other},
		{reply.Dot, "421 closing", reply.Deferred, reply.Other},
		{reply.Rcpt, "454 4.7.1 Relay access denied", reply.Deferred, reply.Policy},
	} {
		got := reply.Classify(at(t, tt.stage, tt.line))
		if got.Class != tt.class || got.Category != tt.category {
			t.Errorf("Classify(%s: %s) = %+v; want %s %s", tt.stage, tt.line, got, tt.class, tt.category)
		}
	}
}

func TestClassifyWithoutReply(t *testing.T) {
	for _, stage := range []reply.Stage{reply.Connect, reply.TLS, reply.Auth, reply.Mail, reply.Rcpt, reply.Data} {
		if got := reply.Classify(reply.Outcome{Stage: stage, Text: "the server closed the connection"}); got.Class != reply.Lane {
			t.Errorf("cut off at %s: %+v, want lane", stage, got)
		}
	}
	if got := reply.Classify(reply.Outcome{Stage: reply.Dot, Uncertain: true}); got.Class != reply.Deferred {
		t.Errorf("uncertain: %+v, want deferred", got)
	}
}

// Whatever the words, these hold: an address is only ever called bad for a 5xx
// reply that was about it, and class 4 is never final.
func TestClassifyIsCautious(t *testing.T) {
	stages := []reply.Stage{reply.Connect, reply.TLS, reply.Auth, reply.Mail, reply.Rcpt, reply.Data, reply.Dot}
	words := []string{"", "user unknown", "no such user", "spam", "blocked", "mailbox full", "5.1.1", "domain not found",
		"authentication required", "receiving mail too quickly", "policy", "too many", "sender rejected"}
	rapid.Check(t, func(t *rapid.T) {
		o := reply.Outcome{
			Stage:    rapid.SampledFrom(stages).Draw(t, "stage"),
			Code:     rapid.IntRange(400, 599).Draw(t, "code"),
			Enhanced: rapid.SampledFrom([]string{"", "5.1.1", "5.1.2", "5.1.10", "5.2.1", "5.2.2", "5.7.1", "5.3.4", "5.0.0"}).Draw(t, "enhanced"),
			Text:     strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 3).Draw(t, "words"), " "),
		}
		if o.Code < 500 {
			o.Enhanced = ""
		}
		v := reply.Classify(o)
		switch {
		case v.Class == reply.Accepted:
			t.Fatalf("%+v accepted", o)
		case v.Class == reply.Hard && (o.Code < 500 || o.Stage != reply.Rcpt && o.Stage != reply.Data && o.Stage != reply.Dot):
			t.Fatalf("%+v is hard by %s", o, v.Rule)
		case v.Class == reply.Hard && containsAny(o.Text, "spam", "blocked", "policy", "mailbox full", "sender rejected", "too many"):
			t.Fatalf("%+v is hard by %s", o, v.Rule)
		case o.Code < 500 && v.Class != reply.Deferred && v.Class != reply.Lane:
			t.Fatalf("%+v is final by %s", o, v.Rule)
		}
	})
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

func TestExpired(t *testing.T) {
	for line, want := range map[string]reply.Class{
		"450 4.7.1 greylisted":   reply.Block,
		"452 4.2.2 over quota":   reply.Soft,
		"451 4.4.3 DNS failure":  reply.Soft,
		"550 5.1.1 user unknown": reply.Hard,
	} {
		if got := reply.Classify(at(t, reply.Rcpt, line)).Expired(); got != want {
			t.Errorf("%s: Expired = %s, want %s", line, got, want)
		}
	}
	if got := reply.Classify(reply.Outcome{Stage: reply.Connect}).Expired(); got != reply.Lane {
		t.Errorf("no connection: Expired = %s, want lane", got)
	}
}
