package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// incompressible is a text that is too long for a database index even when it is compressed.
var incompressible = func() string {
	var b strings.Builder
	for n := uint32(1); b.Len() < 9000; n = n*1664525 + 1013904223 {
		fmt.Fprintf(&b, "%06x", n>>8)
	}
	return b.String()
}()

// hostileTexts are texts that break naive code.
var hostileTexts = []string{
	"a\x00b", "", " ", "\u202egnp.exe\u202c", "👩‍👩‍👧‍👦🏴‍☠️", "'; DROP TABLE contact; --", `" OR 1=1 /*`, "%' ESCAPE '!", `\`, "\r\nBcc: x@example.com",
	"<script>alert(1)</script>", "{{ x | y", "{% for %}", "{% if", "%00", "../../etc/passwd", "\x7f\x1b[31m", "\ufeff\uffff", "İı", "e\u0301",
	"a@b", "x@" + strings.Repeat("a", 300) + ".example", "http://[::1", "javascript:alert(1)", "0000-00-00", "9999-12-31T23:59:60Z", "999999999999999999999",
	"00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "null", incompressible,
}

// wrongTypes are, by JSON type, values of other types.
var wrongTypes = map[string][]string{
	"string":  {`5`, `true`, `[]`, `{}`, `[["x"]]`},
	"integer": {`"5"`, `1.5`, `true`, `[]`, `{}`, `1e400`, `99999999999999999999`},
	"number":  {`"5"`, `true`, `[]`, `{}`, `1e400`},
	"boolean": {`"true"`, `0`, `[]`, `{}`},
	"array":   {`"x"`, `5`, `true`, `{}`},
	"object":  {`"x"`, `5`, `true`, `[]`},
}

// extremeNumbers are out of the range of most fields.
var extremeNumbers = []string{`-1`, `0`, `2147483648`, `-9223372036854775808`, `9223372036854775807`}

// field is a field of a body, at any depth.
type field struct {
	path   []string
	schema *openapi3.Schema
}

func (f field) String() string { return strings.Join(f.path, ".") }

// fieldsOf returns every field of a body.
func fieldsOf(s *openapi3.Schema, at ...string) (fields []field) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name].Value
		for _, one := range p.AnyOf {
			if one.Value.Type != nil && !one.Value.Type.Is("null") {
				p = one.Value
			}
		}
		path := append(slices.Clone(at), name)
		fields = append(fields, field{path, p})
		fields = append(fields, fieldsOf(p, path...)...)
	}
	return fields
}

// with returns body with the field set to value, as JSON.
func (f field) with(t testing.TB, body, value string) string {
	t.Helper()
	var root map[string]any
	if body == "" {
		body = "{}"
	}
	if err := json.Unmarshal([]byte(body), &root); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	at := root
	for _, step := range f.path[:len(f.path)-1] {
		next, ok := at[step].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[step] = next
		}
		at = next
	}
	at[f.path[len(f.path)-1]] = json.RawMessage(value)
	text, err := json.Marshal(root)
	if err != nil {
		// a number that Go cannot decode, such as 1e400
		t.Fatalf("%s in %s: %v", value, f, err)
	}
	return string(text)
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(b)
}

// repeatableBodies are bodies with which an operation can create a record again and again: {n} is
// replaced by another number each time.
var repeatableBodies = map[string]string{
	"createContact":         `{"email": "c{n}@example.org", "external_id": "x{n}", "first_name": "Ann", "tags": ["x"], "stage_id": "{stage}", "custom_fields": {"plan": "pro"}, "subscriptions": {"weekly": true}}`,
	"upsertContact":         `{"email": "u{n}@example.org", "external_id": "u{n}", "full_name": "Ann C", "tags": ["y"], "custom_fields": {"plan": "x"}, "stage_id_if_new": "{stage}"}`,
	"createSendingIdentity": `{"email_address": "n{n}@acme.example.com", "display_name": "News", "email_type_ids": ["{type}"], "default_mta_config_id": "{lane}"}`,
	"createCustomField":     `{"name": "Plan {n}", "field_type": "string", "field_key": "plan{n}"}`,
	"createSegment":         `{"name": "Readers {n}", "definition": {"logic": "and", "conditions": [{"field": "country", "operator": "equals", "value": "DE"}]}, "tags": ["a"]}`,

	"createSegmentFromBroadcast": `{"broadcast_id": "{broadcast}", "criterion": "engagers", "name": "Engaged {n}"}`,

	"createStage":         `{"name": "Warm {n}", "category": "prospect", "color": "#112233"}`,
	"createEmailCategory": `{"name": "News {n}"}`,
	"createEmailType":     `{"display_name": "Weekly {n}", "category_id": "{category}"}`,
	"createMtaConfig":     `{"name": "Relay {n}", "type": "smtp", "settings": {"host": "smtp.example.com"}}`,
	"addSuppression":      `{"email": "gone{n}@example.org", "reason": "manual"}`,
	"createSeedList":      `{"name": "Vendor {n}", "rotation_days": 30, "sending_identity_ids": ["{identity}"]}`,
	"createSavedFilter":   `{"name": "Filter {n}", "filters": [{"field": "country", "operator": "equals", "value": "DE"}], "definition": {"logic": "and", "conditions": [{"field": "tags", "operator": "has_any", "value": ["x"]}]}, "columns": ["email"]}`,
	"inviteMember":        `{"email": "m{n}@acme.example", "role": "editor"}`,
	"createTemplate":      `{"name": "Letter {n}", "content_html": "<p>{{param:reader}}</p>", "tags": ["a"], "parameters_schema": [{"name": "reader", "type": "text"}]}`,
	"createBlock":         `{"name": "Hero {n}", "content_html": "<h1>{{param:title}}</h1>", "tags": ["hero"], "parameters_schema": [{"name": "title", "type": "text"}]}`,
	"createApiKey":        `{"name": "CRM {n}", "scopes": ["contacts:read"]}`,
}

// hostileTest sends variations of a valid request to one operation.
type hostileTest struct {
	*conformance
	t         testing.TB
	base      testRequest // a valid request
	commits   func() int
	sample    bool // only a few values of each kind
	data      bool // only values that reach the database
	sent      int
	succeeded int
	reset     func() // replaces the database by a new copy
}

// try sends a variation of the base request, compares the answer with the document and, after a
// refusal, checks that nothing was written. Without wanted statuses, any of the document is right.
func (a *hostileTest) try(what string, vary func(x *testRequest), wanted ...int) recordedResponse {
	a.t.Helper()
	x := a.base
	x.name, x.path, x.query = what, maps.Clone(x.path), maps.Clone(x.query)
	vary(&x)
	a.sent++
	x.body = strings.ReplaceAll(x.body, "{n}", strconv.Itoa(a.sent))
	before := a.commits()
	got := a.send(a.t, x)
	a.checkResponse(a.t, x, got)
	if len(wanted) > 0 && !slices.Contains(wanted, got.Code) {
		a.t.Errorf("%s, %s: %d, want %v\nsent %.300s\ngot %.300s", x.op.OperationID, what, got.Code, wanted, x.body, got.Body)
	}
	if got.Code >= 400 && x.op.ofTenant() && a.commits() != before {
		a.t.Errorf("%s, %s: %d, but something was written\nsent %.300s\ngot %.300s", x.op.OperationID, what, got.Code, x.body, got.Body)
	}
	if got.Code < 300 && a.reset != nil && x.op.method != http.MethodGet {
		if a.succeeded++; a.succeeded%30 == 0 { // before a limit on the number of records refuses all others
			a.reset()
		}
	}
	return got
}

func (a *hostileTest) sampled(values []string) []string {
	if !a.sample {
		return values
	}
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		return v != incompressible && v != "a\x00b" && v != "" && v != `\` && v != "İı" && v != "{% if" && v != hostileTexts[7] && v != `9223372036854775807` && v != `[["x"]]`
	})
}

func (a *hostileTest) run() {
	a.credentials()
	a.paths()
	a.queries()
	if !a.data {
		a.headers()
	}
	if a.base.op.body() != nil {
		if !a.data {
			a.bodies()
		}
		a.fields()
	}
	a.concurrentRequests()
}

func (a *hostileTest) credentials() {
	op := a.base.op
	if op.open() {
		return
	}
	for what, caller := range map[string]string{"no credential": "", "a wrong key": "pbk_aaaaaaaaaaaa_" + strings.Repeat("a", 43), "a malformed key": "pbk_'; --", "an unknown session": "x"} {
		if got := a.try(what, func(x *testRequest) { x.caller = caller }, 401); got.code() != "UNAUTHORIZED" {
			a.t.Errorf("%s, %s: %s", op.OperationID, what, got.Body)
		}
	}
	if !op.ofTenant() {
		return
	}
	a.try("another tenant's key", func(x *testRequest) { x.caller = a.keys["other"] }, 401)
	a.try("another tenant's owner", func(x *testRequest) { x.caller = a.records["other"]["owner"] }, 404)
	a.try("an unknown tenant", func(x *testRequest) { x.slug = "unknown" }, 404)
	a.try("an invalid tenant", func(x *testRequest) { x.slug = "%00" }, 404)
	switch {
	case op.session():
		if got := a.try("an API key for an operation of sessions", func(x *testRequest) { x.caller = a.keys["acme"] }, 403); got.code() != "API_KEY_FORBIDDEN" {
			a.t.Errorf("%s, an API key for an operation of sessions: %s", op.OperationID, got.Body)
		}
	case op.scoped():
		narrow := a.formsKey
		if slices.Contains(op.Tags, "forms") {
			narrow = a.enrollKey
		}
		if got := a.try("a key without the scope", func(x *testRequest) { x.caller = narrow }, 403); got.code() != "INSUFFICIENT_SCOPE" {
			a.t.Errorf("%s, a key without the scope: %s", op.OperationID, got.Body)
		}
	}
	if op.method != http.MethodGet {
		got := a.try("a page of another site", func(x *testRequest) {
			x.caller, x.headers = a.records["acme"]["owner"], map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
		}, 403)
		if got.code() != "CSRF_FAILED" {
			a.t.Errorf("%s, a page of another site: %s", op.OperationID, got.Body)
		}
	}
}

func (a *hostileTest) paths() {
	for name, own := range a.base.path {
		none := []int{404}
		if a.base.op.OperationID == "removeSegmentMember" && name == "contact_id" {
			none = append(none, 204) // removing a contact that is no member succeeds
		}
		if a.base.op.OperationID == "listContactEnrollments" && name == "contact_id" {
			none = append(none, 200) // an unknown contact has no enrollments
		}
		if a.base.op.OperationID == "storeWorkingCopy" && name == "kind" {
			none = append(none, 204) // any word
		}
		if name == "version" {
			none = append(none, 400) // not a number
		}
		for _, text := range a.sampled(hostileTexts) {
			if text == "" || text == " " {
				continue
			}
			a.try(fmt.Sprintf("%s = %.40q", name, text), func(x *testRequest) { x.path[name] = text }, none...)
		}
		for key, mine := range a.records["acme"] {
			if theirs := a.records["other"][key]; mine == own && theirs != "" && theirs != mine {
				a.try(name+" of another tenant", func(x *testRequest) { x.path[name] = theirs }, none...)
			}
		}
	}
}

func (a *hostileTest) queries() {
	for _, p := range a.base.op.Parameters {
		if p.Value.In != "query" {
			continue
		}
		name := p.Value.Name
		for _, text := range append(a.sampled(hostileTexts), "-1", "1e9", "\xff\xfe", "a,b,,c") {
			wanted := []int(nil)
			if strings.ContainsRune(text, 0) || text == "\xff\xfe" {
				wanted = []int{400}
			}
			a.try(fmt.Sprintf("?%s=%.40q", name, text), func(x *testRequest) {
				if x.query == nil {
					x.query = url.Values{}
				}
				x.query.Set(name, text)
			}, wanted...)
		}
		a.try("?"+name+" twice", func(x *testRequest) { x.query = url.Values{name: {"a", "b"}} })
	}
}

// headers checks that unusual headers do not change the result of a request.
func (a *hostileTest) headers() {
	if a.base.op.open() || a.base.op.method != http.MethodGet && !slices.Contains([]string{"createBroadcast", "createContact", "updateAccount"}, a.base.op.OperationID) {
		return // the other operations would change what later requests need
	}
	for name, values := range map[string][]string{
		"X-Request-Id":      {incompressible, "a b", "\xff", "../x", "<b>"},
		"Idempotency-Key":   {incompressible, "\xff\xfe", "a b", "'; --"},
		"Accept":            {"text/html", "*/*;q=0", "\xff"},
		"Accept-Encoding":   {"br", "gzip;q=0", ";;;"},
		"If-None-Match":     {"*", `"x`},
		"Range":             {"bytes=0-0"},
		"X-Forwarded-For":   {"1.2.3.4", "x, y", incompressible},
		"Cookie":            {";;=", "a=b", incompressible},
		"X-Http-Method":     {"DELETE"},
		"Transfer-Encoding": {"x"},
	} {
		for _, value := range values {
			got := a.try(fmt.Sprintf("%s: %.20q", name, value), func(x *testRequest) { x.headers = map[string]string{name: value} })
			if id := got.Header().Get("X-Request-Id"); name == "X-Request-Id" && id == value {
				a.t.Errorf("%s: %.20q is in the answer", a.base.op.OperationID, value)
			}
			if got.Code == 401 || got.Code == 403 {
				a.t.Errorf("%s, %s: %.20q: %d %s", a.base.op.OperationID, name, value, got.Code, got.Body)
			}
		}
	}
}

