package reply_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/reply"
)

// The wordings of large receivers and of common servers, each with its reason. A wrong class costs
// most where it is hard, so a reply with another reason must never be.
func TestWordingsOfReceivers(t *testing.T) {
	f, err := os.Open("testdata/replies.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	hard := map[reply.Reason]bool{reply.InvalidRecipient: true, reply.InvalidDomain: true, reply.InactiveMailbox: true, reply.SuppressedByProvider: true}
	rows := map[reply.Reason]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		want, rest, _ := strings.Cut(lines.Text(), "\t")
		stage, line, _ := strings.Cut(rest, "\t")
		rows[reply.Reason(want)]++
		o := reply.Outcome{Stage: reply.Stage(stage), Text: line} // without a code: of the server that reports it
		if line[1] != '.' && (line[0] == '4' || line[0] == '5') {
			r, err := reply.Parse(line[:3] + " " + line[4:]) // the lines of the file are joined
			if err != nil {
				t.Fatal(err)
			}
			o = r.Outcome(reply.Stage(stage))
		}
		got := reply.Reported(o)
		if got.Reason != reply.Reason(want) {
			t.Errorf("%s: %s\n\tis %s by %s, want %s", stage, line, got.Reason, got.Rule, want)
		}
		if wantHard := hard[reply.Reason(want)] && o.Code/100 != 4; (got.Class == reply.Hard) != wantHard {
			t.Errorf("%s: %s\n\tis %s by %s", stage, line, got.Class, got.Rule)
		}
	}
	for _, reason := range []reply.Reason{
		reply.InvalidRecipient, reply.InvalidDomain, reply.InactiveMailbox, reply.SuppressedByProvider, reply.MailboxFull, reply.RecipientThrottled, reply.RateLimited, reply.Greylisted,
		reply.ReputationBlock, reply.SpamContent, reply.VirusOrAttachment, reply.AuthFailure, reply.TLSRequired, reply.RefusedByPolicy, reply.RelayDenied, reply.SenderRejected,
		reply.MessageTooLarge, reply.Protocol, reply.ConnectFailed, reply.TLSFailed, reply.Timeout, reply.DNSTemporary, reply.RemoteSystem, reply.RoutingLoop, reply.ExpiredQueue, reply.Unknown,
	} {
		if rows[reason] < 10 {
			t.Errorf("%s has %d replies, want at least ten", reason, rows[reason])
		}
	}
}
