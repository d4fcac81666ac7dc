package template

// For tests.
var (
	Paint  = paint
	LineIn = lineIn
	Labels = labels
)
