package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/demo"
	"github.com/packetboat/packetboat/internal/mail/mjml"
)

// Demo creates a tenant that is ready to send, unless it exists, prints instructions to out, and
// serves. Later runs change only the host of links in mails, to the address that is served.
func Demo(ctx context.Context, cfg Config, log *slog.Logger, out io.Writer) (err error) {
	if err := cfg.claimAddresses(log); err != nil {
		return err
	}
	store, err := OpenToMigrate(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	serving, err := store.DB.Serve(ctx) // another process would use its own address in mails
	if err != nil {
		return err
	}
	serving.Stop()
	now := time.Now()
	if err := cfg.Bootstrap.Apply(ctx, store.DB, auth.NewPasswords(), now); err != nil {
		return err
	}
	compiler := mjml.New()
	defer compiler.Close()
	stock := ""
	if cfg.demoIsLocal() {
		stock, cfg.AllowPrivateWebhooks = demo.StockURL(cfg.BaseURL), true
	}
	t, access, err := demo.Account{
		DB: store.DB, Box: store.Box, Dir: cfg.DataDir, TrackingHost: cfg.BaseURL.Host, Stock: stock,
		MJML: compiler, Setup: TenantSetup(), Now: now,
	}.Prepare(ctx)
	if err != nil {
		return fmt.Errorf("prepare the demo: %w", err)
	}
	server := &Server{Config: cfg, Store: store, Roles: Roles(), Log: log}
	if cfg.demoIsLocal() {
		server.Demo = t.ID
	}
	server.Before = func(ctx context.Context) error { return FillDemo(ctx, cfg, store, t, access, log) }
	server.Started = func(string) {
		link, err := demo.LoginLink(ctx, store.DB, cfg.BaseURL, access, time.Now())
		if err != nil {
			log.Error("make a link for signing in failed", "err", err)
			link = cfg.BaseURL.JoinPath("app", "/").String()
		}
		_, _ = io.WriteString(out, demo.Text(cfg.BaseURL, access, link, time.Now()))
	}
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

// demoIsLocal reports whether only this machine can reach a demo. It then has what needs no login or may
// reach this machine: the mailbox, and the receiver of its webhook.
func (c Config) demoIsLocal() bool { return loopback(c.Listen) && c.LoopbackBaseURL() }

// loopback reports whether only this machine can reach a listener at hostPort.
func loopback(hostPort string) bool {
	host, _, _ := net.SplitHostPort(hostPort)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
