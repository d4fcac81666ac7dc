package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// SampleEvery is how often it is noted how far open sends are.
const SampleEvery = 10 * time.Second

// keepSamples is how long that is remembered.
const keepSamples = 5 * time.Minute

// Sample is how many messages of a send had been handed over at a moment.
type Sample struct {
	At   time.Time
	Sent int
}

// Observe notes how far the open sends are that have messages waiting, once in
// SampleEvery whoever calls it how often, and forgets what is old.
func Observe(ctx context.Context, db *sqldb.DB, now time.Time) error {
	_, err := db.Exec(ctx, `/* all tenants: the engine serves everyone */
		INSERT INTO outbox_sample (tenant_id, send_id, slot, at, sent)
		SELECT s.tenant_id, s.id, $1, $2, s.sent FROM send_ready AS r JOIN send AS s ON s.tenant_id = r.tenant_id AND s.id = r.send_id
		WHERE s.phase = 'open' AND s.waiting > 0
		ON CONFLICT (tenant_id, send_id, slot) DO NOTHING`, now.Truncate(SampleEvery).UnixMicro(), now.UnixMicro())
	if err != nil {
		return fmt.Errorf("note how far sends are: %w", err)
	}
	_, err = db.Exec(ctx, `/* all tenants: old samples serve nobody */
		DELETE FROM outbox_sample WHERE slot < $1`, now.Add(-keepSamples).UnixMicro())
	if err != nil {
		return fmt.Errorf("forget how far sends were: %w", err)
	}
	return nil
}

// Samples returns how far a send was at times since a moment, in their order.
func Samples(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, since time.Time) ([]Sample, error) {
	rows, err := db.Query(ctx, `
		SELECT at, sent FROM outbox_sample WHERE tenant_id = $1 AND send_id = $2 AND at >= $3 ORDER BY at`,
		tenant, send, since.UnixMicro())
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s Sample, err error) {
		var at int64
		err = scan(&at, &s.Sent)
		s.At = sqldb.Time(at)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("read how far a send was: %w", err)
	}
	return list, nil
}
