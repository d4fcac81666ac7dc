package tenant

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/biter777/countries"

	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Settings are the settings that a tenant controls.
type Settings struct {
	Timezone      string // IANA name
	Locale        string // BCP 47
	CurrencyCode  string // ISO 4217
	WebsiteURL    *string
	LogoURL       *string
	PostalAddress PostalAddress

	DefaultIdentity  id.Identity // zero: none
	DefaultEmailType id.EmailType
	DefaultLane      id.Lane

	AutoCreateOnEvent  bool
	Tracking           Tracking
	SendWindow         SendWindow
	SunsetDays         int
	SunsetMinSends     int
	UnsubscribeScope   UnsubscribeScope
	DoubleOptInDefault bool
	TrackedDomains     []string
	Retention          Retention

	Brand Brand // SaveBrand stores it, SaveSettings does not
}

// PostalAddress is the sender's postal address; the footer of mails shows it, as many laws require.
type PostalAddress struct {
	Line1      *string `json:"line1"`
	Line2      *string `json:"line2"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postal_code"`
	Country    *string `json:"country"`
}

// Lines returns the lines of the address as printed, without empty ones.
func (a PostalAddress) Lines() []string {
	lines := []string{}
	add := func(sep string, parts ...*string) {
		var have []string
		for _, p := range parts {
			if p != nil && *p != "" {
				have = append(have, *p)
			}
		}
		if len(have) > 0 {
			lines = append(lines, strings.Join(have, sep))
		}
	}
	add("", a.Line1)
	add("", a.Line2)
	add(" ", a.PostalCode, a.City)
	add("", a.State)
	add("", a.Country)
	return lines
}

// Empty reports whether the address has no parts.
func (a PostalAddress) Empty() bool { return len(a.Lines()) == 0 }

// String returns the address on one line.
func (a PostalAddress) String() string { return strings.Join(a.Lines(), ", ") }

// Tracking is the default tracking of new broadcasts.
type Tracking struct {
	Enabled  bool
	UTM      bool
	Honeypot bool // add an invisible link to tracked mails, by which programs are recognized
}

// SendWindow is the part of a day in which spread sends are sent, in local time.
type SendWindow struct{ Start, End string }

// UnsubscribeScope is what a one-click unsubscribe ends.
type UnsubscribeScope string

// The scopes: the email type (or its category), or everything.
const (
	UnsubscribeType   UnsubscribeScope = "type"
	UnsubscribeGlobal UnsubscribeScope = "global"
)

// Defaults returns the settings of a new tenant.
func Defaults(timezone string) Settings {
	return Settings{
		Timezone:           timezone,
		Locale:             "en",
		CurrencyCode:       "EUR",
		Tracking:           Tracking{Enabled: true, UTM: true},
		SendWindow:         SendWindow{Start: "00:00", End: "24:00"},
		SunsetDays:         180,
		SunsetMinSends:     5,
		UnsubscribeScope:   UnsubscribeType,
		DoubleOptInDefault: true,
		TrackedDomains:     []string{},
		Retention:          DefaultRetention(),
		Brand:              DefaultBrand(),
	}
}

// Location returns the account's time zone.
func (t Tenant) Location() *time.Location {
	loc, err := time.LoadLocation(t.Settings.Timezone)
	if err != nil { // validated when it was saved
		return time.UTC
	}
	return loc
}

// CheckSettings validates a tenant's name and settings.
func CheckSettings(name string, s Settings) error {
	var p fault.Problems
	CheckName(&p, "name", strings.TrimSpace(name))
	s.CurrencyCode = strings.ToUpper(s.CurrencyCode)
	s.check(&p)
	return p.Err()
}

// Revisions is the table of tenants, for conditions on the revisions of their settings.
var Revisions = revision.Table{Name: "tenant", Key: "tenant_id", At: "COALESCE(revised_at, created_at)"}

// Lock returns a tenant whose settings are to be changed, and locks its row until the transaction ends.
func Lock(ctx context.Context, tx *sqldb.DB, t id.Tenant) (Tenant, error) {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM tenant WHERE tenant_id = $1`+tx.ForUpdate(), t).Scan(&one)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Tenant{}, ErrNotFound
	}
	if err != nil {
		return Tenant{}, fmt.Errorf("lock a tenant: %w", err)
	}
	if err := Revisions.Check(ctx, tx, t, t); err != nil {
		return Tenant{}, err
	}
	return ByID(ctx, tx, t)
}

// SaveSettings replaces the tenant's name and settings after validating them.
func SaveSettings(ctx context.Context, db *sqldb.DB, t id.Tenant, name string, s Settings, now time.Time) error {
	if err := CheckSettings(name, s); err != nil {
		return err
	}
	name = strings.TrimSpace(name)
	s.CurrencyCode = strings.ToUpper(s.CurrencyCode)
	s.Timezone, _ = calendar.ZoneName(s.Timezone)
	s.TrackedDomains = trackedDomains(s.TrackedDomains)
	return save(ctx, db, t, name, s, now)
}

// UseEmailType sets the default email type of a tenant that has none.
func UseEmailType(ctx context.Context, db *sqldb.DB, t id.Tenant, e id.EmailType) error {
	_, err := db.Exec(ctx, `
		UPDATE tenant SET default_email_type_id = $2
		WHERE tenant_id = $1 AND default_email_type_id IS NULL`, t, e)
	if err != nil {
		return fmt.Errorf("set default email type: %w", err)
	}
	return nil
}

var (
	locales    = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$`)
	currencies = regexp.MustCompile(`^[A-Z]{3}$`)
)

