// Package site is the set-up that the measurements share: the program on a fresh database with contacts and, if
// wanted, a send that is over; a sink for its mails; and what the program and PostgreSQL cost meanwhile.
package site

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // makes the databases measured on

	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Target is what is measured, and on which databases.
type Target struct {
	Program  string `env:"PACKETBOAT_BIN" default:"bin/packetboat" help:"The program."`
	Sink     string `default:"bin/smtpsink" help:"The SMTP sink."`
	Postgres string `env:"PACKETBOAT_TEST_POSTGRES_URL" help:"Address of a PostgreSQL server; without it only SQLite is measured."`
	Database string `enum:",sqlite,postgres" default:"" help:"Measure only on this database: sqlite or postgres."`
	Admin    string `help:"Address of the program's admin listener, to take profiles from."`
	Profiles string `help:"Directory for processor profiles of the program, taken from --admin."`
	Keep     bool   `help:"Keep the data and logs of each run."`
}

// OnEach measures on SQLite, and on PostgreSQL if it has an address.
func (t *Target) OnEach(measure func(dialect string) error) error {
	var errs []error
	for _, dialect := range t.Dialects() {
		if err := measure(dialect); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", dialect, err))
		}
	}
	return errors.Join(errs...)
}

// Dialects are the databases that are measured.
func (t *Target) Dialects() (list []string) {
	for _, dialect := range []string{"sqlite", "postgres"} {
		if (dialect == "sqlite" || t.Postgres != "") && (t.Database == "" || t.Database == dialect) {
			list = append(list, dialect)
		}
	}
	return list
}

// Site is a running program and its database.
type Site struct {
	*harness.Program
	Dialect string
	Account *harness.Ready
	DB      *sqldb.DB // beside the program
	drop    func() error
}

// Options are what a measurement needs.
type Options struct {
	Env      []string // of the program
	Contacts int      // in the account's list
}

// Open starts the program on a new database with contacts. Close stops it, and removes what was made.
func (t *Target) Open(ctx context.Context, dialect string, o Options) (s *Site, err error) {
	s = &Site{Dialect: dialect, drop: func() error { return nil }}
	dir, err := os.MkdirTemp("", "packetboat-bench")
	if err != nil {
		return nil, err
	}
	s.Program = &harness.Program{Path: t.Program, Dir: dir, Admin: t.Admin, Env: append([]string{
		"PACKETBOAT_DNS_RESOLVER=127.0.0.1:9", // no DNS is asked about the contacts
	}, o.Env...)}
	if !t.Keep {
		s.drop = func() error { return os.RemoveAll(dir) }
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if dialect == "postgres" {
		address, drop, err := NewDatabase(ctx, t.Postgres)
		if err != nil {
			return s, err
		}
		files := s.drop
		s.Database, s.drop = address, func() error { return errors.Join(drop(), files()) }
	}
	if err := s.Start(ctx); err != nil {
		return s, err
	}
	if s.Account, err = s.Ready(ctx); err != nil {
		return s, err
	}
	if s.DB, err = sqldb.Open(ctx, cmp.Or(s.Database, "sqlite:packetboat.db"), sqldb.Options{DataDir: dir, MaxConns: 2}); err != nil {
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
	return errors.Join(err, s.drop())
}

// During returns what do costs the program and its database.
func (s *Site) During(ctx context.Context, do func() error) (Cost, error) {
	return During(ctx, s.Program, do)
}

// API is where requests go, and as whom.
func (s *Site) API() press.Account {
	return press.Account{Address: strings.TrimPrefix(s.BaseURL, "http://"), Prefix: "/t/" + harness.Tenant + "/api", Key: s.Key}
}

// NewDatabase creates an empty database on a PostgreSQL server, distributed if it is a coordinator, and returns
// its address and a function that drops it.
func NewDatabase(ctx context.Context, server string) (address string, drop func() error, err error) {
	nodes, err := dbtest.CitusNodes(server)
	if err != nil {
		return "", nil, err
	}
	if nodes != nil {
		return dbtest.NewDistributed(nodes)
	}
	return CopyDatabase(ctx, server, "template1")
}

// CopyDatabase is NewDatabase, with what the database template contains.
func CopyDatabase(ctx context.Context, server, template string) (address string, drop func() error, err error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		return "", nil, err
	}
	name := "bench_" + strings.ReplaceAll(id.NewText(), "-", "")
	if _, err := admin.ExecContext(ctx, `CREATE DATABASE `+name+` TEMPLATE `+template); err != nil {
		return "", nil, errors.Join(err, admin.Close())
	}
	u.Path = "/" + name
	return u.String(), func() error {
		_, err := admin.Exec(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`)
		return errors.Join(err, admin.Close())
	}, nil
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
		Subject: "News", HTML: HTML(), Tracking: true,
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
