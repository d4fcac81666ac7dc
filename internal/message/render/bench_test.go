package render_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// mergeFields are twenty that differ in where their values come from.
var mergeFields = []string{
	"{{ first_name }}", `{{ first_name | default: "there" }}`, "{{ contact.last_name }}", "{{ email }}", "{{ contact.email }}",
	"{{ company }}", `{{ contact.company | default: "your company" }}`, "{{ city }}", "{{ contact.custom_fields.plan }}", "{{ plan }}",
	"{{ seats }}", "{{ contact.custom_fields.renewal }}", `{{ nickname | default: "friend" }}`, "{{ account.name }}", "{{ account.website_url }}",
	"{{ broadcast.name }}", "{{ email.subject }}", "{{ param.season }}", "{{ unsubscribe_url }}", "{{ preferences_url }}",
}

// page is HTML of about that many bytes with the merge fields spread over it, and
// as many links.
func page(size, linked int) string {
	var b strings.Builder
	b.WriteString(`<!doctype html><html><body>`)
	for i, f := range mergeFields {
		href := "https://example.org/"
		if i < linked {
			href = "{{ packetboat_link_" + fmt.Sprint(i) + " }}"
		}
		cell := `<td style="padding:12px"><a href="` + href + `">` + f + "</a></td>"
		b.WriteString(cell)
		filler := "<p style=\"margin:0\">Words that are the same for everyone.</p>\n"
		b.WriteString(strings.Repeat(filler, max((size/len(mergeFields)-len(cell))/len(filler), 0)))
	}
	b.WriteString("</body></html>")
	return b.String()
}

// newsletter is a mail of such a page.
func newsletter(t testing.TB, size, linked int) render.Mail {
	t.Helper()
	l := sample(t)
	l.Contact = &contact.Contact{
		ID: id.New[id.Contact](), Email: "ann@example.org", FirstName: new("Ann"), LastName: new("Archer"), Company: new("Archer & Sons"), City: new("Köln"),
		CustomFields: map[string]any{"plan": "gold", "seats": float64(12), "renewal": "2027-01-01"},
	}
	l.Sender.Fields = field.Catalog{"plan": {}, "seats": {}, "renewal": {}, "nickname": {}, "level": {Default: "one"}}
	l.Sender.Tenant.Settings.WebsiteURL = new("https://example.org/")
	c := content.Content{Source: content.Source{
		Subject: "News for {{ first_name }}", HTML: page(size, linked), Text: "Hello {{ first_name }},\n\nnews.\n\n{{ unsubscribe_url }}\n", Tracking: linked > 0,
		Context: content.Context{Broadcast: idtest.Named[id.Broadcast]("b1"), BroadcastName: "Spring", Params: []byte(`{"season": "spring"}`)},
	}}
	for i := range linked {
		c.Links = append(c.Links, links.Link{Index: i, URL: fmt.Sprintf("https://example.org/%d", i)})
	}
	l.Content = compile(t, c)
	return l
}

func benchmarkRendering(b *testing.B, m render.Mail) {
	b.Helper()
	w := (&render.Renderer{Keys: keys(b), BaseURL: &url.URL{Scheme: "https"}}).Writer()
	b.SetBytes(int64(len(m.Content.HTML)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Render(b.Context(), m); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkRender(b *testing.B, size int) {
	for _, linked := range []int{0, 20} {
		b.Run(fmt.Sprintf("%dlinks", linked), func(b *testing.B) { benchmarkRendering(b, newsletter(b, size, linked)) })
	}
}

// BenchmarkRender10KB renders mails of 10 KB with 20 merge fields, subject, text
// part and List-Unsubscribe included.
func BenchmarkRender10KB(b *testing.B) { benchmarkRender(b, 10<<10) }

// BenchmarkRender48KB renders mails of 48 KB.
func BenchmarkRender48KB(b *testing.B) { benchmarkRender(b, 48<<10) }

// TestALetterIsNearlyFreeOfAllocations holds what the numbers of the benchmarks
// rest on.
func TestALetterIsNearlyFreeOfAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, for which the short set is, allocates too")
	}
	for name, m := range map[string]render.Mail{
		"10 KB": newsletter(t, 10<<10, 0), "10 KB with links": newsletter(t, 10<<10, 20),
		"48 KB": newsletter(t, 48<<10, 0), "48 KB with links": newsletter(t, 48<<10, 20),
		"a prepared text": drafted(t, prepared()),
	} {
		w := (&render.Renderer{Keys: keys(t), BaseURL: &url.URL{Scheme: "https"}}).Writer()
		got := testing.AllocsPerRun(100, func() {
			if _, err := w.Render(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		})
		if got > 10 {
			t.Errorf("%s takes %v allocations, want 10 at most", name, got)
		}
	}
}

// drafted returns the newsletter's mail with HTML as its author wrote it, without a text of its own.
func drafted(t testing.TB, html string) render.Mail {
	t.Helper()
	m := newsletter(t, 10<<10, 0)
	c, err := content.Draft(content.Source{Subject: "News for {{ first_name }}", HTML: html, Tracking: true})
	if err != nil {
		t.Fatal(err)
	}
	m.Content = c
	return m
}

// prepared is HTML of 10 KB with two merge fields, repeated, and a few links: its text is the same for all
// recipients who have both.
func prepared() string {
	var links strings.Builder
	for i := range 10 {
		fmt.Fprintf(&links, `<p><a href="https://example.org/%d">Read more</a></p>`, i)
	}
	row := `<p style="margin:0">Dear {{ first_name | default: "reader" }}, spring has come to {{ city }} with a great many things.</p>`
	return "<!doctype html><html><body>" + strings.Repeat(row, 80) + links.String() + `<a href="{{ unsubscribe_url }}">Unsubscribe</a></body></html>`
}

// BenchmarkRenderPrepared renders mails whose text was made with the content.
func BenchmarkRenderPrepared(b *testing.B) { benchmarkRendering(b, drafted(b, prepared())) }

// BenchmarkRenderFallback renders the same for a contact without a city, whose text is read from the HTML.
func BenchmarkRenderFallback(b *testing.B) {
	m := drafted(b, prepared())
	m.Contact.City = nil
	benchmarkRendering(b, m)
}

// BenchmarkRenderRead renders mails of 10 KB whose Liquid decides what is visible, so that their text is read
// from the HTML.
func BenchmarkRenderRead(b *testing.B) {
	benchmarkRendering(b, drafted(b, page(10<<10, 0)+"{% if first_name %}<p>Hello</p>{% endif %}"))
}
