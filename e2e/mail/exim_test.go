package mail

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
)

// eximProgram returns the path of Exim: the system's, or that which scripts/test has unpacked, since Debian's
// package cannot be installed beside Postfix. All users must be able to run it.
func eximProgram() (string, error) {
	path, err := exec.LookPath("exim4")
	if err != nil {
		path, err = exec.LookPath("/var/cache/packetboat-exim/usr/sbin/exim4")
	}
	return path, err
}

// startExim starts Debian's Exim with files of its own, as a relay for everyone on loopback. It accepts mail
// for all domains. Mail for bounces goes to the server at returned, mail for gone.test is refused after it was
// accepted, and all other mail goes to the server at next. Options are further lines of its configuration.
func startExim(t *testing.T, returned, next string, options ...string) (address string) {
	t.Helper()
	binary, err := eximProgram()
	if err != nil && os.Getuid() == 0 && os.Getenv("CI") == "true" {
		t.Fatal("no Exim; run scripts/test, which gets Debian's package exim4-daemon-light")
	}
	if err != nil || os.Getuid() != 0 {
		t.Skip("no Exim that can be started: install it with apt-get install exim4-daemon-light or run scripts/test, and run the test as root")
	}
	dir, err := os.MkdirTemp("", "packetboat-exim")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	spool, log := filepath.Join(dir, "spool"), filepath.Join(dir, "log")
	if err := errors.Join(os.Mkdir(spool, 0o777), os.Mkdir(log, 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(spool, 0o777), os.Chmod(log, 0o777)); err != nil { // Exim runs as another user
		t.Fatal(err)
	}
	port := e2etest.FreePort(t)
	_, returnedPort, _ := net.SplitHostPort(returned)
	_, nextPort, _ := net.SplitHostPort(next)
	config := filepath.Join(dir, "exim.conf")
	text := strings.NewReplacer("BINARY", binary, "DIR", dir, "RETURN_HOST", returnHost, "RETURN_PORT", returnedPort, "NEXT_PORT", nextPort, "PORT", port, "OPTIONS", strings.Join(options, "\n")).Replace(eximConfiguration)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, "-C", config, "-bdf", "-q1s")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = command.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		<-ended
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(log, "main"))
			t.Logf("Exim:\n%s", text)
		}
	})
	address = "127.0.0.1:" + port
	awaitGreeting(t, address, ended)
	return address
}

const eximConfiguration = `
primary_hostname = mx.y.test
exim_path = BINARY
spool_directory = DIR/spool
log_file_path = DIR/log/%s
pid_file_path = DIR/log/pid
daemon_smtp_ports = PORT
local_interfaces = 127.0.0.1
disable_ipv6
host_lookup =
rfc1413_query_timeout = 0s
tls_advertise_hosts =
notifier_socket =
deliver_drop_privilege
never_users =
keep_environment =
acl_smtp_rcpt = everyone
OPTIONS

begin acl
everyone:
  accept

begin routers
gone:
  driver = redirect
  domains = gone.test
  allow_fail
  data = :fail: User unknown
returned:
  driver = manualroute
  domains = RETURN_HOST
  transport = returned
  route_list = * 127.0.0.1 byname
  self = send
next:
  driver = manualroute
  transport = next
  route_list = * 127.0.0.1 byname
  self = send

begin transports
returned:
  driver = smtp
  port = RETURN_PORT
  allow_localhost
  hosts_avoid_tls = *
next:
  driver = smtp
  port = NEXT_PORT
  allow_localhost
  hosts_avoid_tls = *

begin retry
* * F,1h,1s
`
