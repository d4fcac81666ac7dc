package httpapi

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/broadcast"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/spread"
)

// delivery returns what the body says about how the send is spread; nil when it
// says nothing. Lanes are told without their ids, which resolveLanes adds.
func (in *broadcastBody) delivery() *broadcast.DeliveryChange {
	ch := broadcast.DeliveryChange{WindowDays: clearing(in.WindowDays), WindowDate: clearing(in.WindowDate), PerHour: clearing(in.Throttle)}
	if in.DeliveryMode.Set {
		ch.Mode = new(broadcast.Mode(in.DeliveryMode.Value))
	}
	if in.OverflowMode.Set {
		ch.Overflow = new(broadcast.Overflow(in.OverflowMode.Value))
	}
	if in.SkippedDates.Set {
		ch.Skipped = &in.SkippedDates.Value
	}
	if in.Lanes.Set {
		shares := make([]broadcast.LaneShare, len(in.Lanes.Value))
		for i, l := range in.Lanes.Value {
			shares[i].Weight = l.Weight.Value
		}
		ch.Lanes = &shares
	}
	if ch == (broadcast.DeliveryChange{}) {
		return nil
	}
	return &ch
}

// clearing returns nil for a field that was not sent, and a pointer to nil for null.
func clearing[T any](o endpoint.Opt[T]) **T {
	if !o.Set {
		return nil
	}
	return new(o.Pointer())
}

// resolveLanes looks up the lanes that share the mail. A person may name them by
// id too, and the id wins.
func (a *API) resolveLanes(ctx context.Context, p auth.Principal, named []laneShareBody, ch *broadcast.Change) error {
	var bad fault.Problems
	ids := make([]*id.MTAConfig, len(named))
	if !p.IsKey() {
		for i, l := range named {
			ids[i] = oneID[id.MTAConfig](&bad, fmt.Sprintf("delivery_lanes[%d].mta_config_id", i), l.MTAConfigID)
		}
	}
	if bad.Any() {
		return bad.Err()
	}
	all, err := lane.List(ctx, a.DB, p.Tenant)
	if err != nil {
		return err
	}
	byKey, byID := map[string]id.MTAConfig{}, map[id.MTAConfig]bool{}
	for _, l := range all {
		byKey[l.Key], byID[l.ID] = l.ID, true
	}
	shares := *ch.Delivery.Lanes
	for i, l := range named {
		found, ok := byKey[l.MTAConfigKey.Value]
		if ids[i] != nil && !ids[i].IsZero() {
			found, ok = *ids[i], byID[*ids[i]]
		}
		if !ok {
			return broadcast.ErrMTAConfig.Sayf("delivery_lanes[%d] names no MTA config", i)
		}
		shares[i].Lane = found
	}
	return nil
}

// skippedOf returns days, never nil.
func skippedOf(days []spread.Day) []spread.Day {
	if days == nil {
		return []spread.Day{}
	}
	return days
}

// above0 returns nil for 0.
func above0(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// laneShares shows the lanes that share a broadcast's mail, those that were
// deleted left out; nil when there is no list.
func (n broadcastNames) laneShares(shares []broadcast.LaneShare) []DeliveryLane {
	if shares == nil {
		return nil
	}
	list := []DeliveryLane{}
	for _, s := range shares {
		if key, ok := n.lanes[s.Lane]; ok {
			list = append(list, DeliveryLane{key, s.Weight})
		}
	}
	return list
}

func (n broadcastNames) sessionLanes(shares []broadcast.LaneShare) []sessionLane {
	list := []sessionLane{}
	for _, s := range shares {
		if key, ok := n.lanes[s.Lane]; ok {
			list = append(list, sessionLane{DeliveryLane{key, s.Weight}, s.Lane})
		}
	}
	return list
}
