package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"reflect"

	"github.com/packetboat/packetboat/internal/base/fault"
)

// Upload is the body of an operation with a file: multipart/form-data with the file as "file" and, before
// or after it, a JSON object as "options", which is an Options. It is the field Upload of the operation's
// In, and is read while the operation runs, so that the file is never completely in memory.
type Upload[Options any] struct{ x *call }

// FileNamer is implemented by Options that may name a stored file instead of the one that is sent.
type FileNamer interface {
	// NamedFile returns the path and the value of the option that names the file, which is empty if it names none.
	NamedFile() (path, file string)
}

// uploader is implemented by every *Upload[Options].
type uploader interface {
	options() reflect.Type
	attach(x *call)
}

func (u *Upload[Options]) options() reflect.Type { return reflect.TypeFor[Options]() }
func (u *Upload[Options]) attach(x *call)        { u.x = x }

// Receive reads the body: keep is called once with the file, and reads it to its end or returns an error,
// which Receive returns; it is not called if the options name a file (FileNamer). Every problem of the form is a fault;
// then the caller must discard what keep has stored. A form without options has the zero Options.
func (u *Upload[Options]) Receive(keep func(file io.Reader) error) (Options, error) {
	var options Options
	raw, sent, err := u.x.readForm(keep)
	if err != nil {
		return options, err
	}
	if raw != nil {
		if err := json.Unmarshal(raw, &options); err != nil {
			return options, fault.Input(fault.Field{Path: optionsPart, Message: "a value does not fit its field"}).Because(err)
		}
	}
	path, named := namedFile(options)
	switch {
	case sent && named != "":
		return options, fault.Input(fault.Field{Path: path, Message: "is for forms without a file only"})
	case !sent && named == "":
		return options, fault.Input(fault.Field{Path: filePart, Message: "required"})
	}
	return options, nil
}

// namedFile returns the file that options name, if any.
func namedFile(options any) (path, file string) {
	if n, ok := options.(FileNamer); ok {
		return n.NamedFile()
	}
	return "", ""
}

// FileName returns the name that the caller gave the file, without a path; empty without one. It is known once
// Receive has called keep.
func (u *Upload[Options]) FileName() string { return u.x.fileName }

// The parts of a form.
const (
	filePart    = "file"
	optionsPart = "options"
	formType    = "multipart/form-data"
)

// uploadOf returns the field of an operation's In that is an Upload, if any.
func uploadOf(in reflect.Type) (reflect.StructField, reflect.Type, bool) {
	f, ok := in.FieldByName("Upload")
	if !ok {
		return f, nil, false
	}
	u, ok := reflect.New(f.Type).Interface().(uploader)
	if !ok {
		return f, nil, false
	}
	return f, u.options(), true
}

// openForm checks that a request has a form, and limits its size.
func (x *call) openForm(r *http.Request) error {
	limit := x.route.maxBody()
	if r.ContentLength > limit {
		return tooLarge(limit)
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return ErrMediaType.Sayf("send the body without Content-Encoding")
	}
	t, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || t != formType {
		return ErrMediaType.Sayf("send a form, as %s", formType)
	}
	boundary := params["boundary"]
	if boundary == "" || len(boundary) > 70 { // RFC 2046 section 5.1.1
		return ErrMediaType.Sayf("the Content-Type %s needs a boundary of 1 to 70 characters", formType)
	}
	x.parts = multipart.NewReader(http.MaxBytesReader(x.w, r.Body, limit), boundary)
	return nil
}

func tooLarge(limit int64) error {
	return ErrTooLarge.Sayf("the body may have at most %d bytes", limit)
}

// readForm reads the parts of the form, passes the file on and returns the normalized options, nil if there
// are none, and whether there was a file.
func (x *call) readForm(keep func(io.Reader) error) (options []byte, kept bool, err error) {
	for {
		part, err := x.parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, formError(err)
		}
		switch part.FormName() {
		case filePart:
			if kept {
				return nil, false, fault.Input(fault.Field{Path: filePart, Message: "send one file"})
			}
			kept = true
			if name := part.FileName(); textProblem(name) == "" {
				x.fileName = name
			}
			source := &fileReader{r: part}
			if err := keep(source); err != nil {
				if source.err != nil {
					return nil, false, formError(source.err)
				}
				return nil, false, err
			}
		case optionsPart:
			if options != nil {
				return nil, false, fault.Input(fault.Field{Path: optionsPart, Message: "send them once"})
			}
			if options, err = x.readOptions(part); err != nil {
				return nil, false, err
			}
		}
	}
	x.clearReadDeadline()
	return options, kept, nil
}

// fileReader stores the error of reading, to distinguish it from an error of storing.
type fileReader struct {
	r   io.Reader
	err error
}

func (s *fileReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// formError returns the fault for a body that cannot be read to its end.
func formError(err error) error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(large.Limit)
	}
	if isReadTimeout(err) {
		return errTooSlow
	}
	return fault.Input(fault.Field{Message: "the body is not a whole " + formType + " form"}).Because(err)
}

// readOptions reads and checks the options like a JSON body.
func (x *call) readOptions(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, Megabyte+1))
	switch {
	case err != nil:
		return nil, formError(err)
	case len(raw) > Megabyte:
		return nil, ErrTooLarge.Sayf("the options may have at most %d bytes", Megabyte)
	}
	wrong := func(message string) error {
		return fault.Input(fault.Field{Path: optionsPart, Message: message})
	}
	tree, err := parseJSON(raw)
	if f, ok := fault.As(err); ok {
		return nil, wrong("must be a JSON object: " + f.Message)
	}
	if _, ok := tree.(map[string]any); !ok {
		return nil, wrong("must be a JSON object")
	}
	found := &findings{}
	tree = x.checkBody(found, optionsPart, tree)
	if found.Any() {
		return nil, x.route.problemFault(found)
	}
	clean, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("encode normalized options: %w", err)
	}
	return clean, nil
}

// formSchema returns the schema of a form with options of the given schema, which may name the file.
func formSchema(options object, mayName bool) object {
	schema := object{
		"type": "object",
		"properties": object{
			filePart:    object{"type": "string", "contentMediaType": "application/octet-stream"},
			optionsPart: options,
		},
	}
	if !mayName {
		schema["required"] = []string{filePart}
	}
	return object{formType: object{"schema": schema, "encoding": object{optionsPart: object{"contentType": jsonType}}}}
}
