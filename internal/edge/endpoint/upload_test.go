package endpoint_test

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

type loadOptions struct {
	Mode string            `json:"mode,omitempty" enum:"a,b"`
	Map  map[string]string `json:"map,omitempty"`
	Deep []owner           `json:"deep,omitempty"`
	Of   string            `json:"of,omitempty"` // a load whose file is loaded again
}

// NamedFile names the file of an earlier load.
func (o loadOptions) NamedFile() (path, file string) { return "options.of", o.Of }

type load struct {
	Bytes int64       `json:"bytes"`
	File  string      `json:"file"`
	With  loadOptions `json:"with"`
}

type loadRequest struct {
	Loud   string `query:"loud"`
	Upload endpoint.Upload[loadOptions]
}

var errDisk = errors.New("the disk is full")

// newUploadServer is a shop that accepts files of a megabyte.
func newUploadServer(t testing.TB) *server {
	s := newServer(t, options{})
	endpoint.Handle(s.router, "POST /t/{tenant}/api/loads", endpoint.Op{
		Name: "load", Summary: "Load.", Tag: "things", Mode: endpoint.Free, MaxBody: endpoint.Megabyte,
	}, func(_ context.Context, _ auth.Principal, in *loadRequest) (load, error) {
		var l load
		var err error
		l.With, err = in.Upload.Receive(func(file io.Reader) error {
			var begin strings.Builder
			n, err := io.Copy(&begin, io.LimitReader(file, 100))
			if begin.String() == "broken" {
				return errDisk
			}
			l.File = begin.String()
			rest, more := io.Copy(io.Discard, file)
			l.Bytes = n + rest
			return errors.Join(err, more)
		})
		return l, err
	})
	return s
}

// formBody puts parts, "name" and content in turn, into a form.
func formBody(parts ...string) string {
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString("--x\r\nContent-Disposition: form-data; name=\"" + parts[i] + "\"")
		if parts[i] == "file" {
			b.WriteString("; filename=\"a.csv\"\r\nContent-Type: text/csv")
		}
		b.WriteString("\r\n\r\n" + parts[i+1] + "\r\n")
	}
	return b.String() + "--x--\r\n"
}

const formHeader = "Content-Type: multipart/form-data; boundary=x"

