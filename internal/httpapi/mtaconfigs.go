package httpapi

import (
	"context"
	"errors"
	"time"

	"packetboat/internal/auth"
	"packetboat/internal/broadcast"
	"packetboat/internal/endpoint"
	"packetboat/internal/fault"
	"packetboat/internal/id"
	"packetboat/internal/lane"
	"packetboat/internal/mail/address"
	"packetboat/internal/mail/smtpclient"
	"packetboat/internal/sender"
	"packetboat/internal/sqldb"
)

// Tester sends mails that are no part of a send. Try sends one, to try a way out.
// An empty from lets it choose. What the way said is a Trial; an error means that
// it was not tried. SendTest sends a broadcast's test.
type Tester interface {
	Try(ctx context.Context, tenant id.Tenant, config id.MTAConfig, from, to string) (lane.Trial, error)
	SendTest(ctx context.Context, test broadcast.Test) ([]broadcast.TestResult, error)
}

// LaneHealth says how MTA configs fare. Of one that it has nothing on, it
// returns nothing.
type LaneHealth interface {
	Health(ctx context.Context, tenant id.Tenant, configs []id.MTAConfig) (map[id.MTAConfig]lane.Health, error)
}

// mtaConfigs registers the operations on MTA configs.
func (a *API) mtaConfigs(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "mta configs", Session: true, Faults: faults}
	}
	admin := func(op endpoint.Op) endpoint.Op {
		op.Role = auth.Admin
		return op
	}
	create := admin(op("createMtaConfig", "Add a way for mail to leave.", lane.ErrTooMany))
	create.Status = 201
	endpoint.Handle(r, "GET /t/{tenant}/api/mta-configs", op("listMtaConfigs", "List the ways for mail to leave, by name."), a.listMTAConfigs)
	endpoint.Handle(r, "POST /t/{tenant}/api/mta-configs", create, a.createMTAConfig)
	endpoint.Handle(r, "GET /t/{tenant}/api/mta-configs/{id}", op("getMtaConfig", "Get an MTA config.", lane.ErrNotFound), a.getMTAConfig)
	endpoint.Handle(r, "PUT /t/{tenant}/api/mta-configs/{id}", admin(op("updateMtaConfig", "Change an MTA config.", lane.ErrNotFound)), a.updateMTAConfig)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/mta-configs/{id}", admin(op("deleteMtaConfig", "Delete an MTA config.", lane.ErrNotFound, lane.ErrInUse)), a.deleteMTAConfig)
	endpoint.Handle(r, "POST /t/{tenant}/api/mta-configs/{id}/test", acting(admin(op("testMtaConfig", "Send one mail through an MTA config.", lane.ErrNotFound))), a.testMTAConfig)
}

type mtaConfigRow struct {
	ID                id.MTAConfig   `json:"id" format:"uuid"`
	TenantID          id.Tenant      `json:"tenant_id" format:"uuid"`
	Key               string         `json:"key" doc:"What mta_config_key refers to."`
	Name              string         `json:"name"`
	Type              lane.Type      `json:"type" enum:"smtp,sink"`
	Active            bool           `json:"active"`
	Settings          any            `json:"settings"`
	Caps              mtaCaps        `json:"caps"`
	DomainThrottles   []any          `json:"domain_throttles"`
	Warmup            mtaWarmup      `json:"warmup"`
	Retry             mtaRetry       `json:"retry"`
	ReturnPathRecords []any          `json:"return_path_records"`
	HookURL           *string        `json:"hook_url"`
	Health            *mtaHealth     `json:"health"`
	CreatedAt         endpoint.Stamp `json:"created_at"`
}

type smtpSettings struct {
	Host          string              `json:"host"`
	Port          int                 `json:"port"`
	TLS           smtpclient.TLSMode  `json:"tls" enum:"none,starttls,implicit"`
	Auth          smtpclient.AuthMode `json:"auth" enum:"none,plain,login,cram_md5"`
	Username      *string             `json:"username"`
	HasPassword   bool                `json:"has_password"`
	HELOHost      *string             `json:"helo_host"`
	DKIMSign      bool                `json:"dkim_sign"`
	BounceMailbox *struct{}           `json:"bounce_mailbox"`
}

type sinkSettings struct {
	FailPatterns []any `json:"fail_patterns"`
}

