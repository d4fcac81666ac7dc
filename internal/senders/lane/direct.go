package lane

import "slices"

// The limits of direct delivery to each provider group, for each source address. Throttles of the
// config replace them.
const (
	directConnections = 5
	directPerMinute   = 60
)

// WithDirectLimits returns the config of a lane of type direct_mx with a throttle for each provider
// group: its own, completed by the default number of connections and the default rate. A throttle
// without connections or without any rate has the defaults for these.
func (c Config) WithDirectLimits() Config {
	n := max(1, len(c.Direct.IPs))
	c.Throttles = slices.Clone(c.Throttles)
	for group := range groups {
		i := slices.IndexFunc(c.Throttles, func(t Throttle) bool { return t.Pattern == group })
		if i < 0 {
			i, c.Throttles = len(c.Throttles), append(c.Throttles, Throttle{Pattern: group})
		}
		t := &c.Throttles[i]
		if t.MaxConnections == 0 {
			t.MaxConnections = directConnections * n
		}
		if t.MaxPerMinute == 0 && t.MaxPerHour == 0 {
			t.MaxPerMinute = directPerMinute * n
		}
	}
	return c
}
