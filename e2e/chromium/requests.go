package chromium

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
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
	return p.call(ctx, "Network.enable", nil, nil)
}

// Leave closes the document, and deletes what pages of an origin have kept in databases of the browser.
func (p *Page) Leave(ctx context.Context, origin string) error {
	if err := p.call(ctx, "Page.navigate", map[string]any{"url": "about:blank"}, nil); err != nil {
		return err
	}
	return p.call(ctx, "Storage.clearDataForOrigin", map[string]any{"origin": origin, "storageTypes": "indexeddb"}, nil)
}

// Requests waits until no request is under way, and returns all that the page sent since it was visited, as
// "METHOD path", followed by a hash of the body if there is one, in their order. Streams of events are left out: they do not end, and nothing waits for them.
func (p *Page) Requests(ctx context.Context) ([]string, error) {
	for quiet := 0; quiet < 5; {
		p.browser.mu.Lock()
		waits := slices.ContainsFunc(p.exchanges(), func(x *exchange) bool { return !x.ended && !x.open })
		p.browser.mu.Unlock()
		if quiet++; waits {
			quiet = 0
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("requests are under way: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	var names []string
	for _, x := range p.exchanges() {
		if !x.open {
			names = append(names, x.name)
		}
	}
	return names, nil
}

// exchanges returns the requests in their order. Browser.mu is held.
func (p *Page) exchanges() (list []*exchange) {
	for _, id := range p.order {
		list = append(list, p.requests[id])
	}
	return list
}

// forget begins a new record of requests.
func (p *Page) forget() {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	p.requests, p.order = map[string]*exchange{}, nil
}

// observeRequest records the requests for data. Browser.mu is held.
func (p *Page) observeRequest(e event) {
	var r struct {
		RequestID string `json:"requestId"`
		Type      string
		Request   struct{ Method, URL, PostData string }
	}
	if json.Unmarshal(e.Params, &r) != nil {
		return
	}
	if e.Method != "Network.requestWillBeSent" {
		if x := p.requests[r.RequestID]; x != nil {
			x.ended = true
		}
		return
	}
	if !slices.Contains([]string{"Fetch", "XHR", "EventSource"}, r.Type) || p.requests == nil || p.requests[r.RequestID] != nil {
		return
	}
	name := r.Request.Method + " " + r.Request.URL
	if u, err := url.Parse(r.Request.URL); err == nil {
		name = strings.TrimSuffix(r.Request.Method+" "+u.Path+"?"+u.RawQuery, "?")
	}
	if r.Request.PostData != "" {
		name += fmt.Sprintf(" %.4x", sha256.Sum256([]byte(r.Request.PostData)))
	}
	p.requests[r.RequestID] = &exchange{name: name, open: r.Type == "EventSource" || strings.Contains(name, "/stream")}
	p.order = append(p.order, r.RequestID)
}
