package template_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

const mail = `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>Hello {{param:who}}</mj-text>
      </mj-column>
    </mj-section>
    {{#section rows}}
    <mj-section><mj-column><mj-text>{{item:name}}</mj-text></mj-column></mj-section>
    {{/section}}
    {{slot:hero}}
  </mj-body>
</mjml>`

var mailSchema = binding.RawSchema{
	Parameters: json.RawMessage(`[{"name": "who", "type": "text", "sample": "Ann"}]`),
	Sections:   json.RawMessage(`[{"name": "rows", "item_schema": [{"name": "name", "type": "text"}]}]`),
	Slots:      json.RawMessage(`[{"name": "hero", "tag_filter": ["hero"]}]`),
}

// The error is that of the first check that fails, in the order in which the checks depend on each
// other.
func TestChecksAreMadeInOrder(t *testing.T) {
	each(t, func(a *account) {
		a.needsCompiler()
		for _, tt := range []struct {
			name    string
			ch      template.Change
			want    *fault.Error
			details string // substring of the details as JSON
		}{
			{"nothing is given", template.Change{HTML: new(" ")}, fault.ErrInput, `[{"path":"name",`},
			{"all fields at once", template.Change{
				Name: new(""), Slug: new("A"), Subject: new("a\nb"), Format: new(binding.Format("x")), Tags: &[]string{"", strings.Repeat("x", 65)},
				Schema: binding.RawSchema{Parameters: json.RawMessage(`5`)},
			}, fault.ErrInput, `"tags"`},
			{"no HTML", template.Change{Name: new("x")}, fault.ErrInput, `[{"path":"content_html"`},
			{"no MJML", page("x", func(ch *template.Change) { ch.Format = new(binding.MJML) }), fault.ErrInput, `[{"path":"content_mjml"`},
			{"a slug like an id", page("x", func(ch *template.Change) { ch.Slug = new("01900000-0000-7000-8000-000000000071") }), fault.ErrInput, `"slug"`},
			{"a long name", page(strings.Repeat("ä", 201)), fault.ErrInput, `"name"`},
			{"51 tags", page("x", func(ch *template.Change) {
				tags := make([]string, 51)
				for i := range tags {
					tags[i] = fmt.Sprint(i)
				}
				ch.Tags = &tags
			}), template.ErrLimit, ``},
			{"schema before placeholders", page("x", html("{{param:nobody}}"), params(`[{"name": "a", "type": "nonsense"}]`)), binding.ErrSchema, `parameters_schema[0].type`},
			{"placeholders before MJML", page("x", asMJML("<mjml>\n{{param:nobody}}</mjml>")), binding.ErrReference, `{"token":"{{param:nobody}}","field":"content_mjml","line":2}`},
			{"slots in the subject", page("x", slots(`[{"name": "hero"}]`), html("{{slot:hero}}"), func(ch *template.Change) { ch.Subject = new("{{slot:hero}}") }), binding.ErrReference, `"field":"subject"`},
			{"MJML before Liquid", page("x", asMJML("<mjml><mj-body>\n<mj-nope>{% if %}</mj-nope></mj-body></mjml>")), content.ErrMJMLElement, `{"tag":"mj-nope","line":2}`},
			{"MJML without a body", page("x", asMJML("<mjml></mjml>")), content.ErrMJML, `"field":"content_mjml"`},
			{"MJML that is not XML", page("x", asMJML("<mjml><mj-body>\n\n<mj-section></mj-body></mjml>")), content.ErrMJML, `"line":3`},
			{"mj-include", page("x", asMJML(`<mjml><mj-body><mj-include path="/etc/passwd" /></mj-body></mjml>`)), content.ErrMJMLElement, `mj-include`},
			{"MJML beside HTML", page("x", func(ch *template.Change) { ch.MJML = new("<div/>") }), content.ErrMJML, ``},
			{"Liquid of the HTML", page("x", html("<p>\n\n{% if x %}</p>")), content.ErrLiquid, `{"field":"content_html","line":3,`},
			{"Liquid behind placeholders", page("x", html("{{param:a}}\n{{\nparam:a\n}}\n{% nope %}"), params(`[{"name": "a", "type": "text"}]`)), content.ErrLiquid, `{"field":"content_html","line":5,`},
			{"Liquid of the MJML", page("x", asMJML("<mjml><mj-body><mj-section><mj-column><mj-text>\n{{ x | nope }}</mj-text></mj-column></mj-section></mj-body></mjml>")), content.ErrLiquid, `{"field":"content_mjml","line":2,`},
			{"Liquid of the text", page("x", func(ch *template.Change) { ch.Text = new("{% endif %}") }), content.ErrLiquid, `{"field":"content_text","line":1,`},
			{"Liquid of the subject", page("x", func(ch *template.Change) { ch.Subject = new("{{ x | y }}") }), content.ErrLiquid, `{"field":"subject","line":1,`},
			{"styles without end", page("x", html("<style>"+strings.Repeat("a{b:c}", 6000)+"</style><a>x</a>"), func(ch *template.Change) { ch.InlineCSS = new(true) }), fault.ErrInput, `"path":"inline_css"`},
			{"a group of nothing", page("x", declaring(binding.RawSchema{Groups: json.RawMessage(`[{"name": "g", "parameters": ["nobody"]}]`)})), binding.ErrReference, `nobody`},
		} {
			a.Run(tt.name, func(t *testing.T) {
				_, _, err := template.Create(t.Context(), a.db, compiler(), a.tenant, tt.ch, noon)
				if !errors.Is(err, tt.want) {
					t.Fatalf("Create: %v, want %s", err, tt.want.Code)
				}
				f, _ := fault.As(err)
				details, _ := json.Marshal(f.Details)
				if !strings.Contains(string(details), tt.details) {
					t.Errorf("details %s, want %s", details, tt.details)
				}
			})
		}
		all, err := template.List(a.Context(), a.db, a.tenant, template.Filter{}, false)
		a.ok(err)
		if len(all) > 0 {
			a.Errorf("a refused template was created: %s", slugs(all))
		}
	})
}

