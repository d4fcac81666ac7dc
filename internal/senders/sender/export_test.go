package sender

import "context"

// Problem returns why a host cannot be reached, or "".
func (p *Pinger) Problem(ctx context.Context, host string) string { return p.Reach(ctx, host).problem }
