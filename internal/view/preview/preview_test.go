package preview_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/preview"
)

// studio is an account with a previewer, beside another account.
type studio struct {
	*testing.T
	*broadcasttest.Account
	other *broadcasttest.Account
	by    *preview.Previewer
}

func each(t *testing.T, f func(s *studio)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := func() time.Time { return broadcasttest.Now }
		s := &studio{T: t, Account: broadcasttest.New(t, db, "acme"), other: broadcasttest.New(t, db, "other")}
		s.by = preview.New(db, s.MJML, &render.Senders{DB: db, Now: now},
			&render.Renderer{Keys: track.NewKeys(broadcasttest.Box(t)), BaseURL: &url.URL{Scheme: "https", Host: "mail.example.net"}}, now)
		f(s)
	})
}

// make returns a preview, which is the same with marks.
func (s *studio) make(r preview.Request) *preview.Preview {
	s.Helper()
	p, err := s.by.Make(s.Context(), s.Tenant, r)
	if err != nil {
		s.Fatalf("preview: %v", err)
	}
	r.Marks = !r.Marks
	q, err := s.by.Make(s.Context(), s.Tenant, r)
	if err != nil {
		s.Fatalf("preview: %v", err)
	}
	if p, q := plain(s.T, p), plain(s.T, q); p != q {
		s.Errorf("previews with marks (%t) and without:\n%s\n%s", r.Marks, q, p)
	}
	return p
}

// tokens matches what is different in each mail.
var tokens = regexp.MustCompile(`(/[a-z]+/)[\w.-]{20,}`)

// plain returns a preview as JSON, without the HTML with marks and the places in it.
func plain(t *testing.T, p *preview.Preview) string {
	t.Helper()
	other := *p
	other.Marked, other.Problems, other.Named = nil, slices.Clone(p.Problems), slices.Clone(p.Named)
	for i := range other.Problems {
		other.Problems[i].Place = preview.Place{}
	}
	for i := range other.Named {
		other.Named[i].Place = preview.Place{}
	}
	b, err := json.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
	return tokens.ReplaceAllString(string(b), "$1")
}

func (s *studio) template(name, html string, change ...func(*template.Change)) template.Template {
	s.Helper()
	ch := template.Change{Name: &name, HTML: &html}
	for _, f := range change {
		f(&ch)
	}
	t, _, err := template.Create(s.Context(), s.DB, s.MJML, s.Tenant, ch, broadcasttest.Now)
	if err != nil {
		s.Fatal(err)
	}
	return t
}

func parts(pairs ...string) draft.Change {
	ch := draft.Change{Parts: map[draft.Field]*string{}}
	for i := 0; i < len(pairs); i += 2 {
		ch.Parts[draft.Field(pairs[i])] = &pairs[i+1]
	}
	return ch
}

func ofContent(ch draft.Change) preview.Request {
	return preview.Request{Source: preview.Source{Content: &preview.Content{Change: ch}}}
}

// show returns the parts and the problems of a preview in one line.
func show(p *preview.Preview) string {
	var b strings.Builder
	for _, part := range []struct {
		name string
		text *string
	}{{"subject", p.Subject}, {"html", p.HTML}, {"text", p.Text}} {
		if part.text != nil {
			b.WriteString(part.name + " ")
		}
	}
	for _, q := range p.Problems {
		fmt.Fprintf(&b, "| %s %s %s %d:%d ", q.Severity, q.Code, q.Field, q.Line, q.Column)
	}
	return strings.TrimSpace(b.String())
}

const page = "<mjml><mj-body><mj-section><mj-column>\n%s\n</mj-column></mj-section></mj-body></mjml>"

func inPage(mjml string) string { return fmt.Sprintf(page, mjml) }

