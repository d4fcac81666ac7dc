// Package campaignapi has the operations on what sends mail or reacts to events: broadcasts with their
// recipients and reports, sequences with their enrollments, and automations. Webhook endpoints, which
// belong to the account, are in accountapi.
package campaignapi

import (
	"context"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/recipient"
	"github.com/packetboat/packetboat/internal/view/report"
)

// Broadcasts serves broadcasts, their recipients and their reports.
type Broadcasts struct {
	db      *sqldb.DB
	cursors *endpoint.Cursors
	mjml    *mjml.Compiler
	now     func() time.Time
	tester  wire.Tester

	summaries *report.Summaries
	evidence  *recipient.Reader
	network   func(ip string) string // describes the network of an address

	forecaster *dispatch.Forecaster
}

// BroadcastOptions are what broadcasts need beside the environment.
type BroadcastOptions struct {
	MJML       *mjml.Compiler
	Tester     wire.Tester
	Summaries  *report.Summaries
	Evidence   *recipient.Reader
	Network    func(ip string) string // describes the network of an address
	Forecaster *dispatch.Forecaster
}

// NewBroadcasts returns the operations on broadcasts, their recipients and their reports.
func NewBroadcasts(e wire.Env, o BroadcastOptions) Broadcasts {
	return Broadcasts{
		db: e.DB, cursors: e.Cursors, mjml: o.MJML, now: e.Now, tester: o.Tester,
		summaries: o.Summaries, evidence: o.Evidence, network: o.Network, forecaster: o.Forecaster,
	}
}

// On returns the operations on another handle.
func (api Broadcasts) On(db *sqldb.DB) Broadcasts { api.db = db; return api }

// Register adds the operations on broadcasts, their recipients and their reports.
func (api Broadcasts) Register(r *endpoint.Router) {
	api.recipients(r)
	api.recipient(r)
	api.export(r)
	api.reports(r)
	op := func(name, summary string, scope auth.Scope, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "broadcasts", Scope: scope, Faults: faults}
	}
	list := op("listBroadcasts", "List broadcasts, newest first.", auth.BroadcastsRead, broadcast.ErrStatus, broadcast.ErrMetadataFind)
	list.Description = "Rows are lean unless full=true: they have has_* flags in place of bodies, and the ids of variants. Archived broadcasts are left out unless archived requests them."
	endpoint.Handle(r, "GET /t/{tenant}/api/broadcasts", list, api.ListBroadcasts)
	endpoint.Handle(r, "GET /t/{tenant}/api/broadcasts/{broadcast_id}",
		op("getBroadcast", "Get a broadcast with its progress and available actions.", auth.BroadcastsRead, broadcast.ErrNotFound).Revised(broadcast.Revisions), api.getBroadcast)

	create := op("createBroadcast", "Create a draft broadcast; nothing is sent.", auth.BroadcastsWrite, writeFaults...)
	create.Status, create.MaxBody, create.Idempotent, create.FieldFaults = http.StatusCreated, 5*endpoint.Megabyte, true, broadcastFieldFaults
	create.Revisions = broadcast.Revisions
	endpoint.Handle(r, "POST /t/{tenant}/api/broadcasts", create.ExampleBody(`{"name": "Spring news", "email_type_key": "newsletter", "include_segment_keys": ["$SEGMENT_KEY"], "scheduled_at": "2030-03-01T09:30:00Z", "content": {"subject": "Hello {{ contact.first_name | default: 'reader' }}", "body_html": "<p>Our <a href=\"https://www.example.com/news\">news</a> for spring.</p>"}}`), api.createBroadcast, checkNewBroadcast)
	update := op("updateBroadcast", "Update a draft; absent fields keep their values.", auth.BroadcastsWrite, append(writeFaults, broadcast.ErrNotFound, broadcast.ErrNotDraft)...).IfMatch(broadcast.Revisions)
	update.MaxBody, update.FieldFaults = 5*endpoint.Megabyte, broadcastFieldFaults
	endpoint.Handle(r, "PUT /t/{tenant}/api/broadcasts/{broadcast_id}", update.ExampleBody(`{"name": "Spring news, second draft", "tags": ["spring"], "scheduled_at": "2030-03-02T09:30:00Z"}`), api.updateBroadcast, checkBroadcast)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/broadcasts/{broadcast_id}",
		op("deleteBroadcast", "Delete a draft permanently.", auth.BroadcastsWrite, broadcast.ErrNotFound, broadcast.ErrNotDraft).IfMatch(broadcast.Revisions), api.deleteBroadcast)

	clone := op("cloneBroadcast", "Clone a broadcast into a new draft, without scheduled_at.", auth.BroadcastsWrite, broadcast.ErrNotFound).Once().Revised(broadcast.Revisions)
	clone.Status = http.StatusCreated
	clone.Description = "Possible in every status. The content is copied and not rendered again; references to deleted records are left out."
	endpoint.Handle(r, "POST /t/{tenant}/api/broadcasts/{broadcast_id}/clone", clone.ExampleBody(`{"name": "Summer news"}`), api.cloneBroadcast)
	endpoint.Handle(r, "POST /t/{tenant}/api/broadcasts/bulk-archive",
		op("bulkArchiveBroadcasts", "Archive up to 100 ended broadcasts; the answer lists those that were skipped.", auth.BroadcastsWrite).Once().ExampleBody(`{"ids": ["$BROADCAST_ID"]}`), wire.Once(api, api.db, Broadcasts.archiveBroadcasts))

	move := func(name, path, summary string, scope auth.Scope, do transition, faults ...*fault.Error) {
		endpoint.Handle(r, "POST /t/{tenant}/api/broadcasts/{broadcast_id}/"+path,
			op(name, summary, scope, append(faults, broadcast.ErrNotFound, broadcast.ErrTransition)...).IfMatch(broadcast.Revisions), api.changeStatus(do))
	}
	move("scheduleBroadcast", "schedule", "Schedule a draft, if all guards pass.", auth.BroadcastsSchedule, broadcast.Schedule,
		broadcast.ErrNoSegment, broadcast.ErrEmailType, broadcast.ErrNoMTA, content.ErrNoContent, content.ErrLiquid, broadcast.ErrNoIdentity)
	move("unscheduleBroadcast", "unschedule", "Make a scheduled broadcast a draft again.", auth.BroadcastsSchedule, broadcast.Unschedule)
	move("pauseBroadcast", "pause", "Pause a send.", auth.BroadcastsSchedule, pauseByUser)
	move("resumeBroadcast", "resume", "Resume a paused send.", auth.BroadcastsSchedule, broadcast.Resume, broadcast.ErrCauseActive)
	move("cancelBroadcast", "cancel", "Cancel a broadcast; messages that were sent cannot be recalled.", auth.BroadcastsSchedule, broadcast.Cancel)
	reschedule := op("rescheduleBroadcast", "Replace the days that a spread send skips.", auth.BroadcastsSchedule,
		broadcast.ErrNotFound, broadcast.ErrNotSending, broadcast.ErrNoPlan, broadcast.ErrSkip).IfMatch(broadcast.Revisions)
	reschedule.Strict = true
	reschedule.Description = "Messages that are not due yet are planned again over the remaining days. Only future days can be added; days that are in the list already may stay."
	endpoint.Handle(r, "POST /t/{tenant}/api/broadcasts/{broadcast_id}/reschedule", reschedule.ExampleBody(`{"skipped_dates": ["2030-03-02"]}`), api.rescheduleBroadcast)
	api.testSend(r)
	api.forecast(r)
	move("archiveBroadcast", "archive", "Hide an ended broadcast from lists.", auth.BroadcastsWrite, broadcast.Archive)
	move("unarchiveBroadcast", "unarchive", "Show an archived broadcast in lists again.", auth.BroadcastsWrite, broadcast.Unarchive)
}

