package endpoint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// object is a part of the document.
type object = map[string]any

// tenantPath is the prefix of every path of a tenant; the document and discovery omit it.
const tenantPath = "/t/{tenant}"

// sortedRoutes returns the operations for which keep is true, ordered by path and method.
func (r *Router) sortedRoutes(keep func(*route) bool) []*route {
	list := slices.DeleteFunc(slices.Clone(r.routes), func(rt *route) bool { return !keep(rt) })
	slices.SortFunc(list, func(a, b *route) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.method, b.method))
	})
	return list
}

// listedRoutes returns the operations that keys may call.
func (r *Router) listedRoutes() []*route {
	return r.sortedRoutes(func(rt *route) bool { return rt.Op.listed() })
}

// documentedPath returns the path as it is documented.
func (rt *route) documentedPath() string { return strings.TrimPrefix(rt.path, tenantPath) }

// documents are the OpenAPI 3.1 documents of a router.
type documents struct{ keys, sessions []byte }

// Document returns the OpenAPI 3.1 document of the operations that keys may call, indented. All operations
// must have been added.
func (r *Router) Document() ([]byte, error) {
	d, err := r.documents()
	return d.keys, err
}

// AppDocument returns the OpenAPI 3.1 document of all operations that sessions may call, and of those that
// begin one, with records in their session form.
func (r *Router) AppDocument() ([]byte, error) {
	d, err := r.documents()
	return d.sessions, err
}

func (r *Router) writeDocuments() (d documents, err error) {
	if d.keys, err = r.writeDocument(); err != nil {
		return d, err
	}
	d.sessions, err = r.writeAppDocument()
	return d, err
}

func (r *Router) writeDocument() ([]byte, error) {
	d := r.newDocumentWriter()
	doc, err := d.document(r.listedRoutes())
	if err != nil {
		return nil, err
	}
	doc["info"] = object{
		"title":       "Email Sending Service API",
		"version":     Version,
		"license":     license(),
		"description": "Paths are relative to a tenant, which is part of the server's address. Unknown fields of a request are ignored; clients ignore unknown fields of an answer. Every answer carries X-Request-Id and the X-RateLimit headers.",
	}
	doc["security"] = []object{{"ApiKeyAuth": []string{}}}
	doc["components"].(object)["securitySchemes"] = object{"ApiKeyAuth": object{"type": "apiKey", "in": "header", "name": "X-API-Key"}}
	return json.MarshalIndent(doc, "", "  ")
}

func (r *Router) writeAppDocument() ([]byte, error) {
	d := r.newDocumentWriter()
	d.session = true
	doc, err := d.document(r.sortedRoutes(func(*route) bool { return true }))
	if err != nil {
		return nil, err
	}
	doc["info"] = object{
		"title":       "Email Sending Service API: application",
		"version":     Version,
		"license":     license(),
		"description": "What signed-in people may call, the application among them. POST /api/auth/login answers with the cookie of a session; writes from pages of another origin are refused with CSRF_FAILED. x-role is the least role that a person needs. Operations with x-scopes take an API key too and show it the form that openapi.json describes; the others answer 403 API_KEY_FORBIDDEN to a key. Paths below /api/auth/ that name a server of their own belong to the installation, all others to a tenant.",
	}
	doc["security"] = []object{{"SessionCookie": []string{}}}
	doc["components"].(object)["securitySchemes"] = object{"SessionCookie": object{"type": "apiKey", "in": "cookie", "name": auth.CookieName}}
	return json.MarshalIndent(doc, "", "  ")
}

// DescribeTags sets the descriptions of tags in the documents.
func (r *Router) DescribeTags(texts map[string]string) { r.tags = texts }

// license is that of the program, and so of the documents that it serves.
func license() object { return object{"name": "Apache License 2.0", "identifier": "Apache-2.0"} }

func (r *Router) newDocumentWriter() *documentWriter {
	return &documentWriter{router: r, schemas: object{"Error": errorSchema()}, tags: map[string]bool{}}
}

