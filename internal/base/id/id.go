// Package id holds the typed identifiers of our records.
//
// An identifier is the 16 bytes of a version 7 UUID (RFC 9562 section 5.7), so
// that ids sort by the time they were made. Its type names the kind of record, so
// that the compiler notices when a contact's id stands where a broadcast's should.
// The database keeps it as 16 bytes, too (uuid on PostgreSQL, a BLOB on SQLite);
// text is for the edges: JSON, URLs, tokens, logs.
//
// A tenant is the exception: its key stands in every row and every index of the
// tenant, so it is a number of four bytes (Tenant).
package id

import (
	"bytes"
	"crypto/rand"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
)

// UUID is the identifier of a record of kind K. Its zero value stands for none.
type UUID[K any] [16]byte

// The kinds of record.
type (
	user           struct{}
	author         struct{}
	session        struct{}
	apiKey         struct{}
	contact        struct{}
	stage          struct{}
	field          struct{}
	segment        struct{}
	emailType      struct{}
	category       struct{}
	domain         struct{}
	identity       struct{}
	lane           struct{}
	broadcast      struct{}
	send           struct{}
	source         struct{}
	content        struct{}
	message        struct{}
	sinkMessage    struct{}
	hit            struct{}
	hitPack        struct{}
	entry          struct{}
	auditEntry     struct{}
	form           struct{}
	formSubmission struct{}
	consentRecord  struct{}
	template       struct{}
	block          struct{}
	libraryVersion struct{}
	libraryEntry   struct{}
	sequence       struct{}
	sequenceEdge   struct{}
	enrollment     struct{}
	automation     struct{}
	automationRun  struct{}
	seedList       struct{}
	seed           struct{}
	seedSync       struct{}
	savedFilter    struct{}
	job            struct{}
	jobFile        struct{}
	claim          struct{}
	outage         struct{}
	visitor        struct{}
	visitorRequest struct{}
	webhook        struct{}
	delivery       struct{}
	userMail       struct{}
	holder         struct{}
	hint           struct{}
	asset          struct{}
	logRow         struct{}
)

// The identifiers of each kind of record.
type (
	User           = UUID[user]
	Author         = UUID[author] // of a change: a user or an API key
	Session        = UUID[session]
	APIKey         = UUID[apiKey]
	Contact        = UUID[contact]
	Stage          = UUID[stage]
	Field          = UUID[field]
	Segment        = UUID[segment]
	EmailType      = UUID[emailType]
	Category       = UUID[category]
	Domain         = UUID[domain]
	Identity       = UUID[identity]
	Lane           = UUID[lane]
	Broadcast      = UUID[broadcast]
	Send           = UUID[send]   // the mail of one source: of a broadcast, of a step of a sequence
	Source         = UUID[source] // what a send belongs to, whatever its kind
	Content        = UUID[content]
	Message        = UUID[message]     // one mail to one recipient
	SinkMessage    = UUID[sinkMessage] // a mail caught by an MTA config of type sink
	Hit            = UUID[hit]         // one open or click
	HitPack        = UUID[hitPack]     // hits that came in together
	Entry          = UUID[entry]       // one journal entry
	AuditEntry     = UUID[auditEntry]
	Form           = UUID[form]
	Template       = UUID[template]
	Block          = UUID[block]
	LibraryVersion = UUID[libraryVersion]
	LibraryEntry   = UUID[libraryEntry]
	Sequence       = UUID[sequence]
	SequenceEdge   = UUID[sequenceEdge]
	Enrollment     = UUID[enrollment]
	Automation     = UUID[automation]
	AutomationRun  = UUID[automationRun]
	SeedList       = UUID[seedList]
	Seed           = UUID[seed]     // one address of a seed list
	SeedSync       = UUID[seedSync] // one update of a seed list
	SavedFilter    = UUID[savedFilter]
	FormSubmission = UUID[formSubmission]
	ConsentRecord  = UUID[consentRecord] // something that a contact agreed to, or withdrew
	Job            = UUID[job]           // long work: an import, an export
	JobFile        = UUID[jobFile]
	Claim          = UUID[claim]          // a stretch of messages that a process has claimed
	Visitor        = UUID[visitor]        // a browser on a tenant's website
	VisitorRequest = UUID[visitorRequest] // one request of a website's script
	Webhook        = UUID[webhook]
	Delivery       = UUID[delivery] // one event for one webhook endpoint
	UserMail       = UUID[userMail] // a mail to a user of a tenant
	Holder         = UUID[holder]   // of a trigger: a sequence or an automation
	Hint           = UUID[hint]     // of what changed
	Asset          = UUID[asset]    // an image of a tenant
	LogRow         = UUID[logRow]   // of the log of changed contacts
	Outage         = UUID[outage]   // a time at which a provider reported existing recipients as unknown
)

// New returns a fresh identifier of kind T.
func New[T ~[16]byte]() T {
	return T(uuid.Must(uuid.NewV7()))
}

// NewText returns the text of a fresh identifier, for names that are made up: of
// processes, of files.
func NewText() string { return uuid.Must(uuid.NewV7()).String() }

