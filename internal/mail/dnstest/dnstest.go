// Package dnstest runs a name server on loopback for tests.
//
// The server is authoritative for everything that it is asked: names without records do not exist
// (NXDOMAIN), and names without records of the type that is asked have an empty answer (NODATA).
// CNAME records are followed. Tests change records while the server runs; Listen serves benchmarks.
package dnstest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// Server is a name server on loopback, for UDP and TCP on one port.
type Server struct {
	Addr string // host:port

	servers []*dns.Server

	mu            sync.Mutex
	records       map[string][]dns.RR // by lower-case name with a final dot
	failing       map[string]int      // RCODE by name
	authenticated map[string]bool     // names whose answers have the AD bit
	queries       map[string]int      // number of queries by "TYPE name."
}

// New starts a server with records in the format of zone files, such as
// "example.org. 60 IN MX 10 mx.example.org.". It stops when the test ends.
func New(t testing.TB, records ...string) *Server {
	t.Helper()
	s, err := Listen(records...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Listen is New outside of tests. The caller closes the server.
func Listen(records ...string) (*Server, error) {
	s := &Server{records: map[string][]dns.RR{}, failing: map[string]int{}, authenticated: map[string]bool{}, queries: map[string]int{}}
	if err := s.add(records...); err != nil {
		return nil, err
	}
	packets, stream, err := listen()
	if err != nil {
		return nil, err
	}
	s.Addr = packets.LocalAddr().String()
	for _, server := range []*dns.Server{{PacketConn: packets, Handler: s}, {Listener: stream, Handler: s}} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() { _ = server.ActivateAndServe() }()
		<-started
		s.servers = append(s.servers, server)
	}
	return s, nil
}

// Close stops the server.
func (s *Server) Close() {
	for _, server := range s.servers {
		_ = server.Shutdown()
	}
}

// listen opens the same port for UDP and TCP.
func listen() (net.PacketConn, net.Listener, error) {
	for range 100 {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		stream, err := net.Listen("tcp", packets.LocalAddr().String())
		if err == nil {
			return packets, stream, nil
		}
		_ = packets.Close()
	}
	return nil, nil, errors.New("no port is free for both UDP and TCP")
}

// Add adds records in the format of zone files.
func (s *Server) Add(t testing.TB, records ...string) {
	t.Helper()
	if err := s.add(records...); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) add(records ...string) error {
	for _, text := range records {
		rr, err := dns.NewRR(text)
		if err != nil {
			return fmt.Errorf("record %q: %w", text, err)
		}
		s.mu.Lock()
		name := canonical(rr.Header().Name)
		s.records[name] = append(s.records[name], rr)
		s.mu.Unlock()
	}
	return nil
}

// Remove removes the records of a name, whatever their type, and its failure.
func (s *Server) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records, canonical(name))
	delete(s.failing, canonical(name))
}

// Fail makes every query for a name fail with an RCODE such as dns.RcodeServerFailure.
func (s *Server) Fail(name string, rcode int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing[canonical(name)] = rcode
}

// Authenticate sets the AD bit in answers for a name, as a validating resolver does for signed zones
// (RFC 4035 section 3.2.3).
func (s *Server) Authenticate(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.authenticated[canonical(name)] = true
}

// Queries returns how often the records of a type ("MX") were asked for a name.
func (s *Server) Queries(recordType, name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queries[recordType+" "+canonical(name)]
}

// ServeDNS answers one query.
func (s *Server) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	reply := new(dns.Msg)
	reply.SetReply(query)
	reply.Authoritative, reply.RecursionAvailable = true, true
	if len(query.Question) == 1 {
		s.answer(reply, query.Question[0])
	} else {
		reply.Rcode = dns.RcodeFormatError
	}
	if _, udp := w.RemoteAddr().(*net.UDPAddr); udp {
		size := dns.MinMsgSize
		if opt := query.IsEdns0(); opt != nil {
			size = int(opt.UDPSize())
		}
		reply.Truncate(size)
	}
	_ = w.WriteMsg(reply)
}

func (s *Server) answer(reply *dns.Msg, q dns.Question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := canonical(q.Name)
	s.queries[dns.TypeToString[q.Qtype]+" "+name]++
	for range 8 {
		if rcode, ok := s.failing[name]; ok {
			reply.Rcode, reply.Answer = rcode, nil
			return
		}
		reply.AuthenticatedData = s.authenticated[name]
		rrs, exists := s.records[name]
		if !exists && !s.hasChild(name) {
			reply.Rcode = dns.RcodeNameError
			return
		}
		next := ""
		for _, rr := range rrs {
			if cname, ok := rr.(*dns.CNAME); ok && q.Qtype != dns.TypeCNAME {
				reply.Answer = append(reply.Answer, rr)
				next = canonical(cname.Target)
			} else if rr.Header().Rrtype == q.Qtype {
				reply.Answer = append(reply.Answer, rr)
			}
		}
		if next == "" {
			return
		}
		name = next
	}
}

// hasChild reports whether a name below this one has records: then the name exists (RFC 8020).
func (s *Server) hasChild(name string) bool {
	for other := range s.records {
		if strings.HasSuffix(other, "."+name) {
			return true
		}
	}
	return false
}

func canonical(name string) string { return dns.Fqdn(strings.ToLower(name)) }

// Resolver returns a resolver that asks this server only.
func (s *Server) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.Addr)
	}}
}
