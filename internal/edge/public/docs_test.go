package public_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/edge/public"
)

const docsSample = `{"openapi": "3.1.0", "info": {"title": "Mail", "version": "1.2.3"},
"servers": [{"url": "https://mail.example.com/t/{tenant_slug}"}],
"paths": {"/api/things": {"post": {"operationId": "createThing", "summary": "Create <things>.", "tags": ["seed-lists"], "x-title": "Create thing",
  "x-codeSamples": [{"lang": "Shell", "source": "curl \"$SERVER/api/things\""}],
  "x-scopes": ["lists:write"], "x-scope-mode": "all",
  "parameters": [{"name": "loud", "in": "query", "schema": {"type": "string", "enum": ["yes", "no"]}}],
  "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
  "responses": {"201": {"description": "Created", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
                "409": {"description": "DUPLICATE_NAME", "x-error-codes": ["DUPLICATE_NAME"]}}}}},
"webhooks": {"thing.made": {"post": {"summary": "A thing was made.", "requestBody": {"content": {"application/json": {
  "schema": {"type": "object", "properties": {"data": {"$ref": "#/components/schemas/Part"}}}, "example": {"type": "thing.made"}}}}}}},
"components": {"schemas": {"Thing": {"type": "object", "required": ["name"], "properties": {
  "name": {"type": "string", "maxLength": 20}, "note": {"type": ["string", "null"]},
  "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
  "parent": {"anyOf": [{"$ref": "#/components/schemas/Thing"}, {"type": "null"}]}}},
  "Part": {"type": "object", "properties": {"weight": {"type": "integer", "minimum": 1}}}}}}`

// docsApp has the operation of docsSample, too, and one that is only for sessions.
const docsApp = `{"paths": {"/api/things": {
  "post": {"operationId": "createThing", "x-title": "Create thing", "x-role": "editor", "responses": {}},
  "delete": {"operationId": "dropThings", "summary": "Drop all.", "x-title": "Drop things", "tags": ["seed-lists"], "x-role": "admin",
    "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": {"type": "object"}, "example": {"dropped": 3}}}}}}}}}`

func TestTheReferenceShowsWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	docs, err := public.Docs([]byte(docsSample), []byte(docsApp))
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	docs.ServeHTTP(w, httptest.NewRequest("GET", "/docs", nil))
	if tag := w.Header().Get("ETag"); tag == "" {
		t.Error("the page cannot be revalidated")
	}
	page := w.Body.String()
	for _, want := range []string{
		"Seed lists", "Create &lt;things&gt;.", "lists:write", "one of yes, no", "parts[].weight", "at most 20 characters", "string or null", "from 1",
		"DUPLICATE_NAME", "$SERVER/api/things", `id="createThing"`, "object or null", "</span> Create thing</a>", "</span> Drop things</a>",
		`id="application"`, `id="dropThings"`, "<span>Role</span> admin", "&#34;dropped&#34;: 3",
		`id="event-thing.made"`, "A thing was made.", "<code>weight</code>", "&#34;type&#34;: &#34;thing.made&#34;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, `<article id="createThing"`); n != 1 {
		t.Errorf("an operation of both documents is shown %d times", n)
	}
	if strings.Contains(page, "parent.parent.") {
		t.Error("a schema that contains itself is unrolled")
	}
}

// All files of the page are ours, so it works without a network and
// under a policy that allows nothing else.
func TestTheReferenceLoadsNothingFromOtherSites(t *testing.T) {
	t.Parallel()
	docs, err := public.Docs([]byte(docsSample), []byte(docsApp))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/docs", "/docs/", "/docs/style.css", "/docs/search.js"} {
		w := httptest.NewRecorder()
		docs.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s = %d %v", path, w.Code, w.Header())
		}
		if path != "/docs" && strings.Contains(w.Body.String(), "http://") {
			t.Errorf("%s names another place", path)
		}
	}
	w := httptest.NewRecorder()
	docs.ServeHTTP(w, httptest.NewRequest("GET", "/docs", nil))
	z := html.NewTokenizer(w.Body)
	for z.Next() != html.ErrorToken {
		token := z.Token()
		for _, a := range token.Attr {
			switch {
			case a.Key == "style", strings.HasPrefix(a.Key, "on"):
				t.Errorf("<%s %s>: the policy forbids inline code and style", token.Data, a.Key)
			case a.Key == "src", a.Key == "href":
				if !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") {
					t.Errorf("<%s %s=%q> leads elsewhere", token.Data, a.Key, a.Val)
				}
			}
		}
	}
}

func TestABrokenDocumentIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := public.Docs([]byte("{"), []byte(docsApp)); err == nil {
		t.Error("no error for a broken document")
	}
}
