// Package seedlist stores seed lists: the mailboxes that a vendor monitors, which get copies of
// broadcasts.
//
// A list is attached to sending identities and has addresses, the seeds. Updates replace the
// addresses of a list or change some of them (Update). An update restarts the rotation of the list:
// vendors replace their mailboxes from time to time, and copies to old ones say nothing about
// placement. A list that was not updated in time is stale and gets no copies.
//
//	          resume              gone from an update, by hand, hard bounce
//	paused ◄─────────► active ─────────────────────────────────────────► retired
//	          pause       │  ◄──────────────────────────────────────────
//	                      │            named by an update, by hand
//	                      ▼
//	                  conflict      while the address is that of a contact
//
// Seeds are never deleted, except with their list. A seed whose address is that of a contact is in
// conflict and gets no mail, since copies would be mail to the contact without consent. Updates look
// contacts up; the Follower processes new contacts, and a Recheck goes through all seeds about once
// a day.
package seedlist

import (
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// List is a seed list.
type List struct {
	ID               id.SeedList
	Name             string
	VendorLabel      *string
	VendorURL        *string // of the vendor's dashboard
	IncludeByDefault bool    // for broadcasts from an attached identity
	RotationDays     *int    // nil: the list never becomes stale
	GraceDays        int     // after the rotation, until the list is stale
	SeedsUpdatedAt   *time.Time
	Identities       []Identity // attached, by address
	Counts           Counts
	CreatedAt        time.Time
	UpdatedAt        time.Time
	Revision         int64 // of its fields, not of its addresses
}

// Revisions is the table of lists, for conditions on their revisions.
var Revisions = revision.Table{Name: "seed_list"}

// Identity is a sending identity that a list is attached to.
type Identity struct {
	ID      id.Identity
	Address string
}

// Counts are the numbers of a list's seeds by status.
type Counts struct {
	Active   int `json:"active"`
	Paused   int `json:"paused"`
	Retired  int `json:"retired"`
	Conflict int `json:"conflict"`
}

// Seed is one address of a list.
type Seed struct {
	ID        id.Seed
	List      id.SeedList
	Email     string // normalized
	Provider  Provider
	Status    Status
	Reason    Reason // of a retirement or a conflict; empty: none
	RetiredAt *time.Time
}

// Status is the state of a seed.
type Status string

// The statuses of seeds. Only active ones get copies.
const (
	Active   Status = "active"
	Paused   Status = "paused"
	Retired  Status = "retired"
	Conflict Status = "conflict"
)

// Statuses returns every status.
func Statuses() []Status { return []Status{Active, Paused, Retired, Conflict} }

// Reason is why a seed is retired or in conflict.
type Reason string

// The reasons. A seed that was retired by hand or by a hard bounce stays retired when an update
// names it.
const (
	IsContact       Reason = "contact"
	RemovedByUpdate Reason = "removed_by_sync"
	RetiredByUser   Reason = "retired_by_user"
	HardBounce      Reason = "hard_bounce"
)

// The faults of this package.
var (
	ErrNotFound    = fault.New(fault.NotFound, "NOT_FOUND", "there is no such seed list or seed")
	ErrDuplicate   = fault.New(fault.Conflict, "DUPLICATE_NAME", "a seed list with this name exists")
	ErrLimit       = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a limit is exceeded")
	ErrLargeChange = fault.New(fault.Conflict, "LARGE_CHANGE", "fewer than half of the active and paused seeds would remain; repeat with allow_large_change to apply it")
	ErrTransition  = fault.New(fault.Conflict, "INVALID_TRANSITION", "the status of the seed does not allow this")
	ErrStatus      = fault.New(fault.Invalid, "INVALID_STATUS", "status must be a comma list of active, paused, retired, conflict")
)

// Limits of a tenant.
const (
	MaxLists = 50
	MaxSeeds = 5000 // of a list, without retired ones
)

var errTooMany = ErrLimit.Sayf("a seed list may have at most %d seeds that are not retired", MaxSeeds)
