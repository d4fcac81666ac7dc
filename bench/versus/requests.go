package versus

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/bench/press"
)

// importing measures an import into an empty database, and the same file again.
func importing(ctx context.Context, o options, s *instance) (f figures, err error) {
	if err := s.declare(ctx); err != nil {
		return f, err
	}
	took, t, err := s.during(ctx, func() error { return s.people(ctx, "", o.Rows) })
	if err != nil {
		return f, err
	}
	f.add("rows/s", float64(o.Rows)/took.Seconds(), 0)
	f.spent("", t, o.Rows)
	return f, f.peak(s)
}

// requestConns are the connections that requests come in on.
const requestConns = 32

// requests measures how many requests a second are answered, of those that programs
// make most: creating contacts, bringing them up to date, reading one, and a page of 50.
func requests(ctx context.Context, o options, s *instance) (f figures, err error) {
	const known = 20_000
	if err := s.declare(ctx); err != nil {
		return f, err
	}
	if err := s.people(ctx, "", known); err != nil {
		return f, err
	}
	a := s.account()
	write := func(method string, number func(*rand.Rand) int) func(*rand.Rand, []byte) []byte {
		return func(r *rand.Rand, b []byte) []byte {
			return a.Request(b, method, "/contacts", person(number(r)).body())
		}
	}
	one, err := s.Keyed().Must(ctx, "GET", "/contacts/lookup?email="+person(known/2).email, nil)
	if err != nil {
		return f, err
	}
	var made atomic.Int64
	for _, l := range []press.Load{
		{Name: "create", Next: write("POST", func(*rand.Rand) int { return known + int(made.Add(1)) })},
		{Name: "upsert of known", Next: write("PUT", func(r *rand.Rand) int { return r.IntN(known) })},
		{Name: "upsert that changes", Next: func(r *rand.Rand, b []byte) []byte {
			p := person(r.IntN(known))
			p.age, p.city = r.IntN(1000), cities[r.IntN(len(cities))]
			return a.Request(b, "PUT", "/contacts", p.body())
		}},
		{Name: "list of 50", Next: func(_ *rand.Rand, b []byte) []byte { return a.Request(b, "GET", "/contacts?limit=50", nil) }},
		{Name: "read one", Next: func(_ *rand.Rand, b []byte) []byte {
			return a.Request(b, "GET", fmt.Sprint("/contacts/", one["id"]), nil)
		}},
	} {
		if err := s.idle(ctx); err != nil {
			return f, err
		}
		p := press.Pace{Conns: requestConns, Warm: max(o.Span/5, 200*time.Millisecond), Span: o.Span}
		var got press.Result
		took, t, err := s.during(ctx, func() (err error) {
			got, err = press.Press(ctx, a.Address, p, l, "")
			return err
		})
		if err != nil {
			return f, err
		}
		share := got.Span.Seconds() / took.Seconds() * 1e6 / float64(max(len(got.Took), 1))
		f.add(l.Name+"/s", got.Rate, 0)
		f.add(l.Name+", p95 ms", float64(got.At(.95).Microseconds())/1000, 1)
		f.add(l.Name+", CPU µs", t.program.Seconds()*share, 0)
		if t.server > 0 {
			f.add(l.Name+", PostgreSQL µs", t.server.Seconds()*share, 0)
		}
	}
	return f, nil
}

// body is what a caller says about the contact.
func (p typical) body() []byte {
	said := map[string]any{
		"email": p.email, "first_name": p.first, "last_name": p.last, "company": cmp.Or(p.company, "Independent"), "country": p.country, "city": p.city,
		"tags": p.tags, "custom_fields": map[string]any{"plan": p.plan, "age": p.age},
	}
	b, err := json.Marshal(said)
	if err != nil {
		panic(err) // texts always encode
	}
	return b
}
