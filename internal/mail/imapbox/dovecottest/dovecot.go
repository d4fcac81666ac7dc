// Package dovecottest starts Debian's Dovecot with files of its own, for tests that need a real IMAP
// server, or a server for SASL logins.
package dovecottest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/porttest"
)

// The login of the only user.
const (
	User     = "bounces@relay.test"
	Password = `p "ä\ 1`
)

// Server is a running Dovecot. It listens at 127.0.0.1 and has a certificate for localhost and that
// address.
type Server struct {
	Dir      string         // its files
	Port     int            // IMAP with STARTTLS; logins in clear are accepted
	TLSPort  int            // IMAP over TLS
	CertFile string         // its certificate and authority, in PEM
	KeyFile  string         // the key
	Roots    *x509.CertPool // the certificate
	SASL     string         // the path of the socket for logins of a mail server

	t     *testing.T
	files atomic.Int64
}

// Maildir is the directory of the user's INBOX.
func (s *Server) Maildir() string { return filepath.Join(s.Dir, "mail") }

// Start starts Dovecot, and stops it when the test ends. The test is skipped if it is not installed,
// or fails if CI is true. PACKETBOAT_TEST_SERVERS=none skips it.
func Start(t *testing.T) *Server {
	t.Helper()
	if os.Getenv("PACKETBOAT_TEST_SERVERS") == "none" {
		t.Skip("PACKETBOAT_TEST_SERVERS=none")
	}
	binary, err := exec.LookPath("dovecot")
	if err != nil && os.Getuid() == 0 && os.Getenv("CI") == "true" {
		t.Fatal("no Dovecot; install Debian's package dovecot-imapd")
	}
	if err != nil || os.Getuid() != 0 {
		t.Skip("no Dovecot that can be started: install it with apt-get install dovecot-imapd, and run the test as root")
	}
	dir, err := os.MkdirTemp("", "packetboat-dovecot")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{Dir: dir, t: t, SASL: filepath.Join(dir, "sasl"), CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem")}
	s.Port, s.TLSPort = freePort(t), freePort(t)
	s.certificate()
	for _, folder := range []string{"mail", "mail/cur", "mail/new", "mail/tmp"} {
		s.make(filepath.Join(dir, folder))
	}
	s.write("users", User+":{PLAIN}"+Password+"\n")
	s.write("dovecot.conf", s.configuration())
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	log := func() string { b, _ := os.ReadFile(filepath.Join(dir, "log")); return string(b) }
	command := exec.Command(binary, "-F", "-c", filepath.Join(dir, "dovecot.conf"))
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = command.Wait(); close(ended) }()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("Dovecot:\n%s", log())
		}
		_ = command.Process.Signal(os.Interrupt)
		<-ended
	})
	for {
		if c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(s.Port)); err == nil {
			buf := make([]byte, 4)
			_, err := c.Read(buf)
			_ = c.Close()
			if err == nil && string(buf) == "* OK" {
				return s
			}
		}
		select {
		case <-ended:
			t.Fatalf("Dovecot ended:\n%s", log())
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Deliver puts a message into the mailbox, as a mail server does.
func (s *Server) Deliver(message string) {
	s.t.Helper()
	s.DeliverAt(message, time.Now())
}

// DeliverAt is Deliver for a message that arrived at a time.
func (s *Server) DeliverAt(message string, at time.Time) {
	s.t.Helper()
	name := fmt.Sprintf("%d.%d.test", time.Now().Unix(), s.files.Add(1))
	path := filepath.Join(s.Maildir(), "tmp", name)
	if err := os.WriteFile(path, []byte(message), 0o666); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil { // which Dovecot shows as the INTERNALDATE
		s.t.Fatal(err)
	}
	if err := os.Rename(path, filepath.Join(s.Maildir(), "new", name)); err != nil {
		s.t.Fatal(err)
	}
}

// Renumber gives the mailbox another UIDVALIDITY.
func (s *Server) Renumber() {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Maildir(), "dovecot*"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			s.t.Fatal(err)
		}
	}
	s.write("mail/dovecot-uidlist", "3 V4000000000 N1 G0123456789abcdef0123456789abcdef\n")
	if err := os.Chmod(filepath.Join(s.Maildir(), "dovecot-uidlist"), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) make(dir string) {
	s.t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil { // Dovecot and mail servers run as other users
		s.t.Fatal(err)
	}
}

func (s *Server) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) configuration() string {
	return strings.NewReplacer("DIR", s.Dir, "PLAIN_PORT", strconv.Itoa(s.Port), "TLS_PORT", strconv.Itoa(s.TLSPort)).Replace(`
base_dir = DIR/run
state_dir = DIR/state
log_path = DIR/log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <DIR/cert.pem
ssl_key = <DIR/key.pem
disable_plaintext_auth = no
auth_mechanisms = plain login cram-md5
auth_failure_delay = 0
mail_location = maildir:DIR/mail
first_valid_uid = 1
first_valid_gid = 1
default_vsz_limit = 256M
passdb {
  driver = passwd-file
  args = DIR/users
}
userdb {
  driver = static
  args = uid=mail gid=mail home=DIR
}
service imap-login {
  process_min_avail = 1
  chroot =
  inet_listener imap {
    port = PLAIN_PORT
  }
  inet_listener imaps {
    port = TLS_PORT
    ssl = yes
  }
}
service auth {
  unix_listener DIR/sasl {
    mode = 0666
  }
}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
`)
}

// certificate creates a certificate, which is its own authority.
func (s *Server) certificate() {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		s.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	s.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Roots = x509.NewCertPool()
	s.Roots.AddCert(cert)
}

// freePort returns a port of the loopback address without a listener.
func freePort(t *testing.T) int {
	t.Helper()
	port, err := porttest.Free()
	if err != nil {
		t.Fatal(err)
	}
	return port
}
