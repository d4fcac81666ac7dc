package endpoint_test

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// What the router costs a small write and a small read.
func BenchmarkRouter(b *testing.B) {
	s := newShop(b, options{rate: 1 << 30})
	for name, what := range map[string]string{"post": "POST /t/acme/api/things", "get": "GET /t/acme/api/things"} {
		method, target, _ := strings.Cut(what, " ")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				req := httptest.NewRequest(method, target, strings.NewReader(`{"name": "x", "tags": ["a", "b"], "weight": 5, "props": {"a": 1}, "owner": {"email": "ann@example.org"}}`))
				req.Header.Set("X-API-Key", "key+broadcasts:write+broadcasts:read")
				s.router.ServeHTTP(httptest.NewRecorder(), req)
			}
		})
	}
}
