package crash

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// citusCommands names the environment variables with the commands that stop and start
// a worker of the Citus cluster. The worker's host:port is their argument.
const citusStop, citusStart = "PACKETBOAT_TEST_CITUS_STOP", "PACKETBOAT_TEST_CITUS_START"

// TestASendContinuesAfterACitusWorkerStops stops each worker of a Citus cluster for a while in
// the middle of a send, the one that has the tenant's rows among them. Requests may
// fail meanwhile. Afterwards the send continues, no mail is lost, and none is sent
// twice.
func TestASendContinuesAfterACitusWorkerStops(t *testing.T) {
	workers := os.Getenv(dbtest.CitusWorkers)
	if workers == "" || os.Getenv(citusStop) == "" || os.Getenv(citusStart) == "" {
		t.Skipf("%s, %s and %s are not set: no worker can be stopped", dbtest.CitusWorkers, citusStop, citusStart)
	}
	run := func(variable, worker string) {
		t.Helper()
		if out, err := exec.Command(os.Getenv(variable), worker).CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v: %s", variable, worker, err, out)
		}
	}
	dbtest.Addresses(t, func(t *testing.T, address string) {
		if !strings.HasPrefix(address, "postgres") {
			t.Skip("SQLite has no workers")
		}
		p, ready, s := e2etest.Start(t, address, "-delay", "10ms")
		id := crashBroadcast(t, p, ready, s, crashRecipients)
		for worker := range strings.SplitSeq(workers, ",") {
			before := len(taken(t, s))
			e2etest.Eventually(t, func() (bool, bool) { return true, len(taken(t, s)) > before })
			run(citusStop, worker)
			e2etest.Wait(t, 6*time.Second)
			run(citusStart, worker)
		}
		account(t, p, ready, s, id, harness.Expected{People: people(0, crashRecipients, "example.org"), Calm: true})
	})
}

func taken(t *testing.T, s *harness.Sink) []string {
	t.Helper()
	list, err := s.Messages()
	if err != nil {
		t.Fatal(err)
	}
	to := make([]string, 0, len(list))
	for _, m := range list {
		to = append(to, m.Rcpt...)
	}
	return to
}
