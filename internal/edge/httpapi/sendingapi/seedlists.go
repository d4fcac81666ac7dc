package sendingapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// SeedLists serves seed lists and their addresses.
type SeedLists struct {
	db  *sqldb.DB
	now func() time.Time
}

// NewSeedLists returns the operations on seed lists and their addresses.
func NewSeedLists(e wire.Env) SeedLists { return SeedLists{db: e.DB, now: e.Now} }

// On returns the operations on another handle.
func (api SeedLists) On(db *sqldb.DB) SeedLists { api.db = db; return api }

// Register adds the operations on seed lists.
func (api SeedLists) Register(r *endpoint.Router) {
	read := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "seed lists", Scope: auth.SeedListsRead, Faults: faults}
	}
	author := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "seed lists", Session: true, Faults: faults}
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/seed-lists", read("listSeedLists", "List seed lists, by name."), api.ListSeedLists)
	create := author("createSeedList", "Create a seed list without addresses.", seedlist.ErrDuplicate, seedlist.ErrLimit).Once().Revised(seedlist.Revisions)
	create.Status = http.StatusCreated
	endpoint.Handle(r, "POST /t/{tenant}/api/seed-lists", create.ExampleBody(`{"name": "Vendor mailboxes", "vendor_label": "Vendor", "include_by_default": true, "rotation_days": 30, "rotation_grace_days": 5, "sending_identity_ids": ["$SENDING_IDENTITY_ID"]}`), wire.Once(api, api.db, SeedLists.createSeedList), checkNewSeedList)
	endpoint.Handle(r, "GET /t/{tenant}/api/seed-lists/{id}", read("getSeedList", "Get a seed list.", seedlist.ErrNotFound).Revised(seedlist.Revisions), api.getSeedList)
	endpoint.Handle(r, "PUT /t/{tenant}/api/seed-lists/{id}",
		author("updateSeedList", "Update a seed list; absent fields and its addresses do not change.", seedlist.ErrNotFound, seedlist.ErrDuplicate).IfMatch(seedlist.Revisions).
			ExampleBody(`{"name": "Mailboxes of the vendor", "rotation_days": 14}`), api.updateSeedList, checkSeedList)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/seed-lists/{id}",
		author("deleteSeedList", "Delete a seed list with its addresses and its history.", seedlist.ErrNotFound).IfMatch(seedlist.Revisions), api.deleteSeedList)
	api.registerSeeds(r, read, author)
}

func (api SeedLists) registerSeeds(r *endpoint.Router, read, author func(name, summary string, faults ...*fault.Error) endpoint.Op) {
	list := read("listSeeds", "List the addresses of a seed list, by address.", seedlist.ErrNotFound, seedlist.ErrStatus)
	list.Pagination = "offset"
	endpoint.Handle(r, "GET /t/{tenant}/api/seed-lists/{id}/seeds", list, api.listSeeds)
	write := func(name, summary, description string) endpoint.Op {
		return endpoint.Op{
			Name: name, Summary: summary, Description: description, Tag: "seed lists", Scope: auth.SeedListsWrite, MaxBody: 10 * endpoint.Megabyte,
			Faults: []*fault.Error{seedlist.ErrNotFound, seedlist.ErrLargeChange, seedlist.ErrLimit},
		}
	}
	endpoint.Handle(r, "PUT /t/{tenant}/api/seed-lists/{id}/seeds",
		write("replaceSeeds", "Replace the addresses of a seed list; those that are not named are retired.",
			"The update restarts the rotation and is kept in the history, also if nothing changes. Addresses come back when they are named again, except those retired by hand or by a hard bounce. If fewer than half of the active and paused addresses would remain, the answer is LARGE_CHANGE with the result in its details.").
			ExampleBody(`{"seeds": [{"email": "ada.seed@gmail.com"}, {"email": "bob@mail.example.net", "provider": "outlook"}], "allow_large_change": true}`), api.replaceSeeds)
	endpoint.Handle(r, "POST /t/{tenant}/api/seed-lists/{id}/seeds/changes",
		write("changeSeeds", "Add and remove addresses of a seed list; all others stay.",
			"An address in both add and remove is kept. Otherwise as for replaceSeeds.").
			ExampleBody(`{"add": [{"email": "carl.seed@yahoo.com"}], "remove": ["gone@gmail.com"]}`), api.changeSeeds)
	endpoint.Handle(r, "GET /t/{tenant}/api/seed-lists/{id}/syncs",
		read("listSeedSyncs", "List the last 500 updates of a seed list, newest first.", seedlist.ErrNotFound), api.listSeedSyncs)
	for _, a := range []struct {
		action  seedlist.Action
		summary string
		faults  []*fault.Error
	}{
		{seedlist.Pause, "Pause an active address: it gets no copies.", nil},
		{seedlist.Resume, "Resume a paused address.", nil},
		{seedlist.Retire, "Retire an address; updates do not bring it back.", nil},
		{seedlist.Reactivate, "Reactivate a retired address.", []*fault.Error{seedlist.ErrLimit}},
	} {
		endpoint.Handle(r, "POST /t/{tenant}/api/seed-lists/{id}/seeds/{seed_id}/"+string(a.action),
			author(string(a.action)+"Seed", a.summary, append(a.faults, seedlist.ErrNotFound, seedlist.ErrTransition)...), api.applySeedAction(a.action))
	}
}

