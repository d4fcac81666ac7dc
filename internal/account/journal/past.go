package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Past selects entries of a type by when they occurred.
type Past struct {
	Type   Type
	Name   string // empty: any
	From   time.Time
	Before time.Time
}

// Read calls each for pages of a tenant's entries, in the order in which they occurred, until it returns false. A page has
// about limit entries.
func (p Past) Read(ctx context.Context, db *sqldb.DB, tenant id.Tenant, limit int, each func([]Entry) (bool, error)) error {
	at, pos := p.From.UnixMicro(), int64(-1)
	for {
		list, rows, err := p.page(ctx, db, tenant, &at, &pos, limit)
		if err != nil {
			return fmt.Errorf("read past entries: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		if more, err := each(list); err != nil || !more || rows < limit {
			return err
		}
	}
}

// page returns the entries of the rows after a time and a position, which it moves on.
func (p Past) page(ctx context.Context, db *sqldb.DB, tenant id.Tenant, at, pos *int64, limit int) (list []Entry, n int, err error) {
	inGroup, args := InGroup(db, tenant, tenant, string(p.Type), *at, p.Before.UnixMicro(), *pos, limit)
	named := ""
	if p.Name != "" {
		args = append(args, p.Name)
		named = fmt.Sprintf(` AND name = $%d`, len(args))
	}
	rows, err := db.Query(ctx, `
		SELECT tenant_id, pos, `+columns+`, packed FROM journal
		WHERE tenant_id = $1`+inGroup+` AND type = $2`+named+` AND occurred_at >= $3 AND occurred_at < $4 AND (occurred_at, pos) > ($3, $5)
		ORDER BY occurred_at, pos LIMIT $6`, args...)
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var packed []byte
		e, err := scan(row, &packed)
		if err != nil {
			return err
		}
		n, *at, *pos = n+1, e.At.UnixMicro(), e.Position
		if packed == nil {
			list = append(list, e)
		} else {
			list = unpacked(list, e, packed)
		}
		return nil
	})
	return list, n, err
}
