package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// demoFile is the file with the demo's credentials, of which the database has only hashes.
const demoFile = "demo.json"

// demoAccess is the demo's credentials.
type demoAccess struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	APIKey   string `json:"api_key"`
}

// Demo creates a tenant that is ready to send, unless it exists, prints instructions to out, and
// serves. Later runs change only the host of links in mails, to the address that is served.
func Demo(ctx context.Context, cfg Config, log *slog.Logger, out io.Writer) (err error) {
	if err := cfg.claimAddresses(log); err != nil {
		return err
	}
	store, err := OpenWhenUp(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	unlock, err := soleServer(store.DB) // another process would use its own address in mails
	if err != nil {
		return err
	}
	unlock()
	now := time.Now()
	if err := cfg.Bootstrap.Apply(ctx, store.DB, auth.NewPasswords(), now); err != nil {
		return err
	}
	d := demo{db: store.DB, box: store.Box, dir: cfg.DataDir, trackingHost: cfg.BaseURL.Host, mjml: mjml.New(), now: now}
	defer d.mjml.Close()
	t, access, err := d.prepare(ctx)
	if err != nil {
		return fmt.Errorf("prepare the demo: %w", err)
	}
	server := &Server{Config: cfg, Store: store, Roles: Roles(), Log: log}
	if loopback(cfg.Listen) && cfg.LoopbackBaseURL() {
		server.Demo = t.ID
	}
	server.Started = func(string) { _, _ = io.WriteString(out, demoText(cfg.BaseURL, access, time.Now())) }
	return server.Run(ctx)
}

// claimAddresses checks, before anything is written, whether the addresses to listen on are free.
// Port 0 is replaced by a free one. The demo runs without metrics if their address is in use.
func (c *Config) claimAddresses(log *slog.Logger) error {
	l, err := listen("PACKETBOAT_LISTEN", c.Listen)
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if host, asked, _ := net.SplitHostPort(c.Listen); asked == "0" {
		c.Listen = net.JoinHostPort(host, port)
		if c.BaseURL.Port() == "0" {
			base := *c.BaseURL
			base.Host = net.JoinHostPort(base.Hostname(), port)
			c.BaseURL = &base
		}
	}
	if c.AdminListen != "" {
		a, aerr := net.Listen("tcp", c.AdminListen)
		if aerr != nil {
			log.Warn("metrics address is in use; the demo runs without metrics", "admin_listen", c.AdminListen)
			c.AdminListen = ""
		} else {
			err = a.Close()
		}
	}
	return errors.Join(err, l.Close())
}

// loopback reports whether only this machine can reach a listener at hostPort.
func loopback(hostPort string) bool {
	host, _, _ := net.SplitHostPort(hostPort)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// loadDemoAccess reads the file of an earlier run; the result is empty before the first.
func loadDemoAccess(dir string) (demoAccess, error) {
	var a demoAccess
	b, err := os.ReadFile(filepath.Join(dir, demoFile))
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	return a, err
}

// save writes the file, readable by its owner only.
func (a demoAccess) save(dir string) error {
	b, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, demoFile+".*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, demoFile))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// demoText returns the instructions for the demo.
func demoText(base *url.URL, a demoAccess, now time.Time) string {
	api := base.JoinPath("t", demoSlug, "api").String()
	return strings.NewReplacer(
		"%BASE%", base.String(), "%API%", api, "%KEY%", a.APIKey, "%EMAIL%", a.Email, "%PASSWORD%", a.Password,
		"%NOW%", now.UTC().Format(time.RFC3339), "%TYPE%", demoEmailType, "%LIST%", demoList,
	).Replace(demoWords)
}

const demoWords = `
Packetboat is up: %BASE%

  mails     %BASE%/mailbox/   what the demo sends arrives here
  API       %API%
  its docs  %BASE%/docs
  templates %API%/templates   eight to begin with
  API key   %KEY%
  login     %EMAIL%  %PASSWORD%

Send a broadcast. Paste these one after the other into another terminal:

B=$(curl -s %API%/broadcasts -H 'X-API-Key: %KEY%' -H 'Content-Type: application/json' -d '{"name": "First light", "email_type_key": "%TYPE%", "include_segment_keys": ["%LIST%"], "scheduled_at": "%NOW%", "content": {"subject": "Good morning {{ contact.first_name }}", "body_html": "<h1>Good morning {{ contact.first_name }}</h1><p>This is <a href=\"https://www.example.com/\">a link</a> that counts its clicks.</p>"}}' | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4); echo "broadcast $B"

curl -s -X POST %API%/broadcasts/$B/schedule -H 'X-API-Key: %KEY%' | grep -o '"status":"[a-z]*"' | head -n 1

sleep 3; curl -s %API%/broadcasts/$B/report -H 'X-API-Key: %KEY%' -w '\n'

Then open a mail at %BASE%/mailbox/, follow its link, and read the report again ten seconds later.
Ctrl-C stops; the data stay.

`

// demo makes the demo tenant.
type demo struct {
	db           *sqldb.DB
	box          *secret.Box
	dir          string
	trackingHost string
	mjml         *mjml.Compiler
	now          time.Time
}
