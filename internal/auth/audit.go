package auth

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// auditAge is how long the audit log is kept.
const auditAge = 400 * 24 * time.Hour

// By is who does something, and from where.
type By struct {
	Actor Actor
	IP    netip.Addr
}

// BySystem is what the program, or its operator on the command line, does.
var BySystem = By{Actor: System}

// By returns the caller as the author of what it does.
func (p Principal) By() By { return By{Actor: p.Actor(), IP: p.IP} }

// AuditEntry is one change that someone made, for those who must know who did.
type AuditEntry struct {
	Tenant     id.Tenant
	ID         id.AuditEntry // made by Audit when empty
	Actor      Actor
	Action     string // such as api_key.create
	TargetType string // such as api_key
	TargetID   string
	Details    any // nil, or what encodes to a JSON object
	IP         netip.Addr
	At         time.Time
}

// Did returns the entry that says that by did action to a target.
func (by By) Did(tenant id.Tenant, action, targetType, targetID string, now time.Time) AuditEntry {
	return AuditEntry{Tenant: tenant, Actor: by.Actor, Action: action, TargetType: targetType, TargetID: targetID, IP: by.IP, At: now}
}

// Did returns the entry that says that p did action to a target.
func (p Principal) Did(action, targetType, targetID string, now time.Time) AuditEntry {
	return p.By().Did(p.Tenant, action, targetType, targetID, now)
}

// Audit writes an entry. It is called inside the transaction that makes it true.
func Audit(ctx context.Context, tx *sqldb.DB, e AuditEntry) error {
	if e.ID.IsZero() {
		e.ID = id.New[id.AuditEntry]()
	}
	var ip any
	if e.IP.IsValid() {
		ip = e.IP.String()
	}
	var details any
	if e.Details != nil {
		text, err := json.Marshal(e.Details)
		if err != nil {
			return fmt.Errorf("audit %s: %w", e.Action, err)
		}
		details = string(text)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO audit (tenant_id, id, actor_type, actor_id, actor_name, action, target_type, target_id, details, ip, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		e.Tenant, e.ID, e.Actor.Type, e.Actor.ID, e.Actor.Name, e.Action, e.TargetType, e.TargetID, details, ip, e.At.UnixMicro())
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	return nil
}

// AuditLog returns up to n entries, newest first, that are older than the given
// one; a zero time begins at the newest.
func AuditLog(ctx context.Context, db *sqldb.DB, tenant id.Tenant, olderThan time.Time, last id.AuditEntry, n int) ([]AuditEntry, error) {
	at := int64(1<<63 - 1)
	if !olderThan.IsZero() {
		at = olderThan.UnixMicro()
	}
	rows, err := db.Query(ctx, `
		SELECT id, actor_type, actor_id, actor_name, action, target_type, target_id, details, ip, created_at FROM audit
		WHERE tenant_id = $1 AND (created_at, id) < ($2, $3)
		ORDER BY created_at DESC, id DESC LIMIT $4`, tenant, at, last, n)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (AuditEntry, error) {
		e := AuditEntry{Tenant: tenant}
		var details, ip sql.NullString
		var at int64
		if err := scan(&e.ID, &e.Actor.Type, &e.Actor.ID, &e.Actor.Name, &e.Action, &e.TargetType, &e.TargetID, &details, &ip, &at); err != nil {
			return e, err
		}
		if details.Valid {
			e.Details = json.RawMessage(details.String)
		}
		if ip.Valid {
			e.IP, _ = netip.ParseAddr(ip.String)
		}
		e.At = sqldb.Time(at)
		return e, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return list, nil
}