// document describes the operations of list.
func (d *documentWriter) document(list []*route) (object, error) {
	paths := object{}
	for _, rt := range list {
		item, _ := paths[rt.documentedPath()].(object)
		if item == nil {
			item = object{}
			paths[rt.documentedPath()] = item
		}
		if rt.Installation {
			item["servers"] = []object{{"url": d.router.baseURL(), "description": "The installation"}}
		}
		op, err := d.operation(rt)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", rt.Name, err)
		}
		item[strings.ToLower(rt.method)] = op
	}
	webhooks, err := d.describeWebhooks()
	if err != nil {
		return nil, fmt.Errorf("describe webhooks: %w", err)
	}
	d.prune(paths, webhooks)
	tags := []object{}
	for _, t := range slices.Sorted(maps.Keys(d.tags)) {
		tag := object{"name": t}
		if text := d.router.tags[t]; text != "" {
			tag["description"] = text
		}
		tags = append(tags, tag)
	}
	return object{
		"openapi": "3.1.0",
		"servers": []object{{
			"url":         d.router.baseURL() + "/t/{tenant_slug}",
			"description": "One tenant",
			"variables":   object{"tenant_slug": object{"default": "your-tenant", "description": "The slug of the tenant"}},
		}},
		"tags":       tags,
		"paths":      paths,
		"webhooks":   webhooks,
		"components": object{"schemas": d.schemas, "headers": sharedHeaders()},
	}, nil
}

func (r *Router) baseURL() string {
	if r.BaseURL == nil {
		return ""
	}
	return strings.TrimSuffix(r.BaseURL.String(), "/")
}

// documentWriter writes operations and collects the schemas that they refer to.
type documentWriter struct {
	router  *Router
	schemas object
	tags    map[string]bool
	session bool // for sessions, not for keys
	checked bool // with what is checked, where documents show something else
}

