package sendingapi

import (
	"slices"

	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/lane"
)

// mtaConfigBody is the body of a create or an update.
type mtaConfigBody struct {
	Name              endpoint.Opt[string]                 `json:"name" nullable:"false"`
	Type              endpoint.Opt[lane.Type]              `json:"type" nullable:"false"`
	Active            endpoint.Opt[bool]                   `json:"active" nullable:"false"`
	Settings          endpoint.Opt[mtaSettingsBody]        `json:"settings" nullable:"false"`
	Caps              endpoint.Opt[mtaCapsBody]            `json:"caps" nullable:"false"`
	DomainThrottles   endpoint.Opt[[]mtaThrottleBody]      `json:"domain_throttles"`
	Warmup            endpoint.Opt[mtaWarmupBody]          `json:"warmup"`
	Retry             endpoint.Opt[mtaRetryBody]           `json:"retry" nullable:"false"`
	ReturnPathRecords endpoint.Opt[[]returnPathRecordBody] `json:"return_path_records" doc:"of types smtp and ses, at most 10: DNS records that the relay needs so that bounces come back to it"`
}

type returnPathRecordBody struct {
	Type     endpoint.Opt[string] `json:"type" nullable:"false" doc:"MX, TXT or CNAME"`
	Host     endpoint.Opt[string] `json:"host" doc:"the full name of a host in a sending domain, which alone needs the record; null: the return_path_host of each sending domain"`
	Value    endpoint.Opt[string] `json:"value" nullable:"false" doc:"of MX and CNAME records a host name"`
	Priority endpoint.Opt[int]    `json:"priority" doc:"of MX records only; default 10"`
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

	FailPatterns endpoint.Opt[[]failPatternBody] `json:"fail_patterns" doc:"of type sink: mail that is refused instead of stored, at most 50; the first pattern that matches decides"`
}

type failPatternBody struct {
	Pattern  endpoint.Opt[string] `json:"pattern" nullable:"false" doc:"an address or a domain; * stands for any characters, except @"`
	Response endpoint.Opt[string] `json:"response" nullable:"false" doc:"an SMTP reply of one line with a code from 400 to 599, such as 550 5.1.1 no such user"`
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

// failPatterns returns the patterns of a sink, or nil if they are absent.
func failPatterns(o endpoint.Opt[[]failPatternBody]) *[]lane.FailPatternFields {
	if !o.Set {
		return nil
	}
	list := make([]lane.FailPatternFields, len(o.Value))
	for i, f := range o.Value {
		list[i] = lane.FailPatternFields{Pattern: f.Pattern.Value, Response: f.Response.Value}
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

func (b mtaConfigBody) fields() lane.Fields {
	s, c := b.Settings.Value, b.Caps.Value
	return lane.Fields{
		Name: b.Name.Pointer(), Type: b.Type.Pointer(), Active: b.Active.Pointer(),
		Host: s.Host.Pointer(), Port: s.Port.Pointer(), TLS: s.TLS.Pointer(), Auth: s.Auth.Pointer(),
		Username: wire.NullAsZero(s.Username), Password: wire.NullAsZero(s.Password), HELO: wire.NullAsZero(s.HELOHost), DKIMSign: s.DKIMSign.Pointer(),
		BounceMailbox: bounceMailboxFields(s.BounceMailbox), IPs: sourceFields(s.IPs),
		Region: s.Region.Pointer(), AccessKeyID: s.AccessKeyID.Pointer(), SecretAccessKey: s.SecretAccessKey.Pointer(), ConfigurationSet: wire.NullAsZero(s.ConfigurationSet), TopicARNs: wire.NullAsZero(s.TopicARNs),
		FailPatterns: failPatterns(s.FailPatterns),
		MaxPerSecond: boundOf(c.MaxPerSecond), MaxPerMinute: boundOf(c.MaxPerMinute), MaxPerHour: boundOf(c.MaxPerHour), MaxPerDay: boundOf(c.MaxPerDay),
		MaxConnections: c.MaxConnections.Pointer(), MaxMessagesPerConnection: c.MaxMessagesPerConnection.Pointer(),
		Throttles: b.throttles(), Warmup: b.warmup(), RetryMaxAgeHours: b.Retry.Value.MaxAgeHours.Pointer(),
		ReturnPath: b.returnPath(),
	}
}

// secrets returns the fields of secrets that the request sets.
func (b mtaConfigBody) secrets() (fields []string) {
	for name, set := range map[string]bool{
		"settings.password": b.Settings.Value.Password.Set, "settings.secret_access_key": b.Settings.Value.SecretAccessKey.Set,
		"settings.bounce_mailbox.password": b.Settings.Value.BounceMailbox.Value.Password.Set,
	} {
		if set {
			fields = append(fields, name)
		}
	}
	slices.Sort(fields)
	return fields
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
		Enabled: w.Enabled.Pointer(), StartPerDay: w.StartPerDay.Pointer(), GrowthPct: w.GrowthPct.Pointer(), StartedOn: wire.NullAsZero(w.StartedOn),
	}
}

// returnPath returns the records of a return path, or nil if they are absent.
func (b mtaConfigBody) returnPath() *[]lane.ReturnPathRecordFields {
	if !b.ReturnPathRecords.Set {
		return nil
	}
	list := make([]lane.ReturnPathRecordFields, len(b.ReturnPathRecords.Value))
	for i, r := range b.ReturnPathRecords.Value {
		list[i] = lane.ReturnPathRecordFields{Type: r.Type.Value, Host: r.Host.Value, Value: r.Value.Value, Priority: r.Priority.Pointer()}
	}
	return &list
}
