package httpapi_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/view/activity"
	"github.com/packetboat/packetboat/internal/view/search"
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

// Programs are generated from the documents: every parameter says what it is, and every flag, number and list has its
// type, though the server reads them all from texts.
func TestParametersAreDescribed(t *testing.T) {
	t.Parallel()
	for name, doc := range documents(t) {
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				for _, ref := range op.Parameters {
					p := ref.Value
					at := fmt.Sprintf("%s: %s %s: %s", name, method, path, p.Name)
					s := p.Schema.Value
					switch text := strings.ToLower(p.Description); {
					case text == "":
						t.Errorf("%s has no description", at)
					case p.In == "query" && strings.HasPrefix(text, "true: ") && !s.Type.Is("boolean") && len(s.Enum) == 0:
						t.Errorf("%s is a flag of the type %v", at, s.Type)
					case strings.Contains(text, "comma") && !s.Type.Is("array"):
						t.Errorf("%s is a list of the type %v", at, s.Type)
					case s.Type.Is("integer") && s.Min == nil:
						t.Errorf("%s has no minimum", at)
					case s.Type.Is("array") && (p.Style != "form" || p.Explode == nil || *p.Explode):
						t.Errorf("%s is not separated by commas", at)
					}
				}
			}
		}
	}
}

// What the document names is what the code accepts, all of it.
func TestParametersNameEveryChoice(t *testing.T) {
	t.Parallel()
	all := func(path, name string) []string {
		for _, ref := range documents(t)["openapi-app.json"].Paths.Value(path).Get.Parameters {
			if s := ref.Value.Schema.Value; ref.Value.Name == name {
				if s.Items != nil {
					s = s.Items.Value
				}
				var list []string
				for _, v := range s.Enum {
					list = append(list, v.(string))
				}
				return list
			}
		}
		return nil
	}
	for _, tt := range []struct {
		path, name string
		want       []string
	}{
		{"/api/activity", "types", texts(activity.Types())},
		{"/api/contacts/{id}/activity", "types", texts(activity.Types())},
		{"/api/contacts", "sort", append(contact.Sorts(), string(contact.ByMemberAdded))},
		{"/api/broadcasts", "status", texts(broadcast.Statuses())},
		{"/api/broadcasts/{broadcast_id}/recipients", "status", texts(outbox.Statuses())},
		{"/api/search", "types", texts(search.Types())},
	} {
		got := all(tt.path, tt.name)
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s of %s: %v, want %v", tt.name, tt.path, got, tt.want)
		}
	}
}

// Generators leave out schemas to which no operation refers, and know no choice between objects with fields in common:
// the documents have neither.
func TestSchemasSuitGenerators(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"openapi.json", "openapi-app.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Paths      json.RawMessage
			Webhooks   json.RawMessage
			Components struct{ Schemas map[string]json.RawMessage }
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		reached := map[string]bool{}
		var visit func(json.RawMessage)
		visit = func(part json.RawMessage) {
			for _, m := range schemaRefs.FindAllStringSubmatch(string(part), -1) {
				if !reached[m[1]] {
					reached[m[1]] = true
					visit(doc.Components.Schemas[m[1]])
				}
			}
		}
		visit(doc.Paths)
		for schema := range doc.Components.Schemas {
			if !reached[schema] {
				t.Errorf("%s: no operation refers to %s", name, schema)
			}
		}
		for _, m := range schemaRefs.FindAllStringSubmatch(string(doc.Webhooks), -1) {
			if !reached[m[1]] {
				t.Errorf("%s: only webhooks refer to %s", name, m[1])
			}
		}
		for schema, part := range doc.Components.Schemas {
			var s openapi3.Schema
			if err := json.Unmarshal(part, &s); err != nil {
				t.Fatal(err)
			}
			for field, p := range s.Properties {
				choices := 0
				if p.Value == nil { // a reference
					continue
				}
				for _, c := range slices.Concat(p.Value.AnyOf, p.Value.OneOf) {
					if c.Ref != "" || c.Value.Type.Is("object") {
						choices++
					}
				}
				if choices > 1 {
					t.Errorf("%s: %s.%s is a choice of %d objects", name, schema, field, choices)
				}
			}
		}
	}
}

// What linters of OpenAPI documents ask for besides: a licence, a description of each tag, and an id of each operation,
// of webhooks too.
func TestTheDocumentsSatisfyLinters(t *testing.T) {
	t.Parallel()
	for name, doc := range documents(t) {
		if doc.Info.License == nil {
			t.Errorf("%s has no licence", name)
		}
		for _, tag := range doc.Tags {
			if tag.Description == "" {
				t.Errorf("%s: the tag %s has no description", name, tag.Name)
			}
		}
		ids := map[string]bool{}
		check := func(at string, op *openapi3.Operation) {
			if op.OperationID == "" || ids[op.OperationID] {
				t.Errorf("%s: %s has the id %q, which is empty or not its own", name, at, op.OperationID)
			}
			ids[op.OperationID] = true
			if op.Summary == "" || len(op.Tags) == 0 {
				t.Errorf("%s: %s has no summary or no tag", name, at)
			}
		}
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				check(method+" "+path, op)
			}
		}
		for event, item := range doc.Webhooks {
			check(event, item.Post)
		}
		if len(doc.Webhooks) == 0 {
			t.Errorf("%s has no webhooks", name)
		}
	}
}

var schemaRefs = regexp.MustCompile(`"#/components/schemas/([^"]+)"`)

// A condition of a rule has the fields and types that package rule knows.
func TestConditionsAreDescribed(t *testing.T) {
	t.Parallel()
	got := documents(t)["openapi.json"].Components.Schemas["RuleCondition"].Value
	fields := map[string]bool{"type": true, "operator": true, "logic": true, "conditions": true, "negate": true}
	var types []any
	for _, leaf := range rule.LeafTypes() {
		types = append(types, leaf.Name)
		for _, name := range slices.Concat(leaf.Required, leaf.Optional) {
			fields[name] = true
			if p := got.Properties[name]; p == nil || !strings.Contains(p.Value.Description, leaf.Name) {
				t.Errorf("%s of the type %s is not described", name, leaf.Name)
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(got.Properties))); diff != "" {
		t.Errorf("fields (-known +described):\n%s", diff)
	}
	if diff := cmp.Diff(types, got.Properties["type"].Value.Enum); diff != "" {
		t.Errorf("types (-known +described):\n%s", diff)
	}
}

// texts returns the names of choices.
func texts[T ~string](list []T) []string {
	var names []string
	for _, v := range list {
		names = append(names, string(v))
	}
	return names
}

// A program that goes by the document is never refused, and the server takes what it took before: other spellings of
// numbers, flags and orders.
func TestParametersAreReadLeniently(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		for _, query := range []string{
			"/contacts?limit=50&sort=email&dir=asc", "/contacts?limit=many&sort=shoes&dir=ASC", "/contacts?limit=9999", "/contacts?limit=-3",
			"/contacts?status=active,pending", "/contacts?status=%20active%20,,", "/broadcasts?full=false&tags=a,b", "/broadcasts?full=yes&since=2026-01-01",
			"/broadcasts?since=2026-01-01T00:00:00Z&before=2026-02-01T00:00:00%2B02:00", "/templates?full=1&tags=,", "/segments?type=&include_usage=0",
			"/contacts?sort=member_added_at",
		} {
			s.must(200, "key", "GET "+query, "")
		}
		s.mustRefuse("key", "GET /broadcasts?archived=false", "", 400, "INVALID_INPUT")
		s.mustRefuse("key", "GET /contacts?status=sleepy", "", 400, "INVALID_STATUS")
	})
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
