package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/bench/site"
)

const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"

// times are how long requests took.
type times []time.Duration

// at returns the time within which the part p of the requests was answered, in milliseconds.
func (t times) at(p float64) float64 {
	slices.Sort(t)
	return ms(press.Result{Took: t}.At(p))
}

// measure makes one flood and prints its row.
func (c *hits) measure(ctx context.Context, t *site.Target, dialect string, addresses int) (err error) {
	s, err := c.open(ctx, t, dialect)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	calmCreate, calmGet, err := s.others(ctx, func(ctx context.Context) error {
		select {
		case <-time.After(c.Calm):
		case <-ctx.Done():
		}
		return nil
	})
	if err != nil {
		return err
	}
	var took, create, get times
	var spent time.Duration
	cost, err := s.During(ctx, func() (err error) {
		create, get, err = s.others(ctx, func(ctx context.Context) error {
			began := time.Now()
			if took, err = c.flood(ctx, s, addresses); err != nil {
				return err
			}
			spent = time.Since(began)
			return s.awaitVerdicts(ctx, c.Limit)
		})
		return err
	})
	if err != nil {
		return err
	}
	kept, err := s.countRecorded(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%-9s %9d | %7.0f %7.1f %7.0f | %5.1f/%5.1f %5.1f/%5.1f | %5.1f/%5.1f %5.1f/%5.1f | %8.1f %8.1f %8.1f %7d %6d\n",
		dialect, addresses, float64(c.Hits)/spent.Seconds(), took.at(.99), took.at(1),
		calmCreate.at(.5), calmCreate.at(.99), create.at(.5), create.at(.99), calmGet.at(.5), calmGet.at(.99), get.at(.5), get.at(.99),
		(cost.Took - spent).Seconds(), cost.CPU.Seconds(), cost.Server.Seconds(), cost.Peak>>20, c.Hits-kept)
	return nil
}

// flood makes the requests, each a hit of its own, as fast as they are answered.
func (c *hits) flood(ctx context.Context, s *hitSite, addresses int) (times, error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	all, errs := make([]times, c.Connections), make([]error, c.Connections)
	host := s.API().Address
	for w := range c.Connections {
		wg.Go(func() {
			conn, err := press.Dial(host)
			if err != nil {
				errs[w] = err
				return
			}
			defer conn.Close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= c.Hits {
					return
				}
				path, want := s.opens[i%len(s.opens)], http.StatusOK
				if i/len(s.opens)%10 == 9 { // a round in ten
					path, want = s.clicks[i%len(s.clicks)], http.StatusFound
				}
				a := i % addresses
				began := time.Now()
				// The agent differs from round to round: the same request within a second would be the same hit.
				status, err := conn.Do(fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s/%d\r\nX-Forwarded-For: 198.%d.%d.%d\r\n\r\n",
					path, host, browser, i/len(s.opens), 18+a>>16, a>>8&255, a&255))
				if err == nil && status != want {
					err = fmt.Errorf("%s: status %d", path[:5], status)
				}
				if err != nil {
					errs[w] = err
					return
				}
				all[w] = append(all[w], time.Since(began))
			}
		})
	}
	wg.Wait()
	return slices.Concat(all...), errors.Join(errs...)
}

// awaitVerdicts waits until no hit is pending.
func (s *hitSite) awaitVerdicts(ctx context.Context, limit time.Duration) error {
	for end := time.Now().Add(limit); ; {
		n, err := s.pending(ctx)
		if err != nil || n == 0 {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d hits are not judged after %s", n, limit)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// others makes other requests until do returns: a contact is created and segments
// are read, each some 25 times a second.
func (s *hitSite) others(ctx context.Context, do func(context.Context) error) (create, get times, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	errs := make([]error, 2)
	account := s.API()
	each := func(to *times, fail *error, request func(i int) []byte) {
		c, err := press.Dial(account.Address)
		if err != nil {
			*fail = err
			return
		}
		defer c.Close()
		for i := 0; ctx.Err() == nil; i++ {
			began := time.Now()
			status, err := c.Do(request(i))
			if err == nil && status >= 300 {
				err = fmt.Errorf("status %d", status)
			}
			if err != nil {
				*fail = err
				return
			}
			*to = append(*to, time.Since(began))
			select {
			case <-time.After(40 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
	run := time.Now().UnixNano()
	wg.Go(func() {
		each(&create, &errs[0], func(i int) []byte {
			return account.Request(nil, "POST", "/contacts", fmt.Appendf(nil, `{"email": "someone%d.%d@example.org"}`, run, i))
		})
	})
	wg.Go(func() {
		each(&get, &errs[1], func(int) []byte { return account.Request(nil, "GET", "/segments?limit=5", nil) })
	})
	err = do(ctx)
	stop()
	wg.Wait()
	return create, get, errors.Join(err, errs[0], errs[1])
}
