package render_test

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/textpart"
	"github.com/packetboat/packetboat/internal/message/render"
)

// written is a mail as its author wrote it, to a contact with a few unusual values.
func written(t testing.TB, s content.Source) render.Mail {
	t.Helper()
	m := sample(t)
	if s.Subject == "" {
		s.Subject = "News"
	}
	c, err := content.Draft(s)
	if err != nil {
		t.Fatal(err)
	}
	m.Content = c
	contact := *m.Contact
	contact.FirstName, contact.LastName = new("Ann"), new("O'Brien & Sons")
	contact.CustomFields = map[string]any{"note": "first <i>x</i>\nsecond"}
	m.Contact = &contact
	m.Sender.Tenant.Settings.PostalAddress = tenant.PostalAddress{Line1: new("1 High Street")}
	return m
}

// A part without a link to unsubscribe that its recipient can see and follow gets the footer, whatever
// the source says.
func TestEveryMailHasALinkToUnsubscribe(t *testing.T) {
	t.Parallel()
	const link = `<a href="{{ unsubscribe_url }}">Leave</a>`
	for name, tt := range map[string]struct {
		html, text         string
		footed, textFooted bool
		confirmation       bool
	}{
		"a link":                        {html: link + "x"},
		"a link to the preferences":     {html: `<p>x <a href='{{preferences_url}}'>Choose</a></p>`},
		"around a picture":              {html: `<a href="{{ unsubscribe_url }}"><img src="https://example.org/x.png"></a>`},
		"on a map":                      {html: `x<map><area href="{{ unsubscribe_url }}"></map>`, text: "x {{ unsubscribe_url }}"},
		"written out":                   {html: `<p>Leave: {{ unsubscribe_url }}</p>`},
		"assigned":                      {html: `{% assign u = unsubscribe_url %}<a href="{{ u }}">Leave</a>`},
		"captured":                      {html: `{% capture u %}{{ unsubscribe_url }}{% endcapture %}<a href="{{ u }}">Leave</a>`},
		"with a parameter":              {html: `<a href="{{ unsubscribe_url | append: '?a=b&c' }}">Leave</a>`},
		"a branch that is taken":        {html: `{% if first_name == "Ann" %}` + link + `{% endif %}x`},
		"for Outlook and all others":    {html: `x<!--[if mso]>` + link + `<![endif]--><!--[if !mso]><!-->` + link + `<!--<![endif]-->`},
		"none":                          {html: "x", footed: true, textFooted: true},
		"a branch":                      {html: `{% if first_name == "Vip" %}` + link + `{% endif %}<p>Offer</p>`, footed: true, textFooted: true},
		"else":                          {html: `{% unless nope %}<p>Offer</p>{% else %}` + link + `{% endunless %}`, footed: true, textFooted: true},
		"a loop over nothing":           {html: `<p>Offer</p>{% for t in topics %}` + link + `{% endfor %}`, footed: true, textFooted: true},
		"a case":                        {html: `<p>Offer</p>{% case first_name %}{% when "Vip" %}` + link + `{% endcase %}`, footed: true, textFooted: true},
		"for Outlook alone":             {html: `<p>Offer</p><!--[if mso]>` + link + `<![endif]-->`, footed: true, textFooted: true},
		"in a comment":                  {html: `<p>Offer</p><!-- ` + link + ` -->`, footed: true, textFooted: true},
		"in a style":                    {html: `<style>/* {{ unsubscribe_url }} */</style><p>Offer</p>`, footed: true, textFooted: true},
		"in a hidden element":           {html: `<p>Offer</p><div style="display:none">` + link + `</div>`, footed: true, textFooted: true},
		"in what is hidden from some":   {html: `<p>Offer</p><div {% if first_name %}hidden{% endif %}>` + link + `</div>`, footed: true, textFooted: true},
		"in another attribute":          {html: `<p title="{{ unsubscribe_url }}">Offer</p>`, footed: true, textFooted: true},
		"in an alternative text":        {html: `<img alt="{{ unsubscribe_url }}" src="https://example.org/x.png">`, footed: true, textFooted: true},
		"a link without words":          {html: `<p>Offer</p><a href="{{ unsubscribe_url }}"> </a>`, footed: true, textFooted: true},
		"assigned and not printed":      {html: `{% assign u = unsubscribe_url %}<p>Offer</p>`, footed: true, textFooted: true},
		"encoded":                       {html: `<a href="https://example.org/?to={{ unsubscribe_url | url_encode }}">Offer</a>`, footed: true, textFooted: true},
		"a text of its own with a link": {html: "x", text: "Leave: {{ unsubscribe_url }}", footed: true},
		"a text of its own without":     {html: link, text: "Hello", textFooted: true},
		"a branch of the text":          {html: link, text: "Hello{% if first_name == 'Vip' %} {{ unsubscribe_url }}{% endif %}", textFooted: true},
		"a confirmation":                {html: `<a href="{{ subscribe_confirm_url }}">Yes</a>{% if nope %}x{% endif %}`, footed: true, textFooted: true, confirmation: true},
	} {
		for _, tracking := range []bool{false, true} {
			m := written(t, content.Source{HTML: "<html><body>" + tt.html + "</body></html>", Text: tt.text, Tracking: tracking, Honeypot: tracking, Context: content.Context{Confirmation: tt.confirmation}})
			p := renderMail(t, m)
			for part, got := range map[string]struct {
				text   string
				footed bool
			}{"HTML": {string(p.HTML), tt.footed}, "text": {string(p.Text), tt.textFooted}} {
				if n := strings.Count(got.text, "1 High Street"); n != map[bool]int{true: 1}[got.footed] {
					t.Errorf("%s: the %s has %d postal addresses:\n%s", name, part, n, got.text)
				}
				if !tt.confirmation && !strings.Contains(got.text, "/_q/u/") && !(tracking && strings.Contains(got.text, "/_q/c/")) && !strings.Contains(got.text, "/_q/p/") {
					t.Errorf("%s: the %s has no link:\n%s", name, part, got.text)
				}
			}
			if !strings.HasSuffix(string(p.HTML), "</body></html>") {
				t.Errorf("%s: the HTML ends with %.80s", name, p.HTML)
			}
		}
	}
}