func TestEachPartOfContentIsMadeByItself(t *testing.T) {
	each(t, func(s *studio) {
		s.template("Letter", "<p>{{param:words}}</p>", func(ch *template.Change) {
			ch.Subject = new("{{param:words}}")
			ch.Schema = binding.RawSchema{Parameters: json.RawMessage(`[{"name": "words", "type": "text", "required": true}]`)}
		})
		filled := func(raw string, pairs ...string) draft.Change {
			ch := parts(pairs...)
			ch.Template, ch.Binding = &draft.TemplateRef{Slug: "letter"}, json.RawMessage(raw)
			return ch
		}
		gone := filled(`{}`, "body_text", "words")
		gone.Template = &draft.TemplateRef{Slug: "gone"}
		for name, c := range map[string]struct {
			ch   draft.Change
			want string
		}{
			"nothing wrong":      {parts("subject", "Hi", "body_html", "<p>a</p>"), "subject html text"},
			"nothing":            {draft.Change{}, "| error NO_CONTENT content.subject 0:0 | error NO_CONTENT content.body_html 0:0"},
			"no body":            {parts("subject", "Hi", "body_text", "a"), "subject text | error NO_CONTENT content.body_html 0:0"},
			"Liquid of subject":  {parts("subject", "Hi {{ x | nope }}", "body_html", "<p>a</p>"), "html text | error LIQUID_INVALID content.subject 1:4"},
			"Liquid of all":      {parts("subject", "{% if %}", "body_html", "<p>\n {% nope %}</p>", "body_text", "{{ x", "preheader", "{{"), "| error LIQUID_INVALID content.subject 1:1 | error LIQUID_INVALID content.preheader 1:1 | error LIQUID_INVALID content.body_html 2:2 | error LIQUID_INVALID content.body_text 1:1"},
			"two lines":          {parts("subject", "Hi\nho", "body_html", "<p>a</p>"), "html text | error INVALID_INPUT content.subject 0:0"},
			"reply":              {parts("subject", "Hi", "body_html", "<p>a</p>", "reply_to", "nobody"), "subject html text | error INVALID_INPUT content.reply_to 0:0"},
			"a script":           {parts("subject", "Hi", "body_html", "<p>\n<a href=\"javascript:alert(1)\">a</a></p>"), "subject | error INVALID_INPUT content.body_html 2:10"},
			"MJML":               {parts("subject", "Hi", "body_mjml", inPage("<mj-text>a</mj-text>")), "subject html text"},
			"elements":           {parts("subject", "Hi", "body_mjml", inPage("<mj-foo/> <mj-bar/>")), "subject | error MJML_UNKNOWN_ELEMENT content.body_mjml 2:1 | error MJML_UNKNOWN_ELEMENT content.body_mjml 2:11"},
			"unclosed":           {parts("subject", "Hi", "body_mjml", inPage("<mj-text>a"), "body_text", "a"), "subject text | error MJML_INVALID content.body_mjml 2:1"},
			"empty":              {parts("subject", "Hi", "body_mjml", inPage("")), "subject | error MJML_COMPILE_FAILED content.body_mjml 0:0"},
			"a script in MJML":   {parts("subject", "Hi", "body_mjml", inPage("<mj-text>\n<a href=\"javascript:1\">a</a></mj-text>")), "subject | error INVALID_INPUT content.body_mjml 3:10"},
			"of a template":      {filled(`{"parameters": {"words": "Tea"}}`), "subject html text"},
			"a required value":   {filled(`{}`), "subject html text | error required_missing content.template_binding.parameters.words 0:0"},
			"no binding":         {filled(`null`), "subject html text | error shape content.template_binding 0:0"},
			"a strange value":    {filled(`{"parameters": {"words": "Tea", "x": 1}}`, "subject", "Mine"), "subject html text | error unknown_param content.template_binding.parameters.x 0:0"},
			"unknown template":   {gone, "text | error INVALID_TEMPLATE content.template_slug 0:0"},
			"may fail":           {parts("subject", "Hi", "body_html", "<p>\n{{ 1 | divided_by: prospect_score }}</p>", "body_text", "a"), "subject text | error RENDER_FAILED content.body_html 2:0 | warning LIQUID_MAY_FAIL content.body_html 2:0"},
			"no date":            {parts("subject", "Hi {{ last_name | date: '%Y' }}", "body_html", "<p>\n{{ '31-31-2022' | date: '%Y' }}</p>", "body_text", "a"), "subject html text | warning DATE_UNREADABLE content.subject 1:0 | warning DATE_UNREADABLE content.body_html 2:0"},
			"a loop without end": {parts("subject", "Hi", "body_html", "{% for a in (1..9999) %}{% for b in (1..9999) %}{{ a }}{% endfor %}{% endfor %}", "body_text", "a"), "subject text | error RENDER_FAILED content.body_html 0:0 | warning LIQUID_MAY_FAIL content.body_html 0:0"},
		} {
			if got := show(s.make(ofContent(c.ch))); got != c.want {
				s.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
			}
		}
		p := s.make(ofContent(parts("subject", "Hi", "body_mjml", inPage("<mj-foo/>"))))
		if q := p.Problems[0]; q.Fix == "" || !strings.Contains(q.Message, "mj-foo") {
			s.Errorf("problem %+v; want the element and how to fix it", q)
		}
	})
}