func (d *documentWriter) operation(rt *route) (object, error) {
	op := object{
		"operationId": rt.Name,
		"summary":     rt.Summary,
	}
	if !d.session || rt.Op.listed() {
		op["x-scopes"], op["x-scope-mode"] = rt.scopeNames(), rt.mode()
	}
	if d.session && rt.Public {
		op["security"] = []object{}
	} else if d.session && !rt.Installation {
		op["x-role"] = rt.role(rt.method)
	}
	if rt.Description != "" {
		op["description"] = rt.Description
	}
	if rt.Tag != "" {
		op["tags"] = []string{rt.Tag}
		d.tags[rt.Tag] = true
	}
	if !rt.DeprecatedAt.IsZero() {
		op["deprecated"] = true
	}
	params, err := d.parameters(rt)
	if err != nil {
		return nil, err
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if rt.bodySchema != nil {
		s, err := d.schema(rt.bodySchema)
		if err != nil {
			return nil, err
		}
		content := object{jsonType: object{"schema": s}}
		if rt.upload != nil {
			content = formSchema(s, rt.mayNameFile)
		}
		op["requestBody"] = object{"required": !rt.bodyOptional, "content": content}
	}
	if op["responses"], err = d.responses(rt); err != nil {
		return nil, err
	}
	d.addExamples(rt, op)
	return op, nil
}

func (rt *route) scopeNames() []string {
	names := []string{}
	for _, s := range rt.scopes() {
		names = append(names, string(s))
	}
	return names
}

func (d *documentWriter) parameters(rt *route) ([]object, error) {
	var list []object
	for _, p := range rt.params {
		shown := p.shown
		if d.checked {
			shown = p.schema
		}
		s, err := d.schema(shown)
		if err != nil {
			return nil, err
		}
		o := object{"name": p.name, "in": p.in, "schema": s}
		if s["type"] == TypeArray {
			o["style"], o["explode"] = "form", false // separated by commas
		}
		if p.required {
			o["required"] = true
		}
		if text := shown.Description; text != "" {
			o["description"] = text
			delete(s, "description")
		}
		list = append(list, o)
	}
	if rt.Conditional {
		list = append(list, object{
			"name": ifMatch, "in": "header",
			"description": "The ETag of the revision that the change was made on, or several. If the record has another one by now, nothing changes.",
			"schema":      object{"type": "string"},
		})
	}
	declared := func(o object) bool { return o["name"] == idempotencyKey }
	if rt.takesKeys(d.session) && !slices.ContainsFunc(list, declared) {
		list = append(list, object{
			"name": idempotencyKey, "in": "header",
			"description": "A repeat with the same key within 24 hours answers as the first did and creates nothing. A key that does not match the pattern is ignored.",
			"schema":      object{"type": "string", "pattern": keyPattern.String()},
		})
	}
	return list, nil
}

func (d *documentWriter) responses(rt *route) (object, error) {
	all := object{}
	var body object
	if rt.responseSchema != nil {
		s, err := d.schema(rt.responseSchema)
		if err != nil {
			return nil, err
		}
		body = object{jsonType: object{"schema": s}}
	}
	for _, t := range rt.Produces {
		if body == nil {
			body = object{}
		}
		body[t] = object{"schema": object{"type": "string"}}
	}
	if rt.eventSchema != nil {
		s, err := d.schema(rt.eventSchema)
		if err != nil {
			return nil, err
		}
		body[Events] = object{"schema": object{"type": "string", "contentMediaType": "application/json", "contentSchema": s}}
	}
	for _, status := range append([]int{rt.Status}, rt.Statuses...) {
		res := object{"description": http.StatusText(status), "headers": headerRefs(rt, d.session)}
		if body != nil {
			res["content"] = body
		}
		all[strconv.Itoa(status)] = res
	}
	codes := rt.errorCodes(d.session)
	for _, status := range slices.Sorted(maps.Keys(codes)) {
		all[strconv.Itoa(status)] = d.errorResponse(rt, status, codes[status])
	}
	return all, nil
}

// errorResponse describes the error responses of one status, with all their codes.
func (d *documentWriter) errorResponse(rt *route, status int, codes []string) object {
	name := errorSchemaName(rt, status, codes)
	d.schemas[name] = object{"allOf": []object{
		{"$ref": schemaPrefix + "Error"},
		{"type": "object", "properties": object{"error": object{"type": "object", "properties": object{"code": object{"type": "string", "enum": codes}}}}},
	}}
	o := object{
		"description":   strings.Join(codes, ", "),
		"content":       object{jsonType: object{"schema": object{"$ref": schemaPrefix + name}}},
		"x-error-codes": codes,
	}
	if status == http.StatusTooManyRequests {
		o["headers"] = object{"Retry-After": headerRef("Retry-After")}
	}
	return o
}

// errorSchemaName names a schema after its codes, so that operations share it, or after the operation if
// there are more than three.
func errorSchemaName(rt *route, status int, codes []string) string {
	if len(codes) > 3 {
		return strings.ToUpper(rt.Name[:1]) + rt.Name[1:] + "Error" + strconv.Itoa(status)
	}
	var words []string
	for _, c := range codes {
		var word strings.Builder
		for part := range strings.SplitSeq(c, "_") {
			word.WriteString(part[:1] + strings.ToLower(part[1:]))
		}
		words = append(words, word.String())
	}
	return strings.Join(words, "Or") + "Error"
}

// errorCodes returns every error code of the operation, by status. Those of scopes are omitted in the
// document for sessions.
func (rt *route) errorCodes(session bool) map[int][]string {
	faults := []*fault.Error{ErrRateLimited, ErrInternal, ErrUnavailable}
	if !rt.Public {
		faults = append(faults, ErrUnauthorized)
	}
	if !rt.Installation {
		faults = append(faults, ErrTenant)
	}
	if len(rt.scopes()) > 0 && !session {
		faults = append(faults, auth.ErrScope)
	}
	if rt.method != http.MethodGet {
		faults = append(faults, ErrCSRF)
	}
	if rt.role(rt.method) != auth.Viewer && !rt.Public && !rt.Installation {
		faults = append(faults, ErrRole)
	}
	if rt.upload != nil {
		faults = append(faults, fault.ErrInput, ErrTooLarge, ErrMediaType)
	} else if rt.body != nil {
		faults = append(faults, fault.ErrInput, ErrJSON, ErrTooLarge, ErrMediaType)
	} else if slices.ContainsFunc(rt.params, func(p param) bool { return p.in == "query" }) {
		faults = append(faults, fault.ErrInput)
	}
	if rt.takesKeys(session) {
		faults = append(faults, ErrInProgress)
	}
	if rt.Conditional {
		faults = append(faults, fault.ErrInput, revision.ErrConflict)
	}
	faults = append(faults, rt.Faults...)
	faults = slices.AppendSeq(faults, maps.Values(rt.FieldFaults))
	codes := map[int][]string{}
	for _, f := range faults {
		codes[statusOf(f.Kind)] = append(codes[statusOf(f.Kind)], f.Code)
	}
	for status, list := range codes {
		slices.Sort(list)
		codes[status] = slices.Compact(list)
	}
	return codes
}

const schemaPrefix = "#/components/schemas/"

// schema returns s in the form of the document, and adds the schemas that it refers to.
func (d *documentWriter) schema(s *Schema) (object, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var o object
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	return o, d.normalizeSchema(o)
}

// normalizeSchema corrects the schemas of types for the document, at any depth of v, and adds the schemas
// that v refers to.
func (d *documentWriter) normalizeSchema(v any) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := d.normalizeSchema(e); err != nil {
				return err
			}
		}
	case object:
		d.chooseForm(v)
		d.showForm(v)
		if types, ok := v["type"].([]any); ok && slices.Contains(types, any("array")) {
			v["type"] = "array" // responses have [] in place of null
		}
		if open, _ := v["additionalProperties"].(bool); open {
			delete(v, "additionalProperties")
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := d.normalizeSchema(v[name]); err != nil {
				return err
			}
		}
		if ref, ok := v["$ref"].(string); ok {
			return d.addReferenced(ref)
		}
		return d.mergeChoices(v)
	}
	return nil
}