type SeedListRow struct {
	ID                 id.SeedList        `json:"id" format:"uuid"`
	Name               string             `json:"name"`
	VendorLabel        *string            `json:"vendor_label"`
	VendorDashboardURL *string            `json:"vendor_dashboard_url"`
	IncludeByDefault   bool               `json:"include_by_default" doc:"For broadcasts from an attached sending identity that name no seed lists."`
	RotationDays       *int               `json:"rotation_days" doc:"Days after which the vendor replaces its addresses; null: never."`
	RotationGraceDays  int                `json:"rotation_grace_days"`
	RefreshedAt        *endpoint.Stamp    `json:"refreshed_at" doc:"The last update of the addresses."`
	RotatesAt          *endpoint.Stamp    `json:"rotates_at" doc:"refreshed_at plus rotation_days."`
	StaleAt            *endpoint.Stamp    `json:"stale_at" doc:"rotates_at plus rotation_grace_days; from then on the list gets no copies until its next update."`
	Freshness          seedlist.Freshness `json:"freshness" enum:"never_synced,no_rotation,fresh,due_soon,grace,stale"`
	AddressCounts      seedlist.Counts    `json:"address_counts"`
	SendingIdentities  []seedListSender   `json:"sending_identities"`
	CreatedAt          endpoint.Stamp     `json:"created_at"`
	UpdatedAt          endpoint.Stamp     `json:"updated_at"`
}

type seedListSender struct {
	ID           id.Identity `json:"id" format:"uuid"`
	EmailAddress string      `json:"email_address"`
}

func (api SeedLists) rowOf(l seedlist.List) SeedListRow {
	row := SeedListRow{
		ID: l.ID, Name: l.Name, VendorLabel: l.VendorLabel, VendorDashboardURL: l.VendorURL, IncludeByDefault: l.IncludeByDefault,
		RotationDays: l.RotationDays, RotationGraceDays: l.GraceDays, RefreshedAt: endpoint.AtOr(l.SeedsUpdatedAt),
		RotatesAt: endpoint.AtOr(l.RotatesAt()), StaleAt: endpoint.AtOr(l.StaleAt()), Freshness: l.Freshness(api.now()),
		AddressCounts: l.Counts, SendingIdentities: make([]seedListSender, len(l.Identities)),
		CreatedAt: endpoint.At(l.CreatedAt), UpdatedAt: endpoint.At(l.UpdatedAt),
	}
	for i, s := range l.Identities {
		row.SendingIdentities[i] = seedListSender{s.ID, s.Address}
	}
	return row
}

func (api SeedLists) ListSeedLists(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[SeedListRow], error) {
	lists, err := seedlist.All(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[SeedListRow]{}, err
	}
	rows := make([]SeedListRow, len(lists))
	for i, l := range lists {
		rows[i] = api.rowOf(l)
	}
	return endpoint.Whole(rows), nil
}

