// Package sendingapi has the operations on how mail leaves: MTA configs and the mailbox of sinks, sending
// domains and identities, email types and categories, and seed lists.
package sendingapi

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/testmail"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// MTAConfigs serves MTA configs.
type MTAConfigs struct {
	db                 *sqldb.DB
	box                *secret.Box
	allowPrivateRelays bool
	now                func() time.Time
	tester             wire.Tester
	usage              usage.Finder
	keys               *track.Keys
	hooks              string // the address of hooks, without a token
}

// NewMTAConfigs returns the operations on MTA configs. allowPrivate allows hosts on private networks.
func NewMTAConfigs(e wire.Env, tester wire.Tester, uses usage.Finder, allowPrivate bool) MTAConfigs {
	return MTAConfigs{
		db: e.DB, box: e.Box, allowPrivateRelays: allowPrivate, now: e.Now, tester: tester, usage: uses,
		keys: track.NewKeys(e.Box), hooks: e.BaseURL.String() + "/_q/hooks/",
	}
}

// On returns the operations on another handle.
func (api MTAConfigs) On(db *sqldb.DB) MTAConfigs { api.db = db; return api }

// Register adds the operations on MTA configs.
func (api MTAConfigs) Register(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "mta configs", Session: true, Faults: faults}
	}
	admin := func(op endpoint.Op) endpoint.Op {
		op.Role = auth.Admin
		return op
	}
	create := admin(op("createMtaConfig", "Create an MTA config.", lane.ErrTooMany).Once().Revised(lane.Revisions))
	create.Status = 201
	endpoint.Handle(r, "GET /t/{tenant}/api/mta-configs", op("listMtaConfigs", "List MTA configs, by name."), api.ListMTAConfigs)
	endpoint.Handle(r, "POST /t/{tenant}/api/mta-configs", create.ExampleBody(`{"name": "Main relay", "type": "smtp", "settings": {"host": "smtp.example.net", "port": 587, "tls": "starttls", "auth": "plain", "username": "packetboat", "password": "$RELAY_PASSWORD"}}`), wire.Once(api, api.db, MTAConfigs.createMTAConfig), api.checkNewMTAConfig)
	endpoint.Handle(r, "GET /t/{tenant}/api/mta-configs/{id}", op("getMtaConfig", "Get an MTA config.", lane.ErrNotFound).Revised(lane.Revisions), api.getMTAConfig)
	endpoint.Handle(r, "PUT /t/{tenant}/api/mta-configs/{id}", admin(op("updateMtaConfig", "Update an MTA config.", lane.ErrNotFound).IfMatch(lane.Revisions)).ExampleBody(`{"name": "Main relay", "caps": {"max_per_second": 10, "max_connections": 5}}`), api.updateMTAConfig, api.checkMTAConfig)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/mta-configs/{id}", admin(op("deleteMtaConfig", "Delete an MTA config.", lane.ErrNotFound, lane.ErrInUse).IfMatch(lane.Revisions)), api.deleteMTAConfig)
	endpoint.Handle(r, "POST /t/{tenant}/api/mta-configs/{id}/test", admin(op("testMtaConfig", "Test an MTA config: send one mail through it, or only connect and log in.", lane.ErrNotFound, testmail.ErrLimit).Once()).ExampleBody(`{"to": "ada@example.com"}`), api.testMTAConfig)
	endpoint.Handle(r, "POST /t/{tenant}/api/mta-configs/test", admin(op("testMtaConfigDraft", "Test settings of an MTA config before they are saved: connect and log in.", lane.ErrNotFound, testmail.ErrLimit).Once()).ExampleBody(`{"type": "smtp", "settings": {"host": "smtp.example.net", "port": 587, "tls": "starttls", "auth": "plain", "username": "packetboat", "password": "$RELAY_PASSWORD"}}`), api.testMTAConfigDraft, api.checkMTAConfigDraft)
}

