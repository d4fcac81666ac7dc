package maildomain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Resolution asks the DNS where the mail of contacts' domains goes:
// soon after a domain is first seen, and every thirty days. Only domains
// leave the machine, never addresses. An answer that does not come is waited for
// longer each time. Any number of processes may run one: each claims what it asks
// about, and what a dead one had claimed is free again after a while.
type Resolution struct {
	DB       *sqldb.DB
	Resolver mx.Resolver
	Log      *slog.Logger
	Now      func() time.Time
	Every    time.Duration // 0 means ten seconds

	unanswered int // questions since the last answer, those of broken domains too
}

// How the DNS is asked.
const (
	claimDomains = 64
	askAtOnce    = 8
	claimFor     = 2 * time.Minute
	refreshAfter = 30 * 24 * time.Hour
	absentAfter  = 3 * 24 * time.Hour // a domain that does not exist may yet
	silence      = 10                 // unanswered questions that are no accident
	retryFirst   = time.Minute
	retryLast    = 12 * time.Hour
)

// Run works until ctx ends.
func (r *Resolution) Run(ctx context.Context) error {
	return poll.Loop{Poll: r.Tick, Every: cmp.Or(r.Every, 10*time.Second), Log: r.Log, Failed: "resolve mail domains failed"}.Run(ctx)
}

// due is a domain that is to be asked about.
type due struct {
	domain string
	tries  int
	answer mx.Answer
	err    error
}

// Tick asks about the domains whose time has come, a number of them. It reports
// whether there may be more.
func (r *Resolution) Tick(ctx context.Context) (more bool, err error) {
	list, err := r.claim(ctx)
	if err != nil || len(list) == 0 {
		return false, err
	}
	var asking sync.WaitGroup
	turns := make(chan struct{}, askAtOnce)
	for i := range list {
		turns <- struct{}{}
		asking.Go(func() {
			defer func() { <-turns }()
			list[i].answer, list[i].err = mx.Lookup(ctx, r.Resolver, list[i].domain)
		})
	}
	asking.Wait()
	if ctx.Err() != nil { // the claims run out by themselves
		return false, nil
	}
	if err := r.save(ctx, list); err != nil {
		return false, err
	}
	return len(list) == claimDomains, nil
}

// claim claims domains that are due. No other process gets them until the claim expires.
func (r *Resolution) claim(ctx context.Context) ([]due, error) {
	now := r.Now()
	var waiting bool // asked first, so that an idle program does not write
	err := r.DB.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM mail_domain WHERE next_at <= $1)`, sqldb.Micros(now)).Scan(&waiting)
	if err != nil || !waiting {
		return nil, err
	}
	rows, err := r.DB.Query(ctx, `
		WITH due AS MATERIALIZED (
			SELECT domain FROM mail_domain WHERE next_at <= $1 ORDER BY next_at LIMIT $2`+r.DB.SkipLocked()+`)
		UPDATE mail_domain SET next_at = $3 FROM due WHERE mail_domain.domain = due.domain
		RETURNING mail_domain.domain, mail_domain.tries`, sqldb.Micros(now), claimDomains, sqldb.Micros(now.Add(claimFor)))
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (d due, err error) {
		err = row(&d.domain, &d.tries)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("claim mail domains: %w", err)
	}
	return list, nil
}

// save keeps the answers, and when to ask again. Where none came, what was known
// before stands.
func (r *Resolution) save(ctx context.Context, list []due) error {
	now := r.Now()
	answered := r.DB.Table("domain TEXT", "mx_record TEXT", "smtp_provider TEXT", "next_at BIGINT")
	failed := r.DB.Table("domain TEXT", "next_at BIGINT")
	for _, d := range list {
		if d.err != nil {
			r.Log.Debug("mail domain not resolved", "domain", d.domain, "err", d.err)
			failed.Add(d.domain, sqldb.Micros(now.Add(retryIn(d.tries))))
			continue
		}
		wait := refreshAfter
		if d.answer == (mx.Answer{}) {
			wait = absentAfter
		}
		wait -= rand.N(wait / 30) // domains that came together do not return together
		answered.Add(d.domain, sqldb.Null(d.answer.Record), sqldb.Null(d.answer.Provider), sqldb.Micros(now.Add(wait)))
	}
	r.listen(list, answered.Len() > 0)
	err := r.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if answered.Len() > 0 {
			_, err := tx.Exec(ctx, `
				UPDATE mail_domain SET mx_record = v.mx_record, smtp_provider = v.smtp_provider, checked_at = $1, next_at = v.next_at, tries = 0
				FROM `+answered.As("v", 2)+` WHERE mail_domain.domain = v.domain`, answered.Args(sqldb.Micros(now))...)
			if err != nil {
				return err
			}
		}
		if failed.Len() == 0 {
			return nil
		}
		_, err := tx.Exec(ctx, `
			UPDATE mail_domain SET next_at = v.next_at, tries = mail_domain.tries + 1
			FROM `+failed.As("v", 1)+` WHERE mail_domain.domain = v.domain`, failed.Args()...)
		return err
	})
	if err != nil {
		return fmt.Errorf("save mail domains: %w", err)
	}
	return nil
}

// listen says once when the DNS has fallen silent.
func (r *Resolution) listen(asked []due, answered bool) {
	if answered {
		r.unanswered = 0
		return
	}
	before := r.unanswered
	r.unanswered += len(asked)
	if before < silence && r.unanswered >= silence {
		cause := asked[0].err.Error()
		if d, ok := errors.AsType[*net.DNSError](asked[0].err); ok {
			cause = d.Err // without the name that was asked for
		}
		r.Log.Warn("DNS does not answer; mailbox providers of contacts stay unknown", "err", cause)
	}
}

// retryIn returns how long to wait after an answer has failed to come.
func retryIn(tries int) time.Duration {
	wait := retryFirst << min(max(tries, 0), 10)
	return min(wait, retryLast) + rand.N(wait/4)
}
