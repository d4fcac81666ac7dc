package sendingapi

import (
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/lane"
)

// MtaConfigRow is an MTA config in answers. The name is that of its schema.
type MtaConfigRow struct {
	ID                id.Lane               `json:"id" format:"uuid"`
	TenantID          id.Tenant             `json:"tenant_id" format:"uuid"`
	Key               string                `json:"key" doc:"The value of mta_config_key."`
	Name              string                `json:"name"`
	Type              lane.Type             `json:"type" enum:"smtp,direct_mx,ses,sink"`
	Active            bool                  `json:"active"`
	Settings          any                   `json:"settings"`
	Caps              mtaCaps               `json:"caps"`
	DomainThrottles   []mtaThrottle         `json:"domain_throttles"`
	Warmup            mtaWarmup             `json:"warmup"`
	Retry             mtaRetry              `json:"retry"`
	ReturnPathRecords []returnPathRecordRow `json:"return_path_records" doc:"of types smtp and ses: the records of sending domains if bounces come back to the relay; empty: they come to this installation"`
	HookURL           *string               `json:"hook_url" doc:"of type smtp: where the relay may post an array of {message_id, event, code, status, reason, at}; event is bounced, complained, delivered or deferred. Of type ses: the endpoint to subscribe to the topics in topic_arns"`
	Health            mtaHealth             `json:"health"`
	TestedAt          *endpoint.Stamp       `json:"tested_at" doc:"when the server last accepted a test, or mail, with the present connection settings and password; null: not yet"`
	CreatedAt         endpoint.Stamp        `json:"created_at"`
	Usage             *mtaUsage             `json:"usage,omitempty" doc:"with include_usage=true"`
}

// mtaUsage are the records that need an MTA config: without it they cannot send, or choose another.
type mtaUsage struct {
	Broadcasts        []usage.Holder `json:"broadcasts" doc:"as in the details of IN_USE"`
	Sequences         []usage.Holder `json:"sequences" doc:"as in the details of IN_USE"`
	SendingIdentities []usage.Holder `json:"sending_identities" doc:"that name it as theirs"`
	Account           bool           `json:"account" doc:"it is the default of the account"`
}

type returnPathRecordRow struct {
	Type     string  `json:"type" enum:"MX,TXT,CNAME"`
	Host     *string `json:"host" doc:"null: the return_path_host of each sending domain"`
	Value    string  `json:"value"`
	Priority *int    `json:"priority" doc:"of MX records"`
}

type mtaCaps struct {
	MaxPerSecond             *int `json:"max_per_second" doc:"null is no limit, as for the next three"`
	MaxPerMinute             *int `json:"max_per_minute"`
	MaxPerHour               *int `json:"max_per_hour"`
	MaxPerDay                *int `json:"max_per_day" doc:"of a day in the account's time zone"`
	PerHour                  *int `json:"at_most_per_hour" doc:"the lowest of these in an hour"`
	MaxConnections           int  `json:"max_connections"`
	MaxMessagesPerConnection int  `json:"max_messages_per_connection"`
}

type mtaThrottle struct {
	Pattern        string `json:"pattern" doc:"gmail, outlook, yahoo, icloud, aol, proton, or a recipient domain"`
	MaxConnections *int   `json:"max_connections"`
	MaxPerMinute   *int   `json:"max_per_minute"`
	MaxPerHour     *int   `json:"max_per_hour"`
	PerHour        *int   `json:"at_most_per_hour" doc:"the lowest of these in an hour"`
}

type mtaWarmup struct {
	Enabled     bool    `json:"enabled"`
	StartPerDay int     `json:"start_per_day"`
	GrowthPct   int     `json:"growth_pct"`
	StartedOn   *string `json:"started_on" doc:"a day in the account's time zone"`

	Days    []mtaWarmupDay    `json:"days,omitempty" doc:"from the start, at most 60 days ago, to 14 days ahead"`
	Sources []mtaSourceWarmup `json:"sources,omitempty" doc:"of type direct_mx: the limits of each address, to which start_per_day and growth_pct apply"`
}

// mtaWarmupDay is a day of a warm-up.
type mtaWarmupDay struct {
	Date    string `json:"date"`
	Planned int    `json:"planned" doc:"the limit of the day if every day before was good"`
	Limit   *int   `json:"limit" doc:"today: as it was earned; later: if every day from today on is good; before: null"`
}

func warmupDays(list []lane.WarmupDay) []mtaWarmupDay {
	rows := make([]mtaWarmupDay, len(list))
	for i, d := range list {
		rows[i] = mtaWarmupDay{string(d.Date), d.Planned, optional.Pointer(d.Limit)}
	}
	return rows
}

// hourly returns a limit an hour, or nil.
func hourly(n int, _ bool) *int { return optional.Pointer(n) }

// mtaSourceWarmup is the warm-up of one address.
type mtaSourceWarmup struct {
	IP        string         `json:"ip"`
	StartedOn string         `json:"started_on"`
	PerDay    int            `json:"per_day" doc:"mails on the last day that was evaluated, usually today"`
	Providers map[string]int `json:"providers" doc:"of these, mails to each provider group, and to other domains"`
}