func TestFormsWithAFile(t *testing.T) {
	t.Parallel()
	s := newUploadServer(t)
	deep := strings.Repeat("[", 20_000)
	for _, tt := range []struct {
		name, body, header string
		status             int
		code               string
		fields             map[string]string
		want               load
	}{
		{name: "file alone", body: formBody("file", "a,b"), status: 200, want: load{3, "a,b", loadOptions{}}},
		{name: "options first", body: formBody("options", `{"mode": "b"}`, "file", "a"), status: 200, want: load{1, "a", loadOptions{Mode: "b"}}},
		{name: "options last", body: formBody("file", "a", "options", `{"mode": "b", "other": 1, "map": {"É": "x"}}`), status: 200,
			want: load{1, "a", loadOptions{Mode: "b", Map: map[string]string{"É": "x"}}}},
		{name: "other parts are passed over", body: formBody("comment", strings.Repeat("z", 5000), "file", "", "more", ""), status: 200, want: load{}},
		{name: "no file", body: formBody("options", `{}`), status: 400, code: "INVALID_INPUT", fields: map[string]string{"file": "required"}},
		{name: "a file that is named", body: formBody("options", `{"of": "x"}`), status: 200, want: load{}},
		{name: "a file that is named, and one that is sent", body: formBody("options", `{"of": "x"}`, "file", "a"), status: 400, code: "INVALID_INPUT",
			fields: map[string]string{"options.of": "is for forms without a file only"}},
		{name: "a named file, with another mistake", body: formBody("options", `{"of": "x", "mode": "c"}`), status: 400, code: "INVALID_INPUT",
			fields: map[string]string{"options.mode": "must be one of a, b"}},
		{name: "an empty form", body: formBody(), status: 400, code: "INVALID_INPUT", fields: map[string]string{"file": "required"}},
		{name: "two files", body: formBody("file", "a", "file", "b"), status: 400, code: "INVALID_INPUT", fields: map[string]string{"file": "send one file"}},
		{name: "options twice", body: formBody("options", "{}", "options", "{}", "file", ""), status: 400, code: "INVALID_INPUT", fields: map[string]string{"options": "send them once"}},
		{name: "wrong options, all at once", body: formBody("file", "a", "options", `{"mode": "c", "map": {"a": 1}, "deep": [{}]}`), status: 400, code: "INVALID_INPUT",
			fields: map[string]string{"options.mode": "must be one of a, b", "options.map.a": "expected string", "options.deep[0].email": "required"}},
		{name: "options that are a list", body: formBody("options", `[]`, "file", "a"), status: 400, code: "INVALID_INPUT", fields: map[string]string{"options": "must be a JSON object"}},
		{name: "options that are no JSON", body: formBody("options", `{`, "file", "a"), status: 400, code: "INVALID_INPUT",
			fields: map[string]string{"options": "must be a JSON object: the body is not JSON: it breaks off"}},
		{name: "options without end", body: formBody("options", deep, "file", "a"), status: 400, code: "INVALID_INPUT",
			fields: map[string]string{"options": "must be a JSON object: the body is not JSON: invalid character '[' exceeded max depth at byte 10001"}},
		{name: "a NUL in the options", body: formBody("options", `{"mode": "\u0000"}`, "file", "a"), status: 400, code: "INVALID_INPUT",
			fields: map[string]string{"options.mode": "must not contain a NUL character"}},
		{name: "breaks off", body: strings.TrimSuffix(formBody("file", "a"), "--x--\r\n"), status: 400, code: "INVALID_INPUT"},
		{name: "no form at all", body: "a,b\n1,2\n", status: 400, code: "INVALID_INPUT"},
		{name: "JSON", body: "{}", header: "Content-Type: application/json", status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{name: "no media type", body: formBody("file", "a"), header: "X-A: b", status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{name: "no boundary", body: formBody("file", "a"), header: "Content-Type: multipart/form-data", status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{name: "another kind of form", body: "file=a", header: "Content-Type: application/x-www-form-urlencoded", status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{name: "compressed", body: formBody("file", "a"), header: formHeader + "\nContent-Encoding: gzip", status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{name: "our own mistake", body: formBody("file", "broken"), status: 500, code: "INTERNAL_ERROR"},
	} {
		if tt.header == "" {
			tt.header = formHeader
		}
		r := s.do("POST /t/acme/api/loads", tt.body, append(strings.Split(tt.header, "\n"), "X-API-Key: key+x")...)
		if r.status != tt.status || r.code() != tt.code {
			t.Errorf("%s: %d %s, want %d %s", tt.name, r.status, r.body, tt.status, tt.code)
			continue
		}
		if tt.fields != nil && !cmp.Equal(r.fields(), tt.fields) {
			t.Errorf("%s: fields %s", tt.name, cmp.Diff(tt.fields, r.fields()))
		}
		if tt.status == 200 {
			with, _ := r.json["with"].(map[string]any)
			mode, _ := with["mode"].(string)
			if r.json["file"] != tt.want.File || r.json["bytes"] != float64(tt.want.Bytes) || mode != tt.want.With.Mode {
				t.Errorf("%s: %s, want %+v", tt.name, r.body, tt.want)
			}
		}
	}
}

func TestFormsOverTheCapAreRefusedInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newUploadServer(t)
	large := formBody("file", strings.Repeat("a", endpoint.Megabyte))
	if r := s.do("POST /t/acme/api/loads", large, formHeader, "X-API-Key: key+x"); r.status != 413 || r.code() != "PAYLOAD_TOO_LARGE" {
		t.Errorf("a body that says it is too large: %d %s", r.status, r.body)
	}
	for name, body := range map[string]string{
		"file":       large,
		"other part": formBody("comment", strings.Repeat("a", endpoint.Megabyte), "file", "a"),
		"options":    formBody("options", strings.Repeat(" ", endpoint.Megabyte), "file", "a"),
	} {
		read := &counted{r: strings.NewReader(body + strings.Repeat("a", 10*endpoint.Megabyte))}
		req := httptest.NewRequest("POST", "/t/acme/api/loads", read) // without Content-Length
		req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		req.Header.Set("X-API-Key", "key+x")
		if r := s.send(req); r.status != 413 || r.code() != "PAYLOAD_TOO_LARGE" {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
		if read.n > endpoint.Megabyte+64<<10 {
			t.Errorf("%s: %d bytes were read of a body that may have a megabyte", name, read.n)
		}
	}
}

type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func TestTheDocumentContainsForms(t *testing.T) {
	t.Parallel()
	s := newUploadServer(t)
	doc, _ := document(t, s)
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	op := doc.Paths.Value("/api/loads").Post
	body := op.RequestBody.Value
	form := body.Content["multipart/form-data"]
	if form == nil || len(body.Content) != 1 || !body.Required || form.Encoding["options"].ContentType != "application/json" {
		t.Fatalf("the body = %+v", body)
	}
	options := form.Schema.Value.Properties["options"].Value
	if form.Schema.Value.Properties["file"] == nil || options.Properties["mode"] == nil || len(options.Required) != 0 {
		t.Errorf("the form = %+v, its options %+v", form.Schema.Value, options)
	}
	for _, status := range []string{"400", "413", "415"} {
		if op.Responses.Value(status) == nil {
			t.Errorf("no answer %s", status)
		}
	}
}

// Whatever is sent as a form, the response is never a 5xx.
func FuzzForm(f *testing.F) {
	f.Add(formBody("file", "a,b", "options", `{"mode": "a"}`))
	f.Add(formBody("options", `{"mode": null}`))
	f.Add("--x\r\n\r\n\r\n--x--")
	f.Add("--x\nContent-Disposition: form-data; name*=utf-8''file\n\na\n--x--")
	f.Add("--x\r\nContent-Disposition: form-data; name=file\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=\r\n--x--")
	f.Fuzz(func(t *testing.T, body string) {
		r := newUploadServer(t).do("POST /t/acme/api/loads", body, formHeader, "X-API-Key: key+x")
		if r.status == 500 && strings.Contains(body, "broken") {
			return
		}
		if r.status != 200 && r.status != 400 && r.status != 413 {
			t.Errorf("%q: %d %s", body, r.status, r.body)
		}
	})
}
