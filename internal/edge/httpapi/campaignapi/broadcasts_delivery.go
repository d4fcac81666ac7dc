package campaignapi

import (
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
)

// delivery returns the change of the delivery fields, or nil if the body has none of them. Its lanes
// have no ids yet; broadcast.Refs adds them.
func (in *BroadcastBody) delivery() *broadcast.DeliveryChange {
	ch := broadcast.DeliveryChange{WindowDays: wire.NullAsNil(in.WindowDays), WindowDate: wire.NullAsNil(in.WindowDate), PerHour: wire.NullAsNil(in.Throttle)}
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

// laneShares returns the lanes of a broadcast without deleted ones, or nil if it has no list.
func (n broadcastNames) laneShares(shares []broadcast.LaneShare) []DeliveryLane {
	if shares == nil {
		return nil
	}
	list := []DeliveryLane{}
	for _, s := range shares {
		if key, ok := n.Lanes[s.Lane]; ok {
			list = append(list, DeliveryLane{key, s.Weight})
		}
	}
	return list
}

func (n broadcastNames) sessionLanes(shares []broadcast.LaneShare) []sessionLane {
	list := []sessionLane{}
	for _, s := range shares {
		if key, ok := n.Lanes[s.Lane]; ok {
			list = append(list, sessionLane{DeliveryLane{key, s.Weight}, s.Lane})
		}
	}
	return list
}
