package template_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

func (a *account) render(t template.Template, raw string, o template.RenderOptions) (template.Rendered, error) {
	return t.Render(a.Context(), a.db, compiler(), a.tenant, json.RawMessage(raw), o, noon.Add(1234567*time.Nanosecond))
}

func (a *account) rendered(t template.Template, raw string, o template.RenderOptions) template.Rendered {
	a.Helper()
	r, err := a.render(t, raw, o)
	a.ok(err)
	return r
}

func (a *account) issues(t template.Template, raw string) string {
	a.Helper()
	list, err := t.Validate(a.Context(), a.db, json.RawMessage(raw))
	a.ok(err)
	return names(list, func(i binding.Issue) string { return string(i.Code) + "@" + i.Path })
}

const letter = `<style>p { color: red }</style><p>Dear {{param:who}}, {{ first_name }}</p>
{{#section rows}}<b>{{item:_index}}. {{item:name}}</b>{{/section}}
{{slot:hero}}`

func letterOf(more ...func(ch *template.Change)) template.Change {
	return page("Letter", append([]func(ch *template.Change){html(letter), declaring(mailSchema), func(ch *template.Change) { ch.Subject = new("To {{param:who}}") }}, more...)...)
}

func TestATemplateIsRendered(t *testing.T) {
	each(t, func(a *account) {
		made := a.create(letterOf())
		hero := a.block("Hero", tagged("hero"), func(ch *template.BlockChange) {
			ch.HTML = new("<h1>{{param:title}}</h1>{{#section links}}<i>{{item:label}}</i>{{/section}}")
			ch.Schema.Parameters = json.RawMessage(`[{"name": "title", "type": "text", "default": "Hi"}]`)
			ch.Schema.Sections = json.RawMessage(`[{"name": "links", "item_schema": [{"name": "label", "type": "text"}]}]`)
		})
		r := a.rendered(made, `{"parameters": {"who": "<Bob>"}, "sections": {"rows": [{"name": "one"}, {"name": "{{plan}}"}]},
			"slots": {"hero": {"strategy": "fixed", "block_id": "hero", "parameters": {"title": "T"}, "sections": {"links": [{"label": "L"}]}}}}`, template.RenderOptions{})
		for _, want := range []string{"<p>Dear &lt;Bob&gt;, {{ first_name }}</p>", "<b>1. one</b><b>2. {{plan}}</b>", "<h1>T</h1><i>L</i>", "<style>"} {
			if !strings.Contains(r.HTML, want) {
				a.Errorf("the HTML lacks %s: %s", want, r.HTML)
			}
		}
		if r.MJML != nil || *r.Subject != "To <Bob>" || r.Text == nil || !strings.Contains(*r.Text, "Dear <Bob>, {{ first_name }}") {
			a.Errorf("rendered %+v", r)
		}
		sameJSON(a, "slots", r.Slots, json.RawMessage(fmt.Sprintf(`{"hero":{"strategy":"fixed","block_id":%q,"block_slug":"hero","block_name":"Hero"}}`, hero.ID)))
		sameJSON(a, "blocks", r.Blocks, []id.Block{hero.ID})

		empty := a.rendered(made, `{}`, template.RenderOptions{})
		sameJSON(a, "slots", empty.Slots, json.RawMessage(`{"hero":{"strategy":"empty","block_id":null,"block_slug":null,"block_name":null}}`))
		if strings.Contains(empty.HTML, "{{slot") || strings.Contains(empty.HTML, "<b>") || len(empty.Blocks) > 0 {
			a.Errorf("rendered with an empty binding: %s", empty.HTML)
		}

		// With InlineCSS styles are inlined; a text body is filled too.
		styled := a.create(letterOf(func(ch *template.Change) { ch.InlineCSS, ch.Text = new(true), new("{{param:who}}!\n{{slot:hero}}") }))
		r = a.rendered(styled, `{"parameters": {"who": "Bob"}, "slots": {"hero": {"strategy": "fixed", "block_id": "`+strings.ToUpper(hero.ID.String())+`"}}}`, template.RenderOptions{})
		if !strings.Contains(r.HTML, `style="color: red`) && !strings.Contains(r.HTML, `style="color:red`) {
			a.Errorf("styles are not inlined: %s", r.HTML)
		}
		if !strings.HasPrefix(*r.Text, "Bob!\nHi") {
			a.Errorf("text %q", *r.Text)
		}
	})
}

