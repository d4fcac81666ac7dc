package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// SampleEvery is the interval of samples of open sends.
const SampleEvery = 10 * time.Second

// sampleRetention is how long samples are kept.
const sampleRetention = 5 * time.Minute

// Sample is the number of messages of a send that had been sent at a time.
type Sample struct {
	At   time.Time
	Sent int
}

// RecordSamples stores a sample of each open send that has messages waiting, and deletes old
// samples. It stores one per send and SampleEvery, however often and by however many processes it
// is called.
func RecordSamples(ctx context.Context, db *sqldb.DB, now time.Time) error {
	_, err := db.Exec(ctx, `/* all tenants: the engine serves all tenants */
		INSERT INTO outbox_sample (tenant_id, send_id, slot, at, sent)
		SELECT s.tenant_id, s.id, $1, $2, s.sent FROM send_ready AS r JOIN send AS s ON s.tenant_id = r.tenant_id AND s.id = r.send_id
		WHERE s.phase = 'open' AND s.waiting > 0
		ON CONFLICT (tenant_id, send_id, slot) DO NOTHING`, now.Truncate(SampleEvery).UnixMicro(), now.UnixMicro())
	if err != nil {
		return fmt.Errorf("store samples of sends: %w", err)
	}
	_, err = db.Exec(ctx, `/* all tenants: deletion by age */
		DELETE FROM outbox_sample WHERE slot < $1`, now.Add(-sampleRetention).UnixMicro())
	if err != nil {
		return fmt.Errorf("delete old samples of sends: %w", err)
	}
	return nil
}

// LoadSamples returns the samples of a send since a time, in order.
func LoadSamples(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, since time.Time) ([]Sample, error) {
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
		return nil, fmt.Errorf("load samples of a send: %w", err)
	}
	return list, nil
}
