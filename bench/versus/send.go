package versus

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/packetboat/packetboat/bench/bare"
	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/e2e/sink"
)

// limited is how many messages are enough to know how fast a client is.
const limited = 100_000

// send measures one send to n recipients, and before and after it a plain client that
// sends the same bytes to the same sink.
func send(ctx context.Context, o options, s *instance, n int, sign bool) (f figures, err error) {
	ready, sample, err := s.audience(ctx, n)
	if err != nil {
		return f, err
	}
	into, err := o.StartSink(ctx)
	if err != nil {
		return f, err
	}
	defer into.Stop()
	var signer func([]byte) ([]byte, error)
	if sign {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return f, err
		}
		if signer, err = bare.Signer(key); err != nil {
			return f, err
		}
	}
	plain, err := bare.Plain(into.Address, o.Connections, min(n, limited), sample, signer)
	if err != nil {
		return f, err
	}
	lane, err := ready.Lane(ctx, "Bench", into.Address, o.Connections, sign)
	if err != nil {
		return f, err
	}
	took, t, err := s.timed(ctx, ready, lane, n)
	if err != nil {
		return f, err
	}
	_, rest, err := s.during(ctx, func() error { return s.idle(ctx) })
	if err != nil {
		return f, err
	}
	again, err := bare.Plain(into.Address, o.Connections, min(n, limited), sample, signer)
	if err != nil {
		return f, err
	}
	source, err := bare.Source(ctx, o.Connections, min(n, limited), len(sample))
	if err != nil {
		return f, err
	}
	rate, limit := float64(n)/took.Seconds(), (plain+again)/2
	f.add("msgs/s", rate, 0)
	f.add("a plain client's", limit, 0)
	f.add("ratio", rate/limit, 2)
	if !sign {
		f.add("smtp-source's", source, 0)
		f.add("ratio to smtp-source", rate/source, 2)
	}
	f.spent("", t, n)
	f.spent(", until idle", spent{t.program + rest.program, t.server + rest.server}, n)
	return f, f.peak(s)
}

// workers sends with one worker process, with two, with two, and with one.
func workers(ctx context.Context, o options, s *instance) (f figures, err error) {
	ready, _, err := s.audience(ctx, o.N)
	if err != nil {
		return f, err
	}
	into, err := o.StartSink(ctx)
	if err != nil {
		return f, err
	}
	defer into.Stop()
	for _, sign := range []bool{false, true} {
		name, n := "", o.N
		if sign {
			name = ", signed"
		}
		lane, err := ready.Lane(ctx, "Bench"+name, into.Address, o.Connections, sign)
		if err != nil {
			return f, err
		}
		var rates [3]float64
		for _, count := range []int{1, 2, 2, 1} {
			if err := s.staff(ctx, count); err != nil {
				return f, err
			}
			took, t, err := s.timed(ctx, ready, lane, n)
			if err != nil {
				return f, err
			}
			rates[count] += float64(n) / took.Seconds() / 2
			fmt.Fprintf(os.Stderr, "%d workers%s: %.0f msgs/s, CPU s/1000 %.3f and %.3f\n", count, name, float64(n)/took.Seconds(),
				t.program.Seconds()*1000/float64(n), t.server.Seconds()*1000/float64(n))
		}
		f.add("one worker, msgs/s"+name, rates[1], 0)
		f.add("two workers, msgs/s"+name, rates[2], 0)
		f.add("two over one"+name, rates[2]/rates[1], 2)
	}
	return f, nil
}

// staff sees to it that so many processes send: the program, and workers beside it.
func (s *instance) staff(ctx context.Context, count int) error {
	for len(s.beside) > count-1 {
		last := len(s.beside) - 1
		if err := s.beside[last].Stop(); err != nil {
			return err
		}
		s.beside = s.beside[:last]
	}
	for len(s.beside) < count-1 {
		dir, err := os.MkdirTemp(s.Dir, "worker")
		if err != nil {
			return err
		}
		w := s.NewNode(dir, "--roles", "worker")
		if err := w.Start(ctx); err != nil {
			return err
		}
		s.beside = append(s.beside, w)
	}
	return s.idle(ctx)
}

