package inbound

import (
	"net"
	"testing"
	"time"
)

// A client that sends something now and then does not keep its connection for ever.
func TestConnectionsEnd(t *testing.T) {
	t.Parallel()
	client, server := net.Pipe()
	defer client.Close()
	l := newLimited(nil, time.Now)
	c := &countedConn{Conn: server, limited: l, end: time.Now().Add(-time.Second)}
	defer c.Close()
	for _, later := range []time.Time{{}, time.Now().Add(commandTimeout)} {
		if err := c.SetReadDeadline(later); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a connection was read after its end")
		}
	}
}

func TestGuessesAreForgotten(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	l := newLimited(nil, func() time.Time { return now })
	from := network(&net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 25})
	for range maxGuesses {
		l.guess(from)
	}
	if l.admit(from) == "" {
		t.Error("admitted after many guesses")
	}
	now = now.Add(guessesKept)
	if refusal := l.admit(from); refusal != "" {
		t.Errorf("later: %s", refusal)
	}
}
