package visitor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// claimTimeout is how long a click may take to be recorded and classified.
const claimTimeout = 24 * time.Hour

// verdictFinal is how long after a click its verdict may still change: ten minutes in which later hits
// of the message count (classify), and some for the classifier's passes.
const verdictFinal = 12 * time.Minute

// loadClaimed reads which visitors have claimed the clicks of requests.
func (b *batch) loadClaimed(ctx context.Context, list []stored) error {
	b.claimed = map[id.Hit]id.Visitor{}
	var hits []id.Hit
	for _, s := range list {
		if !s.Hit.IsZero() {
			hits = append(hits, s.Hit)
		}
	}
	if len(hits) == 0 {
		return nil
	}
	rows, err := b.tx.Query(ctx, `SELECT claim_hit, id FROM visitor WHERE tenant_id = $1 AND claim_hit IS NOT NULL AND claim_hit`+b.tx.In(2),
		b.account.ID, sqldb.List(b.tx, hits))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var h id.Hit
		var v id.Visitor
		err := scan(&h, &v)
		b.claimed[h] = v
		return err
	})
	if err != nil {
		return fmt.Errorf("find visitors by their clicks: %w", err)
	}
	return nil
}

// claim records the click that led to a page, until its verdict is final. Only the first visitor
// with the token of a click can claim it, since addresses are passed on.
func (b *batch) claim(v *visitor, r Request) {
	if r.Message.IsZero() || !v.mayLink(Clicked) {
		return
	}
	if by, claimed := b.claimed[r.Hit]; claimed {
		if by != v.id || v.hit == r.Hit {
			return
		}
	}
	b.claimed[r.Hit] = v.id
	v.message, v.hit, v.claimedAt, v.claimDue = r.Message, r.Hit, new(r.At), new(r.At)
}

// openClaim is a visitor with a click whose verdict is to be read.
type openClaim struct {
	tenant  id.Tenant
	visitor id.Visitor
	message id.Message
	hit     id.Hit
	at      time.Time
	due     time.Time
}

const claimPage = 500

// ResolveClaims links visitors to the contacts in whose mails they clicked, if the click was classified as
// human, and drops the claims of clicks that were not classified in time. It reads each verdict once more
// when it is final: a visitor whose click turned out to be a machine's becomes unknown again, and one
// whose click turned out to be a person's is linked.
func (e *Engine) ResolveClaims(ctx context.Context) error {
	var errs []error
	after, now := openClaim{due: time.UnixMicro(0)}, e.Now()
	for {
		rows, err := e.DB.Query(ctx, `
			SELECT tenant_id, id, claim_message, claim_hit, claimed_at, claim_due FROM visitor
			WHERE claim_due >= $1 AND (claim_due > $1 OR tenant_id > $2 OR tenant_id = $2 AND id > $3) AND claim_due <= $4
			ORDER BY claim_due, tenant_id, id LIMIT $5 /* all tenants: one engine */`,
			after.due.UnixMicro(), after.tenant, after.visitor, now.UnixMicro(), claimPage)
		page, err := sqldb.Collect(rows, err, func(scan func(...any) error) (c openClaim, err error) {
			err = scan(&c.tenant, &c.visitor, &c.message, &c.hit, sqldb.ToTime(&c.at), sqldb.ToTime(&c.due))
			return c, err
		})
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("list the clicks of visitors: %w", err))...)
		}
		byTenant := map[id.Tenant][]openClaim{}
		for _, c := range page {
			byTenant[c.tenant] = append(byTenant[c.tenant], c)
		}
		for _, t := range slices.Sorted(maps.Keys(byTenant)) {
			for part := range slices.Chunk(byTenant[t], applyAtOnce) {
				if err := e.resolve(ctx, t, part, now); err != nil {
					errs = append(errs, err)
				}
			}
		}
		if len(page) < claimPage {
			return errors.Join(errs...)
		}
		after = page[len(page)-1]
	}
}

// verdict is the result of a visitor's click.
type verdict struct {
	openClaim
	contact id.Contact // whose click it was; zero: it was not recorded in time
	human   bool
}

// resolve resolves claims of one tenant.
func (e *Engine) resolve(ctx context.Context, t id.Tenant, list []openClaim, now time.Time) error {
	messages := make([]id.Message, len(list))
	for i, c := range list {
		messages[i] = c.message
	}
	slices.SortFunc(messages, id.Compare)
	hits, err := track.HitsOf(ctx, e.DB, t, slices.Compact(messages))
	if err != nil {
		return fmt.Errorf("read the clicks of visitors: %w", err)
	}
	byID := make(map[id.Hit]track.Hit, len(hits))
	for _, h := range hits {
		byID[h.ID] = h
	}
	done := map[id.Visitor]verdict{}
	for _, c := range list {
		switch h, recorded := byID[c.hit]; {
		case recorded && h.Class != track.Pending && h.Message == c.message:
			done[c.visitor] = verdict{c, h.Contact, h.Class == track.Human}
		case now.Sub(c.at) > claimTimeout:
			done[c.visitor] = verdict{openClaim: c}
		}
	}
	if len(done) == 0 {
		return nil
	}
	account, err := tenant.ByID(ctx, e.DB, t)
	if err != nil {
		return err
	}
	return e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		b := &batch{engine: e, tx: tx, account: account, visits: map[id.Contact]contact.Visits{}}
		var err error
		if b.visitors, err = lock(ctx, tx, t, slices.SortedFunc(maps.Keys(done), id.Compare)); err != nil {
			return err
		}
		for _, v := range b.visitors {
			d := done[v.id]
			if v.hit != d.hit || v.message != d.message {
				continue // another click came in between
			}
			if final := d.at.Add(verdictFinal); now.Before(final) {
				v.claimDue = &final
			} else {
				v.message, v.claimedAt, v.claimDue = id.Message{}, nil, nil
			}
			if !d.human {
				v.withdraw(d)
				continue
			}
			if again := d.due.After(d.at); again && v.linkedAt != nil && !v.linkedAt.Before(d.at) {
				continue // it is linked by this click, or by something since
			}
			if err := b.link(ctx, v, d.contact, Clicked, d.at); err != nil {
				return err
			}
		}
		return b.finish(ctx)
	})
}
