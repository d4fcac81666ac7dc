package fault

import "time"

// Wait is the details of a fault of kind Limited: the time before the next request.
type Wait struct {
	Seconds int `json:"retry_after"`
}

// RetryAfter returns the duration for the Retry-After header.
func (w Wait) RetryAfter() time.Duration { return time.Duration(w.Seconds) * time.Second }
