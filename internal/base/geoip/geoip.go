// Package geoip reads the countries of IP addresses from a file in the MaxMind DB format, version 2
// (https://maxmind.github.io/MaxMind-DB/). Several providers publish such files.
//
// A file has three parts: a binary tree, in which the bits of an address lead to an offset; the data
// at these offsets; and the metadata, a map at the end of the file.
package geoip

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
)

// DB is a database in memory. It is safe for concurrent use.
type DB struct {
	tree       []byte
	data       section
	nodes      int // number of them
	recordBits int // of each of the two records of a node
	start      int // the node at which IPv4 addresses begin
	only4      bool
}

var (
	errFormat  = errors.New("not a database in the MaxMind DB format")
	errVersion = errors.New("a database in an unknown version of the MaxMind DB format")
)

// marker precedes the metadata.
var marker = []byte("\xab\xcd\xefMaxMind.com")

const (
	maxMetadata = 128 << 10 // bytes
	separator   = 16        // zero bytes between the tree and the data
)

// Open reads a file.
func Open(name string) (*DB, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	db, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return db, nil
}

func parse(b []byte) (*DB, error) {
	at := bytes.LastIndex(b[max(0, len(b)-maxMetadata):], marker)
	if at < 0 {
		return nil, errFormat
	}
	at += max(0, len(b)-maxMetadata)
	meta := section(b[at+len(marker):])
	number := func(key string) int {
		v, _ := meta.find(0, key)
		n, _ := meta.number(v)
		return n
	}
	if number("binary_format_major_version") != 2 {
		return nil, errVersion
	}
	db := &DB{nodes: number("node_count"), recordBits: number("record_size"), only4: number("ip_version") == 4}
	if db.recordBits != 24 && db.recordBits != 28 && db.recordBits != 32 {
		return nil, errVersion
	}
	size := db.recordBits / 4 * db.nodes
	if db.nodes < 1 || db.nodes > at || size > at-separator {
		return nil, errFormat
	}
	db.tree, db.data = b[:size], section(b[size+separator:at])
	if !db.only4 {
		for range 96 { // ::/96 has the IPv4 addresses
			if db.start >= db.nodes {
				break
			}
			db.start = db.child(db.start, 0)
		}
	}
	return db, nil
}

// child returns a record of a node: a node if it is below db.nodes, none if it is equal to it,
// otherwise an offset in the data.
func (db *DB) child(node, bit int) int {
	n := db.recordBits / 4
	b := db.tree[node*n : node*n+n]
	switch db.recordBits {
	case 24:
		b = b[3*bit:]
		return int(b[0])<<16 | int(b[1])<<8 | int(b[2])
	case 28: // the fourth byte has the high bits of both
		if bit == 0 {
			return int(b[3]>>4)<<24 | int(b[0])<<16 | int(b[1])<<8 | int(b[2])
		}
		return int(b[3]&15)<<24 | int(b[4])<<16 | int(b[5])<<8 | int(b[6])
	}
	b = b[4*bit:]
	return int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3])
}

// Country returns the ISO 3166-1 code of the country of an address, or "" if it is unknown.
func (db *DB) Country(ip netip.Addr) string {
	ip = ip.Unmap()
	node := 0
	switch {
	case !ip.IsValid() || ip.Is6() && db.only4:
		return ""
	case ip.Is4():
		node = db.start
	}
	for _, b := range ip.AsSlice() {
		for bit := 7; bit >= 0 && node < db.nodes; bit-- {
			node = db.child(node, int(b>>bit&1))
		}
	}
	if node <= db.nodes {
		return ""
	}
	return db.data.country(node - db.nodes - separator)
}

// country returns the country in the map at an offset. Providers use different keys.
func (s section) country(at int) string {
	for _, path := range [][]string{{"country", "iso_code"}, {"country_code"}, {"country"}, {"registered_country", "iso_code"}} {
		v, ok := at, true
		for _, key := range path {
			if v, ok = s.find(v, key); !ok {
				break
			}
		}
		if code, isText := s.text(v); ok && isText && len(code) == 2 {
			return code
		}
	}
	return ""
}
