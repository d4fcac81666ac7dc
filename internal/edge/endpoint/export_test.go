package endpoint

import "time"

// SetKeyWait changes how long a repeated request waits for the first.
func (r *Router) SetKeyWait(d time.Duration) { r.keyWait = d }