type mtaCaps struct {
	MaxPerSecond             *int `json:"max_per_second"`
	MaxPerMinute             *int `json:"max_per_minute"`
	MaxPerHour               *int `json:"max_per_hour"`
	MaxPerDay                *int `json:"max_per_day"`
	MaxConnections           int  `json:"max_connections"`
	MaxMessagesPerConnection int  `json:"max_messages_per_connection"`
}

type mtaWarmup struct {
	Enabled     bool    `json:"enabled"`
	StartPerDay int     `json:"start_per_day"`
	GrowthPct   int     `json:"growth_pct"`
	StartedOn   *string `json:"started_on"`
}

type mtaRetry struct {
	MaxAgeHours int `json:"max_age_hours"`
}

type mtaHealth struct {
	State          string         `json:"state" enum:"healthy,degraded,down"`
	Since          endpoint.Stamp `json:"since"`
	LastError      *string        `json:"last_error"`
	SentToday      int            `json:"sent_today"`
	RemainingToday *int           `json:"remaining_today" doc:"null without a cap per day"`
}

// Defaults of a warm-up that is off (contract 5.5).
var noWarmup = mtaWarmup{StartPerDay: 200, GrowthPct: 30}

func rowOfMTAConfig(c lane.Config, health map[id.MTAConfig]lane.Health) mtaConfigRow {
	row := mtaConfigRow{
		ID: c.ID, TenantID: c.Tenant, Key: c.Key, Name: c.Name, Type: c.Type, Active: c.Active,
		Settings:        sinkSettings{FailPatterns: []any{}},
		Caps:            mtaCaps{MaxConnections: c.Caps.MaxConnections, MaxMessagesPerConnection: c.Caps.MaxMessagesPerConnection},
		DomainThrottles: []any{}, Warmup: noWarmup, Retry: mtaRetry{int(c.RetryMaxAge / time.Hour)},
		ReturnPathRecords: []any{}, CreatedAt: endpoint.At(c.CreatedAt),
	}
	if c.Type == lane.SMTP {
		row.Settings = smtpSettings{
			Host: c.SMTP.Host, Port: c.SMTP.Port, TLS: c.SMTP.TLS, Auth: c.SMTP.Auth, Username: orNull(c.SMTP.Username),
			HasPassword: c.SMTP.HasPassword, HELOHost: orNull(c.SMTP.HELO), DKIMSign: c.SMTP.DKIMSign,
		}
	}
	if h, ok := health[c.ID]; ok {
		row.Health = &mtaHealth{State: h.State, Since: endpoint.At(h.Since), LastError: orNull(h.LastError), SentToday: h.SentToday}
	}
	return row
}

