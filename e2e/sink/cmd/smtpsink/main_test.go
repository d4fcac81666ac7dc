package main

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// TestMain lets the test binary stand in for the command.
func TestMain(m *testing.M) {
	if os.Getenv("SMTPSINK_TEST_RUN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTheCommandPrintsItsAddressAndResults(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(self, "-log", log, "-quiet", "-refuse", "^gone@=550 5.1.1 no such user", "-drop-answer", "^lost@")
	cmd.Env = append(os.Environ(), "SMTPSINK_TEST_RUN=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	lines.Scan()
	addr, ok := strings.CutPrefix(lines.Text(), "listening on ")
	if !ok {
		t.Fatalf("first line = %q", lines.Text())
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]reply.Class{"ann@x.example": reply.Accepted, "gone@x.example": reply.Hard, "lost@x.example": reply.Deferred} {
		c, err := smtpclient.Dial(t.Context(), smtpclient.Config{Host: host, Port: number, Guard: netguard.Guard{AllowPrivate: true}})
		if err != nil {
			t.Fatal(err)
		}
		o, err := c.Send(t.Context(), smtpclient.Envelope{To: to}, []byte("Subject: x\r\n\r\nx\r\n"))
		if v := reply.Classify(o); err != nil || v.Class != want {
			t.Errorf("to %s: %+v, %v; want %s", to, o, err, want)
		}
		c.Quit()
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	lines.Scan()
	var st sink.Stats
	if err := json.Unmarshal(lines.Bytes(), &st); err != nil || st.Messages != 2 || st.Connections != 3 || st.Refused < 1 {
		t.Errorf("last line = %s, %v", lines.Text(), err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(log)
	if n := strings.Count(string(data), "\n"); err != nil || n != 2 {
		t.Errorf("log has %d lines, %v; want the accepted and the lost one", n, err)
	}
}