func (api MTAConfigs) ListMTAConfigs(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[MtaConfigRow], error) {
	list, err := lane.List(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[MtaConfigRow]{}, err
	}
	rows, err := api.showMTAConfigs(ctx, p, list...)
	return endpoint.Whole(rows), err
}

// showMTAConfigs returns the rows of configs with their health.
func (api MTAConfigs) showMTAConfigs(ctx context.Context, p auth.Principal, list ...lane.Config) ([]MtaConfigRow, error) {
	stats, err := lane.StatsOf(ctx, api.db, p.Tenant, list, api.now())
	if err != nil {
		return nil, err
	}
	read, err := lane.MailboxStates(ctx, api.db, p.Tenant, lane.IDs(list))
	if err != nil {
		return nil, err
	}
	rows := make([]MtaConfigRow, len(list))
	for i, c := range list {
		rows[i] = rowOfMTAConfig(c, stats[c.ID], read[c.ID])
		switch c.Type {
		case lane.SMTP:
			rows[i].HookURL = new(api.hooks + "mta/" + api.keys.Hook(p.Tenant, c.ID))
		case lane.SES:
			rows[i].HookURL = new(api.hooks + "ses/" + api.keys.Hook(p.Tenant, c.ID))
		}
	}
	return rows, nil
}

type createMTAConfigRequest struct{ Body mtaConfigBody }

func (api MTAConfigs) checkNewMTAConfig(_ auth.Principal, in *createMTAConfigRequest) error {
	return in.Body.fields().CheckNew(lane.Rules{AllowPrivate: api.allowPrivateRelays})
}

func (api MTAConfigs) createMTAConfig(ctx context.Context, p auth.Principal, in *createMTAConfigRequest) (MtaConfigRow, error) {
	var c lane.Config
	err := wire.Audited(ctx, api.db, p, "create", "mta_config", api.now(), func(tx *sqldb.DB) (_ string, err error) {
		rules, err := api.laneRules(ctx, tx, p.Tenant)
		if err != nil {
			return "", err
		}
		err = sender.FollowReturnPath(ctx, tx, p.Tenant, api.now(), func() (err error) {
			c, err = lane.Create(ctx, tx, api.box, p.Tenant, in.Body.fields(), rules, api.now())
			return err
		})
		return c.ID.String(), err
	})
	if err != nil {
		return MtaConfigRow{}, err
	}
	return api.showMTAConfig(ctx, p, c)
}

// laneRules returns the rules for writing a tenant's lanes now.
func (api MTAConfigs) laneRules(ctx context.Context, db *sqldb.DB, t id.Tenant) (lane.Rules, error) {
	account, err := tenant.ByID(ctx, db, t)
	if err != nil {
		return lane.Rules{}, err
	}
	return lane.Rules{AllowPrivate: api.allowPrivateRelays, Today: spread.DayOf(api.now(), account.Location())}, nil
}

func (api MTAConfigs) showMTAConfig(ctx context.Context, p auth.Principal, c lane.Config) (MtaConfigRow, error) {
	endpoint.SetRevision(ctx, c.Revision)
	rows, err := api.showMTAConfigs(ctx, p, c)
	if err != nil {
		return MtaConfigRow{}, err
	}
	return rows[0], nil
}

type getMTAConfigRequest struct {
	wire.RecordPath
	Usage string `query:"include_usage" as:"boolean" default:"false" doc:"true: adds usage."`
}

func (api MTAConfigs) getMTAConfig(ctx context.Context, p auth.Principal, in *getMTAConfigRequest) (MtaConfigRow, error) {
	config, err := wire.RecordID[id.Lane](in.ID, lane.ErrNotFound)
	if err != nil {
		return MtaConfigRow{}, err
	}
	c, err := lane.ByID(ctx, api.db, p.Tenant, config)
	if err != nil {
		return MtaConfigRow{}, err
	}
	row, err := api.showMTAConfig(ctx, p, c)
	if err == nil && endpoint.Flag(in.Usage) {
		row.Usage, err = api.usageOf(ctx, p, c)
	}
	return row, err
}

