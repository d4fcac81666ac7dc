package endpoint

import (
	"net/http"

	"github.com/packetboat/packetboat/internal/base/fault"
)

// ErrTenant is the fault of a Gate for an unknown slug.
var ErrTenant = fault.New(fault.NotFound, "TENANT_NOT_FOUND", "there is no such tenant")

// errorSchema returns the schema of the envelope of errors.
func errorSchema() object {
	return object{
		"type":     "object",
		"required": []string{"error"},
		"properties": object{
			"statusCode": object{"type": "integer", "description": "429 on every answer of that status, and nowhere else."},
			"error": object{
				"type":     "object",
				"required": []string{"code", "message"},
				"properties": object{
					"code":    object{"type": "string", "description": "What happened, for programs."},
					"message": object{"type": "string", "description": "What happened, for people."},
					"details": object{"type": "object", "description": "More about it; INVALID_INPUT has fields, a list of {path, message}."},
				},
			},
		},
	}
}

// sharedHeaders returns the headers that many responses have.
func sharedHeaders() object {
	text := func(description string) object {
		return object{"description": description, "schema": object{"type": "string"}}
	}
	number := func(description string) object {
		return object{"description": description, "schema": object{"type": "integer"}}
	}
	return object{
		"ETag":                  text("The revision of the record, for If-Match."),
		"Idempotency-Replay":    text("true when the answer was given before and nothing was created."),
		"Retry-After":           number("Seconds to wait before the next try."),
		"X-RateLimit-Limit":     number("Requests allowed in a window."),
		"X-RateLimit-Remaining": number("Requests left in this window."),
		"X-RateLimit-Reset":     number("Seconds until the window ends."),
		"X-Request-Id":          text("Names this request in our log."),
	}
}

func headerRef(name string) object { return object{"$ref": "#/components/headers/" + name} }

// headerRefs returns the headers of an operation's successful answers.
func headerRefs(rt *route, session bool) object {
	names := []string{"X-Request-Id"}
	if !rt.Installation {
		names = append(names, "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
	}
	if rt.takesKeys(session) {
		names = append(names, "Idempotency-Replay")
	}
	if rt.Revisions.Name != "" && rt.responseSchema != nil && rt.method != http.MethodDelete {
		names = append(names, "ETag")
	}
	refs := object{}
	for _, name := range names {
		refs[name] = headerRef(name)
	}
	return refs
}
