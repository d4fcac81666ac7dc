package mail

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
)

// startPostfix starts Debian's Postfix with files of its own, as a relay for everyone on loopback. It
// accepts mail for all domains, and discards it. Settings are more lines of main.cf, which replace earlier
// ones.
func startPostfix(t *testing.T, settings ...string) (address string) {
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
	port := e2etest.FreePort(t)
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
	files := map[string]string{
		"main.cf": strings.Join([]string{
			"compatibility_level = 3.6", "queue_directory = " + dir + "/queue", "data_directory = " + dir + "/data", "maillog_file = " + dir + "/log", "maillog_file_prefixes = " + dir,
			"inet_interfaces = loopback-only", "inet_protocols = ipv4", "myhostname = relay.y.test", "mydestination =", "mynetworks = 127.0.0.0/8", "smtpd_relay_restrictions = permit_mynetworks, reject",
			"alias_maps =", "alias_database =", "local_recipient_maps =", "smtp_host_lookup = native", "smtp_dns_support_level = disabled",
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
		awaitGreeting(t, address, nil)
	}
	return address
}

// postfixRefusal is an entry of Postfix's transport_maps: mail for gone.test is refused after it was accepted.
const postfixRefusal = "{gone.test = error:5.1.1 550 5.1.1 User unknown in virtual mailbox table}"

// postfixRoute is the transport to a server.
func postfixRoute(address string) string {
	host, port, _ := net.SplitHostPort(address)
	return "smtp:[" + host + "]:" + port
}
