package sink_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
)

// testClient is a client that sends given text and returns the replies.
type testClient struct {
	t  *testing.T
	nc net.Conn
	br *bufio.Reader
}

func dial(t *testing.T, s *sink.Server) *testClient {
	t.Helper()
	nc, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(10 * time.Second))
	return &testClient{t, nc, bufio.NewReader(nc)}
}

// exchange sends text and returns the last line of each of the given number of replies.
func (c *testClient) exchange(text string, replies int) []string {
	c.t.Helper()
	if _, err := io.WriteString(c.nc, text); err != nil {
		c.t.Fatal(err)
	}
	var got []string
	for len(got) < replies {
		line, err := c.br.ReadString('\n')
		if err != nil {
			return append(got, err.Error())
		}
		if len(line) < 4 || line[3] != '-' {
			got = append(got, strings.TrimRight(line, "\r\n"))
		}
	}
	return got
}

// codes returns just the codes.
func (c *testClient) codes(text string, replies int) string {
	c.t.Helper()
	var codes []string
	for _, line := range c.exchange(text, replies) {
		codes = append(codes, line[:3])
	}
	return strings.Join(codes, " ")
}

const envelope = "MAIL FROM:<a@sender.example> SIZE=10\r\nRCPT TO:<ann@example.org>\r\nDATA\r\n"

func TestPipelinedCommandsAreAnsweredInOrder(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	c := dial(t, s)
	if got := c.codes("EHLO x\r\n", 2); got != "220 250" {
		t.Fatalf("greeting: %s", got)
	}
	if got := c.codes("NOOP\r\n"+envelope, 4); got != "250 250 250 354" {
		t.Errorf("envelope: %s", got)
	}
	// What follows the message in the same breath is a command again.
	if got := c.codes("a\r\n..b\r\n.\r\n"+envelope+"c\r\n.\r\nQUIT\r\n", 6); got != "250 250 250 354 250 221" {
		t.Errorf("messages: %s", got)
	}
	var bodies []string
	for _, m := range s.Messages() {
		bodies = append(bodies, string(m.Raw))
	}
	if want := []string{"a\r\n.b\r\n", "c\r\n"}; !slices.Equal(bodies, want) {
		t.Errorf("messages = %q, want %q", bodies, want)
	}
}

func TestOnlyCRLFDotCRLFEndsAMessage(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"a\n.\nb\r\n", "a\r\n.\nb\r\n", "a\n.\r\nb\r\n", ".\nMAIL FROM:<x@y>\r\n", "\n.\r\n"} {
		s := sink.Start(t, sink.Options{})
		c := dial(t, s)
		c.exchange("EHLO x\r\n"+envelope, 5)
		if got := c.codes(body+"\r\n.\r\nNOOP\r\n", 2); got != "554 250" {
			t.Errorf("%q: %s; want it refused as one message", body, got)
		}
		if n := len(s.Messages()); n != 0 {
			t.Errorf("%q: %d messages taken", body, n)
		}
	}
}

func TestOrderOfCommands(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{MaxSize: 1000, PerConn: 1})
	c := dial(t, s)
	if got := c.codes("MAIL FROM:<a@b>\r\nRCPT TO:<a@b>\r\nDATA\r\nWHAT\r\nSTARTTLS\r\nAUTH PLAIN x\r\n", 7); got != "220 503 503 503 500 502 503" {
		t.Errorf("before EHLO: %s", got)
	}
	if got := c.codes("HELO x\r\nMAIL a@b\r\nMAIL FROM:<a@b> SIZE=1001\r\nMAIL FROM:<>\r\nMAIL FROM:<>\r\nRCPT TO:<>\r\nRSET\r\nRCPT TO:<a@b>\r\n", 8); got != "250 501 552 250 503 501 250 503" {
		t.Errorf("after HELO: %s", got)
	}
	if got := c.codes(envelope, 3); got != "250 250 354" {
		t.Errorf("envelope: %s", got)
	}
	if got := c.codes(".\r\n"+envelope, 2); got != "250 421" {
		t.Errorf("second message: %s; want 421", got)
	}
}

func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{MaxConns: 1})
	if got := dial(t, s).codes("", 1); got != "220" {
		t.Errorf("first: %s", got)
	}
	if got := dial(t, s).codes("", 1); got != "421" {
		t.Errorf("second: %s", got)
	}
}

func TestLogAccountsForEachMessage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := sink.Options{Log: filepath.Join(dir, "log"), Store: filepath.Join(dir, "mail")}
	s := sink.Start(t, o)
	const conns, each = 8, 5
	var wg sync.WaitGroup
	for n := range conns {
		c := dial(t, s)
		wg.Go(func() {
			c.exchange("EHLO x\r\n", 2)
			for i := range each {
				c.exchange(envelope, 3)
				c.exchange(fmt.Sprintf("Subject: x\r\nMessage-Id:\r\n <%d.%d@x>\r\nX-ENTITY-REF-ID: r%d\r\n\r\nMessage-ID: <no>\r\n.\r\n", n, i, n), 1)
			}
		})
	}
	wg.Wait()
	// A message is in the log before its 250 is sent, even if the server was not closed yet.
	data, err := os.ReadFile(o.Log)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		var m sink.Message
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		seen[m.MessageID] = true
		if m.Mail != "a@sender.example" || !slices.Equal(m.Rcpt, []string{"ann@example.org"}) || m.Ref == "" || m.Conn == 0 || m.Time.IsZero() {
			t.Errorf("entry = %+v", m)
		}
	}
	if len(seen) != conns*each {
		t.Errorf("log has %d messages, want %d", len(seen), conns*each)
	}
	files, err := filepath.Glob(filepath.Join(o.Store, "*.eml"))
	if err != nil || len(files) != conns*each {
		t.Errorf("%d files stored, %v; want %d", len(files), err, conns*each)
	}
	m := s.Messages()[0]
	sum := sha256.Sum256(m.Raw)
	if m.SHA256 != hex.EncodeToString(sum[:]) || m.Size != len(m.Raw) {
		t.Errorf("hash %s and size %d are not those of the message", m.SHA256, m.Size)
	}
	if st := s.Stats(); st.Messages != conns*each || st.Connections != conns || st.Peak != conns || st.Refused != 0 {
		t.Errorf("stats = %+v", st)
	}
}

