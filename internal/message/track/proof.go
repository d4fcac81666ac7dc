package track

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ProofKind is what a recipient did.
type ProofKind string

// The kinds of proofs.
const (
	ProofUnsubscribe ProofKind = "unsubscribe" // with the button of our page
	ProofForm        ProofKind = "form"        // submitted a form
	ProofEvent       ProofKind = "event"       // did something on the tenant's website
)

// Proof is evidence that a person opened a mail or followed its links before a time: afterwards the
// recipient did what programs do not do. The classifier then judges the hits of the message again.
type Proof struct {
	Tenant  id.Tenant
	Message id.Message
	At      time.Time
	Kind    ProofKind
}

// AddProof stores a proof about a message, within the caller's transaction.
func AddProof(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, message id.Message, kind ProofKind, at time.Time) error {
	messages, err := lockOrCreate(ctx, tx, tenant, map[id.Message]id.Send{message: send})
	if err == nil {
		messages[message].flags |= Proven
		err = new(changes).saveEngagements(ctx, tx, tenant, messages)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `
			INSERT INTO hit_proof (tenant_id, message_id, at, kind) VALUES ($1, $2, $3, $4)
			ON CONFLICT (tenant_id, message_id, at) DO NOTHING`, tenant, message, at.UnixMicro(), string(kind))
	}
	if err != nil {
		return fmt.Errorf("store proof: %w", err)
	}
	return nil
}

// PendingProofs returns up to limit proofs of all tenants that were not processed yet.
func PendingProofs(ctx context.Context, db *sqldb.DB, limit int) ([]Proof, error) {
	rows, err := db.Query(ctx, `
		SELECT tenant_id, message_id, at, kind FROM hit_proof WHERE pending ORDER BY at LIMIT $1 /* all tenants: one classifier */`, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (p Proof, err error) {
		err = scan(&p.Tenant, &p.Message, sqldb.ToTime(&p.At), sqldb.ToText(&p.Kind))
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("read pending proofs: %w", err)
	}
	return list, nil
}

// ProofsProcessed marks proofs of a tenant as processed.
func ProofsProcessed(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Proof) error {
	if len(list) == 0 {
		return nil
	}
	t := tx.Table("message_id UUID", "at BIGINT")
	for _, p := range list {
		t.Add(p.Message, p.At.UnixMicro())
	}
	_, err := tx.Exec(ctx, `
		UPDATE hit_proof SET pending = FALSE FROM `+t.As("v", 2)+`
		WHERE hit_proof.tenant_id = $1 AND hit_proof.message_id = v.message_id AND hit_proof.at = v.at`, t.Args(tenant)...)
	if err != nil {
		return fmt.Errorf("mark proofs as processed: %w", err)
	}
	return nil
}

// Proofs returns the times of proofs about the messages of the evidence.
func (e *Evidence) Proofs(ctx context.Context) (map[id.Message][]time.Time, error) {
	var proven []id.Message
	for m, row := range e.messages {
		if row.flags&Proven != 0 {
			proven = append(proven, m)
		}
	}
	if len(proven) == 0 {
		return nil, nil
	}
	slices.SortFunc(proven, id.Compare)
	rows, err := e.tx.Query(ctx, `SELECT message_id, at FROM hit_proof WHERE tenant_id = $1 AND message_id`+e.tx.In(2), e.tenant, sqldb.List(e.tx, proven))
	found := map[id.Message][]time.Time{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) {
		var at time.Time
		err = scan(&m, sqldb.ToTime(&at))
		found[m] = append(found[m], at)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read proofs: %w", err)
	}
	return found, nil
}

// Familiar is an earlier human hit of a contact.
type Familiar struct {
	At        time.Time
	IP, Agent string
}

// familiarLimit is how many earlier hits of a contact are compared.
const familiarLimit = 50

// FamiliarTo returns the last human hits of a contact before a time, on other messages than the given
// one. Hits whose address was removed are left out.
func FamiliarTo(ctx context.Context, db *sqldb.DB, tenant id.Tenant, c id.Contact, except id.Message, before time.Time) ([]Familiar, error) {
	rows, err := db.Query(ctx, `
		SELECT at, ip, agent FROM hit
		WHERE tenant_id = $1 AND contact_id = $2 AND at <= $3 AND message_id <> $4 AND class || '' = 'human' AND ip <> ''
		ORDER BY at DESC LIMIT $5`, tenant, c, before.UnixMicro(), except, familiarLimit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (f Familiar, err error) {
		err = scan(sqldb.ToTime(&f.At), &f.IP, &f.Agent)
		return f, err
	})
	if err != nil {
		return nil, fmt.Errorf("read earlier hits of a contact: %w", err)
	}
	return list, nil
}

// proofTypes are the entries that may prove that a person followed a link.
var proofTypes = []journal.Type{journal.CustomEvent, journal.FormSubmitted}

// proofWindow is how long after a click such an entry proves it.
const proofWindow = time.Hour

// ProofFollower returns the follower that stores proofs: a contact submitted a form, or did something
// on the tenant's website, soon after a click that is pending or was classified as a machine's. Events
// that programs of the tenant send (from the API) prove nothing.
func ProofFollower() journal.Follower {
	return journal.Follower{Name: "hit_proof", Types: proofTypes, Follow: func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
		byTenant := map[id.Tenant][]journal.Entry{}
		var tenants []id.Tenant
		for _, e := range entries {
			if e.Contact.IsZero() || e.Type == journal.CustomEvent && !fromWebsite(e) {
				continue
			}
			if byTenant[e.Tenant] == nil {
				tenants = append(tenants, e.Tenant)
			}
			byTenant[e.Tenant] = append(byTenant[e.Tenant], e)
		}
		slices.Sort(tenants)
		for _, tenant := range tenants {
			if err := addProofs(ctx, tx, tenant, byTenant[tenant]); err != nil {
				return fmt.Errorf("prove clicks: %w", err)
			}
		}
		return nil
	}}
}

// fromWebsite reports whether a custom event was recorded by a visitor's browser.
func fromWebsite(e journal.Entry) bool {
	var d struct {
		Source string `json:"source"`
	}
	return e.Decode(&d) == nil && d.Source == "website"
}

// addProofs stores proofs about the messages on which the contacts of entries clicked shortly before.
func addProofs(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry) error {
	t := tx.Table("contact_id UUID", "at BIGINT", "form BOOLEAN")
	for _, e := range entries {
		t.Add(e.Contact, e.At.UnixMicro(), e.Type == journal.FormSubmitted)
	}
	rows, err := tx.Query(ctx, `
		SELECT DISTINCT h.message_id, h.send_id, v.at, v.form FROM `+t.As("v", 3)+`
		JOIN hit AS h ON h.tenant_id = $1 AND h.contact_id = v.contact_id AND h.at BETWEEN v.at - $2 AND v.at
			AND h.kind || '' = 'click' AND h.class || '' IN ('pending', 'bot') AND h.url IS NOT NULL
		ORDER BY h.message_id, v.at, v.form LIMIT 1000`, t.Args(tenant, proofWindow.Microseconds())...)
	type proof struct {
		Proof
		send id.Send
	}
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (p proof, err error) {
		var form bool
		err = scan(&p.Message, &p.send, sqldb.ToTime(&p.At), &form)
		if p.Kind = ProofEvent; form {
			p.Kind = ProofForm
		}
		return p, err
	})
	if err != nil {
		return err
	}
	for _, p := range list {
		if err := AddProof(ctx, tx, tenant, p.send, p.Message, p.Kind, p.At); err != nil {
			return err
		}
	}
	return nil
}
