package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // makes the databases measured on

	"github.com/packetboat/packetboat/bench/page"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/track"
)

// site is a running program with a send that is over, and reports about its messages.
type site struct {
	*harness.Program
	dialect string
	db      *sqldb.DB
	listen  string // address that returned mail is sent to
	reports []report
	drop    func() error
}

// report is a mail about one message.
type report struct{ to, text string }

func open(ctx context.Context, o options, dialect string) (s *site, err error) {
	s = &site{dialect: dialect, drop: func() error { return nil }}
	dir, err := os.MkdirTemp("", "packetboat-inbound")
	if err != nil {
		return nil, err
	}
	if s.listen, err = freeAddress(); err != nil {
		return nil, err
	}
	s.Program = &harness.Program{Path: o.program, Dir: dir, Env: []string{
		"PACKETBOAT_INBOUND_LISTEN=" + s.listen,
		"PACKETBOAT_DNS_RESOLVER=127.0.0.1:9", // no DNS is asked about the contacts
	}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if dialect == "postgres" {
		if err := s.postgres(ctx, o); err != nil {
			return s, err
		}
	}
	if err := s.Start(ctx); err != nil {
		return s, err
	}
	ready, err := s.Ready(ctx)
	if err != nil {
		return s, err
	}
	address := s.Database
	if address == "" {
		address = "sqlite:packetboat.db"
	}
	if s.db, err = sqldb.Open(ctx, address, sqldb.Options{DataDir: dir, MaxConns: 2}); err != nil {
		return s, err
	}
	if err := harness.Seed(ctx, s.db, ready.List, o.reports, "example.net"); err != nil {
		return s, err
	}
	return s, s.send(ctx, o.reports)
}

func (s *site) close() error {
	err := s.Stop()
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	return errors.Join(err, s.drop(), os.RemoveAll(s.Dir))
}

// postgres makes a database for the site.
func (s *site) postgres(ctx context.Context, o options) error {
	u, err := url.Parse(o.postgres)
	if err != nil {
		return err
	}
	admin, err := sql.Open("pgx", o.postgres)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("inboundbench_%d", os.Getpid())
	if _, err := admin.ExecContext(ctx, `CREATE DATABASE `+name); err != nil {
		return errors.Join(err, admin.Close())
	}
	u.Path = "/" + name
	s.Database = u.String()
	s.drop = func() error {
		_, err := admin.Exec(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`)
		return errors.Join(err, admin.Close())
	}
	return nil
}

// send puts the messages of a send into the database that were sent an hour
// ago, and writes reports about them.
func (s *site) send(ctx context.Context, n int) error {
	var tenant id.Tenant
	var identity id.Identity
	var emailType id.EmailType
	if err := s.db.QueryRow(ctx, `
		SELECT i.tenant_id, i.id, e.id FROM sending_identity AS i JOIN email_type AS e ON e.tenant_id = i.tenant_id
		ORDER BY e.sort_order LIMIT 1`).Scan(&tenant, &identity, &emailType); err != nil {
		return err
	}
	rows, err := s.db.Query(ctx, `SELECT id, email FROM contact WHERE tenant_id = $1 ORDER BY id LIMIT $2`, tenant, n)
	type person struct {
		id    id.Contact
		email string
	}
	people, err := sqldb.Collect(rows, err, func(scan func(...any) error) (p person, err error) {
		err = scan(&p.id, &p.email)
		return p, err
	})
	if err != nil {
		return err
	}
	sent := time.Now().Add(-time.Hour)
	of, send := id.New[id.Broadcast](), id.New[id.Send]()
	frozen, err := content.Freeze(ctx, s.db, tenant, content.Source{
		Subject: "News", HTML: page.HTML(), Tracking: true,
		Context: content.Context{Broadcast: of, EmailType: emailType, UTM: true, UTMCampaign: "news"},
	}, sent)
	if err != nil {
		return err
	}
	if err := outbox.Create(ctx, s.db, outbox.Send{Tenant: tenant, ID: send, Source: outbox.FromBroadcast(of)}, outbox.Terms{}, sent); err != nil {
		return err
	}
	box, err := s.Box()
	if err != nil {
		return err
	}
	keys := track.NewKeys(box)
	var host string
	if err := s.db.QueryRow(ctx, `SELECT return_path_host FROM sending_domain WHERE tenant_id = $1`, tenant).Scan(&host); err != nil {
		return err
	}
	for from := 0; from < len(people); from += 1000 {
		var messages []outbox.Message
		for _, p := range people[from:min(from+1000, len(people))] {
			m := outbox.Message{ID: id.New[id.Message](), Contact: p.id, Email: p.email, Content: frozen, Identity: identity, DueAt: sent}
			messages = append(messages, m)
			s.reports = append(s.reports, report{
				"b." + string(keys.ReturnPath(m.ID, sent)) + "@" + host, failure(p.email, keys.MessageID(m.ID)+"@"+host, len(s.reports)),
			})
		}
		if _, err := outbox.AddMessages(ctx, s.db, tenant, send, messages); err != nil {
			return err
		}
	}
	if _, err = s.db.Exec(ctx, `UPDATE outbox SET state = 'delivered', sent_at = $2 WHERE tenant_id = $1`, tenant, sent.UnixMicro()); err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, `UPDATE send SET phase = 'done', sealed = TRUE, waiting = 0, sent = total, delivered = total, last_send_at = $2 WHERE tenant_id = $1`, tenant, sent.UnixMicro())
	return err
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

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