type listBroadcastsRequest struct {
	Status   string `query:"status" as:"list" enum:"draft,scheduled,sending,paused,completed,failed,cancelled" doc:"With any of these statuses; all when absent."`
	Tags     string `query:"tags" as:"list" doc:"With any of these tags."`
	Metadata string `query:"metadata" doc:"A JSON object that the metadata must contain."`
	Since    string `query:"since" as:"text" format:"date-time" doc:"Created at this time or later. A date alone is its first moment in UTC."`
	Before   string `query:"before" as:"text" format:"date-time" doc:"Created before this time. A date alone is its first moment in UTC."`
	Full     string `query:"full" as:"boolean" default:"false" doc:"true: complete rows."`
	Archived string `query:"archived" as:"text" enum:"true,only" doc:"true: include archived broadcasts; only: list only these."`
}

func (api Broadcasts) ListBroadcasts(ctx context.Context, p auth.Principal, in *listBroadcastsRequest) (endpoint.List[BroadcastRow], error) {
	var none endpoint.List[BroadcastRow]
	f, err := in.parse()
	if err != nil {
		return none, err
	}
	list, err := broadcast.List(ctx, api.db, p.Tenant, f)
	if err != nil {
		return none, err
	}
	names, err := api.namesFor(ctx, p.Tenant, list...)
	if err != nil {
		return none, err
	}
	rows := make([]BroadcastRow, len(list))
	for i, b := range list {
		if f.Bodies {
			rows[i].full = new(wire.FormFor(p, func() FullBroadcast { return names.full(b) }, func() FullSession { return names.fullSession(b) }))
		} else {
			rows[i].lean = new(wire.FormFor(p, func() LeanBroadcast { return names.lean(b) }, func() leanSession { return names.leanSession(b) }))
		}
	}
	return endpoint.Whole(rows), nil
}

// parse parses the query.
func (in *listBroadcastsRequest) parse() (broadcast.Filter, error) {
	var p fault.Problems
	f := broadcast.Filter{
		Tags: endpoint.CommaList(in.Tags), Bodies: endpoint.Flag(in.Full),
		Since: wire.QueryTime(&p, "since", in.Since), Before: wire.QueryTime(&p, "before", in.Before),
	}
	switch in.Archived {
	case "":
	case "true":
		f.Archive = broadcast.LiveAndArchived
	case "only":
		f.Archive = broadcast.Archived
	default:
		p.Add("archived", "must be true or only, or left out")
	}
	var err error
	if f.Status, err = broadcast.ParseStatuses(endpoint.CommaList(in.Status)); err != nil {
		return f, err
	}
	if in.Metadata != "" {
		c, err := broadcast.ParseContainment(in.Metadata)
		if err != nil {
			return f, err
		}
		f.Metadata = &c
	}
	return f, p.Err()
}

type getBroadcastRequest struct {
	broadcastPath
	Embed string `query:"embed" enum:"none,draft" doc:"none: the bodies of the content are null, and variants and the answer have no bodies and no recipients; draft: the same, unless it is a draft."`
}

func (api Broadcasts) getBroadcast(ctx context.Context, p auth.Principal, in *getBroadcastRequest) (broadcastAnswer, error) {
	b, err := api.broadcastAt(ctx, p, in.ID)
	if err != nil {
		return broadcastAnswer{}, err
	}
	if in.Embed == "none" || in.Embed == "draft" && b.Status != broadcast.Draft {
		return api.showBroadcast(ctx, p, b, withoutEmbedded)
	}
	return api.viewBroadcast(ctx, p, b)
}
