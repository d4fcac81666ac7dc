package library

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// The faults of this package.
var (
	ErrNotFound    = fault.New(fault.NotFound, "NOT_FOUND", "there is no such entry of the library")
	ErrNoVersion   = fault.New(fault.NotFound, "NOT_FOUND", "the entry has no such version")
	ErrSlug        = fault.New(fault.Conflict, "DUPLICATE_SLUG", "another entry has this slug")
	ErrStatus      = fault.New(fault.Invalid, "INVALID_STATUS", "status must be draft, published or archived")
	ErrLimit       = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a limit is exceeded")
	ErrInUse       = fault.New(fault.Conflict, "IN_USE", "the entry is still in use") // details: InUse
	ErrUnavailable = fault.New(fault.Unavailable, "UNAVAILABLE", "the uses of the entry cannot be determined at the moment; try again")
)

// Faults of a request that takes its content from an entry, named after the fields that refer to
// it.
var (
	ErrNoEntry        = fault.Input(fault.Field{Path: "content.message_id", Message: "names no entry of the library"})
	ErrNoEntryVersion = fault.Input(fault.Field{Path: "content.message_version", Message: "names no version of the entry"})
)

// Status is the state of an entry.
type Status string

// The statuses.
const (
	Draft     Status = "draft"
	Published Status = "published"
	Archived  Status = "archived" // not listed unless asked for
)

// Statuses returns all statuses.
func Statuses() []Status { return []Status{Draft, Published, Archived} }

// ParseStatus parses the name of a status.
func ParseStatus(name string) (Status, error) {
	if !slices.Contains(Statuses(), Status(name)) {
		return "", ErrStatus
	}
	return Status(name), nil
}

// Entry is one reusable email.
type Entry struct {
	Tenant    id.Tenant
	ID        id.LibraryEntry
	Slug      string
	Name      string
	Status    Status
	Tags      []string
	Version   int            // number of the current version; 0: none yet
	Content   *draft.Content // of the current version; nil in lists, and without a version
	CreatedAt time.Time
	UpdatedAt time.Time
	Revision  int64 // increases with each write
}

// Revisions is the table of entries, for conditions on their revisions.
var Revisions = revision.Table{Name: "library_entry"}

// Warnings returns what the author should look at in the entry's content.
func (e Entry) Warnings(ctx context.Context, db *sqldb.DB, now time.Time) ([]content.Trouble, error) {
	if e.Content == nil {
		return nil, nil
	}
	fields, err := field.Load(ctx, db, e.Tenant)
	if err != nil {
		return nil, err
	}
	return e.Content.Review(ctx, fields, now)
}

// Change holds the changes that a request makes to an entry; nil leaves a part unchanged.
type Change struct {
	Name    *string
	Slug    *string
	Status  *Status
	Tags    *[]string
	Content *draft.Change // appends a version
}

const (
	maxName = 200
	maxTags = 50
	maxTag  = 64
)

// Check validates the change, independently of the entry, and normalizes its texts.
func (ch *Change) Check() error {
	var p fault.Problems
	if ch.Name != nil {
		ch.Name = new(strings.TrimSpace(*ch.Name))
		if !fitsLength(*ch.Name, maxName) {
			p.Add("name", "required, 1 to 200 characters")
		}
	}
	if ch.Slug != nil && !slug.Valid(*ch.Slug) {
		p.Add("slug", slug.Rule)
	}
	if ch.Tags != nil {
		tags := []string{}
		for i, t := range *ch.Tags {
			t = strings.TrimSpace(t)
			if !fitsLength(t, maxTag) {
				p.AddElement("tags", "must have 1 to 64 characters")
				if i >= maxTags {
					break // also too many, which is reported below
				}
			}
			if !slices.Contains(tags, t) && len(tags) <= maxTags {
				tags = append(tags, t)
			}
		}
		ch.Tags = &tags
	}
	if ch.Content != nil {
		if ch.Content.Empty() {
			return content.ErrNoContent.Sayf("content has no part; send at least one, such as subject or body_html").
				With(fault.Fields{Fields: []fault.Field{{Path: "content", Message: "must have at least one part"}}})
		}
		ch.Content.Check(&p)
	}
	if ch.Status != nil {
		if _, err := ParseStatus(string(*ch.Status)); err != nil {
			return err
		}
	}
	if err := p.Err(); err != nil {
		return err
	}
	if ch.Tags != nil && len(*ch.Tags) > maxTags {
		return ErrLimit.Sayf("an entry may have at most %d tags", maxTags)
	}
	if ch.Content != nil {
		return ch.Content.Readable()
	}
	return nil
}

func fitsLength(text string, most int) bool {
	n := utf8.RuneCountInString(text)
	return n > 0 && n <= most && !strings.ContainsRune(text, 0)
}

// apply applies the change to the entry, except for its content.
func (ch *Change) apply(e *Entry) {
	set(&e.Name, ch.Name)
	set(&e.Slug, ch.Slug)
	set(&e.Status, ch.Status)
	set(&e.Tags, ch.Tags)
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}
