package auth

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// auditAge is the retention of the audit log.
const auditAge = 400 * 24 * time.Hour

// By is the author of a change, with the client's address.
type By struct {
	Actor Actor
	IP    netip.Addr
}

// BySystem is the author of changes by the program, or by its operator on the command line.
var BySystem = By{Actor: System}

// By returns the caller as the author of changes.
func (p Principal) By() By { return By{Actor: p.Actor(), IP: p.IP} }

// AuditEntry records one change and its author.
type AuditEntry struct {
	Tenant     id.Tenant
	ID         id.AuditEntry // set by Audit if zero
	Actor      Actor
	Action     string // such as api_key.create
	TargetType string // such as api_key
	TargetID   string
	Details    any           // nil, or encodes to a JSON object
	Changes    []AuditChange // of an update
	IP         netip.Addr
	At         time.Time
}

// Did returns the entry for an action of by on a target.
func (by By) Did(tenant id.Tenant, action, targetType, targetID string, now time.Time) AuditEntry {
	return AuditEntry{Tenant: tenant, Actor: by.Actor, Action: action, TargetType: targetType, TargetID: targetID, IP: by.IP, At: now}
}

// Did returns the entry for an action of p on a target.
func (p Principal) Did(action, targetType, targetID string, now time.Time) AuditEntry {
	return p.By().Did(p.Tenant, action, targetType, targetID, now)
}

// Audit inserts an entry, in the transaction that makes the change.
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
	var changes any
	if len(e.Changes) > 0 {
		text, err := json.Marshal(e.Changes)
		if err != nil {
			return fmt.Errorf("audit %s: %w", e.Action, err)
		}
		changes = string(text)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO audit (tenant_id, id, actor_type, actor_id, actor_name, action, target_type, target_id, details, changes, ip, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		e.Tenant, e.ID, e.Actor.Type, e.Actor.ID, e.Actor.Name, e.Action, e.TargetType, e.TargetID, details, changes, ip, e.At.UnixMicro())
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	return nil
}

// AuditFilter selects entries. Each field that is set must match.
type AuditFilter struct {
	ActorType  string    `json:"actor_type,omitempty"` // api_key, user or system
	ActorID    string    `json:"actor_id,omitempty"`
	Action     string    `json:"action,omitempty"` // an action, or the part of actions before the dot, such as api_key
	TargetType string    `json:"target_type,omitempty"`
	TargetID   string    `json:"target_id,omitempty"`
	Since      time.Time `json:"since,omitzero"`  // entries of this time and later
	Before     time.Time `json:"before,omitzero"` // earlier entries
}

// where returns the conditions of the filter on the columns of audit, each after AND, and their values. The
// first value is parameter $n.
func (f AuditFilter) where(n int) (conditions string, args []any) {
	add := func(condition string, value any) {
		conditions += " AND " + strings.ReplaceAll(condition, "?", "$"+strconv.Itoa(n+len(args)))
		args = append(args, value)
	}
	for _, c := range []struct{ column, value string }{
		{"actor_type", f.ActorType}, {"actor_id", f.ActorID}, {"target_type", f.TargetType}, {"target_id", f.TargetID},
	} {
		if c.value != "" {
			add(c.column+" = ?", c.value)
		}
	}
	if strings.Contains(f.Action, ".") {
		add("action = ?", f.Action)
	} else if f.Action != "" { // also an action without a dot, such as login
		// Numbers of characters are the same on all databases; LIKE is not, and "_" has a meaning in it.
		add("substr(action || '.', 1, "+strconv.Itoa(utf8.RuneCountInString(f.Action)+1)+") = ?", f.Action+".")
	}
	if !f.Since.IsZero() {
		add("created_at >= ?", f.Since.UnixMicro())
	}
	if !f.Before.IsZero() {
		add("created_at < ?", f.Before.UnixMicro())
	}
	return conditions, args
}

// CountAuditLog returns how many entries match the filter.
func CountAuditLog(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f AuditFilter) (n int, err error) {
	where, args := f.where(2)
	if err := db.QueryRow(ctx, `SELECT COUNT(*) FROM audit WHERE tenant_id = $1`+where, append([]any{tenant}, args...)...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count entries of the audit log: %w", err)
	}
	return n, nil
}

// AuditLog returns up to n entries that match the filter before the given one, newest first; a zero time begins
// at the newest.
func AuditLog(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f AuditFilter, olderThan time.Time, last id.AuditEntry, n int) ([]AuditEntry, error) {
	at := int64(1<<63 - 1)
	if !olderThan.IsZero() {
		at = olderThan.UnixMicro()
	}
	where, args := f.where(5)
	rows, err := db.Query(ctx, `
		SELECT id, actor_type, actor_id, actor_name, action, target_type, target_id, details, changes, ip, created_at FROM audit
		WHERE tenant_id = $1 AND (created_at, id) < ($2, $3)`+where+`
		ORDER BY created_at DESC, id DESC LIMIT $4`, append([]any{tenant, at, last, n}, args...)...)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (AuditEntry, error) {
		e := AuditEntry{Tenant: tenant}
		var details, changes, ip sql.NullString
		var at int64
		if err := scan(&e.ID, &e.Actor.Type, &e.Actor.ID, &e.Actor.Name, &e.Action, &e.TargetType, &e.TargetID, &details, &changes, &ip, &at); err != nil {
			return e, err
		}
		if details.Valid {
			e.Details = json.RawMessage(details.String)
		}
		if changes.Valid {
			if err := json.Unmarshal([]byte(changes.String), &e.Changes); err != nil {
				return e, fmt.Errorf("changes of entry %s: %w", e.ID, err)
			}
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
