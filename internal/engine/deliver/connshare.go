package deliver

import (
	"time"

	"github.com/packetboat/packetboat/internal/senders/lane"
)

// shareEvery is how often a lane renews its part of the connections, which all processes share.
const shareEvery = 2 * time.Second

// shareConnections keeps the number of tokens at this process's part of the lane's connections, and
// updates its part of the connections to throttled providers, until the lane closes.
func (r *laneWorkers) shareConnections() {
	e, key, n := r.engine, laneSpace+r.settings.config.ID.String(), r.settings.config.Caps.MaxConnections
	have := 0
	tick := time.NewTicker(shareEvery)
	defer tick.Stop()
	for {
		granted, err := e.pacer.Slots(r.quit, key, n, n)
		if err != nil && r.quit.Err() == nil {
			e.Log.Error("share lane connections failed", "lane", r.settings.config.ID, "err", err)
		}
		if r.pool != nil {
			r.pool.Resize(granted)
		}
		if r.directPool != nil {
			r.directPool.Resize(granted)
		}
		for ; have < granted; have++ {
			r.tokens <- struct{}{}
		}
		for ; have > granted && r.quit.Err() == nil; have-- {
			select {
			case <-r.tokens:
			case r.shrink <- struct{}{}:
			case <-r.quit.Done():
			}
		}
		r.shareProviders(key)
		select {
		case <-r.quit.Done():
			r.returnConnections(key)
			return
		case <-tick.C:
		}
	}
}

// shareProviders requests a part of the connections of each throttled provider.
func (r *laneWorkers) shareProviders(key string) {
	for _, t := range r.settings.config.Throttles {
		if t.MaxConnections == 0 {
			continue
		}
		granted, err := r.engine.pacer.Slots(r.quit, key+":"+t.Pattern, t.MaxConnections, t.MaxConnections)
		if err != nil && r.quit.Err() == nil {
			r.engine.Log.Error("share provider connections failed", "lane", r.settings.config.ID, "err", err)
		}
		r.mu.Lock()
		r.granted[t.Pattern] = granted
		r.mu.Unlock()
	}
}

// returnConnections returns the connections to other processes after the last worker has ended.
func (r *laneWorkers) returnConnections(key string) {
	r.workers.Wait()
	keys := []string{key}
	for _, t := range r.settings.config.Throttles {
		keys = append(keys, key+":"+t.Pattern)
	}
	for _, k := range keys {
		if _, err := r.engine.pacer.Slots(r.engine.writeCtx, k, 0, 1); err != nil {
			r.engine.Log.Error("return connections failed", "lane", r.settings.config.ID, "err", err)
		}
	}
}

// track adds n to the number of jobs in flight under the job's throttle.
func (r *laneWorkers) track(j *job, n int) {
	if j.dest != nil {
		j.dest.track(n)
	}
	if j.throttle == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight[j.throttle.Pattern] += n
}

// free returns how many more jobs under a throttle may be in flight now.
func (r *laneWorkers) free(t *lane.Throttle) int {
	const plenty = 1 << 20
	if t == nil || t.MaxConnections == 0 {
		return plenty
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, min(r.granted[t.Pattern], t.MaxConnections)-r.inFlight[t.Pattern])
}
