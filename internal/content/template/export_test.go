package template

// For tests.
var (
	MaskPlaceholders = maskPlaceholders
	LineIn           = lineIn
	DecodeStrings    = decodeStrings
)
