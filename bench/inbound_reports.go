package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/porttest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
)

// inboundSite is a running program with a send that is over, and reports about its messages.
type inboundSite struct {
	*site.Site
	listen  string // address that returned mail is sent to
	reports []failureReport
}

// failureReport is a mail about one message.
type failureReport struct{ to, text string }

func (c *inbound) open(ctx context.Context, t *site.Target, dialect string) (*inboundSite, error) {
	listen, err := porttest.Address()
	if err != nil {
		return nil, err
	}
	running, err := t.Open(ctx, dialect, site.Options{Contacts: c.Reports, Env: []string{"PACKETBOAT_INBOUND_LISTEN=" + listen}})
	if err != nil {
		return nil, err
	}
	s := &inboundSite{Site: running, listen: listen}
	if err := s.write(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// write stores a send and writes reports about its messages.
func (s *inboundSite) write(ctx context.Context) error {
	box, err := s.Box()
	if err != nil {
		return err
	}
	keys := track.NewKeys(box)
	var host string
	if err := s.DB.QueryRow(ctx, `SELECT return_path_host FROM sending_domain /* all tenants: there is one */`).Scan(&host); err != nil {
		return err
	}
	return s.FinishedSend(ctx, func(_ id.Tenant, m outbox.Message, sent time.Time) error {
		s.reports = append(s.reports, failureReport{
			"b." + string(keys.ReturnPath(m.ID, sent)) + "@" + host, failure(m.Email, keys.MessageID(m.ID)+"@"+host, len(s.reports)),
		})
		return nil
	})
}

// failures are replies of servers: of ten reports, six are hard, two soft, two blocks.
var failures = [...]string{
	"550 5.1.1 <%s>: Recipient address rejected: User unknown in virtual mailbox table", "550-5.1.1 The email account that you tried to reach does not exist",
	"550 5.1.1 no such user", "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup", "550 No Such User Here", "550 5.2.1 This account is disabled",
	"552 5.2.2 Mailbox over quota", "452 4.2.2 The recipient's inbox is out of storage space", "554 5.7.1 Service unavailable; blocked using zen.spamhaus.org", "550 5.7.26 This mail is unauthenticated",
}

// failure writes a report as Postfix does.
func failure(to, messageID string, n int) string {
	reply := strings.ReplaceAll(failures[n%len(failures)], "%s", to)
	text := "Return-Path: <>\nFrom: MAILER-DAEMON@relay.example (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\nAuto-Submitted: auto-replied\nMIME-Version: 1.0\n" +
		"Content-Type: multipart/report; report-type=delivery-status;\n\tboundary=\"4F.1/relay.example\"\n\nThis is a MIME-encapsulated message.\n\n--4F.1/relay.example\nContent-Type: text/plain; charset=us-ascii\n\n" +
		"This is the mail system at host relay.example.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\n<" + to + ">: host mx.x.example said: " + reply + "\n    (in reply to RCPT TO command)\n\n" +
		"--4F.1/relay.example\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; relay.example\nArrival-Date: Mon, 23 Nov 2026 10:00:00 +0000\n\nFinal-Recipient: rfc822; " + to + "\nAction: failed\nStatus: 5.0.0\nRemote-MTA: dns; mx.x.example\nDiagnostic-Code: smtp; " + reply + "\n\n" +
		"--4F.1/relay.example\nContent-Type: message/rfc822\n\nFrom: news@example.com\nTo: " + to + "\nMessage-ID: <" + messageID + ">\nSubject: News\nContent-Type: text/html\n\n" + strings.Repeat("<p>What is new in spring, and where to find it.</p>\n", 100) + "\n--4F.1/relay.example--\n"
	return strings.ReplaceAll(text, "\n", "\r\n")
}
