package httpapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/accountapi"
	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/overview"
)

// shellAPI serves what an application shows around every page.
type shellAPI struct {
	db      *sqldb.DB
	account accountapi.Account
	jobs    accountapi.Jobs
	reader  *overview.Reader
}

// shellJobs is how many jobs the shell has.
const shellJobs = 20

// Register adds the operation.
func (api shellAPI) Register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/shell", endpoint.Op{
		Name:        "getShell",
		Summary:     "Get what an application shows around every page: the account, what concerns all that it sends, and the newest jobs.",
		Description: "It is one request instead of those for the account, the MTA configs, the domains and the jobs.",
		Tag:         "account",
		Session:     true,
	}, api.getShell)
}

// ShellView is what an application shows around every page.
type ShellView struct {
	Account   accountapi.AccountSessionView `json:"account"`
	Trial     bool                          `json:"trial" doc:"Every active MTA config is a built-in mailbox, so that no mail leaves."`
	HeldSince *endpoint.Stamp               `json:"held_since" doc:"Since when the operator of the installation holds all sends, as after a backup was restored; null if they are not held."`
	Trouble   *shellTrouble                 `json:"trouble" doc:"An MTA config or a domain through which nothing is sent; null if there is none."`
	Jobs      []accountapi.JobSession       `json:"jobs" doc:"The newest 20."`
}

type shellTrouble struct {
	Kind     overview.Kind         `json:"kind" enum:"mta,domain"`
	State    overview.TroubleState `json:"state" enum:"down,paused,failed" doc:"down: an MTA config cannot be reached; paused, failed: a domain is paused, or its DNS records are missing or wrong."`
	TargetID string                `json:"target_id" format:"uuid"`
	Name     string                `json:"name"`
}

func (api shellAPI) getShell(ctx context.Context, p auth.Principal, _ *struct{}) (ShellView, error) {
	var none ShellView
	t, err := tenant.ByID(ctx, api.db, p.Tenant)
	if err != nil {
		return none, err
	}
	account, err := api.account.View(ctx, t)
	if err != nil {
		return none, err
	}
	standing, err := api.reader.Standing(ctx, p.Tenant)
	if err != nil {
		return none, err
	}
	list, _, err := job.List(ctx, api.db, p.Tenant, job.Filter{}, nil, shellJobs)
	if err != nil {
		return none, err
	}
	held, err := hold.Since(ctx, api.db)
	if err != nil {
		return none, err
	}
	out := ShellView{Account: account, Trial: standing.Trial, HeldSince: endpoint.AtOr(held)}
	if x := standing.Trouble; x != nil {
		out.Trouble = &shellTrouble{x.Kind, x.State, x.ID, x.Name}
	}
	out.Jobs, err = api.jobs.SessionRows(ctx, p, list...)
	return out, err
}
