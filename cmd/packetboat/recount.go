package main

import (
	"fmt"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/view/recount"
)

type recountCommand struct {
	Check  bool   `help:"Only report differences; the exit status is 1 if there are any."`
	Tenant string `placeholder:"SLUG" help:"Only this tenant."`
}

// recountView is the outcome of a recount.
type recountView struct {
	Sends       int              `json:"sends"`
	Messages    int              `json:"messages"`
	Contacts    int              `json:"contacts"`
	Pruned      int              `json:"pruned_sends"`
	Unchecked   []string         `json:"unchecked_contacts_of"`
	Differences []differenceView `json:"differences"`
	Repaired    bool             `json:"repaired"`
}

type differenceView struct {
	Tenant  string       `json:"tenant"`
	Kind    recount.Kind `json:"kind"`
	ID      string       `json:"id"`
	Field   string       `json:"field"`
	Stored  int64        `json:"stored"`
	Counted int64        `json:"counted"`
}

// maxShown is how many differences are printed.
const maxShown = 1000

// Run compares all stored sums with what they count, and corrects them unless it only checks.
func (cmd recountCommand) Run(c *console) error {
	return c.with(func(s *app.Store) error {
		all, err := tenant.List(c.ctx, s.DB)
		if err != nil {
			return err
		}
		slugs := map[id.Tenant]string{}
		var tenants []id.Tenant
		for _, t := range all {
			slugs[t.ID] = t.Slug
			if cmd.Tenant == "" || t.Slug == cmd.Tenant {
				tenants = append(tenants, t.ID)
			}
		}
		if cmd.Tenant != "" && len(tenants) == 0 {
			return fmt.Errorf("there is no tenant %q; packetboat tenant list shows those there are", cmd.Tenant)
		}
		v := recountView{Unchecked: []string{}, Differences: []differenceView{}, Repaired: !cmd.Check}
		r := recount.Recount{DB: s.DB, Repair: !cmd.Check, Now: c.now, Found: func(d recount.Difference) {
			if len(v.Differences) == maxShown {
				return
			}
			one := differenceView{slugs[d.Tenant], d.Kind, d.ID, d.Field, d.Stored, d.Counted}
			v.Differences = append(v.Differences, one)
			if !c.json {
				fmt.Fprintf(c.out, "tenant %s: %s %s: %s: stored %d, counted %d\n", one.Tenant, one.Kind, one.ID, one.Field, one.Stored, one.Counted)
			}
		}}
		result, err := r.Run(c.ctx, tenants)
		if err != nil {
			return err
		}
		v.Sends, v.Messages, v.Contacts, v.Pruned = result.Sends, result.Messages, result.Contacts, result.Pruned
		for _, t := range result.Unchecked {
			v.Unchecked = append(v.Unchecked, slugs[t])
			if !c.json {
				fmt.Fprintf(c.out, "tenant %s: contacts were not compared, since entries of the journal wait for their followers: start the program, or wait\n", slugs[t])
			}
		}
		verb := "corrected"
		if cmd.Check {
			verb = "found"
		}
		err = c.show(v, "%d sends, %d messages and %d contacts counted, %d differences %s\n", v.Sends, v.Messages, v.Contacts, result.Differences, verb)
		if err == nil && cmd.Check && result.Differences > 0 {
			return fmt.Errorf("%d sums differ; packetboat recount corrects them", result.Differences)
		}
		return err
	})
}
