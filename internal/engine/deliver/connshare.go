package deliver

import (
	"time"

	"github.com/packetboat/packetboat/internal/lane"
)

// shareEvery is how often a lane asks for its part of the connections that all
// processes together may have.
const shareEvery = 2 * time.Second

// shareConnections keeps this process to its part of the lane's connections, and of those
// to a throttled provider, until the lane puts down its work.
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

// shareProviders asks for the part of each throttled provider's connections.
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

// returnConnections lets others have the connections once no worker uses one.
func (r *laneWorkers) returnConnections(key string) {
	r.workers.Wait()
	keys := []string{key}
	for _, t := range r.settings.config.Throttles {
		keys = append(keys, key+":"+t.Pattern)
	}
	for _, k := range keys {
		if _, err := r.engine.pacer.Slots(r.engine.abandoned, k, 0, 1); err != nil {
			r.engine.Log.Error("return connections failed", "lane", r.settings.config.ID, "err", err)
		}
	}
}

// track counts jobs that go to a throttled provider.
func (r *laneWorkers) track(j *job, n int) {
	if j.throttle == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight[j.throttle.Pattern] += n
}

// free returns how many more jobs under a throttle the lane may take now.
func (r *laneWorkers) free(t *lane.Throttle) int {
	const plenty = 1 << 20
	if t == nil || t.MaxConnections == 0 {
		return plenty
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, min(r.granted[t.Pattern], t.MaxConnections)-r.inFlight[t.Pattern])
}
