package smtpclient_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// failToDial dials and returns the error, which must come at stage.
func failToDial(t *testing.T, cfg smtpclient.Config, stage reply.Stage) *smtpclient.DialError {
	t.Helper()
	c, err := smtpclient.Dial(t.Context(), cfg)
	if err == nil {
		c.Close()
		t.Fatal("Dial worked")
	}
	de, ok := errors.AsType[*smtpclient.DialError](err)
	if !ok || de.Outcome.Stage != stage || de.Outcome.Text == "" {
		t.Fatalf("Dial: %v (%+v); want a failure at %s", err, de, stage)
	}
	if v := reply.Classify(de.Outcome); v.Class != reply.Lane {
		t.Errorf("class of %v is %s, want lane", err, v.Class)
	}
	return de
}

func TestTLSAndLogin(t *testing.T) {
	t.Parallel()
	const user, password = "mailer@sender.example", "pass word \u00e9"
	for _, mode := range []smtpclient.TLSMode{smtpclient.None, smtpclient.StartTLS, smtpclient.Implicit} {
		s := sink.Start(t, sink.Options{
			STARTTLS: mode == smtpclient.StartTLS, ImplicitTLS: mode == smtpclient.Implicit, RequireTLS: mode != smtpclient.None,
			User: user, Password: password,
		})
		for _, auth := range []smtpclient.AuthMode{smtpclient.AuthPlain, smtpclient.AuthLogin, smtpclient.AuthCRAMMD5} {
			cfg := configFor(s)
			cfg.TLS, cfg.Auth, cfg.Username, cfg.Password = mode, auth, user, password
			if o := mustSend(t, mustDial(t, cfg), toAnn, letter); !o.Accepted || o.TLS != (mode != smtpclient.None) {
				t.Errorf("%s, %s: %+v", mode, auth, o)
			}
			cfg.Password = "wrong"
			if de := failToDial(t, cfg, reply.Auth); de.Outcome.Code != 535 || strings.Contains(de.Error(), "wrong\"") {
				t.Errorf("%s, %s, wrong password: %v", mode, auth, de)
			}
		}
		cfg := configFor(s)
		cfg.TLS = mode
		if o := mustSend(t, mustDial(t, cfg), toAnn, letter); o.Code != 530 || reply.Classify(o).Class != reply.Lane {
			t.Errorf("%s without login: %+v", mode, o)
		}
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	t.Parallel()
	for _, mode := range []smtpclient.TLSMode{smtpclient.StartTLS, smtpclient.Implicit} {
		s := sink.Start(t, sink.Options{STARTTLS: mode == smtpclient.StartTLS, ImplicitTLS: mode == smtpclient.Implicit})
		cfg := configFor(s)
		cfg.TLS, cfg.RootCAs = mode, x509.NewCertPool()
		failToDial(t, cfg, reply.TLS)
		// The right authority, but another name.
		cfg.RootCAs, cfg.Host = s.Roots(), "relay.example.net"
		cfg.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.Addr())
		}
		failToDial(t, cfg, reply.TLS)
	}
}

func TestNothingIsSentInClearWhenTLSIsWanted(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{User: "u", Password: "p"})
	cfg := configFor(s)
	cfg.TLS, cfg.Auth, cfg.Username, cfg.Password = smtpclient.StartTLS, smtpclient.AuthPlain, "u", "p"
	failToDial(t, cfg, reply.TLS)
	cfg.TLS = smtpclient.Implicit
	failToDial(t, cfg, reply.TLS)
	// A login without TLS stays on this machine even if the name is a wrong one.
	cfg.TLS, cfg.Host = smtpclient.None, "relay.localhost"
	cfg.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, s.Addr())
		return remoteConn{nc}, err
	}
	failToDial(t, cfg, reply.Auth)
}

// remoteConn is a connection that seems to lead to another machine.
type remoteConn struct{ net.Conn }

func (remoteConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 25} }

func TestMechanismMustBeOffered(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Offer: []string{"AUTH=LOGIN"}})
	cfg := configFor(s)
	cfg.Auth, cfg.Username, cfg.Password = smtpclient.AuthPlain, "u", "p"
	failToDial(t, cfg, reply.Auth)
}

func TestDialFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		rule sink.Rule
		code int
	}{
		{"banner refuses", sink.Rule{Stage: sink.Connect, Reply: "554 5.7.1 not you"}, 554},
		{"banner 421", sink.Rule{Stage: sink.Connect, Reply: "421 4.3.2 busy", Drop: true}, 421},
		{"dropped at once", sink.Rule{Stage: sink.Connect, Drop: true}, 0},
		{"nonsense banner", sink.Rule{Stage: sink.Connect, Reply: "354 what"}, 0},
		{"EHLO for later", sink.Rule{Stage: sink.Hello, Reply: "451 4.3.0 later"}, 451},
		{"EHLO and HELO refused", sink.Rule{Stage: sink.Hello, Reply: "550 no"}, 550},
		{"silent", sink.Rule{Stage: sink.Connect, Delay: time.Minute}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := configFor(sink.Start(t, sink.Options{Rules: []sink.Rule{tt.rule}}))
			if tt.rule.Delay > 0 {
				cfg.Timeouts.Banner = 20 * time.Millisecond
			}
			if de := failToDial(t, cfg, reply.Connect); de.Outcome.Code != tt.code {
				t.Errorf("Dial: %v, want code %d", de, tt.code)
			}
		})
	}
	t.Run("no listener", func(t *testing.T) {
		t.Parallel()
		s := sink.Start(t, sink.Options{})
		s.Close()
		if de := failToDial(t, configFor(s), reply.Connect); de.Outcome.Text != "connection refused" {
			t.Errorf("Dial: %v", de)
		}
	})
	t.Run("no such host", func(t *testing.T) {
		t.Parallel()
		cfg := configFor(sink.Start(t, sink.Options{}))
		cfg.Host = "nowhere.invalid"
		if de := failToDial(t, cfg, reply.Connect); !strings.HasPrefix(de.Outcome.Text, "the host name ") {
			t.Errorf("Dial: %v", de)
		}
	})
}

func TestHELOFallback(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Hello, Reply: "500 what", Times: 1}}})
	if o := mustSend(t, mustDial(t, configFor(s)), toAnn, letter); !o.Accepted {
		t.Errorf("outcome = %+v", o)
	}
}

func TestDialEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Connect, Delay: time.Minute}}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := smtpclient.Dial(ctx, configFor(s))
	if _, lane := errors.AsType[*smtpclient.DialError](err); lane || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Dial: %v; want the context's error", err)
	}
}

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		cfg  smtpclient.Config
		ok   bool
	}{
		{"plain relay", smtpclient.Config{Host: "relay.example.net", Port: 25}, true},
		{"usual relay", smtpclient.Config{Host: "relay.example.net", Port: 587, TLS: "starttls", Auth: "plain", Username: "u"}, true},
		{"login in clear to loopback", smtpclient.Config{Host: "localhost", Port: 25, Auth: "login", Username: "u"}, true},
		{"login in clear to ::1", smtpclient.Config{Host: "::1", Port: 25, Auth: "cram_md5", Username: "u"}, true},
		{"login in clear", smtpclient.Config{Host: "relay.example.net", Port: 25, Auth: "plain", Username: "u"}, false},
		{"login without user", smtpclient.Config{Host: "relay.example.net", Port: 25, TLS: "implicit", Auth: "plain"}, false},
		{"NUL in the password", smtpclient.Config{Host: "relay.example.net", Port: 25, TLS: "implicit", Auth: "plain", Username: "u", Password: "a\x00b"}, false},
		{"no host", smtpclient.Config{Port: 25}, false},
		{"host with spaces", smtpclient.Config{Host: "a b", Port: 25}, false},
		{"no port", smtpclient.Config{Host: "a"}, false},
		{"unknown mode", smtpclient.Config{Host: "a", Port: 25, TLS: "maybe"}, false},
		{"unknown auth", smtpclient.Config{Host: "a", Port: 25, TLS: "starttls", Auth: "ntlm", Username: "u"}, false},
		{"command in HELO", smtpclient.Config{Host: "a", Port: 25, HELO: "x\r\nMAIL"}, false},
	} {
		if err := tt.cfg.Check(); (err == nil) != tt.ok {
			t.Errorf("%s: Check = %v, want ok %v", tt.name, err, tt.ok)
		}
	}
}

// script runs a server that writes the next line of answers whenever it is
// spoken to, and returns the other end and what the server heard.
func script(t *testing.T, answers ...string) (smtpclient.Config, func() string) {
	client, server := net.Pipe()
	heard := make(chan string, 1)
	go func() {
		var all bytes.Buffer
		defer func() { heard <- all.String() }()
		defer server.Close()
		buf := make([]byte, 64<<10)
		for _, a := range answers {
			if _, err := server.Write([]byte(a)); err != nil {
				return
			}
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			all.Write(buf[:n])
		}
	}()
	cfg := smtpclient.Config{
		Host: "relay.example.net", Port: 25, HELO: "us.example",
		Dial:     func(context.Context, string, string) (net.Conn, error) { return client, nil },
		Timeouts: smtpclient.Timeouts{Quit: time.Millisecond},
	}
	return cfg, func() string { client.Close(); return <-heard }
}

