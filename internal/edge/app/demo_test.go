package app

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestDemoSaysThatItsAddressIsTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := DefaultOptions()
	o.DataDir, o.Listen, o.AdminListen = t.TempDir(), l.Addr().String(), "off"
	cfg, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	err = Demo(t.Context(), cfg, slog.New(slog.DiscardHandler), io.Discard)
	if err == nil || !strings.Contains(err.Error(), l.Addr().String()) || !strings.Contains(err.Error(), "PACKETBOAT_LISTEN=") {
		t.Errorf("Demo = %v; want the address that is taken, and how to choose another", err)
	}
	if files, err := os.ReadDir(o.DataDir); err != nil || len(files) > 0 {
		t.Errorf("the data directory holds %v, %v; want nothing made", files, err)
	}
}

// said is the output of a program, for tests that wait for it.
type said chan string

func (c said) Write(p []byte) (int, error) {
	c <- string(p)
	return len(p), nil
}

// runDemo runs the demo on a free port, passes its output to check, and stops it.
func runDemo(t *testing.T, check func(text string)) {
	t.Helper()
	o := DefaultOptions()
	o.DataDir, o.Listen, o.AdminListen = t.TempDir(), "127.0.0.1:0", "off"
	cfg, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 9*time.Minute) // for a busy machine
	defer stop()
	out, ended := make(said, 1), make(chan error, 1)
	go func() { ended <- Demo(ctx, cfg, slog.New(slog.DiscardHandler), out) }()
	select {
	case text := <-out:
		check(text)
		stop()
		err = <-ended
	case err = <-ended:
		t.Error("the demo ended before it said anything")
	}
	if err != nil {
		t.Fatalf("Demo: %v", err)
	}
}

func TestDemoServesOnAnyPort(t *testing.T) {
	t.Parallel()
	runDemo(t, func(text string) {
		if !strings.Contains(text, "Packetboat is up: http://127.0.0.1:") || strings.Contains(text, "127.0.0.1:0/") {
			t.Errorf("Demo said %q; want its address", text)
		}
	})
}

// countedSleep ends a shell whose loop has slept 600 times.
const countedSleep = `n=0; sleep() { n=$((n + 1)); [ $n -lt 600 ] || { echo "the send does not end"; exit 1; }; command sleep "$@"; }
`

func TestDemoCommandsWorkAsPrinted(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s to paste into", tool)
		}
	}
	if testing.Short() {
		t.Skip("waits for a send")
	}
	runDemo(t, func(text string) {
		var script strings.Builder
		for line := range strings.Lines(text) {
			switch {
			case strings.HasPrefix(line, "B="), strings.HasPrefix(line, "curl "), strings.HasPrefix(line, "while "):
				script.WriteString(line)
			}
		}
		run := func(script string) string {
			t.Helper()
			got, err := exec.CommandContext(t.Context(), "sh", "-c", countedSleep+script).CombinedOutput()
			if err != nil {
				t.Fatalf("the commands: %v\n%s", err, got)
			}
			return string(got)
		}
		got := run(script.String())
		for _, want := range []string{"broadcast 0", `"status":"scheduled"`, `"status":"completed"`, `"total_delivered":183`} {
			if !strings.Contains(got, want) {
				t.Errorf("the commands said %s; want %s in it", got, want)
			}
		}
		_, follow, _ := strings.Cut(script.String(), "while ")
		if got := run("B=none; while " + follow); !strings.Contains(got, `"NOT_FOUND"`) {
			t.Errorf("without a broadcast the last command said %s", got)
		}
	})
}