func TestAPreviewShowsWhatTheContactGets(t *testing.T) {
	each(t, func(s *studio) {
		ann, err := contact.Create(s.Context(), s.DB, s.Tenant, "ann@example.org", contact.Change{Texts: map[contact.Text]*string{contact.FirstName: new("Ann")}}, contact.Rules{}, broadcasttest.Now)
		if err != nil {
			s.Fatal(err)
		}
		html := `<p>Dear {{ first_name }} {{ contact.company }}, {{ event.plan }}{{ event.nothing }} {{ now | date: "%Y" }} <a href="https://example.org/{{ first_name }}?a=1">one</a> ` +
			`<a href="https://example.org/two">two</a> <a href="{{ unsubscribe_url }}">leave</a> {{ param.x }}{{ account.name }}</p>`
		r := ofContent(parts("subject", "For {{ first_name }}", "preheader", "psst {{ first_name }}", "from_name", "{{ first_name }}'s friend", "body_html", html))
		r.Contact, r.Event = ann.ID, journal.Trigger{Properties: map[string]any{"plan": "pro"}}
		p := s.make(r)
		if *p.Subject != "For Ann" || *p.Preheader != "psst Ann" || *p.From != "Ann's friend <"+s.Identity.Address+">" {
			s.Errorf("subject %q, preheader %q, from %q", *p.Subject, *p.Preheader, *p.From)
		}
		if !strings.Contains(*p.HTML, "Dear Ann , pro 2026") || !strings.Contains(*p.HTML, `href="https://example.org/Ann?a=1"`) || !strings.Contains(*p.Text, "Dear Ann") {
			s.Errorf("html %s\ntext %s", *p.HTML, *p.Text)
		}
		if want := []string{"contact.company", "event.nothing"}; !slices.Equal(p.Missing, want) {
			s.Errorf("missing %q, want %q", p.Missing, want)
		}
		var links []string
		for _, l := range p.Links {
			links = append(links, l.Label+" "+l.URL)
		}
		if want := []string{"one https://example.org/Ann?a=1", "two https://example.org/two"}; !slices.Equal(links, want) {
			s.Errorf("links %q, want %q", links, want)
		}
		r.Contact = id.Contact{}
		if p = s.make(r); *p.Subject != "For " || !slices.Contains(p.Missing, "first_name") {
			s.Errorf("without a contact: %q, missing %q", *p.Subject, p.Missing)
		}
	})
}

