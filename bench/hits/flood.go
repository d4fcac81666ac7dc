package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/bench/meter"
	"github.com/packetboat/packetboat/e2e/harness"
)

const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"

// times are how long requests took.
type times []time.Duration

func (t times) at(p float64) float64 {
	if len(t) == 0 {
		return 0
	}
	slices.Sort(t)
	return float64(t[min(int(p*float64(len(t))), len(t)-1)]) / float64(time.Millisecond)
}

// measure makes one flood and prints its row.
func measure(ctx context.Context, o options, database string, addresses int) (err error) {
	s, err := open(ctx, o, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	calmCreate, calmGet, err := s.others(ctx, func(ctx context.Context) error {
		select {
		case <-time.After(o.calm):
		case <-ctx.Done():
		}
		return nil
	})
	if err != nil {
		return err
	}
	before, err := s.Usage()
	if err != nil {
		return err
	}
	server, err := meter.Server(ctx, s.Database)
	if err != nil {
		return err
	}
	var took times
	var spent, judged time.Duration
	create, get, err := s.others(ctx, func(ctx context.Context) error {
		began := time.Now()
		if took, err = s.flood(ctx, o, addresses); err != nil {
			return err
		}
		spent = time.Since(began)
		if err := s.awaitVerdicts(ctx, o.limit); err != nil {
			return err
		}
		judged = time.Since(began) - spent
		return nil
	})
	if err != nil {
		return err
	}
	after, err := s.Usage()
	if err != nil {
		return err
	}
	served, err := meter.Server(ctx, s.Database)
	if err != nil {
		return err
	}
	kept, err := s.countRecorded(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%-9s %9d | %7.0f %7.1f %7.0f | %5.1f/%5.1f %5.1f/%5.1f | %5.1f/%5.1f %5.1f/%5.1f | %8.1f %8.1f %8.1f %7d %6d\n",
		database, addresses, float64(o.hits)/spent.Seconds(), took.at(.99), took.at(1),
		calmCreate.at(.5), calmCreate.at(.99), create.at(.5), create.at(.99), calmGet.at(.5), calmGet.at(.99), get.at(.5), get.at(.99),
		judged.Seconds(), (after.CPU - before.CPU).Seconds(), (served - server).Seconds(), after.PeakMemory>>20, o.hits-kept)
	return nil
}

// flood makes the requests, each a hit of its own, as fast as they are answered.
func (s *site) flood(ctx context.Context, o options, addresses int) (times, error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	all, errs := make([]times, o.conns), make([]error, o.conns)
	for w := range o.conns {
		wg.Go(func() {
			c, err := dial(s.BaseURL)
			if err != nil {
				errs[w] = err
				return
			}
			defer c.Close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= o.hits {
					return
				}
				path, want := s.opens[i%len(s.opens)], http.StatusOK
				if i/len(s.opens)%10 == 9 { // a round in ten
					path, want = s.clicks[i%len(s.clicks)], http.StatusFound
				}
				a := i % addresses
				began := time.Now()
				// The agent differs from round to round: the same request within a second would be the same hit.
				status, err := c.get(path, fmt.Sprintf("User-Agent: %s/%d\r\nX-Forwarded-For: 198.%d.%d.%d\r\n", browser, i/len(s.opens), 18+a>>16, a>>8&255, a&255))
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
func (s *site) awaitVerdicts(ctx context.Context, limit time.Duration) error {
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

// others makes other requests until do returns: a contact is created and the
// account is read, each some 25 times a second.
func (s *site) others(ctx context.Context, do func(context.Context) error) (create, get times, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	errs := make([]error, 2)
	each := func(to *times, fail *error, request func(c *conn, i int) (int, error)) {
		c, err := dial(s.BaseURL)
		if err != nil {
			*fail = err
			return
		}
		defer c.Close()
		for i := 0; ctx.Err() == nil; i++ {
			began := time.Now()
			status, err := request(c, i)
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
	prefix, key := "/t/"+harness.Tenant+"/api", "X-API-Key: "+s.Key+"\r\n"
	run := time.Now().UnixNano()
	wg.Go(func() {
		each(&create, &errs[0], func(c *conn, i int) (int, error) {
			return c.post(prefix+"/contacts", key, fmt.Sprintf(`{"email": "someone%d.%d@example.org"}`, run, i))
		})
	})
	wg.Go(func() {
		each(&get, &errs[1], func(c *conn, _ int) (int, error) { return c.get(prefix+"/segments?limit=5", key) })
	})
	err = do(ctx)
	stop()
	wg.Wait()
	return create, get, errors.Join(err, errs[0], errs[1])
}

// conn is a connection of a client that does little, since the program shares the
// machine with it.
type conn struct {
	net.Conn
	host string
	in   *bufio.Reader
}

func dial(base string) (*conn, error) {
	host := strings.TrimPrefix(base, "http://")
	c, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	return &conn{c, host, bufio.NewReader(c)}, nil
}

func (c *conn) get(path, headers string) (int, error) {
	return c.do("GET "+path+" HTTP/1.1\r\nHost: "+c.host+"\r\n"+headers+"\r\n", 2*time.Minute)
}

func (c *conn) post(path, headers, body string) (int, error) {
	return c.do(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, c.host, headers, len(body), body), 2*time.Minute)
}

func (c *conn) do(request string, within time.Duration) (int, error) {
	if err := c.SetDeadline(time.Now().Add(within)); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(c, request); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, errors.Join(err, res.Body.Close())
}
