package starter_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/content/template/starter"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// compiler is shared, since it caches its results.
var compiler = sync.OnceValue(mjml.New)

// needCompiler returns the compiler, or skips the test if the program was built without it.
func needCompiler(t *testing.T) *mjml.Compiler {
	t.Helper()
	if !compiler().Available() {
		t.Skip("built without the MJML compiler: run `make build` where the npm registry can be reached")
	}
	return compiler()
}

// schema parses the schema of a starter or a block.
func schema(t *testing.T, raw binding.RawSchema) binding.Schema {
	t.Helper()
	s, err := binding.Schema{}.With(raw)
	if err != nil {
		t.Fatalf("the schema: %s", explain(err))
	}
	return s
}

// explain returns the text of an error with its details for the caller.
func explain(err error) string {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err.Error()
	}
	details, _ := json.MarshalIndent(f.Details, "", "  ")
	return f.Error() + "\n" + string(details)
}

// pool is a binding.Pool of the starter blocks.
type pool []*binding.Block

func blocks(t *testing.T) pool {
	t.Helper()
	var all pool
	for _, b := range starter.Blocks() {
		all = append(all, &binding.Block{
			Slug: b.Slug, Name: b.Name, Tags: b.Tags, Schema: schema(t, b.Change().Schema),
			Bodies: binding.Bodies{MJML: b.MJML, Text: b.Text},
		})
	}
	return all
}

func (p pool) Find(ref string) (*binding.Block, bool) {
	i := slices.IndexFunc(p, func(b *binding.Block) bool { return b.Slug == ref })
	if i < 0 {
		return nil, false
	}
	return p[i], true
}

func (p pool) Eligible(s binding.Slot) []*binding.Block {
	var fit []*binding.Block
	for _, b := range p {
		if !slices.ContainsFunc(s.TagFilter, func(tag string) bool { return !slices.Contains(b.Tags, tag) }) {
			fit = append(fit, b)
		}
	}
	return fit
}

// letter is a starter, bound and expanded.
type letter struct {
	bodies binding.Bodies
	params map[string]any
}

func expand(t *testing.T, s starter.Starter, bound binding.Bound) letter {
	t.Helper()
	doc, warnings, err := binding.ParseDocument(binding.Bodies{Subject: s.Subject, MJML: s.MJML, Text: s.Text}, schema(t, s.Change().Schema))
	if err != nil {
		t.Fatalf("the bodies: %s", explain(err))
	}
	for _, w := range warnings {
		t.Errorf("%s: %s", w.Path, w.Message)
	}
	return letter{doc.Expand(bound), doc.Params(bound)}
}

// withSample fills the starter with its sample.
func withSample(t *testing.T, s starter.Starter) letter {
	t.Helper()
	bound, issues := binding.Check(schema(t, s.Change().Schema), s.Sample, blocks(t), s.Slug)
	for _, i := range issues {
		t.Errorf("the sample: %s: %s", i.Path, i.Message)
	}
	return expand(t, s, bound)
}

// withNothing fills the starter leniently with an empty binding.
func withNothing(t *testing.T, s starter.Starter) letter {
	t.Helper()
	bound, _ := binding.Lenient(schema(t, s.Change().Schema), json.RawMessage(`{}`), blocks(t), s.Slug)
	return expand(t, s, bound)
}

// withRequired fills the starter with its required values only.
func withRequired(t *testing.T, s starter.Starter) letter {
	t.Helper()
	declared := schema(t, s.Change().Schema)
	required := func(list []binding.Parameter) map[string]json.RawMessage {
		values := map[string]json.RawMessage{}
		for _, p := range list {
			if p.Required {
				values[p.Name] = p.Sample
			}
		}
		return values
	}
	sections := map[string]any{}
	for _, section := range declared.Sections {
		if section.Required {
			sections[section.Name] = []any{required(section.Item)}
		}
	}
	raw, err := json.Marshal(map[string]any{"parameters": required(declared.Parameters), "sections": sections})
	if err != nil {
		t.Fatal(err)
	}
	bound, issues := binding.Check(declared, raw, blocks(t), s.Slug)
	for _, i := range issues {
		t.Errorf("required values only: %s: %s", i.Path, i.Message)
	}
	return expand(t, s, bound)
}