func TestABroadcastIsShownAsItIsStored(t *testing.T) {
	each(t, func(s *studio) {
		b := s.Create(func(ch *broadcast.Change) {
			ch.Variants = &[]broadcast.Variant{
				{ID: "a", Name: "A", Weight: 1, Overrides: map[draft.Field]string{draft.Subject: "First"}},
				{ID: "b", Name: "B", Weight: 1, Overrides: map[draft.Field]string{draft.Subject: "Second", draft.BodyHTML: `<a href="https://example.org/b">b</a>{{ 1 | divided_by: prospect_score }}`}},
			}
		})
		r := preview.Request{Source: preview.Source{Broadcast: b.ID}}
		p := s.make(r)
		if *p.Subject != "First" || !strings.Contains(*p.HTML, "https://example.org/a?utm_source=acme&amp;utm_medium=email") || strings.Contains(*p.HTML, "/_q/c/") || strings.Contains(*p.HTML, "/_q/o/") {
			s.Errorf("the first variant: %s: %s", *p.Subject, *p.HTML)
		}
		if len(p.Links) != 1 || !strings.Contains(p.Links[0].URL, "utm_content=a") || p.From == nil || *p.From != "News <"+s.Identity.Address+">" {
			s.Errorf("links %+v from %v", p.Links, p.From)
		}
		r.Variant = new("b")
		p = s.make(r)
		if got, want := show(p), "subject | error RENDER_FAILED variants[1].content_overrides.body_html 1:0 | error RENDER_FAILED content.body_text 0:0 | warning LIQUID_MAY_FAIL variants[1].content_overrides.body_html 1:0"; got != want || *p.Subject != "Second" {
			s.Errorf("the second variant:\n got %s\nwant %s", got, want)
		}
		r.Sender = s.AddIdentity("more").Address
		if p = s.make(r); *p.From != "News <more@acme.example.com>" {
			s.Errorf("from %q", *p.From)
		}
	})
}

func TestPreviewsOfTemplates(t *testing.T) {
	each(t, func(s *studio) {
		schema := binding.RawSchema{
			Parameters: json.RawMessage(`[{"name": "title", "type": "text", "required": true, "sample": "A title"}, {"name": "spare", "type": "text"}]`),
			Expects:    json.RawMessage(`[{"path": "contact.first_name", "type": "string", "sample": "Bea"}]`),
		}
		html := template.Change{Subject: new("{{param:title}}"), HTML: new("<h1>{{param:title}}</h1>{{ first_name }}"), Schema: schema}
		mjml := template.Change{Subject: new("{{param:title}}"), Format: new(binding.MJML), MJML: new(inPage("<mj-text>{{param:title}} {{ first_name }}</mj-text>")), Schema: schema}
		of := func(ch template.Change, raw string) preview.Request {
			t := &preview.Template{Change: ch}
			if raw != "" {
				t.Binding = json.RawMessage(raw)
			}
			return preview.Request{Source: preview.Source{Template: t}}
		}
		const unused = "| warning unused parameters_schema[1] 0:0"
		for name, ch := range map[string]template.Change{"html": html, "mjml": mjml} {
			p := s.make(of(ch, ""))
			if got := show(p); got != "subject html text "+unused || *p.Subject != "A title" || !strings.Contains(*p.HTML, "Bea") || len(p.Missing) != 0 {
				s.Errorf("%s by samples: %s\n%s", name, got, *p.HTML)
			}
			if p = s.make(of(ch, `{"parameters": {"title": "Mine"}}`)); *p.Subject != "Mine" || !strings.Contains(*p.Text, "Mine") {
				s.Errorf("%s with a binding: %s\n%s", name, show(p), *p.Text)
			}
			if got, want := show(s.make(of(ch, `{"parameters": {"titel": "Mine"}}`))), "subject html text | error required_missing binding.parameters.title 0:0 | error unknown_param binding.parameters.titel 0:0 "+unused; got != want {
				s.Errorf("%s with a wrong binding:\n got %s\nwant %s", name, got, want)
			}
		}
		for name, c := range map[string]struct {
			edit func(ch *template.Change)
			want string
		}{
			"reference": {func(ch *template.Change) { ch.MJML = new(inPage("<mj-text>{{param:x}}\n{{param:y}}</mj-text>")) }, "subject | error UNRESOLVED_REFERENCE content_mjml 2:0 | error UNRESOLVED_REFERENCE content_mjml 3:0"},
			"element":   {func(ch *template.Change) { ch.MJML = new(inPage("<mj-foo/>")) }, "subject | error MJML_UNKNOWN_ELEMENT content_mjml 2:1"},
			"liquid":    {func(ch *template.Change) { ch.MJML = new(inPage("<mj-text>ä {% nope %}</mj-text>")) }, "subject | error LIQUID_INVALID content_mjml 2:12"},
			"subject":   {func(ch *template.Change) { ch.Subject = new("{{ x | nope }}") }, "html text | error LIQUID_INVALID subject 1:1"},
			"text":      {func(ch *template.Change) { ch.Text = new("{{param:no}}") }, "subject html | error UNRESOLVED_REFERENCE content_text 1:0"},
			"schema": {func(ch *template.Change) {
				ch.Schema.Parameters = json.RawMessage(`[{"name": "title", "type": "nope"}]`)
			}, "| error INVALID_SCHEMA parameters_schema[0].type 0:0"},
			"groups":        {func(ch *template.Change) { ch.Schema.Groups = json.RawMessage(`[{"name": "g", "parameters": ["no"]}]`) }, "subject html text | error UNRESOLVED_REFERENCE groups_schema[0].parameters 0:0 " + unused},
			"no MJML":       {func(ch *template.Change) { ch.MJML = nil }, "subject | error INVALID_INPUT content_mjml 0:0"},
			"name and tags": {func(ch *template.Change) { ch.Name, ch.Tags = new(""), &[]string{""} }, "subject html text | error INVALID_INPUT name 0:0 | error INVALID_INPUT tags 0:0 " + unused},
			"no subject":    {func(ch *template.Change) { ch.Subject = nil }, "html text " + unused},
			"a script": {func(ch *template.Change) {
				ch.MJML = new(inPage(`<mj-text><a href="javascript:1">{{param:title}}</a></mj-text>`))
			}, "subject text | error INVALID_INPUT content_mjml 0:0 " + unused},
		} {
			ch := mjml
			c.edit(&ch)
			if got := show(s.make(of(ch, ""))); got != c.want {
				s.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
			}
		}
	})
}