func (a *hostileTest) bodies() {
	for what, body := range map[string]string{
		"broken": `{"a":`, "a list": `[]`, "a string": `"x"`, "a number": `5`, "true": `true`, "two values": `{} {}`, "Latin-1": "{\"name\": \"\xe9\"}",
		"deep": strings.Repeat("[", 20_000), "deep and whole": `{"name": ` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`, "XML": `<a/>`, "a NUL": "{\x00}",
	} {
		wanted := []int{400}
		switch {
		case len(body) > a.base.op.maxBody():
			wanted = []int{413}
		case what == "deep and whole": // the field may be unknown
			wanted = nil
		}
		a.try("the body is "+what, func(x *testRequest) { x.body = body }, wanted...)
	}
	if a.base.op.maxBody() <= 5<<20 {
		huge := `{"name": "` + strings.Repeat("x", a.base.op.maxBody()) + `"}`
		a.try("the body is too large", func(x *testRequest) { x.body = huge }, 413)
	}
	for _, typ := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ";;", "application/xml"} {
		a.try("a body of "+typ, func(x *testRequest) { x.headers = map[string]string{"Content-Type": typ} }, 415)
	}
	a.try("a body that is packed", func(x *testRequest) { x.headers = map[string]string{"Content-Encoding": "gzip"} }, 415)
}

func (a *hostileTest) fields() {
	var typed []string
	var one *field // the last of typed
	var oneWrong string
	all := a.base.body
	bad := map[string]string{} // by field, a value of the right type that is refused
	for _, f := range fieldsOf(a.base.op.body()) {
		set := func(value string) func(*testRequest) {
			return func(x *testRequest) { x.body = f.with(a.t, x.body, value) }
		}
		what := func(value string) string { return fmt.Sprintf("%s = %.60s", f, value) }
		var types []string
		if f.schema.Type != nil {
			types = slices.DeleteFunc(slices.Clone(f.schema.Type.Slice()), func(t string) bool { return t == "null" })
		}
		for _, typ := range types {
			for _, value := range a.sampled(wrongTypes[typ]) {
				if value == `{}` && f.schema.Properties != nil {
					continue
				}
				a.try(what(value), set(value), 400)
			}
		}
		if len(types) == 1 && len(f.path) == 1 {
			typed = append(typed, f.String())
			all = f.with(a.t, all, wrongTypes[types[0]][2])
			one, oneWrong = &f, wrongTypes[types[0]][2]
		}
		a.try(what("null"), set("null"))
		if len(types) == 0 || slices.Contains(types, "string") {
			for _, text := range a.sampled(hostileTexts) {
				wanted := []int(nil)
				if strings.ContainsRune(text, 0) {
					wanted = []int{400}
				}
				got := a.try(what(quoted(text)), set(quoted(text)), wanted...)
				if len(f.path) == 1 && text != "a\x00b" && got.code() == "INVALID_INPUT" && slices.Equal(problemsOfResponse(got), []string{f.String()}) {
					bad[f.String()] = quoted(text)
				}
			}
			for key, theirs := range a.records["other"] {
				if strings.Contains(a.base.body, `"`+f.path[len(f.path)-1]+`": "`+a.records["acme"][key]+`"`) && theirs != a.records["acme"][key] && strings.Contains(f.String(), "id") {
					a.try(what("a foreign id"), set(quoted(theirs)), 400, 404)
				}
			}
		}
		if len(types) == 0 || slices.Contains(types, "integer") || slices.Contains(types, "number") {
			for _, n := range a.sampled(extremeNumbers) {
				got := a.try(what(n), set(n))
				if len(f.path) == 1 && got.code() == "INVALID_INPUT" && slices.Equal(problemsOfResponse(got), []string{f.String()}) {
					bad[f.String()] = n
				}
			}
		}
		if slices.Contains(types, "array") {
			a.arrays(f, set)
		}
		if len(types) == 0 || slices.Contains(types, "object") && f.schema.Properties == nil {
			for _, value := range []string{`{"a\u0000b": 1}`, `{"": {"": [null, {}]}}`, `{"a": 1e999}`, `{"` + incompressible + `": "` + incompressible + `"}`, `{"a": "\u0000"}`, `[1, "x", null]`, `{"a": ` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`} {
				a.try(what(value), set(value))
			}
		}
	}
	a.reportedTogether("every field is wrong", all, typed)
	body := a.base.body
	for name, value := range bad {
		body = field{path: []string{name}}.with(a.t, body, value)
	}
	a.reportedTogether("every field breaks its rule", body, slices.Sorted(maps.Keys(bad)))
	if one != nil {
		bad[one.String()] = ""
		a.reportedTogether("one field has a wrong type, others break their rules", one.with(a.t, body, oneWrong), slices.Sorted(maps.Keys(bad)))
	}
}

