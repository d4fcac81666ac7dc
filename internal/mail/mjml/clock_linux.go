package mjml

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadClock returns a clock of the processor time of the calling thread, which
// may be read on any thread while that one lives; nil where there is none.
func threadClock() func() (time.Duration, bool) {
	id := int32(^unix.Gettid()<<3 | 6) // as pthread_getcpuclockid makes it of a thread
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
