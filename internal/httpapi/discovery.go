package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"packetboat/internal/auth"
	"packetboat/internal/endpoint"
)

// The public words about the API itself (contract 3.8).
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

// discovery publishes the index of operations and the OpenAPI document. It
// tells of the operations that are in the table by then, so it comes last.
func (a *API) discovery(r *endpoint.Router) {
	document, err := r.Document()
	if err != nil {
		panic(fmt.Errorf("write the OpenAPI document: %w", err)) // a type of ours that cannot be described
	}
	r.Publish("GET /api/openapi.json", "application/json", document)
	index, err := json.Marshal(a.index(r))
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	r.Publish("GET /api/discover", "application/json", index)
}

func (a *API) index(r *endpoint.Router) discovery {
	base := strings.TrimSuffix(a.BaseURL.String(), "/")
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
