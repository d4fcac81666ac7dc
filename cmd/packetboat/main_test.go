package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// program runs the commands of one installation.
type program struct {
	t    *testing.T
	args []string
}

// outcome is what a run left.
type outcome struct {
	status   int
	out, err string
}

func (p program) run(stdin string, args ...string) outcome {
	p.t.Helper()
	var out, errOut bytes.Buffer
	status := run(p.t.Context(), append(append([]string{}, p.args...), args...), strings.NewReader(stdin), &out, &errOut)
	return outcome{status, out.String(), errOut.String()}
}

// ok runs a command that must succeed and returns its standard output.
func (p program) ok(args ...string) string {
	p.t.Helper()
	o := p.run("", args...)
	if o.status != 0 {
		p.t.Fatalf("packetboat %s = %d\n%s", strings.Join(args, " "), o.status, o.err)
	}
	return o.out
}

func (p program) json(args ...string) map[string]any {
	p.t.Helper()
	var v map[string]any
	if out := p.ok(append(args, "--json")...); json.Unmarshal([]byte(out), &v) != nil {
		p.t.Fatalf("packetboat %s printed %q, want a JSON object", strings.Join(args, " "), out)
	}
	return v
}

func each(t *testing.T, f func(t *testing.T, p program)) {
	t.Helper()
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		f(t, program{t, []string{"--database-url=" + address, "--data-dir=" + t.TempDir()}})
	})
}

func TestAnOperatorSetsUpATenant(t *testing.T) {
	each(t, func(t *testing.T, p program) {
		p.ok("migrate")
		made := p.json("tenant", "create", "--slug=acme", "--name=Acme", "--timezone=Europe/Amsterdam")
		if made["slug"] != "acme" || made["status"] != "active" || made["timezone"] != "Europe/Amsterdam" {
			t.Errorf("tenant create shows %v", made)
		}
		key := p.run("", "apikey", "create", "--tenant=acme", "--name=sync", "--scopes=lists:read,reports:read", "--expires=2099-01-01")
		if key.status != 0 || key.err != "" || !auth.KeyShaped(strings.TrimSuffix(key.out, "\n")) || strings.Count(key.out, "\n") != 1 {
			t.Errorf("apikey create = %+v, want the key and nothing else", key)
		}
		all := p.json("apikey", "create", "--tenant=acme", "--name=all", "--scopes=all")
		if len(all["scopes"].([]any)) != len(auth.Scopes()) || !auth.KeyShaped(all["key"].(string)) {
			t.Errorf("apikey create --json shows %v", all)
		}
		if rows := p.json("apikey", "list", "--tenant=acme")["data"].([]any); len(rows) != 2 || rows[0].(map[string]any)["key"] != nil {
			t.Errorf("apikey list shows %v", rows)
		}
		if gone := p.json("apikey", "revoke", "--tenant=acme", "--id="+all["id"].(string)); gone["status"] != "revoked" {
			t.Errorf("apikey revoke shows %v", gone)
		}
		ann := p.run("", "user", "create", "--email=Ann@example.org", "--name=Ann", "--tenant=acme")
		if !strings.HasPrefix(ann.out, "http://127.0.0.1:8080/reset-password?token=") || ann.status != 0 {
			t.Errorf("user create = %+v, want a link", ann)
		}
		bob := p.run("purple otter skates home\n", "user", "create", "--email=bob@example.org", "--name=Bob", "--tenant=acme", "--password-stdin", "--json")
		if bob.status != 0 || strings.Contains(bob.out, "token") || !strings.Contains(bob.out, `"role": "viewer"`) {
			t.Errorf("the second user = %+v, want a viewer without a link", bob)
		}
		if again := p.json("user", "reset-password", "--email=bob@example.org"); again["token"] == "" || again["token"] == nil {
			t.Errorf("user reset-password shows %v", again)
		}
		if link := p.json("user", "login-link", "--email=bob@example.org"); link["token"] == nil || link["link"] != fmt.Sprintf("http://127.0.0.1:8080/app/-/login-link#%s", link["token"]) {
			t.Errorf("user login-link shows %v", link)
		}
		p.ok("tenant", "create", "--slug=second", "--name=Second", "--timezone=UTC")
		if known := p.json("user", "create", "--email=bob@example.org", "--name=Bob", "--tenant=second"); known["link"] != nil || known["role"] != "owner" {
			t.Errorf("adding a user with a password shows %v, want no link", known)
		}
		if waiting := p.json("user", "create", "--email=ann@example.org", "--name=Ann", "--tenant=second"); waiting["link"] == nil {
			t.Errorf("adding a user who has no password yet shows %v, want a fresh link", waiting)
		}
		p.ok("tenant", "delete", "--slug=second")
		if paused := p.json("tenant", "pause", "--slug=acme", "--reason=unpaid"); paused["status"] != "paused" || paused["pause_reason"] != "unpaid" {
			t.Errorf("tenant pause shows %v", paused)
		}
		if limited := p.json("tenant", "set", "--slug=acme", "--contact-limit=7"); limited["contact_limit"] != 7.0 {
			t.Errorf("tenant set shows %v", limited)
		}
		p.ok("tenant", "resume", "--slug=acme")
		p.ok("tenant", "delete", "--slug=acme")
		if rows := p.json("tenant", "list")["data"].([]any); len(rows) != 0 {
			t.Errorf("tenant list shows %v", rows)
		}
	})
}

