package site

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
)

// Sink is a running SMTP sink.
type Sink struct {
	Address string
	cmd     *exec.Cmd
	out     *bufio.Reader
}

// StartSink starts the sink with arguments. Without any it counts messages and discards them.
func (t *Target) StartSink(ctx context.Context, args ...string) (*Sink, error) {
	if args == nil {
		args = []string{"-discard"}
	}
	cmd := exec.CommandContext(ctx, t.Sink, append([]string{"-quiet", "-listen", "127.0.0.1:0"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	from := bufio.NewReader(out)
	line, err := from.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		return nil, fmt.Errorf("the sink said %q: %v", line, err)
	}
	return &Sink{address, cmd, from}, nil
}

// Stop ends the sink and returns what it has seen.
func (s *Sink) Stop() (seen sink.Stats) {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = json.NewDecoder(s.out).Decode(&seen)
	_ = s.cmd.Wait()
	return seen
}

// CPU returns the processor time of a sink that was stopped.
func (s *Sink) CPU() time.Duration {
	return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
}
