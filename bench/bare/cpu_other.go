//go:build !unix

package bare

import "time"

// cpuTime returns 0: it is not available on this system.
func cpuTime() time.Duration { return 0 }
