package webhook

// CheckURL is checkURL, Redact redact, for tests.
func CheckURL(text string, rules Rules) (string, error) { return checkURL(text, rules) }

func Redact(body string) (string, bool, error) { return redact(body) }
