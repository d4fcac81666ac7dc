package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// load is one kind of request, of which many are made.
type load struct {
	name   string
	target float64 // requests a second that we want; 0: none is set
	next   func(r *rand.Rand, b []byte) []byte
}

// result is what came of a load.
type result struct {
	rate float64 // answers a second
	span time.Duration
	took []time.Duration
	size int // bytes of an answer's body
}

// at returns the time within which the part p of all requests was answered.
func (r result) at(p float64) time.Duration {
	if len(r.took) == 0 {
		return 0
	}
	return r.took[min(int(p*float64(len(r.took))), len(r.took)-1)]
}

// pace says how a load is made.
type pace struct {
	conns      int
	warm, span time.Duration // what is answered while warming up is not counted
}

// press makes requests on as many connections as p says, each as soon as the last
// one is answered, and adds extra to the head of each.
func press(ctx context.Context, address string, p pace, l load, extra string) (result, error) {
	var (
		wg    sync.WaitGroup
		errs  = make([]error, p.conns)
		took  = make([][]time.Duration, p.conns)
		size  = make([]int, p.conns)
		begin = time.Now().Add(p.warm)
		end   = begin.Add(p.span)
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for w := range p.conns {
		wg.Go(func() {
			took[w], size[w], errs[w] = pressOne(ctx, address, l, extra, uint64(w), begin, end)
			if errs[w] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return result{}, fmt.Errorf("%s: %w", l.name, err)
	}
	r := result{took: slices.Concat(took...), size: slices.Max(size)}
	slices.Sort(r.took)
	r.span = time.Since(begin) // until the last one was answered
	r.rate = float64(len(r.took)) / r.span.Seconds()
	return r, nil
}

func pressOne(ctx context.Context, address string, l load, extra string, seed uint64, begin, end time.Time) ([]time.Duration, int, error) {
	c, err := dial(address)
	if err != nil {
		return nil, 0, err
	}
	defer c.net.Close()
	random := rand.New(rand.NewPCG(seed, uint64(begin.UnixNano())))
	took := make([]time.Duration, 0, 1<<16)
	var b []byte
	size := 0
	for {
		b = l.next(random, b[:0])
		if extra != "" {
			b = withHeader(b, extra)
		}
		start := time.Now()
		if start.After(end) || ctx.Err() != nil {
			return took, size, nil
		}
		c.got = 0
		status, err := c.do(b)
		if err != nil {
			return nil, 0, err
		}
		if status >= 300 {
			return nil, 0, fmt.Errorf("%d %.300s to %.300s", status, c.body, b)
		}
		size = max(size, c.got)
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
