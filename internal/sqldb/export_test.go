package sqldb

import "time"

// Correct is correct, for tests.
func (c *Clock) Correct(server, begun, ended time.Time) { c.correct(server, begun, ended) }
