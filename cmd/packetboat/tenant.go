package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
)

type tenantCommands struct {
	Create tenantCreate `cmd:"" help:"Make a tenant."`
	List   tenantList   `cmd:"" help:"List the tenants."`
	Pause  tenantPause  `cmd:"" help:"Stop every send of a tenant; the rest works on."`
	Resume tenantResume `cmd:"" help:"Let a paused tenant send again."`
	Delete tenantDelete `cmd:"" help:"Delete a tenant, for good; its slug is never used again."`
	Set    tenantSet    `cmd:"" help:"Set what only the operator may."`
}

// tenantView is a tenant as the operator sees it.
type tenantView struct {
	ID           id.Tenant      `json:"id"`
	Slug         string         `json:"slug"`
	Name         string         `json:"name"`
	Status       tenant.Status  `json:"status"`
	PauseReason  *string        `json:"pause_reason"`
	Timezone     string         `json:"timezone"`
	ContactLimit *int           `json:"contact_limit"`
	CreatedAt    endpoint.Stamp `json:"created_at"`
}

func viewOfTenant(t tenant.Tenant) tenantView {
	v := tenantView{
		ID: t.ID, Slug: t.Slug, Name: t.Name, Status: t.Status, Timezone: t.Settings.Timezone,
		ContactLimit: t.ContactLimit, CreatedAt: endpoint.At(t.CreatedAt),
	}
	if t.PauseReason != "" {
		v.PauseReason = &t.PauseReason
	}
	return v
}

type tenantCreate struct {
	Slug     string `required:"" help:"Its name in addresses: 3 to 40 lower-case letters, digits and hyphens."`
	Name     string `required:"" help:"Its name for people."`
	Timezone string `default:"UTC" help:"Such as Europe/Amsterdam."`
}

// Run makes the tenant.
func (cmd tenantCreate) Run(c *console) error {
	return c.with(func(s *app.Store) error {
		now := c.now()
		var t tenant.Tenant
		err := s.DB.InTx(c.ctx, func(tx *sqldb.DB) (err error) {
			if t, err = tenant.Create(c.ctx, tx, cmd.Slug, cmd.Name, cmd.Timezone, now, app.TenantSetup()...); err != nil {
				return err
			}
			return auth.Audit(c.ctx, tx, auth.BySystem.Did(t.ID, "tenant.create", "tenant", t.ID.String(), now))
		})
		if err != nil {
			return err
		}
		if c.cfg.BaseURLGiven {
			return c.show(viewOfTenant(t), "tenant %s is there: %s/t/%s/api\n", t.Slug, c.cfg.BaseURL, t.Slug)
		}
		// The program that serves has it in its environment, and this command has not.
		return c.show(viewOfTenant(t), "tenant %s is there, at /t/%s/api of the address that PACKETBOAT_BASE_URL has where the program serves\n", t.Slug, t.Slug)
	})
}

type tenantList struct{}

// Run lists the tenants.
func (tenantList) Run(c *console) error {
	return c.with(func(s *app.Store) error {
		list, err := tenant.List(c.ctx, s.DB)
		if err != nil {
			return err
		}
		rows := []tenantView{}
		var text strings.Builder
		table := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
		fmt.Fprintln(table, "SLUG\tNAME\tSTATUS\tCONTACT LIMIT\tCREATED")
		for _, t := range list {
			v := viewOfTenant(t)
			rows = append(rows, v)
			limit := "none"
			if t.ContactLimit != nil {
				limit = strconv.Itoa(*t.ContactLimit)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", t.Slug, t.Name, t.Status, limit, v.CreatedAt)
		}
		_ = table.Flush() // into memory
		return c.show(endpoint.Whole(rows), "%s", text.String())
	})
}

// change applies f to a tenant, notes it in the audit log and shows the result.
func (c *console) change(slug, action, done string, f func(tx *sqldb.DB, t tenant.Tenant) error) error {
	return c.withTenant(slug, func(s *app.Store, t tenant.Tenant) error {
		err := s.DB.InTx(c.ctx, func(tx *sqldb.DB) error {
			if err := f(tx, t); err != nil {
				return err
			}
			return auth.Audit(c.ctx, tx, auth.BySystem.Did(t.ID, action, "tenant", t.ID.String(), c.now()))
		})
		if err != nil {
			return err
		}
		if t, err = tenant.ByID(c.ctx, s.DB, t.ID); err != nil {
			return err
		}
		return c.show(viewOfTenant(t), "tenant %s %s\n", t.Slug, done)
	})
}

type tenantPause struct {
	Slug   string `required:"" help:"Which tenant."`
	Reason string `help:"Shown to the tenant."`
}

// Run pauses the tenant.
func (cmd tenantPause) Run(c *console) error {
	return c.change(cmd.Slug, "tenant.pause", "is paused", func(tx *sqldb.DB, t tenant.Tenant) error {
		return tenant.Pause(c.ctx, tx, t.ID, cmd.Reason, c.now())
	})
}

type tenantResume struct {
	Slug string `required:"" help:"Which tenant."`
}

// Run resumes the tenant.
func (cmd tenantResume) Run(c *console) error {
	return c.change(cmd.Slug, "tenant.resume", "sends again", func(tx *sqldb.DB, t tenant.Tenant) error {
		return tenant.Resume(c.ctx, tx, t.ID, c.now())
	})
}

type tenantDelete struct {
	Slug string `required:"" help:"Which tenant."`
}

// Run deletes the tenant.
func (cmd tenantDelete) Run(c *console) error {
	return c.change(cmd.Slug, "tenant.delete", "is deleted", func(tx *sqldb.DB, t tenant.Tenant) error {
		return tenant.Delete(c.ctx, tx, t.ID, c.now())
	})
}

type tenantSet struct {
	Slug         string `required:"" help:"Which tenant."`
	ContactLimit string `required:"" placeholder:"N" help:"How many billable contacts it may have; none lifts the limit."`
}

// Run sets the contact limit.
func (cmd tenantSet) Run(c *console) error {
	var limit *int
	if cmd.ContactLimit != "none" {
		n, err := strconv.Atoi(cmd.ContactLimit)
		if err != nil || n < 0 {
			return usageError("--contact-limit takes a number from 0, or none")
		}
		limit = &n
	}
	return c.change(cmd.Slug, "tenant.update", "has a new contact limit", func(tx *sqldb.DB, t tenant.Tenant) error {
		return tenant.SetContactLimit(c.ctx, tx, t.ID, limit, c.now())
	})
}
