package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/render"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/spread"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/tenant"
	"github.com/packetboat/packetboat/internal/testmail"
	"github.com/packetboat/packetboat/internal/track"
	"github.com/packetboat/packetboat/internal/usage"
)

// Tester sends test mails. Try sends one mail through an MTA config, from an identity that it
// chooses if none is given, and returns the server's reply. An error means that no mail was tried.
type Tester interface {
	Try(ctx context.Context, tenant id.Tenant, config id.MTAConfig, identity id.Identity, to string) (lane.Trial, error)
	render.TestSender
}

// mtaConfigsAPI serves MTA configs.
type mtaConfigsAPI struct {
	db                 *sqldb.DB
	box                *secret.Box
	allowPrivateRelays bool
	now                func() time.Time
	tester             Tester
	usage              usage.Finder
	keys               *track.Keys
	hooks              string // the address of hooks, without a token
}

// register adds the operations on MTA configs.
func (api mtaConfigsAPI) register(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "mta configs", Session: true, Faults: faults}
	}
	admin := func(op endpoint.Op) endpoint.Op {
		op.Role = auth.Admin
		return op
	}
	create := admin(op("createMtaConfig", "Create an MTA config.", lane.ErrTooMany))
	create.Status = 201
	endpoint.Handle(r, "GET /t/{tenant}/api/mta-configs", op("listMtaConfigs", "List MTA configs, by name."), api.listMTAConfigs)
	endpoint.Handle(r, "POST /t/{tenant}/api/mta-configs", create.ExampleBody(`{"name": "Main relay", "type": "smtp", "settings": {"host": "smtp.example.net", "port": 587, "tls": "starttls", "auth": "plain", "username": "packetboat", "password": "$RELAY_PASSWORD"}}`), api.createMTAConfig, api.checkNewMTAConfig)
	endpoint.Handle(r, "GET /t/{tenant}/api/mta-configs/{id}", op("getMtaConfig", "Get an MTA config.", lane.ErrNotFound), api.getMTAConfig)
	endpoint.Handle(r, "PUT /t/{tenant}/api/mta-configs/{id}", admin(op("updateMtaConfig", "Update an MTA config.", lane.ErrNotFound)).ExampleBody(`{"name": "Main relay", "caps": {"max_per_second": 10, "max_connections": 5}}`), api.updateMTAConfig, api.checkMTAConfig)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/mta-configs/{id}", admin(op("deleteMtaConfig", "Delete an MTA config.", lane.ErrNotFound, lane.ErrInUse)), api.deleteMTAConfig)
	endpoint.Handle(r, "POST /t/{tenant}/api/mta-configs/{id}/test", admin(op("testMtaConfig", "Send one mail through an MTA config.", lane.ErrNotFound, testmail.ErrLimit)).ExampleBody(`{"to": "ada@example.com"}`), api.testMTAConfig)
}

type mtaConfigRow struct {
	ID                id.MTAConfig   `json:"id" format:"uuid"`
	TenantID          id.Tenant      `json:"tenant_id" format:"uuid"`
	Key               string         `json:"key" doc:"The value of mta_config_key."`
	Name              string         `json:"name"`
	Type              lane.Type      `json:"type" enum:"smtp,direct_mx,ses,sink"`
	Active            bool           `json:"active"`
	Settings          any            `json:"settings"`
	Caps              mtaCaps        `json:"caps"`
	DomainThrottles   []mtaThrottle  `json:"domain_throttles"`
	Warmup            mtaWarmup      `json:"warmup"`
	Retry             mtaRetry       `json:"retry"`
	ReturnPathRecords []any          `json:"return_path_records"`
	HookURL           *string        `json:"hook_url" doc:"of type smtp: where the relay may post an array of {message_id, event, code, status, reason, at}; event is bounced, complained, delivered or deferred. Of type ses: the endpoint to subscribe to the topics in topic_arns"`
	Health            mtaHealth      `json:"health"`
	CreatedAt         endpoint.Stamp `json:"created_at"`
}

type mtaCaps struct {
	MaxPerSecond             *int `json:"max_per_second" doc:"null is no limit, as for the next three"`
	MaxPerMinute             *int `json:"max_per_minute"`
	MaxPerHour               *int `json:"max_per_hour"`
	MaxPerDay                *int `json:"max_per_day" doc:"of a day in the account's time zone"`
	MaxConnections           int  `json:"max_connections"`
	MaxMessagesPerConnection int  `json:"max_messages_per_connection"`
}

