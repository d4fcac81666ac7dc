package outage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Evaluate opens and ends outages, and returns those that it changed. One process at a time calls it.
func Evaluate(ctx context.Context, db *sqldb.DB, now time.Time) ([]Outage, error) {
	open, from, err := known(ctx, db, now)
	if err != nil {
		return nil, err
	}
	traffic, err := suspects(ctx, db, slices.Collect(maps.Keys(open)), now)
	if err != nil {
		return nil, err
	}
	var changed []Outage
	for _, directory := range slices.Sorted(maps.Keys(traffic)) {
		o, ok := open[directory]
		before := o
		switch {
		case ok && o.EndedAt == nil:
			t := sum(traffic[directory], now.Add(-Window), now.Add(width))
			if t.Answered < minToEnd || t.share() > endShare {
				continue
			}
			o.EndedAt = new(sqldb.Time(now.UnixMicro()))
		default:
			since, t, bad := worst(traffic[directory], from[directory])
			if !bad {
				continue
			}
			if !ok {
				o = Outage{ID: id.New[id.Outage](), Directory: directory, Since: since, OpenedAt: sqldb.Time(now.UnixMicro())}
			}
			o.EndedAt, o.Answered, o.Unknown = nil, t.Answered, t.Unknown
		}
		if err := save(ctx, db, o, before.ID.IsZero()); err != nil {
			return changed, err
		}
		changed = append(changed, o)
	}
	return changed, nil
}

// known returns the outages without a decision, and from when on traffic of directories may open one again.
func known(ctx context.Context, db *sqldb.DB, now time.Time) (open map[string]Outage, from map[string]time.Time, err error) {
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM outage WHERE decision IS NULL OR decided_at >= $1`, now.Add(-Rest-back).UnixMicro())
	list, err := sqldb.Collect(rows, err, scanOutage)
	if err != nil {
		return nil, nil, fmt.Errorf("read outages: %w", err)
	}
	open, from = map[string]Outage{}, map[string]time.Time{}
	for _, o := range list {
		at := o.EndedAt
		switch o.Decision {
		case "":
			open[o.Directory] = o
		case Apply:
			at = new(o.DecidedAt.Add(Rest))
		case Dismiss:
			at = o.DecidedAt
		}
		if at != nil && at.After(from[o.Directory]) {
			from[o.Directory] = *at
		}
	}
	return open, from, nil
}

func save(ctx context.Context, db *sqldb.DB, o Outage, fresh bool) (err error) {
	if fresh {
		_, err = db.Exec(ctx, `INSERT INTO outage (id, directory, since, opened_at, answered, unknown) VALUES ($1, $2, $3, $4, $5, $6)`,
			o.ID, o.Directory, o.Since.UnixMicro(), o.OpenedAt.UnixMicro(), o.Answered, o.Unknown)
	} else { // the operator may have decided meanwhile
		_, err = db.Exec(ctx, `UPDATE outage SET ended_at = $2, answered = $3, unknown = $4 WHERE id = $1 AND decision IS NULL`,
			o.ID, sqldb.NullMicros(o.EndedAt), o.Answered, o.Unknown)
	}
	if err != nil {
		return fmt.Errorf("save an outage: %w", err)
	}
	return nil
}
