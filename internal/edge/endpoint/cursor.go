package endpoint

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/secret"
)

// ErrCursor is the fault for a cursor that was made for another order, or not by us.
var ErrCursor = fault.New(fault.Invalid, "INVALID_CURSOR", "the cursor was made for another sort or dir, or is damaged")

// Cursor is a position in an ordered collection: after this row.
type Cursor struct {
	Sort, Dir string
	LastValue *string // of the column sorted by; nil for NULL
	LastID    string  // breaks ties
}

// Cursors signs cursors, so that callers can return only cursors that they received.
type Cursors struct{ key []byte }

// NewCursors returns the cursors of an installation.
func NewCursors(box *secret.Box) *Cursors { return &Cursors{box.Derive("cursor")} }

type cursorText struct {
	Version   int     `json:"v"`
	Sort      string  `json:"sort"`
	Dir       string  `json:"dir"`
	LastValue *string `json:"last_value"`
	LastID    string  `json:"last_id"`
}

const (
	cursorVersion = 1
	macBytes      = 8
	maxCursor     = 4096
)

// Encode returns c as a signed text.
func (cs *Cursors) Encode(c Cursor) string {
	text, err := json.Marshal(cursorText{cursorVersion, c.Sort, c.Dir, c.LastValue, c.LastID})
	if err != nil {
		panic(err) // strings always encode
	}
	return base64.RawURLEncoding.EncodeToString(append(text, cs.mac(text)...))
}

// Decode parses a text that Encode returned for the same sort and dir. The error is ErrCursor.
func (cs *Cursors) Decode(text, sort, dir string) (Cursor, error) {
	if len(text) > maxCursor {
		return Cursor{}, ErrCursor
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < macBytes {
		return Cursor{}, ErrCursor
	}
	body, mac := raw[:len(raw)-macBytes], raw[len(raw)-macBytes:]
	if !hmac.Equal(mac, cs.mac(body)) {
		return Cursor{}, ErrCursor
	}
	var c cursorText
	if err := json.Unmarshal(body, &c); err != nil || c.Version != cursorVersion || c.Sort != sort || c.Dir != dir {
		return Cursor{}, ErrCursor
	}
	return Cursor{c.Sort, c.Dir, c.LastValue, c.LastID}, nil
}

func (cs *Cursors) mac(text []byte) []byte {
	h := hmac.New(sha256.New, cs.key)
	h.Write(text)
	return h.Sum(nil)[:macBytes]
}
