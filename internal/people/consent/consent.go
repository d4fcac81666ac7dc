// Package consent keeps the proof of what contacts agreed to.
//
// A contact's present choices are part of the contact. This package records how each came about:
// when, from where, in which words. Records are only added. They are exported with the contact, and
// deleted when it is anonymised.
package consent

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Record is a consent that a contact gave or withdrew. Without TypeKey and Category it is about all
// mail.
type Record struct {
	ID        id.ConsentRecord
	Contact   id.Contact
	TypeKey   string // of an email type
	Category  id.Category
	Granted   bool // false: withdrawn
	At        time.Time
	Confirmed bool // by a link in a mail to the contact's address
	Proof
}

// Proof says how a choice was made.
type Proof struct {
	Source  string     // one of the sources below, or form:<slug>
	Wording string     // the text that was shown
	IP      string     // of the client
	Agent   string     // the client's User-Agent
	PageURL string     // where the text was shown
	Message id.Message // the mail whose link or address was used; zero: none
}

// The sources of choices that are made by a mail.
const (
	PreferencesPage = "preferences_page"
	UnsubscribePage = "unsubscribe_page"
	OneClick        = "one_click" // RFC 8058
	Mailto          = "mailto"    // the address in List-Unsubscribe (RFC 2369 section 3.2), or an opt-out report
	Complaint       = "complaint" // a report of abuse
	Provider        = "provider"  // a report of the provider that sends the mail, which has a page of its own
)

// The maximal lengths of texts, in bytes. Longer ones are cut.
const (
	maxWording = 4000
	maxAgent   = 500
	maxURL     = 2000
)

// Add adds records, as part of the caller's transaction. Their ids are assigned.
func Add(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, records ...Record) error {
	for _, r := range records {
		_, err := tx.Exec(ctx, `
			INSERT INTO consent_record (tenant_id, id, contact_id, type_key, category_id, granted, at, source, confirmed, wording, ip, agent, page_url, message_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
			tenant, id.At[id.ConsentRecord](r.At), r.Contact, sqldb.Null(r.TypeKey), sqldb.Null(r.Category), r.Granted, sqldb.Micros(r.At),
			r.Source, r.Confirmed, cut(r.Wording, maxWording), r.IP, cut(r.Agent, maxAgent), cut(r.PageURL, maxURL), sqldb.Null(r.Message))
		if err != nil {
			return fmt.Errorf("add a consent record: %w", err)
		}
	}
	return nil
}

// cut returns the first n bytes of s, without a part of a character at the end, and without what not
// every database stores.
func cut(s string, n int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n])
}

// List returns the records of a contact, oldest first.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, c id.Contact) ([]Record, error) {
	rows, err := db.Query(ctx, `
		SELECT id, type_key, category_id, granted, at, source, confirmed, wording, ip, agent, page_url, message_id FROM consent_record
		WHERE tenant_id = $1 AND contact_id = $2 ORDER BY at, id`, tenant, c)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Record, error) {
		r := Record{Contact: c}
		var at int64
		err := scan(&r.ID, sqldb.ToText(&r.TypeKey), &r.Category, &r.Granted, &at, &r.Source, &r.Confirmed, &r.Wording, &r.IP, &r.Agent, &r.PageURL, &r.Message)
		r.At = sqldb.Time(at)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("list the consent records of a contact: %w", err)
	}
	return list, nil
}

// PersonalData returns the consent records of contacts, for exports, and deletes them.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "consents", Export: export, Erase: erase}
}

// exported is a record in a personal export.
type exported struct {
	TypeKey   string      `json:"email_type_key,omitempty"`
	Category  id.Category `json:"category_id,omitzero"`
	Granted   bool        `json:"granted"`
	At        time.Time   `json:"at"`
	Source    string      `json:"source"`
	Confirmed bool        `json:"confirmed"`
	Wording   string      `json:"wording"`
	IP        string      `json:"ip"`
	Agent     string      `json:"user_agent"`
	PageURL   string      `json:"page_url"`
	Message   id.Message  `json:"message_id,omitzero"`
}

func export(ctx context.Context, db *sqldb.DB, tenant id.Tenant, p contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		list, err := List(ctx, db, tenant, p.ID)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, r := range list {
			if !yield(exported{r.TypeKey, r.Category, r.Granted, r.At, r.Source, r.Confirmed, r.Wording, r.IP, r.Agent, r.PageURL, r.Message}, nil) {
				return
			}
		}
	}
}

func erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	ids := make([]id.Contact, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	_, err := tx.Exec(ctx, `DELETE FROM consent_record WHERE tenant_id = $1 AND contact_id`+tx.In(2), tenant, sqldb.List(tx, ids))
	return err
}
