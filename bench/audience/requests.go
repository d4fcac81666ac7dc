package audience

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/bench/site"
)

// requests measures how many requests a second each operation on contacts
// answers in a database of ordinary size.
func requests(ctx context.Context, o options, dialect string) (err error) {
	o.KeepIn = "" // it is written to
	s, err := open(ctx, o, dialect, extent{20_000, 100_000})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	bare, stop, err := startBare(ctx)
	if err != nil {
		return err
	}
	defer stop()
	loads, err := s.loads(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n%-9s %-20s %8s %8s %6s %8s %7s %7s %7s %8s %8s %8s\n",
		dialect, "requests", "req/s", "bare", "ratio", "target", "p50 ms", "p95 ms", "p99 ms", "CPU µs", "server", "peak MB")
	for _, l := range loads {
		if !strings.Contains(l.Name, o.Operation) {
			continue
		}
		if err := s.measure(ctx, o, l, bare); err != nil {
			return err
		}
	}
	return nil
}

// measure presses one load on the program and on the bare server, and prints both.
func (s *instance) measure(ctx context.Context, o options, l press.Load, bare string) error {
	p := press.Pace{Conns: o.Connections, Warm: max(o.Span/5, 200*time.Millisecond), Span: o.Span}
	var got press.Result
	cost, err := site.During(ctx, s.Program, func() (err error) {
		profiled := o.Profile(ctx, s.dialect+" "+l.Name, p.Warm, p.Span)
		got, err = press.Press(ctx, s.account.Address, p, l, "")
		return errors.Join(err, profiled())
	})
	if err != nil {
		return err
	}
	p.Span = min(p.Span, 2*time.Second)
	limit, err := press.Press(ctx, bare, p, l, fmt.Sprintf("%s: %d\r\n", sizeHeader, got.Size))
	if err != nil {
		return err
	}
	target := "-"
	if l.Target > 0 {
		target = strconv.FormatFloat(l.Target, 'f', 0, 64)
	}
	share := got.Span.Seconds() / (got.Span + p.Warm).Seconds() // of the processor time, for what was counted
	each := func(d time.Duration) float64 { return d.Seconds() * 1e6 * share / float64(max(len(got.Took), 1)) }
	fmt.Printf("%-9s %-20s %8.0f %8.0f %6.2f %8s %7.2f %7.2f %7.2f %8.1f %8.1f %8.0f\n", s.dialect, l.Name, got.Rate, limit.Rate, got.Rate/limit.Rate, target,
		ms(got.At(.5)), ms(got.At(.95)), ms(got.At(.99)),
		each(cost.CPU), each(cost.Server), float64(cost.Peak)/(1<<20))
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// made numbers the addresses that this run has made, over all sites.
var made atomic.Int64

// loads are the operations that are measured.
func (s *instance) loads(ctx context.Context) ([]press.Load, error) {
	ids, err := s.ids(ctx)
	if err != nil {
		return nil, err
	}
	get := func(name string, target float64, path func(r *rand.Rand) string) press.Load {
		return press.Load{Name: name, Target: target, Next: func(r *rand.Rand, b []byte) []byte { return s.account.Request(b, "GET", path(r), nil) }}
	}
	write := func(name, method string, target float64, email func(r *rand.Rand) string) press.Load {
		return press.Load{Name: name, Target: target, Next: func(r *rand.Rand, b []byte) []byte {
			p := s.people.person(s.randomContact(r))
			p.email = email(r)
			return s.account.Request(b, method, "/contacts", p.body())
		}}
	}
	fresh := func(*rand.Rand) string { return fmt.Sprintf("new%d.%d@example.org", os.Getpid(), made.Add(1)) }
	known := func(r *rand.Rand) string { return s.people.person(s.randomContact(r)).email }
	deep, err := s.walk(ctx, "", s.extent.contacts*9/10)
	if err != nil {
		return nil, err
	}
	return []press.Load{
		write("create", "POST", 6000, fresh),
		write("upsert, all new", "PUT", 6000, fresh),
		write("upsert, half new", "PUT", 6000, func(r *rand.Rand) string {
			if r.IntN(2) == 0 {
				return known(r)
			}
			return fresh(r)
		}),
		write("upsert, none new", "PUT", 6000, known),
		get("read one", 12_000, func(r *rand.Rand) string { return "/contacts/" + ids[r.IntN(len(ids))] }),
		get("look up by address", 0, func(r *rand.Rand) string { return "/contacts/lookup?email=" + url.QueryEscape(known(r)) }),
		get("list 50", 3000, func(*rand.Rand) string { return "/contacts?limit=50" }),
		get("list 50, deep", 3000, func(*rand.Rand) string { return "/contacts?limit=50&cursor=" + deep }),
		get("list 50 by last name", 0, func(*rand.Rand) string { return "/contacts?limit=50&sort=last_name&dir=asc" }),
		get("search", 2000, func(r *rand.Rand) string {
			p := s.people.person(s.randomContact(r))
			return "/contacts?limit=50&search=" + url.QueryEscape(p.first+" "+p.last)
		}),
		get("count", 0, func(*rand.Rand) string { return "/contacts/count" }),
	}, nil
}

// body is what a caller says about the person.
func (p person) body() []byte {
	said := map[string]any{
		"email": p.email, "first_name": p.first, "last_name": p.last, "city": p.city, "tags": append([]string{}, p.tags...),
		"custom_fields": json.RawMessage(p.fields()),
	}
	for name, v := range map[string]string{"company": p.company, "country": p.country} {
		if v != "" {
			said[name] = v
		}
	}
	b, err := json.Marshal(said)
	if err != nil {
		panic(err) // texts always encode
	}
	return b
}

// ids returns the ids of a thousand contacts from all over the table.
func (s *instance) ids(ctx context.Context) ([]string, error) {
	c := s.Keyed()
	var ids []string
	for i := range 1000 {
		p := s.people.person(i * s.extent.contacts / 1000)
		a, err := c.Do(ctx, "GET", "/contacts/lookup?email="+url.QueryEscape(p.email), nil)
		if err != nil {
			return nil, err
		}
		one, _ := a.Map()["id"].(string)
		if a.Status != 200 || one == "" {
			return nil, fmt.Errorf("look up %s: %d %s", p.email, a.Status, a.Body)
		}
		ids = append(ids, one)
	}
	return ids, nil
}

// walkAtMost is the time limit of paging into a list. If every page is read from the start again,
// paging ends earlier in the list.
const walkAtMost = 15 * time.Second

// walk pages through the list until it has passed a number of contacts, and returns the cursor there.
func (s *instance) walk(ctx context.Context, query string, depth int) (cursor string, err error) {
	c, err := press.Dial(s.account.Address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	c.Keep = true
	var page struct {
		Next *string `json:"next_cursor"`
	}
	for passed, began := 0, time.Now(); passed < depth && time.Since(began) < walkAtMost && ctx.Err() == nil; passed += 200 {
		status, err := c.Do(s.account.Request(nil, "GET", "/contacts?limit=200"+query+"&cursor="+cursor, nil))
		if err != nil {
			return "", err
		}
		// The cursor is at the end of the page, so only that is read.
		tail := c.Body[max(bytes.LastIndex(c.Body, []byte(`"next_cursor"`)), 0):]
		page.Next = nil
		if err := json.Unmarshal([]byte("{"+string(tail)), &page); err != nil || status != 200 || page.Next == nil {
			return "", fmt.Errorf("walk %d contacts deep: %d %.200s", depth, status, c.Body)
		}
		cursor = *page.Next
	}
	return cursor, ctx.Err()
}
