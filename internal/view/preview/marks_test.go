package preview_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mark"
	"github.com/packetboat/packetboat/internal/view/preview"
)

var marks = regexp.MustCompile(mark.Prefix + `\d+`)

// seen returns what begins at each mark of a preview's HTML, in its order.
func (s *studio) seen(source string, r preview.Request) string {
	s.Helper()
	r.Marks = true
	p := s.make(r)
	if p.Marked == nil {
		s.Fatalf("no HTML: %s", show(p))
	}
	units := utf16.Encode([]rune(source))
	var all []string
	for _, m := range marks.FindAllString(*p.Marked, -1) {
		var at int
		if _, err := fmt.Sscanf(m, mark.Prefix+"%d", &at); err != nil || at >= len(units) {
			s.Fatalf("%s in a source of %d", m, len(units))
		}
		all = append(all, regexp.MustCompile(`[\s>}]`).Split(string(utf16.Decode(units[at:])), 2)[0])
	}
	return strings.Join(all, " ")
}

func TestMarksAreThePositionsOfElements(t *testing.T) {
	each(t, func(s *studio) {
		document := `<mjml><mj-body><mj-section><mj-column><mj-text>😀 {{ "<mj-text>" | size }}</mj-text>` +
			`<mj-raw>{% for a in (1..2) %}</mj-raw><mj-divider css-class="{{ a }}" /><mj-raw>{% endfor %}</mj-raw></mj-column></mj-section></mj-body></mjml>`
		const want = "<mj-body <mj-section <mj-column <mj-text <mj-divider <mj-divider"
		for name, r := range map[string]preview.Request{
			"content":          ofContent(parts("subject", "Hi", "body_mjml", document)),
			"with a preheader": ofContent(parts("subject", "Hi", "body_mjml", document, "preheader", "a")),
			"a template":       {Source: preview.Source{Template: &preview.Template{Change: template.Change{MJML: &document, Format: new(binding.MJML), Subject: new("Hi")}}}},
		} {
			if got := s.seen(document, r); got != want {
				s.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		html := `<body><div><p {% if a %}id=1{% endif %}>none</p><p>a <b>b</b> <a href="https://example.org">c</a></p><td><table><tr><td class='x'>d</td></table><img src="https://example.org/a.png"></div>`
		if got := s.seen(html, ofContent(parts("subject", "Hi", "body_html", html))); got != "<p <a <td <img" {
			s.Errorf("HTML: %s", got)
		}
		html = `<!-- <p>a</p> --><title><p>b</p></title>{% for a in (1..2) %}<p>{{ a }}</p>{% endfor %}{% if false %}<p>c</p>{% else %}<a href="https://example.org/{{ 1 }}">d</a>{% endif %}`
		if got := s.seen(html, ofContent(parts("subject", "Hi", "body_html", html))); got != "<p <p <a" {
			s.Errorf("HTML with conditions and loops: %s", got)
		}
	})
}

func TestMarksOfTemplatesAndBlocks(t *testing.T) {
	each(t, func(s *studio) {
		block := "<mj-section><mj-column><mj-text>{{param:a}}</mj-text></mj-column></mj-section>"
		stored, _, err := template.CreateBlock(s.Context(), s.DB, s.MJML, s.Tenant, template.BlockChange{
			Name: new("Hero"), MJML: &block, Schema: binding.RawSchema{Parameters: json.RawMessage(`[{"name": "a", "type": "text"}]`)},
		}, broadcasttest.Now)
		if err != nil {
			s.Fatal(err)
		}
		document := `<mjml><mj-body>{{slot:hero}}<mj-section><mj-column>` +
			"\n{{#section rows}}\n<mj-text>{{item:b}}</mj-text>\n{{/section}}\n</mj-column></mj-section></mj-body></mjml>"
		s.template("Letter", "", func(ch *template.Change) {
			ch.MJML, ch.Format, ch.Subject = &document, new(binding.MJML), new("Hi")
			ch.Schema = binding.RawSchema{
				Sections: json.RawMessage(`[{"name": "rows", "item_schema": [{"name": "b", "type": "text"}]}]`),
				Slots:    json.RawMessage(`[{"name": "hero"}]`),
			}
		})
		filled := draft.Change{Template: &draft.TemplateRef{Slug: "letter"}, Binding: json.RawMessage(
			`{"sections": {"rows": [{"b": "1"}, {"b": "2"}]}, "slots": {"hero": {"strategy": "fixed", "block_id": "` + stored.ID.String() + `"}}}`)}
		const want = "<mj-body {{slot:hero {{slot:hero {{slot:hero <mj-section <mj-column <mj-text <mj-text"
		if got := s.seen(document, ofContent(filled)); got != want {
			s.Errorf("a filled template: %s, want %s", got, want)
		}
		alone := preview.Request{Source: preview.Source{Block: &preview.Block{Change: template.BlockChange{MJML: &block}}}}
		alone.Source.Block.Change.Schema.Parameters = json.RawMessage(`[{"name": "a", "type": "text"}]`)
		if got := s.seen(block, alone); got != "<mj-section <mj-column <mj-text" {
			s.Errorf("a block: %s", got)
		}
	})
}
