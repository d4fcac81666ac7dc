package mail

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// digest is a template with everything a template can have: parameters of
// several types, a section, a slot, and Liquid for the recipient.
var digest = map[string]any{
	"name": "Weekly digest", "format": "mjml", "content_html": "", "subject": "{{param:headline}} for {{ first_name | default: \"you\" }}",
	"content_mjml": `<mjml><mj-head><mj-title>{{param:headline}}</mj-title></mj-head><mj-body>
<mj-section><mj-column><mj-text><h1>{{headline}}</h1>{{intro}}</mj-text></mj-column></mj-section>
{{slot:hero}}
{{#section products}}<mj-section><mj-column><mj-text>{{item:_index}}. {{item:name}} costs {{item:price}}</mj-text>
<mj-button href="{{item:url}}">Buy {{item:name}}</mj-button></mj-column></mj-section>{{/section}}
<mj-section><mj-column><mj-text>{% if param.loud %}LOUD{% else %}quiet{% endif %}
{% for tag in contact.tags %}[{{ tag }}]{% endfor %} <a href="{{ unsubscribe_url }}">Leave</a></mj-text></mj-column></mj-section>
</mj-body></mjml>`,
	"parameters_schema": []any{
		map[string]any{"name": "headline", "type": "text", "required": true, "validation": map[string]any{"max_length": 60}},
		map[string]any{"name": "intro", "type": "rich_text", "default": "<p>Hello {{ first_name | default: \"reader\" }}</p>"},
		map[string]any{"name": "loud", "type": "boolean", "default": false},
	},
	"sections_schema": []any{map[string]any{"name": "products", "min": 1, "max": 5, "item_schema": []any{
		map[string]any{"name": "name", "type": "text", "required": true},
		map[string]any{"name": "price", "type": "number", "required": true},
		map[string]any{"name": "url", "type": "url", "required": true},
	}}},
	"slots_schema": []any{map[string]any{"name": "hero", "tag_filter": []any{"hero"}}},
}