// From returns a fresh identifier of kind T whose random part is read from r. For
// thousands at a time: the system is asked for their randomness once.
func From[T ~[16]byte](r io.Reader) (T, error) {
	u, err := uuid.NewV7FromReader(r)
	return T(u), err
}

// At returns a fresh identifier of kind T that sorts by the time t (milliseconds
// since 1970, RFC 9562 section 5.7) instead of the present.
func At[T ~[16]byte](t time.Time) T {
	var u T
	_, _ = rand.Read(u[6:]) // never fails
	stamp(u[:], t)
	u[6], u[8] = 0x70|u[6]&0x0f, 0x80|u[8]&0x3f
	return u
}

// FirstAt returns what no identifier made at t or later sorts before.
func FirstAt[T ~[16]byte](t time.Time) T {
	var u T
	stamp(u[:], t)
	return u
}

func stamp(u []byte, t time.Time) {
	ms := min(max(t.UnixMilli(), 0), 1<<48-1)
	for i := 5; i >= 0; i-- {
		u[i] = byte(ms)
		ms >>= 8
	}
}

// Time returns when an identifier was made, to the millisecond.
func Time[T ~[16]byte](u T) time.Time {
	var ms int64
	for _, b := range u[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms).UTC()
}

// Valid reports whether s is a UUID in its usual spelling of 36 characters.
func Valid(s string) bool {
	_, ok := Parse[[16]byte](s)
	return ok
}

// Parse reads a UUID in its usual spelling, in either case. The nil UUID is none
// (RFC 9562 section 5.9).
func Parse[T ~[16]byte](s string) (T, bool) {
	if len(s) != 36 {
		return T{}, false
	}
	u, err := uuid.Parse(s)
	if err != nil || u == uuid.Nil {
		return T{}, false
	}
	return T(u), true
}

// Read returns the identifier that text spells; the zero value when it spells none.
func Read[T ~[16]byte](s string) T {
	u, _ := Parse[T](s)
	return u
}

// Compare orders identifiers: as the databases do, and by when they were made.
func Compare[T ~[16]byte](a, b T) int { return bytes.Compare(a[:], b[:]) }

// IsZero reports whether u is none.
func (u UUID[K]) IsZero() bool { return u == UUID[K]{} }

// String returns the UUID in its usual spelling; of none, the empty string.
func (u UUID[K]) String() string {
	if u.IsZero() {
		return ""
	}
	return uuid.UUID(u).String()
}

// Bytes returns the 16 bytes.
func (u UUID[K]) Bytes() [16]byte { return u }

// AppendText appends what String returns.
func (u UUID[K]) AppendText(b []byte) ([]byte, error) {
	if u.IsZero() {
		return b, nil
	}
	var text [36]byte
	hex.Encode(text[:8], u[:4])
	hex.Encode(text[9:13], u[4:6])
	hex.Encode(text[14:18], u[6:8])
	hex.Encode(text[19:23], u[8:10])
	hex.Encode(text[24:], u[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return append(b, text[:]...), nil
}

// MarshalText returns what String returns.
func (u UUID[K]) MarshalText() ([]byte, error) { return u.AppendText(nil) }

// UnmarshalText reads a UUID in its usual spelling, or none.
func (u *UUID[K]) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*u = UUID[K]{}
		return nil
	}
	v, err := uuid.ParseBytes(text)
	if err != nil || len(text) != 36 {
		return fmt.Errorf("%q is not a UUID", text)
	}
	*u = UUID[K](v)
	return nil
}

// Scan reads what a column holds: 16 bytes, the usual spelling, or NULL, which is
// none.
func (u *UUID[K]) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*u = UUID[K]{}
		return nil
	case []byte:
		if len(v) == len(u) {
			copy(u[:], v)
			return nil
		}
		return u.UnmarshalText(v)
	case string:
		parsed, err := uuid.Parse(v)
		*u = UUID[K](parsed)
		return err
	}
	return fmt.Errorf("id: a column holds %T, not a UUID", src)
}

// Value returns the 16 bytes for the database.
func (u UUID[K]) Value() (driver.Value, error) { return u[:], nil }

// Canonical returns the usual spelling of the UUID that s spells in either case.
func Canonical(s string) (string, bool) {
	u, ok := Parse[[16]byte](s)
	return uuid.UUID(u).String(), ok
}

// ToSource returns the id of what a send belongs to, which is one of several kinds.
func ToSource[T ~[16]byte](v T) Source { return Source(v) }

// ToAuthor returns the id of the author of a change, which is a user or an API key.
func ToAuthor[T ~[16]byte](v T) Author { return Author(v) }

// OfSource is the reverse of ToSource: the kind is known by what is stored beside.
func OfSource[T ~[16]byte](s Source) T { return T(s) }

// ToHolder returns the id of what has a trigger, which is one of several kinds.
func ToHolder[T ~[16]byte](v T) Holder { return Holder(v) }

// OfHolder is the reverse of ToHolder: the kind is known by what is stored beside.
func OfHolder[T ~[16]byte](h Holder) T { return T(h) }

// ToAddressee returns the id of a seed in place of a contact's, for messages to seeds.
func ToAddressee(s Seed) Contact { return Contact(s) }

// OfAddressee is the reverse of ToAddressee.
func OfAddressee(c Contact) Seed { return Seed(c) }
