package app_test

import (
	"errors"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestEveryOptionAndItsDefault(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, o := range app.AllOptions() {
		b.WriteString(o.Env + " --" + o.Name + " = " + `"` + o.Default + `"` + "\n    " + o.Help + "\n")
	}
	file := filepath.Join("testdata", "options.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the options changed (-update rewrites the file):\n%s", diff)
	}
}

func TestTheDefaultsWorkOnOneMachine(t *testing.T) {
	t.Parallel()
	c, err := app.DefaultOptions().Config()
	if err != nil {
		t.Fatal(err)
	}
	if c.BaseURL.String() != "http://127.0.0.1:8080" || !c.LoopbackBaseURL() || c.RateLimitPerMinute != 1000 || c.Quota != (quota.Limits{JobFiles: 1 << 30, WorkingCopies: 200 << 20}) || c.MaxVisitorRequests != 200<<20 || c.SecretKey != nil || c.SystemRelay != nil {
		t.Errorf("the defaults are %+v", c)
	}
}

func TestConfigurationIsReadAsValues(t *testing.T) {
	t.Parallel()
	o := app.DefaultOptions()
	o.Listen, o.AdminListen, o.TrustedProxies = ":9000", "off", "10.1.2.3/8, 192.0.2.1,"
	o.SystemSMTPURL = "smtps://mailer:s%40crt@relay.example.org?from=Accounts@Example.org"
	o.SignupEnabled, o.LogLevel, o.DNSResolver = "true", "debug", "192.0.2.53"
	c, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32")}
	if c.BaseURL.String() != "http://localhost:9000" || c.AdminListen != "" || !slices.Equal(c.TrustedProxies, want) || !c.SignupEnabled || c.DNSResolver != "192.0.2.53:53" {
		t.Errorf("read %+v", c)
	}
	if r := c.SystemRelay; r.From != "accounts@example.org" || r.Client.Port != 465 || r.Client.Password != "s@crt" || r.Client.Host != "relay.example.org" {
		t.Errorf("the relay is %+v", r)
	}
	o.BaseURL, o.DNSResolver = "https://mail.example.org/", "[2001:db8::53]:5353"
	if c, err = o.Config(); err != nil || c.BaseURL.String() != "https://mail.example.org" || c.LoopbackBaseURL() || c.DNSResolver != o.DNSResolver {
		t.Errorf("the base URL is %v, %v", c.BaseURL, err)
	}
}

// DNS records refer to the base URL's host unless the operator sets another, and to none if that
// host has no name in the DNS.
func TestHostsOfDNSRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, mx string
		want     sender.Hosts
	}{
		{"https://Mail.Example.org:8443", "", sender.Hosts{MX: "mail.example.org", SPF: "mail.example.org", Track: "mail.example.org"}},
		{"https://mail.example.org", "MX.example.net", sender.Hosts{MX: "mx.example.net", SPF: "mail.example.org", Track: "mail.example.org"}},
		{"http://bücher.example", "", sender.Hosts{MX: "xn--bcher-kva.example", SPF: "xn--bcher-kva.example", Track: "xn--bcher-kva.example"}},
		{"http://127.0.0.1:8080", "mx.example.net", sender.Hosts{MX: "mx.example.net"}},
		{"http://192.0.2.7", "", sender.Hosts{}},
		{"http://[2001:db8::1]:8080", "", sender.Hosts{}},
		{"http://localhost:8080", "", sender.Hosts{}},
		{"http://mail.localhost", "", sender.Hosts{}},
	} {
		o := app.DefaultOptions()
		o.BaseURL, o.MXHost = c.base, c.mx
		cfg, err := o.Config()
		if got := cfg.RecordHosts(); err != nil || got != c.want {
			t.Errorf("%s, %q: %+v, %v, want %+v", c.base, c.mx, got, err, c.want)
		}
	}
}

// The AD bit of a resolver elsewhere could be forged on the way.
func TestDANENeedsAResolverOnThisMachine(t *testing.T) {
	t.Parallel()
	for resolver, ok := range map[string]bool{"127.0.0.1": true, "[::1]:5353": true, "": false, "192.0.2.53": false} {
		o := app.DefaultOptions()
		o.DANE, o.DNSResolver = "true", resolver
		if c, err := o.Config(); (err == nil) != ok || ok && !c.DANE {
			t.Errorf("DANE with the resolver %q: %v", resolver, err)
		}
	}
}

func TestEveryMistakeIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	o := app.DefaultOptions()
	o.DatabaseURL, o.DataDir, o.Listen, o.SecretKey, o.AdminListen = "mysql://x", "", "8080", "short", "9090"
	o.RateLimitPerMinute, o.TrustedProxies, o.FeedbackSenderID = "0", "10.0.0.0/8,nonsense", "x"
	o.SignupEnabled, o.AllowPrivateRelays, o.SystemSMTPURL, o.LogFormat, o.LogLevel = "yes", "1", "http://x", "xml", "loud"
	o.DNSResolver, o.MXHost, o.SPFHost, o.TrackHost = "ns.example.org", "192.0.2.1", "localhost", "https://t.example.org"
	o.BootstrapTenantSlug, o.BootstrapAdminEmail, o.BootstrapAPIKey = "A", "ann@example.org", "pbk_x"
	o.MaxJobFilesMB, o.MaxWorkingCopiesMB, o.MaxVisitorRequestsMB = "1 GB", "0", "-1"
	_, err := o.Config()
	m, ok := errors.AsType[app.Mistakes](err)
	if !ok {
		t.Fatalf("Config = %v, want Mistakes", err)
	}
	var named []string
	for _, line := range m {
		env, _, _ := strings.Cut(line, " ")
		named = append(named, strings.TrimPrefix(env, "PACKETBOAT_"))
		if strings.Contains(line, "short") && strings.Contains(line, "SECRET_KEY") {
			t.Errorf("a secret is repeated: %s", line)
		}
	}
	want := strings.Fields(`DATA_DIR DATABASE_URL LISTEN SECRET_KEY ADMIN_LISTEN SIGNUP_ENABLED ALLOW_PRIVATE_RELAYS RATE_LIMIT_PER_MINUTE
		MAX_JOB_FILES_MB MAX_WORKING_COPIES_MB MAX_VISITOR_REQUESTS_MB TRUSTED_PROXIES FEEDBACK_SENDER_ID SYSTEM_SMTP_URL DNS_RESOLVER MX_HOST SPF_HOST TRACK_HOST LOG_FORMAT LOG_LEVEL BOOTSTRAP_TENANT_SLUG BOOTSTRAP_ADMIN_EMAIL BOOTSTRAP_API_KEY`)
	if !slices.Equal(named, want) {
		t.Errorf("mistakes in %v, want %v\n%v", named, want, err)
	}
	for _, bad := range []string{"ftp://x", "https://", "https://x/path", "https://x?q", "https://u@x", "mail.example.org"} {
		o := app.DefaultOptions()
		o.BaseURL = bad
		if _, err := o.Config(); err == nil {
			t.Errorf("base URL %q passes", bad)
		}
	}
	for _, bad := range []string{"smtp://", "smtp://relay", "smtp://relay?from=x", "smtps://relay?from=a@x.org&tls=none", "relay:25"} {
		if _, err := app.ParseRelay(bad); err == nil {
			t.Errorf("relay %q passes", bad)
		}
	}
}

func TestCertificatesNeedAnHTTPSBaseURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		acme, base, listen, directory, email string
		mistake                              string // empty: none
	}{
		{acme: "true", base: "https://mail.example.org"},
		{acme: "true", base: "https://mail.example.org", listen: "192.0.2.1:8443", email: "Ann@example.org"},
		{acme: "true", base: "http://mail.example.org", mistake: "PACKETBOAT_ACME "},
		{acme: "true", base: "https://192.0.2.1", mistake: "PACKETBOAT_ACME "},
		{acme: "true", mistake: "PACKETBOAT_ACME "},
		{acme: "true", base: "https://mail.example.org", listen: "443", mistake: "PACKETBOAT_TLS_LISTEN"},
		{acme: "true", base: "https://mail.example.org", directory: "http://ca.example.org", mistake: "PACKETBOAT_ACME_DIRECTORY"},
		{acme: "true", base: "https://mail.example.org", email: "ann", mistake: "PACKETBOAT_ACME_EMAIL"},
		{acme: "false", base: "https://mail.example.org", listen: ":443", mistake: "PACKETBOAT_TLS_LISTEN"},
		{acme: "yes", mistake: "PACKETBOAT_ACME "},
	} {
		o := app.DefaultOptions()
		o.ACME, o.BaseURL, o.TLSListen, o.ACMEEmail = tt.acme, tt.base, tt.listen, tt.email
		if tt.directory != "" {
			o.ACMEDirectory = tt.directory
		}
		c, err := o.Config()
		if (err != nil) != (tt.mistake != "") || err != nil && !strings.Contains(err.Error(), tt.mistake) {
			t.Errorf("%+v: %v", tt, err)
		}
		if err == nil && c.TLSListen == "" {
			t.Errorf("%+v: no address for https", tt)
		}
	}
}
