package main

import (
	"errors"
	"fmt"

	"packetboat/internal/app"
	"packetboat/internal/auth"
	"packetboat/internal/httpapi"
	"packetboat/internal/sender"
	"packetboat/internal/sqldb"
	"packetboat/internal/tenant"
)

type domainCommands struct {
	Verify domainVerify `cmd:"" help:"Say that a sending domain is verified, without DNS."`
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
		err := s.DB.InTx(c.ctx, func(tx *sqldb.DB) (err error) {
			d, err = sender.ForceVerify(c.ctx, tx, t.ID, cmd.Domain, cmd.TrackingHost, now)
			if errors.Is(err, sender.ErrDomainNotFound) {
				return fmt.Errorf("tenant %s has no sending domain %s; it is added over the API: POST %s/t/%s/api/sending-domains", t.Slug, cmd.Domain, c.cfg.BaseURL, t.Slug)
			}
			if err != nil {
				return err
			}
			return auth.Audit(c.ctx, tx, auth.BySystem.Did(t.ID, "domain.verify", "sending_domain", string(d.ID), now))
		})
		if err != nil {
			return err
		}
		return c.show(httpapi.ShowSendingDomain(d, c.cfg.BaseURL.Hostname()), "domain %s is verified\n", d.Name)
	})
}