// prepare measures how long it takes until an audience is in the outbox, and how
// long requests that read take meanwhile.
func prepare(ctx context.Context, o options, s *instance) (f figures, err error) {
	ready, _, err := s.audience(ctx, o.Audience)
	if err != nil {
		return f, err
	}
	// There is no listener: only the preparation is measured.
	lane, err := ready.Lane(ctx, "Nowhere", "127.0.0.1:9", 1, false)
	if err != nil {
		return f, err
	}
	id, err := ready.Broadcast(ctx, lane, site.Mail())
	if err != nil {
		return f, err
	}
	var reads []time.Duration
	took, t, err := s.during(ctx, func() error {
		if err := ready.Schedule(ctx, id); err != nil {
			return err
		}
		for phase := ""; phase == "" || phase == "preparing"; time.Sleep(10 * time.Millisecond) {
			began := time.Now()
			b, err := ready.Key.Must(ctx, "GET", "/broadcasts/"+id, nil)
			if err != nil {
				return err
			}
			view, _ := b["view_model"].(map[string]any)
			progress, _ := view["delivery_progress"].(map[string]any)
			phase, _ = progress["phase"].(string)
			between := time.Now()
			if _, err := ready.Key.Must(ctx, "GET", "/contacts?limit=50", nil); err != nil {
				return err
			}
			reads = append(reads, between.Sub(began), time.Since(between))
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	slices.Sort(reads)
	f.add("s", took.Seconds(), 1)
	f.add("recipients/s", float64(o.Audience)/took.Seconds(), 0)
	f.add("reads meanwhile, p95 ms", float64(reads[len(reads)*95/100].Microseconds())/1000, 1)
	f.spent("", t, o.Audience)
	return f, f.peak(s)
}

// audience makes an account that can send, with n contacts in its list, and returns
// a mail as one of them gets it.
func (s *instance) audience(ctx context.Context, n int) (*harness.Ready, []byte, error) {
	ready, err := s.Ready(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := s.declare(ctx); err != nil {
		return nil, nil, err
	}
	if err := s.people(ctx, ready.List, n); err != nil {
		return nil, nil, err
	}
	// A new process, so that its peak of memory is not the import's.
	if err := errors.Join(s.idle(ctx), s.Stop()); err != nil {
		return nil, nil, err
	}
	if err := s.Start(ctx); err != nil {
		return nil, nil, err
	}
	sample, err := s.sample(ctx, ready)
	return ready, sample, errors.Join(err, s.idle(ctx))
}

// sample sends the mail to one contact and returns its bytes.
func (s *instance) sample(ctx context.Context, ready *harness.Ready) ([]byte, error) {
	into, err := sink.Listen(sink.Options{Keep: true})
	if err != nil {
		return nil, err
	}
	defer into.Close()
	list, err := ready.Key.Must(ctx, "POST", "/segments", map[string]any{"name": "One", "type": "static"})
	if err != nil {
		return nil, err
	}
	one := *ready
	one.List, _ = list["segment_key"].(string)
	if _, err := ready.Key.Must(ctx, "POST", "/contacts", map[string]any{"email": "one@example.net", "first_name": "Ada", "city": "Bergen"}); err != nil {
		return nil, err
	}
	if _, err := ready.Key.Must(ctx, "POST", "/segments/"+one.List+"/members", map[string]any{"emails": []string{"one@example.net"}}); err != nil {
		return nil, err
	}
	lane, err := one.Lane(ctx, "Sample", into.Addr(), 1, false)
	if err != nil {
		return nil, err
	}
	if _, _, err := s.timed(ctx, &one, lane, 1); err != nil {
		return nil, err
	}
	return into.Messages()[0].Raw, nil
}

// timed sends the mail to the list, and returns how long it took until the broadcast
// was completed, and what was spent.
func (s *instance) timed(ctx context.Context, ready *harness.Ready, lane string, n int) (time.Duration, spent, error) {
	id, err := ready.Broadcast(ctx, lane, site.Mail())
	if err != nil {
		return 0, spent{}, err
	}
	s.last = id
	return s.during(ctx, func() error {
		if err := ready.Schedule(ctx, id); err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(ctx, 30*time.Minute)
		defer cancel()
		b, err := ready.Await(waiting, id, "completed")
		if err == nil && b["sent"] != float64(n) {
			err = fmt.Errorf("%v of %d were sent", b["sent"], n)
		}
		return err
	})
}
