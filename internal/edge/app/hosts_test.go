package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/senders/sender"
)

// zone is a DNS with few names. Other names are not found, and "broken." fails.
type zone struct {
	hosts, texts map[string][]string
}

func (z zone) LookupHost(_ context.Context, host string) ([]string, error) {
	return find(z.hosts, host)
}
func (z zone) LookupTXT(_ context.Context, name string) ([]string, error) { return find(z.texts, name) }

func find(all map[string][]string, name string) ([]string, error) {
	if name == "broken.example.org." {
		return nil, errors.New("the server does not answer")
	}
	if found, ok := all[name]; ok {
		return found, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func TestHostsThatDoNotResolveAreLogged(t *testing.T) {
	t.Parallel()
	dns := zone{
		hosts: map[string][]string{"mail.example.org.": {"192.0.2.1"}},
		texts: map[string][]string{"mail.example.org.": {"something else"}, "spf.example.org.": {"x", "v=spf1 ip4:192.0.2.1 -all"}},
	}
	for _, c := range []struct {
		hosts sender.Hosts
		want  []string // parts of the lines
	}{
		{sender.Hosts{MX: "mail.example.org", SPF: "spf.example.org", Track: "mail.example.org"}, nil},
		{sender.Hosts{MX: "mx.example.org", SPF: "mail.example.org", Track: "mail.example.org"}, []string{"host=mx.example.org missing=\"A or AAAA\" option=PACKETBOAT_MX_HOST", "host=mail.example.org missing=\"TXT v=spf1\" option=PACKETBOAT_SPF_HOST"}},
		{sender.Hosts{MX: "mail.example.org", SPF: "spf.example.org", Track: "broken.example.org"}, []string{"DNS records failed\" host=broken.example.org option=PACKETBOAT_TRACK_HOST"}},
		{sender.Hosts{MX: "mail.example.org"}, []string{"set=PACKETBOAT_SPF_HOST", "set=PACKETBOAT_TRACK_HOST"}},
	} {
		var out bytes.Buffer
		checkHosts(t.Context(), dns, c.hosts, slog.New(slog.NewTextHandler(&out, nil)))
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if out.Len() == 0 {
			lines = nil
		}
		if len(lines) != len(c.want) {
			t.Errorf("%+v: logged\n%s\nwant %q", c.hosts, out.String(), c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(lines[i], want) {
				t.Errorf("%+v: logged %s, want %q", c.hosts, lines[i], want)
			}
		}
	}
}
