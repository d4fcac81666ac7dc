package rule

// History is what a contact did and what was done to it.
type History struct{}
