package public

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

//go:embed docs
var docsFiles embed.FS

var docsTemplate = template.Must(template.ParseFS(docsFiles, "docs/page.html"))

// docsPolicy lets the reference page load what we serve, and nothing else.
const docsPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Docs serves the API reference at /docs, made once from the OpenAPI document.
// It needs no network and reads without scripts; a script adds the search.
func Docs(document []byte) (http.Handler, error) {
	var doc openAPI
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	var page bytes.Buffer
	if err := docsTemplate.Execute(&page, doc.reference()); err != nil {
		return nil, fmt.Errorf("write the reference page: %w", err)
	}
	mux := http.NewServeMux()
	serve := func(route, name, contentType string, text []byte) {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Type", contentType)
			h.Set("Content-Security-Policy", docsPolicy)
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Cache-Control", "public, max-age=300")
			http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
		})
	}
	serve("GET /docs", "docs.html", "text/html; charset=utf-8", page.Bytes())
	serve("GET /docs/{$}", "docs.html", "text/html; charset=utf-8", page.Bytes())
	for name, contentType := range map[string]string{"style.css": "text/css; charset=utf-8", "search.js": "text/javascript; charset=utf-8"} {
		text, err := docsFiles.ReadFile("docs/" + name)
		if err != nil {
			return nil, err
		}
		serve("GET /docs/"+name, name, contentType, text)
	}
	return mux, nil
}

// openAPI is what the reference page reads of the document.
type openAPI struct {
	Info struct {
		Title, Version, Description string
	} `json:"info"`
	Servers []struct {
		URL string `json:"url"`
	} `json:"servers"`
	Paths      map[string]map[string]docsCall `json:"paths"`
	Components struct {
		Schemas map[string]docsSchema `json:"schemas"`
	} `json:"components"`
}

// docsCall is one operation of the document.
type docsCall struct {
	ID          string   `json:"operationId"`
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
		Schema docsSchema `json:"schema"`
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
		Title, Version, Server string
		Count                  int
		Groups                 []docsGroup
	}
	docsGroup struct {
		Name, Anchor string
		Operations   []docsOperation
	}
	docsOperation struct {
		ID, Method, Path, Summary, Description string
		Scopes, Curl                           string
		Deprecated                             bool
		Parameters, Body                       []docsField
		Answers                                []docsAnswer
		Refusals                               []docsRefusal
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

func (d *openAPI) reference() docsPage {
	page := docsPage{Title: d.Info.Title, Version: d.Info.Version}
	if len(d.Servers) > 0 {
		page.Server = d.Servers[0].URL
	}
	groups := map[string]*docsGroup{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			call, ok := d.Paths[path][method]
			if !ok {
				continue
			}
			name := "other"
			if len(call.Tags) > 0 {
				name = call.Tags[0]
			}
			if groups[name] == nil {
				groups[name] = &docsGroup{Name: headline(name), Anchor: "tag-" + strings.ReplaceAll(name, " ", "-")}
			}
			groups[name].Operations = append(groups[name].Operations, d.entry(call, strings.ToUpper(method), path))
			page.Count++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		page.Groups = append(page.Groups, *groups[name])
	}
	return page
}

// headline writes a tag such as seed-lists as a heading.
func headline(tag string) string {
	tag = strings.NewReplacer("-", " ", "_", " ").Replace(tag)
	if tag == "" {
		return tag
	}
	return strings.ToUpper(tag[:1]) + tag[1:]
}

func (d *openAPI) entry(call docsCall, method, path string) docsOperation {
	op := docsOperation{
		ID: call.ID, Method: method, Path: path, Summary: call.Summary, Description: call.Description,
		Deprecated: call.Deprecated, Scopes: scopeText(call.ScopeMode, call.Scopes),
	}
	for _, p := range call.Parameters {
		f := p.Schema.field(p.Name)
		f.Place, f.Required = p.In, p.Required
		if p.Description != "" {
			f.Text = p.Description
		}
		op.Parameters = append(op.Parameters, f)
	}
	var sample string
	if call.RequestBody != nil {
		s := call.RequestBody.Content["application/json"].Schema
		op.Body = d.fields(s)
		sample = d.sample(s, true)
	}
	op.Curl = curl(method, path, sample)
	if form, ok := call.RequestBody.form(); ok {
		op.Body = d.fields(form)
		op.Curl = curl(method, path, "") + " \\\n  -F file=@contacts.csv \\\n  -F 'options={}'"
	}
	for _, status := range slices.Sorted(maps.Keys(call.Responses)) {
		res := call.Responses[status]
		if len(res.Codes) > 0 {
			op.Refusals = append(op.Refusals, docsRefusal{status, res.Codes})
			continue
		}
		a := docsAnswer{Status: status, Text: res.Description}
		if c, ok := res.Content["application/json"]; ok {
			a.Fields, a.Example = d.fields(c.Schema), d.sample(c.Schema, false)
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

// curl is a call to copy; the shell supplies the server and the key.
func curl(method, path, sample string) string {
	var b strings.Builder
	b.WriteString("curl ")
	if method != http.MethodGet {
		b.WriteString("-X " + method + " ")
	}
	b.WriteString(`"$SERVER` + path + `" \` + "\n  -H \"X-API-Key: $KEY\"")
	if sample != "" {
		b.WriteString(" \\\n  -H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(sample, "'", `'\''`) + "'")
	}
	return b.String()
}
