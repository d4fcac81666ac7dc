package mail

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// doctorRun is what packetboat doctor printed.
type doctorRun struct {
	Status   string
	Findings []struct{ Check, Subject, Status, Detail, Advice string }
	text     string
	exit     int
}

func runDoctor(t *testing.T, p *harness.Program, env ...string) doctorRun {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.Path, "doctor", "--json")
	cmd.Env = append(p.Environment(), env...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	_ = cmd.Run() // the status says it
	r := doctorRun{text: out.String() + problems.String(), exit: cmd.ProcessState.ExitCode()}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s", err, r.text)
	}
	return r
}

// has reports whether there is a finding of a check with a status and a part of its text.
func (r doctorRun) has(check, status, text string) bool {
	for _, f := range r.Findings {
		if f.Check == check && f.Status == status && strings.Contains(f.Subject+" "+f.Detail, text) {
			return true
		}
	}
	return false
}

// The doctor examines a program while it runs and after it has ended, and with a configuration that does
// not work.
func TestTheDoctorReportsMistakesOfTheConfiguration(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		zone := dnstest.New(t, "mail.boat.example. 60 IN A 127.0.0.1")
		p := &harness.Program{Env: []string{"PACKETBOAT_DNS_RESOLVER=" + zone.Addr, "PACKETBOAT_SECRET_KEY=7Zp2p0l9mE5D1mC0oE4l1y8sQhZ0oXzqv1d2X3c4b5A="}}
		e2etest.Begin(t, p, address)
		r := runDoctor(t, p)
		if r.exit != 0 || r.Status == "error" || !r.has("host", "ok", "leads to this installation") || !r.has("listener", "ok", "packetboat listens") || !r.has("database", "ok", "secret key belongs") {
			t.Errorf("a program that runs: exit status %d\n%s", r.exit, r.text)
		}
		r = runDoctor(t, p, "PACKETBOAT_BASE_URL=https://mail.boat.example", "PACKETBOAT_MX_HOST=mx.boat.example", "PACKETBOAT_SECRET_KEY=MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=")
		if r.exit != 1 || r.Status != "error" || !r.has("host", "error", "mx.boat.example") || !r.has("database", "error", "another secret key") || !r.has("certificate", "error", "mail.boat.example") {
			t.Errorf("a configuration that does not work: exit status %d\n%s", r.exit, r.text)
		}
		r = runDoctor(t, p, "PACKETBOAT_DATABASE_URL=postgres://boat:lantern-pickle@127.0.0.1:1/boat", "PACKETBOAT_DNS_RESOLVER=127.0.0.1:1")
		if r.exit != 1 || !r.has("database", "error", "cannot be opened") || !r.has("name server", "error", "does not answer") || strings.Contains(r.text, "lantern-pickle") {
			t.Errorf("without database and DNS: exit status %d\n%s", r.exit, r.text)
		}
	})
}
