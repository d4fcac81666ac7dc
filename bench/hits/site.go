package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
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

// site is a running program with a send that is over, and the paths of its links.
type site struct {
	*harness.Program
	dialect string
	db      *sqldb.DB
	opens   []string
	clicks  []string
	drop    func() error
}

func open(ctx context.Context, o options, dialect string) (s *site, err error) {
	s = &site{dialect: dialect, drop: func() error { return nil }}
	dir, err := os.MkdirTemp("", "packetboat-hits")
	if err != nil {
		return nil, err
	}
	s.Program = &harness.Program{Path: o.program, Dir: dir, Admin: o.admin, Env: []string{
		"PACKETBOAT_TRUSTED_PROXIES=127.0.0.1/32", // the addresses are in X-Forwarded-For
		"PACKETBOAT_DNS_RESOLVER=127.0.0.1:9",     // no DNS is asked about the contacts
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
	if err := harness.Seed(ctx, s.db, ready.List, o.messages, "example.net"); err != nil {
		return s, err
	}
	return s, s.send(ctx, o.messages)
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
	name := fmt.Sprintf("hitsbench_%d", os.Getpid())
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
// ago, and signs their links.
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
	for from := 0; from < len(people); from += 1000 {
		var messages []outbox.Message
		for _, p := range people[from:min(from+1000, len(people))] {
			m := outbox.Message{ID: id.New[id.Message](), Contact: p.id, Email: p.email, Content: frozen, Identity: identity, DueAt: sent}
			messages = append(messages, m)
			signer, err := keys.Signer(tenant, m.ID)
			if err != nil {
				return err
			}
			signer.SetOrigin(frozen, identity)
			s.opens = append(s.opens, "/_q/o/"+string(signer.Append(nil, track.OpenPixel, 0, ""))+".gif")
			s.clicks = append(s.clicks, "/_q/c/"+string(signer.Append(nil, track.ClickLink, 0, "")))
		}
		if _, err := outbox.AddMessages(ctx, s.db, tenant, send, messages); err != nil {
			return err
		}
	}
	if _, err = s.db.Exec(ctx, `UPDATE outbox SET state = 'delivered', sent_at = $2 WHERE tenant_id = $1`, tenant, sent.UnixMicro()); err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, `UPDATE send SET phase = 'done', sealed = TRUE, waiting = 0, sent = total, delivered = total WHERE tenant_id = $1`, tenant)
	return err
}

// pending returns how many hits are still to be judged, and kept how many there are.
func (s *site) pending(ctx context.Context) (n int, err error) {
	err = s.db.QueryRow(ctx, `SELECT COUNT(*) FROM hit WHERE class = 'pending' /* all tenants: there is one */`).Scan(&n)
	return n, err
}

func (s *site) countRecorded(ctx context.Context) (n int, err error) {
	err = s.db.QueryRow(ctx, `SELECT COUNT(*) FROM hit /* all tenants: there is one */`).Scan(&n)
	return n, err
}
