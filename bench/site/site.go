// Package site starts the program for a benchmark, on a fresh database with contacts and, if wanted, a
// send that is over.
package site

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
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// OnEach measures on SQLite, and on PostgreSQL if it has an address; on one of them alone if only names it.
func OnEach(postgres, only string, measure func(dialect string) error) error {
	var errs []error
	for _, dialect := range []string{"sqlite", "postgres"} {
		if dialect == "postgres" && postgres == "" || only != "" && only != dialect {
			continue
		}
		if err := measure(dialect); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", dialect, err))
		}
	}
	return errors.Join(errs...)
}

// Site is a running program and its database.
type Site struct {
	*harness.Program
	Dialect string
	Account *harness.Ready
	DB      *sqldb.DB // beside the program
	drop    func() error
}

// Options are what a benchmark needs.
type Options struct {
	Name     string // of the benchmark: part of the names of directories and databases
	Program  string // path of the program
	Dialect  string // sqlite or postgres
	Postgres string // address of a PostgreSQL server
	Admin    string // address of the program's admin listener; empty: any
	Env      []string
	Contacts int
}

// Open starts the program on a new database with contacts. Close stops it, and removes what was made.
func Open(ctx context.Context, o Options) (s *Site, err error) {
	s = &Site{Dialect: o.Dialect, drop: func() error { return nil }}
	dir, err := os.MkdirTemp("", "packetboat-"+o.Name)
	if err != nil {
		return nil, err
	}
	s.Program = &harness.Program{Path: o.Program, Dir: dir, Admin: o.Admin, Env: append([]string{
		"PACKETBOAT_DNS_RESOLVER=127.0.0.1:9", // no DNS is asked about the contacts
	}, o.Env...)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if o.Dialect == "postgres" {
		if err := s.createDatabase(ctx, o); err != nil {
			return s, err
		}
	}
	if err := s.Start(ctx); err != nil {
		return s, err
	}
	if s.Account, err = s.Ready(ctx); err != nil {
		return s, err
	}
	address := s.Database
	if address == "" {
		address = "sqlite:packetboat.db"
	}
	if s.DB, err = sqldb.Open(ctx, address, sqldb.Options{DataDir: dir, MaxConns: 2}); err != nil {
		return s, err
	}
	return s, harness.Seed(ctx, s.DB, s.Account.List, o.Contacts, "example.net")
}

// Close stops the program and removes its database and files.
func (s *Site) Close() error {
	err := s.Stop()
	if s.DB != nil {
		err = errors.Join(err, s.DB.Close())
	}
	return errors.Join(err, s.drop(), os.RemoveAll(s.Dir))
}

func (s *Site) createDatabase(ctx context.Context, o Options) error {
	u, err := url.Parse(o.Postgres)
	if err != nil {
		return err
	}
	admin, err := sql.Open("pgx", o.Postgres)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%sbench_%d", o.Name, os.Getpid())
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

// Contact is a contact of the only tenant.
type Contact struct {
	Tenant id.Tenant
	ID     id.Contact
	Email  string
}

// Contacts returns all contacts, by id.
func (s *Site) Contacts(ctx context.Context) ([]Contact, error) {
	rows, err := s.DB.Query(ctx, `SELECT tenant_id, id, email FROM contact ORDER BY id /* all tenants: there is one */`)
	return sqldb.Collect(rows, err, func(scan func(...any) error) (c Contact, err error) {
		err = scan(&c.Tenant, &c.ID, &c.Email)
		return c, err
	})
}

// FinishedSend stores a send to all contacts that was over an hour ago, and calls each with its messages.
// The mails have links and a pixel.
func (s *Site) FinishedSend(ctx context.Context, each func(id.Tenant, outbox.Message, time.Time) error) error {
	var tenant id.Tenant
	var identity id.Identity
	var emailType id.EmailType
	if err := s.DB.QueryRow(ctx, `
		SELECT i.tenant_id, i.id, e.id FROM sending_identity AS i JOIN email_type AS e ON e.tenant_id = i.tenant_id
		ORDER BY e.sort_order LIMIT 1`).Scan(&tenant, &identity, &emailType); err != nil {
		return err
	}
	people, err := s.Contacts(ctx)
	if err != nil {
		return err
	}
	sent := time.Now().Add(-time.Hour)
	of, send := id.New[id.Broadcast](), id.New[id.Send]()
	frozen, err := content.Freeze(ctx, s.DB, tenant, content.Source{
		Subject: "News", HTML: page.HTML(), Tracking: true,
		Context: content.Context{Broadcast: of, EmailType: emailType, UTM: true, UTMCampaign: "news"},
	}, sent)
	if err != nil {
		return err
	}
	if err := outbox.Create(ctx, s.DB, outbox.Send{Tenant: tenant, ID: send, Source: outbox.FromBroadcast(of)}, outbox.Terms{}, sent); err != nil {
		return err
	}
	for from := 0; from < len(people); from += 1000 {
		var messages []outbox.Message
		for _, p := range people[from:min(from+1000, len(people))] {
			m := outbox.Message{ID: id.New[id.Message](), Contact: p.ID, Email: p.Email, Content: frozen, Identity: identity, DueAt: sent}
			messages = append(messages, m)
			if err := each(tenant, m, sent); err != nil {
				return err
			}
		}
		if _, err := outbox.AddMessages(ctx, s.DB, tenant, send, messages); err != nil {
			return err
		}
	}
	if _, err = s.DB.Exec(ctx, `UPDATE outbox SET state = 'delivered', sent_at = $2 WHERE tenant_id = $1`, tenant, sent.UnixMicro()); err != nil {
		return err
	}
	_, err = s.DB.Exec(ctx, `
		UPDATE send SET phase = 'done', sealed = TRUE, waiting = 0, sent = total, delivered = total, last_send_at = $2 WHERE tenant_id = $1`,
		tenant, sent.UnixMicro())
	return err
}

// Size returns the bytes of a table with its indexes; on SQLite those of the whole database.
func (s *Site) Size(ctx context.Context, table string) (n int64, err error) {
	text := `SELECT pg_total_relation_size(CAST(CAST($1 AS TEXT) AS regclass))`
	if s.Dialect == "sqlite" {
		text = `SELECT page_count * page_size + 0 * length($1) FROM pragma_page_count(), pragma_page_size()`
	}
	err = s.DB.QueryRow(ctx, text, table).Scan(&n)
	return n, err
}
