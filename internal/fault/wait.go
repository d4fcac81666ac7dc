package fault

import "time"

// Wait is the details of a fault of kind Limited: how long to wait before the
// next try.
type Wait struct {
	Seconds int `json:"retry_after"`
}

// RetryAfter is Seconds, for the header of that name.
func (w Wait) RetryAfter() time.Duration { return time.Duration(w.Seconds) * time.Second }
