// Package strictjson decodes JSON of which every field is known.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Decode decodes one JSON value of at most most bytes into v. Unknown fields of objects and anything
// after the value are errors, whose texts are for the author of the JSON.
func Decode(raw []byte, most int, v any) error {
	if len(raw) > most {
		return fmt.Errorf("it is larger than %d KB", most>>10)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("it must be one object")
	}
	return nil
}
