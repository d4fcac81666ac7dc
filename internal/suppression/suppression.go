// Package suppression keeps the addresses a tenant must never mail.
//
// A suppressed address stays blocked whatever its subscriptions say, and even
// when no contact holds it; adding it changes nobody's subscription, removing it
// resubscribes nobody. The list is asked twice: when recipients are chosen, and
// again just before a message leaves, because hours may lie between the two.
//
// Addresses come to it by request, in bulk together with the end of the
// contacts' subscriptions, and from the journal: a hard bounce blocks its
// address (Follower).
package suppression

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Entry is one suppressed address.
type Entry struct {
	Email   string
	Reason  string // free text; nothing branches on it
	AddedAt time.Time
}

// The reasons we write ourselves.
const (
	HardBounce = "hard_bounce"
	Complaint  = "complaint"
	Anonymized = "anonymized"
	Sunset     = "sunset"
	Imported   = "import"
)

// Bounds of one request.
const (
	MaxReason = 200
	MaxBulk   = 500
	MaxImport = 10_000
)

// ErrTooMany reports a bulk suppression of too many contacts.
var ErrTooMany = fault.New(fault.Invalid, "TOO_MANY", "at most 500 contacts can be suppressed at once")

// page is how many addresses one statement moves.
const page = 500

// checkReason returns the reason as it is stored; empty clears it.
func checkReason(p *fault.Problems, reason string) string {
	reason = strings.TrimSpace(norm.NFC.String(reason))
	if utf8.RuneCountInString(reason) > MaxReason || strings.ContainsRune(reason, 0) {
		p.Add("reason", fmt.Sprintf("at most %d characters", MaxReason))
	}
	return reason
}

// Check returns what is wrong with an address to be added and its reason.
func Check(email, reason string) error {
	_, _, err := check(email, reason)
	return err
}

// check is Check, and returns both as they are stored.
func check(email, reason string) (addr, why string, _ error) {
	var p fault.Problems
	addr, err := address.Normalize(email)
	if err != nil {
		p.Add("email", err.Error())
	}
	return addr, checkReason(&p, reason), p.Err()
}

// Add puts an address on the list. If it is there already, the reason is
// replaced, so an empty one clears it; the time it was added stands.
func Add(ctx context.Context, db *sqldb.DB, tenant id.Tenant, email, reason string, now time.Time) (Entry, error) {
	addr, reason, err := check(email, reason)
	if err != nil {
		return Entry{}, err
	}
	var e Entry
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		if _, err := put(ctx, tx, tenant, []string{addr}, reason, true, now); err != nil {
			return err
		}
		e, err = scan(tx.QueryRow(ctx, `
			SELECT email, reason, created_at FROM suppression
			WHERE tenant_id = $1 AND email = $2`, tenant, addr).Scan)
		return err
	})
	if err != nil {
		return Entry{}, fmt.Errorf("add to the suppression list: %w", err)
	}
	return e, nil
}

// put adds normalised addresses and returns those that are new on the list.
// The others get the reason too when replace is set.
func put(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, emails []string, reason string, replace bool, now time.Time) ([]string, error) {
	t := tx.Table("email TEXT")
	for _, e := range slices.Sorted(slices.Values(emails)) { // one order of locks for everybody
		t.Add(e)
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO suppression (tenant_id, email, reason, created_at)
		SELECT h.tenant_id, v.email, CAST($2 AS TEXT), CAST($3 AS BIGINT) FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 4)+`
		WHERE true ON CONFLICT (tenant_id, email) DO NOTHING RETURNING email`,
		t.Args(tenant, sqldb.Null(reason), sqldb.Micros(now))...)
	added, err := sqldb.Collect(rows, err, func(row func(...any) error) (string, error) {
		var email string
		return email, row(&email)
	})
	if err != nil {
		return nil, err
	}
	if replace && len(added) < len(emails) {
		_, err := tx.Exec(ctx, `UPDATE suppression SET reason = $2 WHERE tenant_id = $1 AND email`+tx.In(3),
			tenant, sqldb.Null(reason), sqldb.List(tx, emails))
		if err != nil {
			return nil, err
		}
	}
	return added, moved(ctx, tx, tenant, added, journal.SuppressionAdded, reason, now)
}

// moved tells the contacts and the journal that addresses came or went.
func moved(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, emails []string, t journal.Type, reason string, now time.Time) error {
	if len(emails) == 0 {
		return nil
	}
	if err := contact.MarkListed(ctx, tx, tenant, emails, t == journal.SuppressionAdded, now); err != nil {
		return err
	}
	contacts, err := contact.IDsByEmail(ctx, tx, tenant, emails)
	if err != nil {
		return err
	}
	entries := make([]journal.Entry, len(emails))
	for i, e := range emails {
		data := map[string]any{"email": e}
		if reason != "" {
			data["reason"] = reason
		}
		entries[i] = journal.Entry{Tenant: tenant, Type: t, Contact: contacts[e], At: now, Data: data}
	}
	return journal.Append(ctx, tx, entries...)
}

