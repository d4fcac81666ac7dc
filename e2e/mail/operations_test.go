package mail

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/emersion/go-msgauth/dkim"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// walk matches the blocks of a page that are to be pasted one after the other.
var walk = regexp.MustCompile("(?s)```sh walk\n(.*?)```")

// The lines of docs/operations.md lead from a fresh serve to a delivered mail, by
// a relay that wants STARTTLS and AUTH.
func TestTheCommandsOfTheOperationsPageDeliverAMail(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range walk.FindAllSubmatch(page, -1) {
		script.Write(block[1])
	}
	dbtest.Addresses(t, func(t *testing.T, address string) {
		relay := sink.Start(t, sink.Options{STARTTLS: true, RequireTLS: true, User: "packetboat", Password: "s3cret word"})
		certificate := filepath.Join(t.TempDir(), "relay.pem")
		if err := os.WriteFile(certificate, relay.Certificate(), 0o600); err != nil {
			t.Fatal(err)
		}
		p := &harness.Program{Slug: "first", Env: []string{"SSL_CERT_FILE=" + certificate, "PACKETBOAT_ALLOW_PRIVATE_RELAYS=true"}}
		e2etest.Begin(t, p, address)
		bin := t.TempDir() // where the shell finds the program
		if err := os.Symlink(p.Path, filepath.Join(bin, "packetboat")); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script.String())
		cmd.Dir = t.TempDir()
		cmd.Env = append(p.Environment(), "PATH="+bin+":"+os.Getenv("PATH"), "BASE="+p.BaseURL,
			"DOMAIN=acme.example", "TRACKING="+strings.TrimPrefix(p.BaseURL, "http://"), "TO=you@example.org",
			"RELAY=localhost", "RELAY_PORT="+strconv.Itoa(relay.Port()), "RELAY_USER=packetboat", "RELAY_PASSWORD=s3cret word",
			"OWNER=ann@acme.example", "PASSWORD=seven violet tractors")
		var errors bytes.Buffer
		cmd.Stderr = &errors
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("the lines: %v\n%s\n%s", err, out, &errors)
		}
		for _, want := range []string{`"accepted":true`, `"total_delivered":1,`} {
			if !strings.Contains(string(out), want) {
				t.Errorf("the lines do not show %s:\n%s", want, out)
			}
		}
		key := regexp.MustCompile(`v=DKIM1;[^"]*`).FindString(string(out))
		mails := relay.Messages()
		if len(mails) != 2 {
			t.Fatalf("%d mails arrived, want the trial and the broadcast's", len(mails))
		}
		for _, m := range mails {
			signatures, err := dkim.VerifyWithOptions(bytes.NewReader(m.Raw), &dkim.VerifyOptions{
				LookupTXT: func(string) ([]string, error) { return []string{key}, nil },
			})
			if err != nil || len(signatures) == 0 || signatures[0].Err != nil || signatures[0].Domain != "acme.example" {
				t.Errorf("signatures by the published key %q: %+v, %v\n%s", key, signatures, err, m.Raw)
			}
			if m.Rcpt[0] != "you@example.org" || !strings.HasSuffix(m.Mail, "@bounce.acme.example") {
				t.Errorf("the mail went from %s to %s", m.Mail, m.Rcpt)
			}
		}
	})
}
