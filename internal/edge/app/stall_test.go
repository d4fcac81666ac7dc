package app

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of connections in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// A response to a client that takes nothing of it ends, and one to a client that is slow does not.
func TestAResponseEndsWhenItsClientStalls(t *testing.T) {
	for name, c := range map[string]struct {
		pause time.Duration // before each part that the client reads
		whole bool
	}{
		"quick": {0, true}, "slow": {stallTimeout - time.Second, true}, "stalled": {stallTimeout + time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				content := bytes.Repeat([]byte("0123456789abcdef"), 100_000) // 1.6 MB: with pauses, longer than the server's WriteTimeout
				wrote := make(chan error, 1)
				server := httpServer(endStalled(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, err := w.Write(content)
					wrote <- err
				})), 0)
				listener := make(pipes)
				go func() { _ = server.Serve(listener) }()
				client, there := net.Pipe()
				listener <- there
				if _, err := client.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
					t.Fatal(err)
				}
				response, err := http.ReadResponse(bufio.NewReaderSize(client, 16), nil)
				if err != nil {
					t.Fatal(err)
				}
				var got bytes.Buffer
				for err == nil {
					time.Sleep(c.pause)
					_, err = io.CopyN(&got, response.Body, stallBytes)
				}
				refused := <-wrote
				if whole := bytes.Equal(got.Bytes(), content); whole != c.whole || (refused == nil) != c.whole {
					t.Errorf("the client got %d of %d bytes, and the handler %v", got.Len(), len(content), refused)
				}
				_ = client.Close()
				_ = server.Close()
				synctest.Wait()
			})
		})
	}
}
