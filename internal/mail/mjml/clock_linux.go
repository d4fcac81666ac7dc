package mjml

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadClock returns a clock of the CPU time of the calling thread, which can be read on any thread
// as long as that one exists; nil if there is none.
func threadClock() func() (time.Duration, bool) {
	id := int32(^unix.Gettid()<<3 | 6) // as pthread_getcpuclockid computes it
	read := func() (time.Duration, bool) {
		var at unix.Timespec
		if err := unix.ClockGettime(id, &at); err != nil {
			return 0, false
		}
		return time.Duration(at.Nano()), true
	}
	if _, ok := read(); !ok {
		return nil
	}
	return read
}
