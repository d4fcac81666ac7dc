// Package endpoint turns declared operations into HTTP: routing, the checks
// before an operation in their one order, decoding, faults to
// statuses, encoding, discovery and the OpenAPI document.
//
// An operation is one declaration and one function from values to values. What
// the router adds is the same for all of them:
//
//	route (404, 405) → tenant (404) → credential, and for sessions the origin
//	(401, 403) → rate (429) → route class (403) → scope or role (403) → size,
//	media type, JSON (413, 415, 400) → fields, all at once (400) → the function
//
// Bodies are parsed and normalised first, so that unknown fields are dropped, null
// is distinguished from absent, and no text holds what a database would refuse; then they
// are checked against the schemas of their types. The schemas, and the check of
// one value against one, are huma's.
package endpoint
