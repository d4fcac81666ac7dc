package endpoint

import "time"

// WaitForKeys changes how long a repeated request waits for the first.
func (r *Router) WaitForKeys(d time.Duration) { r.keyWait = d }