func sourceWarmups(list []lane.SourceWarmup) []mtaSourceWarmup {
	rows := make([]mtaSourceWarmup, len(list))
	for i, s := range list {
		rows[i] = mtaSourceWarmup{s.IP.String(), string(s.StartedOn), s.Level, map[string]int{}}
		for _, p := range s.Providers {
			rows[i].Providers[p.Provider] = p.Level
		}
	}
	return rows
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
	HeldBounces    int            `json:"held_bounces" doc:"hard bounces without effect on contacts and the suppression list until the operator decides, because their provider reported unusually many recipients as unknown"`
}

type sinkSettings struct {
	FailPatterns []failPatternRow `json:"fail_patterns" doc:"the first that matches an address decides; mail that matches none is stored in the built-in mailbox"`
}

type failPatternRow struct {
	Pattern  string `json:"pattern" doc:"an address or a domain; * stands for any characters"`
	Response string `json:"response" doc:"the SMTP reply with which the mail is refused"`
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

func rowOfMTAConfig(c lane.Config, stats lane.Stats, read lane.MailboxState) MtaConfigRow {
	row := MtaConfigRow{
		ID: c.ID, TenantID: c.Tenant, Key: c.Key, Name: c.Name, Type: c.Type, Active: c.Active,
		Caps: mtaCaps{
			MaxPerSecond: optional.Pointer(c.Caps.MaxPerSecond), MaxPerMinute: optional.Pointer(c.Caps.MaxPerMinute),
			MaxPerHour: optional.Pointer(c.Caps.MaxPerHour), MaxPerDay: optional.Pointer(c.Caps.MaxPerDay), PerHour: hourly(c.Caps.Hourly()),
			MaxConnections: c.Caps.MaxConnections, MaxMessagesPerConnection: c.Caps.MaxMessagesPerConnection,
		},
		DomainThrottles: make([]mtaThrottle, len(c.Throttles)),
		Warmup: mtaWarmup{
			Enabled: c.Warmup.Enabled, StartPerDay: c.Warmup.StartPerDay, GrowthPct: c.Warmup.GrowthPct, StartedOn: optional.Pointer(string(c.Warmup.StartedOn)), Days: warmupDays(c.WarmupDays(stats.Today)), Sources: sourceWarmups(c.Warmup.Sources),
		},
		Retry: mtaRetry{int(c.RetryMaxAge / time.Hour)}, ReturnPathRecords: make([]returnPathRecordRow, len(c.ReturnPath)), CreatedAt: endpoint.At(c.CreatedAt), TestedAt: endpoint.AtOr(c.TestedAt),
		Health: mtaHealth{
			State: stats.State, Since: endpoint.At(stats.Since), LastError: optional.Pointer(stats.LastError),
			SentToday: stats.SentToday, RemainingToday: stats.RemainingToday, HeldBounces: stats.HeldBounces,
		},
	}
	for i, t := range c.Throttles {
		row.DomainThrottles[i] = mtaThrottle{t.Pattern, optional.Pointer(t.MaxConnections), optional.Pointer(t.MaxPerMinute), optional.Pointer(t.MaxPerHour), hourly(t.Hourly())}
	}
	for i, r := range c.ReturnPath {
		row.ReturnPathRecords[i] = returnPathRecordRow{Type: r.Type, Host: optional.Pointer(r.Host), Value: r.Value}
		if r.Type == "MX" {
			row.ReturnPathRecords[i].Priority = new(r.Priority)
		}
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
			Region: c.SES.Region, AccessKeyID: c.SES.AccessKeyID, HasSecretAccessKey: c.SES.HasSecret, ConfigurationSet: optional.Pointer(c.SES.ConfigurationSet),
			TopicARNs: append([]string{}, c.SES.TopicARNs...),
		}
	case lane.Sink:
		settings := sinkSettings{FailPatterns: make([]failPatternRow, len(c.Sink.FailPatterns))}
		for i, f := range c.Sink.FailPatterns {
			settings.FailPatterns[i] = failPatternRow(f)
		}
		row.Settings = settings
	}
	return row
}

func smtpSettingsOf(s lane.SMTPSettings, read lane.MailboxState) smtpSettings {
	row := smtpSettings{
		Host: s.Host, Port: s.Port, TLS: s.TLS, Auth: s.Auth, Username: optional.Pointer(s.Username),
		HasPassword: s.HasPassword, HELOHost: optional.Pointer(s.HELO), DKIMSign: s.DKIMSign,
	}
	if m := s.BounceMailbox; m != nil {
		row.BounceMailbox = &bounceMailboxRow{
			Host: m.Host, Port: m.Port, Username: m.Username, HasPassword: m.HasPassword, TLS: m.TLS,
			LastReadAt: endpoint.AtOr(read.ReadAt), LastError: optional.Pointer(read.LastError),
		}
	}
	return row
}