type mtaThrottle struct {
	Pattern        string `json:"pattern" doc:"gmail, outlook, yahoo, icloud, aol, proton, or a recipient domain"`
	MaxConnections *int   `json:"max_connections"`
	MaxPerMinute   *int   `json:"max_per_minute"`
	MaxPerHour     *int   `json:"max_per_hour"`
}

type mtaWarmup struct {
	Enabled     bool    `json:"enabled"`
	StartPerDay int     `json:"start_per_day"`
	GrowthPct   int     `json:"growth_pct"`
	StartedOn   *string `json:"started_on" doc:"a day in the account's time zone"`
}

type mtaRetry struct {
	MaxAgeHours int `json:"max_age_hours"`
}

type mtaHealth struct {
	State          lane.State     `json:"state" enum:"healthy,degraded,down"`
	Since          endpoint.Stamp `json:"since"`
	LastError      *string        `json:"last_error"`
	SentToday      int            `json:"sent_today"`
	RemainingToday *int           `json:"remaining_today" doc:"null without a cap per day or a warm-up"`
}

func (api mtaConfigsAPI) listMTAConfigs(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[mtaConfigRow], error) {
	list, err := lane.List(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[mtaConfigRow]{}, err
	}
	rows, err := api.showMTAConfigs(ctx, p, list...)
	return endpoint.Whole(rows), err
}

