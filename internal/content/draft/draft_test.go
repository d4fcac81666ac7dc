package draft_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

const document = `<mjml><mj-body><mj-section><mj-column><mj-text>%s</mj-text></mj-column></mj-section></mj-body></mjml>`

func doc(text string) *string { return new(strings.Replace(document, "%s", text, 1)) }

// desk is an author with a template.
type desk struct {
	*testing.T
	draft.Author
	tenant id.Tenant
	letter template.Template
}

func each(t *testing.T, f func(d *desk)) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		made, err := tenant.Create(t.Context(), db, "acme", "Acme", "UTC", now)
		if err != nil {
			t.Fatal(err)
		}
		d := &desk{T: t, Author: draft.Author{DB: db, MJML: mjml.New(), Now: now}, tenant: made.ID}
		t.Cleanup(d.MJML.Close)
		d.letter = d.template("Letter", "<p>{{param:words}}</p>", new("{{param:words}}, {{ first_name }}"))
		f(d)
	})
}

func (d *desk) template(name, html string, subject *string) template.Template {
	d.Helper()
	t, _, err := template.Create(d.Context(), d.DB, d.MJML, d.tenant, template.Change{
		Name: &name, HTML: &html, Subject: subject,
		Schema: binding.RawSchema{Parameters: json.RawMessage(`[{"name": "words", "type": "text", "required": true}]`)},
	}, now)
	if err != nil {
		d.Fatal(err)
	}
	return t
}

func words(s string) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"parameters": map[string]any{"words": s}})
	return b
}

func parts(pairs ...any) draft.Change {
	ch := draft.Change{Parts: map[draft.Field]*string{}}
	for i := 0; i < len(pairs); i += 2 {
		if s, ok := pairs[i+1].(string); ok {
			ch.Parts[pairs[i].(draft.Field)] = &s
		} else {
			ch.Parts[pairs[i].(draft.Field)] = nil
		}
	}
	return ch
}

// apply applies changes one after another.
func (d *desk) apply(changes ...draft.Change) (m draft.Content, err error) {
	for _, ch := range changes {
		if m, err = d.Apply(d.Context(), d.tenant, "seed", m, ch); err != nil {
			return m, err
		}
	}
	return m, nil
}

func (d *desk) must(changes ...draft.Change) draft.Content {
	d.Helper()
	m, err := d.apply(changes...)
	if err != nil {
		d.Fatal(err)
	}
	return m
}

func text(s *string) string {
	if s == nil {
		return "(nil)"
	}
	return *s
}

func (d *desk) templated(s string, more ...any) draft.Change {
	ch := parts(more...)
	ch.Template, ch.Binding = &draft.TemplateRef{Slug: d.letter.Slug}, words(s)
	return ch
}

func TestBodiesReplaceEachOther(t *testing.T) {
	each(t, func(d *desk) {
		html := parts(draft.Subject, "Hi", draft.BodyHTML, "<p>html</p>", draft.BodyText, "text")
		mjml := parts(draft.BodyMJML, *doc("compiled"))
		m := d.must(html)
		if text(m.HTML) != "<p>html</p>" || m.MJML != nil || text(m.Text) != "text" {
			d.Errorf("HTML: %+v", m)
		}
		m = d.must(html, mjml)
		if !strings.Contains(text(m.HTML), "compiled") || text(m.MJML) != *doc("compiled") || text(m.Text) != "text" {
			d.Errorf("MJML after HTML: %s", text(m.HTML))
		}
		m = d.must(html, mjml, parts(draft.BodyHTML, "<p>back</p>"))
		if text(m.HTML) != "<p>back</p>" || m.MJML != nil {
			d.Errorf("HTML after MJML: %+v", m)
		}
		m = d.must(parts(draft.Subject, "Hi", draft.BodyHTML, "<p>html</p>", draft.BodyMJML, *doc("wins")))
		if !strings.Contains(text(m.HTML), "wins") {
			d.Errorf("both: %s", text(m.HTML))
		}
		m = d.must(html, parts(draft.Preheader, "psst", draft.FromName, "Ann", draft.BodyText, nil), parts(draft.FromName, ""))
		if text(m.Preheader) != "psst" || m.FromName != nil || m.Text != nil || text(m.Subject) != "Hi" {
			d.Errorf("single parts: %+v", m)
		}
	})
}