func TestMJMLIsCompiled(t *testing.T) {
	each(t, func(a *account) {
		a.needsCompiler()
		made := a.create(page("Mail", asMJML(mail), declaring(mailSchema)))
		a.block("HTML only", tagged("hero"))
		both := a.block("Both", tagged("hero"), func(ch *template.BlockChange) {
			ch.MJML = new("<mj-section><mj-column><mj-text>From MJML</mj-text></mj-column></mj-section>")
		})
		r := a.rendered(made, `{"parameters": {"who": "A & B"}, "sections": {"rows": [{"name": "x"}]}, "slots": {"hero": {"strategy": "random"}}}`, template.RenderOptions{})
		if !strings.Contains(r.HTML, "Hello A &amp; B") || !strings.Contains(r.HTML, "From MJML") || !strings.Contains(*r.MJML, "<mj-text>x</mj-text>") {
			a.Errorf("rendered %s\n%s", *r.MJML, r.HTML)
		}
		if *r.Slots["hero"].BlockID != both.ID {
			a.Errorf("the block is %s, which has no MJML", *r.Slots["hero"].BlockName)
		}
		if got := a.issues(made, `{"slots": {"hero": {"strategy": "fixed", "block_id": "html-only"}}}`); got != "block_not_eligible@slots.hero.block_id" {
			a.Errorf("a block without MJML: %s", got)
		}
		bare := a.create(page("Bare", asMJML("<mjml><mj-body>\n{{#section rows}}\n<mj-section><mj-column><mj-text>{{item:name}}</mj-text></mj-column></mj-section>\n{{/section}}\n</mj-body></mjml>"),
			declaring(binding.RawSchema{Sections: mailSchema.Sections})))
		if _, err := a.render(bare, `{"sections": {"rows": []}}`, template.RenderOptions{}); !errors.Is(err, content.ErrMJMLEmpty) {
			a.Errorf("an empty body: %v", err)
		}
		raw := a.create(page("Raw", asMJML("<mjml><mj-body><mj-section><mj-column><mj-text>{{param:x}}</mj-text></mj-column></mj-section></mj-body></mjml>"), params(`[{"name": "x", "type": "html"}]`)))
		if _, err := a.render(raw, `{"parameters": {"x": "{% if a %}"}}`, template.RenderOptions{}); !errors.Is(err, binding.ErrBinding) {
			a.Errorf("a value with an incomplete tag: %v", err)
		}
	})
}

