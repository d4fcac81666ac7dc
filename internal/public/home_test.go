package public

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHomeDescribesTheProgramAndLinks(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	Home().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	for _, want := range []string{"an email sending service", `href="mailbox/"`, `href="docs"`, `href="api/openapi.json"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the page lacks %s:\n%s", want, w.Body)
		}
	}
	if w.Code != http.StatusOK {
		t.Errorf("status = %d, want 200", w.Code)
	}
}
