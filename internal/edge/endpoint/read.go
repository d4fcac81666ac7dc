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

// readInput sets in from the request's parameters and body. Problems of single fields are collected in
// x.problems; the error is that of a body that cannot be read at all.
func (x *call) readInput(r *http.Request, in reflect.Value) error {
	x.bindParams(r, in)
	x.bindCondition(r)
	rt := x.route
	switch {
	case rt.upload != nil:
		in.FieldByIndex(rt.upload).Addr().Interface().(uploader).attach(x)
		return x.openForm(r)
	case rt.body == nil:
		return nil
	}
	raw, err := x.readBody(r, rt.maxBody())
	if err != nil {
		return err
	}
	if err := mediaType(r); err != nil {
		return err
	}
	if len(raw) == 0 && rt.bodyOptional {
		return nil
	}
	tree, err := parseJSON(raw)
	if err != nil || tree == nil && rt.bodyOptional {
		return err
	}
	if _, ok := tree.(map[string]any); !ok && rt.body.kind == record {
		return ErrJSON
	}
	tree = x.checkBody(&x.problems, "", tree)
	return x.decodeBody(tree, in.FieldByIndex(rt.bodyIndex).Addr().Interface())
}

// checkBody returns a parsed body, or a part of it at a path, in normal form, and adds its problems to found.
func (x *call) checkBody(found *findings, path string, tree any) any {
	n := normalizer{strict: x.route.Strict, found: found, path: []byte(path)}
	tree = n.normalize(x.route.body, tree)
	if !found.Truncated() {
		x.router.validate(found, path, x.route.bodySchema, tree)
	}
	return tree
}

// TreeReader is a body that is set from its checked and normalized values: map[string]any, []any,
// json.Number and so on. It is for bodies with many values, which are otherwise encoded and decoded once
// more. What the schema does not state, ReadTree must not assume.
type TreeReader interface {
	ReadTree(tree any)
}

// decodeBody reads a body that was checked. When there are problems it reads what is left without the
// fields in problems, if the operation has a Check for it.
func (x *call) decodeBody(tree, body any) error {
	known := x.problems.Any()
	if known && !(x.route.hasCheck && x.dropInvalid(tree)) {
		return nil
	}
	if direct, ok := body.(TreeReader); ok {
		x.partial = known
		direct.ReadTree(tree)
		return nil
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return fmt.Errorf("encode normalized body: %w", err)
	}
	switch err := json.Unmarshal(text, body); {
	case err == nil:
		x.partial = known
	case !known: // valid by its schema, but not for the Go type
		message := err.Error()
		if strings.HasPrefix(message, "json: ") {
			message = "a value does not fit its field"
		}
		x.problems.add("", message)
	}
	return nil
}

// mediaType returns a fault if a body is declared as something other than JSON.
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

// parseJSON parses one JSON value with nothing after it. Of a repeated key the last value is used.
func parseJSON(raw []byte) (any, error) {
	if !utf8.Valid(raw) {
		return nil, ErrJSON.Sayf("the body is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, syntaxFault(err, len(raw))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, ErrJSON.Sayf("something follows the JSON value at byte %d", d.InputOffset())
	}
	return tree, nil
}

func syntaxFault(err error, length int) error {
	if length == 0 {
		return ErrJSON.Sayf("the body is empty; send a JSON object")
	}
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return ErrJSON.Sayf("the body is not JSON: %s at byte %d", s.Error(), s.Offset)
	}
	return ErrJSON.Sayf("the body is not JSON: it breaks off")
}

// isASCII reports whether s is ASCII, and therefore in normal form.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// textProblem returns why s is not acceptable as text, or "".
func textProblem(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		return "must not contain a NUL character"
	}
	if !utf8.ValidString(s) {
		return "must be UTF-8"
	}
	return ""
}

// smallBody is the initial size of the buffer for a body.
const smallBody = 4 << 10

// readBody reads a body of at most limit bytes. Its buffer is doubled when it is full, so that memory
// depends on what has arrived, not on the length in the header.
func (x *call) readBody(r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	most := limit + 1 // one more, to detect longer bodies
	if r.ContentLength >= 0 {
		most = r.ContentLength + 1
	}
	body := make([]byte, 0, min(most, smallBody))
	for {
		if len(body) == cap(body) {
			if int64(cap(body)) == most { // longer than Content-Length
				most = limit + 1
			}
			grown := make([]byte, len(body), min(most, 2*int64(cap(body))))
			copy(grown, body)
			body = grown
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return nil, tooLarge(limit)
		case err == io.EOF:
			x.clearReadDeadline()
			return body, nil
		case err != nil && isReadTimeout(err):
			return nil, errTooSlow
		case err != nil:
			return nil, ErrJSON.Sayf("the body broke off").Because(err)
		}
	}
}