// A derived text is that of the HTML which the recipient gets.
func TestTheTextIsThatOfTheRenderedHTML(t *testing.T) {
	t.Parallel()
	const foot = `<a href="{{ unsubscribe_url }}">Leave</a>`
	for source, want := range map[string]string{
		"<p>{{ last_name | escape }}</p>":                                                                         "O'Brien & Sons",
		"<p>{{ last_name | escape_once }}</p>":                                                                    "O'Brien & Sons",
		"<p>{{ last_name }}</p>":                                                                                  "O'Brien & Sons",
		"<p>{{ note | newline_to_br }}</p>":                                                                       "first <i>x</i>\nsecond",
		"<p>{{ note }}</p>":                                                                                       "first <i>x</i> second",
		"<div>{{ note | raw }}</div>":                                                                             "first x second",
		"<ul>{% for t in tags %}<li>{{ t }}</li>{% endfor %}</ul>":                                                "- a\n- b",
		"<ol>{% for t in tags %}<li>{{ t }}</li>{% endfor %}</ol>":                                                "1. a\n2. b",
		`<p style="{% if nope %}display:none{% endif %}">Kept?</p>`:                                               "Kept?",
		`<div {% if nope %}hidden{% endif %}>Kept?</div>`:                                                         "Kept?",
		`<p style="{% if first_name %}display:none{% endif %}">Gone</p><p>Kept</p>`:                               "Kept",
		`<p>a {{ nope }} b</p>`:                                                                                   "a b",
		`<p>a {{ nope }}</p><a href="https://example.org/?a=1&amp;b=2">Shop</a>`:                                  "a\n\nShop (https://example.org/?a=1&b=2)",
		`<p>a {{ nope }}</p><a href="https://example.org/{{ first_name }}">Shop</a>`:                              "a\n\nShop (https://example.org/Ann)",
		`<p>a</p><p>{{ nope }}</p><p>b</p>`:                                                                       "a\n\nb",
		`<p>{{ "{{ first_name }}" }} }}</p>`:                                                                      "",
		`<p>{% raw %}{{ first_name }}{% endraw %}</p>`:                                                            "{{ first_name }}",
		`<a href="https://example.org/{{ first_name }}?a=1&amp;b=2">Shop</a>`:                                     "Shop (https://example.org/Ann?a=1&b=2)",
		`{% if first_name %}<a href="https://example.org/?a=1&amp;b=2">Shop</a>{% endif %}`:                       "Shop (https://example.org/?a=1&b=2)",
		`{% for t in tags %}<a href="https://example.org/{{ t }}">{{ t }}</a> {% endfor %}`:                       "a (https://example.org/a) b (https://example.org/b)",
		`{% if first_name %}<img src="https://example.org/x.png" alt="A picture">{% endif %}`:                     "A picture",
		`{% if first_name %}<a href="https://example.org/"><img src="https://example.org/x.png"></a>x{% endif %}`: "https://example.org/ x",
	} {
		if want == "" {
			continue
		}
		for _, tracking := range []bool{false, true} {
			m := written(t, content.Source{HTML: source + "<p>" + foot + "</p>", Tracking: tracking, Honeypot: tracking, Preheader: "not read"})
			got, _, _ := strings.Cut(string(renderMail(t, m).Text), "Leave")
			if got = strings.TrimSpace(got); got != want {
				t.Errorf("%s: %q, want %q", source, got, want)
			}
		}
	}
}

