package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"packetboat/e2e/sink"
)

// Sink is an SMTP server in a process of its own that keeps account: what it
// has answered with 250 is in its log, on the disk.
type Sink struct {
	Address string
	Dir     string

	cmd *exec.Cmd
}

// StartSink starts the sink at path, with a log and a store in dir.
func StartSink(ctx context.Context, path, dir string, args ...string) (*Sink, error) {
	s := &Sink{Dir: dir}
	args = append([]string{"-listen", "127.0.0.1:0", "-quiet", "-log", s.log()}, args...)
	s.cmd = exec.CommandContext(ctx, path, args...)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		return nil, fmt.Errorf("the sink said %q: %v", line, err)
	}
	s.Address = address
	return s, nil
}

func (s *Sink) log() string { return filepath.Join(s.Dir, "sink.log") }

// Stop ends the sink.
func (s *Sink) Stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.cmd.Wait()
}

// Messages returns what the sink has taken so far.
func (s *Sink) Messages() ([]sink.Message, error) {
	raw, err := os.ReadFile(s.log())
	if err != nil {
		return nil, err
	}
	var list []sink.Message
	for line := range bytes.Lines(raw) {
		if len(line) == 0 || line[len(line)-1] != '\n' { // still being written
			break
		}
		var m sink.Message
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("log of the sink: %w: %s", err, line)
		}
		list = append(list, m)
	}
	return list, nil
}
