package smtpclient_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/textproto"
	"strings"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

func ExampleConn_Send() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	go accept(l)

	ctx := context.Background()
	conn, err := smtpclient.Dial(ctx, smtpclient.Config{
		Host:  "127.0.0.1",
		Port:  l.Addr().(*net.TCPAddr).Port,
		Guard: netguard.Guard{AllowPrivate: true},
	})
	if err != nil {
		panic(err)
	}
	for _, to := range []string{"bob@example.com", "missing@example.com"} {
		outcome, err := conn.Send(ctx, smtpclient.Envelope{From: "bounce@news.example.org", To: to}, []byte("Subject: Hello\r\n\r\nGood morning.\r\n"))
		fmt.Printf("%s, accepted: %t: %s, %v\n", outcome.Stage, outcome.Accepted, outcome, err)
	}
	fmt.Println(conn.Quit())
	// Output:
	// dot, accepted: true: 250 2.0.0 ok, <nil>
	// rcpt, accepted: false: 550 5.1.1 no such user, <nil>
	// <nil>
}

// accept is a server for one connection, which knows one recipient.
func accept(l net.Listener) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "220 mx.example.com\r\n")
	r := textproto.NewReader(bufio.NewReader(conn))
	for {
		line, err := r.ReadLine()
		if err != nil {
			return
		}
		answer := "250 2.0.0 ok"
		switch {
		case line == "DATA":
			fmt.Fprint(conn, "354 go on\r\n")
			if _, err := r.ReadDotLines(); err != nil {
				return
			}
		case strings.HasPrefix(line, "RCPT TO:<missing@"):
			answer = "550 5.1.1 no such user"
		}
		fmt.Fprint(conn, answer+"\r\n")
	}
}
