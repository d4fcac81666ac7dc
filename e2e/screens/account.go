package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/packetboat/packetboat/internal/base/porttest"
)

// account is an account in a data directory.
type account struct {
	slug, data, address string
	owner, viewer       login
	invitation          string       // the token of an open one
	made                time.Time    // when the clocks of pages begin
	client              *http.Client // the owner's
}

// login is that of a member.
type login struct{ Email, Password string }

// startWithin is how long a program may take to start, and to make the demo's history.
const startWithin = 4 * time.Minute

// make lets a program make the account, and stops it.
func (a *account) make(ctx context.Context, program string, args []string, fill func(context.Context) error) (err error) {
	if a.address, err = porttest.Address(); err != nil {
		return err
	}
	if err := os.MkdirAll(a.data, 0o700); err != nil {
		return err
	}
	stop, err := a.start(ctx, program, a.data, args...)
	if err != nil {
		return err
	}
	defer func() {
		if e := stop(); err == nil {
			err = e
		}
	}()
	return fill(ctx)
}

// demo makes the demo's account with its history, and invites a viewer, who accepts, and somebody else.
func (a *account) demo(ctx context.Context) error {
	file := filepath.Join(a.data, "demo.json")
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &a.owner); err != nil {
		return err
	}
	made, err := os.Stat(file)
	if err != nil {
		return err
	}
	a.made = made.ModTime()
	if err := a.signIn(ctx); err != nil {
		return err
	}
	if err := a.complete(ctx); err != nil {
		return err
	}
	a.viewer = login{"viewer@example.com", a.owner.Password}
	token, err := a.invite(ctx, a.viewer.Email)
	if err != nil {
		return err
	}
	if a.invitation, err = a.invite(ctx, "guest@example.com"); err != nil {
		return err
	}
	if err := a.post(ctx, "/api/auth/invitations/accept", map[string]string{"token": token, "name": "Vera", "password": a.viewer.Password}, nil); err != nil {
		return err
	}
	return a.signIn(ctx) // accepting made the client the viewer's
}

// invite invites a viewer, and returns the token of the link.
func (a *account) invite(ctx context.Context, email string) (string, error) {
	var invited struct {
		AcceptURL string `json:"accept_url"`
	}
	if err := a.post(ctx, "/t/"+a.slug+"/api/users/invite", map[string]string{"email": email, "role": "viewer"}, &invited); err != nil {
		return "", err
	}
	_, token, ok := strings.Cut(invited.AcceptURL, "token=")
	if !ok {
		return "", fmt.Errorf("no link for %s", email)
	}
	return token, nil
}

var setupToken = regexp.MustCompile(`setup_token=([A-Za-z0-9_-]+)`)

// fresh signs up the first user with the link in the log.
func (a *account) fresh(ctx context.Context) error {
	log, err := os.ReadFile(filepath.Join(a.data, logName))
	if err != nil {
		return err
	}
	token := setupToken.FindSubmatch(log)
	if token == nil {
		return fmt.Errorf("no link to sign up in the log")
	}
	a.owner = login{"first@example.com", "correct-horse-4711"}
	a.client = http.DefaultClient
	a.made = time.Now()
	err = a.post(ctx, "/api/auth/signup", map[string]string{
		"setup_token": string(token[1]), "tenant_name": "Fresh Fields", "tenant_slug": a.slug, "name": "Fiona", "email": a.owner.Email, "password": a.owner.Password,
	}, nil)
	if err != nil {
		return err
	}
	return a.signIn(ctx)
}

// complete waits until the demo's history is made.
func (a *account) complete(ctx context.Context) error {
	var failed error
	err := wait(ctx, func() bool {
		var log struct{ Data []struct{ Action string } }
		failed = a.get(ctx, "/audit-log?limit=10", &log)
		for _, entry := range log.Data {
			if entry.Action == "demo.complete" {
				return true
			}
		}
		return failed != nil
	})
	return errors.Join(err, failed)
}

func (a *account) signIn(ctx context.Context) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	a.client = &http.Client{Jar: jar}
	return a.post(ctx, "/api/auth/login", map[string]string{"email": a.owner.Email, "password": a.owner.Password}, nil)
}

// logName is the name of the program's log in the data directory.
const logName = "screens.log"

// start starts a program on a data directory and waits until it answers. stop ends it.
func (a *account) start(ctx context.Context, program, data string, args ...string) (stop func() error, err error) {
	log, err := os.Create(filepath.Join(data, logName))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "PACKETBOAT_DATA_DIR="+data, "PACKETBOAT_DATABASE_URL=sqlite:packetboat.db", "PACKETBOAT_LISTEN="+a.address,
		"PACKETBOAT_BASE_URL=http://"+a.address, "PACKETBOAT_ADMIN_LISTEN=off", "PACKETBOAT_RATE_LIMIT_PER_MINUTE=1000000")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			written, _ := os.ReadFile(log.Name())
			return fmt.Errorf("%s: %w:\n%s", program, err, written)
		}
		return nil
	}
	err = wait(ctx, func() bool {
		answer, err := http.Get("http://" + a.address + "/readyz")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, stop())
	}
	return stop, nil
}

// wait waits until something is true.
func wait(ctx context.Context, is func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for !is() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the program is not ready: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// get reads what the API answers at a path.
func (a *account) get(ctx context.Context, path string, v any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.address+"/t/"+a.slug+"/api"+path, nil)
	if err != nil {
		return err
	}
	return a.do(request, v)
}

// post sends v as JSON to a path below the root, and reads the answer into to, which may be nil.
func (a *account) post(ctx context.Context, path string, v, to any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.address+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	return a.do(request, to)
}

// do sends a request and reads its answer into v, which may be nil.
func (a *account) do(request *http.Request, v any) error {
	answer, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s", request.Method, request.URL.Path, answer.Status)
	}
	if v == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(v)
}

// lists are where the records of pages are found: the first of each is shown.
var lists = map[string]string{
	"contact": "/contacts?limit=1", "segment": "/segments", "form": "/forms", "template": "/templates", "draft": "/broadcasts?status=draft", "sent": "/broadcasts?status=completed",
	"domain": "/sending-domains", "sender": "/sending-identities", "mta": "/mta-configs", "seeds": "/seed-lists", "webhook": "/settings/webhooks",
	"block": "/blocks", "entry": "/messages", "sequence": "/sequences", "automation": "/automations", "recipient": "/broadcasts/{sent}/recipients?limit=1",
}

// ids returns the ids of the records of pages, and the token of the open invitation. Some may be missing.
func (a *account) ids(ctx context.Context) (map[string]string, error) {
	ids := map[string]string{}
	if a.invitation != "" {
		ids["invitation"] = a.invitation
	}
	find := func(name, path string) error {
		var list struct {
			Data []struct {
				ID      string
				Contact string `json:"contact_id"`
			}
		}
		if err := a.get(ctx, path, &list); err != nil {
			return err
		}
		if len(list.Data) > 0 {
			ids[name] = list.Data[0].ID
			if name == "recipient" {
				ids[name] = list.Data[0].Contact
			}
		}
		return nil
	}
	for name, path := range lists {
		if name == "recipient" {
			continue
		}
		if err := find(name, path); err != nil {
			return nil, err
		}
	}
	if ids["sent"] == "" {
		return ids, nil
	}
	return ids, find("recipient", strings.ReplaceAll(lists["recipient"], "{sent}", ids["sent"]))
}
