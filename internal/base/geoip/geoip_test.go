package geoip

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Values are encoded as the format's specification says.

func encoded(kind, size int) []byte {
	b := []byte{byte(kind << 5)}
	if kind > 7 {
		b = []byte{0, byte(kind - 7)}
	}
	switch {
	case size < 29:
		b[0] |= byte(size)
		return b
	case size < 285:
		b[0] |= 29
		return append(b, byte(size-29))
	case size < 65821:
		b[0] |= 30
		return append(b, byte((size-285)>>8), byte(size-285))
	}
	b[0] |= 31
	size -= 65821
	return append(b, byte(size>>16), byte(size>>8), byte(size))
}

func text(s string) []byte { return append(encoded(typeText, len(s)), s...) }

func number(n int) []byte {
	return append(encoded(typeUint32, 4), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

// object encodes a map of keys, each followed by its encoded value.
func object(pairs ...any) []byte {
	b := encoded(typeMap, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		b = append(append(b, text(pairs[i].(string))...), pairs[i+1].([]byte)...)
	}
	return b
}

// writer makes files.
type writer struct {
	bits    int
	version int
	nodes   [][2]int // records: nodes, or -1-n for the n-th of data; 0: nothing
	data    [][]byte
}

func newWriter(bits, version int) *writer {
	return &writer{bits: bits, version: version, nodes: make([][2]int, 1)}
}

// put sets the data of a network. Longer prefixes come after shorter ones.
func (w *writer) put(p netip.Prefix, data []byte) {
	address, n := p.Addr().AsSlice(), p.Bits()
	if w.version == 6 && p.Addr().Is4() {
		address, n = append(make([]byte, 12), address...), n+96
	}
	w.data = append(w.data, data)
	at := 0
	for i := range n {
		bit := int(address[i/8] >> (7 - i%8) & 1)
		if i == n-1 {
			w.nodes[at][bit] = -len(w.data)
			return
		}
		next := w.nodes[at][bit]
		if next <= 0 { // a new node, both halves of which have what the whole had
			w.nodes = append(w.nodes, [2]int{next, next})
			next = len(w.nodes) - 1
			w.nodes[at][bit] = next
		}
		at = next
	}
}

func (w *writer) file() []byte {
	var data []byte
	offsets := make([]int, len(w.data))
	for i, d := range w.data {
		offsets[i] = len(data)
		data = append(data, d...)
	}
	var b []byte
	for _, n := range w.nodes {
		var r [2]int
		for i, v := range n {
			switch {
			case v > 0:
				r[i] = v
			case v == 0:
				r[i] = len(w.nodes)
			default:
				r[i] = len(w.nodes) + separator + offsets[-v-1]
			}
		}
		switch w.bits {
		case 24:
			b = append(b, byte(r[0]>>16), byte(r[0]>>8), byte(r[0]), byte(r[1]>>16), byte(r[1]>>8), byte(r[1]))
		case 28:
			b = append(b, byte(r[0]>>16), byte(r[0]>>8), byte(r[0]), byte(r[0]>>24<<4|r[1]>>24), byte(r[1]>>16), byte(r[1]>>8), byte(r[1]))
		case 32:
			b = append(b, byte(r[0]>>24), byte(r[0]>>16), byte(r[0]>>8), byte(r[0]), byte(r[1]>>24), byte(r[1]>>16), byte(r[1]>>8), byte(r[1]))
		}
	}
	b = append(append(b, make([]byte, separator)...), data...)
	b = append(b, marker...)
	return append(b, object("languages", append(encoded(typeArray, 2), append(text("en"), text("de")...)...), "node_count", number(len(w.nodes)),
		"record_size", number(w.bits), "ip_version", number(w.version), "binary_format_major_version", number(2))...)
}

func country(code string) []byte {
	return object("continent", object("code", text("EU")), "flag", encoded(typeBool, 1), "country", object("geoname_id", number(1), "iso_code", text(code)))
}

func TestTheCountryIsThatOfTheLongestPrefix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.SampledFrom([]int{4, 6}).Draw(t, "version")
		w := newWriter(rapid.SampledFrom([]int{24, 28, 32}).Draw(t, "bits"), version)
		var networks []netip.Prefix
		codes := map[netip.Prefix]string{}
		for bits := 1; bits <= 32; bits++ { // from short to long
			if !rapid.Bool().Draw(t, "network") {
				continue
			}
			a := rapid.Uint32().Draw(t, "address") & 0x0f0f0f0f // often within another network
			p := netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)}), bits).Masked()
			codes[p] = fmt.Sprintf("%c%c", 'A'+bits%26, 'A'+bits/26)
			networks = append(networks, p)
			w.put(p, country(codes[p]))
		}
		db, err := parse(w.file())
		if err != nil {
			t.Fatal(err)
		}
		addresses := []netip.Addr{netip.MustParseAddr("1.2.3.4"), netip.MustParseAddr("::ffff:9.9.9.9")}
		for _, p := range networks {
			addresses = append(addresses, p.Addr())
		}
		for _, ip := range addresses {
			want := ""
			for _, p := range networks {
				if p.Contains(ip.Unmap()) {
					want = codes[p]
				}
			}
			if got := db.Country(ip); got != want {
				t.Fatalf("%s is in %q, want %q; networks %v", ip, got, want, codes)
			}
		}
	})
}

func TestCountriesOfProviders(t *testing.T) {
	t.Parallel()
	w := newWriter(28, 6)
	w.put(netip.MustParsePrefix("192.0.2.0/24"), country("NL"))
	w.put(netip.MustParsePrefix("198.51.100.0/24"), object("country_code", text("FR")))
	w.put(netip.MustParsePrefix("203.0.113.0/24"), object("asn", text(strings.Repeat("x", 300)), "country", text("JP")))
	w.put(netip.MustParsePrefix("2001:db8::/32"), object("registered_country", object("iso_code", text("DE"))))
	w.put(netip.MustParsePrefix("2001:db8:1::/48"), object("country", []byte{1 << 5, 0})) // a pointer to the first
	w.put(netip.MustParsePrefix("2001:db8:2::/48"), object("city", text("Rome")))
	name := filepath.Join(t.TempDir(), "test.mmdb")
	if err := os.WriteFile(name, w.file(), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	for ip, want := range map[string]string{
		"192.0.2.1": "NL", "::ffff:192.0.2.1": "NL", "192.0.3.1": "", "198.51.100.7": "FR", "203.0.113.9": "JP",
		"2001:db8::1": "DE", "2001:db8:1::1": "", "2001:db8:2::1": "", "2001:db9::1": "",
	} {
		if got := db.Country(netip.MustParseAddr(ip)); got != want {
			t.Errorf("%s is in %q, want %q", ip, got, want)
		}
	}
	if got := db.Country(netip.Addr{}); got != "" {
		t.Errorf("no address is in %q", got)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("an absent file is opened")
	}
}

func FuzzFiles(f *testing.F) {
	for _, bits := range []int{24, 28, 32} {
		w := newWriter(bits, 6)
		w.put(netip.MustParsePrefix("0.0.0.0/1"), country("NL"))
		f.Add(w.file())
	}
	f.Add([]byte{})
	f.Add(append([]byte("x"), marker...))
	f.Fuzz(func(t *testing.T, file []byte) {
		db, err := parse(file)
		if err != nil {
			return
		}
		for _, ip := range []string{"0.0.0.0", "192.0.2.1", "2001:db8::1", "::"} {
			if c := db.Country(netip.MustParseAddr(ip)); c != "" && len(c) != 2 {
				t.Errorf("%s is in %q", ip, c)
			}
		}
	})
}
