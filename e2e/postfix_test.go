package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// freePort returns a port of the loopback address without a listener at the moment.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// startPostfix starts Debian's Postfix with files of its own, as a relay for everyone on loopback. It
// accepts mail for all domains. Mail for bounces goes to the address returned, mail for x.test is
// refused after it was accepted. Settings are more lines of main.cf, which replace earlier ones.
func startPostfix(t *testing.T, returned, returnHost string, settings ...string) (address string) {
	t.Helper()
	binary, err := exec.LookPath("postfix")
	if err != nil && os.Getuid() == 0 && os.Getenv("CI") == "true" {
		t.Fatal("no Postfix; install Debian's package postfix")
	}
	if err != nil || os.Getuid() != 0 {
		t.Skip("no Postfix that can be started: install it with apt-get install postfix, and run the test as root")
	}
	dir, err := os.MkdirTemp("", "packetboat-postfix")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	port := freePort(t)
	for _, d := range []string{"etc", "queue", "data"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("chown", "postfix", filepath.Join(dir, "data")).CombinedOutput(); err != nil {
		t.Fatalf("chown: %v %s", err, out)
	}
	_, inboundPort, _ := net.SplitHostPort(returned)
	files := map[string]string{
		"main.cf": strings.Join([]string{
			"compatibility_level = 3.6", "queue_directory = " + dir + "/queue", "data_directory = " + dir + "/data", "maillog_file = " + dir + "/log", "maillog_file_prefixes = " + dir,
			"inet_interfaces = loopback-only", "inet_protocols = ipv4", "myhostname = relay.y.test", "mydestination =", "mynetworks = 127.0.0.0/8", "smtpd_relay_restrictions = permit_mynetworks, reject",
			"alias_maps =", "alias_database =", "local_recipient_maps =", "smtp_host_lookup = native", "smtp_dns_support_level = disabled", "transport_maps = inline:{ {x.test = error:5.1.1 550 5.1.1 User unknown in virtual mailbox table} {full.test = error:5.2.2 552 5.2.2 Mailbox is over quota} {" + returnHost + " = smtp:[127.0.0.1]:" + inboundPort + "} }",
			"default_transport = discard", "minimal_backoff_time = 1s", "maximal_backoff_time = 2s", "queue_run_delay = 1s", "maximal_queue_lifetime = 1h", "bounce_queue_lifetime = 1h",
		}, "\n") + "\n" + strings.Join(settings, "\n") + "\n",
		"master.cf": strings.Join([]string{
			"127.0.0.1:" + port + " inet n - n - - smtpd", "pickup unix n - n 60 1 pickup", "cleanup unix n - n - 0 cleanup", "qmgr unix n - n 300 1 qmgr",
			"tlsmgr unix - - n 1000? 1 tlsmgr", "rewrite unix - - n - - trivial-rewrite", "bounce unix - - n - 0 bounce", "defer unix - - n - 0 bounce", "trace unix - - n - 0 bounce",
			"verify unix - - n - 1 verify", "flush unix n - n 1000? 0 flush", "proxymap unix - - n - - proxymap", "proxywrite unix - - n - 1 proxymap", "smtp unix - - n - - smtp", "relay unix - - n - - smtp",
			"showq unix n - n - - showq", "error unix - - n - - error", "retry unix - - n - - error", "discard unix - - n - - discard", "local unix - n n - - local", "virtual unix - n n - - virtual",
			"lmtp unix - - n - - lmtp", "anvil unix - - n - 1 anvil", "scache unix - - n - 1 scache", "postlog unix-dgram n - n - 1 postlogd",
		}, "\n") + "\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "etc", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log := func() string { b, _ := os.ReadFile(filepath.Join(dir, "log")); return string(b) }
	if out, err := exec.Command(binary, "-c", filepath.Join(dir, "etc"), "start").CombinedOutput(); err != nil {
		t.Fatalf("start Postfix: %v\n%s\n%s", err, out, log())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("Postfix:\n%s", log())
		}
		_ = exec.Command(binary, "-c", filepath.Join(dir, "etc"), "stop").Run()
	})
	address = "127.0.0.1:" + port
	if !slices.Contains(settings, tlsFromTheFirstByte) { // such a server greets only after the handshake
		awaitGreeting(t, address)
	}
	return address
}