func TestABindingIsValidated(t *testing.T) {
	each(t, func(a *account) {
		made := a.create(page("Strict", html("{{param:who}}{{#section rows}}{{item:name}}{{/section}}{{slot:hero}}"),
			declaring(binding.RawSchema{Sections: mailSchema.Sections, Slots: mailSchema.Slots, Parameters: json.RawMessage(`[{"name": "who", "type": "text", "required": true}]`)})))
		a.block("Hero", tagged("hero", "x"))
		a.block("Asleep", tagged("hero"), func(ch *template.BlockChange) { ch.Active = new(false) })
		a.block("Untagged")
		theirs := a.blockOf(a.other, "Theirs", tagged("hero"))
		ofBlock := func(ref string) string {
			return `{"parameters": {"who": "x"}, "slots": {"hero": {"strategy": "fixed", "block_id": "` + ref + `"}}}`
		}
		const unfit = "block_not_eligible@slots.hero.block_id"
		for raw, want := range map[string]string{
			``: "shape@", `null`: "shape@", `[]`: "shape@", `5`: "shape@", `{"parameters": []}`: "shape@parameters",
			`{}`:                        "required_missing@parameters.who",
			ofBlock("hero"):             "",
			ofBlock("asleep"):           unfit,
			ofBlock("untagged"):         unfit,
			ofBlock("theirs"):           unfit,
			ofBlock(theirs.ID.String()): unfit,
			ofBlock("missing"):          unfit,
			ofBlock(`a\u0000b`):         unfit,
			`{"parameters": {"who": "x"}, "slots": {"hero": {"strategy": "fixed", "block_id": "hero"}}, "Slots": null, "SLOTS": {}}`: "",
			ofBlock(``):                            "required_missing@slots.hero.block_id",
			`{"parameters": {"who": "x", "y": 1}}`: "unknown_param@parameters.y",
			`{"parameters": {"who": "x"}, "sections": {"rows": [{"nope": 1}], "nope": []}, "slots": {"hero": "x", "nope": {}}}`: "unknown_param@sections.rows[0].nope unknown_section@sections.nope invalid_type@slots.hero unknown_slot@slots.nope",
			`{"parameters": {"who": "x"}, "slots": {"hero": {"strategy": "magic"}}}`:                                            "invalid_strategy@slots.hero.strategy",
		} {
			if got := a.issues(made, raw); got != want {
				a.Errorf("issues of %s: %q, want %q", raw, got, want)
			}
			_, err := a.render(made, raw, template.RenderOptions{})
			if want == "" {
				a.ok(err)
				continue
			}
			f, _ := fault.As(err)
			if !errors.Is(err, binding.ErrBinding) {
				a.Errorf("rendering %s: %v", raw, err)
				continue
			}
			details, _ := f.Details.(binding.Issues)
			if got := names(details.Issues, func(i binding.Issue) string { return string(i.Code) + "@" + i.Path }); got != want {
				a.Errorf("refused with issues %q, want %q", got, want)
			}
			r := a.rendered(made, raw, template.RenderOptions{Lenient: true})
			if got := names(r.Issues, func(i binding.Issue) string { return string(i.Code) + "@" + i.Path }); got != want || r.HTML == "" {
				a.Errorf("issues of a lenient rendering: %q, want %q", got, want)
			}
			for _, i := range details.Issues {
				if i.Fix == "" || i.Message == "" {
					a.Errorf("no fix for %+v", i)
				}
			}
		}
	})
}

// The same block is chosen each time, also when other blocks were created since, and never one of
// another account.
func TestRandomBlocksDoNotChange(t *testing.T) {
	each(t, func(a *account) {
		made := a.create(page("Lucky", html("{{slot:hero}}"), slots(`[{"name": "hero", "tag_filter": ["hero", "blue"], "default_strategy": "random"}]`)))
		for n := range 6 {
			a.block(fmt.Sprint("Blue ", n), tagged("hero", "blue", fmt.Sprint(n)))
			a.blockOf(a.other, fmt.Sprint("Theirs ", n), tagged("hero", "blue"))
		}
		a.block("Needy", tagged("hero", "blue"), func(ch *template.BlockChange) {
			ch.HTML, ch.Schema.Parameters = new("{{param:x}}"), json.RawMessage(`[{"name": "x", "type": "text", "required": true}]`)
		})
		seen := map[string]bool{}
		for n := range 40 {
			o := template.RenderOptions{Seed: fmt.Sprint("seed ", n)}
			first := a.rendered(made, `{}`, o)
			name := *first.Slots["hero"].BlockName
			if !strings.HasPrefix(name, "Blue ") || !strings.Contains(first.HTML, "<p>"+name+"</p>") {
				a.Fatalf("chose %s: %s", name, first.HTML)
			}
			seen[name] = true
			a.block("Red", tagged("hero", "red"))
			if again := a.rendered(made, `{"slots": {"hero": {"strategy": "random"}}}`, o); *again.Slots["hero"].BlockName != name {
				a.Errorf("chose %s, then %s", name, *again.Slots["hero"].BlockName)
			}
		}
		if len(seen) < 3 {
			a.Errorf("of 40 seeds, only %v were chosen", seen)
		}
		alone, seeded := a.rendered(made, `{}`, template.RenderOptions{}), a.rendered(made, `{}`, template.RenderOptions{Seed: made.ID.String()})
		sameJSON(a, "the seed is the template's id when there is none", alone.Slots, seeded.Slots)
	})
}

