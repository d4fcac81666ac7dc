package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// receiver is a server that answers every request with 204. It reads no more of HTTP than it needs, so
// that most of the processor is left to the program.
type receiver struct {
	net.Listener
	pause    time.Duration
	requests atomic.Int64

	mu  sync.Mutex
	ids map[string]struct{}
}

func listen(pause time.Duration) (*receiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{Listener: l, pause: pause, ids: map[string]struct{}{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r, nil
}

func (r *receiver) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		length, id := 0, ""
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			line = bytes.TrimRight(line, "\r\n")
			if len(line) == 0 {
				break
			}
			name, value, _ := strings.Cut(string(line), ":")
			switch strings.ToLower(name) {
			case "content-length":
				length, _ = strconv.Atoi(strings.TrimSpace(value))
			case "webhook-id":
				id = strings.TrimSpace(value)
			}
		}
		if _, err := io.CopyN(io.Discard, in, int64(length)); err != nil {
			return
		}
		if r.pause > 0 {
			time.Sleep(r.pause)
		}
		if _, err := io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n"); err != nil {
			return
		}
		r.requests.Add(1)
		r.mu.Lock()
		r.ids[id] = struct{}{}
		r.mu.Unlock()
	}
}

// distinct returns how many deliveries arrived.
func (r *receiver) distinct() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ids)
}
