package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Unplanned is the due time of messages to which no plan has assigned one yet: far in the future.
func Unplanned() time.Time { return time.Date(9999, 12, 1, 0, 0, 0, 0, time.UTC) }

// PlanScope is a condition for the messages to which planning assigns times: those without an
// attempt that are due after a time, or were planned for a day before another. The zero PlanScope
// is for a send without any attempt: it includes all waiting messages.
type PlanScope struct {
	After  time.Time  `json:"after"`
	Before spread.Day `json:"before,omitempty"` // empty: none by day
}

// inScope returns the condition that a queued message with a rank is in a PlanScope. Its parameters
// begin with the nth and are the last of the statement.
func inScope(db *sqldb.DB, n int) string {
	return fmt.Sprintf(`attempts = 0 AND (due_at > $%d OR plan_day < $%d) AND NOT id`, n, n+1) + db.In(n+2)
}

// args appends the parameters of inScope to those of a statement. Messages in flight are excluded.
func (c PlanScope) args(db *sqldb.DB, inFlight []id.Message, before ...any) []any {
	return append(before, c.After.UnixMicro(), c.Before, sqldb.List(db, inFlight))
}

// LaneDay is a day of a lane.
type LaneDay struct {
	Lane id.Lane
	Day  spread.Day
}

// PlanCounts counts the messages of a send before a pass of planning.
type PlanCounts struct {
	Movable map[id.Lane]int // in scope
	Fixed   map[LaneDay]int // not in scope and planned for a day, including those that have ended
}

// CountForPlan counts the messages of a send. It reads all of them.
func CountForPlan(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, scope PlanScope) (PlanCounts, error) {
	c := PlanCounts{Movable: map[id.Lane]int{}, Fixed: map[LaneDay]int{}}
	inFlight, err := InFlight(ctx, db, tenant, send)
	if err != nil {
		return c, err
	}
	rows, err := db.Query(ctx, `
		SELECT lane_id, day, movable, COUNT(*) FROM (
			SELECT lane_id, COALESCE(plan_day, '') AS day,
				CASE WHEN rank IS NOT NULL AND state = 'queued' AND `+inScope(db, 3)+` THEN 1 ELSE 0 END AS movable FROM outbox
			WHERE tenant_id = $1 AND send_id = $2 AND state NOT IN ('held_back', 'cancelled')) AS m
		GROUP BY lane_id, day, movable`, scope.args(db, inFlight, tenant, send)...)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var at LaneDay
		var movable, n int
		err := scan(&at.Lane, &at.Day, &movable, &n)
		switch {
		case movable == 1:
			c.Movable[at.Lane] += n
		case at.Day != "":
			c.Fixed[at] += n
		}
		return err
	})
	if err != nil {
		return c, fmt.Errorf("count messages to plan: %w", err)
	}
	return c, nil
}

// LockPlan holds an open send while it is planned.
func LockPlan(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) error {
	_, err := setPhase(ctx, tx, tenant, send, Held, Open)
	return err
}

// LaneLoad is the planned messages of a lane on a day.
type LaneLoad struct {
	Sent     int // messages of planned sends that were sent
	Reserved int // messages that sends in progress have yet to send
}

// Reservations returns the loads of lanes from a day on, without the send's own reservations, which
// are about to be planned. It locks these lanes for planning until tx ends, so that of two sends
// that are planned concurrently, one sees the reservations of the other.
func Reservations(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, lanes []id.Lane, from spread.Day) (map[LaneDay]LaneLoad, error) {
	for _, lane := range slices.SortedFunc(slices.Values(lanes), id.Compare) {
		// A row without send and day, which locks the lane.
		_, err := tx.Exec(ctx, `
			INSERT INTO outbox_day (tenant_id, send_id, lane_id, day, planned) VALUES ($1, $2, $3, '', 0)
			ON CONFLICT (tenant_id, send_id, lane_id, day) DO UPDATE SET planned = 0`, tenant, id.Send{}, lane)
		if err != nil {
			return nil, fmt.Errorf("lock a lane's days: %w", err)
		}
	}
	return LaneLoads(ctx, tx, tenant, send, lanes, from)
}

