package chromium

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// exchange is a request of a page for data.
type exchange struct {
	name  string // METHOD path, with a hash of the body
	ended bool
	open  bool // a stream of events, which does not end
}

// CountRequests makes a page record the requests that it sends for data: those of scripts, not those for
// documents, scripts, styles and pictures. Visit begins a new record.
func (p *Page) CountRequests(ctx context.Context) error {
	if err := (proto.NetworkEnable{}).Call(p.in(ctx)); err != nil {
		return err
	}
	go p.rod.EachEvent(p.sent, func(e *proto.NetworkLoadingFinished) { p.ended(e.RequestID) }, func(e *proto.NetworkLoadingFailed) { p.ended(e.RequestID) })()
	return nil
}

// Leave closes the document, and deletes what pages of an origin have kept in databases of the browser.
func (p *Page) Leave(ctx context.Context, origin string) error {
	if _, err := (proto.PageNavigate{URL: "about:blank"}).Call(p.in(ctx)); err != nil {
		return err
	}
	return proto.StorageClearDataForOrigin{Origin: origin, StorageTypes: "indexeddb"}.Call(p.in(ctx))
}

// Requests waits until no request is under way, and returns all that the page sent since it was visited, as
// "METHOD path", followed by a hash of the body if there is one, in their order. Streams of events are left out: they do not end, and nothing waits for them.
func (p *Page) Requests(ctx context.Context) ([]string, error) {
	for quiet := 0; quiet < 5; {
		p.mu.Lock()
		waits := slices.ContainsFunc(p.exchanges(), func(x *exchange) bool { return !x.ended && !x.open })
		p.mu.Unlock()
		if quiet++; waits {
			quiet = 0
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("requests are under way: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for _, x := range p.exchanges() {
		if !x.open {
			names = append(names, x.name)
		}
	}
	return names, nil
}

// exchanges returns the requests in their order. The lock is held.
func (p *Page) exchanges() (list []*exchange) {
	for _, id := range p.order {
		list = append(list, p.requests[id])
	}
	return list
}

// forget begins a new record of requests.
func (p *Page) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.order = map[proto.NetworkRequestID]*exchange{}, nil
}

// sent records a request for data.
func (p *Page) sent(e *proto.NetworkRequestWillBeSent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	data := []proto.NetworkResourceType{proto.NetworkResourceTypeFetch, proto.NetworkResourceTypeXHR, proto.NetworkResourceTypeEventSource}
	if !slices.Contains(data, e.Type) || p.requests == nil || p.requests[e.RequestID] != nil {
		return
	}
	name := e.Request.Method + " " + e.Request.URL
	if u, err := url.Parse(e.Request.URL); err == nil {
		name = strings.TrimSuffix(e.Request.Method+" "+u.Path+"?"+u.RawQuery, "?")
	}
	if e.Request.PostData != "" {
		name += fmt.Sprintf(" %.4x", sha256.Sum256([]byte(e.Request.PostData)))
	}
	p.requests[e.RequestID] = &exchange{name: name, open: e.Type == proto.NetworkResourceTypeEventSource || strings.Contains(name, "/stream")}
	p.order = append(p.order, e.RequestID)
}

// ended records that a request has its answer, or failed.
func (p *Page) ended(id proto.NetworkRequestID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.requests[id]; x != nil {
		x.ended = true
	}
}
