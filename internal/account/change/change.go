// Package change tells browsers which records have changed, so that they read them again.
//
//	statement → Relay (the transactions of this process) → change_hint → Hub (any process) → Stream
//
// A hint has the type of a record and its id, and no content. The Relay of each process collects the
// writes of committed transactions (sqldb.DB.WatchWrites) and stores them once a second as one row
// for each tenant; those of tenants without a stream in any process are dropped. The Hub of each
// process with streams reads the rows every half second.
//
// Hints may be repeated. Rows are kept for longer than Resumable, so that a stream which is opened again,
// perhaps by another process, continues where the one before ended.
package change

import (
	"cmp"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Type is the type of a record that changed.
type Type string

// The types.
const (
	Account     Type = "account" // the settings of the account, with its email types, senders, fields and stages
	APIKey      Type = "api_key"
	Asset       Type = "asset"     // an image
	AuditLog    Type = "audit_log" // new entries
	Block       Type = "block"
	Broadcast   Type = "broadcast"
	Contact     Type = "contact"
	Domain      Type = "domain" // a sending domain
	Form        Type = "form"
	Job         Type = "job"
	Mailbox     Type = "mailbox" // messages of a built-in mailbox
	Member      Type = "member"  // a user of the tenant
	Message     Type = "message" // of the library
	Lane        Type = "mta_config"
	SavedFilter Type = "saved_filter"
	SeedList    Type = "seed_list" // a list, its seeds and its updates
	Segment     Type = "segment"
	Sequence    Type = "sequence"
	Template    Type = "template"
	Webhook     Type = "webhook"
)

// Types returns all types.
func Types() []Type {
	return []Type{
		Account, APIKey, Asset, AuditLog, Block, Broadcast, Contact, Domain, Form, Job, Mailbox, Member, Message, Lane, SavedFilter, SeedList, Segment,
		Sequence, Template, Webhook,
	}
}

// sends is the table of writes that belong to a send, and so to its source.
const sends = "send"

// table is a watched table: what type of record its rows belong to, and which parameters identify it.
type table struct {
	typ   Type
	param sqldb.IDParam // nil: hints of the type have no id
}

// tables are the watched tables. Those that are written for each message of a send are not among them; their
// changes are in the journal.
var tables = map[string]table{
	"tenant": {Account, nil}, "email_type": {Account, nil}, "email_category": {Account, nil}, "sending_identity": {Account, nil}, "identity_lane": {Account, nil},
	"custom_field": {Account, nil}, "contact_stage": {Account, nil}, "score_settings": {Account, nil}, "tracked_host": {Account, nil},
	"api_key": {APIKey, sqldb.ParamOf[id.APIKey]()}, "asset": {Asset, sqldb.ParamOf[id.Asset]()}, "audit": {AuditLog, nil},
	"block":     {Block, sqldb.ParamOf[id.Block]()},
	"broadcast": {Broadcast, sqldb.ParamOf[id.Broadcast]()}, "broadcast_run": {Broadcast, sqldb.ParamOf[id.Broadcast]()},
	"sending_domain": {Domain, sqldb.ParamOf[id.Domain]()}, "sending_domain_key": {Domain, sqldb.ParamOf[id.Domain]()},
	"domain_warning": {Domain, sqldb.ParamOf[id.Domain]()},
	"form":           {Form, sqldb.ParamOf[id.Form]()}, "form_submission": {Form, sqldb.ParamOf[id.Form]()},
	"job":           {Job, sqldb.ParamOf[id.Job]()},
	"sink_message":  {Mailbox, nil},
	"membership":    {Member, sqldb.ParamOf[id.User]()}, // auth reports what it writes of the user in all tenants
	"library_entry": {Message, sqldb.ParamOf[id.LibraryEntry]()}, "library_version": {Message, sqldb.ParamOf[id.LibraryEntry]()},
	"mta_config": {Lane, sqldb.ParamOf[id.Lane]()}, "mta_health": {Lane, sqldb.ParamOf[id.Lane]()},
	"saved_filter": {SavedFilter, nil}, // their ids are known only to those who may see them
	"seed_list":    {SeedList, sqldb.ParamOf[id.SeedList]()}, "seed_list_identity": {SeedList, sqldb.ParamOf[id.SeedList]()},
	"seed": {SeedList, sqldb.ParamOf[id.SeedList]()}, "seed_sync": {SeedList, sqldb.ParamOf[id.SeedList]()},
	"segment": {Segment, sqldb.ParamOf[id.Segment]()}, "segment_member": {Segment, sqldb.ParamOf[id.Segment]()},
	"sequence": {Sequence, sqldb.ParamOf[id.Sequence]()}, "enrollment": {Sequence, sqldb.ParamOf[id.Sequence]()},
	"template":         {Template, sqldb.ParamOf[id.Template]()},
	"webhook_endpoint": {Webhook, sqldb.ParamOf[id.Webhook]()},
}

// The limits of hints and streams.
const (
	// MaxIDs is how many ids of a type a hint has; more are replaced by one change without an id.
	MaxIDs = 50
	// Resumable is how long after a position a stream can be opened at it.
	Resumable = 5 * time.Minute

	interval = time.Second      // between two rows of a tenant from one process, and two events of a stream
	keep     = 6 * time.Minute  // how long rows and listeners are stored
	late     = 15 * time.Second // how late a row may be visible, after its time: clocks of processes differ
	linger   = 2 * interval     // how long hints of a tenant wait for a listener
)

// Change says that a record has changed, or without an id that records of a type have.
type Change struct {
	Type Type   `json:"type"`
	ID   string `json:"id,omitempty"`
}

// Set is a set of changes.
type Set map[Type]*rows

type rows struct {
	whole bool // without ids
	ids   map[string]bool
}

// Add adds a change.
func (s Set) Add(c Change) {
	r := s[c.Type]
	if r == nil {
		r = &rows{ids: map[string]bool{}}
		s[c.Type] = r
	}
	if c.ID != "" && !r.whole {
		r.ids[c.ID] = true
	}
	if c.ID == "" || len(r.ids) > MaxIDs {
		r.whole, r.ids = true, nil
	}
}

// List returns the changes in order.
func (s Set) List() []Change {
	list := []Change{}
	for t, r := range s {
		if r.whole {
			list = append(list, Change{Type: t})
		}
		for row := range r.ids {
			list = append(list, Change{t, row})
		}
	}
	slices.SortFunc(list, func(a, b Change) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
	return list
}
