package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/packetboat/packetboat/e2e/chromium"
	"github.com/packetboat/packetboat/e2e/harness"
)

// shot is a picture of a page.
type shot struct {
	Route, Screen string
	File          string // its name in the directory of each program
}

// Pages are shown at these widths, each as high as it is, but not lower or higher than these.
var widths = []struct{ width, lowest int }{{390, 844}, {1024, 768}, {1600, 1000}}

const highest = 6000

// still is evaluated in pages before their scripts. It lets their clock begin at a moment, and stops what moves.
const still = `(() => {
	const Real = Date, begin = Real.now(), first = %d;
	const now = () => first + Real.now() - begin;
	window.Date = class extends Real {
		constructor(...parts) { parts.length ? super(...parts) : super(now()); }
		static now() { return now(); }
	};
	document.addEventListener('DOMContentLoaded', () => {
		const sheet = new CSSStyleSheet();
		sheet.replaceSync('* { caret-color: transparent !important; transition: none !important; animation: none !important; }');
		document.adoptedStyleSheets.push(sheet);
	});
})()`

// mask hides times after the first moment: the server computed what they belong to just now.
const mask = `document.querySelectorAll('time').forEach(t => { if (new Date(t.dateTime) > %d && t.firstChild) t.firstChild.data = 'now'; })`

// height is that of the page, after what is shown for the first time was drawn.
const height = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(document.documentElement.scrollHeight), 100))))`

// camera is a page of the browser, signed in to an account.
type camera struct {
	*chromium.Page
	root  string
	first int64 // when the clocks of pages begin: milliseconds
	dir   string
	shots []shot
}

// photograph takes pictures of the routes of a program, which serves a data directory.
func (a *account) photograph(ctx context.Context, browser *chromium.Browser, program, data string, routes []string, dir string) (_ []shot, err error) {
	stop, err := a.start(ctx, program, data, "serve", "--roles=api,app")
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := stop(); err == nil {
			err = e
		}
	}()
	ids, err := a.ids(ctx)
	if err != nil {
		return nil, err
	}
	made, err := os.Stat(filepath.Join(a.data, "demo.json"))
	if err != nil {
		return nil, err
	}
	c := &camera{root: "http://" + a.address, first: made.ModTime().UnixMilli(), dir: dir}
	if c.Page, err = browser.Open(ctx, fmt.Sprintf(still, c.first)); err != nil {
		return nil, err
	}
	if err := c.signIn(ctx, a); err != nil {
		return nil, err
	}
	for _, route := range routes {
		full, err := harness.Pages{route}.Of(ids)
		if err != nil {
			fmt.Fprintln(os.Stderr, "not shown:", err)
			continue
		}
		if err := c.page(ctx, route, full[0]); err != nil {
			return nil, fmt.Errorf("%s: %w", route, err)
		}
	}
	return c.shots, nil
}

func (c *camera) signIn(ctx context.Context, a *account) error {
	login, err := json.Marshal(map[string]string{"email": a.Email, "password": a.Password})
	if err != nil {
		return err
	}
	if err := c.CountRequests(ctx); err != nil {
		return err
	}
	if err := c.Screen(ctx, 1024, 768, "light"); err != nil {
		return err
	}
	if err := c.Visit(ctx, c.root+"/app/-/login"); err != nil {
		return err
	}
	var status int
	err = c.Eval(ctx, fmt.Sprintf(`fetch('/api/auth/login', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: %q }).then(r => r.status)`, login), &status)
	if err == nil && status != 200 {
		err = fmt.Errorf("signing in is answered with %d", status)
	}
	return err
}

// page takes all pictures of one route. It is loaded once, and once more with the longer texts of the pseudo-locale.
func (c *camera) page(ctx context.Context, route, full string) error {
	if err := c.load(ctx, full); err != nil {
		return err
	}
	for _, w := range widths {
		for _, scheme := range []string{"light", "dark"} {
			if err := c.take(ctx, route, fmt.Sprintf("%d %s", w.width, scheme), w.width, w.lowest, scheme); err != nil {
				return err
			}
		}
	}
	sign := "?"
	if strings.Contains(full, "?") {
		sign = "&"
	}
	if err := c.load(ctx, full+sign+"locale=pseudo"); err != nil {
		return err
	}
	return c.take(ctx, route, "1024 pseudo-locale", 1024, 768, "light")
}

func (c *camera) load(ctx context.Context, full string) error {
	if err := c.Visit(ctx, c.root+"/app/demo"+full); err != nil {
		return err
	}
	if err := c.Until(ctx, harness.Settled); err != nil {
		return err
	}
	_, err := c.Requests(ctx)
	return err
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

func (c *camera) take(ctx context.Context, route, screen string, width, lowest int, scheme string) error {
	shown := lowest
	for range 4 { // what comes into view may make the page higher
		if err := c.Screen(ctx, width, shown, scheme); err != nil {
			return err
		}
		if err := c.Until(ctx, harness.Settled); err != nil {
			return err
		}
		var now int
		if err := c.Eval(ctx, height, &now); err != nil {
			return err
		}
		if now <= shown || shown == highest {
			break
		}
		shown = min(now, highest)
	}
	if err := c.Eval(ctx, fmt.Sprintf(mask, c.first), nil); err != nil {
		return err
	}
	picture, err := c.Screenshot(ctx)
	if err != nil {
		return err
	}
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(strings.ReplaceAll(route, harness.Nobody, "nobody")), "-"), "-")
	if name == "" {
		name = "home"
	}
	s := shot{route, screen, name + "_" + strings.ReplaceAll(screen, " ", "_") + ".png"}
	c.shots = append(c.shots, s)
	return os.WriteFile(filepath.Join(c.dir, s.File), picture, 0o644)
}