// What is prepared reads as what is read, except for where lines are broken and the lengths of rules below
// headings.
func TestAPreparedTextIsThatOfTheRenderedHTML(t *testing.T) {
	t.Parallel()
	w := (&render.Renderer{Keys: keys(t), BaseURL: &url.URL{Scheme: "https"}}).Writer()
	atom := rapid.SampledFrom([]string{
		"<p>", "</p>", "<ul><li>", "</li></ul>", "<table><tr><td>", "</td><td>", "</td></tr></table>", "<br>", "<b>", "</b>", " ", "\n", "words", "more words", "&amp;", "ü", "日本語",
		"{{ first_name }}", "{{ last_name }}", `{{ company | default: "you" }}`, "<h1>", "</h1>", "{{ email }}", "{% comment %}x{% endcomment %}", "<!-- {{ city }} -->",
		`<a href="https://example.org/{{ city }}">{{ city }}</a>`, `<a href="{{ unsubscribe_url }}">Leave</a>`, `<a href="https://example.org/">words {{ email }}</a>`, `<img alt="{{ city }}" src="https://example.org/{{ city }}">`, `<div class="{{ city }}">`, "</div>",
		"<blockquote>", "</blockquote>", "<title>{{ city }}</title>",
	})
	value := rapid.OneOf(rapid.SampledFrom([]string{"", "Ann", " ", "a  b", "a\nb", "{{ x }}", "{%", "<b>x</b>", "&amp;", "日本", "x\u00a0y", "\u200b", " x"}), rapid.StringMatching(`[ -~]{0,20}`))
	words := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \n>=-|", r) }), "")
	}
	rapid.Check(t, func(rt *rapid.T) {
		html := "<p>x</p>" + strings.Join(rapid.SliceOfN(atom, 1, 20).Draw(rt, "html"), "")
		c, err := content.Draft(content.Source{Subject: "News", HTML: html})
		if err != nil || c.Finish.Text != content.KnownText {
			rt.Skip("it is not prepared")
		}
		m := sample(t)
		person := *m.Contact
		person.FirstName, person.LastName, person.City, person.Company = new(value.Draw(rt, "first")), new(value.Draw(rt, "last")), new(value.Draw(rt, "city")), new(value.Draw(rt, "company"))
		m.Contact, m.Content = &person, c
		p, err := w.Render(t.Context(), m)
		if err != nil {
			rt.Fatal(err)
		}
		if want := textpart.Read(string(p.HTML), nil).Text; words(string(p.Text)) != words(want) {
			rt.Fatalf("%s\n%+v\n%s\nwant\n%s", html, c.Finish, p.Text, want)
		}
	})
}

// A recipient for whom nothing is left of the subject, or of the body, gets no mail.
func TestAMailWithoutSubjectOrBodyIsNotRendered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ subject, html, text, want string }{
		"a subject for others":     {"{% if first_name == 'Vip' %}Hello{% endif %}", "x", "", "subject"},
		"a subject without a word": {"{{ company }}\n {{ nope }}", "x", "", "subject"},
		"a body for others":        {"News", "{% if first_name == 'Vip' %}Hello{% endif %}", "", "body_html"},
		"a field":                  {"News", "<p>{{ company }}</p>", "", "body_html"},
		"markup alone":             {"News", "<table><tr><td>{% if nope %}x{% endif %}&nbsp;</td></tr></table>", "", "body_html"},
		"hidden":                   {"News", "<div style='display:none'>x</div>{{ company }}", "", "body_html"},
		"beside a text":            {"News", "{{ company }}", "Hello", "body_html"},
		"a picture":                {"News", `{% if first_name %}<img src="https://example.org/x.png" alt="">{% endif %}`, "", ""},
		"a background":             {"News", `{% if nope %}x{% endif %}<td background="https://example.org/x.png">`, "", ""},
		"a word":                   {"News {{ company }}", "{{ company }}x", "", ""},
	} {
		m := written(t, content.Source{Subject: tt.subject, HTML: tt.html, Text: tt.text, Tracking: true, Honeypot: true, Preheader: "pre"})
		_, err := (&render.Renderer{Keys: keys(t), BaseURL: &url.URL{Scheme: "https"}}).Writer().Render(t.Context(), m)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "render_error: "+tt.want+": it is empty")) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