func TestOptionsNameTheBlocksThatFit(t *testing.T) {
	each(t, func(a *account) {
		made := a.create(page("Options", html("{{slot:any}}{{slot:blue}}{{slot:none}}"),
			slots(`[{"name": "any"}, {"name": "blue", "tag_filter": ["blue", "hero"]}, {"name": "none", "tag_filter": ["nothing"]}]`)))
		for n := range 30 {
			tags := []string{"hero"}
			if n%2 == 0 {
				tags = append(tags, "blue")
			}
			a.block(fmt.Sprintf("Block %02d", n), tagged(tags...), func(ch *template.BlockChange) {
				ch.HTML, ch.Schema.Parameters = new("{{param:x}}"), json.RawMessage(`[{"name": "x", "type": "text"}]`)
				ch.SlotKeys = &[]string{"any"}
			})
		}
		a.block("AAA asleep", tagged("blue", "hero"), func(ch *template.BlockChange) { ch.Active = new(false) })
		a.blockOf(a.other, "AAA theirs", tagged("blue", "hero"))
		o, err := made.Options(a.Context(), a.db)
		a.ok(err)
		if len(o.Slots) != 3 || o.Slots[0].Total != 30 || len(o.Slots[0].Blocks) != 25 || o.Slots[1].Total != 15 || len(o.Slots[1].Blocks) != 15 || o.Slots[2].Total != 0 || o.Slots[2].Blocks == nil {
			a.Fatalf("options %+v", o.Slots)
		}
		if b := o.Slots[0].Blocks; b[0].Slug != "block-00" || b[24].Slug != "block-24" || len(b[3].Schema.Parameters) != 1 || b[3].SlotKeys[0] != "any" || b[3].HTML != nil {
			a.Errorf("blocks %s, %+v", blockSlugs(b), b[3])
		}
		if got := blockSlugs(o.Slots[1].Blocks[:3]); got != "block-00 block-02 block-04" {
			a.Errorf("blue blocks %s", got)
		}
		for _, b := range o.Slots[1].Blocks {
			if got := a.issues(made, `{"slots": {"blue": {"strategy": "fixed", "block_id": "`+b.Slug+`"}}}`); got != "" {
				a.Errorf("an option is refused: %s", got)
			}
		}
	})
}

func TestTheContentHashChangesWithTheContent(t *testing.T) {
	each(t, func(a *account) {
		made := a.create(letterOf())
		s := a.rendered(made, `{}`, template.RenderOptions{}).Snapshot
		text, err := json.Marshal(s)
		a.ok(err)
		for _, want := range []string{`"template_id":"` + made.ID.String(), `"slug":"letter"`, `"captured_at":"2026-03-01T12:00:00.001Z"`, `"groups_schema":[]`, `"parameters_schema":[{"name":"who"`} {
			if !strings.Contains(string(text), want) {
				a.Errorf("no %s in %s", want, text)
			}
		}
		var back template.Snapshot
		a.ok(json.Unmarshal(text, &back))
		sameJSON(a, "read back", back, s)
		for _, tt := range []struct {
			what    string
			ch      template.Change
			changed bool
		}{
			{"name", template.Change{Name: new("Other"), Tags: &[]string{"x"}, Slug: new("letter-9")}, false},
			{"subject", template.Change{Subject: new("x")}, true},
			{"HTML", template.Change{HTML: new(letter + "!")}, true},
			{"MJML beside", template.Change{Text: new("x")}, true},
			{"inlining", template.Change{InlineCSS: new(true)}, true},
			{"schema", template.Change{Schema: binding.RawSchema{Parameters: json.RawMessage(`[{"name": "who", "type": "textarea"}]`)}}, true},
			{"nothing", template.Change{Schema: binding.RawSchema{Parameters: json.RawMessage(`[{"type": "textarea", "name": "who"}]`)}}, false},
		} {
			before, err := template.ByRef(a.Context(), a.db, a.tenant, made.ID.String())
			a.ok(err)
			after, err := a.update(made.ID.String(), tt.ch)
			a.ok(err)
			if got := before.ContentHash() != after.ContentHash(); got != tt.changed {
				a.Errorf("%s: the hash changed: %v, want %v", tt.what, got, tt.changed)
			}
		}
	})
}

