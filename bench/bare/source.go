package bare

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"time"
)

// Source returns how many messages a second Postfix's test client sends to
// Postfix's test server, on so many connections that are kept: what the kernel and
// two small programs in C can do. Where they are not installed it returns 0.
func Source(ctx context.Context, connections, n, size int) (float64, error) {
	source, err := find("smtp-source")
	if err != nil {
		return 0, nil
	}
	server, err := find("smtp-sink")
	if err != nil {
		return 0, nil
	}
	address, err := free()
	if err != nil {
		return 0, err
	}
	serving, stop := context.WithCancel(ctx)
	sink := exec.CommandContext(serving, server, "-u", "nobody", "-m", strconv.Itoa(connections+1), address, "1024")
	if err := sink.Start(); err != nil {
		stop()
		return 0, err
	}
	defer func() {
		stop()
		_ = sink.Wait() // it was killed
	}()
	if err := reachable(ctx, address); err != nil {
		return 0, err
	}
	began := time.Now()
	out, err := exec.CommandContext(ctx, source, "-d", "-s", strconv.Itoa(connections), "-m", strconv.Itoa(n), "-l", strconv.Itoa(size),
		"-f", "b@example.com", "-t", "person@example.com", "-M", "bare.invalid", address).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("smtp-source: %w: %s", err, out)
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

// find returns where a program of Postfix is: Debian has them beside the daemons.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + name)
	}
	return path, err
}

func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func reachable(ctx context.Context, address string) error {
	for end := time.Now().Add(10 * time.Second); ; {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		time.Sleep(20 * time.Millisecond)
	}
}
