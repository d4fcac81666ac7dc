// Command barebench sends messages of one size to an SMTP server as fast as it
// can and prints what came of it, once per number of connections. With -go-smtp
// it uses the client of emersion/go-smtp instead of ours, for comparison.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	gosmtp "github.com/emersion/go-smtp"
	"golang.org/x/sync/errgroup"

	"github.com/packetboat/packetboat/bench/bare"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:2525", "server")
	conns := flag.String("conns", "1,16,64", "numbers of connections to try")
	n := flag.Int("n", 50000, "messages per try")
	size := flag.Int("size", 12<<10, "bytes of a message")
	other := flag.Bool("go-smtp", false, "use the client of emersion/go-smtp")
	flag.Parse()
	raw := message(*size)
	for c := range strings.SplitSeq(*conns, ",") {
		count, err := strconv.Atoi(c)
		if err == nil {
			err = try(*addr, count, *n, raw, *other)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "barebench:", err)
			os.Exit(1)
		}
	}
}

func try(addr string, conns, n int, raw []byte, other bool) error {
	next := func(i int) (string, string, []byte) {
		return "bounces@sender.example", "ann" + strconv.Itoa(i) + "@example.org", raw
	}
	if other {
		began := time.Now()
		if err := sendGoSMTP(addr, conns, n, next); err != nil {
			return err
		}
		fmt.Printf("go-smtp  %3d connections  %8.0f messages/s\n", conns, float64(n)/time.Since(began).Seconds())
		return nil
	}
	r, err := bare.Run(context.Background(), bare.Options{Addr: addr, Conns: conns, Messages: n, Next: next})
	if err != nil {
		return err
	}
	fmt.Printf("bare     %3d connections  %8.0f messages/s  %.1f ms CPU per 1,000\n",
		conns, r.Rate(), r.CPUPerThousand().Seconds()*1000)
	return nil
}

// sendGoSMTP sends the same with the other client.
func sendGoSMTP(addr string, conns, n int, next func(int) (string, string, []byte)) error {
	var at atomic.Int64
	var g errgroup.Group
	for range conns {
		g.Go(func() error {
			c, err := gosmtp.Dial(addr)
			if err != nil {
				return err
			}
			for {
				i := int(at.Add(1)) - 1
				if i >= n {
					return errors.Join(c.Quit())
				}
				from, to, raw := next(i)
				if err := c.SendMail(from, []string{to}, bytes.NewReader(raw)); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// message returns a message of about size bytes in lines as quoted-printable
// makes them.
func message(size int) []byte {
	var b bytes.Buffer
	b.WriteString("From: Sender <news@sender.example>\r\nTo: ann@example.org\r\nSubject: A message\r\n" +
		"Message-ID: <1@sender.example>\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n" +
		"Content-Transfer-Encoding: quoted-printable\r\n\r\n")
	for b.Len() < size {
		b.WriteString("<p style=3D\"color: #333333\">The quick brown fox jumps over the lazy dog, a=\r\n")
	}
	return b.Bytes()
}
