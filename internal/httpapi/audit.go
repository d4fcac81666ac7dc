package httpapi

import (
	"context"

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
		Summary:    "List the entries of the audit log, newest first.",
		Tag:        "audit log",
		Session:    true,
		Role:       auth.Admin,
		Pagination: "cursor",
		Faults:     []*fault.Error{endpoint.ErrCursor},
	}.ExampleQuery("limit=2"), api.listAuditLog)
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

func (api auditAPI) listAuditLog(ctx context.Context, p auth.Principal, in *auditLogRequest) (endpoint.List[auditRow], error) {
	var after timePosition[id.AuditEntry]
	if in.Cursor != "" {
		var err error
		if after, err = decodeTimePosition[id.AuditEntry](api.cursors, in.Cursor, "created_at"); err != nil {
			return endpoint.List[auditRow]{}, err
		}
	}
	limit := endpoint.Limit(in.Limit)
	list, err := auth.AuditLog(ctx, api.db, p.Tenant, after.at, after.id, limit+1)
	if err != nil {
		return endpoint.List[auditRow]{}, err
	}
	next := ""
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1]
		next = timePosition[id.AuditEntry]{last.At, last.ID}.encode(api.cursors, "created_at")
	}
	rows := make([]auditRow, len(list))
	for i, e := range list {
		rows[i] = rowOfAudit(e)
	}
	return endpoint.Page(rows, next), nil
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
