package application

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
)

// serveBare serves the bare page: a heading, links that replace it, 500 rows that scroll, and a text of 300 KB to
// write in.
func serveBare() *httptest.Server {
	var rows strings.Builder
	for i := range 500 {
		fmt.Fprintf(&rows, `<div class="row"><span>Person %d</span><span>person%d@example.net</span><span>Active</span><span>%d</span></div>`, i, i, i)
	}
	head := `<!doctype html><html lang="en"><meta charset="utf-8"><title>Bare</title><style>
body { margin: 0; font: 14px/20px sans-serif }
main { display: grid; height: 100vh; grid-template-rows: auto 1fr }
.rows { overflow: auto; contain: strict }
.row { display: grid; grid-template-columns: 2fr 2fr 1fr 1fr; height: 36px }
a:active { background: #ccc }
textarea { width: 100%; height: 100% }
</style>`
	nav := `<main><nav><a href="#a" onclick="document.querySelector('h1').textContent='A'">A</a> <a href="#b" onclick="document.querySelector('h1').textContent='B'">B</a><h1>Bare</h1></nav>`
	mux := http.NewServeMux()
	page := func(path, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, head, nav, body, "</main></html>")
		})
	}
	page("/", "")
	page("/rows", `<div class="rows" role="grid">`+rows.String()+`</div>`)
	page("/text", "<textarea>"+strings.ReplaceAll(mail(300_000), "<", "&lt;")+"</textarea>")
	return httptest.NewServer(mux)
}

// mail returns the HTML of a mail of a size in bytes, in lines as people write them.
func mail(size int) string {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html>\n<head><title>News</title></head>\n<body>\n<p>What is new this week</p>\n")
	for i := 0; b.Len() < size-200; i++ {
		fmt.Fprintf(&b, "<table width=\"600\" style=\"margin:0 auto\">\n<tr><td style=\"padding:12px;font:16px/1.5 Arial\">Dear {{ first_name | default: \"reader\" }}, part %d of this letter.</td></tr>\n"+
			"<tr><td><a href=\"https://www.example.com/offers/%d\">Read more</a></td></tr>\n</table>\n", i, i)
	}
	b.WriteString("<p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></p>\n</body>\n</html>\n")
	return b.String()
}
