package mx_test

import (
	"context"
	"fmt"
	"net"

	"github.com/packetboat/packetboat/internal/mail/mx"
)

// records answers as a name server would.
type records map[string][]*net.MX

func (r records) LookupMX(_ context.Context, name string) ([]*net.MX, error) { return r[name], nil }

func (r records) LookupHost(_ context.Context, name string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func ExampleLookup() {
	dns := records{"example.org.": {{Host: "alt1.aspmx.l.google.com.", Pref: 5}, {Host: "aspmx.l.google.com.", Pref: 1}}}
	for _, domain := range []string{"Example.org", "missing.example.org"} {
		answer, err := mx.Lookup(context.Background(), dns, domain)
		fmt.Printf("%q %q %v\n", answer.Record, answer.Provider, err)
	}
	// Output:
	// "aspmx.l.google.com" "google_workspace" <nil>
	// "" "" <nil>
}
