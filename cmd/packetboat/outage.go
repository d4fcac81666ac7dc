package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/sqldb"
)

type outageCommands struct {
	List    outageList    `cmd:"" help:"List outages, and the bounces that are held because of them."`
	Apply   outageApply   `cmd:"" help:"Apply the held bounces: the recipients do not exist."`
	Dismiss outageDismiss `cmd:"" help:"Drop the held bounces: the provider was wrong."`
}

// outageView is an outage as the operator sees it.
type outageView struct {
	ID         id.Outage       `json:"id"`
	Provider   string          `json:"provider"`
	Since      endpoint.Stamp  `json:"since"`
	EndedAt    *endpoint.Stamp `json:"ended_at"`
	Recipients int             `json:"recipients"`
	Unknown    int             `json:"unknown"`
	Decision   *string         `json:"decision"`
	DecidedAt  *endpoint.Stamp `json:"decided_at"`
	DoneAt     *endpoint.Stamp `json:"done_at"`
	Held       []heldView      `json:"held"`
}

// heldView is the bounces of a tenant that an outage holds.
type heldView struct {
	Tenant  string `json:"tenant"`
	Bounces int    `json:"bounces"`
	Known   int    `json:"known_contacts"` // of the contacts, those that accepted or opened mail before
}

func viewOfOutage(o outage.Outage) outageView {
	stamp := func(t *time.Time) *endpoint.Stamp {
		if t == nil {
			return nil
		}
		return new(endpoint.At(*t))
	}
	v := outageView{
		ID: o.ID, Provider: o.Directory, Since: endpoint.At(o.Since), EndedAt: stamp(o.EndedAt), Recipients: o.Answered, Unknown: o.Unknown,
		DecidedAt: stamp(o.DecidedAt), DoneAt: stamp(o.DoneAt), Held: []heldView{},
	}
	if o.Decision != "" {
		v.Decision = new(string(o.Decision))
	}
	return v
}

// state returns what becomes of bounces at present, in words.
func (v outageView) state() string {
	switch {
	case v.Decision != nil && v.DoneAt == nil:
		return "to " + *v.Decision
	case v.Decision != nil:
		return map[outage.Decision]string{outage.Apply: "applied", outage.Dismiss: "dismissed"}[outage.Decision(*v.Decision)]
	case v.EndedAt != nil:
		return "ended"
	}
	return "open"
}

type outageList struct{}

// Run lists the outages.
func (outageList) Run(c *console) error {
	return c.with(func(s *app.Store) error {
		list, err := outage.List(c.ctx, s.DB)
		if err != nil {
			return err
		}
		rows := []outageView{}
		var text strings.Builder
		table := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tPROVIDER\tSINCE\tSTATE\tUNKNOWN\tTENANT\tHELD\tKNOWN")
		for _, o := range list {
			v := viewOfOutage(o)
			if v.Held, err = heldBounces(c, s.DB, o.ID); err != nil {
				return err
			}
			rows = append(rows, v)
			line := fmt.Sprintf("%s\t%s\t%s\t%s\t%d of %d", v.ID, v.Provider, o.Since.Format(time.DateTime), v.state(), v.Unknown, v.Recipients)
			for _, h := range v.Held {
				fmt.Fprintf(table, "%s\t%s\t%d\t%d\n", line, h.Tenant, h.Bounces, h.Known)
				line = "\t\t\t\t"
			}
			if len(v.Held) == 0 {
				fmt.Fprintf(table, "%s\t-\t0\t0\n", line)
			}
		}
		_ = table.Flush() // into memory
		return c.show(endpoint.Whole(rows), "%s", text.String())
	})
}

// heldBounces returns the bounces that an outage holds, by tenant.
func heldBounces(c *console, db *sqldb.DB, o id.Outage) ([]heldView, error) {
	held, err := outage.HeldBy(c.ctx, db, o)
	if err != nil {
		return nil, err
	}
	list := []heldView{}
	for _, t := range slices.Sorted(maps.Keys(held)) {
		account, err := tenant.ByID(c.ctx, db, t)
		if err != nil {
			return nil, err
		}
		v := heldView{Tenant: account.Slug, Bounces: held[t]}
		const page = 500
		for after, more := (id.Contact{}), true; more; {
			contacts, err := outage.HeldContacts(c.ctx, db, t, o, after, page)
			if err != nil {
				return nil, err
			}
			known, err := contact.Familiar(c.ctx, db, t, contacts)
			if err != nil {
				return nil, err
			}
			v.Known += known
			if more = len(contacts) == page; more {
				after = contacts[page-1]
			}
		}
		list = append(list, v)
	}
	return list, nil
}

type outageName struct {
	ID string `arg:"" help:"The outage's id; packetboat outage list shows it."`
}

type outageApply struct{ outageName }

// Run decides that the held bounces take effect.
func (cmd outageApply) Run(c *console) error {
	return cmd.decide(c, outage.Apply, "a worker applies its held bounces")
}

type outageDismiss struct{ outageName }

// Run decides that the held bounces are dropped.
func (cmd outageDismiss) Run(c *console) error {
	return cmd.decide(c, outage.Dismiss, "a worker drops its held bounces")
}

// decide stores a decision and notes it in the audit log of each tenant with held bounces.
func (cmd outageName) decide(c *console, d outage.Decision, next string) error {
	o, ok := id.Parse[id.Outage](cmd.ID)
	if !ok {
		return usageError("the argument is the outage's id, a UUID that packetboat outage list shows")
	}
	return c.with(func(s *app.Store) error {
		var decided outage.Outage
		err := s.DB.InTx(c.ctx, func(tx *sqldb.DB) (err error) {
			if decided, err = outage.Decide(c.ctx, tx, o, d, c.now()); err != nil {
				return err
			}
			held, err := outage.HeldBy(c.ctx, tx, o)
			if err != nil {
				return err
			}
			for _, t := range slices.Sorted(maps.Keys(held)) {
				if err := auth.Audit(c.ctx, tx, auth.BySystem.Did(t, "outage."+string(d), "outage", o.String(), c.now())); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return c.show(viewOfOutage(decided), "outage of %s: %s\n", decided.Directory, next)
	})
}