func TestMistakesAreExplainedOnStderr(t *testing.T) {
	t.Parallel()
	p := program{t, []string{"--data-dir=" + t.TempDir()}}
	p.ok("tenant", "create", "--slug=acme", "--name=Acme")
	for _, tt := range []struct {
		args   string
		status int
		says   string
	}{
		{"frobnicate", 2, "frobnicate"},
		{"tenant create --slug=x1", 2, "--name"},
		{"tenant create --slug=acme --name=Acme", 1, "taken"},
		{"tenant create --slug=A! --name=Acme", 1, "lower-case"},
		{"tenant pause --slug=nobody", 1, "packetboat tenant list"},
		{"tenant set --slug=acme --contact-limit=many", 2, "none"},
		{"apikey create --tenant=acme --name=x --scopes=moon:walk", 1, "moon:walk"},
		{"apikey create --tenant=acme --name=x --scopes=contact:reed", 1, "did you mean contacts:read?"},
		{"health --listen=127.0.0.1:1", 1, "does not answer at 127.0.0.1:1"},
		{"apikey create --tenant=acme --name=x --scopes=all --expires=soon", 2, "2026-03-01"},
		{"apikey revoke --tenant=acme --id=x", 2, "packetboat apikey list"},
		{"user create --email=x --name=X", 1, "email"},
		{"user create --email=a@x.org --name=X --role=king --tenant=acme", 2, "viewer, editor"},
		{"user create --email=a@x.org --name=X --role=admin", 2, "--tenant"},
		{"user create --email=a@x.org --name=X --password-stdin", 2, "no password"},
		{"user reset-password --email=nobody@x.org", 1, "no user"},
		{"user login-link --email=nobody@x.org", 1, "no user"},
		{"domain verify --tenant=acme --domain=x.org", 2, "--force"},
		{"domain verify --tenant=acme --domain=x.org --force", 1, "x.org"},
		{"serve --roles=api,king", 2, "king"},
		{"version --listen=x --log-level=y", 2, "PACKETBOAT_LOG_LEVEL"},
	} {
		o := p.run("", strings.Fields(tt.args)...)
		if o.status != tt.status || o.out != "" || !strings.Contains(o.err, tt.says) {
			t.Errorf("packetboat %s = %d\nstdout %q\nstderr %q\nwant %d and %q", tt.args, o.status, o.out, o.err, tt.status, tt.says)
		}
	}
	if o := p.run("", "--help"); o.status != 0 || !strings.Contains(o.out, "tenant create") {
		t.Errorf("--help = %+v", o)
	}
}

func TestADatabaseOfANewerProgramIsRefusedByEveryCommand(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		p := program{t, []string{"--database-url=" + address, "--data-dir=" + t.TempDir(), "--listen=127.0.0.1:0", "--admin-listen=off"}}
		p.ok("migrate")
		db, err := sqldb.Open(t.Context(), address, sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var own string
		if err := db.QueryRow(t.Context(), `SELECT CAST(MAX(version_id) AS TEXT) FROM schema_migration`).Scan(&own); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(t.Context(), `INSERT INTO schema_migration (version_id, is_applied) VALUES (20990101000000, $1)`, true); err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"serve", "demo", "migrate", "tenant list", "tenant create --slug=acme --name=Acme"} {
			o := p.run("", strings.Fields(args)...)
			if o.status != 1 || o.out != "" || !strings.Contains(o.err, "20990101000000") || !strings.Contains(o.err, own) {
				t.Errorf("packetboat %s = %+v, want it refused with both versions", args, o)
			}
		}
	})
}

