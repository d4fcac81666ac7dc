package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// healthCommand asks the program that serves on this machine, for the health check of a container.
type healthCommand struct{}

// healthPatience is how long an answer may take.
const healthPatience = 5 * time.Second

// Run asks whether the program is ready.
func (healthCommand) Run(c *console) error {
	ctx, stop := context.WithTimeout(c.ctx, healthPatience)
	defer stop()
	host, port, err := net.SplitHostPort(c.cfg.Listen)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Transport: &http.Transport{}}).Do(r) // without a proxy
	if err != nil {
		return fmt.Errorf("the program does not answer at %s: %w", c.cfg.Listen, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return err
	}
	body := strings.TrimSpace(string(text))
	if answer.StatusCode != http.StatusOK {
		return errors.New("the program is not ready: " + body)
	}
	_, err = fmt.Fprintln(c.out, body)
	return err
}