// reader returns the Liquid values of a contact with all fields if known, otherwise of one with
// none.
func (l letter) reader(known bool) liquid.Values {
	vars := map[string]any{
		"account": map[string]any{"name": "Harbour Books"}, "contact": map[string]any{"custom_fields": map[string]any{}},
		"email": map[string]any{"subject": "The subject"}, "param": l.params,
		"unsubscribe_url": "https://mail.example.com/u", "preferences_url": "https://mail.example.com/p",
		"view_in_browser_url": "https://mail.example.com/v",
	}
	if known {
		vars["account"] = map[string]any{
			"name": "Harbour Books", "postal_address": "Quay 7, 3011 AA Rotterdam, NL",
			"website_url": "https://www.example.com", "logo_url": "https://www.example.com/logo.png",
		}
		vars["brand"] = map[string]any{"logo_url": "https://www.example.com/logo.png", "footer": "Books since 1981,\nand tea"}
		vars["first_name"], vars["last_name"] = "Zoë", "van Dijk & Co"
		vars["contact"] = map[string]any{"custom_fields": map[string]any{"interests": []any{"history", "travel", "poetry"}}}
	}
	return liquid.Values{Vars: vars, At: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
}

// render renders one part of a letter for a contact.
func (l letter) render(t *testing.T, source string, mode liquid.Mode, known bool) string {
	t.Helper()
	tpl, err := liquid.Parse(source, liquid.Options{Mode: mode})
	if err != nil {
		t.Fatalf("Liquid: %v", err)
	}
	out, err := tpl.Append(t.Context(), nil, l.reader(known), nil)
	if err != nil {
		t.Fatalf("Liquid: %v", err)
	}
	return string(out)
}

// each runs a test for every starter, filled with its sample, the required values, and nothing.
func each(t *testing.T, f func(t *testing.T, s starter.Starter, l letter)) {
	for _, s := range starter.All() {
		t.Run(s.Slug, func(t *testing.T) {
			t.Parallel()
			for name, fill := range map[string]func(*testing.T, starter.Starter) letter{"sample": withSample, "required": withRequired, "empty": withNothing} {
				t.Run(name, func(t *testing.T) { f(t, s, fill(t, s)) })
			}
		})
	}
}

// The compiled pages are small and without warnings, and pass checkPage for contacts with and
// without fields.
func TestPages(t *testing.T) {
	t.Parallel()
	c := needCompiler(t)
	const most = 60 << 10
	each(t, func(t *testing.T, s starter.Starter, l letter) {
		r, err := c.Compile(t.Context(), "tenant", l.bodies.MJML)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range r.Warnings {
			t.Errorf("line %d: <%s>: %s", w.Line, w.Tag, w.Message)
		}
		if len(r.HTML) > most {
			t.Errorf("the page has %d bytes; mail programs cut long ones off, so at most %d", len(r.HTML), most)
		}
		if err := links.Check(r.HTML); err != nil {
			t.Error(err)
		}
		if _, some := content.LacksLink(r.HTML); some {
			t.Error("the page has no unsubscribe link")
		}
		for _, known := range []bool{true, false} {
			page := l.render(t, r.HTML, liquid.HTML, known)
			checkPage(t, page)
		}
		// What fills the line after the preheader is no part of what people edit.
		if filler := "&#847;"; strings.Contains(s.MJML, filler) || !strings.Contains(links.FinishPreview(r.HTML), filler) {
			t.Error("the filler after the preheader is in the code, or not in the mail")
		}
	})
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ starter.Starter, l letter) {
		for _, known := range []bool{true, false} {
			got := l.render(t, l.bodies.Subject, liquid.Text, known)
			if got == "" || strings.ContainsAny(got, "{}\n") || len(got) > 120 {
				t.Errorf("the subject is %q", got)
			}
		}
	})
}

func TestTexts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ starter.Starter, l letter) {
		if !strings.Contains(l.bodies.Text, "{{ unsubscribe_url }}") && !strings.Contains(l.bodies.Text, "{{ preferences_url }}") {
			t.Error("the text has no unsubscribe link")
		}
		for _, known := range []bool{true, false} {
			got := l.render(t, l.bodies.Text, liquid.Text, known)
			if strings.Contains(got, "\n\n\n") || strings.Contains(got, "{") || strings.Contains(got, "<") || strings.Contains(got, ": \n") {
				t.Errorf("the text has blank lines, empty values or markup:\n%s", got)
			}
		}
	})
}