func TestHeldSendsAreReleased(t *testing.T) {
	each(t, func(t *testing.T, p program) {
		p.ok("migrate")
		db, err := sqldb.Open(t.Context(), strings.TrimPrefix(p.args[0], "--database-url="), sqldb.Options{MaxConns: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := hold.Set(t.Context(), db, time.Now()); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"sends go on: 0 messages are waiting; those that left after a restored backup was taken leave again, unless their broadcast is cancelled\n", "sends were not held\n"} {
			if out := p.ok("release"); out != want {
				t.Errorf("packetboat release says %q, want %q", out, want)
			}
		}
	})
}

func TestFlagsComeBeforeTheEnvironmentAndThatBeforeTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "packetboat.toml")
	if err := os.WriteFile(file, []byte("log_level = \"a\"\nlog_format = \"b\"\nfeedback_sender_id = \"c\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PACKETBOAT_LOG_FORMAT", "d")
	o := program{t, nil}.run("", "version", "--config", file, "--feedback-sender-id=e")
	for _, want := range []string{`LOG_LEVEL (--log-level) is "a"`, `LOG_FORMAT (--log-format) is "d"`, `FEEDBACK_SENDER_ID (--feedback-sender-id) is "e"`} {
		if !strings.Contains(o.err, want) {
			t.Errorf("the mistakes %q leave out %s", o.err, want)
		}
	}
}

func TestTheConfigurationFileIsTOML(t *testing.T) {
	t.Parallel()
	got := configFile{}
	for _, line := range []string{
		"", "  # nothing", `listen = ":80" # public`, `data-dir='/var/lib\x'`, "rate_limit_per_minute = 1_000",
		"signup_enabled = true", `trusted_proxies = ["10.0.0.0/8", '::1',]  # two`, `base_url = "https://x.example/#\u0041"`,
	} {
		if err := got.line(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	want := map[string]string{
		"listen": ":80", "data-dir": `/var/lib\x`, "rate-limit-per-minute": "1000", "signup-enabled": "true",
		"trusted-proxies": "10.0.0.0/8,::1", "base-url": "https://x.example/#A",
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s = %q, want %q", name, got[name], value)
		}
	}
	for _, line := range []string{
		"listen", "listen =", "listen = :80", `listen = "x`, `listen = 'x`, `listen = "x" y`, "nope = 1", "[server]",
		`trusted_proxies = ["a" "b"]`, `trusted_proxies = ["a",`, `trusted_proxies = [["a"]]`, `data_dir = "\q"`, `log_level = yes`,
	} {
		if err := (configFile{}).line(line); err == nil {
			t.Errorf("%q passes", line)
		}
	}
	if err := got.line(`listen = ":81"`); err == nil {
		t.Error("an option set twice passes")
	}
}

func FuzzConfigFile(f *testing.F) {
	f.Add("listen = \"127.0.0.1:8080\"\n")
	f.Add("trusted_proxies = [\"a\", 'b', 1, true]\n[x]\n= =\n")
	f.Add("data_dir = \"\\u00e9\\\"\"#\n\x00\xff")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = readTOML(strings.NewReader(text)) // must return
	})
}

func TestUnknownVariablesAreNamedWithTheirNearest(t *testing.T) {
	t.Parallel()
	got := unknownVariables([]string{
		"HOME=/root", "PACKETBOAT_LISTEN=:8080", "PACKETBOAT_CONFIG=x", "PACKETBOAT_TEST_SERVERS=1", "PACKETBOAT_BASEURL=https://x", "PACKETBOAT_LISTNE=", "PACKETBOAT_IMAGE=x", "PACKETBOAT=1",
	})
	want := []string{
		"there is no option PACKETBOAT_BASEURL; did you mean PACKETBOAT_BASE_URL?",
		"there is no option PACKETBOAT_LISTNE; did you mean PACKETBOAT_LISTEN?",
		"there is no option PACKETBOAT_IMAGE",
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings:\n%q, want\n%q", got, want)
	}
}

// A command knows the address only if it is configured: by default it would be one that only this machine reaches.
func TestANewTenantIsShownWithTheAddressThatIsConfigured(t *testing.T) {
	t.Parallel()
	p := program{t, []string{"--data-dir=" + t.TempDir()}}
	if out := p.ok("tenant", "create", "--slug=acme", "--name=Acme", "--base-url=https://mail.example.com"); !strings.Contains(out, "https://mail.example.com/t/acme/api") {
		t.Errorf("with an address: %s", out)
	}
	if out := p.ok("tenant", "create", "--slug=other", "--name=Other"); strings.Contains(out, "127.0.0.1") || !strings.Contains(out, "/t/other/api") {
		t.Errorf("without an address: %s", out)
	}
}

func TestHealthIsThatOfTheProgramThatServes(t *testing.T) {
	t.Parallel()
	ready := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || !ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, `{"status":"…"}`)
	}))
	defer server.Close()
	p := program{t, []string{"--data-dir=" + t.TempDir(), "--listen=" + strings.TrimPrefix(server.URL, "http://")}}
	if out := p.ok("health"); !strings.Contains(out, `"status"`) {
		t.Errorf("health = %q", out)
	}
	ready = false
	if o := p.run("", "health"); o.status != 1 || !strings.Contains(o.err, "not ready") {
		t.Errorf("health = %+v", o)
	}
}
