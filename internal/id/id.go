// Package id holds the typed identifiers of our records.
//
// Each is the text of a version 7 UUID (RFC 9562 section 5.7) in lower case, so
// that ids sort by the time they were made. The types exist so that the
// compiler notices when a contact's id stands where a broadcast's should.
package id

import (
	"io"

	"github.com/google/uuid"
)

// The kinds of record that have an identifier.
type (
	Tenant         string
	User           string
	Session        string
	APIKey         string
	Contact        string
	Stage          string
	Field          string
	Segment        string
	EmailType      string
	Category       string
	Domain         string
	Identity       string
	MTAConfig      string
	Broadcast      string
	Content        string
	Send           string // the mail of one source: of a broadcast, of a step of a sequence
	Source         string // what a send belongs to, whatever its kind
	Message        string // one mail to one recipient: a row of the outbox
	SinkMessage    string // a mail caught by an MTA config of type sink
	Hit            string // one open or click
	Entry          string // one journal entry
	AuditEntry     string
	Form           string
	Template       string
	Block          string
	LibraryVersion string
	LibraryEntry   string
	Sequence       string
	SeedList       string
	SavedFilter    string
	Job            string // long work: an import, an export
	JobFile        string
)

// New returns a fresh identifier of kind T.
func New[T ~string]() T {
	return T(uuid.Must(uuid.NewV7()).String())
}

// From returns a fresh identifier of kind T whose random part is read from r. For
// thousands at a time: the system is asked for their randomness once.
func From[T ~string](r io.Reader) (T, error) {
	u, err := uuid.NewV7FromReader(r)
	return T(u.String()), err
}

// Valid reports whether s is a UUID in its usual spelling of 36 characters.
func Valid(s string) bool {
	_, ok := Parse[string](s)
	return ok
}

// Parse reads a UUID in its usual spelling, in either case.
func Parse[T ~string](s string) (T, bool) {
	if len(s) != 36 {
		return "", false
	}
	u, err := uuid.Parse(s)
	if err != nil {
		return "", false
	}
	return T(u.String()), true
}

// ToSource returns the id of what a send belongs to, which is one of several kinds.
func ToSource[T ~string](v T) Source { return Source(v) }

// OfSource is the reverse of ToSource: the kind is known by what is stored beside.
func OfSource[T ~string](s Source) T { return T(s) }
