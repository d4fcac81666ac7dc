package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// WaitKind is a reason why messages wait.
type WaitKind string

// The kinds of waits.
const (
	WaitLaneRate            WaitKind = "mta_config_rate"
	WaitLaneDay             WaitKind = "mta_config_day"
	WaitLaneDown            WaitKind = "mta_config_down"
	WaitProviderRate        WaitKind = "provider_rate"
	WaitProviderConnections WaitKind = "provider_connections"
	WaitSendRate            WaitKind = "broadcast_rate"
	WaitDNS                 WaitKind = "dns"  // the mail servers of domains cannot be looked up
	WaitHold                WaitKind = "hold" // something is paused, switched off or not verified, or the operator holds all sends
)

// Wait is why due messages of a send are not sent.
type Wait struct {
	Tenant   id.Tenant
	Send     id.Send
	Kind     WaitKind
	Lane     id.Lane // zero: no particular one
	Provider string  // the provider the limit is for; empty: none
	Max      int     // for rates: the maximum number of messages in Per; otherwise 0
	Per      time.Duration
	Until    time.Time // when messages may be sent again, or the wait is evaluated again
	Reason   string
}

const (
	waitValidFor  = 20 * time.Second // how long a wait is returned after its end, since it may be stored again
	waitRetention = 48 * time.Hour
)

// SaveWaits stores the latest wait of each send. Callers call it at intervals, not for each
// message.
func SaveWaits(ctx context.Context, db *sqldb.DB, waits []Wait, now time.Time) error {
	if len(waits) == 0 {
		return nil
	}
	for tenant, own := range id.ByTenant(waits, func(w Wait) id.Tenant { return w.Tenant }) {
		t := db.Table("send_id UUID", "kind TEXT", "lane_id UUID", "provider TEXT", "most BIGINT", "per BIGINT", "until BIGINT", "reason TEXT")
		for _, w := range own {
			t.Add(w.Send, w.Kind, w.Lane, w.Provider, w.Max, w.Per.Microseconds(), w.Until.UnixMicro(), w.Reason)
		}
		_, err := db.Exec(ctx, `
			INSERT INTO outbox_wait (tenant_id, send_id, at, kind, lane_id, provider, most, per, until, reason)
			SELECT h.tenant_id, v.send_id, `+db.Param(2, "BIGINT")+`, v.kind, v.lane_id, v.provider, v.most, v.per, v.until, v.reason
			FROM `+db.Home(1)+` CROSS JOIN `+t.As("v", 3)+` WHERE true
			ON CONFLICT (tenant_id, send_id) DO UPDATE SET at = excluded.at, kind = excluded.kind, lane_id = excluded.lane_id,
				provider = excluded.provider, most = excluded.most, per = excluded.per, until = excluded.until, reason = excluded.reason`,
			t.Args(tenant, now.UnixMicro())...)
		if err != nil {
			return fmt.Errorf("save waits of sends: %w", err)
		}
	}
	_, err := db.Exec(ctx, `/* all tenants: deletion by age */
		DELETE FROM outbox_wait WHERE at < $1`, now.Add(-waitRetention).UnixMicro())
	if err != nil {
		return fmt.Errorf("delete old waits of sends: %w", err)
	}
	return nil
}

// LoadWait returns the latest wait of a send; nil if none is stored that is still valid.
func LoadWait(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) (*Wait, error) {
	w := Wait{Tenant: tenant, Send: send}
	var per, until int64
	err := db.QueryRow(ctx, `
		SELECT kind, lane_id, provider, most, per, until, reason FROM outbox_wait
		WHERE tenant_id = $1 AND send_id = $2 AND (until > $3 OR at > $4)`,
		tenant, send, now.UnixMicro(), now.Add(-waitValidFor).UnixMicro()).
		Scan(&w.Kind, &w.Lane, &w.Provider, &w.Max, &per, &until, &w.Reason)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load the wait of a send: %w", err)
	}
	w.Per, w.Until = time.Duration(per)*time.Microsecond, sqldb.Time(until)
	return &w, nil
}