// LaneLoads is Reservations without locking the lanes, for forecasts.
func LaneLoads(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, lanes []id.Lane, from spread.Day) (map[LaneDay]LaneLoad, error) {
	rows, err := db.Query(ctx, `
		SELECT d.lane_id, d.day, CAST(SUM(d.sent) AS BIGINT),
			CAST(SUM(CASE WHEN s.phase IN ('held', 'open', 'paused') AND d.planned > d.sent AND d.send_id <> $2 THEN d.planned - d.sent ELSE 0 END) AS BIGINT)
		FROM outbox_day AS d JOIN send AS s ON s.tenant_id = d.tenant_id AND s.id = d.send_id
		WHERE d.tenant_id = $1 AND d.day >= $3 AND d.lane_id`+db.In(4)+` GROUP BY d.lane_id, d.day`,
		tenant, send, from, sqldb.List(db, lanes))
	busy := map[LaneDay]LaneLoad{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var at LaneDay
		var b LaneLoad
		err := scan(&at.Lane, &at.Day, &b.Sent, &b.Reserved)
		busy[at] = b
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the reservations of lanes: %w", err)
	}
	return busy, nil
}

// Reserve stores how many messages a send has planned for each day, replacing earlier plans. The
// counts of sent messages do not change.
func Reserve(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, planned map[LaneDay]int) error {
	if _, err := tx.Exec(ctx, `UPDATE outbox_day SET planned = 0 WHERE tenant_id = $1 AND send_id = $2`, tenant, send); err != nil {
		return fmt.Errorf("clear a send's days: %w", err)
	}
	t := tx.Table("lane_id UUID", "day TEXT", "planned BIGINT")
	for at, n := range planned {
		t.Add(at.Lane, at.Day, n)
	}
	if t.Len() > 0 {
		_, err := tx.Exec(ctx, `
			INSERT INTO outbox_day (tenant_id, send_id, lane_id, day, planned)
			SELECT h.tenant_id, `+tx.Param(2, "UUID")+`, v.lane_id, v.day, v.planned FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3)+` WHERE true
			ON CONFLICT (tenant_id, send_id, lane_id, day) DO UPDATE SET planned = excluded.planned`, t.Args(tenant, send)...)
		if err != nil {
			return fmt.Errorf("reserve a send's days: %w", err)
		}
	}
	_, err := tx.Exec(ctx, `DELETE FROM outbox_day WHERE tenant_id = $1 AND send_id = $2 AND planned = 0 AND sent = 0`, tenant, send)
	return err
}

// SentOn returns how many of a send's messages were sent, by the lane and day they were planned
// for.
func SentOn(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (map[LaneDay]int, error) {
	rows, err := db.Query(ctx, `SELECT lane_id, day, sent FROM outbox_day WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	sent := map[LaneDay]int{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var at LaneDay
		var n int
		err := scan(&at.Lane, &at.Day, &n)
		sent[at] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the sent messages of days: %w", err)
	}
	return sent, nil
}

// Day is how many messages of a send were planned for a day, and how many of those were sent.
type Day struct {
	Day           spread.Day
	Planned, Sent int
}

// Days returns the days of a planned send, in order.
func Days(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) ([]Day, error) {
	rows, err := db.Query(ctx, `
		SELECT day, CAST(SUM(planned) AS BIGINT), CAST(SUM(sent) AS BIGINT) FROM outbox_day
		WHERE tenant_id = $1 AND send_id = $2 GROUP BY day ORDER BY day`, tenant, send)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (d Day, err error) {
		err = scan(&d.Day, &d.Planned, &d.Sent)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("load the days of a send: %w", err)
	}
	return list, nil
}

// Overdue reports whether messages planned for a day before today were not sent.
func Overdue(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, today spread.Day) (bool, error) {
	var n int
	err := db.QueryRow(ctx, `
		SELECT COUNT(*) FROM outbox_day WHERE tenant_id = $1 AND send_id = $2 AND day < $3 AND planned > sent`,
		tenant, send, today).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("find overdue days: %w", err)
	}
	return n > 0, nil
}

// Times is when the remaining batches of a planned send are due.
type Times struct {
	Next, Last *time.Time // nil: none in the future
	Overdue    bool       // some message is due and was not sent
}

// Add returns t with another batch, due at a time; nil adds none.
func (t Times) Add(at *time.Time, now time.Time) Times {
	switch {
	case at == nil:
		return t
	case !at.After(now):
		t.Overdue = true
		return t
	}
	if t.Next == nil || at.Before(*t.Next) {
		t.Next = at
	}
	if t.Last == nil || at.After(*t.Last) {
		t.Last = at
	}
	return t
}

// Batches returns when the batches of a planned send are due, by its messages.
func Batches(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) (Times, error) {
	from, first, err := lowMark(ctx, db, tenant, send)
	if err != nil {
		return Times{}, err
	}
	// Not MIN and MAX, for which PostgreSQL reads every row while it has no statistics about the
	// send.
	return timesOf(db.QueryRow(ctx, `
		SELECT (SELECT due_at FROM outbox WHERE tenant_id = $1 AND send_id = $2 AND state = 'queued' AND due_at > $3 AND due_at < $4
				ORDER BY due_at LIMIT 1),
			(SELECT due_at FROM outbox WHERE tenant_id = $1 AND send_id = $2 AND state = 'queued' AND due_at > $3 AND due_at < $4
				ORDER BY due_at DESC LIMIT 1),
			EXISTS (SELECT 1 FROM outbox WHERE tenant_id = $1 AND send_id = $2 AND state = 'queued' AND due_at <= $3 AND (due_at, id) >= ($5, $6))`,
		tenant, send, now.UnixMicro(), Unplanned().UnixMicro(), from, first).Scan)
}

func timesOf(scan func(...any) error) (t Times, err error) {
	var next, last sql.NullInt64
	if err := scan(&next, &last, &t.Overdue); err != nil {
		return t, fmt.Errorf("find a send's batches: %w", err)
	}
	t.Next, t.Last = sqldb.NullTime(next), sqldb.NullTime(last)
	return t, nil
}

// sendDay is a day of a send on a lane.
type sendDay struct {
	tenant id.Tenant
	send   id.Send
	LaneDay
}

// countDays counts sent messages by the days that they were planned for. A lane used for failover
// has no plan.
func countDays(ctx context.Context, tx *sqldb.DB, sent map[sendDay]int) error {
	if len(sent) == 0 {
		return nil
	}
	order := slices.SortedFunc(maps.Keys(sent), func(a, b sendDay) int { // the same in all transactions, to avoid deadlocks
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), id.Compare(a.send, b.send), id.Compare(a.Lane, b.Lane), cmp.Compare(a.Day, b.Day))
	})
	for tenant, days := range id.ByTenant(order, func(d sendDay) id.Tenant { return d.tenant }) {
		t := tx.Table("send_id UUID", "lane_id UUID", "day TEXT", "n BIGINT")
		for _, d := range days {
			t.Add(d.send, d.Lane, d.Day, sent[d])
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO outbox_day (tenant_id, send_id, lane_id, day, planned, sent)
			SELECT h.tenant_id, v.send_id, v.lane_id, v.day, 0, v.n FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
			ON CONFLICT (tenant_id, send_id, lane_id, day) DO UPDATE SET sent = outbox_day.sent + excluded.sent`, t.Args(tenant)...)
		if err != nil {
			return fmt.Errorf("count the sent messages of days: %w", err)
		}
	}
	return nil
}
