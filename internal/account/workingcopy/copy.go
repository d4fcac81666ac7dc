// Package workingcopy stores unfinished work of users: what was typed into a form or an editor and is
// not saved yet, because it is incomplete or invalid.
//
// A copy belongs to one user of one tenant, and is for one record or for a record that does not exist
// yet. Only that user reads it. Its data are an object that the application interprets, this package
// does not. Copies that were not stored again for MaxAge are not returned, and are deleted by Prune.
package workingcopy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
)

// Copy is one working copy.
type Copy struct {
	Key
	Title        string
	BaseRevision *int64 // the revision of the record that the work began with; nil: none
	Size         int    // of the data, in bytes
	UpdatedAt    time.Time
}

// Key identifies a copy of a user.
type Key struct {
	Kind   string // of the record, such as broadcast
	Record string // the id of the record, or new-<uuid>
}

// Limits of copies.
const (
	MaxData = 5 << 20 // bytes of data
	MaxAge  = 30 * 24 * time.Hour

	maxCopies = 200 // of a user in a tenant
	maxTitle  = 200
)

// The faults of this package.
var (
	ErrNotFound = fault.New(fault.NotFound, "NOT_FOUND", "there is no such working copy")
	ErrLimit    = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a limit is exceeded")
)

var kindPattern = regexp.MustCompile(`^[a-z][a-z_]{0,31}$`)

// ParseKey returns the key for the texts of a path, or ErrNotFound if no copy can have them.
func ParseKey(kind, record string) (Key, error) {
	bare := strings.TrimPrefix(record, "new-")
	if u, ok := id.Parse[id.User](bare); !kindPattern.MatchString(kind) || !ok || u.String() != bare {
		return Key{}, ErrNotFound
	}
	return Key{kind, record}, nil
}

// Input is a copy to store.
type Input struct {
	Title        string
	BaseRevision *int64
	Data         json.RawMessage // an object
}

// Check validates the input.
func (in Input) Check() error {
	var p fault.Problems
	if utf8.RuneCountInString(in.Title) > maxTitle {
		p.Add("title", fmt.Sprintf("at most %d characters", maxTitle))
	}
	if in.BaseRevision != nil && *in.BaseRevision < 0 {
		p.Add("base_revision", "must not be negative")
	}
	if len(in.Data) > MaxData {
		p.Add("data", fmt.Sprintf("at most %d bytes of JSON", MaxData))
	}
	return p.Err()
}
