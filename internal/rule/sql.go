package rule

// inlined is the way that evaluation took through segments.
type inlined struct{}