// addReferenced adds the schema that ref names to the document, once.
func (d *documentWriter) addReferenced(ref string) error {
	name := strings.TrimPrefix(ref, schemaPrefix)
	if _, known := d.schemas[name]; known {
		return nil
	}
	s := d.router.schemas.SchemaFromRef(ref)
	if s == nil {
		return fmt.Errorf("no schema %s", ref)
	}
	d.schemas[name] = object{} // schemas may contain themselves
	o, err := d.schema(s)
	if err != nil {
		return err
	}
	d.schemas[name] = o
	t := d.router.schemas.TypeFromRef(ref)
	if inner := hiddenFields(t); inner != "" {
		return fmt.Errorf("%s embeds %s, and huma leaves out the fields of types that are not exported: export it", t, inner)
	}
	markNull(o, t)
	return nil
}

// hiddenFields returns the name of an embedded struct whose fields JSON contains but schemas do not.
func hiddenFields(t reflect.Type) string {
	if t == nil || t.Kind() != reflect.Struct {
		return ""
	}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.Anonymous && !f.IsExported() && f.Type.Kind() == reflect.Struct && f.Type.NumField() > 0 && name == "" {
			return f.Type.Name()
		}
	}
	return ""
}

// markNull allows null for fields that may be null where their schema alone does not: a pointer to a type
// with its own schema, or a list with the tag nullable.
func markNull(o object, t reflect.Type) {
	properties, _ := o["properties"].(object)
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for f, name := range bodyFields(t) {
		p, _ := properties[name].(object)
		if !isNullable(f) {
			continue
		}
		if typ, ok := p["type"].(string); ok && (f.Type.Kind() == reflect.Pointer || f.Tag.Get("nullable") == "true") {
			p["type"] = []any{typ, "null"}
		}
		if enum, ok := p["enum"].([]any); ok && f.Type.Kind() == reflect.Pointer && !slices.Contains(enum, nil) {
			p["enum"] = append(enum, nil)
		}
		if p["$ref"] == nil {
			continue
		}
		p["anyOf"] = []object{{"$ref": p["$ref"]}, {"type": "null"}}
		delete(p, "$ref")
	}
}
