package press

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Load is one kind of request, of which many are made.
type Load struct {
	Name   string
	Target float64 // requests a second that we want; 0: none is set
	// Next appends a whole request to b.
	Next func(r *rand.Rand, b []byte) []byte
}

// Result is what came of a load.
type Result struct {
	Rate float64 // answers a second
	Span time.Duration
	Took []time.Duration // by length
	Size int             // bytes of an answer's body
}

// At returns the time within which the part p of all requests was answered.
func (r Result) At(p float64) time.Duration {
	if len(r.Took) == 0 {
		return 0
	}
	return r.Took[min(int(p*float64(len(r.Took))), len(r.Took)-1)]
}

// Pace says how a load is made.
type Pace struct {
	Conns      int
	Warm, Span time.Duration // what is answered while warming up is not counted
}

// Press makes requests on as many connections as p says, each as soon as the last
// one is answered, and adds extra to the head of each.
func Press(ctx context.Context, address string, p Pace, l Load, extra string) (Result, error) {
	var (
		wg    sync.WaitGroup
		errs  = make([]error, p.Conns)
		took  = make([][]time.Duration, p.Conns)
		size  = make([]int, p.Conns)
		begin = time.Now().Add(p.Warm)
		end   = begin.Add(p.Span)
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for w := range p.Conns {
		wg.Go(func() {
			took[w], size[w], errs[w] = pressOne(ctx, address, l, extra, uint64(w), begin, end)
			if errs[w] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return Result{}, fmt.Errorf("%s: %w", l.Name, err)
	}
	r := Result{Took: slices.Concat(took...), Size: slices.Max(size)}
	slices.Sort(r.Took)
	r.Span = time.Since(begin) // until the last one was answered
	r.Rate = float64(len(r.Took)) / r.Span.Seconds()
	return r, nil
}

func pressOne(ctx context.Context, address string, l Load, extra string, seed uint64, begin, end time.Time) ([]time.Duration, int, error) {
	c, err := Dial(address)
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	random := rand.New(rand.NewPCG(seed, uint64(begin.UnixNano())))
	took := make([]time.Duration, 0, 1<<16)
	var b []byte
	size := 0
	for {
		b = l.Next(random, b[:0])
		if extra != "" {
			b = withHeader(b, extra)
		}
		start := time.Now()
		if start.After(end) || ctx.Err() != nil {
			return took, size, nil
		}
		c.Got = 0
		status, err := c.Do(b)
		if err != nil {
			return nil, 0, err
		}
		if status >= 400 {
			return nil, 0, fmt.Errorf("%d %.300s to %.300s", status, c.Body, b)
		}
		size = max(size, c.Got)
		if done := time.Now(); done.After(begin) {
			took = append(took, done.Sub(start))
		}
	}
}

// withHeader adds a header behind the request line.
func withHeader(request []byte, header string) []byte {
	i := slices.Index(request, '\n') + 1
	return slices.Insert(request, i, []byte(header)...)
}
