package mx_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/packetboat/packetboat/internal/mail/mx"
)

// zone is what a name server knows; a name that is not in it does not exist.
type zone map[string][]dnsmessage.Resource

// serve answers questions over UDP on loopback.
func serve(t *testing.T, z zone) mx.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply, ok := z.answer(buf[:n]); ok {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return mx.NewResolver(conn.LocalAddr().String())
}

func (z zone) answer(packet []byte) ([]byte, bool) {
	var m dnsmessage.Message
	if err := m.Unpack(packet); err != nil || len(m.Questions) != 1 {
		return nil, false
	}
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	records, known := z[q.Name.String()]
	switch {
	case q.Name.String() == "broken.example.":
		m.RCode = dnsmessage.RCodeServerFailure
	case !known:
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, r := range records {
		if r.Header.Type == q.Type {
			r.Header.Name, r.Header.Class, r.Header.TTL = q.Name, dnsmessage.ClassINET, 60
			m.Answers = append(m.Answers, r)
		}
	}
	reply, err := m.Pack()
	return reply, err == nil
}

func record(pref uint16, host string) dnsmessage.Resource {
	return dnsmessage.Resource{
		Header: dnsmessage.ResourceHeader{Type: dnsmessage.TypeMX},
		Body:   &dnsmessage.MXResource{Pref: pref, MX: dnsmessage.MustNewName(host)},
	}
}

var address = dnsmessage.Resource{
	Header: dnsmessage.ResourceHeader{Type: dnsmessage.TypeA},
	Body:   &dnsmessage.AResource{A: [4]byte{192, 0, 2, 1}},
}

func TestLookup(t *testing.T) {
	t.Parallel()
	r := serve(t, zone{
		"shop.example.":           {record(20, "alt1.aspmx.l.google.com."), record(10, "ASPMX.L.Google.com.")},
		"own.example.":            {record(10, "mail.own.example.")},
		"closed.example.":         {record(0, "."), address},
		"plain.example.":          {address},
		"empty.example.":          {},
		"gmail.com.":              {record(5, "gmail-smtp-in.l.google.com.")},
		"xn--mnchen-3ya.example.": {record(0, "xn--mnchen-3ya.example.mail.protection.outlook.com.")},
	})
	for _, tt := range []struct {
		domain string
		want   mx.Answer
	}{
		{"shop.example", mx.Answer{Record: "aspmx.l.google.com", Provider: mx.GoogleWorkspace}},
		{"SHOP.example.", mx.Answer{Record: "aspmx.l.google.com", Provider: mx.GoogleWorkspace}},
		{"own.example", mx.Answer{Record: "mail.own.example", Provider: mx.Other}},
		{"closed.example", mx.Answer{Record: mx.Null, Provider: mx.Other}},
		{"plain.example", mx.Answer{Record: "plain.example", Provider: mx.Other}},
		{"empty.example", mx.Answer{}},
		{"nowhere.example", mx.Answer{}},
		{"gmail.com", mx.Answer{Record: "gmail-smtp-in.l.google.com", Provider: mx.Gmail}},
		{"xn--mnchen-3ya.example", mx.Answer{Record: "xn--mnchen-3ya.example.mail.protection.outlook.com", Provider: mx.Microsoft365}},
	} {
		got, err := mx.Lookup(t.Context(), r, tt.domain)
		if err != nil || got != tt.want {
			t.Errorf("Lookup(%q) = %+v, %v; want %+v", tt.domain, got, err, tt.want)
		}
	}
	if got, err := mx.Lookup(t.Context(), r, "broken.example"); err == nil {
		t.Errorf("a server's failure is taken for the answer %+v", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := mx.Lookup(ended, r, "shop.example"); err == nil {
		t.Error("a look-up that was cut off is taken for an answer")
	}
}

// silent fails the test when it is asked.
type silent struct{ t *testing.T }

func (s silent) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	s.t.Errorf("the DNS was asked for %q", name)
	return nil, errors.New("asked")
}

func (s silent) LookupHost(ctx context.Context, name string) ([]string, error) {
	_, err := s.LookupMX(ctx, name)
	return nil, err
}

func TestWhatIsNotPublicIsNotAskedFor(t *testing.T) {
	t.Parallel()
	for _, domain := range []string{
		"", "localhost", "printer.local", "anonymized.invalid", "x.onion", "a..example", "[192.0.2.1]", "192.0.2.1", "bü.example", "a b.example",
	} {
		if got, err := mx.Lookup(t.Context(), silent{t}, domain); err != nil || got != (mx.Answer{}) {
			t.Errorf("Lookup(%q) = %+v, %v", domain, got, err)
		}
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		domain, host string
		want         mx.Provider
	}{
		{"gmail.com", "gmail-smtp-in.l.google.com", mx.Gmail},
		{"googlemail.com", "", mx.Gmail},
		{"firm.example", "smtp.google.com.", mx.GoogleWorkspace},
		{"hotmail.co.uk", "eur.olc.protection.outlook.com", mx.Outlook},
		{"live.nl", "", mx.Outlook},
		{"outlook.com.br", "", mx.Outlook},
		{"firm.example", "firm-example.mail.protection.outlook.com", mx.Microsoft365},
		{"firm.example", "firm-example.o-v1.mx.microsoft", mx.Microsoft365},
		{"yahoo.co.jp", "", mx.Yahoo},
		{"ymail.com", "", mx.Yahoo},
		{"sbcglobal.net", "ff-ip4-mx-vip1.prodigy.net", mx.Other},
		{"firm.example", "mta5.am0.yahoodns.net", mx.Yahoo},
		{"verizon.net", "mx-aol.mail.gm0.yahoodns.net", mx.AOL},
		{"aol.de", "", mx.AOL},
		{"mac.com", "", mx.ICloud},
		{"me.example", "mx01.mail.icloud.com", mx.ICloud},
		{"pm.me", "", mx.Proton},
		{"me.example", "mailsec.protonmail.ch", mx.Proton},
		{"firm.example", "mx2.zoho.eu", mx.Zoho},
		{"firm.example", "evilgoogle.com", mx.Other},
		{"firm.example", "google.com.evil.example", mx.Other},
		{"yahoo.evil.example", "mail.evil.example", mx.Other},
		{"firm.example", "", mx.Other},
	} {
		var hosts []string
		if tt.host != "" {
			hosts = []string{tt.host, "backup.example"}
		}
		if got := mx.Classify(tt.domain, hosts); got != tt.want {
			t.Errorf("Classify(%q, %q) = %s, want %s", tt.domain, tt.host, got, tt.want)
		}
	}
}

func TestDirectory(t *testing.T) {
	for _, tt := range []struct {
		domain   string
		provider mx.Provider
		server   string
		want     string
	}{
		{"gmail.com", "", "", "gmail"},
		{"gmail.com", mx.Gmail, "gmail-smtp-in.l.google.com", "gmail"},
		{"shop.example", mx.GoogleWorkspace, "aspmx.l.google.com", "gmail"},
		{"shop.example", mx.Microsoft365, "shop-example.mail.protection.outlook.com", "outlook"},
		{"shop.example", mx.Zoho, "mx.zoho.eu", "zoho"},
		{"shop.example", mx.Other, "mail.shop.example", "mail.shop.example"},
		{"shop.example", mx.Other, mx.Null, ""},
		{"shop.example", "", "", ""},
	} {
		if got := mx.Directory(tt.domain, tt.provider, tt.server); got != tt.want {
			t.Errorf("Directory(%q, %q, %q) = %q, want %q", tt.domain, tt.provider, tt.server, got, tt.want)
		}
	}
}
