package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/accountapi"
)

type apiKeyCommands struct {
	Create apiKeyCreate `cmd:"" help:"Make an API key and print it, once."`
	List   apiKeyList   `cmd:"" help:"List a tenant's API keys."`
	Revoke apiKeyRevoke `cmd:"" help:"Revoke an API key immediately and permanently."`
}

type apiKeyCreate struct {
	Tenant  string   `required:"" help:"Slug of the tenant."`
	Name    string   `required:"" help:"What the key is for."`
	Scopes  []string `required:"" help:"What it may do, with commas between; all for everything."`
	Expires string   `help:"When it ends, such as 2030-01-31 or 2030-01-31T12:00:00Z. Default: never."`
}

// Run makes the key. Nothing but the key goes to stdout, so that a script can
// take it from there.
func (cmd apiKeyCreate) Run(c *console) error {
	n := auth.NewKey{Name: cmd.Name, Scopes: cmd.Scopes}
	if len(n.Scopes) == 1 && n.Scopes[0] == "all" {
		n.Scopes = auth.AllScopes().Strings()
	}
	if cmd.Expires != "" {
		at, err := endpoint.ParseTime(cmd.Expires)
		if err != nil {
			return usageError("--expires " + err.Error())
		}
		n.ExpiresAt = new(at)
	}
	return c.withTenant(cmd.Tenant, func(s *app.Store, t tenant.Tenant) error {
		now := c.now()
		k, secret, err := auth.CreateKey(c.ctx, s.DB, t.ID, n, auth.BySystem, now)
		if err != nil {
			return err
		}
		return c.show(accountapi.NewAPIKey{APIKey: accountapi.ShowAPIKey(k, now), Key: secret}, "%s\n", secret)
	})
}

type apiKeyList struct {
	Tenant string `required:"" help:"Slug of the tenant."`
}

// Run lists the keys, without their secrets.
func (cmd apiKeyList) Run(c *console) error {
	return c.withTenant(cmd.Tenant, func(s *app.Store, t tenant.Tenant) error {
		now := c.now()
		list, err := auth.Keys(c.ctx, s.DB, t.ID, now)
		if err != nil {
			return err
		}
		rows := []accountapi.APIKey{}
		var text strings.Builder
		table := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tNAME\tPREFIX\tSTATUS\tLAST USED")
		for _, k := range list {
			rows = append(rows, accountapi.ShowAPIKey(k, now))
			used := "never"
			if k.LastUsedAt != nil {
				used = k.LastUsedAt.Format(time.DateTime)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, k.Prefix, k.Status(now), used)
		}
		_ = table.Flush() // into memory
		return c.show(endpoint.Whole(rows), "%s", text.String())
	})
}

type apiKeyRevoke struct {
	Tenant string `required:"" help:"Slug of the tenant."`
	ID     string `required:"" name:"id" help:"The key's id; packetboat apikey list shows it."`
}

// Run revokes the key.
func (cmd apiKeyRevoke) Run(c *console) error {
	key, ok := id.Parse[id.APIKey](cmd.ID)
	if !ok {
		return usageError("--id takes the key's id, a UUID that packetboat apikey list shows")
	}
	return c.withTenant(cmd.Tenant, func(s *app.Store, t tenant.Tenant) error {
		now := c.now()
		if err := auth.RevokeKey(c.ctx, s.DB, t.ID, key, auth.BySystem, now); err != nil {
			return err
		}
		k, err := auth.KeyByID(c.ctx, s.DB, t.ID, key)
		if err != nil {
			return err
		}
		return c.show(accountapi.ShowAPIKey(k, now), "API key %s is revoked\n", k.ID)
	})
}
