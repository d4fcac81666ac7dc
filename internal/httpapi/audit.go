package httpapi

import (
	"context"
	"strconv"
	"time"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// auditAPI serves the audit log.
type auditAPI struct {
	db      *sqldb.DB
	cursors *endpoint.Cursors
}

// register adds the operations on the audit log.
func (api auditAPI) register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/audit-log", endpoint.Op{
		Name:       "listAuditLog",
		Summary:    "List who changed what, newest first.",
		Tag:        "audit log",
		Session:    true,
		Role:       auth.Admin,
		Pagination: "cursor",
		Faults:     []*fault.Error{endpoint.ErrCursor},
	}.Asking("limit=2"), api.listAuditLog)
}

type auditLogRequest struct {
	Limit  string `query:"limit"`
	Cursor string `query:"cursor"`
}

type auditRow struct {
	ID         id.AuditEntry  `json:"id"`
	Actor      auth.Actor     `json:"actor"`
	Action     string         `json:"action"`
	TargetType string         `json:"target_type"`
	TargetID   string         `json:"target_id"`
	Details    any            `json:"details,omitempty" doc:"Of a test: the addresses it went to, and the number of mails."`
	IP         *string        `json:"ip"`
	CreatedAt  endpoint.Stamp `json:"created_at"`
}

func rowOfAudit(e auth.AuditEntry) auditRow {
	row := auditRow{
		ID: e.ID, Actor: e.Actor, Action: e.Action, TargetType: e.TargetType, TargetID: e.TargetID, Details: e.Details,
		CreatedAt: endpoint.At(e.At),
	}
	if e.IP.IsValid() {
		row.IP = new(e.IP.String())
	}
	return row
}

func (api auditAPI) listAuditLog(ctx context.Context, p auth.Principal, in *auditLogRequest) (endpoint.List[auditRow], error) {
	var at time.Time
	var last id.AuditEntry
	if in.Cursor != "" {
		c, err := api.cursors.Decode(in.Cursor, "created_at", "desc")
		if err != nil || c.LastValue == nil {
			return endpoint.List[auditRow]{}, endpoint.ErrCursor
		}
		micros, err := strconv.ParseInt(*c.LastValue, 10, 64)
		if err != nil {
			return endpoint.List[auditRow]{}, endpoint.ErrCursor
		}
		at, last = sqldb.Time(micros), id.Read[id.AuditEntry](c.LastID)
	}
	limit := endpoint.Limit(in.Limit)
	list, err := auth.AuditLog(ctx, api.db, p.Tenant, at, last, limit+1)
	if err != nil {
		return endpoint.List[auditRow]{}, err
	}
	next := ""
	if len(list) > limit {
		list = list[:limit]
		e := list[limit-1]
		next = api.cursors.Encode(endpoint.Cursor{
			Sort: "created_at", Dir: "desc",
			LastValue: new(strconv.FormatInt(e.At.UnixMicro(), 10)), LastID: e.ID.String(),
		})
	}
	rows := make([]auditRow, len(list))
	for i, e := range list {
		rows[i] = rowOfAudit(e)
	}
	return endpoint.Page(rows, next), nil
}