// showMTAConfigs returns configs with how they fare.
func (a *API) showMTAConfigs(ctx context.Context, p auth.Principal, list ...lane.Config) ([]mtaConfigRow, error) {
	ids := make([]id.MTAConfig, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	var health map[id.MTAConfig]lane.Health // nobody watches the lanes yet: null for all
	if a.Health != nil {
		var err error
		if health, err = a.Health.Health(ctx, p.Tenant, ids); err != nil {
			return nil, err
		}
	}
	rows := make([]mtaConfigRow, len(list))
	for i, c := range list {
		rows[i] = rowOfMTAConfig(c, health)
	}
	return rows, nil
}

func (a *API) showMTAConfig(ctx context.Context, p auth.Principal, c lane.Config) (mtaConfigRow, error) {
	rows, err := a.showMTAConfigs(ctx, p, c)
	if err != nil {
		return mtaConfigRow{}, err
	}
	return rows[0], nil
}

// mtaConfigBody is what may be said of an MTA config. Fields that nothing
// heeds yet are read too, so that more than their default can be refused.
type mtaConfigBody struct {
	Name              endpoint.Opt[string]          `json:"name" nullable:"false"`
	Type              endpoint.Opt[lane.Type]       `json:"type" nullable:"false"`
	Active            endpoint.Opt[bool]            `json:"active" nullable:"false"`
	Settings          endpoint.Opt[mtaSettingsBody] `json:"settings" nullable:"false"`
	Caps              endpoint.Opt[mtaCapsBody]     `json:"caps" nullable:"false"`
	DomainThrottles   endpoint.Opt[[]any]           `json:"domain_throttles"`
	Warmup            endpoint.Opt[mtaWarmupBody]   `json:"warmup"`
	Retry             endpoint.Opt[mtaRetryBody]    `json:"retry" nullable:"false"`
	ReturnPathRecords endpoint.Opt[[]any]           `json:"return_path_records"`
}

type mtaSettingsBody struct {
	Host          endpoint.Opt[string]              `json:"host" nullable:"false"`
	Port          endpoint.Opt[int]                 `json:"port" nullable:"false"`
	TLS           endpoint.Opt[smtpclient.TLSMode]  `json:"tls" nullable:"false"`
	Auth          endpoint.Opt[smtpclient.AuthMode] `json:"auth" nullable:"false"`
	Username      endpoint.Opt[string]              `json:"username"`
	Password      endpoint.Opt[string]              `json:"password"`
	HELOHost      endpoint.Opt[string]              `json:"helo_host"`
	DKIMSign      endpoint.Opt[bool]                `json:"dkim_sign" nullable:"false"`
	BounceMailbox any                               `json:"bounce_mailbox" required:"false"`
	FailPatterns  endpoint.Opt[[]any]               `json:"fail_patterns"`
}

type mtaCapsBody struct {
	MaxPerSecond             endpoint.Opt[int] `json:"max_per_second"`
	MaxPerMinute             endpoint.Opt[int] `json:"max_per_minute"`
	MaxPerHour               endpoint.Opt[int] `json:"max_per_hour"`
	MaxPerDay                endpoint.Opt[int] `json:"max_per_day"`
	MaxConnections           endpoint.Opt[int] `json:"max_connections" nullable:"false"`
	MaxMessagesPerConnection endpoint.Opt[int] `json:"max_messages_per_connection" nullable:"false"`
}

type mtaWarmupBody struct {
	Enabled     endpoint.Opt[bool]   `json:"enabled" nullable:"false"`
	StartPerDay endpoint.Opt[int]    `json:"start_per_day" nullable:"false"`
	GrowthPct   endpoint.Opt[int]    `json:"growth_pct" nullable:"false"`
	StartedOn   endpoint.Opt[string] `json:"started_on"`
}

type mtaRetryBody struct {
	MaxAgeHours endpoint.Opt[int] `json:"max_age_hours" nullable:"false"`
}

func (b mtaConfigBody) fields() lane.Fields {
	s, c := b.Settings.Value, b.Caps.Value
	return lane.Fields{
		Name: b.Name.Pointer(), Type: b.Type.Pointer(), Active: b.Active.Pointer(),
		Host: s.Host.Pointer(), Port: s.Port.Pointer(), TLS: s.TLS.Pointer(), Auth: s.Auth.Pointer(),
		Username: cleared(s.Username), Password: cleared(s.Password), HELO: cleared(s.HELOHost), DKIMSign: s.DKIMSign.Pointer(),
		MaxConnections: c.MaxConnections.Pointer(), MaxMessagesPerConnection: c.MaxMessagesPerConnection.Pointer(),
		RetryMaxAgeHours: b.Retry.Value.MaxAgeHours.Pointer(), Dormant: b.dormant(),
	}
}

// dormant names the fields that ask for more than the default of what does
// nothing yet.
func (b mtaConfigBody) dormant() (paths []string) {
	s, c, w := b.Settings.Value, b.Caps.Value, b.Warmup.Value
	for _, f := range []struct {
		path string
		more bool
	}{
		{"settings.bounce_mailbox", s.BounceMailbox != nil},
		{"settings.fail_patterns", len(s.FailPatterns.Value) > 0},
		{"caps.max_per_second", c.MaxPerSecond.Given()},
		{"caps.max_per_minute", c.MaxPerMinute.Given()},
		{"caps.max_per_hour", c.MaxPerHour.Given()},
		{"caps.max_per_day", c.MaxPerDay.Given()},
		{"domain_throttles", len(b.DomainThrottles.Value) > 0},
		{"warmup.enabled", w.Enabled.Value},
		{"warmup.start_per_day", w.StartPerDay.Or(noWarmup.StartPerDay) != noWarmup.StartPerDay},
		{"warmup.growth_pct", w.GrowthPct.Or(noWarmup.GrowthPct) != noWarmup.GrowthPct},
		{"warmup.started_on", w.StartedOn.Given()},
		{"return_path_records", len(b.ReturnPathRecords.Value) > 0},
	} {
		if f.more {
			paths = append(paths, f.path)
		}
	}
	return paths
}

func (a *API) laneRules() lane.Rules { return lane.Rules{AllowPrivate: a.AllowPrivateRelays} }

func (a *API) listMTAConfigs(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[mtaConfigRow], error) {
	list, err := lane.List(ctx, a.DB, p.Tenant)
	if err != nil {
		return endpoint.List[mtaConfigRow]{}, err
	}
	rows, err := a.showMTAConfigs(ctx, p, list...)
	return endpoint.Whole(rows), err
}

func (a *API) createMTAConfig(ctx context.Context, p auth.Principal, in *struct{ Body mtaConfigBody }) (mtaConfigRow, error) {
	var c lane.Config
	err := a.audited(ctx, p, "create", "mta_config", func(tx *sqldb.DB) (_ string, err error) {
		c, err = lane.Create(ctx, tx, a.Box, p.Tenant, in.Body.fields(), a.laneRules(), a.Now())
		return string(c.ID), err
	})
	if err != nil {
		return mtaConfigRow{}, err
	}
	return a.showMTAConfig(ctx, p, c)
}

func (a *API) getMTAConfig(ctx context.Context, p auth.Principal, in *RecordPath) (mtaConfigRow, error) {
	config, err := named[id.MTAConfig](*in, lane.ErrNotFound)
	if err != nil {
		return mtaConfigRow{}, err
	}
	c, err := lane.ByID(ctx, a.DB, p.Tenant, config)
	if err != nil {
		return mtaConfigRow{}, err
	}
	return a.showMTAConfig(ctx, p, c)
}

type updateMTAConfigRequest struct {
	RecordPath
	Body mtaConfigBody
}

func (a *API) updateMTAConfig(ctx context.Context, p auth.Principal, in *updateMTAConfigRequest) (mtaConfigRow, error) {
	config, err := named[id.MTAConfig](in.RecordPath, lane.ErrNotFound)
	if err != nil {
		return mtaConfigRow{}, err
	}
	var c lane.Config
	err = a.audited(ctx, p, "update", "mta_config", func(tx *sqldb.DB) (_ string, err error) {
		c, err = lane.Update(ctx, tx, a.Box, p.Tenant, config, in.Body.fields(), a.laneRules())
		return string(config), err
	})
	if err != nil {
		return mtaConfigRow{}, err
	}
	return a.showMTAConfig(ctx, p, c)
}

func (a *API) deleteMTAConfig(ctx context.Context, p auth.Principal, in *RecordPath) (endpoint.None, error) {
	config, err := named[id.MTAConfig](*in, lane.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, a.audited(ctx, p, "delete", "mta_config", func(tx *sqldb.DB) (string, error) {
		return string(config), sender.RemoveLane(ctx, tx, p.Tenant, config, a.Usage)
	})
}

type testMTAConfigRequest struct {
	RecordPath
	Body struct {
		To string `json:"to"`
	}
}

type testedMTAConfig struct {
	Accepted     bool   `json:"accepted"`
	SMTPCode     *int   `json:"smtp_code" doc:"null when no server answered"`
	SMTPResponse string `json:"smtp_response"`
	LatencyMS    int64  `json:"latency_ms"`
}

func (a *API) testMTAConfig(ctx context.Context, p auth.Principal, in *testMTAConfigRequest) (testedMTAConfig, error) {
	var problems fault.Problems
	to := oneAddress(&problems, "to", in.Body.To)
	if err := problems.Err(); err != nil {
		return testedMTAConfig{}, err
	}
	config, err := named[id.MTAConfig](in.RecordPath, lane.ErrNotFound)
	if err != nil {
		return testedMTAConfig{}, err
	}
	if _, err := lane.ByID(ctx, a.DB, p.Tenant, config); err != nil {
		return testedMTAConfig{}, err
	}
	trial, err := a.Tester.Try(ctx, p.Tenant, config, "", to)
	if err != nil {
		return testedMTAConfig{}, err
	}
	row := testedMTAConfig{Accepted: trial.Accepted, SMTPResponse: trial.Response, LatencyMS: trial.Latency.Milliseconds()}
	if trial.Code != 0 {
		row.SMTPCode = &trial.Code
	}
	return row, nil
}

// oneAddress returns the address in a field as it is mailed to.
func oneAddress(p *fault.Problems, path, text string) string {
	addr, err := address.Normalize(text)
	if err != nil {
		p.Add(path, err.Error())
	}
	return addr
}

// noSuchConfig turns "not found" of an MTA config that a body names into a
// fault of that field.
func noSuchConfig(err error) error {
	if errors.Is(err, lane.ErrNotFound) {
		return fault.Input(fault.Field{Path: "mta_config_id", Message: "no such MTA config"})
	}
	return err
}
