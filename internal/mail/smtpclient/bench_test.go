package smtpclient_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// BenchmarkSend hands messages of 16 KB to a server on loopback that does nothing.
func BenchmarkSend(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go answer(l)
	c, err := smtpclient.Dial(b.Context(), smtpclient.Config{
		Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Guard: netguard.Guard{AllowPrivate: true},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	raw := []byte("Subject: News\r\n\r\n" + strings.Repeat("Words that are the same for everyone, in a line as quoted-printable has=\r\n", 220))
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		if o, err := c.Send(ctx, toAnn, raw); err != nil || !o.Accepted {
			b.Fatal(o, err)
		}
	}
}

// answer is a server for one connection that accepts everything.
func answer(l net.Listener) {
	nc, err := l.Accept()
	if err != nil {
		return
	}
	defer nc.Close()
	_, _ = nc.Write([]byte("220 hello\r\n"))
	buf := make([]byte, 64<<10)
	for have := 0; ; {
		n, err := nc.Read(buf[have:])
		if err != nil {
			return
		}
		have += n
		said := ""
		switch got := buf[:have]; {
		case bytes.HasPrefix(got, []byte("EHLO ")):
			said = "250-hello\r\n250 PIPELINING\r\n"
		case bytes.HasSuffix(got, []byte("\r\nDATA\r\n")):
			said = "250 2.1.0 ok\r\n250 2.1.5 ok\r\n354 go on\r\n"
		case bytes.HasSuffix(got, []byte("\r\n.\r\n")):
			said = "250 2.0.0 taken\r\n"
		default:
			continue
		}
		have = 0
		_, _ = nc.Write([]byte(said))
	}
}
