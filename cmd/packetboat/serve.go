package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/hold"
)

type serveCommand struct {
	Roles []string `placeholder:"ROLE" help:"What this process does: api, app, track, inbound, worker, with commas between. Default: everything."`
	Hold  bool     `help:"Hold all sends of the installation, as after a backup was restored; packetboat release lets them go on."`
}

// Run serves until it gets a signal to stop.
func (cmd serveCommand) Run(c *console) (err error) {
	roles := app.Roles()
	if len(cmd.Roles) > 0 {
		roles = nil
		for _, r := range cmd.Roles {
			if !slices.Contains(app.Roles(), app.Role(r)) {
				return usageError(fmt.Sprintf("--roles: there is no role %q; write api, app, track, inbound or worker, with commas between", r))
			}
			roles = append(roles, app.Role(r))
		}
	}
	log := c.cfg.Logger(c.err)
	store, err := app.OpenToMigrate(c.ctx, c.cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := c.cfg.Bootstrap.Apply(c.ctx, store.DB, auth.NewPasswords(), c.now()); err != nil {
		return err
	}
	if err := app.InviteFirst(c.ctx, store.DB, c.cfg.BaseURL, log, c.now()); err != nil {
		return err
	}
	server := &app.Server{Config: c.cfg, Store: store, Roles: roles, Log: log, Hold: cmd.Hold}
	return server.Run(c.ctx)
}

type demoCommand struct{}

// Run serves with sample data until it gets a signal to stop.
func (demoCommand) Run(c *console) error {
	return app.Demo(c.ctx, c.cfg, c.cfg.Logger(c.err), c.out)
}

type releaseCommand struct{}

// released is the outcome of a release.
type released struct {
	Released bool `json:"released"`
	Waiting  int  `json:"waiting"` // messages of open sends
}

// Run releases sends held by serve --hold, in every process within a second.
func (releaseCommand) Run(c *console) error {
	return c.with(func(s *app.Store) error {
		backlog, err := outbox.LoadBacklog(c.ctx, s.DB, c.now())
		if err != nil {
			return err
		}
		held, err := hold.Release(c.ctx, s.DB)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("sends go on: %d messages are waiting; those that left after a restored backup was taken leave again, unless their broadcast is cancelled\n", backlog.Waiting)
		if !held {
			text = "sends were not held\n"
		}
		return c.show(released{held, backlog.Waiting}, "%s", text)
	})
}