// TestATemplateBecomesTheMailOfItsBinding follows a template to its mail: a template
// is created, previewed and filled in until it is valid; a broadcast is created from
// it and from the library; and the mails contain what was bound, for each recipient.
func TestATemplateBecomesTheMailOfItsBinding(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		ctx := t.Context()
		store := t.TempDir()
		p, ready, s := e2etest.Start(t, address, "-store", store)
		person, err := p.SignIn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		e2etest.Must(t, person, http.MethodPost, "/blocks", map[string]any{
			"name": "Spring hero", "tags": []any{"hero", "spring"}, "slot_keys": []any{"hero"},
			"content_mjml":      `<mj-section background-color="#eeeeee"><mj-column><mj-text>Hero: {{param:title}} ({{ contact.email }})</mj-text></mj-column></mj-section>`,
			"parameters_schema": []any{map[string]any{"name": "title", "type": "text", "required": true}},
		})
		made := e2etest.Must(t, ready.Key, http.MethodPost, "/templates", digest)
		if made["slug"] != "weekly-digest" && made["slug"] != "weekly_digest" {
			t.Errorf("the slug is %v", made["slug"])
		}
		template := "/templates/" + made["slug"].(string)
		options := e2etest.Must(t, ready.Key, http.MethodGet, template+"/binding-options", nil)
		slots, _ := options["slots_schema"].([]any)
		if hero, _ := slots[0].(map[string]any); hero["eligible_blocks_total"] != 1.0 {
			t.Errorf("binding-options: %v", options)
		}
		wrong := map[string]any{"parameters": map[string]any{"headlin": "x"}, "sections": map[string]any{"products": []any{map[string]any{"name": "Tea", "price": "much"}}}}
		verdict := e2etest.Must(t, ready.Key, http.MethodPost, template+"/validate-binding", map[string]any{"template_binding": wrong})
		if issues, _ := verdict["issues"].([]any); verdict["valid"] != false || len(issues) != 4 {
			t.Errorf("validate-binding: %v; want four issues", verdict)
		}
		bound := map[string]any{
			"parameters": map[string]any{"headline": "Tea & <cake> {{ contact.city }}", "loud": true},
			"sections": map[string]any{"products": []any{
				map[string]any{"name": "Green tea", "price": 4.5, "url": "https://shop.example.com/tea?a=1&b=2"},
				map[string]any{"name": "Cake <b>", "price": 10, "url": "https://shop.example.com/cake"},
			}},
			"slots": map[string]any{"hero": map[string]any{"strategy": "random", "parameters": map[string]any{"title": "Spring \"is\" here"}}},
		}
		if verdict := e2etest.Must(t, ready.Key, http.MethodPost, template+"/validate-binding", map[string]any{"template_binding": bound}); verdict["valid"] != true {
			t.Fatalf("validate-binding: %v", verdict)
		}
		lenient := e2etest.Must(t, ready.Key, http.MethodPost, template+"/render", map[string]any{"template_binding": map[string]any{}, "include_options": true})
		if missing, _ := lenient["missing"].([]any); len(missing) == 0 || lenient["binding_options"] == nil || !strings.Contains(lenient["body_html"].(string), "[headline]") {
			t.Errorf("a lenient rendering: %v, %v", lenient["missing"], lenient["body_html"])
		}

		e2etest.Must(t, ready.Key, http.MethodPost, "/contacts", map[string]any{"email": "ann@example.org", "first_name": "Ann <3", "city": "Bonn & Köln", "tags": []any{"a<b", "c"}})
		e2etest.Must(t, ready.Key, http.MethodPost, "/contacts", map[string]any{"email": "ben@example.org"})
		e2etest.Must(t, ready.Key, http.MethodPost, "/segments/"+ready.List+"/members", map[string]any{"emails": []any{"ann@example.org", "ben@example.org"}})
		lane, err := ready.Lane(ctx, "Relay", s.Address, 2, true)
		if err != nil {
			t.Fatal(err)
		}
		entry := e2etest.Must(t, ready.Key, http.MethodPost, "/messages", map[string]any{
			"name": "Spring digest", "content": map[string]any{"template_slug": made["slug"], "template_binding": bound, "preheader": "Two things for {{ first_name }}"},
		})
		id, err := ready.Broadcast(ctx, lane, map[string]any{"message_id": entry["id"]})
		if err != nil {
			t.Fatal(err)
		}
		draft := e2etest.Must(t, ready.Key, http.MethodGet, "/broadcasts/"+id, nil)
		written, _ := draft["content"].(map[string]any)
		if written["template_slug"] != made["slug"] || written["message_version"] != 1.0 || written["template_snapshot"] == nil || written["body_mjml"] == nil {
			t.Errorf("the draft's content: %v", written)
		}
		gone, err := ready.Key.Do(ctx, http.MethodDelete, template, nil)
		if err != nil || gone.Status != http.StatusConflict || gone.Code() != "IN_USE" {
			t.Errorf("a template that a draft uses is deleted: %d %s %v", gone.Status, gone.Body, err)
		}
		if err := ready.Schedule(ctx, id); err != nil {
			t.Fatal(err)
		}
		if _, err := ready.Await(ctx, id, "completed"); err != nil {
			t.Fatal(err)
		}
		mails := e2etest.Stored(t, store)
		if len(mails) != 2 {
			t.Fatalf("%d mails arrived, want two", len(mails))
		}
		ann, ben := mails["ann@example.org"], mails["ben@example.org"]
		if got, want := ann.GetHeader("Subject"), "Tea & <cake> Bonn & Köln for Ann <3"; got != want {
			t.Errorf("the subject is %q, want %q", got, want)
		}
		for _, want := range []string{
			"Tea &amp; &lt;cake&gt; Bonn &amp; Köln", "<p>Hello Ann &lt;3</p>", "1. Green tea costs 4.5", "costs 10", "2. Cake &lt;b&gt;",
			"Hero: Spring &#34;is&#34; here (ann@example.org)", "LOUD", "[a&lt;b][c]", "Two things for Ann &lt;3",
		} {
			if !strings.Contains(strings.ReplaceAll(ann.HTML, "&quot;", "&#34;"), want) {
				t.Errorf("Ann's HTML lacks %q", want)
			}
		}
		if strings.Count(ann.HTML, "Two things for") != 1 {
			t.Error("the preheader does not occur once in Ann's HTML")
		}
		if !strings.Contains(ben.HTML, "<p>Hello reader</p>") || !strings.HasSuffix(ben.GetHeader("Subject"), " for you") {
			t.Errorf("Ben's mail: %q", ben.GetHeader("Subject"))
		}
		for _, want := range []string{"Tea & <cake> Bonn & Köln", "Green tea costs 4.5", "Hello Ann <3"} {
			if !strings.Contains(ann.Text, want) {
				t.Errorf("Ann's text lacks %q:\n%s", want, ann.Text)
			}
		}
		if to := e2etest.Visit(t, e2etest.Link(t, ann, "Buy Green tea"), http.StatusFound); !strings.HasPrefix(to, "https://shop.example.com/tea?a=1&b=2&utm_source=") {
			t.Errorf("the button leads to %s", to)
		}
		templateChangesUnderADraft(t, ready, template, made["slug"].(string), bound, lane)
	})
}

