package pace

// Tightest returns the index of the limit that a take which got too little must wait for: the one
// whose next permit is available last, as far as this process knows. It is -1 if all have permits.
func (p *Pacer) Tightest(limits []Limit) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.since(p.now())
	tightest, latest := -1, at
	for i, l := range limits {
		if l.Max < 1 {
			return i
		}
		r := p.rate(l, at)
		ready, next := r.ready(at)
		if ready > 0 || tightest >= 0 && (next < latest || next == latest && r.every <= p.rate(limits[tightest], at).every) {
			continue
		}
		tightest, latest = i, next
	}
	return tightest
}
