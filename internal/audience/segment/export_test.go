package segment

import "context"

// Claim claims segments that are due, as Tick does before it counts them.
func (r *Refresher) Claim(ctx context.Context) ([]Used, error) { return r.claim(ctx) }
