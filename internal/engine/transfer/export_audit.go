package transfer

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// AuditLog is the subject of exports of the audit log.
const AuditLog Subject = "audit_log"

// AuditExport is a request for a file of the entries of the audit log that a filter selects.
type AuditExport struct {
	Filter auth.AuditFilter `json:"filter"`
	Format FileFormat       `json:"format"`        // empty: CSV
	BOM    bool             `json:"bom,omitempty"` // as in ExportRequest
}

// auditFields are the columns of CSV files.
var auditFields = []string{
	"id", "created_at", "actor.type", "actor.id", "actor.name", "ip", "action", "target_type", "target_id", "target_name", "details", "changes",
}

// StartAuditExport validates a request and queues the job, whose file only admins can download.
func StartAuditExport(ctx context.Context, db *sqldb.DB, tenant id.Tenant, r AuditExport, by auth.Actor, now time.Time) (job.Job, error) {
	var p problems
	if r.Format == "" {
		r.Format = CSV
	}
	if mediaTypes[r.Format] == "" {
		p.Add("format", "must be csv or ndjson")
	}
	if err := p.err(); err != nil {
		return job.Job{}, err
	}
	if r.Filter.Before.IsZero() || r.Filter.Before.After(now) {
		r.Filter.Before = now.Add(time.Microsecond) // later entries would come while the file is written
	}
	return job.Create(ctx, db, job.Draft{
		Tenant: tenant, Kind: job.Export, Title: "Export of the audit log", Scope: auth.AdminsOnly, Params: exportParams{Audit: &r}, By: by,
	}, now)
}

// fields are the columns of the file; none: whole objects.
func (r AuditExport) fields() []string {
	if r.Format == NDJSON {
		return nil
	}
	return auditFields
}

// auditEntries are the entries of the audit log that an export writes, newest first.
type auditEntries struct {
	*job.Work
	filter auth.AuditFilter
	Exporter
}

// auditPosition is a place in the audit log: behind an entry.
type auditPosition struct {
	At time.Time     `json:"at"`
	ID id.AuditEntry `json:"id"`
}

func (l auditEntries) count(ctx context.Context) (int, error) {
	return auth.CountAuditLog(ctx, l.DB, l.Job.Tenant, l.filter)
}

func (l auditEntries) next(ctx context.Context, at *written) ([][]byte, error) {
	var from auditPosition
	if at.Entry != nil {
		from = *at.Entry
	}
	list, err := auth.AuditLog(ctx, l.DB, l.Job.Tenant, l.filter, from.At, from.ID, exportPage)
	if err != nil {
		return nil, err
	}
	at.Done = len(list) < exportPage
	if len(list) > 0 {
		last := list[len(list)-1]
		at.Entry = &auditPosition{last.At, last.ID}
	}
	return l.Audit(ctx, l.Job.Tenant, list)
}
