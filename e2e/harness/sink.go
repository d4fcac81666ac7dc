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

	"github.com/packetboat/packetboat/e2e/sink"
)

// Sink is an SMTP server in a separate process that keeps a log: every mail that it
// has accepted with 250 is in it, on the disk.
type Sink struct {
	Address string
	Dir     string

	path string
	args []string
	cmd  *exec.Cmd
}

// StartSink starts the sink at path, with a log and a store in dir.
func StartSink(ctx context.Context, path, dir string, args ...string) (*Sink, error) {
	s := &Sink{Dir: dir, path: path, args: args}
	if err := os.WriteFile(s.rules(), []byte("[]"), 0o600); err != nil {
		return nil, err
	}
	return s, s.start(ctx, "127.0.0.1:0")
}

func (s *Sink) start(ctx context.Context, listen string) error {
	args := append([]string{"-listen", listen, "-quiet", "-log", s.log(), "-rules", s.rules()}, s.args...)
	s.cmd = exec.CommandContext(ctx, s.path, args...)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		return fmt.Errorf("the sink said %q: %v", line, err)
	}
	s.Address = address
	return nil
}

func (s *Sink) log() string   { return filepath.Join(s.Dir, "sink.log") }
func (s *Sink) rules() string { return filepath.Join(s.Dir, "rules.json") }

// Rules replaces the rules that it was given by Rules before, by the JSON of
// sink.ParseRules. They hold a moment later.
func (s *Sink) Rules(text string) error {
	if err := os.WriteFile(s.rules(), []byte(text), 0o600); err != nil {
		return err
	}
	return s.cmd.Process.Signal(syscall.SIGHUP)
}

// Stop ends the sink.
func (s *Sink) Stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.cmd.Wait()
}

// Kill ends the sink without a warning.
func (s *Sink) Kill() error {
	if err := s.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = s.cmd.Wait() // it says that it was killed
	return nil
}

// Restart starts the sink again, at the same address and with the same log. A
// line that it was killed in the middle of was never answered for.
func (s *Sink) Restart(ctx context.Context) error {
	raw, err := os.ReadFile(s.log())
	if err != nil {
		return err
	}
	if err := os.Truncate(s.log(), int64(bytes.LastIndexByte(raw, '\n')+1)); err != nil {
		return err
	}
	return s.start(ctx, s.Address)
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
