package form

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Submission is one stored submission.
type Submission struct {
	ID          id.FormSubmission
	Form        id.Form
	Contact     id.Contact // zero: none, or erased
	Email       string     // empty: erased, or not valid
	Outcome     Outcome
	At          time.Time
	ConfirmedAt *time.Time
	IP          string
	Agent       string
	PageURL     string
	Answers     Answers
	Consents    []Given
}

const submissionColumns = `id, form_id, contact_id, email, outcome, submitted_at, confirmed_at, ip, agent, page_url, answers, consents`

func scanSubmission(scan func(...any) error) (Submission, error) {
	var s Submission
	var answers, consents string
	var at int64
	var confirmed sql.NullInt64
	err := scan(&s.ID, &s.Form, &s.Contact, sqldb.ToText(&s.Email), &s.Outcome, &at, &confirmed, &s.IP, &s.Agent, &s.PageURL, &answers, &consents)
	if err != nil {
		return s, err
	}
	s.At, s.ConfirmedAt = sqldb.Time(at), sqldb.NullTime(confirmed)
	if err := json.Unmarshal([]byte(answers), &s.Answers); err != nil {
		return s, fmt.Errorf("answers of submission %s: %w", s.ID, err)
	}
	if err := json.Unmarshal([]byte(consents), &s.Consents); err != nil {
		return s, fmt.Errorf("consents of submission %s: %w", s.ID, err)
	}
	return s, nil
}

// Position is that of a submission in a list.
type Position struct {
	At time.Time
	ID id.FormSubmission
}

// Submissions returns up to limit submissions of a form after a position (nil: from the start),
// newest first, and the position of the next page; nil if there is none.
func Submissions(ctx context.Context, db *sqldb.DB, t id.Tenant, form id.Form, after *Position, limit int) ([]Submission, *Position, error) {
	if _, err := ByID(ctx, db, t, form); err != nil {
		return nil, nil, err
	}
	from := Position{At: sqldb.Time(1 << 62)}
	if after != nil {
		from = *after
	}
	rows, err := db.Query(ctx, `
		SELECT `+submissionColumns+` FROM form_submission
		WHERE tenant_id = $1 AND form_id = $2 AND (submitted_at, id) < ($3, $4)
		ORDER BY submitted_at DESC, id DESC LIMIT $5`, t, form, from.At.UnixMicro(), from.ID, limit+1)
	list, err := sqldb.Collect(rows, err, scanSubmission)
	if err != nil {
		return nil, nil, fmt.Errorf("list the submissions of a form: %w", err)
	}
	if len(list) <= limit {
		return list, nil, nil
	}
	last := list[limit-1]
	return list[:limit], &Position{last.At, last.ID}, nil
}

// AnswersOf returns the answers of submissions. Those of submissions that were erased are empty.
func AnswersOf(ctx context.Context, db *sqldb.DB, t id.Tenant, list []id.FormSubmission) (map[id.FormSubmission]Answers, error) {
	found := map[id.FormSubmission]Answers{}
	if len(list) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `SELECT id, answers FROM form_submission WHERE tenant_id = $1 AND id`+db.In(2), t, sqldb.List(db, list))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var one id.FormSubmission
		var text string
		if err := scan(&one, &text); err != nil {
			return err
		}
		var a Answers
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return fmt.Errorf("answers of submission %s: %w", one, err)
		}
		found[one] = a
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the answers of submissions: %w", err)
	}
	return found, nil
}

// spamLasts is how long spam is kept.
const spamLasts = 30 * 24 * time.Hour

// Prune deletes old spam of all tenants.
func Prune(ctx context.Context, db *sqldb.DB, now time.Time) error {
	list, err := tenant.List(ctx, db)
	if err != nil {
		return err
	}
	for _, t := range list {
		_, err := db.Exec(ctx, `
			DELETE FROM form_submission WHERE tenant_id = $1 AND outcome = 'spam' AND submitted_at < $2`,
			t.ID, sqldb.Micros(now.Add(-spamLasts)))
		if err != nil {
			return fmt.Errorf("delete old spam: %w", err)
		}
	}
	return nil
}

// PersonalData returns the submissions of contacts, for exports, and erases what identifies them.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "form_submissions", Addresses: addresses, Export: export, Erase: erase}
}

func addresses(ctx context.Context, db *sqldb.DB, t id.Tenant, ids []id.Contact) (map[id.Contact][]string, error) {
	rows, err := db.Query(ctx, `
		SELECT DISTINCT contact_id, email FROM form_submission
		WHERE tenant_id = $1 AND contact_id`+db.In(2)+` AND email IS NOT NULL`, t, sqldb.List(db, ids))
	found := map[id.Contact][]string{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var email string
		err := scan(&c, &email)
		found[c] = append(found[c], email)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the addresses of submissions: %w", err)
	}
	return found, nil
}

// exported is a submission in a personal export.
type exported struct {
	Form        id.Form    `json:"form_id"`
	Outcome     Outcome    `json:"outcome"`
	At          time.Time  `json:"submitted_at"`
	ConfirmedAt *time.Time `json:"confirmed_at"`
	Email       string     `json:"email"`
	IP          string     `json:"ip"`
	Agent       string     `json:"user_agent"`
	PageURL     string     `json:"page_url"`
	Answers     Answers    `json:"fields"`
	Consents    []Given    `json:"consents"`
}

func export(ctx context.Context, db *sqldb.DB, t id.Tenant, p contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		rows, err := db.Query(ctx, `
			SELECT `+submissionColumns+` FROM form_submission WHERE tenant_id = $1 AND contact_id = $2 ORDER BY submitted_at, id`, t, p.ID)
		list, err := sqldb.Collect(rows, err, scanSubmission)
		if err != nil {
			yield(nil, fmt.Errorf("export submissions: %w", err))
			return
		}
		for _, s := range list {
			if !yield(exported{s.Form, s.Outcome, s.At, s.ConfirmedAt, s.Email, s.IP, s.Agent, s.PageURL, s.Answers, s.Consents}, nil) {
				return
			}
		}
	}
}

// erase removes everything but the outcome and the time. Links in mails to the person stop working.
func erase(ctx context.Context, tx *sqldb.DB, t id.Tenant, people []contact.Person) error {
	var ids []id.Contact
	var emails []string
	for _, p := range people {
		ids, emails = append(ids, p.ID), append(emails, p.Addresses...)
	}
	_, err := tx.Exec(ctx, `
		UPDATE form_submission SET contact_id = NULL, email = NULL, ip = '', agent = '', page_url = '', answers = '{}', consents = '[]'
		WHERE tenant_id = $1 AND contact_id`+tx.In(2), t, sqldb.List(tx, ids))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE form_submission SET email = NULL, ip = '', agent = '', page_url = '', answers = '{}', consents = '[]'
		WHERE tenant_id = $1 AND email`+tx.In(2), t, sqldb.List(tx, emails))
	return err
}