// usageOf returns the records that need an MTA config.
func (api MTAConfigs) usageOf(ctx context.Context, p auth.Principal, c lane.Config) (*mtaUsage, error) {
	holders, err := api.usage.Find(ctx, api.db, p.Tenant, usage.Subject{Kind: usage.Lane, ID: c.ID.String(), Key: c.Key})
	if err != nil {
		return nil, err
	}
	identities, err := sender.Identities(ctx, api.db, p.Tenant)
	if err != nil {
		return nil, err
	}
	account, err := tenant.ByID(ctx, api.db, p.Tenant)
	if err != nil {
		return nil, err
	}
	used := mtaUsage{endpoint.NonNil(holders["broadcasts"]), endpoint.NonNil(holders["sequences"]), []usage.Holder{}, account.Settings.DefaultLane == c.ID}
	for _, i := range identities {
		if i.DefaultLane == c.ID {
			used.SendingIdentities = append(used.SendingIdentities, usage.Holder{ID: i.ID.String(), Name: i.Address})
		}
	}
	return &used, nil
}

type updateMTAConfigRequest struct {
	wire.RecordPath
	Body mtaConfigBody
}

func (api MTAConfigs) checkMTAConfig(_ auth.Principal, in *updateMTAConfigRequest) error {
	return in.Body.fields().Check(lane.Rules{AllowPrivate: api.allowPrivateRelays})
}

func (api MTAConfigs) updateMTAConfig(ctx context.Context, p auth.Principal, in *updateMTAConfigRequest) (MtaConfigRow, error) {
	config, err := wire.RecordID[id.Lane](in.ID, lane.ErrNotFound)
	if err != nil {
		return MtaConfigRow{}, err
	}
	var c lane.Config
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "update", Target: "mta_config", ID: config.String(), Table: lane.Revisions, Key: config, Secrets: in.Body.secrets(),
		Show: func(tx *sqldb.DB) (any, error) {
			c, err := lane.ByID(ctx, tx, p.Tenant, config)
			c.TestedAt = nil
			row := rowOfMTAConfig(c, lane.Stats{}, lane.MailboxState{})
			row.Caps.PerHour, row.Warmup.Days, row.Warmup.Sources = nil, nil, nil
			return row, err
		},
		Do: func(tx *sqldb.DB) error {
			rules, err := api.laneRules(ctx, tx, p.Tenant)
			if err != nil {
				return err
			}
			return sender.FollowReturnPath(ctx, tx, p.Tenant, api.now(), func() (err error) {
				c, err = lane.Update(ctx, tx, api.box, p.Tenant, config, in.Body.fields(), rules, api.now())
				return err
			})
		},
	}, api.now())
	if err != nil {
		return MtaConfigRow{}, err
	}
	return api.showMTAConfig(ctx, p, c)
}

func (api MTAConfigs) deleteMTAConfig(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	config, err := wire.RecordID[id.Lane](in.ID, lane.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, wire.Audited(ctx, api.db, p, "delete", "mta_config", api.now(), func(tx *sqldb.DB) (string, error) {
		return config.String(), sender.FollowReturnPath(ctx, tx, p.Tenant, api.now(), func() error {
			return sender.RemoveLane(ctx, tx, p.Tenant, config, api.usage, api.now())
		})
	})
}

// parseAddress returns the normalized address in a field, or adds a problem.
func parseAddress(p *fault.Problems, path, text string) string {
	addr, err := address.Normalize(text)
	if err != nil {
		p.Add(path, err.Error())
	}
	return addr
}

// unknownConfig replaces lane.ErrNotFound by a fault of the field mta_config_id.
func unknownConfig(err error) error {
	if errors.Is(err, lane.ErrNotFound) {
		return fault.Input(fault.Field{Path: "mta_config_id", Message: "no such MTA config"})
	}
	return err
}