// templateChangesUnderADraft changes the template of a draft: a draft keeps its
// bodies until it is saved again, is warned, and cannot be saved again without
// its template.
func templateChangesUnderADraft(t *testing.T, ready *harness.Ready, template, slug string, bound any, lane string) {
	t.Helper()
	id, err := ready.Broadcast(t.Context(), lane, map[string]any{"template_slug": slug, "template_binding": bound})
	if err != nil {
		t.Fatal(err)
	}
	draft := "/broadcasts/" + id
	body := func(m map[string]any) string {
		c, _ := m["content"].(map[string]any)
		s, _ := c["body_html"].(string)
		return s
	}
	warned := func(m map[string]any) bool {
		return strings.Contains(fmt.Sprint(m["view_model"]), "TEMPLATE_CHANGED")
	}
	before := e2etest.Must(t, ready.Key, http.MethodGet, draft, nil)
	if warned(before) {
		t.Error("a warning before the template changed")
	}
	source, _ := digest["content_mjml"].(string)
	e2etest.Must(t, ready.Key, http.MethodPut, template, map[string]any{"content_mjml": strings.Replace(source, "quiet", "silent", 1) + "<!-- edited -->"})
	if b := e2etest.Must(t, ready.Key, http.MethodGet, draft, nil); !warned(b) || body(b) != body(before) {
		t.Errorf("after the template changed: warned %v, the body is the same: %v", warned(b), body(b) == body(before))
	}
	if b := e2etest.Must(t, ready.Key, http.MethodPut, draft, map[string]any{"name": "Saved again"}); warned(b) || !strings.Contains(body(b), "silent") {
		t.Errorf("after the draft was saved again: warned %v", warned(b))
	}
	if a, err := ready.Key.Do(t.Context(), http.MethodDelete, template+"?force=true", nil); err != nil || a.Status != http.StatusNoContent {
		t.Fatalf("a forced deletion: %d %s %v", a.Status, a.Body, err)
	}
	a, err := ready.Key.Do(t.Context(), http.MethodPut, draft, map[string]any{"name": "And again"})
	if err != nil || a.Code() != "INVALID_TEMPLATE" {
		t.Errorf("a draft is saved without its template: %d %s %v", a.Status, a.Body, err)
	}
	b := e2etest.Must(t, ready.Key, http.MethodPut, draft, map[string]any{"content": map[string]any{"body_html": "<p>My own</p>", "subject": "Mine"}})
	if c, _ := b["content"].(map[string]any); c["template_slug"] != nil || c["template_binding"] != nil || c["body_mjml"] != nil {
		t.Errorf("a body of its own leaves %v", c)
	}
	if err := ready.Schedule(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := ready.Await(t.Context(), id, "completed"); err != nil {
		t.Fatal(err)
	}
}
