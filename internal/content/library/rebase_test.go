package library_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

// template creates a template with a headline and a teaser.
func (s *fixture) template() template.Template {
	s.Helper()
	t, _, err := template.Create(s.Context(), s.db, nil, s.tenant, template.Change{
		Name: new("Letter"), Subject: new("{{param:headline}}"),
		HTML: new("<h1>{{param:headline}}</h1><p>{{param:teaser}}</p>{{#section items}}<li>{{item:name}}</li>{{/section}}"),
		Schema: binding.RawSchema{
			Parameters: json.RawMessage(`[{"name": "headline", "type": "text", "required": true}, {"name": "teaser", "type": "text"}]`),
			Sections:   json.RawMessage(`[{"name": "items", "item_schema": [{"name": "name", "type": "text"}]}]`),
		},
	}, s.now)
	s.ok(err)
	return t
}

// fromTemplate is content made from a template.
func fromTemplate(slug, values string) *draft.Change {
	return &draft.Change{Template: &draft.TemplateRef{Slug: slug}, Binding: json.RawMessage(values)}
}

const values = `{"parameters": {"headline": "Hello", "teaser": "Read on"}, "sections": {"items": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}}`

// Content made from a template does not change when the template does.
func TestAVersionIsIndependentOfItsTemplate(t *testing.T) {
	each(t, func(s *fixture) {
		tpl := s.template()
		e := s.create(library.Change{Name: new("News"), Content: fromTemplate(tpl.Slug, values)})
		v := s.load(e.ID).Content
		if *v.Subject != "Hello" || !strings.Contains(*v.HTML, "<h1>Hello</h1><p>Read on</p><li>a</li><li>b</li><li>c</li>") || v.Origin == nil || v.Origin.Template != tpl.ID {
			s.Fatalf("the template made %+v", v)
		}
		e = s.update(e.ID, library.Change{Content: &draft.Change{Binding: json.RawMessage(`{"parameters": {"headline": "Bye"}}`)}})
		if *e.Content.Subject != "Bye" || strings.Contains(*e.Content.HTML, "Read on") {
			s.Errorf("another binding made %+v", e.Content)
		}
		_, err := library.Update(s.Context(), s.author(), s.tenant, e.ID, library.Change{Name: new("x"), Content: &draft.Change{Binding: json.RawMessage(`{"parameters": {"headline": 5}}`)}})
		if !errors.Is(err, binding.ErrBinding) {
			s.Errorf("a binding that does not fit: %v", err)
		}
		_, err = library.Create(s.Context(), s.author(), s.tenant, library.Change{Name: new("x"), Content: fromTemplate("nope", values)})
		if !errors.Is(err, draft.ErrTemplate) {
			s.Errorf("a template that is not there: %v", err)
		}
		s.ok(template.Delete(s.Context(), s.db, s.tenant, tpl.Slug, true, nil, s.now))
		if diff := cmp.Diff(e, s.load(e.ID)); diff != "" {
			s.Errorf("the entry without its template:\n%s", diff)
		}
		if got := subjects(s.versions(e.ID)); got != "2 Bye, 1 Hello" {
			s.Errorf("versions: %s", got)
		}
		if _, err := library.PreviewRebase(s.Context(), s.db, s.tenant, e.ID, nil, s.now); !errors.Is(err, library.ErrTemplateGone) {
			s.Errorf("a rebase without the template: %v", err)
		}
	})
}

func TestARebaseFollowsTheCurrentTemplate(t *testing.T) {
	each(t, func(s *fixture) {
		tpl := s.template()
		e := s.create(library.Change{Name: new("News"), Content: fromTemplate(tpl.Slug, values)})
		s.update(e.ID, library.Change{Content: withTexts(draft.Subject, "Mine")})
		before := s.load(e.ID)

		same, err := library.PreviewRebase(s.Context(), s.db, s.tenant, e.ID, nil, s.now)
		s.ok(err)
		if same.Diff.TemplateChanged || !equalJSON(s, same.Binding, values) {
			s.Errorf("of a template that did not change: %v %s", same.Diff.TemplateChanged, same.Binding)
		}

		s.later()
		_, _, err = template.Update(s.Context(), s.db, nil, s.tenant, tpl.Slug, template.Change{
			HTML: new("<h1>{{param:headline}}</h1><p>{{param:call}}</p>{{#section items}}<li>{{item:name}}</li>{{/section}}"),
			Schema: binding.RawSchema{
				Parameters: json.RawMessage(`[{"name": "headline", "type": "text", "required": true}, {"name": "call", "type": "text", "default": "Now"}]`),
				Sections:   json.RawMessage(`[{"name": "items", "max": 2, "item_schema": [{"name": "name", "type": "text"}]}]`),
			},
		}, s.now)
		s.ok(err)
		for _, version := range []*int{nil, new(1), new(2)} {
			r, err := library.PreviewRebase(s.Context(), s.db, s.tenant, e.ID, version, s.now)
			s.ok(err)
			if !r.Diff.TemplateChanged || r.Snapshot.TemplateID != tpl.ID || len(r.Snapshot.Parameters) != 2 || r.Snapshot.Parameters[1].Name != "call" || !r.Snapshot.CapturedAt.Equal(s.now) {
				s.Errorf("the template now: %v %+v", r.Diff.TemplateChanged, r.Snapshot)
			}
			if want := `{"parameters": {"headline": "Hello", "call": "Now"}, "sections": {"items": [{"name": "a"}, {"name": "b"}]}, "slots": {}}`; !equalJSON(s, r.Binding, want) {
				s.Errorf("merged: %s", r.Binding)
			}
		}
		if diff := cmp.Diff(before, s.load(e.ID)); diff != "" {
			s.Errorf("the preview changed the entry:\n%s", diff)
		}

		raw, bare := s.create(library.Change{Name: new("Raw"), Content: withSubject("x")}), s.create(library.Change{Name: new("Bare")})
		for _, tt := range []struct {
			what    string
			entry   id.LibraryEntry
			version *int
			want    *fault.Error
		}{
			{"no content", bare.ID, nil, content.ErrNoContent}, {"a version of no content", bare.ID, new(1), content.ErrNoContent},
			{"no such version", e.ID, new(3), library.ErrNoVersion}, {"no template", raw.ID, nil, library.ErrNotTemplate},
			{"no entry", id.New[id.LibraryEntry](), nil, library.ErrNotFound},
		} {
			if _, err := library.PreviewRebase(s.Context(), s.db, s.tenant, tt.entry, tt.version, s.now); !errors.Is(err, tt.want) {
				s.Errorf("%s: %v", tt.what, err)
			}
		}
	})
}

func equalJSON(s *fixture, a json.RawMessage, b string) bool {
	s.Helper()
	var x, y map[string]any
	s.ok(json.Unmarshal(a, &x))
	s.ok(json.Unmarshal([]byte(b), &y))
	if y["slots"] == nil {
		delete(x, "slots")
	}
	return cmp.Equal(x, y)
}