// arrays sends arrays that are too long, or have elements of wrong types.
func (a *hostileTest) arrays(f field, set func(string) func(*testRequest)) {
	many := func(value string, n int) string { return "[" + strings.Repeat(value+",", n-1) + value + "]" }
	for what, value := range map[string]string{"null in a list": `[null]`, "lists in a list": `[[[]]]`, "many strings": many(`"x"`, 10_000), "many ids": many(`"01900000-0000-7000-8000-000000000071"`, 10_000), "mixed": `["a", 1, {}]`, "a NUL": `["a\u0000"]`, "noise": `["` + incompressible + `"]`, "empty text": `[""]`} {
		wanted := []int(nil)
		if what == "lists in a list" || what == "mixed" || what == "null in a list" || what == "a NUL" {
			wanted = []int{400}
		}
		if f.schema.Items.Value.Type == nil && what != "a NUL" {
			wanted = nil
		}
		a.try(f.String()+": "+what, set(value), wanted...)
	}
	for key, theirs := range a.records["other"] {
		if strings.Contains(a.base.body, `["`+a.records["acme"][key]+`"]`) && theirs != a.records["acme"][key] && strings.HasSuffix(f.String(), "ids") {
			a.try(f.String()+": a foreign id", set(`["`+theirs+`"]`))
		}
	}
}

