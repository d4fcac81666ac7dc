package public

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/edge/static"
)

//go:embed docs
var docsFiles embed.FS

var docsTemplate = template.Must(template.ParseFS(docsFiles, "docs/page.html"))

// docsPolicy allows the reference page to load files of ours, and nothing else.
const docsPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Docs serves the API reference at /docs, made once from the OpenAPI documents for keys and for sessions: the
// operations only in the second form a part of their own. It needs no network and works without scripts; a
// script adds the search and folds the navigation on narrow screens.
func Docs(keys, people []byte) (http.Handler, error) {
	var api, app openAPI
	if err := json.Unmarshal(keys, &api); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	if err := json.Unmarshal(people, &app); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document of the application: %w", err)
	}
	var page bytes.Buffer
	if err := docsTemplate.Execute(&page, reference(&api, &app)); err != nil {
		return nil, fmt.Errorf("write the reference page: %w", err)
	}
	mux := http.NewServeMux()
	serve := func(contentType string, content []byte, routes ...string) {
		text := static.New(contentType, content)
		served := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Security-Policy", docsPolicy)
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Cache-Control", "public, max-age=300")
			text.ServeHTTP(w, r)
		})
		for _, route := range routes {
			mux.Handle(route, served)
		}
	}
	serve("text/html; charset=utf-8", page.Bytes(), "GET /docs", "GET /docs/{$}")
	for name, contentType := range map[string]string{"style.css": "text/css; charset=utf-8", "search.js": "text/javascript; charset=utf-8"} {
		text, err := docsFiles.ReadFile("docs/" + name)
		if err != nil {
			return nil, err
		}
		serve(contentType, text, "GET /docs/"+name)
	}
	return mux, nil
}

// openAPI is the part of a document that the reference page uses.
type openAPI struct {
	Info struct {
		Title, Version, Description string
	} `json:"info"`
	Servers []struct {
		URL string `json:"url"`
	} `json:"servers"`
	Paths      map[string]docsPath `json:"paths"`
	Webhooks   map[string]docsPath `json:"webhooks"`
	Components struct {
		Schemas map[string]docsSchema `json:"schemas"`
	} `json:"components"`
}

// docsPath is a path of the document and its operations.
type docsPath struct {
	Get    *docsCall `json:"get"`
	Post   *docsCall `json:"post"`
	Put    *docsCall `json:"put"`
	Patch  *docsCall `json:"patch"`
	Delete *docsCall `json:"delete"`
}

