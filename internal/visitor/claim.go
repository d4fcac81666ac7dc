package visitor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/tenant"
	"github.com/packetboat/packetboat/internal/track"
)

// claimTimeout is how long a click may take to be recorded and classified.
const claimTimeout = 24 * time.Hour

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

// claim records the click that led to a page, until it is classified. Only the first visitor
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
	v.message, v.hit, v.claimedAt = r.Message, r.Hit, new(r.At)
}

// openClaim is a visitor whose click is not classified yet.
type openClaim struct {
	tenant  id.Tenant
	visitor id.Visitor
	message id.Message
	hit     id.Hit
	at      time.Time
}

const claimPage = 500

// ResolveClaims links visitors to the contacts in whose mails they clicked, if the click was
// classified as human, and drops the claims of other clicks.
func (e *Engine) ResolveClaims(ctx context.Context) error {
	var errs []error
	var after openClaim
	for {
		rows, err := e.DB.Query(ctx, `
			SELECT tenant_id, id, claim_message, claim_hit, claimed_at FROM visitor
			WHERE claim_message IS NOT NULL AND (tenant_id, id) > ($1, $2)
			ORDER BY tenant_id, id LIMIT $3 /* all tenants: one engine */`, after.tenant, after.visitor, claimPage)
		page, err := sqldb.Collect(rows, err, func(scan func(...any) error) (c openClaim, err error) {
			err = scan(&c.tenant, &c.visitor, &c.message, &c.hit, sqldb.ToTime(&c.at))
			return c, err
		})
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("list the clicks of visitors: %w", err))...)
		}
		of := map[id.Tenant][]openClaim{}
		for _, c := range page {
			of[c.tenant] = append(of[c.tenant], c)
		}
		for _, t := range slices.Sorted(maps.Keys(of)) {
			for part := range slices.Chunk(of[t], applyAtOnce) {
				if err := e.resolve(ctx, t, part); err != nil {
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
	contact id.Contact // zero: the click links the visitor to nobody
}

// resolve resolves claims of one tenant.
func (e *Engine) resolve(ctx context.Context, t id.Tenant, list []openClaim) error {
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
	now := e.Now()
	done := map[id.Visitor]verdict{}
	for _, c := range list {
		switch h, recorded := byID[c.hit]; {
		case recorded && h.Class == track.Human && h.Message == c.message:
			done[c.visitor] = verdict{c, h.Contact}
		case recorded && h.Class != track.Pending, now.Sub(c.at) > claimTimeout:
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
			v.message, v.claimedAt = id.Message{}, nil
			if d.contact.IsZero() {
				continue
			}
			if err := b.link(ctx, v, d.contact, Clicked, d.at); err != nil {
				return err
			}
		}
		return b.finish(ctx)
	})
}
