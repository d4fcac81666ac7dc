//go:build !linux

package mjml

import "time"

// threadClock returns nil: the processor time of a thread is not to be had here.
func threadClock() func() (time.Duration, bool) { return nil }
