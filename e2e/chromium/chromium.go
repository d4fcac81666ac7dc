// Package chromium drives a headless Chromium with rod, for tests of scripts in real pages. It adds what
// the tests of this repository share: a profile for each page, the problems of its console, the requests
// that it sends.
package chromium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/launcher/flags"
	"github.com/go-rod/rod/lib/proto"
)

// agent is the user agent of pages. Chromium's own one names it headless, which the program takes
// for a machine.
const agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36"

// Find returns the path of a Chromium or Chrome. The one without windows starts with a third of the work.
func Find() (string, bool) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// Browser is a running Chromium.
type Browser struct {
	launcher *launcher.Launcher
	dir      string // of its profile
	rod      *rod.Browser
}

// startWithin is how long Chromium may take to start on a busy machine.
const startWithin = 2 * time.Minute

// Start starts the Chromium at path with a fresh profile, and with more flags than the usual ones, such as
// "--mute-audio". Stop ends it. Frames of other origins have processes of their own, as in a browser with
// windows, so that what a mail in a frame is refused is not written to the console of its page.
func Start(ctx context.Context, path string, more ...string) (*Browser, error) {
	dir, err := os.MkdirTemp("", "packetboat-browser")
	if err != nil {
		return nil, err
	}
	l := launcher.New()
	l.Flags = map[flags.Flag][]string{ // rod's own make the page show that a program drives it
		flags.Bin: {path}, flags.UserDataDir: {dir}, flags.RemoteDebuggingPort: {"0"}, flags.Headless: {"new"}, flags.NoSandbox: nil,
		"accept-lang": {"en-US", "en"}, "user-agent": {agent}, "site-per-process": nil, "enable-features": {"IsolateSandboxedIframes"},
		"disable-background-networking": nil, "disable-component-update": nil, "disable-dev-shm-usage": nil, "disable-gpu": nil,
		"disable-quic": nil, "disable-sync": nil, "no-first-run": nil,
		flags.Arguments: append(more, "about:blank"),
	}
	within, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	b := &Browser{launcher: l, dir: dir}
	url, err := l.Context(within).Launch()
	if err == nil {
		b.rod = rod.New().ControlURL(url).NoDefaultDevice()
		err = b.rod.Connect()
	}
	if err != nil {
		return nil, errors.Join(err, b.Stop())
	}
	return b, nil
}

// Stop ends the browser and removes its profile.
func (b *Browser) Stop() error {
	if pid := b.launcher.PID(); pid != 0 {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // the program of a package may be a script that starts it
		b.launcher.Cleanup()
	}
	// Its helper processes end a little later, and may write meanwhile.
	var err error
	for range 100 {
		if err = os.RemoveAll(b.dir); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// Page is a tab. Pages of one browser share cookies and storage if one was opened from the other.
type Page struct {
	browser *Browser
	profile *rod.Browser
	rod     *rod.Page
	script  string

	mu       sync.Mutex
	problems []string
	requests map[proto.NetworkRequestID]*exchange
	order    []proto.NetworkRequestID
}

// Open opens an empty tab in a profile of its own. script is evaluated in each document before
// the document's scripts; it may be empty.
func (b *Browser) Open(ctx context.Context, script string) (*Page, error) {
	profile, err := b.rod.Context(ctx).Incognito()
	if err != nil {
		return nil, err
	}
	return b.tab(ctx, profile.Context(context.Background()), script)
}

// tab opens an empty tab in a profile.
func (b *Browser) tab(ctx context.Context, profile *rod.Browser, script string) (*Page, error) {
	tab, err := profile.Page(proto.TargetCreateTarget{})
	if err != nil {
		return nil, err
	}
	p := &Page{browser: b, profile: profile, rod: tab, script: script}
	go tab.EachEvent(p.thrown, p.logged)()
	if script != "" {
		if _, err := (proto.PageAddScriptToEvaluateOnNewDocument{Source: script}).Call(p.in(ctx)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// in returns the tab, whose commands end with ctx.
func (p *Page) in(ctx context.Context) *rod.Page { return p.rod.Context(ctx) }

// Close closes the tab.
func (p *Page) Close(ctx context.Context) error {
	_, err := proto.TargetCloseTarget{TargetID: p.rod.TargetID}.Call(p.profile.Context(ctx))
	return err
}

// Tab opens another tab in the profile of p.
func (p *Page) Tab(ctx context.Context) (*Page, error) {
	return p.browser.tab(ctx, p.profile, p.script)
}

// With opens an empty tab in another profile, whose documents evaluate a script before theirs.
func (p *Page) With(ctx context.Context, script string) (*Page, error) {
	return p.browser.Open(ctx, script)
}

// thrown collects an exception that no script caught.
func (p *Page) thrown(e *proto.RuntimeExceptionThrown) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, exception(e.ExceptionDetails))
}

// logged collects an error of the browser, such as a violation of a content security policy.
func (p *Page) logged(e *proto.LogEntryAdded) {
	if e.Entry.Level != proto.LogLogEntryLevelError || strings.HasSuffix(e.Entry.URL, "/favicon.ico") {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, e.Entry.Text+" "+e.Entry.URL)
}

// exception describes an exception with its stack.
func exception(e *proto.RuntimeExceptionDetails) string {
	text := fmt.Sprintf("%s %s:%d:%d", e.Text, e.URL, e.LineNumber+1, e.ColumnNumber+1)
	if e.Exception != nil {
		text += " " + e.Exception.Description
	}
	return text
}

// Problems returns the errors of the page's console.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}

// Visit opens an address and waits until the document and its scripts are loaded.
func (p *Page) Visit(ctx context.Context, url string) error {
	p.forget()
	begun, err := proto.PageNavigate{URL: url}.Call(p.in(ctx))
	if err != nil {
		return err
	}
	if begun.ErrorText != "" {
		return fmt.Errorf("visit %s: %s", url, begun.ErrorText)
	}
	return p.Until(ctx, `document.readyState === 'complete' && location.href !== 'about:blank'`)
}

// Eval evaluates an expression, waits if it is a promise, and decodes its value into v, which may
// be nil.
func (p *Page) Eval(ctx context.Context, expression string, v any) error {
	out, err := proto.RuntimeEvaluate{Expression: expression, AwaitPromise: true, ReturnByValue: true}.Call(p.in(ctx))
	if err != nil {
		return err
	}
	if out.ExceptionDetails != nil {
		return fmt.Errorf("evaluate %s: %s", expression, exception(out.ExceptionDetails))
	}
	if v == nil || out.Result.Value.Raw() == nil { // Nil would decode it, which can be done once
		return nil
	}
	return out.Result.Value.Unmarshal(v)
}

// untilWithin is how long one condition may take on a busy machine.
const untilWithin = 4 * time.Minute

// Until waits until an expression is true. The error says what the page shows instead.
func (p *Page) Until(ctx context.Context, expression string) error {
	within, cancel := context.WithTimeout(ctx, untilWithin)
	defer cancel()
	for {
		var is bool
		err := p.Eval(within, "!!("+expression+")", &is)
		if err == nil && is {
			return nil
		}
		select {
		case <-within.Done():
			return errors.Join(fmt.Errorf("never true: %s: %w\n%s", expression, within.Err(), p.describe()), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// describe returns the address and the text of the page.
func (p *Page) describe() string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var text string
	if err := p.Eval(ctx, `location.pathname + location.search + ':\n' + document.body.innerText.replace(/\s+/g, ' ').slice(0, 3000)`, &text); err != nil {
		return "the page does not answer: " + err.Error()
	}
	return text
}