// reportedTogether checks that a request with several wrong fields reports all of them.
func (a *hostileTest) reportedTogether(what, body string, fields []string) {
	if len(fields) == 0 {
		return
	}
	got := a.try(what, func(x *testRequest) { x.body = body }, 400)
	have := problemsOfResponse(got)
	for _, f := range fields {
		if a.base.op.OperationID == "updateTemplate" && f == "content_html" {
			continue // whether it may be empty depends on the format that is stored
		}
		if a.base.op.OperationID == "previewMail" && f == "variant_id" {
			continue // it is compared with the stored broadcast
		}
		if !slices.Contains(have, f) {
			a.t.Errorf("%s: %s, but %s is not reported\nsent %.1000s\ngot %.1000s", a.base.op.OperationID, what, f, body, got.Body)
		}
	}
}

// problemsOfResponse returns the paths of the problems in a refusal.
func problemsOfResponse(a recordedResponse) (paths []string) {
	e, _ := a.body["error"].(map[string]any)
	details, _ := e["details"].(map[string]any)
	for _, f := range asList(details["fields"]) {
		path, _ := f.(map[string]any)["path"].(string)
		paths = append(paths, path)
	}
	return paths
}

func asList(v any) []any { list, _ := v.([]any); return list }

// concurrentRequests sends the valid request several times concurrently.
func (a *hostileTest) concurrentRequests() {
	if a.base.op.method == http.MethodGet {
		return
	}
	before := a.commits()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			x := a.base
			x.name, x.body = "concurrently", strings.ReplaceAll(x.body, "{n}", "0")
			a.checkResponse(a.t, x, a.send(a.t, x))
		})
	}
	wg.Wait()
	if _, makes := repeatableBodies[a.base.op.OperationID]; makes && !a.sample && a.commits() == before {
		a.t.Errorf("%s: four concurrent requests, and the test did not notice a write", a.base.op.OperationID)
	}
}

