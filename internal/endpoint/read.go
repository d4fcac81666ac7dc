package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// read reads what the caller sent: query and body, each cleaned. Faults of
// single fields are noted and told together, later; what it returns is a body
// that cannot be read at all.
func (x *exchange) read(r *http.Request) error {
	x.cleanQuery(r)
	rt := x.route
	if rt.upload != nil {
		return x.form(r)
	}
	if rt.body == nil {
		return nil
	}
	raw, err := x.readAll(r, rt.maxBody())
	if err != nil {
		return err
	}
	if err := mediaType(r); err != nil {
		return err
	}
	if len(raw) == 0 && rt.bodyOptional {
		x.body = []byte{}
		return nil
	}
	tree, err := parse(raw)
	if err != nil {
		return err
	}
	if tree == nil && rt.bodyOptional {
		x.body = []byte{}
		return nil
	}
	if _, ok := tree.(map[string]any); !ok && rt.body.kind == record {
		return ErrJSON
	}
	c := normalizer{strict: rt.Strict, found: &x.problems}
	tree = c.normalize(rt.body, tree)
	if !x.problems.Truncated() {
		x.router.validate(&x.problems, "", rt.bodySchema, tree)
	}
	if x.problems.Any() {
		if x.partial = rt.checked && x.dropInvalid(tree); !x.partial {
			x.body = []byte("null") // nothing is made of it
			return nil
		}
	}
	x.body, err = json.Marshal(tree)
	return err
}

// mediaType refuses a body that says it is not JSON. One that says nothing is.
func mediaType(r *http.Request) error {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return ErrMediaType.Sayf("send the body without Content-Encoding")
	}
	header := r.Header.Get("Content-Type")
	if header == "" {
		return nil
	}
	t, _, err := mime.ParseMediaType(header)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return ErrMediaType
	}
	if t == jsonType || (strings.HasPrefix(t, "application/") && strings.HasSuffix(t, "+json")) {
		return nil
	}
	return ErrMediaType
}

// parse reads one JSON value and nothing after it. Of a key that comes twice
// the last stands.
func parse(raw []byte) (any, error) {
	if !utf8.Valid(raw) {
		return nil, ErrJSON.Sayf("the body is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, badJSON(err, len(raw))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, ErrJSON.Sayf("something follows the JSON value at byte %d", d.InputOffset())
	}
	return tree, nil
}

func badJSON(err error, length int) error {
	if length == 0 {
		return ErrJSON.Sayf("the body is empty; send a JSON object")
	}
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return ErrJSON.Sayf("the body is not JSON: %s at byte %d", s.Error(), s.Offset)
	}
	return ErrJSON.Sayf("the body is not JSON: it breaks off")
}

// cleanQuery normalises the text of the parameters that the operation knows,
// and notes what could never be stored.
func (x *exchange) cleanQuery(r *http.Request) {
	q := r.URL.RawQuery
	if q == "" || (plain(q) && !strings.Contains(q, "%")) {
		return
	}
	values, err := url.ParseQuery(q)
	if err != nil && len(values) == 0 {
		return
	}
	for name, list := range values {
		if !slices.Contains(x.route.query, name) {
			continue
		}
		for i, v := range list {
			if bad := badText(v); bad != "" {
				x.problems.add(name, bad)
				list[i] = ""
				continue
			}
			list[i] = norm.NFC.String(v)
		}
	}
	r.URL.RawQuery = values.Encode()
}

// plain reports whether s is ASCII, and so in normal form already.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// badText says why s cannot be taken as text, or "".
func badText(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		return "must not contain a NUL character"
	}
	if !utf8.ValidString(s) {
		return "must be UTF-8"
	}
	return ""
}
