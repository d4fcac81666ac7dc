package httpapi_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// loaded are the documents, which are loaded once and never changed.
var loaded struct {
	once sync.Once
	docs map[string]*openapi3.T
}

func documents(t *testing.T) map[string]*openapi3.T {
	t.Helper()
	loaded.once.Do(func() {
		loaded.docs = map[string]*openapi3.T{}
		r := newRouter(t)
		for _, name := range []string{"openapi.json", "openapi-app.json"} {
			doc, err := openapi3.NewLoader().LoadFromData(fetchDocument(t, r, "/api/"+name))
			if err != nil {
				t.Fatal(err)
			}
			loaded.docs[name] = doc
		}
	})
	return loaded.docs
}

// The documents are golden files, so that a review shows their changes.
// go test ./internal/edge/httpapi -run OpenAPI -update writes them.
func TestTheOpenAPIDocumentsAreThoseReviewed(t *testing.T) {
	t.Parallel()
	r := newRouter(t)
	for _, name := range []string{"openapi.json", "openapi-app.json"} {
		golden := filepath.Join("testdata", name)
		got := append(fetchDocument(t, r, "/api/"+name), '\n')
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s changed; if it should have, run with -update (-reviewed +now):\n%.4000s", name, diff)
		}
	}
}

// Every operation is in the document for signed-in users, and if API keys may call it in the one for
// keys: with its role, its scopes and its security.
func TestEveryOperationIsDocumented(t *testing.T) {
	sequential(t)
	t.Parallel()
	r := newRouter(t)
	load := func(name string) map[string]*openapi3.Operation {
		doc := documents(t)[name]
		if err := doc.Validate(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		all := map[string]*openapi3.Operation{}
		for path, item := range doc.Paths.Map() {
			for _, op := range item.Operations() {
				all[op.OperationID] = op
				if own := len(item.Servers) > 0; own != (strings.HasPrefix(path, "/api/auth/") && !strings.HasPrefix(path, "/api/auth/api-keys")) {
					t.Errorf("%s %s: a server of its own: %v", name, path, own)
				}
			}
		}
		return all
	}
	keys, app := load("openapi.json"), load("openapi-app.json")
	table := operations(t, r)
	for id, op := range table {
		appOp, key := app[id], keys[id]
		if appOp == nil {
			t.Errorf("%s is not in openapi-app.json", id)
			continue
		}
		if forKeys := !op.session() && !op.open(); forKeys != (key != nil) {
			t.Errorf("%s: in openapi.json: %v, keys may call it: %v", id, key != nil, forKeys)
		} else if _, scoped := appOp.Extensions["x-scopes"]; scoped != forKeys {
			t.Errorf("%s: scopes in openapi-app.json: %v, keys may call it: %v", id, scoped, forKeys)
		}
		if role, _ := appOp.Extensions["x-role"].(string); role != string(op.role()) {
			t.Errorf("%s: role %q, want %q", id, role, op.role())
		}
		if open := appOp.Security != nil && len(*appOp.Security) == 0; open != op.open() {
			t.Errorf("%s: needs no session: %v, want %v", id, open, op.open())
		}
	}
	if len(app) != len(table) || len(keys) == 0 {
		t.Errorf("%d and %d operations documented, of %d", len(app), len(keys), len(table))
	}
}

// The session form has ids where the public form has names, and each document describes its form.
func TestTheDocumentForUsersHasTheSessionForm(t *testing.T) {
	sequential(t)
	t.Parallel()
	shows := func(name, path, field string) bool {
		_, ok := documents(t)[name].Paths.Value(path).Get.Responses.Status(200).Value.Content["application/json"].Schema.Value.Properties[field]
		return ok
	}
	for _, c := range []struct{ path, field string }{
		{"/api/broadcasts/{broadcast_id}", "include_segment_ids"}, {"/api/segments/{key}", "id"}, {"/api/settings/account", "default_mta_config_id"},
	} {
		if shows("openapi.json", c.path, c.field) {
			t.Errorf("openapi.json shows %s of %s", c.field, c.path)
		}
		if !shows("openapi-app.json", c.path, c.field) {
			t.Errorf("openapi-app.json lacks %s of %s", c.field, c.path)
		}
	}
}
