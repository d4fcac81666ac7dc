package sink

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how a server behaves. The zero Options take everything on a free
// port of the loopback address, count it, and offer neither TLS nor AUTH.
type Options struct {
	Addr    string   // default 127.0.0.1:0
	Hosts   []string // further addresses to listen on, at the port of Addr
	Log     string   // file to which one JSON line is added per message
	NoSync  bool     // answer before the line is on stable storage
	Store   string   // directory for raw messages, one file each
	Keep    bool     // keep messages in memory, for Messages
	Discard bool     // count messages and discard them, whatever else is set

	STARTTLS    bool   // offer STARTTLS
	ImplicitTLS bool   // TLS from the first byte
	RequireTLS  bool   // refuse mail without TLS
	Keypair     string // file with certificate and key in PEM, made when it is not there
	User        string
	Password    string // with User: refuse mail without a login

	Offer    []string // more lines for the answer to EHLO
	Without  []string // extensions not to offer, such as PIPELINING
	MaxConns int      // more connections get 421
	PerConn  int      // more messages on one connection get 421
	MaxSize  int      // of a message in bytes; default 64 MB
	Rules    []Rule
}

// Stats is what a server has seen so far.
type Stats struct {
	Messages    int64 `json:"messages"`    // taken
	Bytes       int64 `json:"bytes"`       // of those, as on the wire
	Connections int64 `json:"connections"` // accepted
	Peak        int64 `json:"peak"`        // open at a time
	Refused     int64 `json:"refused"`     // replies of class 4 and 5
}

// Server is a running sink.
type Server struct {
	opts   Options
	lns    []net.Listener // that of Options.Addr comes first
	ledger *ledger
	tls    *tls.Config
	cert   *x509.Certificate
	rules  atomic.Pointer[[]*liveRule]
	hello  []byte // answer to EHLO before STARTTLS
	secure []byte // and after it

	messages, bytes, refused atomic.Int64

	mu          sync.Mutex
	conns       map[net.Conn]struct{}
	accepted    int64
	peak        int64
	closed      bool
	quit        chan struct{}
	connections sync.WaitGroup
}

// TB is what Start needs of a test.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Start runs a server that keeps its messages in memory until the test ends.
func Start(t TB, o Options) *Server {
	t.Helper()
	o.Keep = true
	s, err := Listen(o)
	if err != nil {
		t.Fatalf("start SMTP sink: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Listen starts a server.
func Listen(o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.MaxSize == 0 {
		o.MaxSize = 64 << 20
	}
	s := &Server{opts: o, conns: map[net.Conn]struct{}{}, quit: make(chan struct{})}
	if err := s.SetRules(o.Rules); err != nil {
		return nil, err
	}
	if o.STARTTLS || o.ImplicitTLS {
		if err := s.makeCertificate(); err != nil {
			return nil, fmt.Errorf("make certificate: %w", err)
		}
	}
	s.hello, s.secure = greeting(o, o.STARTTLS), greeting(o, false)
	var err error
	if s.ledger, err = openLedger(o); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if err := s.listen(o); err != nil {
		return nil, errors.Join(err, s.stopListening(), s.ledger.close())
	}
	for _, ln := range s.lns {
		s.connections.Go(func() { s.accept(ln) })
	}
	return s, nil
}

// listen opens the listeners.
func (s *Server) listen(o Options) error {
	first, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return err
	}
	s.lns = append(s.lns, first)
	for _, host := range o.Hosts {
		ln, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(s.Port())))
		if err != nil {
			return err
		}
		s.lns = append(s.lns, ln)
	}
	return nil
}

func (s *Server) stopListening() (err error) {
	for _, ln := range s.lns {
		err = errors.Join(err, ln.Close())
	}
	return err
}

// Addr returns host and port of the server.
func (s *Server) Addr() string { return s.lns[0].Addr().String() }

// Port returns the port of the server.
func (s *Server) Port() int { return s.lns[0].Addr().(*net.TCPAddr).Port }

// Roots returns a pool with the server's certificate, for clients that verify
// it as localhost, 127.0.0.1 or ::1.
func (s *Server) Roots() *x509.CertPool {
	p := x509.NewCertPool()
	if s.cert != nil {
		p.AddCert(s.cert)
	}
	return p
}

// Certificate returns the server's certificate in PEM, or nil without TLS.
func (s *Server) Certificate() []byte {
	if s.cert == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.cert.Raw})
}

// SetRules replaces the rules; their counts start at zero.
func (s *Server) SetRules(rules []Rule) error {
	var live []*liveRule
	for _, r := range rules {
		l, err := r.compile()
		if err != nil {
			return err
		}
		live = append(live, l)
	}
	s.rules.Store(&live)
	return nil
}

// Messages returns the messages taken so far, in order, if they are kept.
func (s *Server) Messages() []Message {
	list, _ := s.ledger.list()
	return list
}

// Await waits until n messages were taken and returns all there are.
func (s *Server) Await(ctx context.Context, n int) ([]Message, error) {
	for {
		list, more := s.ledger.list()
		if len(list) >= n {
			return list, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return list, fmt.Errorf("%d of %d messages came: %w", len(list), n, context.Cause(ctx))
		}
	}
}

// Stats returns what was seen so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{s.messages.Load(), s.bytes.Load(), s.accepted, s.peak, s.refused.Load()}
}

// open returns how many connections there are.
func (s *Server) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// DropConnections cuts all connections that are open.
func (s *Server) DropConnections() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// Close stops the server: connections are cut, the log is complete.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.quit)
	s.mu.Unlock()
	err := s.stopListening()
	s.DropConnections()
	s.connections.Wait()
	return errors.Join(err, s.ledger.close())
}

func (s *Server) accept(ln net.Listener) {
	for {
		nc, err := ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, or the client was gone already
			select {
			case <-s.quit:
				return
			case <-time.After(10 * time.Millisecond):
			}
			continue
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			nc.Close()
			return
		}
		s.conns[nc] = struct{}{}
		s.accepted++
		number, open := s.accepted, len(s.conns)
		s.peak = max(s.peak, int64(open))
		s.mu.Unlock()
		s.connections.Go(func() {
			c := newSession(s, nc, number)
			c.serve(s.opts.MaxConns > 0 && open > s.opts.MaxConns)
			nc.Close()
			s.leave(nc)
		})
	}
}

// leave ends counting a connection. One that its client ends by QUIT is not counted from the answer on, so that
// a client which waits for it never has more connections here than it counts itself.
func (s *Server) leave(nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, nc)
}

// makeCertificate creates a self-signed certificate for the server, or loads the one it created before.
func (s *Server) makeCertificate() error {
	pair, err := os.ReadFile(s.opts.Keypair)
	if err != nil {
		if pair, err = makeKeypair(); err != nil {
			return err
		}
		if s.opts.Keypair != "" {
			if err := os.WriteFile(s.opts.Keypair, pair, 0o600); err != nil {
				return err
			}
		}
	}
	c, err := tls.X509KeyPair(pair, pair)
	if err != nil {
		return err
	}
	s.cert, s.tls = c.Leaf, &tls.Config{Certificates: []tls.Certificate{c}}
	return nil
}

func makeKeypair() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: "SMTP sink"},
		NotBefore:             now.Add(-24 * time.Hour),
		NotAfter:              now.Add(10 * 365 * 24 * time.Hour),
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...), nil
}
