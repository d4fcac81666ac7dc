package bare_test

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/packetboat/packetboat/bench/bare"
	"github.com/packetboat/packetboat/e2e/sink"
)

func TestRunSendsEachMessageOnce(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	var signed atomic.Int64
	r, err := bare.Run(t.Context(), bare.Options{
		Addr: s.Addr(), Conns: 4, PerConn: 10, Messages: 100,
		Next: func(i int) (string, string, []byte) {
			return "a@sender.example", strings.Repeat("x", i+1) + "@example.org", []byte("Subject: x\r\n\r\nx\r\n")
		},
		Sign: func(raw []byte) ([]byte, error) {
			signed.Add(1)
			return append([]byte("DKIM-Signature: x\r\n"), raw...), nil
		},
	})
	if err != nil || r.Messages != 100 || r.Rate() <= 0 || signed.Load() != 100 {
		t.Fatalf("Run = %+v, %v; signed %d", r, err, signed.Load())
	}
	seen := map[string]bool{}
	for _, m := range s.Messages() {
		seen[m.Rcpt[0]] = true
		if !bytes.HasPrefix(m.Raw, []byte("DKIM-Signature: x\r\nSubject")) {
			t.Errorf("message = %q", m.Raw)
		}
	}
	if st := s.Stats(); len(seen) != 100 || st.Messages != 100 || st.Connections < 10 {
		t.Errorf("%d recipients, %+v", len(seen), st)
	}
}

func TestRunStopsAtTheFirstRefusal(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Rcpt, Skip: 5, Reply: "550 5.1.1 no such user"}}})
	_, err := bare.Run(t.Context(), bare.Options{
		Addr: s.Addr(), Conns: 2, Messages: 1000,
		Next: func(int) (string, string, []byte) { return "", "ann@example.org", []byte("x\r\n") },
	})
	// The other connection may just have got the error, and its message is not counted.
	if n := s.Stats().Messages; err == nil || !strings.Contains(err.Error(), "no such user") || n < 4 || n > 5 {
		t.Errorf("Run: %v, %+v", err, s.Stats())
	}
}
