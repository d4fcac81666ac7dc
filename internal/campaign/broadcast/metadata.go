package broadcast

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
)

// Limits on metadata.
const (
	maxMetadataKeys   = 20
	maxMetadataBytes  = 8192
	maxMetadataString = 256
	maxMetadataItems  = 50
)

// Metadata is a flat object of the API caller: strings, numbers (stored as written), booleans, and
// arrays of those. It is never part of a mail.
type Metadata map[string]any

var metadataKey = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// ParseMetadata decodes and validates the metadata of a request.
func ParseMetadata(raw []byte) (Metadata, error) {
	var m Metadata
	if !isObject(raw) || decode(raw, &m) != nil {
		return nil, metadataFault("", "must be an object")
	}
	if len(m) > maxMetadataKeys {
		return nil, metadataFault("", "has more than 20 keys")
	}
	var p fault.Problems
	for key, v := range m {
		path := "metadata." + key
		if !metadataKey.MatchString(key) {
			p.Add(path, "keys are a lower-case letter, then up to 63 of a-z, 0-9 and _")
			continue
		}
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		if len(list) > maxMetadataItems {
			p.Add(path, "has more than 50 items")
			continue
		}
		for _, item := range list {
			if why := scalarProblem(item); why != "" {
				p.Add(path, why)
				break
			}
		}
	}
	if p.Any() {
		return nil, asMetadataFault(p.Err())
	}
	if len(m.JSON()) > maxMetadataBytes {
		return nil, metadataFault("", "is larger than 8 KB")
	}
	return m, nil
}

// scalarProblem returns what is wrong with a value, or "".
func scalarProblem(v any) string {
	switch v := v.(type) {
	case bool:
		return ""
	case json.Number:
		if !isStorableNumber(v) {
			return "is a number too large or too small to keep"
		}
		return ""
	case string:
		if utf8.RuneCountInString(v) > maxMetadataString {
			return "is a string of more than 256 characters"
		}
		if strings.ContainsRune(v, 0) {
			return "holds a NUL character"
		}
		return ""
	}
	return "must be a string, number, boolean or an array of those"
}

// maxExponent is greater than the exponent of any finite float64, in absolute value.
const maxExponent = 400

// isStorableNumber reports whether both databases can store and compare the number. It excludes overflow,
// values that underflow to zero, and zeros written with more digits than can be stored.
func isStorableNumber(n json.Number) bool {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || len(n) > 64 {
		return false
	}
	digits, exponent, scientific := strings.Cut(strings.ToLower(string(n)), "e")
	if e, err := strconv.Atoi(exponent); scientific && (err != nil || max(e, -e) > maxExponent) {
		return false
	}
	return f != 0 || !strings.ContainsAny(digits, "123456789")
}

func metadataFault(path, why string) *fault.Error {
	return asMetadataFault(fault.Input(fault.Field{Path: strings.TrimSuffix("metadata."+path, "."), Message: why}))
}

// asMetadataFault converts field problems to ErrMetadata.
func asMetadataFault(err error) *fault.Error {
	f, _ := fault.As(err)
	return ErrMetadata.Sayf("%s", f.Message).With(f.Details)
}

// JSON returns the metadata as stored: compact, with sorted keys.
func (m Metadata) JSON() string {
	if m == nil {
		return "{}"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]any(m)); err != nil {
		panic("broadcast: metadata that JSON cannot hold: " + err.Error()) // it was decoded from JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Containment is a filter by metadata: whether it contains an object, as PostgreSQL's @> defines
// it.
type Containment struct {
	json  string
	never bool // no valid metadata can contain it
}

// maxFilterDepth is greater than the depth of any metadata. A deeper filter matches nothing and is
// not passed to the database.
const maxFilterDepth = 8

// ParseContainment parses the metadata filter of a list.
func ParseContainment(text string) (Containment, error) {
	if utf8.RuneCountInString(text) >= maxMetadataBytes || !utf8.ValidString(text) {
		return Containment{}, ErrMetadataFind
	}
	var m map[string]any
	if !isObject([]byte(text)) || decode([]byte(text), &m) != nil {
		return Containment{}, ErrMetadataFind
	}
	return Containment{json: Metadata(m).JSON(), never: !isFilterValue(m, maxFilterDepth)}, nil
}

func isFilterValue(v any, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if strings.ContainsRune(k, 0) || !isFilterValue(e, depth-1) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !isFilterValue(e, depth-1) {
				return false
			}
		}
	case string:
		return !strings.ContainsRune(v, 0)
	case json.Number:
		return isStorableNumber(v)
	}
	return true
}

// isObject reports whether the text begins like a JSON object; null does not.
func isObject(raw []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{"))
}

// decode decodes exactly one JSON value; numbers are kept as written.
func decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}
