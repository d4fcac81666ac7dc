package crash

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestASendContinuesInACopiedDatabase kills the program in the middle of a send, copies
// its SQLite database to PostgreSQL, and starts it there: no mail is lost, and only
// mails without an answer at the kill are sent twice.
func TestASendContinuesInACopiedDatabase(t *testing.T) {
	recipients := crashRecipients
	if text := os.Getenv("PACKETBOAT_TEST_COPY_RECIPIENTS"); text != "" {
		var err error
		if recipients, err = strconv.Atoi(text); err != nil || recipients < crashRecipients {
			t.Fatalf("PACKETBOAT_TEST_COPY_RECIPIENTS=%s; want a number from %d", text, crashRecipients)
		}
	}
	t.Parallel()
	target := dbtest.BlankPostgres(t)
	p, ready, s := e2etest.StartWith(t, &harness.Program{Env: []string{"PACKETBOAT_NODE_LEASE=" + nodeLease.String()}},
		"sqlite:"+filepath.Join(t.TempDir(), "packetboat.db"), "-delay", "2ms")
	id := crashBroadcast(t, p, ready, s, recipients)
	half := 0
	e2etest.Eventually(t, func() (bool, bool) {
		taken, err := s.Messages()
		half = len(taken)
		return true, err == nil && half >= recipients/4
	})
	copying := exec.CommandContext(t.Context(), p.Path, "copy", "--from=sqlite:packetboat.db", "--to="+target)
	copying.Env = p.Environment()
	if out, err := copying.CombinedOutput(); err == nil || !strings.Contains(string(out), "a process serves the database") {
		t.Fatalf("a copy beside the program that serves: %v\n%s", err, out)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	copying = exec.CommandContext(t.Context(), p.Path, "copy", "--from=sqlite:packetboat.db", "--to="+target)
	copying.Env = p.Environment()
	if out, err := copying.CombinedOutput(); err != nil {
		t.Fatalf("copy: %v\n%s", err, out)
	}
	key, err := os.ReadFile(filepath.Join(p.Dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	p.Env = append(p.Env, "PACKETBOAT_SECRET_KEY="+strings.TrimSpace(string(key)))
	p.Database = target
	if err := p.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Logf("killed after %d mails or more", half)
	account(t, p, ready, s, id, harness.Expected{People: people(0, recipients, "example.org"), MayRepeat: crashConnections})
}
