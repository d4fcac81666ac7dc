package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"unicode/utf8"
)

// read fills in from what the caller sent. Problems of single fields are collected and reported
// together, later; the error is that of a body that cannot be read at all.
func (x *exchange) read(r *http.Request, in reflect.Value) error {
	x.bind(r, in)
	rt := x.route
	switch {
	case rt.upload != nil:
		in.FieldByIndex(rt.upload).Addr().Interface().(uploader).of(x)
		return x.form(r)
	case rt.body == nil:
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
		return nil
	}
	tree, err := parse(raw)
	if err != nil || tree == nil && rt.bodyOptional {
		return err
	}
	if _, ok := tree.(map[string]any); !ok && rt.body.kind == record {
		return ErrJSON
	}
	tree = x.check(&x.problems, "", tree)
	return x.decode(tree, in.FieldByIndex(rt.bodyIndex).Addr().Interface())
}

// check returns a parsed body, or the part of it at a path, in the form in which
// it is read, and adds what is wrong with it to found.
func (x *exchange) check(found *findings, path string, tree any) any {
	n := normalizer{strict: x.route.Strict, found: found, path: []byte(path)}
	tree = n.normalize(x.route.body, tree)
	if !found.Truncated() {
		x.router.validate(found, path, x.route.bodySchema, tree)
	}
	return tree
}

// decode reads a body that was checked. When there are problems it reads what is left without the
// fields in problems, if the operation has a Check for it.
func (x *exchange) decode(tree, body any) error {
	known := x.problems.Any()
	if known && !(x.route.checked && x.dropInvalid(tree)) {
		return nil
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return fmt.Errorf("write the body anew: %w", err)
	}
	switch err := json.Unmarshal(text, body); {
	case err == nil:
		x.partial = known
	case !known: // it is valid by its schema, and yet does not fit the Go type
		message := err.Error()
		if strings.HasPrefix(message, "json: ") {
			message = "a value does not fit its field"
		}
		x.problems.add("", message)
	}
	return nil
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
