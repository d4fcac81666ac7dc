//go:build !linux

package mjml

import "time"

// threadClock returns nil: the CPU time of a thread is not available on this system.
func threadClock() func() (time.Duration, bool) { return nil }
