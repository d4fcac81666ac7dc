package main

import (
	"errors"
	"fmt"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/edge/httpapi/sendingapi"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

type domainCommands struct {
	Verify domainVerify `cmd:"" help:"Say that a sending domain is verified, without DNS."`
	Pause  domainPause  `cmd:"" help:"Stop all sending from a domain; its broadcasts are paused."`
	Resume domainResume `cmd:"" help:"Let a paused domain send again; its broadcasts stay paused until they are resumed."`
}

type domainVerify struct {
	Tenant       string `required:"" help:"Slug of the tenant."`
	Domain       string `required:"" help:"The sending domain."`
	Force        bool   `required:"" help:"You know that it is yours."`
	TrackingHost string `placeholder:"HOST[:PORT]" help:"Host of the links in mails, which leads to this installation."`
}

// Run verifies the domain.
func (cmd domainVerify) Run(c *console) error {
	return c.withTenant(cmd.Tenant, func(s *app.Store, t tenant.Tenant) error {
		now := c.now()
		var d sender.Domain
		var bounces lane.ReturnPath
		err := s.DB.InTx(c.ctx, func(tx *sqldb.DB) (err error) {
			d, err = sender.ForceVerify(c.ctx, tx, t.ID, cmd.Domain, cmd.TrackingHost, now)
			if errors.Is(err, sender.ErrDomainNotFound) {
				return fmt.Errorf("tenant %s has no sending domain %s; it is added over the API: POST %s/t/%s/api/sending-domains", t.Slug, cmd.Domain, c.cfg.BaseURL, t.Slug)
			}
			if err != nil {
				return err
			}
			if bounces, err = sender.ReturnPathOf(c.ctx, tx, t.ID); err != nil {
				return err
			}
			return auth.Audit(c.ctx, tx, auth.BySystem.Did(t.ID, "domain.verify", "sending_domain", d.ID.String(), now))
		})
		if err != nil {
			return err
		}
		return c.show(sendingapi.ShowSendingDomain(d, c.cfg.RecordHosts(), bounces), "domain %s is verified\n", d.Name)
	})
}

type namedDomain struct {
	Tenant string `required:"" help:"Slug of the tenant."`
	Domain string `required:"" help:"The sending domain."`
}

type domainPause struct{ namedDomain }

// Run pauses the domain.
func (cmd domainPause) Run(c *console) error {
	return cmd.change(c, "pause", "paused", func(tx *sqldb.DB, d sender.Domain) error {
		_, err := sender.PauseDomain(c.ctx, tx, d.Tenant, d.ID, sender.Pause{Reason: sender.PausedByOperator, Domain: d.Name}, c.now())
		return err
	})
}

type domainResume struct{ namedDomain }

// Run resumes the domain.
func (cmd domainResume) Run(c *console) error {
	return cmd.change(c, "resume", "not paused", func(tx *sqldb.DB, d sender.Domain) error {
		_, err := sender.ResumeDomain(c.ctx, tx, d.Tenant, d.ID, c.now())
		return err
	})
}

// change does something to the domain, notes it in the audit log and shows the domain.
func (n namedDomain) change(c *console, verb, now string, do func(tx *sqldb.DB, d sender.Domain) error) error {
	return c.withTenant(n.Tenant, func(s *app.Store, t tenant.Tenant) error {
		var d sender.Domain
		var bounces lane.ReturnPath
		err := s.DB.InTx(c.ctx, func(tx *sqldb.DB) (err error) {
			if d, err = sender.NamedDomain(c.ctx, tx, t.ID, n.Domain); err != nil {
				return err
			}
			if err := do(tx, d); err != nil {
				return err
			}
			if err := auth.Audit(c.ctx, tx, auth.BySystem.Did(t.ID, "domain."+verb, "sending_domain", d.ID.String(), c.now())); err != nil {
				return err
			}
			if bounces, err = sender.ReturnPathOf(c.ctx, tx, t.ID); err != nil {
				return err
			}
			d, err = sender.DomainByID(c.ctx, tx, t.ID, d.ID)
			return err
		})
		if errors.Is(err, sender.ErrDomainNotFound) {
			return fmt.Errorf("tenant %s has no sending domain %s", n.Tenant, n.Domain)
		}
		if err != nil {
			return err
		}
		return c.show(sendingapi.ShowSendingDomain(d, c.cfg.RecordHosts(), bounces), "domain %s is %s\n", d.Name, now)
	})
}
