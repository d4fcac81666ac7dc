package mjml

// Check says whether a source is well-formed MJML of known elements, without
// compiling it.
func Check(source string) ([]Warning, error) { return nil, nil }
