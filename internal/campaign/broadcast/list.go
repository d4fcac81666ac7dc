package broadcast

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ArchiveFilter selects broadcasts by whether they are archived.
type ArchiveFilter int

// The values of ArchiveFilter.
const (
	Live ArchiveFilter = iota
	LiveAndArchived
	Archived
)

// Filter selects broadcasts of a list. Its zero value selects all that are not archived.
type Filter struct {
	Status   []Status // any of these; empty: all
	Tags     []string // any of these
	Metadata *Containment
	Since    *time.Time // created at or after
	Before   *time.Time // created before
	Archive  ArchiveFilter
	Bodies   bool // load the bodies too
}

// ParseStatuses parses names of statuses.
func ParseStatuses(names []string) ([]Status, error) {
	list := make([]Status, 0, len(names))
	for _, n := range names {
		if !slices.Contains(Statuses(), Status(n)) {
			return nil, ErrStatus.Sayf("status must be a comma list of draft, scheduled, sending, paused, completed, failed, cancelled")
		}
		list = append(list, Status(n))
	}
	return list, nil
}

// List returns the regular broadcasts that match f, newest first.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter) ([]Broadcast, error) {
	if f.Metadata != nil && f.Metadata.never {
		return []Broadcast{}, nil
	}
	var where strings.Builder
	args := []any{tenant}
	and := func(test func(n int) string, arg any) {
		args = append(args, arg)
		where.WriteString(" AND " + test(len(args)))
	}
	if len(f.Status) > 0 {
		and(func(n int) string { return "status" + db.In(n) }, sqldb.List(db, f.Status))
	}
	if len(f.Tags) > 0 {
		and(func(n int) string { return db.AnyElement("tags", n) }, sqldb.List(db, f.Tags))
	}
	if f.Metadata != nil {
		and(func(n int) string { return db.JSONContains("metadata", n) }, f.Metadata.json)
	}
	if f.Since != nil {
		and(func(n int) string { return fmt.Sprintf("created_at >= $%d", n) }, f.Since.UnixMicro())
	}
	if f.Before != nil {
		and(func(n int) string { return fmt.Sprintf("created_at < $%d", n) }, f.Before.UnixMicro())
	}
	switch f.Archive {
	case Live:
		where.WriteString(" AND archived_at IS NULL")
	case Archived:
		where.WriteString(" AND archived_at IS NOT NULL")
	}
	cols := withoutBodies
	if f.Bodies {
		cols = withBodies
	}
	rows, err := db.Query(ctx, `
		SELECT `+cols+` FROM broadcast WHERE tenant_id = $1 AND kind = 'regular'`+where.String()+`
		ORDER BY created_at DESC, id DESC`, args...)
	list, err := sqldb.Collect(rows, err, scanBroadcast)
	if err != nil {
		return nil, fmt.Errorf("list broadcasts: %w", err)
	}
	return list, nil
}

// SendOf is a broadcast and its send.
type SendOf struct {
	Broadcast id.Broadcast
	Send      id.Send
}

// SendsOf returns the broadcasts that exist with their sends, in the order given.
func SendsOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Broadcast) ([]SendOf, error) {
	rows, err := db.Query(ctx, `SELECT id, send_id FROM broadcast WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	list, err := sqldb.Collect(rows, err, scanSendOf)
	if err != nil {
		return nil, fmt.Errorf("load the sends of broadcasts: %w", err)
	}
	slices.SortFunc(list, func(a, b SendOf) int {
		return cmp.Compare(slices.Index(ids, a.Broadcast), slices.Index(ids, b.Broadcast))
	})
	return list, nil
}

// NewestSent returns up to limit regular broadcasts that have sent a message and are not archived,
// the newest first.
func NewestSent(ctx context.Context, db *sqldb.DB, tenant id.Tenant, limit int) ([]SendOf, error) {
	rows, err := db.Query(ctx, `
		SELECT b.id, b.send_id FROM broadcast AS b JOIN send AS s ON s.tenant_id = b.tenant_id AND s.id = b.send_id
		WHERE b.tenant_id = $1 AND s.tenant_id = $1 AND b.kind = 'regular' AND b.archived_at IS NULL AND s.last_send_at IS NOT NULL
		ORDER BY b.created_at DESC, b.id DESC LIMIT $2`, tenant, limit)
	list, err := sqldb.Collect(rows, err, scanSendOf)
	if err != nil {
		return nil, fmt.Errorf("list the newest broadcasts that have sent: %w", err)
	}
	return list, nil
}

func scanSendOf(scan func(...any) error) (s SendOf, err error) {
	err = scan(&s.Broadcast, &s.Send)
	return s, err
}

// Names returns the names of broadcasts, by id; missing ones are left out.
func Names(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Broadcast) (map[id.Broadcast]string, error) {
	names := make(map[id.Broadcast]string, len(ids))
	if len(ids) == 0 {
		return names, nil
	}
	rows, err := db.Query(ctx, `SELECT id, name FROM broadcast WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (b id.Broadcast, err error) {
		var name string
		err = scan(&b, &name)
		names[b] = name
		return b, err
	})
	if err != nil {
		return nil, fmt.Errorf("load the names of broadcasts: %w", err)
	}
	return names, nil
}

// Title is what a search compares of a broadcast.
type Title struct {
	ID       id.Broadcast
	Name     string
	Subject  string
	Status   Status
	Archived bool
}

// Titles returns the titles of the newest regular broadcasts.
func Titles(ctx context.Context, db *sqldb.DB, tenant id.Tenant, limit int) ([]Title, error) {
	rows, err := db.Query(ctx, `
		SELECT id, name, COALESCE(subject, ''), status, archived_at IS NOT NULL FROM broadcast WHERE tenant_id = $1 AND kind = 'regular'
		ORDER BY created_at DESC, id DESC LIMIT $2`, tenant, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (t Title, err error) {
		err = scan(&t.ID, &t.Name, &t.Subject, &t.Status, &t.Archived)
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("list the titles of broadcasts: %w", err)
	}
	return list, nil
}
