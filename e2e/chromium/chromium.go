// Package chromium drives a headless Chromium over the DevTools protocol, for tests of scripts in
// real pages (https://chromedevtools.github.io/devtools-protocol/).
package chromium

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/websocket"
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
	cmd  *exec.Cmd
	dir  string
	conn *websocket.Conn

	mu      sync.Mutex
	next    int
	waiting map[int]chan message
	pages   map[string]*Page // by session
	ended   error            // set when the connection has ended
}

// message is a command, its answer, or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// event is a message of Chromium's own.
type event struct {
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// startWithin is how long Chromium may take to start on a busy machine.
const startWithin = 2 * time.Minute

// Start starts the Chromium at path with a fresh profile, and with more flags than the usual ones. Stop
// ends it. Frames of other origins have processes of their own, as in a browser with windows, so that what a mail
// in a frame is refused is not written to the console of its page.
func Start(ctx context.Context, path string, flags ...string) (*Browser, error) {
	dir, err := os.MkdirTemp("", "packetboat-browser")
	if err != nil {
		return nil, err
	}
	args := append([]string{"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
		"--disable-background-networking", "--site-per-process", "--enable-features=IsolateSandboxedIframes", "--disable-component-update", "--disable-sync",
		"--accept-lang=en-US,en", "--user-data-dir=" + dir,
		"--user-agent=" + agent, "--remote-debugging-port=0", "--remote-allow-origins=*"}, flags...)
	cmd := exec.Command(path, append(args, "about:blank")...)
	b := &Browser{cmd: cmd, dir: dir, waiting: map[int]chan message{}, pages: map[string]*Page{}}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the program of a package may be a script that starts it
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	address := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if _, url, found := strings.Cut(lines.Text(), "DevTools listening on "); found {
				address <- url
			}
		}
		_, _ = io.Copy(io.Discard, stderr)
	}()
	select {
	case url := <-address:
		b.conn, err = websocket.Dial(url, "", "http://127.0.0.1/")
	case <-time.After(startWithin):
		err = errors.New("chromium did not start")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(err, b.Stop())
	}
	b.conn.MaxPayloadBytes = 64 << 20
	go b.read()
	return b, nil
}

// Stop ends the browser and removes its profile.
func (b *Browser) Stop() error {
	if b.conn != nil {
		_ = b.conn.Close()
	}
	if b.cmd.Process != nil {
		_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
		_ = b.cmd.Wait()
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

// read dispatches messages until the connection ends.
func (b *Browser) read() {
	for {
		var text []byte
		if err := websocket.Message.Receive(b.conn, &text); err != nil {
			b.mu.Lock()
			b.ended = fmt.Errorf("connection to chromium ended: %w", err)
			for _, c := range b.waiting {
				close(c)
			}
			clear(b.waiting)
			b.mu.Unlock()
			return
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			continue
		}
		b.mu.Lock()
		if c := b.waiting[m.ID]; m.ID != 0 && c != nil {
			delete(b.waiting, m.ID)
			c <- m
		} else if p := b.pages[m.Session]; p != nil {
			var e event
			if json.Unmarshal(text, &e) == nil {
				p.observe(e)
			}
		}
		b.mu.Unlock()
	}
}

// call sends a command and waits for its answer.
func (b *Browser) call(ctx context.Context, session, method string, params any, result any) error {
	answer := make(chan message, 1)
	b.mu.Lock()
	if b.ended != nil {
		b.mu.Unlock()
		return b.ended
	}
	b.next++
	m := message{ID: b.next, Session: session, Method: method, Params: params}
	b.waiting[m.ID] = answer
	err := websocket.JSON.Send(b.conn, m)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case m, open := <-answer:
		if !open {
			return errors.New("connection to chromium ended")
		}
		if m.Error != nil {
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// Page is a tab. Pages of one browser share cookies and storage.
type Page struct {
	browser  *Browser
	session  string
	target   string
	profile  string
	script   string
	problems []string // guarded by Browser.mu, like the rest

	requests map[string]*exchange // by Chromium's id
	order    []string             // of their ids
}

// Open opens an empty tab in a profile of its own. script is evaluated in each document before
// the document's scripts; it may be empty.
func (b *Browser) Open(ctx context.Context, script string) (*Page, error) {
	var profile struct {
		ID string `json:"browserContextId"`
	}
	if err := b.call(ctx, "", "Target.createBrowserContext", nil, &profile); err != nil {
		return nil, err
	}
	return b.tab(ctx, profile.ID, script)
}

// tab opens an empty tab in a profile.
func (b *Browser) tab(ctx context.Context, profile, script string) (*Page, error) {
	var target struct {
		ID string `json:"targetId"`
	}
	if err := b.call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": profile}, &target); err != nil {
		return nil, err
	}
	var attached struct {
		Session string `json:"sessionId"`
	}
	if err := b.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &attached); err != nil {
		return nil, err
	}
	p := &Page{browser: b, session: attached.Session, target: target.ID, profile: profile, script: script}
	b.mu.Lock()
	b.pages[p.session] = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		if err := p.call(ctx, domain+".enable", nil, nil); err != nil {
			return nil, err
		}
	}
	if script != "" {
		if err := p.call(ctx, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script}, nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Reopen opens another tab in the profile of p, with its cookies and storage, and closes p.
func (p *Page) Reopen(ctx context.Context) (*Page, error) {
	next, err := p.browser.tab(ctx, p.profile, p.script)
	if err != nil {
		return nil, err
	}
	return next, p.browser.call(ctx, "", "Target.closeTarget", map[string]any{"targetId": p.target}, nil)
}

// Other opens an empty tab in another profile of the same browser: for another person.
func (p *Page) Other(ctx context.Context) (*Page, error) { return p.browser.Open(ctx, p.script) }

func (p *Page) call(ctx context.Context, method string, params any, result any) error {
	return p.browser.call(ctx, p.session, method, params, result)
}

// observe collects errors, among them violations of a content security policy.
func (p *Page) observe(e event) {
	switch e.Method {
	case "Network.requestWillBeSent", "Network.loadingFinished", "Network.loadingFailed":
		p.observeRequest(e)
	case "Runtime.exceptionThrown":
		p.problems = append(p.problems, string(e.Params))
	case "Log.entryAdded":
		var entry struct {
			Entry struct{ Level, Text, URL string }
		}
		if json.Unmarshal(e.Params, &entry) == nil && entry.Entry.Level == "error" && !strings.HasSuffix(entry.Entry.URL, "/favicon.ico") {
			p.problems = append(p.problems, entry.Entry.Text+" "+entry.Entry.URL)
		}
	}
}

// Problems returns the errors of the page's console.
func (p *Page) Problems() []string {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return append([]string(nil), p.problems...)
}

// Visit opens an address and waits until the document and its scripts are loaded.
func (p *Page) Visit(ctx context.Context, url string) error {
	var begun struct{ ErrorText string }
	p.forget()
	if err := p.call(ctx, "Page.navigate", map[string]any{"url": url}, &begun); err != nil {
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
	var out struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	err := p.call(ctx, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &out)
	if err != nil {
		return err
	}
	if len(out.Exception) > 0 {
		return fmt.Errorf("evaluate %s: %s", expression, out.Exception)
	}
	if v == nil || len(out.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(out.Result.Value, v)
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