func TestAPreheaderBecomesThePreviewOfMJML(t *testing.T) {
	each(t, func(d *desk) {
		write := parts(draft.Subject, "Hi", draft.BodyMJML, *doc("body"), draft.Preheader, `psst & {{ first_name | default: "you" }}`)
		m := d.must(write)
		if n := strings.Count(text(m.HTML), `psst &amp; {{ first_name | default: "you" }}`); n != 1 || !m.Source().Previewed {
			d.Errorf("%d previews, Previewed %v:\n%s", n, m.Source().Previewed, text(m.HTML))
		}
		if strings.Contains(text(m.MJML), "mj-preview") {
			d.Error("what the author wrote was changed")
		}
		m = d.must(write, parts(draft.Preheader, "another"))
		if strings.Contains(text(m.HTML), "psst") || strings.Count(text(m.HTML), "another") != 1 {
			d.Error("the preview is not the new one")
		}
		if m = d.must(write, parts(draft.Preheader, nil)); strings.Contains(text(m.HTML), "psst") || m.Source().Previewed {
			d.Error("the preview stays")
		}
	})
}

func TestATemplateIsRenderedAtEachSave(t *testing.T) {
	each(t, func(d *desk) {
		m := d.must(d.templated("Tea & cake"))
		if text(m.HTML) != "<p>Tea &amp; cake</p>" || text(m.Subject) != "Tea & cake, {{ first_name }}" || !strings.Contains(text(m.Text), "Tea & cake") {
			d.Errorf("made: %s, %s, %s", text(m.HTML), text(m.Subject), text(m.Text))
		}
		if m.Origin == nil || m.Origin.Template != d.letter.ID || m.Origin.Slug != "letter" || len(m.Origin.Snapshot) == 0 || string(m.Source().Context.Params) != `{"words":"Tea \u0026 cake"}` {
			d.Errorf("origin: %+v, %s", m.Origin, m.Source().Context.Params)
		}
		own := d.must(d.templated("a", draft.Subject, "My own"))
		if text(own.Subject) != "My own" || text(own.HTML) != "<p>a</p>" {
			d.Errorf("a subject of one's own: %+v", own)
		}
		if m = d.must(d.templated("a", draft.Subject, "My own"), parts(draft.Subject, nil)); text(m.Subject) != "a, {{ first_name }}" {
			d.Errorf("the template's subject again: %s", text(m.Subject))
		}
		if m = d.must(d.templated("a"), draft.Change{Binding: words("b")}); text(m.HTML) != "<p>b</p>" || text(m.Subject) != "b, {{ first_name }}" {
			d.Errorf("another binding: %s %s", text(m.HTML), text(m.Subject))
		}
		if _, _, err := template.Update(d.Context(), d.DB, d.MJML, d.tenant, d.letter.Slug, template.Change{HTML: new("<h1>{{param:words}}</h1>")}, now.Add(time.Second)); err != nil {
			d.Fatal(err)
		}
		saved, err := d.Apply(d.Context(), d.tenant, "seed", own, draft.Change{})
		if err != nil || text(saved.HTML) != "<h1>a</h1>" || text(saved.Subject) != "My own" || saved.Equal(own) {
			d.Errorf("saved again: %+v, %v", saved, err)
		}
		frozen := parts(draft.FromName, "Ann")
		frozen.Frozen = true
		if m, err := d.Apply(d.Context(), d.tenant, "seed", own, frozen); err != nil || text(m.HTML) != "<p>a</p>" || text(m.FromName) != "Ann" || m.Origin == nil {
			d.Errorf("frozen: %+v, %v", m, err)
		}
	})
}

func TestAnOwnBodyDropsTheTemplate(t *testing.T) {
	each(t, func(d *desk) {
		for name, leave := range map[string]draft.Change{
			"html": parts(draft.BodyHTML, "<p>own</p>"),
			"mjml": parts(draft.BodyMJML, *doc("own")),
			"null": {Template: &draft.TemplateRef{}},
		} {
			m := d.must(d.templated("Tea"), leave)
			if m.Origin != nil || text(m.Subject) != "Tea, {{ first_name }}" {
				d.Errorf("%s: %+v", name, m)
			}
			if name != "null" && !strings.Contains(text(m.HTML), "own") || name == "null" && text(m.HTML) != "<p>Tea</p>" {
				d.Errorf("%s: the body is %s", name, text(m.HTML))
			}
		}
	})
}

