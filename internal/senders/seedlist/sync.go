package seedlist

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
)

// Kind is the kind of an update.
type Kind string

// The kinds of updates.
const (
	Replace Kind = "replace" // seeds that are not named are retired
	Changes Kind = "changes" // seeds that are not named do not change
)

// Request is an update of the seeds of a list.
type Request struct {
	Kind        Kind
	Add         []Entry
	Remove      []string // with Changes; an address that is also in Add is kept
	DryRun      bool
	Changes     bool // of a dry run: the result has Changes
	AllowLarge  bool // fewer than half of the active and paused seeds may remain
	RequestedBy auth.Actor
}

// Entry is an address in an update.
type Entry struct {
	Email    string
	Provider string // a label of Providers; otherwise it is inferred from the address
}

// Result is the result of an update. Each named address counts once among Added, Reactivated,
// Unchanged, HeldAsContact and HandRetired, or is in Invalid.
type Result struct {
	Applied             bool         `json:"applied"`
	SyncID              *id.SeedSync `json:"sync_id" format:"uuid" doc:"Null for a dry run."`
	Added               int          `json:"added"`
	Reactivated         int          `json:"reactivated" doc:"Retired addresses that came back, and addresses that were in conflict with a contact and no longer are."`
	Retired             int          `json:"retired"`
	Unchanged           int          `json:"unchanged" doc:"Includes addresses that a hard bounce has retired."`
	RemovedUnknown      int          `json:"removed_unknown" doc:"Addresses to remove that the list does not have."`
	HeldAsContact       Sample       `json:"held_as_contact" doc:"Addresses of contacts, which get no copies."`
	Invalid             Sample       `json:"invalid" doc:"Entries that are no addresses, as sent."`
	HandRetired         Sample       `json:"hand_retired" doc:"Addresses that a user has retired, which stay so."`
	ProviderCorrections Sample       `json:"provider_corrections" doc:"Addresses with an unknown provider, which was inferred, and addresses whose stored provider changed."`
	LargeChange         bool         `json:"large_change" doc:"Fewer than half of the active and paused seeds remain."`
	SendableBefore      int          `json:"sendable_before" doc:"Number of active and paused seeds."`
	SendableAfter       int          `json:"sendable_after"`
	Changes             []SeedChange `json:"changes,omitempty" doc:"Of a dry run with include_changes: what would become of each address that is named or retired, first those that are named."`
}

// SeedChange is what an update does to one address.
type SeedChange struct {
	Email    string   `json:"email" doc:"As sent, if it is invalid."`
	Change   Outcome  `json:"change" enum:"added,reactivated,retired,unchanged,held_as_contact,hand_retired,invalid,removed_unknown"`
	Provider Provider `json:"provider,omitempty" enum:"gmail,outlook,yahoo,aol,icloud,proton,other" doc:"Absent if it is invalid or unknown."`
}

// Outcome is what becomes of an address in an update.
type Outcome string

// The outcomes, which are counted by the fields of Result of the same names.
const (
	Added          Outcome = "added"
	Reactivated    Outcome = "reactivated"
	Left           Outcome = "retired"
	Unchanged      Outcome = "unchanged"
	Held           Outcome = "held_as_contact"
	HandRetired    Outcome = "hand_retired"
	Invalid        Outcome = "invalid"
	RemovedUnknown Outcome = "removed_unknown"
)

// count counts what becomes of an address, and lists it if the changes are asked for.
func (u *update) count(email string, o Outcome, p Provider) {
	r := &u.result
	switch o {
	case Added:
		r.Added++
	case Reactivated:
		r.Reactivated++
	case Left:
		r.Retired++
	case Unchanged:
		r.Unchanged++
	case Held:
		r.HeldAsContact.add(email)
	case HandRetired:
		r.HandRetired.add(email)
	case Invalid:
		email = invalidEntry(email)
		r.Invalid.add(email)
	case RemovedUnknown:
		r.RemovedUnknown++
	}
	if u.list {
		r.Changes = append(r.Changes, SeedChange{email, o, p})
	}
}

// maxSample is how many addresses a Sample has at most.
const maxSample = 10

// Sample is a number of addresses, and the first of them.
type Sample struct {
	Count  int      `json:"count"`
	Sample []string `json:"sample" doc:"The first 10."`
}

func (s *Sample) add(entry string) {
	s.Count++
	if len(s.Sample) < maxSample {
		s.Sample = append(s.Sample, entry)
	}
}

// maxEntry is the length in characters to which a sample of an invalid entry is cut.
const maxEntry = 254

// invalidEntry returns an entry that is no address, as it is shown.
func invalidEntry(entry string) string {
	if utf8.RuneCountInString(entry) > maxEntry {
		entry = string([]rune(entry)[:maxEntry])
	}
	return strings.ReplaceAll(entry, "\x00", "\uFFFD")
}

// PastUpdate is an update in the history of a list.
type PastUpdate struct {
	Result
	Kind  Kind
	Actor auth.Actor
	At    time.Time
}