type createSeedListRequest struct{ Body seedListBody }

// seedListBody is the body of a create or an update; a new list needs a name.
type seedListBody struct {
	Name               endpoint.Opt[string]   `json:"name" nullable:"false" doc:"1 to 200 characters; unique."`
	VendorLabel        endpoint.Opt[string]   `json:"vendor_label"`
	VendorDashboardURL endpoint.Opt[string]   `json:"vendor_dashboard_url" doc:"An http or https URL."`
	IncludeByDefault   endpoint.Opt[bool]     `json:"include_by_default" nullable:"false" doc:"Default: false."`
	RotationDays       endpoint.Opt[int]      `json:"rotation_days" doc:"1 to 365."`
	RotationGraceDays  endpoint.Opt[int]      `json:"rotation_grace_days" nullable:"false" doc:"0 to 365. Default: 0."`
	SendingIdentityIDs endpoint.Opt[[]string] `json:"sending_identity_ids"`
}

// change returns the change that the body describes. An id that is no uuid becomes that of no
// record.
func (b seedListBody) change() seedlist.Change {
	ch := seedlist.Change{
		Name: b.Name.Pointer(), VendorLabel: wire.NullAsNil(b.VendorLabel), VendorURL: wire.NullAsNil(b.VendorDashboardURL),
		IncludeByDefault: b.IncludeByDefault.Pointer(), RotationDays: wire.NullAsNil(b.RotationDays), GraceDays: b.RotationGraceDays.Pointer(),
	}
	if b.SendingIdentityIDs.Set {
		list := []id.Identity{}
		for _, text := range b.SendingIdentityIDs.Value {
			if i := wire.IDOrUnknown[id.Identity](text); !slices.Contains(list, i) {
				list = append(list, i)
			}
		}
		ch.Identities = &list
	}
	return ch
}

func checkNewSeedList(_ auth.Principal, in *createSeedListRequest) error {
	return in.Body.change().CheckNew()
}

func (api SeedLists) createSeedList(ctx context.Context, p auth.Principal, in *createSeedListRequest) (SeedListRow, error) {
	l, err := seedlist.Create(ctx, api.db, p.Tenant, in.Body.change(), api.now())
	if err != nil {
		return SeedListRow{}, err
	}
	endpoint.SetRevision(ctx, l.Revision)
	return api.rowOf(l), nil
}

func (api SeedLists) getSeedList(ctx context.Context, p auth.Principal, in *wire.RecordPath) (SeedListRow, error) {
	list, err := wire.RecordID[id.SeedList](in.ID, seedlist.ErrNotFound)
	if err != nil {
		return SeedListRow{}, err
	}
	l, err := seedlist.Find(ctx, api.db, p.Tenant, list)
	if err != nil {
		return SeedListRow{}, err
	}
	endpoint.SetRevision(ctx, l.Revision)
	return api.rowOf(l), nil
}

type updateSeedListRequest struct {
	wire.RecordPath
	Body seedListBody
}

func checkSeedList(_ auth.Principal, in *updateSeedListRequest) error {
	return in.Body.change().Check()
}

func (api SeedLists) updateSeedList(ctx context.Context, p auth.Principal, in *updateSeedListRequest) (SeedListRow, error) {
	list, err := wire.RecordID[id.SeedList](in.ID, seedlist.ErrNotFound)
	if err != nil {
		return SeedListRow{}, err
	}
	var l seedlist.List
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "update", Target: "seed_list", ID: list.String(), Table: seedlist.Revisions, Key: list,
		Show: func(tx *sqldb.DB) (any, error) {
			l, err := seedlist.Find(ctx, tx, p.Tenant, list)
			row := api.rowOf(l)
			row.RotatesAt, row.StaleAt, row.Freshness = nil, nil, ""
			return row, err
		},
		Do: func(tx *sqldb.DB) (err error) {
			l, err = seedlist.Edit(ctx, tx, p.Tenant, list, in.Body.change(), api.now())
			return err
		},
	}, api.now())
	if err != nil {
		return SeedListRow{}, err
	}
	endpoint.SetRevision(ctx, l.Revision)
	return api.rowOf(l), nil
}

