package rule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/clip"
)

// Limits of the input.
const (
	maxBytes   = 64 << 10
	maxNesting = 32 // of arrays and objects; no rule needs more
)

// node is a JSON value: an object, an array, or else value.
type node struct {
	value   any // nil, bool, string or json.Number
	object  map[string]*node
	array   []*node
	isArray bool
}

func (n *node) isNull() bool { return n.object == nil && !n.isArray && n.value == nil }

// member returns a member of an object, or nil if it is absent or null.
func (n *node) member(name string) *node {
	if m := n.object[name]; m != nil && !m.isNull() {
		return m
	}
	return nil
}

// MarshalJSON encodes the node canonically.
func (n *node) MarshalJSON() ([]byte, error) {
	switch {
	case n.object != nil:
		return json.Marshal(n.object)
	case n.isArray:
		return json.Marshal(n.array)
	}
	return json.Marshal(n.value)
}

// flaw is an error in a JSON text, with its path.
type flaw struct{ path, message string }

func (f *flaw) Error() string { return f.path + ": " + f.message }

// read parses a complete JSON text without duplicate members and without NUL in strings. Strings
// are converted to NFC. Size and depth are limited.
func read(raw []byte, path string) (*node, *flaw) {
	if len(raw) > maxBytes {
		return nil, &flaw{path, fmt.Sprintf("at most %d bytes", maxBytes)}
	}
	if !utf8.Valid(raw) {
		return nil, &flaw{path, "must be JSON in UTF-8"}
	}
	r := reader{json.NewDecoder(bytes.NewReader(raw))}
	r.dec.UseNumber()
	n, err := r.value(1)
	if err == nil {
		if _, end := r.dec.Token(); end != io.EOF {
			err = errors.New("something follows the JSON value")
		}
	}
	if err == nil {
		return n, nil
	}
	if f, ok := errors.AsType[*flaw](err); ok {
		return nil, &flaw{path + f.path, f.message}
	}
	return nil, &flaw{path, "must be JSON: " + reason(err)}
}

func reason(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too early"
	}
	return err.Error()
}

type reader struct{ dec *json.Decoder }

// value parses one value. The path of a flaw is relative to it.
func (r reader) value(depth int) (*node, error) {
	t, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if depth > maxNesting {
			return nil, &flaw{"", "is nested too deeply"}
		}
		if t == '[' {
			return r.array(depth)
		}
		return r.members(depth)
	case string:
		if strings.ContainsRune(t, 0) {
			return nil, &flaw{"", "must not hold a NUL character"}
		}
		return &node{value: norm.NFC.String(t)}, nil
	}
	return &node{value: t}, nil
}

func (r reader) array(depth int) (*node, error) {
	n := &node{isArray: true, array: []*node{}}
	for r.dec.More() {
		e, err := r.value(depth + 1)
		if err != nil {
			return nil, within(fmt.Sprintf("[%d]", len(n.array)), err)
		}
		n.array = append(n.array, e)
	}
	_, err := r.dec.Token()
	return n, err
}

func (r reader) members(depth int) (*node, error) {
	n := &node{object: map[string]*node{}}
	for r.dec.More() {
		t, err := r.dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if _, twice := n.object[name]; twice {
			return nil, &flaw{"", fmt.Sprintf("names the member %q twice", clip.Ellipsis(name, maxQuoted))}
		}
		if n.object[name], err = r.value(depth + 1); err != nil {
			return nil, within("."+clip.Ellipsis(name, maxQuoted), err)
		}
	}
	_, err := r.dec.Token()
	return n, err
}

// within prefixes the path of a flaw.
func within(place string, err error) error {
	if f, ok := errors.AsType[*flaw](err); ok {
		f.path = place + f.path
	}
	return err
}

// maxQuoted limits the characters of a name in a message.
const maxQuoted = 80