func TestPreviewsOfBlocks(t *testing.T) {
	each(t, func(s *studio) {
		s.template("Letter", "<header>{{slot:top}}</header><main>{{slot:hero}}</main>", func(ch *template.Change) {
			ch.Subject = new("A letter")
			ch.Schema.Slots = json.RawMessage(`[{"name": "top", "tag_filter": ["top"]}, {"name": "hero", "allowed_strategies": ["random", "empty"]}]`)
		})
		schema := binding.RawSchema{Parameters: json.RawMessage(`[{"name": "title", "type": "text", "required": true, "sample": "A title"}]`)}
		html := template.BlockChange{HTML: new("<h1>{{param:title}} {{ first_name }}</h1>"), Schema: schema}
		both := html
		both.MJML = new("<mj-text>MJML {{param:title}}</mj-text>")
		of := func(ch template.BlockChange, use template.BlockUse) preview.Request {
			return preview.Request{Source: preview.Source{Block: &preview.Block{Change: ch, Use: use}}}
		}
		p := s.make(of(html, template.BlockUse{}))
		if got := show(p); got != "html text" || !strings.HasPrefix(*p.HTML, "<h1>A title </h1>") || strings.Contains(*p.HTML, "_q/u") {
			s.Errorf("alone: %s\n%v", got, p.HTML)
		}
		if p = s.make(of(both, template.BlockUse{Parameters: json.RawMessage(`{"title": "Mine", "x": 1}`)})); show(p) != "html text | error unknown_param parameters.x 0:0" || !strings.Contains(*p.HTML, "MJML Mine") {
			s.Errorf("MJML: %s", show(p))
		}
		p = s.make(of(html, template.BlockUse{Template: "letter", Parameters: json.RawMessage(`{"title": "Mine"}`)}))
		if show(p) != "subject html text" || *p.Subject != "A letter" || !strings.Contains(*p.HTML, "<header></header><main><h1>Mine </h1></main>") {
			s.Errorf("in a slot: %s\n%s", show(p), *p.HTML)
		}
		tagged := html
		tagged.Tags = &[]string{"top"}
		if p = s.make(of(tagged, template.BlockUse{Template: "letter"})); !strings.Contains(*p.HTML, "<header><h1>A title </h1></header>") {
			s.Errorf("the first slot: %s", *p.HTML)
		}
		tagged.SlotKeys = &[]string{"hero"}
		if p = s.make(of(tagged, template.BlockUse{Template: "letter", Parameters: json.RawMessage(`{}`)})); !strings.Contains(*p.HTML, "<main><h1>A title </h1></main>") || show(p) != "subject html text | error required_missing parameters.title 0:0" {
			s.Errorf("the slot that it names: %s\n%s", show(p), *p.HTML)
		}
		for name, c := range map[string]struct {
			ch   template.BlockChange
			use  template.BlockUse
			want string
		}{
			"no such template": {html, template.BlockUse{Template: "gone"}, "html text | error INVALID_TEMPLATE template_slug 0:0"},
			"no slot":          {template.BlockChange{MJML: new("<mj-text>a</mj-text>")}, template.BlockUse{Template: "letter"}, "html text | error block_not_eligible template_slug 0:0"},
			"no body":          {template.BlockChange{Text: new("words")}, template.BlockUse{}, "text | error NO_CONTENT content_html 0:0"},
			"bad MJML":         {template.BlockChange{MJML: new("\n<mj-foo/>")}, template.BlockUse{}, "| error MJML_UNKNOWN_ELEMENT content_mjml 2:1"},
			"bad HTML":         {template.BlockChange{HTML: new("{% if %}"), Text: new("a")}, template.BlockUse{Template: "letter"}, "text | error LIQUID_INVALID content_html 1:1"},
			"a script":         {template.BlockChange{HTML: new(`<a href="javascript:1">a</a>`)}, template.BlockUse{}, "text | error INVALID_INPUT content_html 0:0"},
		} {
			if got := show(s.make(of(c.ch, c.use))); got != c.want {
				s.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
			}
		}
	})
}

