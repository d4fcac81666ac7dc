package webhook

// Redact is redact, for tests.
func Redact(body string) (string, bool, error) { return redact(body) }

// CausedTypes returns the event types that journal entries cause.
func CausedTypes() map[string]bool {
	all := map[string]bool{}
	for _, types := range sources {
		for _, t := range types {
			all[t] = true
		}
	}
	return all
}
