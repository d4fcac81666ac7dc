// Package usermail stores mails to users of a tenant, which steps of sequences and actions of
// automations write, until engine/notify has sent them over the installation's relay.
//
// They are for few recipients and few in number: a tenant may have MaxWaiting of them waiting, and
// MaxPerHour are sent in an hour. A step that writes more writes nothing.
package usermail

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Wake is notified when mails were added.
const Wake sqldb.Signal = "notice"

// Limits of mails.
const (
	MaxPerHour = 100 // of a tenant
	MaxWaiting = 1000
	MaxSubject = 200      // characters
	MaxBody    = 64 << 10 // bytes
	maxTries   = 5
	keep       = 24 * time.Hour // how long sent mails are known
)

// Mail is a mail to a user.
type Mail struct {
	ID      id.UserMail
	Contact id.Contact // whom it is about; zero: nobody
	To      string     // the address of a user
	Subject string
	Body    string // plain text
	tries   int
}

// Add adds mails as far as the limit of waiting ones allows, and returns how many it added.
func Add(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Mail, now time.Time) (int, error) {
	if len(list) == 0 {
		return 0, nil
	}
	var waiting int
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM notice WHERE tenant_id = $1 AND next_at IS NOT NULL`, tenant).Scan(&waiting); err != nil {
		return 0, fmt.Errorf("count waiting mails: %w", err)
	}
	list = list[:min(len(list), max(MaxWaiting-waiting, 0))]
	if len(list) == 0 {
		return 0, nil
	}
	t := tx.Table("id UUID", "contact_id UUID", "recipient TEXT", "subject TEXT", "body TEXT")
	for _, m := range list {
		t.Add(id.New[id.UserMail](), sqldb.Null(m.Contact), m.To, Subject(m.Subject), cut(m.Body, MaxBody))
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO notice (tenant_id, id, contact_id, recipient, subject, body, created_at, next_at)
		SELECT h.tenant_id, v.id, v.contact_id, v.recipient, v.subject, v.body, `+tx.Param(2, "BIGINT")+`, `+tx.Param(2, "BIGINT")+`
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3), t.Args(tenant, sqldb.Micros(now))...)
	if err != nil {
		return 0, fmt.Errorf("add mails: %w", err)
	}
	tx.Notify(Wake)
	return len(list), nil
}

// Subject returns a text as a subject: on one line and at most MaxSubject characters.
func Subject(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if utf8.RuneCountInString(text) > MaxSubject {
		text = string([]rune(text)[:MaxSubject])
	}
	if text == "" {
		return "(no subject)"
	}
	return text
}

// cut returns at most n bytes of a text, without NUL.
func cut(text string, n int) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text[:min(len(text), n)], ""), "\x00", "")
}

// DueTenants returns the tenants with mails to send, those first whose mails have waited longest.
func DueTenants(ctx context.Context, db *sqldb.DB, now time.Time) ([]id.Tenant, error) {
	rows, err := db.Query(ctx, `/* all tenants: one process sends for them */
		SELECT tenant_id FROM notice WHERE next_at <= $1 GROUP BY tenant_id ORDER BY MIN(next_at) LIMIT 100`, sqldb.Micros(now))
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (t id.Tenant, err error) {
		err = scan(&t)
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("find tenants with mails: %w", err)
	}
	return list, nil
}

// Due returns mails of a tenant that are due, as many as may still be sent in this hour. If there
// are none left for the hour, it postpones those that are due to its end.
func Due(ctx context.Context, db *sqldb.DB, tenant id.Tenant, now time.Time) ([]Mail, error) {
	var sent int
	var first *time.Time
	err := db.QueryRow(ctx, `SELECT COUNT(*), MIN(sent_at) FROM notice WHERE tenant_id = $1 AND sent_at > $2`, tenant, sqldb.Micros(now.Add(-time.Hour))).
		Scan(&sent, sqldb.ToNullTime(&first))
	if err != nil {
		return nil, fmt.Errorf("count sent mails: %w", err)
	}
	if sent >= MaxPerHour {
		_, err := db.Exec(ctx, `UPDATE notice SET next_at = $3 WHERE tenant_id = $1 AND next_at <= $2`, tenant, sqldb.Micros(now), sqldb.Micros(first.Add(time.Hour)))
		return nil, err
	}
	rows, err := db.Query(ctx, `
		SELECT id, contact_id, recipient, subject, body, tries FROM notice
		WHERE tenant_id = $1 AND next_at <= $2 ORDER BY next_at, id LIMIT $3`, tenant, sqldb.Micros(now), min(MaxPerHour-sent, 20))
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (m Mail, err error) {
		err = scan(&m.ID, &m.Contact, &m.To, &m.Subject, &m.Body, &m.tries)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read mails: %w", err)
	}
	return list, nil
}

// Sent notes that a mail was sent.
func Sent(ctx context.Context, db *sqldb.DB, tenant id.Tenant, m Mail, now time.Time) error {
	_, err := db.Exec(ctx, `
		UPDATE notice SET sent_at = $3, next_at = NULL, contact_id = NULL, subject = '', body = ''
		WHERE tenant_id = $1 AND id = $2`, tenant, m.ID, sqldb.Micros(now))
	return err
}

// Drop deletes a mail that is not sent.
func Drop(ctx context.Context, db *sqldb.DB, tenant id.Tenant, m Mail) error {
	_, err := db.Exec(ctx, `DELETE FROM notice WHERE tenant_id = $1 AND id = $2`, tenant, m.ID)
	return err
}

// Failed notes that an attempt failed, and reports whether there will be another, after a pause that
// doubles each time, from one minute on. After the last the mail is deleted.
func Failed(ctx context.Context, db *sqldb.DB, tenant id.Tenant, m Mail, now time.Time) (again bool, err error) {
	if m.tries+1 >= maxTries {
		return false, Drop(ctx, db, tenant, m)
	}
	_, err = db.Exec(ctx, `UPDATE notice SET tries = tries + 1, next_at = $3 WHERE tenant_id = $1 AND id = $2`,
		tenant, m.ID, sqldb.Micros(now.Add(time.Minute<<m.tries)))
	return true, err
}

// Prune deletes the rows of mails of all tenants that were sent long ago.
func Prune(ctx context.Context, db *sqldb.DB, now time.Time) error {
	_, err := db.Exec(ctx, `/* all tenants: rows without content */ DELETE FROM notice WHERE sent_at < $1`, sqldb.Micros(now.Add(-keep)))
	if err != nil {
		return fmt.Errorf("prune mails: %w", err)
	}
	return nil
}

// PersonalData returns access to the mails about contacts that wait to be sent. Erasing a contact
// deletes them.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "notices", Export: export, Erase: erase}
}

// exported is a mail in an export of personal data.
type exported struct {
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

func export(ctx context.Context, db *sqldb.DB, tenant id.Tenant, p contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		rows, err := db.Query(ctx, `SELECT subject, body FROM notice WHERE tenant_id = $1 AND contact_id = $2 ORDER BY id`, tenant, p.ID)
		list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (e exported, err error) {
			err = scan(&e.Subject, &e.Body)
			return e, err
		})
		if err != nil {
			yield(nil, fmt.Errorf("export mails: %w", err))
			return
		}
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	ids := slices.Collect(func(yield func(id.Contact) bool) {
		for _, p := range people {
			if !yield(p.ID) {
				return
			}
		}
	})
	_, err := tx.Exec(ctx, `DELETE FROM notice WHERE tenant_id = $1 AND contact_id`+tx.In(2), tenant, sqldb.List(tx, ids))
	if err != nil {
		return fmt.Errorf("erase mails: %w", err)
	}
	return nil
}