// update is a Request with normalized addresses, each once.
type update struct {
	kind   Kind
	add    []named
	remove []string // without those in add
	list   bool     // the result has Changes
	result Result
}

// named is an address that an update adds or keeps.
type named struct {
	email    string
	provider Provider // empty: not given, or unknown
	unknown  bool     // a provider was given that is unknown
}

// newUpdate normalizes a request. Of several entries with the same address, the first counts.
func newUpdate(r Request) update {
	empty := func() Sample { return Sample{Sample: []string{}} }
	u := update{kind: r.Kind, list: r.DryRun && r.Changes, result: Result{HeldAsContact: empty(), Invalid: empty(), HandRetired: empty(), ProviderCorrections: empty()}}
	seen := map[string]bool{}
	for _, e := range r.Add {
		email, err := address.Normalize(e.Email)
		if err != nil {
			u.count(e.Email, Invalid, "")
			continue
		}
		if seen[email] {
			continue
		}
		seen[email] = true
		n := named{email: email}
		if p, ok := parseProvider(e.Provider); ok {
			n.provider = p
		} else {
			n.unknown = strings.TrimSpace(e.Provider) != ""
		}
		u.add = append(u.add, n)
	}
	for _, text := range r.Remove {
		email, err := address.Normalize(text)
		if err != nil {
			u.count(text, Invalid, "")
			continue
		}
		if !seen[email] {
			seen[email] = true
			u.remove = append(u.remove, email)
		}
	}
	return u
}

// emails returns the addresses that the update names.
func (u *update) emails() []string {
	list := slices.Clone(u.remove)
	for _, n := range u.add {
		list = append(list, n.email)
	}
	return list
}

// plan returns the seeds to insert and to change, and sets the result except for what writing sets.
// known are the seeds of the list that are not retired or that the update names, by address;
// contacts are the addresses of contacts among those that it adds.
func (u *update) plan(list id.SeedList, known map[string]Seed, contacts map[string]bool, now time.Time) (inserted, changed []Seed) {
	r := &u.result
	for _, s := range known {
		r.SendableBefore += s.sendable()
	}
	r.SendableAfter = r.SendableBefore
	keep := map[string]bool{}
	for _, n := range u.add {
		keep[n.email] = true
		before, exists := known[n.email]
		after := before
		if !exists {
			after = Seed{ID: id.New[id.Seed](), List: list, Email: n.email, Provider: inferProvider(n.email)}
		}
		if n.provider != "" {
			after.Provider = n.provider
		}
		if n.unknown || exists && after.Provider != before.Provider {
			r.ProviderCorrections.add(n.email)
		}
		after = u.settle(after, exists, contacts[n.email])
		r.SendableAfter += after.sendable() - before.sendable()
		switch {
		case !exists:
			inserted = append(inserted, after)
		case after != before:
			changed = append(changed, after)
		}
	}
	for _, s := range u.leaving(known, keep) {
		u.count(s.Email, Left, s.Provider)
		r.SendableAfter -= s.sendable()
		s.Status, s.Reason, s.RetiredAt = Retired, RemovedByUpdate, &now
		changed = append(changed, s)
	}
	r.LargeChange = 2*r.SendableAfter < r.SendableBefore
	return inserted, changed
}

// settle returns the state of a seed that the update names, and counts it.
func (u *update) settle(s Seed, exists, isContact bool) Seed {
	outcome := Unchanged
	switch {
	case s.Status == Retired && s.Reason == RetiredByUser:
		outcome = HandRetired
	case s.Status == Retired && s.Reason == HardBounce:
	case isContact:
		outcome = Held
		s.Status, s.Reason, s.RetiredAt = Conflict, IsContact, nil
	case !exists:
		outcome = Added
		s.Status = Active
	case s.Status == Retired || s.Status == Conflict:
		outcome = Reactivated
		s.Status, s.Reason, s.RetiredAt = Active, "", nil
	}
	u.count(s.Email, outcome, s.Provider)
	return s
}

// leaving returns the seeds that the update retires, by address: with Replace those that it does not
// name, with Changes those that it removes. It counts addresses to remove that are retired already
// or unknown.
func (u *update) leaving(known map[string]Seed, keep map[string]bool) []Seed {
	var list []Seed
	if u.kind == Replace {
		for email, s := range known {
			if !keep[email] && s.Status != Retired {
				list = append(list, s)
			}
		}
	}
	for _, email := range u.remove {
		s, ok := known[email]
		switch {
		case !ok:
			u.count(email, RemovedUnknown, "")
		case s.Status == Retired:
			u.count(email, Unchanged, s.Provider)
		default:
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Seed) int { return strings.Compare(a.Email, b.Email) })
	return list
}

// sendable returns 1 for an active or paused seed, otherwise 0.
func (s Seed) sendable() int {
	if s.Status == Active || s.Status == Paused {
		return 1
	}
	return 0
}