func TestDiscardCountsOnly(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Discard: true})
	c := dial(t, s)
	c.exchange("EHLO x\r\n"+envelope, 5)
	c.exchange("hello\r\n.\r\n", 1)
	if st := s.Stats(); st.Messages != 1 || st.Bytes != 7 || len(s.Messages()) != 0 {
		t.Errorf("stats = %+v, %d messages kept", st, len(s.Messages()))
	}
}

func TestRulesApplyPerRecipient(t *testing.T) {
	t.Parallel()
	rules, err := sink.ParseRules([]byte(`[
		{"stage": "rcpt", "to": "^grey", "reply": "451 4.7.1 greylisted", "times": 1, "each": true},
		{"stage": "rcpt", "to": "^late", "reply": "550 5.1.1 gone", "skip": 1},
		{"stage": "rcpt", "from": "^nobody@", "reply": "550 5.7.1 a\n550 5.7.1 b"},
		{"stage": "rcpt", "to": "^slow", "delay": "1ms"}]`))
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, sink.Start(t, sink.Options{Rules: rules}))
	c.exchange("EHLO x\r\nMAIL FROM:<a@b>\r\n", 3)
	for _, tt := range []struct{ to, want string }{
		{"grey1@x", "451"}, {"grey2@x", "451"}, {"grey1@x", "250"}, {"grey2@x", "250"},
		{"late@x", "250"}, {"late@x", "550"}, {"slow@x", "250"},
	} {
		if got := c.codes("RCPT TO:<"+tt.to+">\r\n", 1); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.to, got, tt.want)
		}
	}
	if got := c.exchange("RSET\r\nMAIL FROM:<nobody@x>\r\nRCPT TO:<a@b>\r\n", 3); got[2] != "550 5.7.1 b" {
		t.Errorf("by sender: %q", got)
	}
}

func TestBadRulesAreRefused(t *testing.T) {
	t.Parallel()
	for _, r := range []sink.Rule{
		{Stage: "never"},
		{Stage: sink.Rcpt, To: "("},
		{Stage: sink.Rcpt, From: "["},
		{Stage: sink.Rcpt, Reply: "no"},
		{Stage: sink.Rcpt, Reply: "250 a\r\n250 b"},
		{Stage: sink.Rcpt, Reply: "550-a\n550 b"}, // the server adds the dashes
		{Stage: sink.Rcpt, Keep: true},
		{Stage: sink.Rcpt, Reset: true},
		{Stage: sink.Rcpt, Chance: 1.5},
	} {
		if s, err := sink.Listen(sink.Options{Rules: []sink.Rule{r}}); err == nil {
			s.Close()
			t.Errorf("%+v was taken", r)
		}
	}
	for _, data := range []string{"{", `[{"stage": "rcpt", "delay": "soon"}]`, `[{"stage": "rcpt", "drip": "5"}]`, `[1]`} {
		if _, err := sink.ParseRules([]byte(data)); err == nil {
			t.Errorf("ParseRules(%s) worked", data)
		}
	}
}

func TestAwait(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	c := dial(t, s)
	go func() {
		c.exchange("EHLO x\r\n"+envelope, 5)
		c.exchange(".\r\n", 1)
	}()
	if got, err := s.Await(t.Context(), 1); err != nil || len(got) != 1 {
		t.Errorf("Await = %d messages, %v", len(got), err)
	}
}

// Whatever a client says, the server answers or hangs up, and takes only
// messages that it was given whole.
func FuzzClient(f *testing.F) {
	for _, s := range []string{
		"EHLO x\r\n" + envelope + "hi\r\n.\r\nQUIT\r\n", "QUIT\r\n", "\r\n\r\n", "EHLO x\r\nSTARTTLS\r\nNOOP\r\n",
		"EHLO x\r\nAUTH LOGIN\r\ndQ==\r\ncA==\r\n", "EHLO x\r\nAUTH PLAIN AHUAcA==\r\n" + envelope + "..\r\n.\r\n",
		"EHLO x\r\nAUTH CRAM-MD5\r\n*\r\n", envelope, "MAIL FROM:\r\nRCPT TO:<\r\nDATA\r\n", "EHLO x\r\n" + envelope + "\n.\r\n.\r\n.\n.",
	} {
		f.Add([]byte(s))
	}
	s, err := sink.Listen(sink.Options{STARTTLS: true, User: "u", Password: "p", MaxSize: 5000, Keep: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, said []byte) {
		nc, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		_ = nc.SetDeadline(time.Now().Add(5 * time.Second))
		go func() {
			_, _ = nc.Write(said)
			_ = nc.(*net.TCPConn).CloseWrite()
		}()
		answers, _ := io.ReadAll(nc) // a server that hangs up early resets
		for line := range bytes.Lines(answers) {
			if len(line) < 6 || line[0] < '2' || line[0] > '5' || !bytes.HasSuffix(line, []byte("\r\n")) {
				t.Fatalf("answer %q to %q", line, said)
			}
		}
	})
}