func (api SeedLists) deleteSeedList(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	list, err := wire.RecordID[id.SeedList](in.ID, seedlist.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, seedlist.Delete(ctx, api.db, p.Tenant, list)
}

type listSeedsRequest struct {
	wire.RecordPath
	Search string `query:"search" doc:"A part of the address, ignoring case."`
	Status string `query:"status" as:"list" enum:"active,paused,retired,conflict" doc:"With any of these statuses; all when absent."`
	endpoint.OffsetQuery
}

type seedRow struct {
	ID           id.Seed           `json:"id" format:"uuid"`
	Email        string            `json:"email" format:"email"`
	Provider     seedlist.Provider `json:"provider" enum:"gmail,outlook,yahoo,aol,icloud,proton,other"`
	Status       seedlist.Status   `json:"status" enum:"active,paused,retired,conflict"`
	StatusReason *seedlist.Reason  `json:"status_reason" enum:"contact,removed_by_sync,retired_by_user,hard_bounce"`
	RetiredAt    *endpoint.Stamp   `json:"retired_at"`
}

func rowOfSeed(s seedlist.Seed) seedRow {
	return seedRow{s.ID, s.Email, s.Provider, s.Status, optional.Pointer(s.Reason), endpoint.AtOr(s.RetiredAt)}
}

func (api SeedLists) listSeeds(ctx context.Context, p auth.Principal, in *listSeedsRequest) (endpoint.List[seedRow], error) {
	var none endpoint.List[seedRow]
	statuses, err := seedlist.ParseStatuses(endpoint.CommaList(in.Status))
	if err != nil {
		return none, err
	}
	offset, err := endpoint.Offset(in.Offset)
	if err != nil {
		return none, err
	}
	list, err := wire.RecordID[id.SeedList](in.ID, seedlist.ErrNotFound)
	if err != nil {
		return none, err
	}
	seeds, total, err := seedlist.Seeds(ctx, api.db, p.Tenant, list, seedlist.Filter{
		Search: in.Search, Statuses: statuses, Offset: offset, Limit: endpoint.Limit(in.Limit),
	})
	if err != nil {
		return none, err
	}
	rows := make([]seedRow, len(seeds))
	for i, s := range seeds {
		rows[i] = rowOfSeed(s)
	}
	return endpoint.Window(rows, offset, total), nil
}

// SeedFlags are the flags of an update, which may be in the query too.
type SeedFlags struct {
	DryRun         string `query:"dry_run" as:"boolean" default:"false" doc:"true: return the result and change nothing."`
	AllowLarge     string `query:"allow_large_change" as:"boolean" default:"false" doc:"true: also if fewer than half of the addresses remain."`
	IncludeChanges string `query:"include_changes" as:"boolean" default:"false" doc:"true: the result of a dry run lists what would become of each address."`
}

// seedEntry is an address in an update.
type seedEntry struct {
	Email    string               `json:"email"`
	Provider endpoint.Opt[string] `json:"provider" doc:"gmail, outlook, yahoo, aol, icloud, proton or other. Anything else: inferred from the domain."`
}

type replaceSeedsRequest struct {
	wire.RecordPath
	SeedFlags
	Body struct {
		Seeds      []seedEntry        `json:"seeds" nullable:"false" doc:"At most 5000."`
		DryRun     endpoint.Opt[bool] `json:"dry_run" doc:"Return the result and change nothing."`
		AllowLarge endpoint.Opt[bool] `json:"allow_large_change" doc:"Also if fewer than half of the addresses remain."`
	}
}

func (api SeedLists) replaceSeeds(ctx context.Context, p auth.Principal, in *replaceSeedsRequest) (seedlist.Result, error) {
	return api.updateSeeds(ctx, p, in.RecordPath, in.SeedFlags, seedlist.Request{
		Kind: seedlist.Replace, Add: entriesOf(in.Body.Seeds), DryRun: in.Body.DryRun.Or(false), AllowLarge: in.Body.AllowLarge.Or(false),
	})
}

type changeSeedsRequest struct {
	wire.RecordPath
	SeedFlags
	Body struct {
		Add        endpoint.Opt[[]seedEntry] `json:"add" doc:"At most 5000. This or remove is required."`
		Remove     endpoint.Opt[[]string]    `json:"remove" doc:"At most 5000."`
		DryRun     endpoint.Opt[bool]        `json:"dry_run" doc:"Return the result and change nothing."`
		AllowLarge endpoint.Opt[bool]        `json:"allow_large_change" doc:"Also if fewer than half of the addresses remain."`
	}
}

func (api SeedLists) changeSeeds(ctx context.Context, p auth.Principal, in *changeSeedsRequest) (seedlist.Result, error) {
	if !in.Body.Add.Given() && !in.Body.Remove.Given() {
		return seedlist.Result{}, fault.Input(fault.Field{Path: "add", Message: "add or remove is required"})
	}
	return api.updateSeeds(ctx, p, in.RecordPath, in.SeedFlags, seedlist.Request{
		Kind: seedlist.Changes, Add: entriesOf(in.Body.Add.Value), Remove: in.Body.Remove.Value,
		DryRun: in.Body.DryRun.Or(false), AllowLarge: in.Body.AllowLarge.Or(false),
	})
}

// updateSeeds makes an update. A flag counts in the body and in the query.
func (api SeedLists) updateSeeds(ctx context.Context, p auth.Principal, at wire.RecordPath, flags SeedFlags, r seedlist.Request) (seedlist.Result, error) {
	list, err := wire.RecordID[id.SeedList](at.ID, seedlist.ErrNotFound)
	if err != nil {
		return seedlist.Result{}, err
	}
	r.DryRun = r.DryRun || endpoint.Flag(flags.DryRun)
	r.AllowLarge = r.AllowLarge || endpoint.Flag(flags.AllowLarge)
	r.Changes = endpoint.Flag(flags.IncludeChanges)
	r.RequestedBy = p.Actor()
	return seedlist.Update(ctx, api.db, p.Tenant, list, r, api.now())
}

func entriesOf(seeds []seedEntry) []seedlist.Entry {
	list := make([]seedlist.Entry, len(seeds))
	for i, s := range seeds {
		list[i] = seedlist.Entry{Email: s.Email, Provider: s.Provider.Or("")}
	}
	return list
}

type seedSyncRow struct {
	seedlist.Result
	Kind      seedlist.Kind  `json:"kind" enum:"replace,changes"`
	Actor     auth.Actor     `json:"actor"`
	CreatedAt endpoint.Stamp `json:"created_at"`
}

func (api SeedLists) listSeedSyncs(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.List[seedSyncRow], error) {
	var none endpoint.List[seedSyncRow]
	list, err := wire.RecordID[id.SeedList](in.ID, seedlist.ErrNotFound)
	if err != nil {
		return none, err
	}
	syncs, err := seedlist.History(ctx, api.db, p.Tenant, list)
	if err != nil {
		return none, err
	}
	rows := make([]seedSyncRow, len(syncs))
	for i, s := range syncs {
		rows[i] = seedSyncRow{s.Result, s.Kind, s.Actor, endpoint.At(s.At)}
	}
	return endpoint.Whole(rows), nil
}

// SeedPath is the path of an address of a seed list.
type SeedPath struct {
	wire.RecordPath
	SeedID string `path:"seed_id" as:"text" format:"uuid" doc:"The id of the address."`
}

// applySeedAction returns the handler of an action on a seed.
func (api SeedLists) applySeedAction(a seedlist.Action) func(context.Context, auth.Principal, *SeedPath) (seedRow, error) {
	return func(ctx context.Context, p auth.Principal, in *SeedPath) (seedRow, error) {
		list, err := wire.RecordID[id.SeedList](in.ID, seedlist.ErrNotFound)
		if err != nil {
			return seedRow{}, err
		}
		seed, err := wire.RecordID[id.Seed](in.SeedID, seedlist.ErrNotFound)
		if err != nil {
			return seedRow{}, err
		}
		s, err := a.Apply(ctx, api.db, p.Tenant, list, seed, api.now())
		return rowOfSeed(s), err
	}
}
