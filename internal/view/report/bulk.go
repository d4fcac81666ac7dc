package report

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// SparklineHours is the number of hours in a sparkline.
const SparklineHours = 6

// Summary is the metrics of one send of many.
type Summary struct {
	Recipients     int                 `json:"recipients"`
	Delivered      int                 `json:"delivered"`
	Opened         int                 `json:"opened"`  // verified
	Clicked        int                 `json:"clicked"` // by people
	Bounced        int                 `json:"bounced"`
	PendingOpened  int                 `json:"pending_opened"`
	PendingClicked int                 `json:"pending_clicked"`
	Sparkline      [SparklineHours]int `json:"sparkline"` // verified first opens in the hours from the first one
	LastSendAt     *time.Time          `json:"last_send_at"`
}

// Rate returns n as a share of all recipients, rounded to four decimals; 0 if there are none.
func (s Summary) Rate(n int) float64 { return rate(n, s.Recipients) }

// How long a summary is served from the cache.
const (
	keepEnded = 6 * time.Hour
	keepLive  = 5 * time.Minute
)

// refreshLimit is how often a tenant may ask for summaries that are computed again.
var refreshLimit = ratelimit.Rule{Name: "metrics-refresh", Max: 6, Window: time.Minute}

// Summaries computes the summaries of sends, and stores them in the database for a while.
type Summaries struct {
	DB     *sqldb.DB
	Limits *ratelimit.Limiter
	Now    func() time.Time
}

// Of returns the summaries of sends; those of sends that have not begun are zero. With refresh they
// are computed again, unless the tenant has asked for that too often.
func (s *Summaries) Of(ctx context.Context, tenant id.Tenant, sends []id.Send, refresh bool) (map[id.Send]Summary, error) {
	found := make(map[id.Send]Summary, len(sends))
	if len(sends) == 0 {
		return found, nil
	}
	now := s.Now()
	if refresh {
		state, err := s.Limits.Acquire(ctx, refreshLimit, strconv.Itoa(int(tenant)), now)
		if err != nil {
			return nil, fmt.Errorf("limit refreshes: %w", err)
		}
		refresh = state.Allowed
	}
	progress, err := outbox.LoadAll(ctx, s.DB, tenant, sends)
	if err != nil {
		return nil, err
	}
	if !refresh {
		if err := s.cached(ctx, tenant, sends, progress, now, found); err != nil {
			return nil, err
		}
	}
	var missing []id.Send
	for _, send := range sends {
		if _, ok := found[send]; !ok && !slices.Contains(missing, send) {
			missing = append(missing, send)
		}
	}
	if err := s.compute(ctx, tenant, missing, progress, found); err != nil {
		return nil, err
	}
	return found, s.store(ctx, tenant, missing, progress, found, now)
}

// cached adds the summaries that are in the cache and not too old.
func (s *Summaries) cached(ctx context.Context, tenant id.Tenant, sends []id.Send, progress map[id.Send]outbox.Progress, now time.Time, found map[id.Send]Summary) error {
	rows, err := s.DB.Query(ctx, `
		SELECT send_id, computed_at, live, document FROM report_cache WHERE tenant_id = $1 AND send_id`+s.DB.In(2), tenant, sqldb.List(s.DB, sends))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var send id.Send
		var at time.Time
		var live bool
		var document string
		if err := scan(&send, sqldb.ToTime(&at), &live, &document); err != nil {
			return err
		}
		keep := keepEnded
		if live || progress[send].Live() {
			keep = keepLive
		}
		if age := now.Sub(at); age < 0 || age >= keep {
			return nil
		}
		var m Summary
		err := json.Unmarshal([]byte(document), &m)
		found[send] = m
		return err
	})
	if err != nil {
		return fmt.Errorf("read the cache of reports: %w", err)
	}
	return nil
}

// compute adds the summaries of sends.
func (s *Summaries) compute(ctx context.Context, tenant id.Tenant, sends []id.Send, progress map[id.Send]outbox.Progress, found map[id.Send]Summary) error {
	if len(sends) == 0 {
		return nil
	}
	people, err := track.LoadSumsOf(ctx, s.DB, tenant, sends)
	if err != nil {
		return fmt.Errorf("load the sums of sends: %w", err)
	}
	opens, err := track.FirstOpens(ctx, s.DB, tenant, sends, SparklineHours)
	if err != nil {
		return err
	}
	for _, send := range sends {
		p, e := progress[send], people[send]
		m := Summary{
			Recipients: p.Total, Delivered: p.Delivered, Opened: e.VerifiedOpened, Clicked: e.HumanClicked, Bounced: p.Bounced, LastSendAt: p.LastSendAt,
		}
		if p.Live() {
			m.PendingOpened, m.PendingClicked = e.PendingOpened, e.PendingClicked
		}
		copy(m.Sparkline[:], opens[send])
		found[send] = m
	}
	return nil
}

// store writes summaries to the cache, except those of sends that have sent nothing yet.
func (s *Summaries) store(ctx context.Context, tenant id.Tenant, sends []id.Send, progress map[id.Send]outbox.Progress, found map[id.Send]Summary, now time.Time) error {
	t := s.DB.Table("send_id UUID", "live BOOLEAN", "document JSONB")
	slices.SortFunc(sends, id.Compare)
	for _, send := range sends {
		if progress[send].LastSendAt == nil {
			continue
		}
		document, err := json.Marshal(found[send])
		if err != nil {
			return err
		}
		t.Add(send, progress[send].Live(), string(document))
	}
	if t.Len() == 0 {
		return nil
	}
	_, err := s.DB.Exec(ctx, `
		INSERT INTO report_cache (tenant_id, send_id, computed_at, live, document)
		SELECT h.tenant_id, v.send_id, `+s.DB.Param(2, "BIGINT")+`, v.live, v.document FROM `+s.DB.Home(1)+` CROSS JOIN `+t.As("v", 3)+` WHERE true
		ON CONFLICT (tenant_id, send_id) DO UPDATE SET computed_at = excluded.computed_at, live = excluded.live, document = excluded.document`,
		t.Args(tenant, sqldb.Micros(now))...)
	if err != nil {
		return fmt.Errorf("write the cache of reports: %w", err)
	}
	return nil
}
