// Package porttest chooses ports for servers that tests and benchmarks start in other processes.
package porttest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// The ports lie below those that systems give to outgoing connections and to listeners on port 0, so that none
// of these takes a port between its choice and the start of its server.
const (
	first = 10_000
	last  = 32_000
)

// ErrNone means that no port was found.
var ErrNone = errors.New("no port is free")

// Free returns a port of the loopback address without a listener.
func Free() (int, error) {
	for range 1000 {
		port := first + rand.IntN(last-first)
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		return port, l.Close()
	}
	return 0, ErrNone
}

// Address returns the loopback address with a free port, as host:port.
func Address() (string, error) {
	port, err := Free()
	return fmt.Sprintf("127.0.0.1:%d", port), err
}
