package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Zone is a set of DNS records, which answers look-ups as *net.Resolver does. A name that it does not
// contain does not exist.
type Zone map[string]records

// records are the texts of a name's records by type, such as "10 mx.example.org" for MX. The type
// ERROR makes look-ups fail temporarily.
type records map[string][]string

// maxAliases is how many CNAME records a look-up follows.
const maxAliases = 8

// ReadZone reads a zone of the form {"example.org": {"TXT": ["v=spf1 -all"], "MX": ["10 mx.example.org"]}}.
func ReadZone(text []byte) (Zone, error) {
	var file map[string]map[string][]string
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("DNS records: %w", err)
	}
	z := Zone{}
	for name, types := range file {
		name = nameOf(name)
		if z[name] == nil {
			z[name] = records{}
		}
		for t, list := range types {
			switch t = strings.ToUpper(t); t {
			case "A", "AAAA", "CNAME", "MX", "PTR", "TXT", "ERROR":
				z[name][t] = append(z[name][t], list...)
			default:
				return nil, fmt.Errorf("DNS records: %s: the type %s is none of A, AAAA, CNAME, MX, PTR, TXT and ERROR", name, t)
			}
		}
	}
	return z, nil
}

func nameOf(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// lookup returns the records of some types at a name.
func (z Zone) lookup(name string, types ...string) ([]string, error) {
	start := name
	name = nameOf(name)
	for range maxAliases {
		set := z[name]
		if list, failing := set["ERROR"]; failing {
			return nil, &net.DNSError{Err: "server misbehaving " + strings.Join(list, " "), Name: start, IsTemporary: true}
		}
		if alias := set["CNAME"]; len(alias) > 0 {
			name = nameOf(alias[0])
			continue
		}
		var found []string
		for _, t := range types {
			found = append(found, set[t]...)
		}
		if len(found) == 0 {
			return nil, &net.DNSError{Err: "no such host", Name: start, IsNotFound: true}
		}
		return found, nil
	}
	return nil, &net.DNSError{Err: "too many CNAME records", Name: start, IsTemporary: true}
}

// LookupTXT returns the texts at a name.
func (z Zone) LookupTXT(_ context.Context, name string) ([]string, error) {
	return z.lookup(name, "TXT")
}

// LookupMX returns the mail servers of a domain.
func (z Zone) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	list, err := z.lookup(name, "MX")
	var out []*net.MX
	for _, text := range list {
		preference, host, ok := strings.Cut(text, " ")
		n, err := strconv.ParseUint(preference, 10, 16)
		if !ok || err != nil {
			return nil, &net.DNSError{Err: fmt.Sprintf("%q is not a preference and a host", text), Name: name}
		}
		out = append(out, &net.MX{Host: strings.TrimSpace(host), Pref: uint16(n)})
	}
	return out, err
}

// LookupHost returns the addresses of a host.
func (z Zone) LookupHost(_ context.Context, name string) ([]string, error) {
	return z.lookup(name, "A", "AAAA")
}

// LookupNetIP returns the addresses of a host in the family of network, ip4 or ip6.
func (z Zone) LookupNetIP(_ context.Context, network, name string) ([]netip.Addr, error) {
	list, err := z.lookup(name, map[string]string{"ip4": "A", "ip6": "AAAA"}[network])
	var out []netip.Addr
	for _, text := range list {
		ip, err := netip.ParseAddr(text)
		if err != nil {
			return nil, &net.DNSError{Err: fmt.Sprintf("%q is not an address", text), Name: name}
		}
		out = append(out, ip)
	}
	return out, err
}

// LookupAddr returns the names of an address: the PTR records that the zone has at the address.
func (z Zone) LookupAddr(_ context.Context, addr string) ([]string, error) {
	return z.lookup(addr, "PTR")
}
