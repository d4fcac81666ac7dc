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

// sight is what somebody sees of an account.
type sight struct {
	who     string
	account *account
	login   login // none: they are not signed in
	routes  harness.Pages
	screens []screen
}

// shot is a picture of a page.
type shot struct {
	Who, Route, Screen string
	File               string // its name in the directory of each program
}

// screen is how pages are shown: each as high as it is, but not lower than lowest, or higher than highest.
type screen struct {
	width, lowest int
	scheme        string
	pseudo        bool // in the pseudo-locale
}

func (s screen) String() string {
	if s.pseudo {
		return fmt.Sprintf("%d pseudo-locale", s.width)
	}
	return fmt.Sprintf("%d %s", s.width, s.scheme)
}

// every is all screens, few is one of each width. Those in the pseudo-locale come last, since pages load again for it.
var (
	every = []screen{
		{390, 844, "light", false}, {390, 844, "dark", false}, {1024, 768, "light", false}, {1024, 768, "dark", false},
		{1600, 1000, "light", false}, {1600, 1000, "dark", false}, {1024, 768, "light", true},
	}
	few = []screen{{390, 844, "light", false}, {1024, 768, "dark", false}, {1600, 1000, "light", false}}
)

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

// camera is a page of the browser, where somebody is signed in, or nobody.
type camera struct {
	*chromium.Page
	who   string
	root  string // of the program
	below string // what the routes are below
	first int64  // when the clocks of pages begin: milliseconds
	dir   string
	shots []shot
}

// photograph takes pictures of the routes of a program, which serves a copy of the account in a data directory.
func (s *sight) photograph(ctx context.Context, browser *chromium.Browser, program, data, dir string) (_ []shot, err error) {
	a := s.account
	if err := os.CopyFS(data, os.DirFS(a.data)); err != nil {
		return nil, err
	}
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
	c := &camera{who: s.who, root: "http://" + a.address, first: a.made.UnixMilli(), dir: dir}
	if c.Page, err = browser.Open(ctx, fmt.Sprintf(still, c.first)); err != nil {
		return nil, err
	}
	if err := c.CountRequests(ctx); err != nil {
		return nil, err
	}
	if s.login != (login{}) {
		c.below = "/app/" + a.slug
		if err := c.signIn(ctx, s.login); err != nil {
			return nil, err
		}
	}
	for _, route := range s.routes {
		full, err := harness.Pages{route}.Of(ids)
		if err != nil {
			fmt.Fprintln(os.Stderr, "not shown:", err)
			continue
		}
		if err := c.page(ctx, route, full[0], s.screens); err != nil {
			return nil, fmt.Errorf("%s: %w", route, err)
		}
	}
	return c.shots, nil
}

func (c *camera) signIn(ctx context.Context, who login) error {
	body, err := json.Marshal(map[string]string{"email": who.Email, "password": who.Password})
	if err != nil {
		return err
	}
	if err := c.Screen(ctx, 1024, 768, "light"); err != nil {
		return err
	}
	if err := c.Visit(ctx, c.root+"/app/-/login"); err != nil {
		return err
	}
	var status int
	err = c.Eval(ctx, fmt.Sprintf(`fetch('/api/auth/login', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: %q }).then(r => r.status)`, body), &status)
	if err == nil && status != 200 {
		err = fmt.Errorf("signing in is answered with %d", status)
	}
	return err
}

// page takes all pictures of one route. It is loaded once, and once more with the longer texts of the pseudo-locale.
func (c *camera) page(ctx context.Context, route, full string, screens []screen) error {
	if err := c.load(ctx, full); err != nil {
		return err
	}
	for _, s := range screens {
		if s.pseudo {
			sign := "?"
			if strings.Contains(full, "?") {
				sign = "&"
			}
			if err := c.load(ctx, full+sign+"locale=pseudo"); err != nil {
				return err
			}
		}
		if err := c.take(ctx, route, s); err != nil {
			return err
		}
	}
	return nil
}

func (c *camera) load(ctx context.Context, full string) error {
	if err := c.Visit(ctx, c.root+c.below+full); err != nil {
		return err
	}
	if err := c.Until(ctx, harness.Settled); err != nil {
		return err
	}
	_, err := c.Requests(ctx)
	return err
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

func (c *camera) take(ctx context.Context, route string, s screen) error {
	shown := s.lowest
	for range 4 { // what comes into view may make the page higher
		if err := c.Screen(ctx, s.width, shown, s.scheme); err != nil {
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
	taken := shot{c.who, route, s.String(), c.who + "_" + name + "_" + strings.ReplaceAll(s.String(), " ", "_") + ".png"}
	c.shots = append(c.shots, taken)
	return os.WriteFile(filepath.Join(c.dir, taken.File), picture, 0o644)
}
