package application

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/chromium"
	"github.com/packetboat/packetboat/e2e/harness"
)

// bench is a running program, and a browser to show its application in.
type bench struct {
	*Command
	site    *site.Site
	browser *chromium.Browser
	bare    string // address of the bare page
}

// watch is evaluated in each document before its scripts. settled is when the page first had its heading and loaded
// nothing: milliseconds since its navigation. painted(t) is how long after t the frame is drawn that shows what the
// page is now: the message is handled after the frame's own work.
const watch = `(() => {
	addEventListener('DOMContentLoaded', () => {
		const look = () => { if (` + harness.Settled + `) window.settled ??= performance.now(); else requestAnimationFrame(look); };
		look();
	});
	const after = new MessageChannel(), waiting = [];
	after.port1.onmessage = () => waiting.shift()();
	window.painted = since => new Promise(done => requestAnimationFrame(() => {
		waiting.push(() => done(performance.now() - since));
		after.port2.postMessage(0);
	}));
	window.shifts = [];
	new PerformanceObserver(list => { for (const e of list.getEntries()) if (!e.hadRecentInput) window.shifts.push(e.value.toFixed(4) + ' ' + location.pathname + ' ' + e.sources.map(s => (s.node?.outerHTML ?? s.node?.textContent ?? '').slice(0, 80)).join(', ')); }).observe({ type: 'layout-shift', buffered: true });
})()`

// open opens a tab in a new profile. With an account it is signed in.
func (b *bench) open(ctx context.Context, signedIn bool) (*chromium.Page, error) {
	p, err := b.browser.Open(ctx, watch)
	if err != nil {
		return nil, err
	}
	if err := p.Screen(ctx, 1280, 900, "light"); err != nil {
		return nil, err
	}
	if err := p.CountRequests(ctx); err != nil {
		return nil, err
	}
	if signedIn {
		login, err := json.Marshal(map[string]string{"email": harness.Owner, "password": harness.Password})
		if err != nil {
			return nil, err
		}
		if err := p.Visit(ctx, b.site.BaseURL+"/healthz"); err != nil {
			return nil, err
		}
		var status int
		if err := p.Eval(ctx, fmt.Sprintf(`fetch('/api/auth/login', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: %q }).then(r => r.status)`, login), &status); err != nil {
			return nil, err
		}
		if status != http.StatusOK {
			return nil, fmt.Errorf("signing in is answered with %d", status)
		}
	}
	return p, nil
}

// root is the address of the workspace's pages.
func (b *bench) root() string { return b.site.BaseURL + "/app/" + harness.Tenant }

// show opens a page and waits until nothing of it loads.
func (b *bench) show(ctx context.Context, p *chromium.Page, address string) error {
	if err := p.Visit(ctx, address); err != nil {
		return err
	}
	if err := p.Until(ctx, harness.Settled); err != nil {
		return err
	}
	_, err := p.Requests(ctx)
	return err
}

// pause lets time pass between two acts, as between those of a person.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
