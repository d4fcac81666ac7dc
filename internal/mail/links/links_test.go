package links_test

import (
	"fmt"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/links"
)

func numbered(l links.Link) string { return fmt.Sprintf("L%d", l.Index) }

func TestRewriteTouchesOnlyWhatLeads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"double quotes", `<a href="https://x.org/?a=1&amp;b=2">x</a>`, `<a href="L0">x</a>`},
		{"single quotes", `<a class=b href='https://x.org'>x</a>`, `<a class=b href='L0'>x</a>`},
		{"no quotes", `<a href=https://x.org/>x</a>`, `<a href="L0">x</a>`},
		{"spaces and case", "<A\n HREF = \"  HTTPS://x.org \"\t>x</A >", "<A\n HREF = \"L0\"\t>x</A >"},
		{"area", `<map><area href="http://x.org" alt="here"></map>`, `<map><area href="L0" alt="here"></map>`},
		{"not other elements", `<link href="https://x.org"><form action="https://x.org"><img src="https://x.org">`, `<link href="https://x.org"><form action="https://x.org"><img src="https://x.org">`},
		{"other schemes", `<a href="mailto:a@x.org"><a href="tel:1"><a href="sms:1"><a href="cid:1"><a href="#top"><a href=""><a href>`, `<a href="mailto:a@x.org"><a href="tel:1"><a href="sms:1"><a href="cid:1"><a href="#top"><a href=""><a href>`},
		{"relative", `<a href="/x">x</a>`, `<a href="/x">x</a>`},
		{"own routes", `<a href="https://x.org/_q/u/abc">x</a>`, `<a href="https://x.org/_q/u/abc">x</a>`},
		{"own variables", `<a href="{{ unsubscribe_url }}">x</a><a href="{{- preferences_url -}}">`, `<a href="{{ unsubscribe_url }}">x</a><a href="{{- preferences_url -}}">`},
		{"no track", `<a data-no-track href="https://x.org">x</a><a href="https://x.org" DATA-NO-TRACK="1" id=b>`, `<a href="https://x.org">x</a><a href="https://x.org" id=b>`},
		{"Liquid in the query", `<a href="https://x.org/?id={{ id }}">x</a>`, `<a href="L0">x</a>`},
		{"Liquid as URL", `<a href="{{ url }}">x</a>`, `<a href="L0">x</a>`},
		{"Liquid with quotes", `<a href="{{ url | default: "https://x.org/>" }}" id="b">x</a>`, `<a href="L0" id="b">x</a>`},
		{"Liquid without quotes", `<a href=https://x.org/{% if a %}b{% endif %} id=b>x</a>`, `<a href="L0" id=b>x</a>`},
		{"Liquid around attributes", `<a {% if a > 1 %}href="https://a.org"{% else %}href="https://b.org"{% endif %}>x</a>`, `<a {% if a > 1 %}href="L0"{% else %}href="L1"{% endif %}>x</a>`},
		{"conditional scheme", `<a href="http{% if s %}s{% endif %}://x.org">x</a>`, `<a href="L0">x</a>`},
		{"Outlook", `<!--[if mso]><v:roundrect href="https://x.org" fill=a><a href='https://y.org'>b</a><![endif]--><!-- <a href="https://z.org"> -->`, `<!--[if mso]><v:roundrect href="L0" fill=a><a href='L1'>b</a><![endif]--><!-- <a href="https://z.org"> -->`},
		{"revealed", `<!--[if !mso]><!--><a href="https://x.org">x</a><!--<![endif]-->`, `<!--[if !mso]><!--><a href="L0">x</a><!--<![endif]-->`},
		{"script and style", `<style>a{b:"<a href='https://x.org'>"}</style><script>"<a href='https://x.org'>"</script>`, `<style>a{b:"<a href='https://x.org'>"}</style><script>"<a href='https://x.org'>"</script>`},
		{"Liquid comment", `{% comment %}<a href="https://x.org">{% endcomment %}<a href="https://y.org">`, `{% comment %}<a href="https://x.org">{% endcomment %}<a href="L0">`},
		{"raw block", `{% raw %}{{ <a href="https://x.org">}}{% endraw %}`, `{% raw %}{{ <a href="L0">}}{% endraw %}`},
		{"unfinished", `<a href="https://x.org">x</a><a href="https://y.org`, `<a href="L0">x</a><a href="https://y.org`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := links.Rewrite(tt.in, links.Options{Href: numbered})
			if err != nil || got != tt.want {
				t.Errorf("Rewrite(%s)\n got %s, %v\nwant %s", tt.in, got, err, tt.want)
			}
		})
	}
}
