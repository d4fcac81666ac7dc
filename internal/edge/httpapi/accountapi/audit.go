package accountapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/named"
)

// AuditLog serves the audit log.
type AuditLog struct {
	db      *sqldb.DB
	cursors *endpoint.Cursors
	now     func() time.Time
}

// NewAuditLog returns the operations on the audit log.
func NewAuditLog(e wire.Env) AuditLog { return AuditLog{db: e.DB, cursors: e.Cursors, now: e.Now} }

// Register adds the operations on the audit log.
func (api AuditLog) Register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/audit-log", endpoint.Op{
		Name:        "listAuditLog",
		Summary:     "List the entries of the audit log, newest first.",
		Description: "Without parameters, all. Several parameters must all match; a cursor goes with those that it was given for.",
		Tag:         "audit log",
		Session:     true,
		Role:        auth.Admin,
		Pagination:  "cursor",
		Faults:      []*fault.Error{endpoint.ErrCursor},
	}.ExampleQuery("action=api_key&limit=2"), api.listAuditLog, checkAuditLog)
	endpoint.Handle(r, "POST /t/{tenant}/api/audit-log/export", endpoint.Op{
		Name: "exportAuditLog", Summary: "Export entries of the audit log to a file, in a job.",
		Description: "The entries are those that listAuditLog returns with the same parameters, in its order, without any that come later. " +
			"The columns of a CSV file are the fields of an entry, details and changes in JSON. The file is at GET /jobs/{id}/download, for admins.",
		Tag: "audit log", Session: true, Role: auth.Admin, Status: http.StatusAccepted,
		Faults: []*fault.Error{job.ErrLimit},
	}.ExampleBody(`{"action": "api_key", "since": "2026-01-01T00:00:00Z", "format": "csv"}`).Once(), wire.Once(api, api.db, AuditLog.exportAuditLog), checkExportAuditLog)
}

// On returns the operations on another handle.
func (api AuditLog) On(db *sqldb.DB) AuditLog { api.db = db; return api }

type auditLogRequest struct {
	ActorType  string `query:"actor_type" as:"text" enum:"user,api_key,system" doc:"Who."`
	ActorID    string `query:"actor_id" doc:"Who: the id of a user or an API key."`
	Action     string `query:"action" doc:"What: an action such as api_key.create, or the part before the dot for all actions of a kind."`
	TargetType string `query:"target_type" doc:"On what: the type of a record, such as contact."`
	TargetID   string `query:"target_id" doc:"On what: the id of a record."`
	Since      string `query:"since" as:"text" format:"date-time" doc:"When: at this time or later. A date alone is its first moment in UTC."`
	Before     string `query:"before" as:"text" format:"date-time" doc:"When: before this time. A date alone is its first moment in UTC."`
	endpoint.CursorQuery
}

// filter returns what the query selects.
func (in *auditLogRequest) filter() (auth.AuditFilter, error) {
	return auditFilter(auth.AuditFilter{ActorType: in.ActorType, ActorID: in.ActorID, Action: in.Action, TargetType: in.TargetType, TargetID: in.TargetID}, in.Since, in.Before)
}

// auditFilter checks a filter and adds its times.
func auditFilter(f auth.AuditFilter, since, before string) (auth.AuditFilter, error) {
	var bad fault.Problems
	if !slices.Contains([]string{"", "user", "api_key", "system"}, f.ActorType) {
		bad.Add("actor_type", "must be user, api_key or system")
	}
	if t := wire.QueryTime(&bad, "since", since); t != nil {
		f.Since = *t
	}
	if t := wire.QueryTime(&bad, "before", before); t != nil {
		f.Before = *t
	}
	return f, bad.Err()
}

func checkAuditLog(_ auth.Principal, in *auditLogRequest) error {
	_, err := in.filter()
	return err
}

type auditRow struct {
	ID         id.AuditEntry      `json:"id"`
	Actor      auth.Actor         `json:"actor"`
	Action     string             `json:"action"`
	TargetType string             `json:"target_type"`
	TargetID   string             `json:"target_id"`
	TargetName *string            `json:"target_name" doc:"The name or address that the record has now. Null: it has none, or is gone."`
	Details    any                `json:"details,omitempty" doc:"Of a test: the addresses it went to, the number of mails and, of a connection alone, its server."`
	Changes    []auth.AuditChange `json:"changes" doc:"Of an update, the fields whose values it changed, at most 60, with dots for fields of objects. Secrets have no values. If a value has more than 500 characters, before and after are the parts that differ, as texts of at most 500 characters, and length has the characters of the whole values. Of the rules of segments, automations and sequences email addresses are left out."`
	IP         *string            `json:"ip"`
	CreatedAt  endpoint.Stamp     `json:"created_at"`
}

