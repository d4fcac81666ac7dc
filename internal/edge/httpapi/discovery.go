package httpapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// The index of operations.
type (
	discovery struct {
		API          discoveryAPI         `json:"api"`
		Auth         discoveryAuth        `json:"auth"`
		PathTemplate string               `json:"path_template"`
		RateLimit    discoveryLimit       `json:"rate_limit"`
		Scopes       []discoveryScope     `json:"scopes"`
		Operations   []endpoint.Operation `json:"operations"`
	}
	discoveryAPI struct {
		Name       string `json:"name"`
		Version    string `json:"version"`
		BaseURL    string `json:"base_url"`
		OpenAPIURL string `json:"openapi_url"`
	}
	discoveryAuth struct {
		Type   string `json:"type"`
		Header string `json:"header"`
	}
	discoveryLimit struct {
		Requests      int    `json:"requests"`
		WindowSeconds int    `json:"window_seconds"`
		Per           string `json:"per"`
	}
	discoveryScope struct {
		Scope       auth.Scope `json:"scope"`
		Description string     `json:"description"`
	}
)

// publishDocuments publishes the index of operations and the OpenAPI documents. They are made at the
// first request, from all operations registered by then.
func publishDocuments(r *endpoint.Router, base *url.URL) {
	r.SetResponseExamples(recordedAnswers())
	r.DescribeTags(tags)
	r.Publish("GET /api/openapi.json", "application/json", r.Document)
	r.Publish("GET /api/openapi-app.json", "application/json", r.AppDocument)
	r.Publish("GET /api/discover", "application/json", func() ([]byte, error) { return json.Marshal(discoveryIndex(r, base)) })
}

func discoveryIndex(r *endpoint.Router, baseURL *url.URL) discovery {
	base := strings.TrimSuffix(baseURL.String(), "/")
	scopes := []discoveryScope{}
	for _, s := range auth.Scopes() {
		scopes = append(scopes, discoveryScope{s.Scope, s.Description})
	}
	return discovery{
		API:          discoveryAPI{"Email Sending Service API", endpoint.Version, base, base + "/api/openapi.json"},
		Auth:         discoveryAuth{"api_key", "X-API-Key"},
		PathTemplate: "/t/{tenant_slug}/api",
		RateLimit:    discoveryLimit{r.RatePerMinute, 60, "api_key"},
		Scopes:       scopes,
		Operations:   r.Operations(),
	}
}

// answersFile contains the answers to the examples of operations, by operation. A test records them
// and compares their shape with the answers now.
//
//go:embed answers.json
var answersFile []byte

// recordedAnswers decodes answersFile.
func recordedAnswers() map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(answersFile, &all); err != nil {
		panic(fmt.Sprintf("httpapi: answers.json: %v", err)) // the file is compiled in
	}
	return all
}
