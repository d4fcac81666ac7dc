package letter_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"packetboat/internal/content"
	"packetboat/internal/id"
	"packetboat/internal/letter"
	"packetboat/internal/mail/compose"
)

// broadcastPage is 10 KB of HTML with three links and many merge fields: the mail
// that sends are measured with.
func broadcastPage() string {
	const row = `<tr><td style="padding:12px 24px;font:16px/1.6 Arial,Helvetica,sans-serif;color:#1f2937">` +
		`Dear {{ first_name | default: "reader" }}, spring has come to {{ city }} and with it a great many things that we would like to tell you about at some length, so that the size of this mail is that of a usual newsletter.</td></tr>` + "\n"
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>News</title></head>\n<body style=\"margin:0;background:#f3f4f6\">\n<table width=\"600\" align=\"center\">\n")
	for b.Len() < 9_300 {
		b.WriteString(row)
	}
	for i, page := range []string{"offers", "stories", "about"} {
		fmt.Fprintf(&b, "<tr><td><a href=\"https://www.example.com/%s?edition=%d\">Read more</a></td></tr>\n", page, i)
	}
	b.WriteString("</table>\n<p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></p>\n</body></html>\n")
	return b.String()
}

// broadcastLetter is a letter of that page, as it is frozen.
func broadcastLetter(t testing.TB) letter.Letter {
	t.Helper()
	l := newsletter(t, 100, 0)
	c, err := content.Draft(content.Source{Subject: "News for {{ first_name }}", HTML: broadcastPage(), Tracking: true})
	if err != nil {
		t.Fatal(err)
	}
	l.Content = c
	return l
}

// message is what a rendered letter becomes.
func message(l letter.Letter, p letter.Parts) compose.Message {
	return compose.Message{
		Date: noon, From: compose.Mailbox{Name: "Acme News", Address: "news@example.org"}, ReplyTo: "help@example.org", To: l.Contact.Email,
		Subject: p.Subject, MessageID: string(l.Message) + ".k3j4h5k6@bounce.example.org", UnsubscribeURL: p.UnsubscribeURL,
		ListID: compose.ListID{Name: "News", ID: "news.acme.example.org"}, FeedbackID: "9abcdef0:l-news:acme:packetboat",
		EntityRef: string(l.Message), Precedence: "bulk", NoAutoReplies: true,
		Text: p.Text, HTML: p.HTML, TextKnown: p.TextKnown, HTMLKnown: p.HTMLKnown,
	}
}

// BenchmarkMail10KB makes finished mails, each for another message.
func BenchmarkMail10KB(b *testing.B) {
	l := broadcastLetter(b)
	w := (&letter.Renderer{Keys: keys(b), BaseURL: &url.URL{Scheme: "https"}}).Writer()
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
