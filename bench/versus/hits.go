package versus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/quotedprintable"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/e2e/sink"
)

const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"

// addresses is how many addresses opens and clicks come from.
const addresses = 50_000

var (
	pixel = regexp.MustCompile(`/_q/o/[A-Za-z0-9_.-]+\.gif`)
	link  = regexp.MustCompile(`/_q/c/[A-Za-z0-9_.-]+`)
)

// hits measures how many opens and clicks a second are answered, nine opens to a
// click, and what they cost until all that follows from them is done. The links are
// those of mails that were sent.
func hits(ctx context.Context, o options, s *instance) (f figures, err error) {
	opens, clicks, err := s.links(ctx, o.Messages)
	if err != nil {
		return f, err
	}
	if err := s.idle(ctx); err != nil { // which takes longer than a hit may come too soon after its mail
		return f, err
	}
	var next atomic.Int64
	flood := press.Load{Name: "opens and clicks", Next: func(_ *rand.Rand, b []byte) []byte {
		i := int(next.Add(1)) - 1
		path, round, a := opens[i%len(opens)], i/len(opens), i%addresses
		if round%10 == 9 {
			path = clicks[i%len(clicks)]
		}
		// The agent differs from round to round: the same request within a second would be the same hit.
		return fmt.Appendf(b, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s/%d\r\nX-Forwarded-For: 198.%d.%d.%d\r\n\r\n",
			path, s.account().Address, browser, round, 18+a>>16, a>>8&255, a&255)
	}}
	var got press.Result
	var answered time.Duration
	_, t, err := s.during(ctx, func() (err error) {
		began := time.Now()
		if got, err = press.Press(ctx, s.account().Address, press.Pace{Conns: o.Connections, Span: o.Span}, flood, ""); err != nil {
			return err
		}
		answered = time.Since(began)
		select { // hits are left alone for a while before they are judged
		case <-time.After(25 * time.Second):
		case <-ctx.Done():
		}
		return s.idle(ctx)
	})
	if err != nil {
		return f, err
	}
	report, err := s.Keyed().Must(ctx, "GET", "/broadcasts/"+s.last+"/report", nil)
	if err != nil {
		return f, err
	}
	opened, _ := report["apparent_opened"].(float64)
	f.add("requests/s", float64(len(got.Took))/answered.Seconds(), 0)
	f.add("p50 ms", float64(got.At(.5).Microseconds())/1000, 1)
	f.add("p99 ms", float64(got.At(.99).Microseconds())/1000, 1)
	f.add("mails whose opens are counted, of all", opened/float64(o.Messages), 2)
	f.spent("", t, len(got.Took))
	return f, f.peak(s)
}

// links sends mail to n contacts and returns the paths of its pixels and links.
func (s *instance) links(ctx context.Context, n int) (opens, clicks []string, err error) {
	ready, _, err := s.audience(ctx, n)
	if err != nil {
		return nil, nil, err
	}
	into, err := sink.Listen(sink.Options{Keep: true})
	if err != nil {
		return nil, nil, err
	}
	defer into.Close()
	lane, err := ready.Lane(ctx, "Kept", into.Addr(), 16, false)
	if err != nil {
		return nil, nil, err
	}
	if _, _, err := s.timed(ctx, ready, lane, n); err != nil {
		return nil, nil, err
	}
	for _, m := range into.Messages() {
		_, body, _ := bytes.Cut(m.Raw, []byte("\r\n\r\n"))
		text, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
		if err != nil {
			return nil, nil, err
		}
		open, click := pixel.Find(text), link.Find(text)
		if open == nil || click == nil {
			return nil, nil, errors.New("a mail has no pixel or no link")
		}
		opens, clicks = append(opens, string(open)), append(clicks, string(click))
	}
	return opens, clicks, nil
}