func TestInvalidChangesAreRefused(t *testing.T) {
	each(t, func(d *desk) {
		gone := d.templated("a")
		gone.Template = &draft.TemplateRef{Slug: "gone"}
		other, err := tenant.Create(d.Context(), d.DB, "other", "Other", "UTC", now)
		if err != nil {
			d.Fatal(err)
		}
		if _, err := d.Apply(d.Context(), other.ID, "seed", draft.Content{}, d.templated("a")); !errors.Is(err, draft.ErrTemplate) {
			d.Errorf("another tenant uses the template: %v", err)
		}
		bare := d.template("Bare", "<p>{{param:words}}</p>", nil)
		nameless := d.templated("a")
		nameless.Template = &draft.TemplateRef{ID: bare.ID}
		subject := []any{draft.Subject, "Hi"}
		for name, c := range map[string]struct {
			ch   draft.Change
			want *fault.Error
			says string
		}{
			"nothing":               {draft.Change{}, content.ErrNoContent, "subject"},
			"no body":               {parts(subject...), content.ErrNoContent, "body_html"},
			"no such template":      {gone, draft.ErrTemplate, "gone"},
			"a binding alone":       {draft.Change{Binding: words("a")}, draft.ErrTemplate, "template_slug"},
			"no binding":            {draft.Change{Template: &draft.TemplateRef{Slug: d.letter.Slug}}, binding.ErrBinding, "letter"},
			"a wrong binding":       {d.templated("two\nlines"), binding.ErrBinding, "words"},
			"a template sans title": {nameless, content.ErrNoContent, "subject"},
			"not MJML":              {parts(append(subject, draft.BodyMJML, "<p>")...), content.ErrMJML, "body_mjml"},
			"an unknown element":    {parts(append(subject, draft.BodyMJML, *doc("</mj-text><mj-nothing /><mj-text>"))...), content.ErrMJMLElement, "mj-nothing"},
			"an empty document":     {parts(append(subject, draft.BodyMJML, "<mjml><mj-body></mj-body></mjml>")...), content.ErrMJMLEmpty, ""},
			"bad Liquid":            {parts(append(subject, draft.BodyHTML, "{% if %}")...), content.ErrLiquid, "body_html"},
		} {
			_, err := d.apply(c.ch)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				d.Errorf("%s: %v; want %s that says %q", name, err, c.want.Code, c.says)
			}
		}
		if err := template.Delete(d.Context(), d.DB, d.tenant, d.letter.Slug, true, nil, now); err != nil {
			d.Fatal(err)
		}
	})
}

func TestADeletedTemplateFailsTheNextSave(t *testing.T) {
	each(t, func(d *desk) {
		m := d.must(d.templated("Tea"))
		if err := template.Delete(d.Context(), d.DB, d.tenant, d.letter.Slug, true, nil, now); err != nil {
			d.Fatal(err)
		}
		if _, err := d.Apply(d.Context(), d.tenant, "seed", m, draft.Change{}); !errors.Is(err, draft.ErrTemplate) || !strings.Contains(err.Error(), "letter") {
			d.Errorf("saved again: %v", err)
		}
		if m, err := d.Apply(d.Context(), d.tenant, "seed", m, parts(draft.BodyHTML, "<p>own</p>")); err != nil || m.Origin != nil {
			d.Errorf("with a body of its own: %+v, %v", m, err)
		}
	})
}

func TestReadableChecksTheTextsOfTheChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ch   draft.Change
		want *fault.Error
	}{
		"nothing":        {draft.Change{}, nil},
		"MJML":           {parts(draft.BodyMJML, *doc("{{ first_name }}")), nil},
		"MJML's Liquid":  {parts(draft.BodyMJML, *doc("{% if %}")), content.ErrLiquid},
		"MJML unclosed":  {parts(draft.BodyMJML, "<mjml><mj-body>"), content.ErrMJML},
		"Liquid":         {parts(draft.Subject, "{{ x | nothing }}"), content.ErrLiquid},
		"no subject":     {parts(draft.Subject, nil), content.ErrNoContent},
		"template's own": {draft.Change{Parts: parts(draft.Subject, nil, draft.BodyHTML, "{% if %}").Parts, Template: &draft.TemplateRef{Slug: "x"}}, nil},
	} {
		if err := c.ch.Readable(); c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
