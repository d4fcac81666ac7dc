package render_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/message/render"
)

// broadcastMail is a mail of that page, as it is frozen.
func broadcastMail(t testing.TB) render.Mail {
	t.Helper()
	l := newsletter(t, 100, 0)
	c, err := content.Draft(content.Source{Subject: "News for {{ first_name }}", HTML: site.HTML(), Tracking: true})
	if err != nil {
		t.Fatal(err)
	}
	l.Content = c
	return l
}

// message is a composed mail.
func message(l render.Mail, p render.Parts) compose.Message {
	return compose.Message{
		Date: noon, From: compose.Mailbox{Name: "Acme News", Address: "news@example.org"}, ReplyTo: "help@example.org", To: l.Contact.Email,
		Subject: p.Subject, MessageID: l.Message.String() + ".k3j4h5k6@bounce.example.org", UnsubscribeURL: p.UnsubscribeURL,
		ListID: compose.ListID{Name: "News", ID: "news.acme.example.org"}, FeedbackID: "9abcdef0:l-news:acme:packetboat",
		EntityRef: l.Message.String(), Precedence: "bulk", NoAutoReplies: true,
		Text: p.Text, HTML: p.HTML, TextKnown: p.TextKnown, HTMLKnown: p.HTMLKnown,
	}
}

// bodies returns the text and the HTML of a finished mail, as they are read.
func bodies(t *rapid.T, raw []byte) (text, html string) {
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	var read [2]string
	for i := range read {
		p, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		var body io.Reader = quotedprintable.NewReader(p)
		if p.Header.Get("Content-Transfer-Encoding") == "base64" {
			body = base64.NewDecoder(base64.StdEncoding, p)
		}
		b, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		read[i] = strings.TrimRight(string(b), "\r\n")
	}
	return read[0], read[1]
}

// What was encoded with the content, and what for the recipient, is read together
// as it was rendered; a second attempt makes the same bytes.
func TestAMailIsReadAsItWasRendered(t *testing.T) {
	t.Parallel()
	base := newsletter(t, 100, 0)
	w := (&render.Renderer{Keys: keys(t), BaseURL: &url.URL{Scheme: "https"}}).Writer()
	var builder compose.Builder
	atom := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", " ", "  \n", ".", "From ", "=", "ü", "日本語", "<p>", "</p>\n", "{{ first_name }}", "{{ company }}", "{{ unsubscribe_url }}", "{{ packetboat_link_0 }}",
			"{% for tag in tags %}of each tag a text that is long{{ tag }}{% endfor %}", "{% if city %}a branch that is long enough{% endif %}", "{% capture kept %}words that are kept, and printed{% endcapture %}{{ kept | raw }}",
			"Words that are the same for everyone, and enough of them to fill more than one line.", "another text that is long enough"}),
		rapid.StringMatching(`[a-zA-Z ,.]{0,40}`),
	)
	source := rapid.Custom(func(t *rapid.T) string {
		return "x" + strings.Join(rapid.SliceOfN(atom, 1, 30).Draw(t, "atoms"), "")
	})
	value := rapid.OneOf(rapid.SampledFrom([]string{"", "Ann", "From ", ".", "\n", " \n.", "Änn", "a b", "F", "日本語日本語"}), rapid.StringMatching(`[ -~]{0,90}`))
	tidy := strings.NewReplacer("\n", "\r\n")
	rapid.Check(t, func(rt *rapid.T) {
		l := base
		c := *base.Contact
		c.FirstName, c.Company, c.City = new(value.Draw(rt, "first name")), new(value.Draw(rt, "company")), new(value.Draw(rt, "city"))
		c.Tags = rapid.SliceOfN(value, 0, 3).Draw(rt, "tags")
		l.Contact = &c
		compiled, err := content.Compile(content.Content{Source: content.Source{
			Subject: "News", HTML: source.Draw(rt, "html"), Text: source.Draw(rt, "text"), Tracking: true,
		}, Links: []links.Link{{URL: "https://example.org/"}}})
		if err != nil {
			rt.Fatal(err)
		}
		l.Content = compiled
		p, err := w.Render(t.Context(), l)
		if err != nil {
			rt.Fatal(err)
		}
		m := message(l, p)
		raw, err := builder.Build(nil, &m)
		if err != nil {
			rt.Fatal(err)
		}
		text, html := bodies(rt, raw)
		if want := strings.TrimRight(tidy.Replace(string(p.Text)), "\r\n"); text != want {
			rt.Errorf("the text is read as %q, want %q", text, want)
		}
		if want := strings.TrimRight(tidy.Replace(string(p.HTML)), "\r\n"); html != want {
			rt.Errorf("the HTML is read as %q, want %q", html, want)
		}
		if p, err = w.Render(t.Context(), l); err != nil {
			rt.Fatal(err)
		}
		m = message(l, p)
		if again, err := builder.Build(nil, &m); err != nil || !bytes.Equal(again, raw) {
			rt.Errorf("made again it is %q, %v; want %q", again, err, raw)
		}
	})
}

// BenchmarkMail10KB makes finished mails, each for another message.
func BenchmarkMail10KB(b *testing.B) { benchmarkMail(b, broadcastMail(b)) }

// BenchmarkMail48KB makes mails in which less differs.
func BenchmarkMail48KB(b *testing.B) { benchmarkMail(b, newsletter(b, 48<<10, 20)) }

func benchmarkMail(b *testing.B, l render.Mail) {
	w := (&render.Renderer{Keys: keys(b), BaseURL: &url.URL{Scheme: "https"}}).Writer()
	ids := make([]id.Message, 64)
	for i := range ids {
		ids[i] = id.New[id.Message]()
	}
	var builder compose.Builder
	var raw []byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.Message = ids[i%len(ids)]
		p, err := w.Render(b.Context(), l)
		if err != nil {
			b.Fatal(err)
		}
		m := message(l, p)
		if raw, err = builder.Build(raw[:0], &m); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(raw)), "bytes")
}