// showMTAConfigs returns the rows of configs with their health.
func (api mtaConfigsAPI) showMTAConfigs(ctx context.Context, p auth.Principal, list ...lane.Config) ([]mtaConfigRow, error) {
	stats, err := lane.StatsOf(ctx, api.db, p.Tenant, list, api.now())
	if err != nil {
		return nil, err
	}
	read, err := lane.MailboxStates(ctx, api.db, p.Tenant, lane.IDs(list))
	if err != nil {
		return nil, err
	}
	rows := make([]mtaConfigRow, len(list))
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

type sinkSettings struct {
	FailPatterns []any `json:"fail_patterns"`
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
	BounceMailbox *bounceMailboxRow   `json:"bounce_mailbox" doc:"read by IMAP for reports of the relay; null: none"`
}

type bounceMailboxRow struct {
	Host        string             `json:"host"`
	Port        int                `json:"port"`
	Username    string             `json:"username"`
	HasPassword bool               `json:"has_password"`
	TLS         smtpclient.TLSMode `json:"tls" enum:"none,starttls,implicit"`
	LastReadAt  *endpoint.Stamp    `json:"last_read_at" doc:"the last time it was read without a failure; null: not yet"`
	LastError   *string            `json:"last_error" doc:"what failed when it was read last; null: nothing"`
}

type directSettings struct {
	IPs []directSource     `json:"ips"`
	TLS smtpclient.TLSMode `json:"tls" enum:"opportunistic,required"`
}

type directSource struct {
	IP       string `json:"ip"`
	HELOHost string `json:"helo_host"`
}

type sesSettings struct {
	Region             string   `json:"region"`
	AccessKeyID        string   `json:"access_key_id"`
	HasSecretAccessKey bool     `json:"has_secret_access_key"`
	ConfigurationSet   *string  `json:"configuration_set"`
	TopicARNs          []string `json:"topic_arns" doc:"the topics of Amazon SNS whose notifications hook_url accepts"`
}

func rowOfMTAConfig(c lane.Config, stats lane.Stats, read lane.MailboxState) mtaConfigRow {
	row := mtaConfigRow{
		ID: c.ID, TenantID: c.Tenant, Key: c.Key, Name: c.Name, Type: c.Type, Active: c.Active,
		Settings: sinkSettings{FailPatterns: []any{}},
		Caps: mtaCaps{
			MaxPerSecond: orNull(c.Caps.MaxPerSecond), MaxPerMinute: orNull(c.Caps.MaxPerMinute),
			MaxPerHour: orNull(c.Caps.MaxPerHour), MaxPerDay: orNull(c.Caps.MaxPerDay),
			MaxConnections: c.Caps.MaxConnections, MaxMessagesPerConnection: c.Caps.MaxMessagesPerConnection,
		},
		DomainThrottles: make([]mtaThrottle, len(c.Throttles)),
		Warmup: mtaWarmup{
			Enabled: c.Warmup.Enabled, StartPerDay: c.Warmup.StartPerDay, GrowthPct: c.Warmup.GrowthPct, StartedOn: orNull(string(c.Warmup.StartedOn)),
		},
		Retry: mtaRetry{int(c.RetryMaxAge / time.Hour)}, ReturnPathRecords: []any{}, CreatedAt: endpoint.At(c.CreatedAt),
		Health: mtaHealth{
			State: stats.State, Since: endpoint.At(stats.Since), LastError: orNull(stats.LastError),
			SentToday: stats.SentToday, RemainingToday: stats.RemainingToday,
		},
	}
	for i, t := range c.Throttles {
		row.DomainThrottles[i] = mtaThrottle{t.Pattern, orNull(t.MaxConnections), orNull(t.MaxPerMinute), orNull(t.MaxPerHour)}
	}
	switch c.Type {
	case lane.SMTP:
		row.Settings = smtpSettingsOf(c.SMTP, read)
	case lane.DirectMX:
		settings := directSettings{IPs: make([]directSource, len(c.Direct.IPs)), TLS: c.Direct.TLS}
		for i, source := range c.Direct.IPs {
			settings.IPs[i] = directSource{source.IP.String(), source.HELO}
		}
		row.Settings = settings
	case lane.SES:
		row.Settings = sesSettings{
			Region: c.SES.Region, AccessKeyID: c.SES.AccessKeyID, HasSecretAccessKey: c.SES.HasSecret, ConfigurationSet: orNull(c.SES.ConfigurationSet),
			TopicARNs: append([]string{}, c.SES.TopicARNs...),
		}
	}
	return row
}

func smtpSettingsOf(s lane.SMTPSettings, read lane.MailboxState) smtpSettings {
	row := smtpSettings{
		Host: s.Host, Port: s.Port, TLS: s.TLS, Auth: s.Auth, Username: orNull(s.Username),
		HasPassword: s.HasPassword, HELOHost: orNull(s.HELO), DKIMSign: s.DKIMSign,
	}
	if m := s.BounceMailbox; m != nil {
		row.BounceMailbox = &bounceMailboxRow{
			Host: m.Host, Port: m.Port, Username: m.Username, HasPassword: m.HasPassword, TLS: m.TLS,
			LastReadAt: endpoint.AtOr(read.ReadAt), LastError: orNull(read.LastError),
		}
	}
	return row
}

type createMTAConfigRequest struct{ Body mtaConfigBody }

// mtaConfigBody is the body of a create or an update. It includes fields without an effect yet, so
// that values other than the default are refused.
type mtaConfigBody struct {
	Name              endpoint.Opt[string]            `json:"name" nullable:"false"`
	Type              endpoint.Opt[lane.Type]         `json:"type" nullable:"false"`
	Active            endpoint.Opt[bool]              `json:"active" nullable:"false"`
	Settings          endpoint.Opt[mtaSettingsBody]   `json:"settings" nullable:"false"`
	Caps              endpoint.Opt[mtaCapsBody]       `json:"caps" nullable:"false"`
	DomainThrottles   endpoint.Opt[[]mtaThrottleBody] `json:"domain_throttles"`
	Warmup            endpoint.Opt[mtaWarmupBody]     `json:"warmup"`
	Retry             endpoint.Opt[mtaRetryBody]      `json:"retry" nullable:"false"`
	ReturnPathRecords endpoint.Opt[[]any]             `json:"return_path_records"`
}

type mtaSettingsBody struct {
	Host          endpoint.Opt[string]              `json:"host" nullable:"false"`
	Port          endpoint.Opt[int]                 `json:"port" nullable:"false"`
	TLS           endpoint.Opt[smtpclient.TLSMode]  `json:"tls" nullable:"false" doc:"of type smtp none, starttls or implicit; of type direct_mx opportunistic or required"`
	Auth          endpoint.Opt[smtpclient.AuthMode] `json:"auth" nullable:"false"`
	Username      endpoint.Opt[string]              `json:"username"`
	Password      endpoint.Opt[string]              `json:"password"`
	HELOHost      endpoint.Opt[string]              `json:"helo_host"`
	DKIMSign      endpoint.Opt[bool]                `json:"dkim_sign" nullable:"false"`
	BounceMailbox endpoint.Opt[bounceMailboxBody]   `json:"bounce_mailbox" doc:"null removes it"`

	IPs endpoint.Opt[[]directSourceBody] `json:"ips" nullable:"false" doc:"of type direct_mx: addresses of this machine from which mail is sent"`

	Region           endpoint.Opt[string]   `json:"region" nullable:"false" doc:"of type ses"`
	AccessKeyID      endpoint.Opt[string]   `json:"access_key_id" nullable:"false"`
	SecretAccessKey  endpoint.Opt[string]   `json:"secret_access_key" nullable:"false" doc:"never shown"`
	ConfigurationSet endpoint.Opt[string]   `json:"configuration_set"`
	TopicARNs        endpoint.Opt[[]string] `json:"topic_arns" doc:"topics of Amazon SNS whose notifications are accepted, at most 10"`

	FailPatterns endpoint.Opt[[]any] `json:"fail_patterns"`
}

type directSourceBody struct {
	IP       endpoint.Opt[string] `json:"ip" nullable:"false"`
	HELOHost endpoint.Opt[string] `json:"helo_host" nullable:"false" doc:"the name to which the address resolves back"`
}

type bounceMailboxBody struct {
	Host     endpoint.Opt[string]             `json:"host" nullable:"false"`
	Port     endpoint.Opt[int]                `json:"port" nullable:"false"`
	Username endpoint.Opt[string]             `json:"username" nullable:"false"`
	Password endpoint.Opt[string]             `json:"password" nullable:"false" doc:"never shown"`
	TLS      endpoint.Opt[smtpclient.TLSMode] `json:"tls" nullable:"false"`
}

// bounceMailboxFields returns the fields of a bounce mailbox, or nil if it is absent.
func bounceMailboxFields(o endpoint.Opt[bounceMailboxBody]) *lane.BounceMailboxFields {
	b := o.Value
	switch {
	case !o.Set:
		return nil
	case o.Null:
		return &lane.BounceMailboxFields{Remove: true}
	}
	return &lane.BounceMailboxFields{
		Host: b.Host.Pointer(), Port: b.Port.Pointer(), Username: b.Username.Pointer(), Password: b.Password.Pointer(), TLS: b.TLS.Pointer(),
	}
}

// sourceFields returns the fields of source addresses, or nil if they are absent.
func sourceFields(o endpoint.Opt[[]directSourceBody]) *[]lane.SourceFields {
	if !o.Set {
		return nil
	}
	list := make([]lane.SourceFields, len(o.Value))
	for i, s := range o.Value {
		list[i] = lane.SourceFields{IP: s.IP.Value, HELO: s.HELOHost.Value}
	}
	return &list
}

type mtaCapsBody struct {
	MaxPerSecond             endpoint.Opt[int] `json:"max_per_second"`
	MaxPerMinute             endpoint.Opt[int] `json:"max_per_minute"`
	MaxPerHour               endpoint.Opt[int] `json:"max_per_hour"`
	MaxPerDay                endpoint.Opt[int] `json:"max_per_day"`
	MaxConnections           endpoint.Opt[int] `json:"max_connections" nullable:"false"`
	MaxMessagesPerConnection endpoint.Opt[int] `json:"max_messages_per_connection" nullable:"false"`
}

type mtaThrottleBody struct {
	Pattern        endpoint.Opt[string] `json:"pattern" nullable:"false"`
	MaxConnections endpoint.Opt[int]    `json:"max_connections"`
	MaxPerMinute   endpoint.Opt[int]    `json:"max_per_minute"`
	MaxPerHour     endpoint.Opt[int]    `json:"max_per_hour"`
}

type mtaWarmupBody struct {
	Enabled     endpoint.Opt[bool]   `json:"enabled" nullable:"false"`
	StartPerDay endpoint.Opt[int]    `json:"start_per_day" nullable:"false"`
	GrowthPct   endpoint.Opt[int]    `json:"growth_pct" nullable:"false"`
	StartedOn   endpoint.Opt[string] `json:"started_on" doc:"null: the day it is enabled"`
}

type mtaRetryBody struct {
	MaxAgeHours endpoint.Opt[int] `json:"max_age_hours" nullable:"false"`
}

func (api mtaConfigsAPI) checkNewMTAConfig(_ auth.Principal, in *createMTAConfigRequest) error {
	return in.Body.fields().CheckNew(lane.Rules{AllowPrivate: api.allowPrivateRelays})
}

func (api mtaConfigsAPI) createMTAConfig(ctx context.Context, p auth.Principal, in *createMTAConfigRequest) (mtaConfigRow, error) {
	var c lane.Config
	err := audited(ctx, api.db, p, "create", "mta_config", api.now(), func(tx *sqldb.DB) (_ string, err error) {
		rules, err := api.laneRules(ctx, tx, p.Tenant)
		if err != nil {
			return "", err
		}
		c, err = lane.Create(ctx, tx, api.box, p.Tenant, in.Body.fields(), rules, api.now())
		return c.ID.String(), err
	})
	if err != nil {
		return mtaConfigRow{}, err
	}
	return api.showMTAConfig(ctx, p, c)
}

func (b mtaConfigBody) fields() lane.Fields {
	s, c := b.Settings.Value, b.Caps.Value
	return lane.Fields{
		Name: b.Name.Pointer(), Type: b.Type.Pointer(), Active: b.Active.Pointer(),
		Host: s.Host.Pointer(), Port: s.Port.Pointer(), TLS: s.TLS.Pointer(), Auth: s.Auth.Pointer(),
		Username: nullAsZero(s.Username), Password: nullAsZero(s.Password), HELO: nullAsZero(s.HELOHost), DKIMSign: s.DKIMSign.Pointer(),
		BounceMailbox: bounceMailboxFields(s.BounceMailbox), IPs: sourceFields(s.IPs),
		Region: s.Region.Pointer(), AccessKeyID: s.AccessKeyID.Pointer(), SecretAccessKey: s.SecretAccessKey.Pointer(), ConfigurationSet: nullAsZero(s.ConfigurationSet), TopicARNs: nullAsZero(s.TopicARNs),
		MaxPerSecond: boundOf(c.MaxPerSecond), MaxPerMinute: boundOf(c.MaxPerMinute), MaxPerHour: boundOf(c.MaxPerHour), MaxPerDay: boundOf(c.MaxPerDay),
		MaxConnections: c.MaxConnections.Pointer(), MaxMessagesPerConnection: c.MaxMessagesPerConnection.Pointer(),
		Throttles: b.throttles(), Warmup: b.warmup(), RetryMaxAgeHours: b.Retry.Value.MaxAgeHours.Pointer(), Dormant: b.unsupported(),
	}
}

// boundOf returns the bound that a field sets: none for null, and nil if the field is absent.
func boundOf(o endpoint.Opt[int]) *lane.Bound {
	if !o.Set {
		return nil
	}
	return &lane.Bound{To: o.Pointer()}
}

func (b mtaConfigBody) throttles() *[]lane.ThrottleFields {
	if !b.DomainThrottles.Set {
		return nil
	}
	list := []lane.ThrottleFields{}
	for _, t := range b.DomainThrottles.Value {
		list = append(list, lane.ThrottleFields{
			Pattern: t.Pattern.Value, MaxConnections: t.MaxConnections.Pointer(), MaxPerMinute: t.MaxPerMinute.Pointer(), MaxPerHour: t.MaxPerHour.Pointer(),
		})
	}
	return &list
}

func (b mtaConfigBody) warmup() lane.WarmupFields {
	if b.Warmup.Set && b.Warmup.Null {
		return lane.WarmupFields{Enabled: new(false), StartedOn: new("")}
	}
	w := b.Warmup.Value
	return lane.WarmupFields{
		Enabled: w.Enabled.Pointer(), StartPerDay: w.StartPerDay.Pointer(), GrowthPct: w.GrowthPct.Pointer(), StartedOn: nullAsZero(w.StartedOn),
	}
}

// unsupported returns the fields without an effect yet that have another value than the default.
func (b mtaConfigBody) unsupported() (paths []string) {
	s := b.Settings.Value
	for _, f := range []struct {
		path string
		more bool
	}{
		{"settings.fail_patterns", len(s.FailPatterns.Value) > 0},
		{"return_path_records", len(b.ReturnPathRecords.Value) > 0},
	} {
		if f.more {
			paths = append(paths, f.path)
		}
	}
	return paths
}

// laneRules returns the rules for writing a tenant's lanes now.
func (api mtaConfigsAPI) laneRules(ctx context.Context, db *sqldb.DB, t id.Tenant) (lane.Rules, error) {
	account, err := tenant.ByID(ctx, db, t)
	if err != nil {
		return lane.Rules{}, err
	}
	return lane.Rules{AllowPrivate: api.allowPrivateRelays, Today: spread.DayOf(api.now(), account.Location())}, nil
}

func (api mtaConfigsAPI) showMTAConfig(ctx context.Context, p auth.Principal, c lane.Config) (mtaConfigRow, error) {
	rows, err := api.showMTAConfigs(ctx, p, c)
	if err != nil {
		return mtaConfigRow{}, err
	}
	return rows[0], nil
}

func (api mtaConfigsAPI) getMTAConfig(ctx context.Context, p auth.Principal, in *RecordPath) (mtaConfigRow, error) {
	config, err := recordID[id.MTAConfig](in.ID, lane.ErrNotFound)
	if err != nil {
		return mtaConfigRow{}, err
	}
	c, err := lane.ByID(ctx, api.db, p.Tenant, config)
	if err != nil {
		return mtaConfigRow{}, err
	}
	return api.showMTAConfig(ctx, p, c)
}

type updateMTAConfigRequest struct {
	RecordPath
	Body mtaConfigBody
}

func (api mtaConfigsAPI) checkMTAConfig(_ auth.Principal, in *updateMTAConfigRequest) error {
	return in.Body.fields().Check(lane.Rules{AllowPrivate: api.allowPrivateRelays})
}

func (api mtaConfigsAPI) updateMTAConfig(ctx context.Context, p auth.Principal, in *updateMTAConfigRequest) (mtaConfigRow, error) {
	config, err := recordID[id.MTAConfig](in.ID, lane.ErrNotFound)
	if err != nil {
		return mtaConfigRow{}, err
	}
	var c lane.Config
	err = audited(ctx, api.db, p, "update", "mta_config", api.now(), func(tx *sqldb.DB) (_ string, err error) {
		rules, err := api.laneRules(ctx, tx, p.Tenant)
		if err != nil {
			return "", err
		}
		c, err = lane.Update(ctx, tx, api.box, p.Tenant, config, in.Body.fields(), rules)
		return config.String(), err
	})
	if err != nil {
		return mtaConfigRow{}, err
	}
	return api.showMTAConfig(ctx, p, c)
}

func (api mtaConfigsAPI) deleteMTAConfig(ctx context.Context, p auth.Principal, in *RecordPath) (endpoint.None, error) {
	config, err := recordID[id.MTAConfig](in.ID, lane.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, audited(ctx, api.db, p, "delete", "mta_config", api.now(), func(tx *sqldb.DB) (string, error) {
		return config.String(), sender.RemoveLane(ctx, tx, p.Tenant, config, api.usage)
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

func (api mtaConfigsAPI) testMTAConfig(ctx context.Context, p auth.Principal, in *testMTAConfigRequest) (testedMTAConfig, error) {
	var problems fault.Problems
	to := parseAddress(&problems, "to", in.Body.To)
	if err := problems.Err(); err != nil {
		return testedMTAConfig{}, err
	}
	config, err := recordID[id.MTAConfig](in.ID, lane.ErrNotFound)
	if err != nil {
		return testedMTAConfig{}, err
	}
	if _, err := lane.ByID(ctx, api.db, p.Tenant, config); err != nil {
		return testedMTAConfig{}, err
	}
	if err := testmail.Begin(ctx, api.db, testmail.Call{By: p, Action: "mta_config.test", Target: "mta_config", ID: config.String(), To: []string{to}, Mails: 1}, api.now()); err != nil {
		return testedMTAConfig{}, err
	}
	trial, err := api.tester.Try(ctx, p.Tenant, config, id.Identity{}, to)
	if err != nil {
		return testedMTAConfig{}, err
	}
	row := testedMTAConfig{Accepted: trial.Accepted, SMTPResponse: trial.Response, LatencyMS: trial.Latency.Milliseconds()}
	if trial.Code != 0 {
		row.SMTPCode = &trial.Code
	}
	return row, nil
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
