// Package suppression stores the addresses that a tenant must never mail.
//
// A suppressed address stays blocked whatever its subscriptions are, and even if no contact has it.
// Adding or removing an address does not change subscriptions. The list is checked twice: when
// recipients are chosen, and again just before a message is sent, since hours may pass between the
// two.
//
// Addresses are added by request, in bulk together with unsubscribing the contacts, and from the
// journal: hard bounces and complaints (Follower).
package suppression

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Entry is one suppressed address.
type Entry struct {
	Email   string
	Reason  string // free text without meaning for the program
	AddedAt time.Time
}

// The reasons that the program sets.
const (
	HardBounce = "hard_bounce"
	Complaint  = "complaint"
	Anonymized = "anonymized"
	Sunset     = "sunset"
	Imported   = "import"
)

// Limits of one request.
const (
	MaxReason = 200
	MaxBulk   = 500
	MaxImport = 10_000
)

// ErrTooMany reports a bulk suppression of too many contacts.
var ErrTooMany = fault.New(fault.Invalid, "TOO_MANY", "at most 500 contacts can be suppressed at once")

// page is the number of addresses in one statement.
const page = 500

// checkReason returns the reason as stored; an empty one clears it.
func checkReason(p *fault.Problems, reason string) string {
	reason = strings.TrimSpace(norm.NFC.String(reason))
	if utf8.RuneCountInString(reason) > MaxReason || strings.ContainsRune(reason, 0) {
		p.Add("reason", fmt.Sprintf("at most %d characters", MaxReason))
	}
	return reason
}

// Check validates an address to add and its reason.
func Check(email, reason string) error {
	_, _, err := check(email, reason)
	return err
}

// check is Check, and returns both as stored.
func check(email, reason string) (addr, why string, _ error) {
	var p fault.Problems
	addr, err := address.Normalize(email)
	if err != nil {
		p.Add("email", err.Error())
	}
	return addr, checkReason(&p, reason), p.Err()
}

// Add adds an address to the list. If it is listed already, its reason is replaced, or cleared by
// an empty one; the time it was added does not change.
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

// put adds normalized addresses and returns those that are new. With replace, the others get the
// reason too.
func put(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, emails []string, reason string, replace bool, now time.Time) ([]string, error) {
	t := tx.Table("email TEXT")
	for _, e := range slices.Sorted(slices.Values(emails)) { // all transactions lock rows in the same order
		t.Add(e)
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO suppression (tenant_id, email, reason, created_at)
		SELECT h.tenant_id, v.email, CAST($2 AS TEXT), CAST($3 AS BIGINT) FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 4)+`
		WHERE true ON CONFLICT (tenant_id, email) DO NOTHING RETURNING email`,
		t.Args(tenant, sqldb.Null(reason), sqldb.Micros(now))...)
	added, err := sqldb.Collect(rows, err, func(row func(...any) error) (string, error) {
		var email string
		err := row(&email)
		return email, err
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

// moved updates the contacts of addresses that were added or removed, and appends to the journal.
func moved(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, emails []string, t journal.Type, reason string, now time.Time) error {
	if len(emails) == 0 {
		return nil
	}
	if err := contactlog.AppendAddresses(ctx, tx, tenant, emails); err != nil {
		return err
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

// Remove removes an address from the list; it is no error if it is not listed.
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

// Filter restricts a listing; an empty field means no restriction.
type Filter struct {
	Search string // substring of the address
	Reason string // exact match
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

// All yields the whole list, newest first, reading page by page, so that a long list needs little
// memory and no connection is held for a slow reader.
func All(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var last *Entry
		for {
			list, err := Page(ctx, db, tenant, f, last, allPage)
			if err != nil {
				yield(Entry{}, err)
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
			last = &list[len(list)-1]
		}
	}
}

// Page returns at most limit entries of the list, newest first, after an entry; nil: from the first.
func Page(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter, after *Entry, limit int) ([]Entry, error) {
	part := sqldb.EscapeLike(strings.ToLower(strings.TrimSpace(f.Search)))
	if strings.ContainsRune(part+f.Reason, 0) || !utf8.ValidString(part+f.Reason) {
		return nil, nil // no stored text contains such a character
	}
	if after == nil {
		after = &Entry{AddedAt: sqldb.Time(math.MaxInt64)}
	}
	rows, err := db.Query(ctx, `
		SELECT email, reason, created_at FROM suppression
		WHERE tenant_id = $1 AND (created_at, email) < ($2, $3)
			AND email LIKE $4 ESCAPE '\' AND (CAST($5 AS TEXT) = '' OR reason = $5)
		ORDER BY created_at DESC, email DESC LIMIT $6`,
		tenant, sqldb.Micros(after.AddedAt), after.Email, "%"+part+"%", f.Reason, limit)
	list, err := sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("list suppressions: %w", err)
	}
	return list, nil
}

// allPage is the number of addresses that All reads at a time.
const allPage = 2000

// Find returns the entry of a normalized address, and whether it is on the list.
func Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, email string) (Entry, bool, error) {
	e, err := scan(db.QueryRow(ctx, `SELECT email, reason, created_at FROM suppression WHERE tenant_id = $1 AND email = $2`, tenant, email).Scan)
	switch {
	case errors.Is(err, sqldb.ErrNoRows):
		return Entry{}, false, nil
	case err != nil:
		return Entry{}, false, fmt.Errorf("look an address up in the suppression list: %w", err)
	}
	return e, true, nil
}

// Listed returns which of the normalized addresses are on the list.
func Listed(ctx context.Context, db *sqldb.DB, tenant id.Tenant, emails []string) (map[string]bool, error) {
	b := db.Batch()
	found := QueueListed(b, db, tenant, emails)
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("look addresses up in the suppression list: %w", err)
	}
	return found, nil
}

// QueueListed is Listed as part of a batch of db, which fills the map that it returns.
func QueueListed(b *sqldb.Batch, db *sqldb.DB, tenant id.Tenant, emails []string) map[string]bool {
	found := map[string]bool{}
	if len(emails) == 0 {
		return found
	}
	b.Queue(`SELECT email FROM suppression WHERE tenant_id = $1 AND email`+db.In(2), func(row func(...any) error) error {
		var email string
		err := row(&email)
		found[email] = true
		return err
	}, tenant, sqldb.List(db, emails))
	return found
}

// SuppressContacts adds the addresses of contacts to the list and unsubscribes the contacts. It
// returns the number of contacts; ids that do not exist are skipped. An address that is listed
// already keeps its reason.
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
	ids = slices.Compact(slices.SortedFunc(slices.Values(ids), id.Compare))
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

// Result is the result of an import.
type Result struct {
	Added, Updated int
	Invalid        []string // as in the request
}

// Import adds many addresses to the list with one reason.
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
