// Package harness starts the program as an operator would, in a separate process,
// and uses it over HTTP. Tests of the whole program
// and benchmarks share it.
package harness

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/packetboat/packetboat/internal/base/porttest"
)

// What the program is bootstrapped with.
const (
	Tenant   = "acme"
	Owner    = "owner@example.com"
	Password = "lantern-pickle-harbour-91"
)

// Program is one run, or several one after the other, on the same data.
type Program struct {
	Path     string   // of the binary
	Dir      string   // data directory
	Database string   // address; empty: SQLite in Dir
	Env      []string // more environment
	Args     []string // of serve
	Admin    string   // address of the admin listener; empty: none
	Slug     string   // of the tenant it is bootstrapped with; default Tenant
	Log      string   // file that its output is added to; default Dir/log
	Empty    bool     // it is bootstrapped with nothing: somebody signs up

	Key     string // API key with every scope
	BaseURL string // http://127.0.0.1:PORT; the port stays the same over restarts

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Prepare chooses a key and fills in what is missing. Start calls it.
func (p *Program) prepare() error {
	if p.Key != "" {
		return nil
	}
	var id [12]byte
	_, _ = rand.Read(id[:])
	for i, b := range id {
		id[i] = "abcdefghijklmnopqrstuvwxyz234567"[b%32]
	}
	p.Key = "pbk_" + string(id[:]) + "_" + secret62(43)
	if p.Log == "" {
		p.Log = filepath.Join(p.Dir, "log")
	}
	return nil
}

func secret62(n int) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	b := make([]byte, n)
	_, _ = rand.Read(b)
	for i := range b {
		b[i] = digits[int(b[i])%len(digits)]
	}
	return string(b)
}

func (p *Program) slug() string { return cmp.Or(p.Slug, Tenant) }

// Environment returns the environment of the program, with which its commands work
// on the same data. The program was started before.
func (p *Program) Environment() []string {
	env := append(os.Environ(),
		"PACKETBOAT_DATA_DIR="+p.Dir, "PACKETBOAT_DATABASE_URL="+cmp.Or(p.Database, "sqlite:packetboat.db"),
		"PACKETBOAT_LISTEN="+strings.TrimPrefix(p.BaseURL, "http://"), "PACKETBOAT_ADMIN_LISTEN="+cmp.Or(p.Admin, "off"),
		"PACKETBOAT_RATE_LIMIT_PER_MINUTE=1000000")
	if p.Database != "" { // several processes on one database share one key
		env = append(env, "PACKETBOAT_SECRET_KEY="+base64.StdEncoding.EncodeToString(sharedKey))
	}
	return append(env, p.Env...)
}

// How long the program may take to start and to end on a busy machine.
const (
	startWithin = 4 * time.Minute
	endWithin   = 2 * time.Minute
)

var upLine = regexp.MustCompile(`packetboat is up`)

// Start starts the program and waits until it serves.
func (p *Program) Start(ctx context.Context) error {
	if err := p.prepare(); err != nil {
		return err
	}
	if p.BaseURL == "" {
		address, err := porttest.Address()
		if err != nil {
			return err
		}
		p.BaseURL = "http://" + address
	}
	cmd := exec.Command(p.Path, append([]string{"serve"}, p.Args...)...)
	cmd.Env = p.Environment()
	if !p.Empty {
		cmd.Env = append(cmd.Env,
			"PACKETBOAT_BOOTSTRAP_TENANT_SLUG="+p.slug(), "PACKETBOAT_BOOTSTRAP_ADMIN_EMAIL="+Owner,
			"PACKETBOAT_BOOTSTRAP_ADMIN_PASSWORD="+Password, "PACKETBOAT_BOOTSTRAP_API_KEY="+p.Key)
	}
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		return errors.Join(err, log.Close())
	}
	cmd.Stdout = log
	if err := cmd.Start(); err != nil {
		return errors.Join(err, log.Close())
	}
	up := make(chan struct{}, 1)
	done := make(chan struct{})
	p.mu.Lock()
	p.cmd, p.done = cmd, done
	p.mu.Unlock()
	go func() {
		defer close(done)
		defer log.Close()
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(log, lines.Text())
			if upLine.MatchString(lines.Text()) {
				up <- struct{}{}
			}
		}
		p.err = cmd.Wait()
	}()
	select {
	case <-up:
		return p.ready(ctx)
	case <-done:
		return fmt.Errorf("the program ended at its start (%v); see %s:\n%s", p.err, p.Log, p.tail())
	case <-time.After(startWithin):
		_ = p.Kill()
		return fmt.Errorf("the program did not come up; see %s:\n%s", p.Log, p.tail())
	case <-ctx.Done():
		_ = p.Kill()
		return ctx.Err()
	}
}

