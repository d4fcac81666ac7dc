package deliver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"packetboat/internal/content"
)

// newsletterPage is 10 KB of HTML with three links and many merge fields: the mail
// that whole sends are measured with.
func newsletterPage() string {
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

// BenchmarkBuild makes the mail of one recipient of a broadcast after the other,
// but for the DKIM signature: in one worker, and in as many as a lane may have, whose
// memory is not in the processor's caches.
func BenchmarkBuild(b *testing.B) {
	draft, err := content.Draft(content.Source{Subject: "News for {{ first_name }}", HTML: newsletterPage(), Tracking: true})
	if err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 64} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			j := sampleJob(b)
			j.content, j.contact.City = draft, new("Köln")
			e := sampleEngine(b, time.Date(2026, 3, 2, 9, 30, 15, 0, time.UTC))
			builders := make([]*builder, workers)
			for i := range builders {
				builders[i] = newBuilder(e)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				j.item.FirstAt = nil
				raw, err := builders[i%workers].build(j)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(raw)))
			}
		})
	}
}
