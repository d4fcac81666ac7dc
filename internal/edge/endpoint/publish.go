package endpoint

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/edge/static"
)

// Operation is an operation as discovery lists it.
type Operation struct {
	ID          string    `json:"operation_id"`
	Method      string    `json:"method"`
	Path        string    `json:"path"`
	Summary     string    `json:"summary"`
	Tag         string    `json:"tag"`
	Scopes      []string  `json:"scopes"`
	ScopeMode   ScopeMode `json:"scope_mode"`
	Pagination  string    `json:"pagination"`
	Idempotency bool      `json:"idempotency_header"`
	Deprecated  bool      `json:"deprecated"`
	Successor   string    `json:"successor,omitempty"`
}

// Operations returns the operations that keys may call, by path and method.
func (r *Router) Operations() []Operation {
	list := []Operation{}
	for _, rt := range r.listedRoutes() {
		list = append(list, Operation{
			ID: rt.Name, Method: rt.method, Path: rt.documentedPath(), Summary: rt.Summary, Tag: rt.Tag,
			Scopes: rt.scopeNames(), ScopeMode: rt.mode(), Pagination: rt.pagination(),
			Idempotency: rt.Idempotent, Deprecated: !rt.DeprecatedAt.IsZero(), Successor: rt.Successor,
		})
	}
	return list
}

// Publish serves a text without a credential, limited by the caller's address and cacheable for five
// minutes. It is written once, at the first request or by ReleaseDocuments.
func (r *Router) Publish(route, contentType string, write func() ([]byte, error)) {
	made := sync.OnceValues(func() (*static.Text, error) {
		text, err := write()
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", route, err)
		}
		return static.New(contentType, text), nil
	})
	r.published = append(r.published, made)
	r.mux.Handle(route, operationHandler(func(w http.ResponseWriter, req *http.Request) {
		x := callOf(req.Context())
		x.principal = auth.Principal{IP: x.ip}
		if err := x.countRequest(req.Context(), discoveryRule, ratelimit.Address(x.ip)); err != nil {
			x.refuse(err)
			return
		}
		text, err := made()
		if err != nil {
			x.refuse(err)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=300")
		text.ServeHTTP(w, req)
	}))
}
