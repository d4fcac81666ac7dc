package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	gosmtp "github.com/emersion/go-smtp"
	"golang.org/x/sync/errgroup"

	"github.com/packetboat/packetboat/bench/bare"
)

// client sends messages of one size to an SMTP server as fast as it can, and prints what came of it, once for each
// number of connections.
type client struct {
	Addr        string `default:"127.0.0.1:2525" help:"The server."`
	Connections []int  `default:"1,16,64" help:"Numbers of connections to try."`
	N           int    `default:"50000" help:"Messages of each try."`
	Size        int    `default:"12288" help:"Bytes of a message."`
	GoSMTP      bool   `name:"go-smtp" help:"Use the client of emersion/go-smtp instead of ours, for comparison."`
}

// Run prints a row for each number of connections.
func (c *client) Run(ctx context.Context) error {
	raw := message(c.Size)
	for _, n := range c.Connections {
		if err := c.try(ctx, n, raw); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) try(ctx context.Context, conns int, raw []byte) error {
	next := func(i int) (string, string, []byte) {
		return "bounces@sender.example", "ann" + strconv.Itoa(i) + "@example.org", raw
	}
	if c.GoSMTP {
		began := time.Now()
		if err := sendGoSMTP(c.Addr, conns, c.N, next); err != nil {
			return err
		}
		fmt.Printf("go-smtp  %3d connections  %8.0f messages/s\n", conns, float64(c.N)/time.Since(began).Seconds())
		return nil
	}
	r, err := bare.Run(ctx, bare.Options{Addr: c.Addr, Conns: conns, Messages: c.N, Next: next})
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