func TestAllInvalidFieldsAreReported(t *testing.T) {
	each(t, func(a *account) {
		_, _, err := template.Create(a.Context(), a.db, compiler(), a.tenant, template.Change{
			Name: new("\x00"), Slug: new(""), Subject: new(strings.Repeat("x", 999)), Format: new(binding.Format("x")), Tags: &[]string{"a", " "},
		}, noon)
		f, ok := fault.As(err)
		if !ok {
			a.Fatal(err)
		}
		fields, _ := f.Details.(fault.Fields)
		if got := names(fields.Fields, func(f fault.Field) string { return f.Path }); got != "name slug subject format tags" {
			a.Errorf("reported %s", got)
		}
	})
}

func TestHTMLIsCompiledFromMJML(t *testing.T) {
	each(t, func(a *account) {
		a.needsCompiler()
		made, warnings, err := template.Create(a.Context(), a.db, compiler(), a.tenant, page("Mail", asMJML(mail), declaring(mailSchema)), noon)
		a.ok(err)
		if len(warnings) != 0 {
			a.Errorf("warnings %v", warnings)
		}
		for _, want := range []string{"Hello Ann", "[slot: hero]", "[name]"} {
			if !strings.Contains(made.HTML, want) {
				a.Errorf("the HTML lacks %q: %s", want, made.HTML)
			}
		}
		// Changing the MJML compiles new HTML, other changes do not.
		changed, err := a.update("mail", template.Change{MJML: new(strings.Replace(mail, "Hello", "Goodbye", 1))})
		a.ok(err)
		if !strings.Contains(changed.HTML, "Goodbye Ann") {
			a.Errorf("the HTML was not compiled again: %s", changed.HTML)
		}
		if got, err := a.update("mail", template.Change{Subject: new("x")}); err != nil || got.HTML != changed.HTML {
			a.Errorf("a new subject changes the HTML: %v", err)
		}
		// HTML written by the author is kept.
		own, err := a.update("mail", template.Change{HTML: new("<p>{{param:who}}</p>")})
		a.ok(err)
		if own.HTML != "<p>{{param:who}}</p>" {
			a.Errorf("the HTML is %s", own.HTML)
		}
		if _, err := a.update("mail", template.Change{HTML: new("<p>{{param:nobody}}</p>")}); !errors.Is(err, binding.ErrReference) {
			a.Errorf("HTML with unknown placeholders: %v", err)
		}
		if got, err := a.update("mail", template.Change{HTML: new("")}); err != nil || got.HTML != changed.HTML {
			a.Errorf("empty HTML is not compiled from the MJML: %v", err)
		}
		if _, err := a.update("mail", template.Change{MJML: new("")}); !errors.Is(err, fault.ErrInput) {
			a.Errorf("change to an MJML template without MJML: %v", err)
		}
		if got, err := a.update("mail", template.Change{MJML: new(""), Format: new(binding.HTML), HTML: new("<p>x</p>")}); err != nil || got.MJML != nil || got.HTML != "<p>x</p>" {
			a.Errorf("change to the format html: %v", err)
		}
	})
}