func (p *Program) tail() string {
	b, _ := os.ReadFile(p.Log)
	return string(b[max(0, len(b)-2000):])
}

// ready waits until the program says that it is ready.
func (p *Program) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for {
		status, body, err := p.readiness(ctx)
		if err != nil {
			return err
		}
		if status == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("GET /readyz: %d %s", status, body)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (p *Program) readiness(ctx context.Context) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.BaseURL+"/readyz", nil)
	if err != nil {
		return 0, nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return res.StatusCode, body, err
}

// Kill ends the program without a warning (SIGKILL) and waits until it is gone.
func (p *Program) Kill() error { return p.signal(syscall.SIGKILL) }

// Ended reports whether the program has ended since it was last started.
func (p *Program) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Freeze stops the program (SIGSTOP), as on a suspended machine.
func (p *Program) Freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw continues a frozen program (SIGCONT).
func (p *Program) Thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// NewNode returns another program on the same database, with a directory of its
// own and other arguments.
func (p *Program) NewNode(dir string, args ...string) *Program {
	return &Program{Path: p.Path, Dir: dir, Log: filepath.Join(dir, "log"), Database: p.Database, Env: p.Env, Args: args, Key: p.Key}
}

// CountLines returns how many lines of the program's output, over all its runs, hold
// each of the texts.
func (p *Program) CountLines(texts ...string) (int, error) {
	log, err := os.ReadFile(p.Log)
	if err != nil {
		return 0, err
	}
	n := 0
	for line := range strings.Lines(string(log)) {
		if !slices.ContainsFunc(texts, func(t string) bool { return !strings.Contains(line, t) }) {
			n++
		}
	}
	return n, nil
}

// Stop asks the program to end (SIGTERM) and waits until it has.
func (p *Program) Stop() error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	if p.err != nil {
		return fmt.Errorf("the program did not end well: %w; see %s:\n%s", p.err, p.Log, p.tail())
	}
	return nil
}

func (p *Program) signal(s syscall.Signal) error {
	p.mu.Lock()
	cmd, done := p.cmd, p.done
	p.mu.Unlock()
	if cmd == nil {
		return nil
	}
	if err := cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-done:
		return nil
	case <-time.After(endWithin):
		_ = cmd.Process.Kill()
		return fmt.Errorf("the program did not end within %v of %s; see %s:\n%s", endWithin, s, p.Log, p.tail())
	}
}

// Run runs another command of the program on the same data, such as domain verify.
func (p *Program) Run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.Path, args...)
	database := p.Database
	if database == "" {
		database = "sqlite:packetboat.db"
	}
	cmd.Env = append(os.Environ(), "PACKETBOAT_DATA_DIR="+p.Dir, "PACKETBOAT_DATABASE_URL="+database)
	if p.Database != "" {
		cmd.Env = append(cmd.Env, "PACKETBOAT_SECRET_KEY="+base64.StdEncoding.EncodeToString(sharedKey))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("packetboat %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// Usage is what a process has used so far.
type Usage struct {
	CPU        time.Duration
	Memory     int64 // bytes resident now
	PeakMemory int64 // bytes resident at the most
	Written    int64 // bytes written to files, not to those in memory
}

// Usage returns what the program has used; Linux only.
func (p *Program) Usage() (Usage, error) {
	dir := "/proc/" + strconv.Itoa(p.cmd.Process.Pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return Usage{}, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	u := Usage{CPU: time.Duration(user+system) * 10 * time.Millisecond} // USER_HZ is 100
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return Usage{}, err
	}
	for line := range strings.Lines(string(status)) {
		for name, to := range map[string]*int64{"VmRSS:": &u.Memory, "VmHWM:": &u.PeakMemory} {
			if rest, ok := strings.CutPrefix(line, name); ok {
				kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				*to = kb << 10
			}
		}
	}
	counts, err := os.ReadFile(dir + "/io")
	if err != nil {
		return Usage{}, err
	}
	for line := range strings.Lines(string(counts)) {
		if rest, ok := strings.CutPrefix(line, "write_bytes:"); ok {
			u.Written, _ = strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
		}
	}
	return u, nil
}