// Malformed bodies are refused in reasonable time.
func TestMalformedBodiesAreRefused(t *testing.T) {
	each(t, func(a *account) {
		const n = 20_000
		p := params(`[{"name": "x", "type": "text"}]`)
		s := sections(`[{"name": "s", "item_schema": [{"name": "x", "type": "text"}]}]`)
		long := params(`[{"name": "x", "type": "textarea", "sample": "` + strings.Repeat("x", 10_000) + `"}]`)
		for name, body := range map[string]string{
			"open braces":       strings.Repeat("{{", n),
			"open placeholders": strings.Repeat("{{param:", n),
			"placeholders":      strings.Repeat("{{param:x}}", n),
			"sections":          strings.Repeat("{{#section s}}", n),
			"sections and ends": strings.Repeat("{{#section s}}\n{{/section}}\n", n),
			"spaces":            strings.Repeat(strings.Repeat(" ", 50)+"\n", n/2),
			"section lines":     strings.Repeat(" ", n) + "{{#section s" + strings.Repeat(" ", n),
			"tags":              strings.Repeat("{%", n),
			"ifs":               strings.Repeat("{% if x %}", n),
			"elements":          strings.Repeat("<div>", n),
			"attributes":        "<p " + strings.Repeat(`a="`, n),
			"raw":               strings.Repeat("{% raw %}", n),
			"comments":          strings.Repeat("{% comment %}", n),
			"entities":          `<!DOCTYPE x [<!ENTITY a "` + strings.Repeat("&b;", n) + `">]>` + strings.Repeat("&a;", n),
			"bytes":             strings.Repeat("\xff\xfe<", n),
		} {
			for format, as := range map[string]func(ch *template.Change){"html": html(body), "mjml": asMJML("<mjml><mj-body>" + body + "</mj-body></mjml>")} {
				for _, with := range []func(ch *template.Change){p, long} {
					_, _, err := template.Create(a.Context(), a.db, compiler(), a.tenant, page("Hostile", as, s, with), noon)
					if _, ok := fault.As(err); err != nil && !ok && name != "bytes" {
						a.Errorf("%s in %s: %v", name, format, err)
					}
				}
			}
		}
	})
}

// large is a template with the maximum of declarations.
func large(b testing.TB) (ch template.Change, raw string) {
	b.Helper()
	var p, s, body []string
	values, fills := map[string]any{}, map[string]any{}
	for n := range 100 {
		name := fmt.Sprint("p", n)
		p = append(p, fmt.Sprintf(`{"name": %q, "type": "text", "required": true, "label": "Parameter %d", "validation": {"max_length": 200}}`, name, n))
		body = append(body, "<p>{{param:"+name+"}}</p>")
		values[name] = "some words for it"
	}
	for n := range 30 {
		name := fmt.Sprint("s", n)
		s = append(s, fmt.Sprintf(`{"name": %q, "tag_filter": ["t%d"]}`, name, n%5))
		body = append(body, "{{slot:"+name+"}}")
		fill := map[string]any{"strategy": "fixed", "block_id": fmt.Sprint("block-", n), "parameters": map[string]any{"title": "A title"}}
		if n%2 == 0 {
			fill["strategy"] = "random"
			delete(fill, "block_id")
		}
		fills[name] = fill
	}
	text, err := json.Marshal(map[string]any{"parameters": values, "slots": fills})
	if err != nil {
		b.Fatal(err)
	}
	return page("Large", html(strings.Join(body, "\n")), params("["+strings.Join(p, ",")+"]"), slots("["+strings.Join(s, ",")+"]")), string(text)
}

func BenchmarkValidate(b *testing.B) {
	a := benchAccount(b)
	ch, raw := large(b)
	made, _, err := template.Create(b.Context(), a, compiler(), idtest.TenantNamed("t"), ch, noon)
	if err != nil {
		b.Fatal(err)
	}
	for n := range 100 {
		_, _, err := template.CreateBlock(b.Context(), a, compiler(), idtest.TenantNamed("t"), template.BlockChange{
			Name: new(fmt.Sprint("Block ", n)), HTML: new("<h1>{{param:title}}</h1>" + strings.Repeat("x", 2000)), Tags: &[]string{fmt.Sprint("t", n%5)},
			Schema: binding.RawSchema{Parameters: json.RawMessage(`[{"name": "title", "type": "text", "required": true}]`)},
		}, noon)
		if err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		t, err := template.ByRef(b.Context(), a, idtest.TenantNamed("t"), made.Slug)
		if err != nil {
			b.Fatal(err)
		}
		issues, err := t.Validate(b.Context(), a, json.RawMessage(raw))
		if err != nil || len(issues) > 0 {
			b.Fatal(err, issues)
		}
	}
}