func TestWarningsOfContent(t *testing.T) {
	each(t, func(a *account) {
		a.needsCompiler()
		body := strings.Replace(mail, "    {{slot:hero}}\n", "    <mj-section padding=\"nonsense\"><mj-column></mj-column></mj-section>\n", 1)
		_, warnings, err := template.Create(a.Context(), a.db, compiler(), a.tenant, page("Mail", asMJML(body), declaring(mailSchema)), noon)
		a.ok(err)
		for _, want := range []struct {
			code, path string
			line       int
		}{{"unused", "slots_schema[0]", 0}, {"mjml", "content_mjml", 11}} {
			found := false
			for _, w := range warnings {
				found = found || w.Code == want.code && w.Path == want.path && w.Line == want.line
			}
			if !found {
				a.Errorf("no warning %+v among %+v", want, warnings)
			}
		}
	})
}

func TestBlockRules(t *testing.T) {
	each(t, func(a *account) {
		a.needsCompiler()
		for _, tt := range []struct {
			name    string
			ch      template.BlockChange
			want    *fault.Error // nil: it is created
			details string
		}{
			{"no body", template.BlockChange{Name: new("x"), Text: new("x")}, template.ErrNoContent, ``},
			{"no name and no body", template.BlockChange{}, fault.ErrInput, `"name"`},
			{"a child of mj-body", template.BlockChange{Name: new("x"), MJML: new("<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>")}, nil, ``},
			{"a child of mj-column", template.BlockChange{Name: new("x"), MJML: new("<mj-text>x</mj-text>")}, nil, ``},
			{"a document", template.BlockChange{Name: new("x"), MJML: new("<mjml><mj-body></mj-body></mjml>")}, content.ErrMJML, ``},
			{"an unknown element", template.BlockChange{Name: new("x"), MJML: new("<mj-text>x</mj-text>\n<mj-nope/>")}, content.ErrMJMLElement, `"line":2`},
			{"a slot in a block", template.BlockChange{Name: new("x"), HTML: new("{{slot:a}}"), Schema: binding.RawSchema{Slots: json.RawMessage(`[{"name": "a"}]`)}}, binding.ErrReference, `{{slot:a}}`},
			{"an unknown parameter", template.BlockChange{Name: new("x"), HTML: new("{{param:a}}")}, binding.ErrReference, `"line":1`},
			{"a schema that is none", template.BlockChange{Name: new("x"), HTML: new("x"), Schema: binding.RawSchema{Sections: json.RawMessage(`{}`)}}, binding.ErrSchema, `sections_schema`},
			{"Liquid", template.BlockChange{Name: new("x"), HTML: new("\n{% if %}")}, content.ErrLiquid, `{"field":"content_html","line":2,`},
		} {
			a.Run(tt.name, func(t *testing.T) {
				_, _, err := template.CreateBlock(t.Context(), a.db, compiler(), a.tenant, tt.ch, noon)
				if tt.want == nil {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				if !errors.Is(err, tt.want) {
					t.Fatalf("CreateBlock: %v, want %s", err, tt.want.Code)
				}
				f, _ := fault.As(err)
				details, _ := json.Marshal(f.Details)
				if !strings.Contains(string(details), tt.details) {
					t.Errorf("details %s, want %s", details, tt.details)
				}
			})
		}
	})
}
