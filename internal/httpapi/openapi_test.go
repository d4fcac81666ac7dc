package httpapi_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The document is what others build on: a change of it is seen in review.
// go test ./internal/httpapi -run OpenAPI -update writes it anew.
func TestTheOpenAPIDocumentIsTheOneReviewed(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "openapi.json")
	got := append(published(t, table(t), "/api/openapi.json"), '\n')
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the document changed; if it should have, run with -update (-reviewed +now):\n%.4000s", diff)
	}
}