// awaitGreeting waits until an SMTP server greets.
func awaitGreeting(t *testing.T, address string) {
	t.Helper()
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			buf := make([]byte, 3)
			_, err := c.Read(buf)
			_ = c.Close()
			if err == nil && bytes.Equal(buf, []byte("220")) {
				return
			}
		}
		pause(t)
	}
}

// pause waits a moment between two looks.
func pause(t *testing.T) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatal(context.Cause(t.Context()))
	case <-time.After(200 * time.Millisecond):
	}
}

// Postfix accepts all mail and bounces some of it later: its reports come to our listener, and change
// messages, contacts and the suppression list.
func TestReportsOfPostfixMarkContacts(t *testing.T) {
	dbtest.Addresses(t, func(t *testing.T, address string) {
		returned := "127.0.0.1:" + freePort(t)
		p := &harness.Program{Env: []string{"PACKETBOAT_INBOUND_LISTEN=" + returned}}
		p, ready, _ := startWith(t, p, address)
		relay := startPostfix(t, returned, "bounce."+ready.Domain)
		db := database(t, p)
		t.Cleanup(func() { _ = db.Close() })
		for domain, n := range map[string]int{"x.test": 3, "full.test": 2, "fine.test": 4} {
			if err := harness.Seed(t.Context(), db, ready.List, n, domain); err != nil {
				t.Fatal(err)
			}
		}
		lane, err := ready.Lane(t.Context(), "postfix", relay, 2, false)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ready.Broadcast(t.Context(), lane, map[string]any{"subject": "News", "body_html": "<p>Hello {{ first_name }}</p>"})
		if err != nil {
			t.Fatal(err)
		}
		if err := ready.Schedule(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if _, err := ready.Await(t.Context(), b, "completed"); err != nil {
			t.Fatal(err)
		}
		for {
			report, err := ready.Key.Must(t.Context(), http.MethodGet, "/broadcasts/"+b+"/report", nil)
			if err != nil {
				t.Fatal(err)
			}
			if report["total_bounced"] == 5.0 {
				if report["total_sent"] != 9.0 || report["total_delivered"] != 4.0 {
					t.Errorf("report: %v", report)
				}
				break
			}
			pause(t)
		}
		for {
			got := states(t, db)
			if want := "active 6, bounced 3, listed 3"; got == want {
				break
			} else if t.Context().Err() != nil {
				t.Fatalf("contacts: %s, want %s", got, want)
			}
			pause(t)
		}
	})
}

// states counts contacts by status and suppressed addresses.
func states(t *testing.T, db *sqldb.DB) string {
	t.Helper()
	var tenant id.Tenant
	if err := db.QueryRow(t.Context(), `SELECT tenant_id FROM tenant WHERE slug = $1`, harness.Tenant).Scan(&tenant); err != nil {
		t.Fatal(err)
	}
	var active, bounced, listed int
	err := errors.Join(
		db.QueryRow(t.Context(), `SELECT COUNT(*) FROM contact WHERE tenant_id = $1 AND global_status = 'active'`, tenant).Scan(&active),
		db.QueryRow(t.Context(), `SELECT COUNT(*) FROM contact WHERE tenant_id = $1 AND global_status = 'bounced'`, tenant).Scan(&bounced),
		db.QueryRow(t.Context(), `SELECT COUNT(*) FROM suppression WHERE tenant_id = $1 AND reason = 'hard_bounce'`, tenant).Scan(&listed),
	)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("active %s, bounced %s, listed %s", strconv.Itoa(active), strconv.Itoa(bounced), strconv.Itoa(listed))
}