func TestGoldenTexts(t *testing.T) {
	t.Parallel()
	for _, s := range starter.All() {
		l := withSample(t, s)
		got := l.render(t, l.bodies.Text, liquid.Text, true)
		path := filepath.Join("testdata", s.Slug+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: the text is\n%s\nwant\n%s", s.Slug, got, want)
		}
	}
}

// An account can create all starters and render their samples.
func TestStartersAreTemplates(t *testing.T) {
	t.Parallel()
	c := needCompiler(t)
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenant, now := idtest.Tenant(), time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
		for _, b := range starter.Blocks() {
			if _, warnings, err := template.CreateBlock(t.Context(), db, c, tenant, b.Change(), now); err != nil || len(warnings) > 0 {
				t.Fatalf("%s: %v, %v", b.Slug, warnings, err)
			}
		}
		for _, s := range starter.All() {
			made, warnings, err := template.Create(t.Context(), db, c, tenant, s.Change(), now)
			if err != nil {
				t.Fatalf("%s: %s", s.Slug, explain(err))
			}
			for _, w := range warnings {
				t.Errorf("%s: %s, line %d: %s", s.Slug, w.Path, w.Line, w.Message)
			}
			r, err := made.Render(t.Context(), db, c, tenant, s.Sample, template.RenderOptions{}, now)
			if err != nil {
				t.Fatalf("%s: %s", s.Slug, explain(err))
			}
			for name, slot := range r.Slots {
				if slot.BlockSlug == nil && s.Slug == "newsletter" {
					t.Errorf("%s: the sample leaves the slot %s empty", s.Slug, name)
				}
			}
		}
	})
}

func TestBlocksFitTheSlots(t *testing.T) {
	t.Parallel()
	c := compiler()
	all := blocks(t)
	used := map[string]bool{}
	for _, s := range starter.All() {
		for _, slot := range schema(t, s.Change().Schema).Slots {
			fit := all.Eligible(slot)
			if len(fit) < 2 {
				t.Errorf("%s: %d blocks fit the slot %s; want at least 2", s.Slug, len(fit), slot.Name)
			}
			for _, b := range fit {
				used[b.Slug] = true
			}
		}
	}
	for _, b := range all {
		if !used[b.Slug] {
			t.Errorf("the block %s fits no slot", b.Slug)
		}
		bodies := b.Bodies
		doc, warnings, err := binding.ParseDocument(bodies, b.Schema)
		if err != nil {
			t.Fatalf("%s: %s", b.Slug, explain(err))
		}
		for _, w := range warnings {
			t.Errorf("%s: %s: %s", b.Slug, w.Path, w.Message)
		}
		if !c.Available() {
			continue
		}
		found, err := mjml.CheckFragment(t.Context(), c, "tenant", doc.Expand(binding.Sample(b.Schema)).MJML)
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v; want a fragment without warnings", b.Slug, found, err)
		}
	}
}

// Each parameter, section and slot has a label and belongs to one group.
func TestSchemasHaveLabelsAndGroups(t *testing.T) {
	t.Parallel()
	params := func(where string, list []binding.Parameter) {
		for _, p := range list {
			if p.Label == nil {
				t.Errorf("%s: %s has no label", where, p.Name)
			}
			if p.Required && p.Sample == nil {
				t.Errorf("%s: %s is required and has no sample", where, p.Name)
			}
		}
	}
	for _, s := range starter.All() {
		declared := schema(t, s.Change().Schema)
		params(s.Slug, declared.Parameters)
		grouped := map[string]int{}
		for _, g := range declared.Groups {
			for _, name := range slices.Concat(g.Parameters, g.Sections, g.Slots) {
				grouped[name]++
			}
		}
		for _, p := range declared.Parameters {
			if grouped[p.Name] != 1 {
				t.Errorf("%s: %s is in %d groups; want 1", s.Slug, p.Name, grouped[p.Name])
			}
		}
		for _, section := range declared.Sections {
			params(s.Slug+"."+section.Name, section.Item)
			if section.Label == nil || grouped[section.Name] != 1 {
				t.Errorf("%s: the section %s lacks a label or a group", s.Slug, section.Name)
			}
		}
		for _, slot := range declared.Slots {
			if slot.Label == nil || grouped[slot.Name] != 1 {
				t.Errorf("%s: the slot %s lacks a label or a group", s.Slug, slot.Name)
			}
		}
	}
	for _, b := range blocks(t) {
		params(b.Slug, b.Schema.Parameters)
	}
}
