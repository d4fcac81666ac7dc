package audience

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Nothing is a server that answers every request with as many bytes as it asks for, and does
// nothing else: what net/http and the client of this benchmark leave for a
// program to do. It runs in a process of its own, as the program does.
type Nothing struct{}

// Run serves, and prints its address first.
func (*Nothing) Run() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	filler := []byte(strings.Repeat("x", 1<<20))
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		n, err := strconv.Atoi(r.Header.Get(sizeHeader))
		if err != nil || n > len(filler) {
			http.Error(w, "how many bytes?", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(n))
		_, _ = w.Write(filler[:n])
	}))
}

// sizeHeader says how long a bare answer is to be.
const sizeHeader = "X-Size"

// startBare starts this program as Nothing and returns its address.
func startBare(ctx context.Context) (address string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, self, "nothing")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return "", nil, err
	}
	stop = func() {
		cancel()
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("start the bare server: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}