// Remove takes an address off the list; one that is not there is no error.
func Remove(ctx context.Context, db *sqldb.DB, tenant id.Tenant, email string, now time.Time) error {
	addr, err := address.Normalize(email)
	if err != nil {
		return fault.Input(fault.Field{Path: "email", Message: err.Error()})
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		n, err := tx.Exec(ctx, `DELETE FROM suppression WHERE tenant_id = $1 AND email = $2`, tenant, addr)
		if err != nil || n == 0 {
			return err
		}
		return moved(ctx, tx, tenant, []string{addr}, journal.SuppressionRemoved, "", now)
	})
	if err != nil {
		return fmt.Errorf("remove from the suppression list: %w", err)
	}
	return nil
}

// Filter limits a listing; empty means no limit.
type Filter struct {
	Search string // a part of the address
	Reason string // exactly
}

func scan(row func(...any) error) (Entry, error) {
	var e Entry
	var reason sql.NullString
	var added int64
	if err := row(&e.Email, &reason, &added); err != nil {
		return Entry{}, err
	}
	e.Reason, e.AddedAt = reason.String, sqldb.Time(added)
	return e, nil
}

// All yields the whole list, newest first. It reads as it yields, so the list
// may be long and its reader slow.
func All(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		part := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(strings.TrimSpace(f.Search)))
		if strings.ContainsRune(part+f.Reason, 0) || !utf8.ValidString(part+f.Reason) {
			return // nothing on the list holds such a character
		}
		// Page by page, so that a slow reader holds no connection.
		last := Entry{AddedAt: sqldb.Time(math.MaxInt64)}
		for {
			rows, err := db.Query(ctx, `
				SELECT email, reason, created_at FROM suppression
				WHERE tenant_id = $1 AND (created_at, email) < ($2, $3)
					AND email LIKE $4 ESCAPE '\' AND (CAST($5 AS TEXT) = '' OR reason = $5)
				ORDER BY created_at DESC, email DESC LIMIT $6`,
				tenant, sqldb.Micros(last.AddedAt), last.Email, "%"+part+"%", f.Reason, allPage)
			list, err := sqldb.Collect(rows, err, scan)
			if err != nil {
				yield(Entry{}, fmt.Errorf("list suppressions: %w", err))
				return
			}
			for _, e := range list {
				if !yield(e, nil) {
					return
				}
			}
			if len(list) < allPage {
				return
			}
			last = list[len(list)-1]
		}
	}
}

// allPage is how many addresses All reads at a time.
const allPage = 2000

// Listed returns which of the normalised addresses are on the list.
func Listed(ctx context.Context, db *sqldb.DB, tenant id.Tenant, emails []string) (map[string]bool, error) {
	found := map[string]bool{}
	if len(emails) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `SELECT email FROM suppression WHERE tenant_id = $1 AND email`+db.In(2), tenant, sqldb.List(db, emails))
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var email string
		err := row(&email)
		found[email] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look addresses up in the suppression list: %w", err)
	}
	return found, nil
}

// SuppressContacts puts the addresses of contacts on the list and ends their
// subscriptions. It returns how many contacts that were: those that do not exist
// are passed over. An address that is listed already keeps its reason.
func SuppressContacts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, reason string, now time.Time) (int, error) {
	if len(ids) > MaxBulk {
		return 0, ErrTooMany
	}
	var p fault.Problems
	if len(ids) == 0 {
		p.Add("contact_ids", "at least one is needed")
	}
	if reason = checkReason(&p, reason); reason == "" {
		reason = Sunset
	}
	if err := p.Err(); err != nil {
		return 0, err
	}
	n := 0
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		list, err := contact.UnsubscribeAll(ctx, tx, tenant, ids, now)
		if err != nil {
			return err
		}
		var emails []string
		for _, c := range list {
			if c.AnonymizedAt == nil {
				emails = append(emails, c.Email)
			}
		}
		n = len(emails)
		if n == 0 {
			return nil
		}
		_, err = put(ctx, tx, tenant, emails, reason, false, now)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("suppress contacts: %w", err)
	}
	return n, nil
}

// Result is what an import did.
type Result struct {
	Added, Updated int
	Invalid        []string // as they were sent
}

// Import puts many addresses on the list under one reason.
func Import(ctx context.Context, db *sqldb.DB, tenant id.Tenant, emails []string, reason string, now time.Time) (Result, error) {
	if len(emails) > MaxImport {
		return Result{}, ErrLimit
	}
	var p fault.Problems
	if len(emails) == 0 {
		p.Add("emails", "at least one is needed")
	}
	if reason = checkReason(&p, reason); reason == "" {
		reason = Imported
	}
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	r := Result{Invalid: []string{}}
	seen := map[string]bool{}
	var valid []string
	for _, e := range emails {
		addr, err := address.Normalize(e)
		switch {
		case err != nil:
			r.Invalid = append(r.Invalid, e)
		case !seen[addr]:
			seen[addr] = true
			valid = append(valid, addr)
		}
	}
	slices.Sort(valid)
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		r.Added, r.Updated = 0, 0
		for part := range slices.Chunk(valid, page) {
			added, err := put(ctx, tx, tenant, part, reason, true, now)
			if err != nil {
				return err
			}
			r.Added += len(added)
			r.Updated += len(part) - len(added)
		}
		return nil
	})
	if err != nil {
		return Result{}, fmt.Errorf("import suppressions: %w", err)
	}
	return r, nil
}

// ErrLimit reports an import of too many addresses.
var ErrLimit = fault.New(fault.Invalid, "LIMIT_EXCEEDED", fmt.Sprintf("at most %d addresses can be imported at once", MaxImport))
