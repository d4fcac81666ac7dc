package preview_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/view/preview"
)

// faulty has one of each: a picture without a text, a text that is hard to read, and a link that leads nowhere.
const faulty = "<mj-text>😀 a</mj-text>\n<mj-image src=\"https://a.org/x.png\" />\n<mj-text color=\"#eee\">faint</mj-text>\n<mj-text><b>b</b>\n<a href=\"#\">c</a></mj-text>"

// places returns the problems of a preview with their lines and what begins at their marks.
func (s *studio) places(source string, r preview.Request) string {
	s.Helper()
	s.make(r)
	r.Marks = true
	p := s.make(r)
	units := utf16.Encode([]rune(source))
	at := func(place preview.Place) string {
		if place.Mark == 0 {
			return "nowhere"
		}
		element, _, _ := strings.Cut(string(utf16.Decode(units[place.Mark-1:])), ">")
		element, _, _ = strings.Cut(element, " ")
		return fmt.Sprintf("%s %d", element, place.Row)
	}
	var all []string
	for _, q := range p.Problems {
		all = append(all, fmt.Sprintf("%s %s %d %s", q.Code, q.Field, q.Line, at(q.Place)))
	}
	for i, n := range p.Named {
		all = append(all, fmt.Sprintf("%s %s %d %s", p.Missing[i], n.Field, n.Line, at(n.Place)))
	}
	return strings.Join(all, "\n")
}

func TestProblemsHavePlacesInTheMail(t *testing.T) {
	each(t, func(s *studio) {
		document := inPage(faulty)
		const want = "LINK_LEADS_NOWHERE F 6 <a 0\nPICTURE_WITHOUT_TEXT F 3 <mj-image 0\nLOW_CONTRAST F 4 <mj-text 0"
		for name, c := range map[string]struct {
			r     preview.Request
			field string
		}{
			"content":    {ofContent(parts("subject", "Hi", "body_mjml", document)), "content.body_mjml"},
			"a template": {preview.Request{Source: preview.Source{Template: &preview.Template{Change: template.Change{MJML: &document, Format: new(binding.MJML), Subject: new("Hi")}}}}, "content_mjml"},
		} {
			if got, want := s.places(document, c.r), strings.ReplaceAll(want, " F ", " "+c.field+" "); got != want {
				s.Errorf("%s:\n got %s\nwant %s", name, got, want)
			}
		}
		section := "<mj-section background-color=\"#fff\"><mj-column>" + faulty + "</mj-column></mj-section>"
		block := preview.Request{Source: preview.Source{Block: &preview.Block{Change: template.BlockChange{MJML: &section}}}}
		if got := s.places(section, block); got != "LINK_LEADS_NOWHERE content_mjml 5 <a 0\nPICTURE_WITHOUT_TEXT content_mjml 2 <mj-image 0\nLOW_CONTRAST content_mjml 3 <mj-text 0" {
			s.Errorf("a block: %s", got)
		}
		html := "<p>a</p>\n<p style='color:#eee'>b</p>\n<img src='https://a.org/x.png'><a href=''>c</a>"
		if got := s.places(html, ofContent(parts("subject", "Hi", "body_html", html))); got != "LINK_LEADS_NOWHERE content.body_html 3 <a 0\nPICTURE_WITHOUT_TEXT content.body_html 3 <img 0\nLOW_CONTRAST content.body_html 2 <p 0" {
			s.Errorf("HTML: %s", got)
		}
		html = "<p>a\n<b>{{ first_name }}</b></p>"
		if got := s.places(html, ofContent(parts("subject", "Hi {{ title }}", "body_html", html))); got != "first_name content.body_html 2 <b 0\ntitle content.subject 0 nowhere" {
			s.Errorf("missing: %s", got)
		}
	})
}

func TestProblemsOfAFilledTemplateHaveThePlacesOfItsElements(t *testing.T) {
	each(t, func(s *studio) {
		document := inPage("{{#section rows}}\n<mj-text>a</mj-text>\n<mj-button href=\"{{item:url}}\">b</mj-button>\n{{/section}}\n<mj-text color=\"{{param:color}}\">c</mj-text>")
		s.template("Letter", "", func(ch *template.Change) {
			ch.MJML, ch.Format, ch.Subject = &document, new(binding.MJML), new("Hi")
			ch.Schema = binding.RawSchema{
				Parameters: json.RawMessage(`[{"name": "color", "type": "color"}]`),
				Sections:   json.RawMessage(`[{"name": "rows", "item_schema": [{"name": "url", "type": "url"}]}]`),
			}
		})
		filled := draft.Change{Template: &draft.TemplateRef{Slug: "letter"}, Binding: json.RawMessage(
			`{"parameters": {"color": "#eeeeee"}, "sections": {"rows": [{"url": "https://a.org/"}, {"url": "https://example.com/x"}]}}`)}
		got := s.places(document, ofContent(filled))
		if want := "LINK_LEADS_NOWHERE content.body_mjml 5 <mj-button 1\nLOW_CONTRAST content.body_mjml 6 <mj-text 0"; got != want {
			s.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// What a contact's data leaves empty is said of that contact alone.
func TestLinksThatAreEmptyForAContact(t *testing.T) {
	each(t, func(s *studio) {
		ann, err := contact.Create(s.Context(), s.DB, s.Tenant, "ann@example.org", contact.Change{Texts: map[contact.Text]*string{contact.Company: new("a.org")}}, contact.Rules{}, broadcasttest.Now)
		if err != nil {
			s.Fatal(err)
		}
		html := `<p>a</p>` + "\n" + `<a href="{{ website }}">b</a><a href="https://{{ contact.company }}">c</a><a href="https://{{ city }}">d</a><a href="{{ unsubscribe_url }}">e</a>` +
			`{% assign x = "https://a.org" %}<a href="{{ x }}">f</a>{% if phone %}<a href="{{ phone }}">g</a>{% endif %}`
		r := ofContent(parts("subject", "Hi", "body_html", html))
		if p := s.make(r); len(p.Problems) > 0 {
			s.Errorf("without a contact: %v", p.Problems)
		}
		r.Contact = ann.ID
		var got []string
		for _, q := range s.make(r).Problems {
			got = append(got, fmt.Sprintf("%s %s %d %s", q.Severity, q.Code, q.Line, q.Message))
		}
		want := `warning LINK_LEADS_NOWHERE 2 the address "{{ website }}" is empty for this contact|warning LINK_LEADS_NOWHERE 2 the address "https://{{ city }}" is empty for this contact`
		if strings.Join(got, "|") != want {
			s.Errorf("got %s\nwant %s", strings.Join(got, "|"), want)
		}
	})
}

func TestTheSizeIsThatOfTheMailAsItIsSent(t *testing.T) {
	each(t, func(s *studio) {
		r := ofContent(parts("subject", "Hi", "body_html", strings.Repeat(`<a href="https://a.org/{{ email }}">b</a>`, 700)))
		p := s.make(r)
		if p.Sent <= len(*p.HTML) || p.Sent <= content.MaxShown {
			s.Errorf("%d bytes are sent of %d", p.Sent, len(*p.HTML))
		}
		if got := show(p); !strings.Contains(got, "warning MAIL_CLIPPED content.body_html") {
			s.Errorf("a large one: %s", got)
		}
		b := s.Create(func(ch *broadcast.Change) { ch.Tracking = new(false) })
		if p := s.make(preview.Request{Source: preview.Source{Broadcast: b.ID}}); p.Sent != len(*p.HTML) {
			s.Errorf("without tracking %d bytes are sent of %d", p.Sent, len(*p.HTML))
		}
	})
}
