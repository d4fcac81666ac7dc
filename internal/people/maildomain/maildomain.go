// Package maildomain knows who runs the mail of the domains of contacts' addresses,
// for all tenants together: what the DNS says of a domain is the same for all.
//
// A domain is noted when a contact gets an address there (Follower), asked about in
// the background (Resolution) and looked up when contacts are shown or mail is
// shaped by provider (Providers).
package maildomain

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Domain is what the DNS says of the domain of an address. Both are empty
// until it has been asked, and for a domain that does not exist.
type Domain struct {
	Record   string // the server that is tried first; "." when the domain takes no mail
	Provider mx.Provider
}

// Follower notes the domains of new addresses, so that Resolution asks the
// DNS about them. Writing a contact does not wait for that.
func Follower(now func() time.Time) journal.Follower {
	return journal.Follower{Name: "mail_domain", Types: []journal.Type{journal.ContactCreated, journal.ContactUpdated}, Follow: func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
		byTenant := map[id.Tenant][]id.Contact{}
		for _, e := range entries {
			if !e.Contact.IsZero() && hasAddress(e) {
				byTenant[e.Tenant] = append(byTenant[e.Tenant], e.Contact)
			}
		}
		domains := map[string]bool{}
		for t, ids := range byTenant {
			list, err := contact.Domains(ctx, tx, t, ids)
			if err != nil {
				return err
			}
			for _, d := range list {
				domains[d] = true
			}
		}
		return noteDomains(ctx, tx, slices.Sorted(maps.Keys(domains)), now())
	}}
}

// hasAddress reports whether a contact may have a domain since the entry that
// it had not before.
func hasAddress(e journal.Entry) bool {
	switch e.Type {
	case journal.ContactCreated:
		return true
	case journal.ContactUpdated:
		var d struct{ Fields []string }
		return e.Decode(&d) != nil || slices.Contains(d.Fields, "email")
	}
	return false
}

// noteDomains adds domains that are not known yet, to be asked about at once.
// Those that are a provider's own are known by name meanwhile.
func noteDomains(ctx context.Context, tx *sqldb.DB, domains []string, now time.Time) error {
	if len(domains) == 0 {
		return nil
	}
	t := tx.Table("domain TEXT", "smtp_provider TEXT")
	for _, d := range domains {
		p, _ := mx.Consumer(d)
		t.Add(d, sqldb.Null(p))
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO mail_domain (domain, smtp_provider, next_at, tries)
		SELECT v.domain, v.smtp_provider, $1, 0 FROM `+t.As("v", 2)+` WHERE true
		ON CONFLICT (domain) DO NOTHING`, t.Args(sqldb.Micros(now))...)
	if err != nil {
		return fmt.Errorf("note mail domains: %w", err)
	}
	return nil
}

// Providers answers what is known of domains, and remembers it for a moment, so
// that a page of contacts costs one query at most.
type Providers struct {
	DB  *sqldb.DB
	Now func() time.Time

	known cache.Cache[string, Domain]
}

const (
	rememberKnown   = 10 * time.Minute // what the DNS said stays for days
	rememberUnknown = 5 * time.Second  // it may be asked at this moment
)

// Of returns what is known of each of the domains.
func (p *Providers) Of(ctx context.Context, domains ...string) (map[string]Domain, error) {
	return p.Within(ctx, p.DB, domains...)
}

// Within is Of within a transaction.
func (p *Providers) Within(ctx context.Context, tx *sqldb.DB, domains ...string) (map[string]Domain, error) {
	now := p.Now()
	out := make(map[string]Domain, len(domains))
	var missing []string
	for _, d := range domains {
		if _, have := out[d]; have {
			continue
		}
		known, ok := p.known.Get(d, now)
		out[d] = known
		if !ok {
			missing = append(missing, d)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	found, err := loadDomains(ctx, tx, missing)
	if err != nil {
		return nil, err
	}
	for _, d := range missing {
		keep := rememberKnown
		if found[d] == (Domain{}) {
			keep = rememberUnknown
		}
		out[d] = found[d]
		p.known.Put(d, found[d], now, keep)
	}
	return out, nil
}

func loadDomains(ctx context.Context, db *sqldb.DB, domains []string) (map[string]Domain, error) {
	found := make(map[string]Domain, len(domains))
	rows, err := db.Query(ctx, `SELECT domain, mx_record, smtp_provider FROM mail_domain WHERE domain`+db.In(1), sqldb.List(db, domains))
	_, err = sqldb.Collect(rows, err, func(row func(...any) error) (d string, err error) {
		var record, provider sql.NullString
		err = row(&d, &record, &provider)
		found[d] = Domain{record.String, mx.Provider(provider.String)}
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("read mail domains: %w", err)
	}
	return found, nil
}
