package dsn

import "github.com/packetboat/packetboat/internal/mail/mimepart"

// meter counts the work of reading one mail, so that a test can state how it grows. A step is a byte
// that a loop looks at, or a field or part that it visits.
type meter struct {
	mimepart.Meter
	// classified is the number of bytes that were searched for the reason of a failure.
	classified int
}

// maxClassified is the number of bytes of one mail that are searched for reasons of failures. That is
// enough for hundreds of usual recipients. Those after it have the reason that their codes say.
const maxClassified = 512 << 10

// classify takes n bytes from what may be searched. It reports false if that is used up.
func (m *meter) classify(n int) bool {
	if m.classified+n > maxClassified {
		return false
	}
	m.classified += n
	return true
}