// readEverything checks that all reads succeed after the writes.
func (a *hostileTest) readEverything() {
	if a.base.op.method == http.MethodGet {
		return
	}
	for _, st := range otherSteps {
		op := a.ops[st.op]
		if op.method != http.MethodGet || !op.ofTenant() {
			continue
		}
		x := a.requestFor("acme", st)
		x.name, x.query = "after hostile requests to "+a.base.op.OperationID, nil
		a.checkResponse(a.t, x, a.send(a.t, x))
	}
}

// No operation fails with an internal error, whatever it receives. Refusals match the document and
// write nothing, and no request changes another tenant.
func TestNoOperationBreaksOnHostileInput(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		filled := newConformance(t, sqliteOnly(t))
		open := copyOpener(t, filled.db)
		for _, st := range slices.Concat(setupSteps, otherSteps) {
			if st.op == "createBroadcast" && st.remember == "second" || st.op == "createMtaConfig" && st.remember == "lane" || st.op == "scheduleBroadcast" && st.path["broadcast_id"] == "{second}" {
				continue
			}
			t.Run(st.op, func(t *testing.T) {
				t.Parallel()
				before := filled.checksums(t, "other")
				a := &hostileTest{t: t, base: filled.requestFor("acme", repeatable(st)), sample: testing.Short() || strings.HasPrefix(st.op, "update") && st.op != "updateAccount"}
				a.reset = func() {
					if a.conformance != nil {
						a.checkUnchanged(t, "other", before)
					}
					db, file := open(t)
					a.conformance = filled.withDatabase(t, db)
					a.commits = dataVersion(t, file)
					a.useCredentials()
				}
				a.reset()
				a.run()
				a.readEverything()
				a.checkUnchanged(t, "other", before)
			})
		}
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		if os.Getenv("PACKETBOAT_TEST_DIALECT") == "sqlite" {
			t.Skip("PACKETBOAT_TEST_DIALECT=sqlite")
		}
		s := newConformance(t, dbtest.Postgres(t))
		before := s.checksums(t, "other")
		for i, st := range slices.Concat(setupSteps, otherSteps) {
			if op := s.ops[st.op]; st.op == "deleteTenant" || st.op == "logOut" || op.open() || testing.Short() && i%4 != 0 {
				continue
			}
			a := &hostileTest{conformance: s, t: t, base: s.requestFor("acme", repeatable(st)), commits: func() int { return 0 }, sample: true, data: true}
			a.run()
			a.readEverything()
		}
		s.checkUnchanged(t, "other", before)
	})
}

