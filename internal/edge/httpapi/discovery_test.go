package httpapi_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// newRouter returns a router with all operations and without a database.
func newRouter(t *testing.T) *endpoint.Router {
	t.Helper()
	base, log := &url.URL{Scheme: "https", Host: "mail.example.com"}, slog.New(slog.DiscardHandler)
	r := endpoint.New(endpoint.Options{Limiter: ratelimit.New(nil), BaseURL: base, Now: time.Now, Log: log})
	newAPI(t, &sqldb.DB{}, base, time.Now, log).Register(r)
	return r
}

func fetchDocument(t *testing.T, r http.Handler, path string) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if w.Code != http.StatusOK || w.Header().Get("ETag") == "" || w.Header().Get("X-RateLimit-Limit") != "120" {
		t.Fatalf("GET %s = %d %v", path, w.Code, w.Header())
	}
	return w.Body.Bytes()
}

func TestTheOpenAPIDocumentIsValid(t *testing.T) {
	sequential(t)
	t.Parallel()
	r := newRouter(t)
	text := fetchDocument(t, r, "/api/openapi.json")
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := public.Docs(text, fetchDocument(t, r, "/api/openapi-app.json")); err != nil {
		t.Errorf("reference page: %v", err)
	}
}

// The index of operations, the OpenAPI document and the scopes agree.
func TestDiscoveryAgreesWithTheDocument(t *testing.T) {
	sequential(t)
	t.Parallel()
	r := newRouter(t)
	doc, err := openapi3.NewLoader().LoadFromData(fetchDocument(t, r, "/api/openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		API struct {
			Version, Name string
			BaseURL       string `json:"base_url"`
			OpenAPIURL    string `json:"openapi_url"`
		}
		PathTemplate string `json:"path_template"`
		RateLimit    struct {
			Requests int
			Per      string
		} `json:"rate_limit"`
		Scopes     []struct{ Scope, Description string }
		Operations []endpoint.Operation
	}
	if err := json.Unmarshal(fetchDocument(t, r, "/api/discover"), &index); err != nil {
		t.Fatal(err)
	}
	if index.API.Version != doc.Info.Version || index.API.OpenAPIURL != "https://mail.example.com/api/openapi.json" || index.PathTemplate != "/t/{tenant_slug}/api" || index.RateLimit.Requests != 1000 {
		t.Errorf("head of the index = %+v", index)
	}
	if len(index.Scopes) != len(auth.Scopes()) {
		t.Errorf("%d scopes, want %d", len(index.Scopes), len(auth.Scopes()))
	}
	name := regexp.MustCompile(`^[a-z][A-Za-z]+$`)
	seen := map[string]bool{}
	for _, o := range index.Operations {
		item := doc.Paths.Value(o.Path)
		if item == nil || item.GetOperation(o.Method) == nil || item.GetOperation(o.Method).OperationID != o.ID {
			t.Errorf("%s %s is not in the document as %s", o.Method, o.Path, o.ID)
			continue
		}
		if !strings.HasPrefix(o.Path, "/api/") || o.Tag == "" || !name.MatchString(o.ID) || !strings.HasSuffix(o.Summary, ".") || seen[o.ID] {
			t.Errorf("%+v: want a path below /api, a tag, a name of its own and a sentence", o)
		}
		if (len(o.Scopes) == 0) != (o.ScopeMode == endpoint.Free) {
			t.Errorf("%s: scopes %v in mode %s", o.ID, o.Scopes, o.ScopeMode)
		}
		seen[o.ID] = true
	}
	if len(seen) == 0 {
		t.Error("no operation is listed")
	}
}
