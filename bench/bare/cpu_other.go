//go:build !unix

package bare

import "time"

// cpuTime returns 0: this system does not tell.
func cpuTime() time.Duration { return 0 }
