package dane

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Bounds of one look-up.
const (
	queryWithin = 5 * time.Second
	answerSize  = 1232 // bytes by UDP; longer answers come by TCP
	maxRecords  = 64   // of one answer
)

// Client queries a validating name server.
type Client struct {
	Server string // host:port, on loopback
}

// answer is the answer to one query.
type answer struct {
	records []dns.RR // those of the type that was asked for; none if there are none or the name does not exist
	secure  bool     // the answer, or that there are no records, is proven by DNSSEC
}

// query asks for records. An error means that there is no answer that can be used, as when the
// signatures are not valid.
func (c *Client) query(ctx context.Context, name string, kind uint16) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, queryWithin)
	defer cancel()
	query := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	query.AuthenticatedData = true // RFC 6840 section 5.7
	query.SetEdns0(answerSize, false)
	client := dns.Client{Timeout: queryWithin}
	reply, _, err := client.ExchangeContext(ctx, query, c.Server)
	if err == nil && reply.Truncated {
		client.Net = "tcp"
		reply, _, err = client.ExchangeContext(ctx, query, c.Server)
	}
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("look up %s of %s: %w", dns.TypeToString[kind], name, err)
	case reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError:
		return answer{}, fmt.Errorf("look up %s of %s: %s", dns.TypeToString[kind], name, dns.RcodeToString[reply.Rcode])
	}
	return read(reply, kind), nil
}

// read returns the records of a type that a message has.
func read(reply *dns.Msg, kind uint16) answer {
	a := answer{secure: reply.AuthenticatedData}
	for _, rr := range reply.Answer {
		if rr.Header().Rrtype == kind && len(a.records) < maxRecords {
			a.records = append(a.records, rr)
		}
	}
	return a
}

// MX looks up whether the MX records of a domain, or that it has none, are proven by DNSSEC, and
// returns the names of the servers.
func (c *Client) MX(ctx context.Context, domain string) (hosts []string, secure bool, err error) {
	a, err := c.query(ctx, domain, dns.TypeMX)
	if err != nil {
		return nil, false, err
	}
	return a.hosts(), a.secure, nil
}

// hosts returns the names of the servers in MX records.
func (a answer) hosts() (names []string) {
	for _, rr := range a.records {
		names = append(names, strings.ToLower(strings.TrimSuffix(rr.(*dns.MX).Mx, ".")))
	}
	return names
}

// Records are the TLSA records of a mail server.
type Records struct {
	Present bool     // there are records, so mail must not be sent in clear (RFC 7672 section 2.2)
	usable  []record // without any, the certificate is not checked
}

// Usable reports whether there are records by which a certificate can be verified.
func (r Records) Usable() bool { return len(r.usable) > 0 }

// TLSA looks up the TLSA records of a mail server. Those that DNSSEC does not prove do not count, nor do
// records of a server whose addresses it does not prove (RFC 7672 section 2.2.2). After an error the
// server must not be used.
func (c *Client) TLSA(ctx context.Context, host string, port int) (Records, error) {
	address, err := c.query(ctx, host, dns.TypeA)
	if err == nil && address.secure && len(address.records) == 0 {
		address, err = c.query(ctx, host, dns.TypeAAAA)
	}
	if err != nil || !address.secure {
		return Records{}, err
	}
	a, err := c.query(ctx, "_"+strconv.Itoa(port)+"._tcp."+host, dns.TypeTLSA)
	if err != nil || !a.secure {
		return Records{}, err
	}
	return a.tlsa(), nil
}

// tlsa returns what TLSA records say.
func (a answer) tlsa() Records {
	r := Records{Present: len(a.records) > 0}
	for _, rr := range a.records {
		if one, ok := usable(rr.(*dns.TLSA)); ok {
			r.usable = append(r.usable, one)
		}
	}
	return r
}
