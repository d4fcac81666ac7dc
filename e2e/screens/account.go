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
	"strings"
	"syscall"
	"time"

	"github.com/packetboat/packetboat/internal/porttest"
)

// account is the demo's account, in a data directory.
type account struct {
	data, address   string
	Email, Password string
	client          *http.Client // signed in
}

// startWithin is how long a program may take to start, and to make the demo's history.
const startWithin = 4 * time.Minute

// fill lets a program make the demo's account and its history, and stops it.
func (a *account) fill(ctx context.Context, program string) (err error) {
	if a.address, err = porttest.Address(); err != nil {
		return err
	}
	if err := os.MkdirAll(a.data, 0o700); err != nil {
		return err
	}
	stop, err := a.start(ctx, program, a.data, "demo")
	if err != nil {
		return err
	}
	defer func() {
		if e := stop(); err == nil {
			err = e
		}
	}()
	b, err := os.ReadFile(filepath.Join(a.data, "demo.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, a); err != nil {
		return err
	}
	if err := a.signIn(ctx); err != nil {
		return err
	}
	var failed error
	err = wait(ctx, func() bool {
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
	login, err := json.Marshal(map[string]string{"email": a.Email, "password": a.Password})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.address+"/api/auth/login", bytes.NewReader(login))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	a.client = &http.Client{Jar: jar}
	return a.do(request, nil)
}

// start starts a program on a data directory and waits until it answers. stop ends it.
func (a *account) start(ctx context.Context, program, data string, args ...string) (stop func() error, err error) {
	var log bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Env = append(os.Environ(), "PACKETBOAT_DATA_DIR="+data, "PACKETBOAT_DATABASE_URL=sqlite:packetboat.db", "PACKETBOAT_LISTEN="+a.address,
		"PACKETBOAT_BASE_URL=http://"+a.address, "PACKETBOAT_ADMIN_LISTEN=off", "PACKETBOAT_RATE_LIMIT_PER_MINUTE=1000000")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%s: %w:\n%s", program, err, log.Bytes())
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
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.address+"/t/demo/api"+path, nil)
	if err != nil {
		return err
	}
	return a.do(request, v)
}

// do sends a request and reads its answer into v, which may be nil.
func (a *account) do(request *http.Request, v any) error {
	answer, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
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

// ids returns the ids of the records of pages. Some may be missing.
func (a *account) ids(ctx context.Context) (map[string]string, error) {
	ids := map[string]string{}
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
