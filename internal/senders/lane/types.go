package lane

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/mail/sns"
)

// maxSources is how many source addresses a lane of type direct_mx may have.
const maxSources = 20

// Source is an address from which a lane of type direct_mx connects, and the name that it gives
// there. The name should resolve to the address, and the address back to the name.
type Source struct {
	IP   netip.Addr `json:"ip"`
	HELO string     `json:"helo_host"`
}

// DirectSettings are the settings of a lane that delivers to the servers of recipients' domains.
type DirectSettings struct {
	IPs []Source           `json:"ips"`
	TLS smtpclient.TLSMode `json:"tls"` // smtpclient.Opportunistic or smtpclient.Required
}

// SESSettings are the settings of a lane that sends by Amazon SES, without the secret access key,
// which is stored separately.
type SESSettings struct {
	Region           string `json:"region"`
	AccessKeyID      string `json:"access_key_id"`
	ConfigurationSet string `json:"configuration_set,omitempty"`
	// TopicARNs are the topics of SNS whose notifications are accepted.
	TopicARNs []string `json:"topic_arns,omitempty"`
	HasSecret bool     `json:"-"`
}

// BounceMailbox is a mailbox that is read by IMAP for reports of the relay, without its password,
// which is stored separately.
type BounceMailbox struct {
	Host        string             `json:"host"`
	Port        int                `json:"port"`
	Username    string             `json:"username"`
	TLS         smtpclient.TLSMode `json:"tls"` // none, starttls or implicit
	HasPassword bool               `json:"-"`
}

// SourceFields are the fields of one source address in a request.
type SourceFields struct{ IP, HELO string }

// BounceMailboxFields are the fields of a bounce mailbox in a request. A nil field is absent.
type BounceMailboxFields struct {
	Remove   bool // the mailbox is removed; the other fields do not count
	Host     *string
	Port     *int
	Username *string
	Password *string
	TLS      *smtpclient.TLSMode
}

// settingsOf lists which settings each type has.
var settingsOf = map[Type][]string{
	SMTP:     {"host", "port", "tls", "auth", "username", "password", "helo_host", "dkim_sign", "bounce_mailbox"},
	DirectMX: {"ips", "tls"},
	SES:      {"region", "access_key_id", "secret_access_key", "configuration_set", "topic_arns"},
	Sink:     {"fail_patterns"},
}

// given returns the names of the settings in f.
func (f Fields) given() (names []string) {
	for _, field := range []struct {
		name  string
		given bool
	}{
		{"host", f.Host != nil}, {"port", f.Port != nil}, {"tls", f.TLS != nil}, {"auth", f.Auth != nil},
		{"username", f.Username != nil}, {"password", f.Password != nil},
		{"helo_host", f.HELO != nil}, {"dkim_sign", f.DKIMSign != nil}, {"bounce_mailbox", f.BounceMailbox != nil && !f.BounceMailbox.Remove},
		{"ips", f.IPs != nil},
		{"region", f.Region != nil}, {"access_key_id", f.AccessKeyID != nil},
		{"secret_access_key", f.SecretAccessKey != nil}, {"configuration_set", f.ConfigurationSet != nil},
		{"topic_arns", f.TopicARNs != nil},
		{"fail_patterns", f.FailPatterns != nil && len(*f.FailPatterns) > 0},
	} {
		if field.given {
			names = append(names, field.name)
		}
	}
	return names
}

// refuseForeign reports settings that lanes of the type do not have.
func (f Fields) refuseForeign(t Type, p *fault.Problems) {
	for _, name := range f.given() {
		if !slices.Contains(settingsOf[t], name) {
			p.Add("settings."+name, "an MTA config of type "+string(t)+" has no such setting")
		}
	}
}

// likelyType returns the type in f or, without one, the type that the settings in f belong to.
func (f Fields) likelyType() Type {
	if f.Type != nil {
		return *f.Type
	}
	for _, name := range f.given() {
		for _, t := range []Type{DirectMX, SES, Sink} {
			if name != "tls" && slices.Contains(settingsOf[t], name) {
				return t
			}
		}
	}
	if f.TLS != nil && (*f.TLS == smtpclient.Opportunistic || *f.TLS == smtpclient.Required) {
		return DirectMX
	}
	return SMTP
}

// applyDirect sets the fields in f and validates the settings of a lane of type direct_mx.
func (f Fields) applyDirect(s DirectSettings, rules Rules, p *fault.Problems) DirectSettings {
	set(&s.TLS, f.TLS)
	if s.TLS != smtpclient.Opportunistic && s.TLS != smtpclient.Required {
		p.Add("settings.tls", "must be opportunistic or required")
	}
	if f.IPs != nil {
		s.IPs = sources(*f.IPs, rules, p)
	}
	if len(s.IPs) == 0 && (f.IPs == nil || len(*f.IPs) == 0) {
		p.Add("settings.ips", "required: at least one address of this machine, as {ip, helo_host}")
	}
	return s
}