// docsCall is one operation of the document.
type docsCall struct {
	ID      string `json:"operationId"`
	Title   string `json:"x-title"`
	Role    string `json:"x-role"`
	Samples []struct {
		Source string `json:"source"`
	} `json:"x-codeSamples"`
	Summary     string   `json:"summary"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Deprecated  bool     `json:"deprecated"`
	Scopes      []string `json:"x-scopes"`
	ScopeMode   string   `json:"x-scope-mode"`
	Parameters  []struct {
		Name        string     `json:"name"`
		In          string     `json:"in"`
		Required    bool       `json:"required"`
		Description string     `json:"description"`
		Schema      docsSchema `json:"schema"`
	} `json:"parameters"`
	RequestBody *docsBody           `json:"requestBody"`
	Responses   map[string]docsBody `json:"responses"`
}

type docsBody struct {
	Description string   `json:"description"`
	Codes       []string `json:"x-error-codes"`
	Content     map[string]struct {
		Schema  docsSchema      `json:"schema"`
		Example json.RawMessage `json:"example"`
	} `json:"content"`
}

// form returns the schema of a body that is a form with a file.
func (b *docsBody) form() (docsSchema, bool) {
	if b == nil {
		return docsSchema{}, false
	}
	c, ok := b.Content["multipart/form-data"]
	return c.Schema, ok
}

// The reference page, as its template sees it.
type (
	docsPage struct {
		Title, Version, Server, Base string
		Count, AppCount              int
		Parts                        []docsPart
		Webhooks                     []docsWebhook
	}
	docsWebhook struct {
		Name, Summary, Example string
		Body                   []docsField
	}
	docsPart struct {
		Name, Anchor string // both empty of the first
		Groups       []docsGroup
	}
	docsGroup struct {
		Name, Anchor string
		Operations   []docsOperation
	}
	docsOperation struct {
		ID, Title, Method, Path, Summary, Description string
		Scopes, Role, Curl                            string
		Deprecated                                    bool
		Parameters, Body                              []docsField
		Answers                                       []docsAnswer
		Refusals                                      []docsRefusal
	}
	docsAnswer struct {
		Status, Text, Example string
		Fields                []docsField
	}
	docsRefusal struct {
		Status string
		Codes  []string
	}
)

func reference(api, app *openAPI) docsPage {
	page := docsPage{Title: api.Info.Title, Version: api.Info.Version}
	if len(api.Servers) > 0 {
		page.Server = api.Servers[0].URL
		page.Base, _, _ = strings.Cut(page.Server, "/t/")
	}
	known := map[string]bool{}
	first := docsPart{Groups: api.groups("", known)}
	page.Count = len(known)
	page.Parts = []docsPart{first}
	if more := app.groups("app-", known); len(more) > 0 {
		page.Parts = append(page.Parts, docsPart{"Application", "application", more})
	}
	page.AppCount = len(known) - page.Count
	page.Webhooks = api.events()
	return page
}

// events returns the webhooks by name.
func (d *openAPI) events() []docsWebhook {
	var list []docsWebhook
	for _, name := range slices.Sorted(maps.Keys(d.Webhooks)) {
		call := d.Webhooks[name].Post
		if call == nil || call.RequestBody == nil {
			continue
		}
		body := call.RequestBody.Content["application/json"]
		data := d.fields(body.Schema.Properties["data"]) // the other fields are those of every event
		list = append(list, docsWebhook{Name: name, Summary: call.Summary, Example: indented(body.Example), Body: data})
	}
	return list
}

// groups returns the operations that are not in known, by tag.
func (d *openAPI) groups(prefix string, known map[string]bool) []docsGroup {
	groups := map[string]*docsGroup{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		item := d.Paths[path]
		for _, c := range []struct {
			method string
			call   *docsCall
		}{{"GET", item.Get}, {"POST", item.Post}, {"PUT", item.Put}, {"PATCH", item.Patch}, {"DELETE", item.Delete}} {
			if c.call == nil || known[c.call.ID] {
				continue
			}
			known[c.call.ID] = true
			name := "other"
			if len(c.call.Tags) > 0 {
				name = c.call.Tags[0]
			}
			if groups[name] == nil {
				groups[name] = &docsGroup{Name: headline(name), Anchor: prefix + "tag-" + strings.ReplaceAll(name, " ", "-")}
			}
			groups[name].Operations = append(groups[name].Operations, d.entry(*c.call, c.method, path))
		}
	}
	var list []docsGroup
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		list = append(list, *groups[name])
	}
	return list
}

// headline returns the heading for a tag such as seed-lists.
func headline(tag string) string {
	tag = strings.NewReplacer("-", " ", "_", " ").Replace(tag)
	if tag == "" {
		return tag
	}
	tag = strings.ToUpper(tag[:1]) + tag[1:]
	return strings.NewReplacer("Mta ", "MTA ", "Api ", "API ").Replace(tag)
}

func (d *openAPI) entry(call docsCall, method, path string) docsOperation {
	op := docsOperation{
		ID: call.ID, Title: cmp.Or(call.Title, call.ID), Method: method, Path: path, Summary: call.Summary, Description: call.Description,
		Deprecated: call.Deprecated, Role: call.Role,
	}
	if call.ScopeMode != "" {
		op.Scopes = scopeText(call.ScopeMode, call.Scopes)
	}
	if len(call.Samples) > 0 {
		op.Curl = call.Samples[0].Source
	}
	for _, p := range call.Parameters {
		f := p.Schema.field(p.Name)
		f.Place, f.Required = p.In, p.Required
		if p.Description != "" {
			f.Text = p.Description
		}
		op.Parameters = append(op.Parameters, f)
	}
	if form, ok := call.RequestBody.form(); ok {
		op.Body = d.fields(form)
	} else if call.RequestBody != nil {
		op.Body = d.fields(call.RequestBody.Content["application/json"].Schema)
	}
	for _, status := range slices.Sorted(maps.Keys(call.Responses)) {
		res := call.Responses[status]
		if len(res.Codes) > 0 {
			op.Refusals = append(op.Refusals, docsRefusal{status, res.Codes})
			continue
		}
		a := docsAnswer{Status: status, Text: res.Description}
		if c, ok := res.Content["application/json"]; ok {
			a.Fields, a.Example = d.fields(c.Schema), indented(c.Example)
		}
		op.Answers = append(op.Answers, a)
	}
	return op
}

func scopeText(mode string, scopes []string) string {
	list := strings.Join(scopes, ", ")
	switch {
	case len(scopes) == 0:
		return "any valid key"
	case mode == "by_type":
		return list + " (by the type of the record)"
	case mode == "by_job":
		return list + " (the one that made the job)"
	case mode == "any" && len(scopes) > 1:
		return "any of " + list
	case len(scopes) > 1:
		return "all of " + list
	}
	return list
}

// indented formats an example.
func indented(example json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, example, "", "  ") != nil {
		return ""
	}
	return b.String()
}
