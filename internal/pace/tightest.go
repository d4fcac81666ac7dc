package pace

// Tightest returns which of the limits a take that got too little waits for: the
// one whose next permit comes last, as far as this process knows. It is -1 when
// all of them have some.
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
