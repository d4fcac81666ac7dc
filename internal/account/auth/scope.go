package auth

import (
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/nearest"
)

// Scope is one permission of an API key.
type Scope string

// The scopes.
const (
	BlocksRead            Scope = "blocks:read"
	BroadcastsRead        Scope = "broadcasts:read"
	BroadcastsSchedule    Scope = "broadcasts:schedule"
	BroadcastsWrite       Scope = "broadcasts:write"
	ContactsRead          Scope = "contacts:read"
	ContactsWrite         Scope = "contacts:write"
	CustomFieldsRead      Scope = "custom-fields:read"
	EventsWrite           Scope = "events:write"
	FormsRead             Scope = "forms:read"
	ListsRead             Scope = "lists:read"
	ListsWrite            Scope = "lists:write"
	MessagesRead          Scope = "messages:read"
	MessagesWrite         Scope = "messages:write"
	ReportsRead           Scope = "reports:read"
	SeedListsRead         Scope = "seed-lists:read"
	SeedListsWrite        Scope = "seed-lists:write"
	SegmentsRead          Scope = "segments:read"
	SegmentsWrite         Scope = "segments:write"
	SendingIdentitiesRead Scope = "sending-identities:read"
	SequencesEnroll       Scope = "sequences:enroll"
	SequencesRead         Scope = "sequences:read"
	SuppressionRead       Scope = "suppression:read"
	SuppressionWrite      Scope = "suppression:write"
	TemplatesRead         Scope = "templates:read"
	TemplatesWrite        Scope = "templates:write"
)

// AdminsOnly stands in place of a scope for what no key may do, and of users only admins. Keys are not granted it.
const AdminsOnly Scope = "admins"

// ScopeInfo describes a scope to users who create keys.
type ScopeInfo struct {
	Scope       Scope
	Description string
	Implies     []Scope // never nil
}

// Scopes returns every scope, sorted by name.
func Scopes() []ScopeInfo {
	return []ScopeInfo{
		{BlocksRead, "List and get blocks", []Scope{}},
		{BroadcastsRead, "List and get broadcasts", []Scope{}},
		{BroadcastsSchedule, "Schedule, unschedule, pause, resume, cancel and reschedule broadcasts, and send tests of them, also with the data of a contact", []Scope{}},
		{BroadcastsWrite, "Create, change, delete and archive broadcasts", []Scope{}},
		{ContactsRead, "List, count, search, look up and export contacts; list stages", []Scope{}},
		{ContactsWrite, "Create, change, delete, restore and import contacts; changing lists, suppressing and enrolling need their own scopes", []Scope{}},
		{CustomFieldsRead, "List custom field definitions and see where they are used", []Scope{}},
		{EventsWrite, "Record events, which create contacts where the account allows it", []Scope{}},
		{FormsRead, "List and get forms and the code that embeds them", []Scope{}},
		{ListsRead, "List and get static lists", []Scope{}},
		{ListsWrite, "Create, change and delete static lists and their members", []Scope{}},
		{MessagesRead, "List and get library entries and their versions", []Scope{}},
		{MessagesWrite, "Create, change, archive, duplicate and delete library entries", []Scope{}},
		{ReportsRead, "Read reports and recipients of broadcasts and sequences", []Scope{}},
		{SeedListsRead, "List and get seed lists, their seeds and syncs", []Scope{}},
		{SeedListsWrite, "Replace and change the seeds of a seed list", []Scope{}},
		{SegmentsRead, "List, get and preview dynamic segments; with contacts:read also with a sample of contacts", []Scope{}},
		{SegmentsWrite, "Create, change and delete dynamic segments, also from a broadcast", []Scope{}},
		{SendingIdentitiesRead, "List email types, categories and sending identities", []Scope{}},
		{SequencesEnroll, "Enroll contacts in sequences, creating them and changing their fields where the request says so", []Scope{}},
		{SequencesRead, "List and get sequences and enrollments", []Scope{}},
		{SuppressionRead, "List suppressed addresses", []Scope{}},
		{SuppressionWrite, "Suppress addresses, which unsubscribes their contacts, and release them", []Scope{SuppressionRead}},
		{TemplatesRead, "List and get templates, check and render bindings", []Scope{BlocksRead}},
		{TemplatesWrite, "Create, change and delete templates", []Scope{}},
	}
}

// ErrInvalidScope refuses a key with unknown scopes or without scopes.
var ErrInvalidScope = fault.New(fault.Invalid, "INVALID_SCOPE", "the scopes are empty or hold one that does not exist")

// Set is the scopes of a key as granted, sorted and without duplicates. Implied scopes are not
// included; Has considers them.
type Set []Scope

// NewSet returns the set with the given names. For unknown names, or none, the error is
// ErrInvalidScope.
func NewSet(names []string) (Set, error) {
	if len(names) == 0 {
		return nil, ErrInvalidScope.Sayf("name at least one scope")
	}
	var set Set
	var unknown []string
	for _, n := range names {
		if !slices.ContainsFunc(Scopes(), func(i ScopeInfo) bool { return string(i.Scope) == n }) {
			unknown = append(unknown, n+didYouMean(n))
			continue
		}
		set = append(set, Scope(n))
	}
	if len(unknown) > 0 {
		return nil, ErrInvalidScope.Sayf("no such scope: %.500s", strings.Join(unknown, ", "))
	}
	slices.Sort(set)
	return slices.Compact(set), nil
}

// didYouMean returns the scope that somebody may have meant, to be added to what they wrote.
func didYouMean(name string) string {
	var names []string
	for _, i := range Scopes() {
		names = append(names, string(i.Scope))
	}
	if meant := nearest.Of(name, names); meant != "" {
		return " (did you mean " + meant + "?)"
	}
	return ""
}

// AllScopes returns the set of all scopes.
func AllScopes() Set {
	var set Set
	for _, i := range Scopes() {
		set = append(set, i.Scope)
	}
	return set
}

// Has reports whether the set grants s, directly or by implication.
func (s Set) Has(want Scope) bool {
	if slices.Contains(s, want) {
		return true
	}
	switch want { // a test compares this with Scopes; Has is called for every request
	case BlocksRead:
		return slices.Contains(s, TemplatesRead)
	case SuppressionRead:
		return slices.Contains(s, SuppressionWrite)
	}
	return false
}

// Strings returns the names of the scopes; never nil.
func (s Set) Strings() []string {
	names := make([]string, len(s))
	for i, sc := range s {
		names[i] = string(sc)
	}
	return names
}