func TestOnlyTheTenantsRecordsCanBePreviewed(t *testing.T) {
	each(t, func(s *studio) {
		entry, err := library.Create(s.Context(), s.Author(broadcasttest.Now), s.Tenant, library.Change{Name: new("Entry"), Content: new(parts("subject", "One", "body_html", "<p>1</p>"))})
		if err != nil {
			s.Fatal(err)
		}
		_, err = library.Update(s.Context(), s.Author(broadcasttest.Now), s.Tenant, entry.ID, library.Change{Content: new(parts("subject", "Two"))})
		if err != nil {
			s.Fatal(err)
		}
		empty, err := library.Create(s.Context(), s.Author(broadcasttest.Now), s.Tenant, library.Change{Name: new("Empty")})
		if err != nil {
			s.Fatal(err)
		}
		for version, want := range map[int]string{0: "Two", 1: "One", 2: "Two"} {
			if p := s.make(preview.Request{Source: preview.Source{Message: entry.ID, Version: version}}); *p.Subject != want {
				s.Errorf("version %d: %s", version, *p.Subject)
			}
		}
		if got := show(s.make(preview.Request{Source: preview.Source{Message: empty.ID}})); got != "| error NO_CONTENT  0:0" {
			s.Errorf("without content: %s", got)
		}
		copied := ofContent(parts("subject", "Own"))
		copied.Source.Content.Message = &broadcast.Message{Entry: entry.ID, Version: 1}
		if p := s.make(copied); *p.Subject != "Own" || !strings.Contains(*p.HTML, "<p>1</p>") {
			s.Errorf("a copy: %s", show(p))
		}
		copied.Source.Content.Message = &broadcast.Message{Entry: id.New[id.LibraryEntry]()}
		if got := show(s.make(copied)); got != "subject | error INVALID_INPUT content.message_id 0:0 | error NO_CONTENT content.body_html 0:0" {
			s.Errorf("a copy of nothing: %s", got)
		}
		content := ofContent(parts("subject", "Hi", "body_html", "<p>a</p>"))
		with := func(edit func(r *preview.Request)) preview.Request {
			r := content
			edit(&r)
			return r
		}
		people := s.other.AddContacts(s.other.List.ID, "x", 1)
		for name, c := range map[string]struct {
			r    preview.Request
			want *fault.Error
			at   string
		}{
			"broadcast of another": {preview.Request{Source: preview.Source{Broadcast: s.other.Create().ID}}, broadcast.ErrNotFound, ""},
			"entry":                {preview.Request{Source: preview.Source{Message: id.New[id.LibraryEntry]()}}, library.ErrNotFound, ""},
			"version":              {preview.Request{Source: preview.Source{Message: entry.ID, Version: 3}}, library.ErrNoVersion, ""},
			"contact of another":   {with(func(r *preview.Request) { r.Contact = people[0].ID }), contact.ErrNotFound, ""},
			"sender of another":    {with(func(r *preview.Request) { r.Sender = s.other.Identity.Address }), sender.ErrUnknownIdentity, ""},
			"no address":           {with(func(r *preview.Request) { r.Sender = "x" }), sender.ErrUnknownIdentity, ""},
			"variant":              {with(func(r *preview.Request) { r.Variant = new("a") }), fault.ErrInput, "variant_id"},
			"variant of none":      {preview.Request{Source: preview.Source{Broadcast: s.Create().ID}, Variant: new("")}, fault.ErrInput, "variant_id"},
		} {
			_, err := s.by.Make(s.Context(), s.Tenant, c.r)
			f, ok := fault.As(err)
			if !errors.Is(err, c.want) || !ok || c.at != "" && f.Details.(fault.Fields).Fields[0].Path != c.at {
				s.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
	})
}

func TestPreviewsWriteNothing(t *testing.T) {
	each(t, func(s *studio) {
		b := s.Create()
		people := s.AddContacts(s.List.ID, "a", 1)
		before := s.rows()
		for _, r := range []preview.Request{
			{Source: preview.Source{Broadcast: b.ID}, Contact: people[0].ID},
			ofContent(parts("subject", "Hi", "body_html", `<a href="https://example.org/">a</a>`)),
			{Source: preview.Source{Template: &preview.Template{Change: template.Change{HTML: new("{{slot:a}}"), Schema: binding.RawSchema{Slots: json.RawMessage(`[{"name": "a", "default_strategy": "random"}]`)}}}}},
			{Source: preview.Source{Block: &preview.Block{Change: template.BlockChange{HTML: new("<p>a</p>")}}}},
		} {
			s.make(r)
		}
		if after := s.rows(); !maps.Equal(before, after) {
			s.Errorf("rows of tables: %v, before %v", after, before)
		}
		if after := s.Load(b.ID); after.Revision != b.Revision {
			s.Error("the broadcast was written")
		}
	})
}

// rows returns the number of rows of each table.
func (s *studio) rows() map[string]int {
	s.Helper()
	list := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
	if s.DB.Dialect() == sqldb.Postgres {
		list = `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
	}
	rows, err := s.DB.Query(s.Context(), list)
	tables, err := sqldb.Collect(rows, err, func(scan func(...any) error) (name string, err error) {
		err = scan(&name)
		return name, err
	})
	if err != nil || len(tables) < 50 {
		s.Fatal(len(tables), err)
	}
	all := map[string]int{}
	for _, name := range tables {
		n := 0
		if err := s.DB.QueryRow(s.Context(), `SELECT COUNT(*) FROM `+name+` /* all tenants: a test */`).Scan(&n); err != nil {
			s.Fatal(err)
		}
		all[name] = n
	}
	return all
}