func TestLoneDotAfterAPointlessInvitation(t *testing.T) {
	t.Parallel()
	cfg, heard := script(t, "220 hi\r\n", "250-hi\r\n250 PIPELINING\r\n",
		"250 ok\r\n550 5.1.1 no such user\r\n354 go on\r\n", "554 no recipients\r\n",
		"250 ok\r\n250 ok\r\n250 ok\r\n354 go on\r\n", "250 taken\r\n")
	c, err := smtpclient.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if o := mustSend(t, c, toAnn, letter); o.Code != 550 || o.Stage != reply.Rcpt || !c.Usable() {
		t.Errorf("first: %+v, Usable %v", o, c.Usable())
	}
	if o := mustSend(t, c, toAnn, "Subject: two\r\n\r\n"); !o.Accepted {
		t.Errorf("second: %+v", o)
	}
	envelope := "MAIL FROM:<bounce+1@sender.example>\r\nRCPT TO:<ann@example.org>\r\nDATA\r\n"
	want := "EHLO us.example\r\n" + envelope + ".\r\nRSET\r\n" + envelope + "Subject: two\r\n\r\n.\r\n"
	if got := heard(); got != want {
		t.Errorf("server heard %q, want %q", got, want)
	}
}

func TestSpeechAfterSTARTTLSIsNotBelieved(t *testing.T) {
	t.Parallel()
	cfg, _ := script(t, "220 hi\r\n", "250-hi\r\n250 STARTTLS\r\n", "220 go on\r\n250 injected\r\n")
	cfg.TLS = smtpclient.StartTLS
	if de := failToDial(t, cfg, reply.TLS); !strings.Contains(de.Error(), "in clear") {
		t.Errorf("Dial: %v", de)
	}
}

func TestPasswordsAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{User: "u", Password: "p", Rules: []sink.Rule{{Stage: sink.Auth, Reply: "535 5.7.8 s3cret-word is wrong"}}})
	cfg := configFor(s)
	cfg.Auth, cfg.Username, cfg.Password = smtpclient.AuthPlain, "u", "s3cret-word"
	if de := failToDial(t, cfg, reply.Auth); strings.Contains(de.Error(), "s3cret") || de.Outcome.Code != 535 {
		t.Errorf("Dial: %v", de)
	}
}

// Whatever a server says, the client does not panic, and a message is only
// accepted when the answer to it was positive.
func FuzzServer(f *testing.F) {
	for _, s := range []string{
		"220 hi\r\n|250-hi\r\n250 PIPELINING\r\n|250 ok\r\n250 ok\r\n354 go\r\n|250 taken\r\n",
		"220 hi\r\n|250 hi\r\n|250 ok\r\n|250 ok\r\n|354 go\r\n|250 taken\r\n",
		"220 hi\r\n|250-hi\r\n250-SIZE 10\r\n250 LIMITS MAILMAX=1\r\n|550 no\r\n",
		"220 hi\r\n|250-hi\r\n250 STARTTLS\r\n|220 go\r\n|",
		"220-hi\r\n|421 bye\r\n", "junk", "220 hi\r\n|500 what\r\n|250 hi\r\n|250 ok\r\n|550 5.1.1 no\r\n|250 ok\r\n",
		"220 hi\r\n|250-hi\r\n250 PIPELINING\r\n|250 ok\r\n550 no\r\n354 go\r\n|250 ok\r\n|250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n|354 go\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, talk string) {
		cfg, heard := script(t, strings.Split(talk, "|")...)
		defer heard()
		const short = 20 * time.Millisecond
		cfg.Timeouts = smtpclient.Timeouts{Banner: short, Command: short, Mail: short, Data: short, Block: short, Dot: short, Quit: short}
		c, err := smtpclient.Dial(t.Context(), cfg)
		if err != nil {
			return
		}
		for range 2 {
			o, err := c.Send(t.Context(), toAnn, []byte(letter))
			if o.Accepted && (err != nil || o.Code/100 != 2 || o.Stage != reply.Dot || o.Uncertain) {
				t.Fatalf("accepted: %+v, %v", o, err)
			}
			if !o.Accepted && o.Code/100 == 2 {
				t.Fatalf("not accepted: %+v", o)
			}
		}
		c.Close()
	})
}