func (api AuditLog) listAuditLog(ctx context.Context, p auth.Principal, in *auditLogRequest) (endpoint.List[auditRow], error) {
	f, err := in.filter()
	if err != nil {
		return endpoint.List[auditRow]{}, err
	}
	var after wire.TimePosition[id.AuditEntry]
	if in.Cursor != "" {
		if after, err = wire.DecodeTimePosition[id.AuditEntry](api.cursors, in.Cursor, "created_at"); err != nil {
			return endpoint.List[auditRow]{}, err
		}
	}
	limit := endpoint.Limit(in.Limit)
	list, err := auth.AuditLog(ctx, api.db, p.Tenant, f, after.At, after.ID, limit+1)
	if err != nil {
		return endpoint.List[auditRow]{}, err
	}
	next := ""
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1]
		next = wire.TimePosition[id.AuditEntry]{At: last.At, ID: last.ID}.Encode(api.cursors, "created_at")
	}
	rows, err := api.rows(ctx, p.Tenant, list)
	if err != nil {
		return endpoint.List[auditRow]{}, err
	}
	return endpoint.Page(rows, next), nil
}

// rows returns the rows of entries, with the names of their records.
func (api AuditLog) rows(ctx context.Context, t id.Tenant, list []auth.AuditEntry) ([]auditRow, error) {
	targets := make([]named.Record, len(list))
	for i, e := range list {
		targets[i] = named.Record{Type: e.TargetType, ID: e.TargetID}
	}
	names, err := named.Names(ctx, api.db, t, targets, api.now())
	if err != nil {
		return nil, err
	}
	rows := make([]auditRow, len(list))
	for i, e := range list {
		rows[i] = rowOfAudit(e, names[targets[i]])
	}
	return rows, nil
}

func rowOfAudit(e auth.AuditEntry, name string) auditRow {
	row := auditRow{
		ID: e.ID, Actor: e.Actor, Action: e.Action, TargetType: e.TargetType, TargetID: e.TargetID, TargetName: optional.Pointer(name), Details: e.Details, Changes: optional.List(e.Changes),
		CreatedAt: endpoint.At(e.At),
	}
	if e.IP.IsValid() {
		row.IP = new(e.IP.String())
	}
	return row
}

type exportAuditLogRequest struct {
	Body struct {
		Format     transfer.FileFormat `json:"format,omitempty" enum:"csv,ndjson" doc:"csv when absent."`
		BOM        bool                `json:"bom,omitempty" doc:"Whether a CSV file begins with a byte order mark, by which Excel knows UTF-8."`
		ActorType  string              `json:"actor_type,omitempty" enum:"user,api_key,system" doc:"Who."`
		ActorID    string              `json:"actor_id,omitempty" doc:"Who: the id of a user or an API key."`
		Action     string              `json:"action,omitempty" doc:"What, as in listAuditLog."`
		TargetType string              `json:"target_type,omitempty" doc:"On what: the type of a record, such as contact."`
		TargetID   string              `json:"target_id,omitempty" doc:"On what: the id of a record."`
		Since      string              `json:"since,omitempty" format:"date-time" doc:"When: at this time or later."`
		Before     string              `json:"before,omitempty" format:"date-time" doc:"When: before this time."`
	}
}

func (in *exportAuditLogRequest) filter() (auth.AuditFilter, error) {
	b := in.Body
	return auditFilter(auth.AuditFilter{ActorType: b.ActorType, ActorID: b.ActorID, Action: b.Action, TargetType: b.TargetType, TargetID: b.TargetID}, b.Since, b.Before)
}

func checkExportAuditLog(_ auth.Principal, in *exportAuditLogRequest) error {
	_, err := in.filter()
	return err
}

func (api AuditLog) exportAuditLog(ctx context.Context, p auth.Principal, in *exportAuditLogRequest) (wire.Accepted, error) {
	f, err := in.filter()
	if err != nil {
		return wire.Accepted{}, err
	}
	j, err := transfer.StartAuditExport(ctx, api.db, p.Tenant, transfer.AuditExport{Filter: f, Format: in.Body.Format, BOM: in.Body.BOM}, p.Actor(), api.now())
	return wire.Accepted{JobID: j.ID}, err
}

// Encode encodes entries for exports, as in lists.
func (api AuditLog) Encode(ctx context.Context, t id.Tenant, list []auth.AuditEntry) ([][]byte, error) {
	rows, err := api.rows(ctx, t, list)
	if err != nil {
		return nil, err
	}
	docs := make([][]byte, len(rows))
	for i := range rows {
		if docs[i], err = json.Marshal(rows[i]); err != nil {
			return nil, err
		}
	}
	return docs, nil
}
