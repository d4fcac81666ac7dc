package site

import (
	"fmt"
	"strings"
)

// HTML returns the body of the mail that sends are measured with: 10 KB, with three links and many merge fields.
func HTML() string {
	const row = `<tr><td style="padding:12px 24px;font:16px/1.6 Arial,Helvetica,sans-serif;color:#1f2937">` +
		`Dear {{ first_name | default: "reader" }}, spring has come to {{ city }} and with it a great many things that we would like to tell you about at some length, so that the size of this mail is that of a usual newsletter.</td></tr>` + "\n"
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>News</title></head>\n<body style=\"margin:0;background:#f3f4f6\">\n<table width=\"600\" align=\"center\">\n")
	for b.Len() < 9_300 {
		b.WriteString(row)
	}
	for i, name := range []string{"offers", "stories", "about"} {
		fmt.Fprintf(&b, "<tr><td><a href=\"https://www.example.com/%s?edition=%d\">Read more</a></td></tr>\n", name, i)
	}
	b.WriteString("</table>\n<p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></p>\n</body></html>\n")
	return b.String()
}

// Mail returns the content of a broadcast with that mail.
func Mail() map[string]any {
	return map[string]any{"subject": "News for {{ first_name }}", "body_html": HTML()}
}
