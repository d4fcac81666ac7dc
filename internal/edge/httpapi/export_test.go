package httpapi

// ReadableBy is readableBy, for tests.
var ReadableBy = readableBy