// sources validates a list of source addresses.
func sources(list []SourceFields, rules Rules, p *fault.Problems) []Source {
	if len(list) > maxSources {
		p.Add("settings.ips", fmt.Sprintf("at most %d", maxSources))
		return nil
	}
	var out []Source
	for i, f := range list {
		at := fmt.Sprintf("settings.ips[%d]", i)
		ip, err := netip.ParseAddr(strings.TrimSpace(f.IP))
		ip = ip.Unmap()
		switch {
		case err != nil || ip.Zone() != "":
			p.Add(at+".ip", "must be an IPv4 or IPv6 address")
		case ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() || ip.IsLoopback() && !rules.AllowPrivate:
			p.Add(at+".ip", "must be an address of this machine that other machines can reach")
		case slices.ContainsFunc(out, func(o Source) bool { return o.IP == ip }):
			p.Add(at+".ip", "is there twice")
		}
		helo, err := address.Hostname(strings.TrimSpace(f.HELO))
		switch {
		case strings.TrimSpace(f.HELO) == "":
			p.Add(at+".helo_host", "required: the host name to which the address resolves back")
		case err != nil:
			p.Add(at+".helo_host", err.Error())
		}
		out = append(out, Source{ip, helo})
	}
	return out
}

// The forms of the settings of SES.
var (
	region           = regexp.MustCompile(`^[a-z]{2}(-[a-z]+){1,3}-[0-9]{1,2}$`)
	accessKeyID      = regexp.MustCompile(`^[A-Za-z0-9_]{16,128}$`)
	configurationSet = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// applySES sets the fields in f and validates the settings of a lane of type ses.
func (f Fields) applySES(s SESSettings, p *fault.Problems) SESSettings {
	for _, field := range []struct{ to, from *string }{{&s.Region, f.Region}, {&s.AccessKeyID, f.AccessKeyID}, {&s.ConfigurationSet, f.ConfigurationSet}} {
		if field.from != nil {
			*field.to = strings.TrimSpace(*field.from)
		}
	}
	if !region.MatchString(s.Region) {
		p.Add("settings.region", "must be a region of AWS, such as eu-central-1")
	}
	if !accessKeyID.MatchString(s.AccessKeyID) {
		p.Add("settings.access_key_id", "must be the id of an access key: 16 to 128 letters, digits and underscores")
	}
	if s.ConfigurationSet != "" && !configurationSet.MatchString(s.ConfigurationSet) {
		p.Add("settings.configuration_set", "must be 1 to 64 letters, digits, underscores and dashes")
	}
	if f.TopicARNs != nil {
		s.TopicARNs = topics(*f.TopicARNs, p)
	}
	if f.SecretAccessKey != nil {
		s.HasSecret = *f.SecretAccessKey != ""
		if len(*f.SecretAccessKey) > 1024 || strings.ContainsFunc(*f.SecretAccessKey, unicode.IsControl) {
			p.Add("settings.secret_access_key", "must be at most 1024 bytes without control characters")
		}
	}
	if !s.HasSecret {
		p.Add("settings.secret_access_key", "required")
	}
	return s
}

// maxTopics is how many topics of SNS a lane may have.
const maxTopics = 10

// topics validates a list of topics of SNS.
func topics(list []string, p *fault.Problems) []string {
	if len(list) > maxTopics {
		p.Add("settings.topic_arns", fmt.Sprintf("at most %d", maxTopics))
		return nil
	}
	var out []string
	for i, text := range list {
		arn := strings.TrimSpace(text)
		switch {
		case !sns.IsTopicARN(arn):
			p.Add(fmt.Sprintf("settings.topic_arns[%d]", i), "must be the ARN of a topic, such as arn:aws:sns:eu-central-1:123456789012:bounces")
		case !slices.Contains(out, arn):
			out = append(out, arn)
		}
	}
	return out
}

// applyMailbox sets the fields in f and validates a bounce mailbox. Absent fields of a new one have
// the defaults of IMAP over TLS.
func (f BounceMailboxFields) applyMailbox(before *BounceMailbox, rules Rules, p *fault.Problems) *BounceMailbox {
	if f.Remove {
		return nil
	}
	m := BounceMailbox{Port: 993, TLS: smtpclient.Implicit}
	if before != nil {
		m = *before
	}
	if f.Host != nil {
		m.Host = canonicalHost(*f.Host)
	}
	set(&m.Port, f.Port)
	set(&m.Username, f.Username)
	set(&m.TLS, f.TLS)
	if f.Password != nil {
		m.HasPassword = *f.Password != ""
		if len(*f.Password) > 1024 || strings.ContainsAny(*f.Password, "\x00\r\n") {
			p.Add("settings.bounce_mailbox.password", "must be at most 1024 bytes without line breaks")
		}
	}
	if m.Host == "" {
		p.Add("settings.bounce_mailbox.host", "required")
	} else if err := netguard.CheckHost(m.Host, rules.AllowPrivate); err != nil {
		p.Add("settings.bounce_mailbox.host", err.Error())
	}
	checkRange(p, "settings.bounce_mailbox.port", m.Port, 1, 65535)
	switch {
	case m.Username == "":
		p.Add("settings.bounce_mailbox.username", "required")
	case len(m.Username) > 1024 || strings.ContainsFunc(m.Username, unicode.IsControl):
		p.Add("settings.bounce_mailbox.username", "must be at most 1024 bytes without control characters")
	}
	if !m.HasPassword {
		p.Add("settings.bounce_mailbox.password", "required")
	}
	switch {
	case m.TLS != smtpclient.None && m.TLS != smtpclient.StartTLS && m.TLS != smtpclient.Implicit:
		p.Add("settings.bounce_mailbox.tls", "must be none, starttls or implicit")
	case m.TLS == smtpclient.None && !loopback(m.Host):
		p.Add("settings.bounce_mailbox.tls", "a login needs starttls or implicit, except at a loopback host")
	}
	return &m
}
