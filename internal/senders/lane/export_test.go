package lane

import "github.com/packetboat/packetboat/internal/base/fault"

// SinkSettingsOf returns the settings that a request for a lane of type sink sets.
func SinkSettingsOf(f Fields) (SinkSettings, error) {
	var p fault.Problems
	s := f.applySink(SinkSettings{}, &p)
	return s, p.Err()
}