// repeatable returns a step that can run more than once.
func repeatable(st step) step {
	if body, ok := repeatableBodies[st.op]; ok {
		st.body = body
	}
	return st
}

// sqliteOnly returns a SQLite database, or skips the test if only another dialect is tested.
func sqliteOnly(t *testing.T) *sqldb.DB {
	t.Helper()
	if only := os.Getenv("PACKETBOAT_TEST_DIALECT"); only != "" && only != "sqlite" {
		t.Skip("PACKETBOAT_TEST_DIALECT=" + only)
	}
	return dbtest.SQLite(t)
}

// useCredentials uses the credentials once, so that their last use, which is written once a minute,
// is not written later.
func (a *hostileTest) useCredentials() {
	for _, caller := range []string{a.keys["acme"], a.formsKey, a.enrollKey, a.cookies[auth.Owner]} {
		a.send(a.t, testRequest{name: "warm", op: a.ops["getAccount"], caller: caller})
	}
}

// dataVersion returns a function whose result changes when another connection writes to the
// database.
func dataVersion(t testing.TB, file string) func() int {
	t.Helper()
	db, err := driver.Open("file:" + strings.ReplaceAll(file, "#", "%23")) // as in the names of second subtests
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return func() (n int) {
		if err := db.QueryRow(`PRAGMA data_version`).Scan(&n); err != nil {
			t.Errorf("data_version: %v", err)
		}
		return n
	}
}