func (s Settings) check(p *fault.Problems) {
	checkTimezone(p, "timezone", s.Timezone)
	if !locales.MatchString(s.Locale) {
		p.Add("locale", "must be a language tag such as en or pt-BR")
	}
	if !currencies.MatchString(s.CurrencyCode) || countries.CurrencyCodeByName(s.CurrencyCode) == countries.CurrencyUnknown {
		p.Add("currency_code", "must be an ISO 4217 code such as EUR")
	}
	checkURL(p, "website_url", s.WebsiteURL)
	checkURL(p, "logo_url", s.LogoURL)
	s.PostalAddress.check(p)
	if s.UnsubscribeScope != UnsubscribeType && s.UnsubscribeScope != UnsubscribeGlobal {
		p.Add("unsubscribe_scope", "must be type or global")
	}
	if s.SunsetDays < 1 || s.SunsetDays > 3650 {
		p.Add("sunset_days", "must be 1 to 3650")
	}
	if s.SunsetMinSends < 1 || s.SunsetMinSends > 1000 {
		p.Add("sunset_min_sends", "must be 1 to 1000")
	}
	s.SendWindow.check(p)
	s.Retention.check(p)
	checkDomains(p, "tracked_domains", s.TrackedDomains)
}

// MaxTrackedDomains is the maximal number of tracked domains.
const MaxTrackedDomains = 50

// checkDomains adds problems of a list of host names at path.
func checkDomains(p *fault.Problems, path string, list []string) {
	if len(list) > MaxTrackedDomains {
		p.Add(path, fmt.Sprintf("at most %d host names", MaxTrackedDomains))
		return
	}
	for _, d := range list {
		if _, ok := trackedHost(d); !ok {
			p.AddElement(path, "must be the name of a host, such as www.example.com")
		}
	}
}

// trackedHost returns a host in canonical spelling: a name in the DNS or, for trials and
// networks without one, localhost or an IP address.
func trackedHost(s string) (string, bool) {
	if s = strings.ToLower(strings.TrimSpace(s)); s == "localhost" {
		return s, true
	}
	if ip, err := netip.ParseAddr(s); err == nil && ip.Zone() == "" {
		return ip.Unmap().String(), true
	}
	host, err := address.Hostname(s)
	return host, err == nil
}

// trackedDomains returns the tracked domains as they are stored: in lower case, as A-labels
// (RFC 5890), each once.
func trackedDomains(list []string) []string {
	out := make([]string, 0, len(list))
	for _, d := range list {
		if host, ok := trackedHost(d); ok && !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	return out
}

// Tracks reports whether links to the host of u identify their recipient to the website.
func (s Settings) Tracks(u *url.URL) bool {
	if len(s.TrackedDomains) == 0 {
		return false
	}
	host, ok := trackedHost(u.Hostname())
	return ok && slices.Contains(s.TrackedDomains, host)
}

// check validates the window. It must not include midnight, so that messages planned for a day are
// sent on that day.
func (w SendWindow) check(p *fault.Problems) {
	start, err := spread.ParseClock(w.Start)
	if err != nil {
		p.Add("send_window.start", "must be a time such as 08:30")
	}
	end, bad := spread.ParseClock(w.End)
	if bad != nil {
		p.Add("send_window.end", "must be a time such as 20:00, or 24:00")
	}
	if err == nil && bad == nil && start >= end {
		p.Add("send_window.end", "must be later than the start")
	}
}

// Window returns the send window.
func (s Settings) Window() spread.Window {
	w, err := spread.ParseWindow(s.SendWindow.Start, s.SendWindow.End)
	if err != nil { // validated when it was saved
		return spread.AllDay
	}
	return w
}

func (a PostalAddress) check(p *fault.Problems) {
	for _, f := range []struct {
		path  string
		value *string
	}{
		{"line1", a.Line1}, {"line2", a.Line2}, {"city", a.City},
		{"state", a.State}, {"postal_code", a.PostalCode},
	} {
		if f.value != nil && !plainText(*f.value, 200) {
			p.Add("postal_address."+f.path, "must be at most 200 characters on one line")
		}
	}
	if c := a.Country; c != nil {
		if code := countries.ByName(*c); len(*c) != 2 || code == countries.Unknown || code.Alpha2() != *c {
			p.Add("postal_address.country", "must be an ISO 3166-1 code of two capital letters, such as NL")
		}
	}
}

// CheckName adds a problem at path if name is not valid.
func CheckName(p *fault.Problems, path, name string) {
	switch {
	case name == "":
		p.Add(path, "required")
	case !plainText(name, 200):
		p.Add(path, "must be at most 200 characters on one line")
	}
}

func checkTimezone(p *fault.Problems, path, name string) {
	if _, ok := calendar.ZoneName(name); !ok {
		p.Add(path, "must be an IANA timezone such as Europe/Amsterdam")
	}
}

func checkURL(p *fault.Problems, path string, value *string) {
	if value == nil {
		return
	}
	u, err := url.Parse(*value)
	if err != nil || len(*value) > 2000 || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		p.Add(path, "must be an http or https URL")
	}
}

// plainText reports whether s is valid text of at most n characters on one line.
func plainText(s string, n int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= n && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029'
	})
}
