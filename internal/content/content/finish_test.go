package content_test

import (
	"testing"

	"github.com/packetboat/packetboat/internal/content/content"
)

func TestLacksLink(t *testing.T) {
	t.Parallel()
	const link = `<a href="{{ unsubscribe_url }}">Leave</a>`
	for html, want := range map[string][2]bool{
		link:                                  {false, false},
		`<a href="{{preferences_url}}">x</a>`: {false, false},
		"Leave: {{- unsubscribe_url -}}":      {false, false},
		"{% assign u = unsubscribe_url %}<a href='{{ u }}'>Leave</a>":                                        {false, false},
		"{% if language == 'de' %}" + link + "{% elsif language == 'fr' %}{% else %}" + link + "{% endif %}": {false, false},
		"<p>Offer</p>": {true, true},
		"{% if first_name == 'Vip' %}" + link + "{% endif %}x":          {true, true},
		"{% if first_name %}" + link + "{% endif %}x":                   {false, true},
		"{% if contact.first_name %}x{% else %}" + link + "{% endif %}": {false, true},
		"{% for t in topics %}" + link + "{% endfor %}x":                {false, true},
		"<!-- " + link + " -->x":                                        {true, true},
		"<!--[if mso]>" + link + "<![endif]-->x":                        {true, true},
		"<style>/* {{ unsubscribe_url }} */</style>x":                   {true, true},
		"<div style='display:none'>" + link + "</div>x":                 {true, true},
		`<p title="{{ unsubscribe_url }}">x</p>`:                        {true, true},
		"{% comment %}" + link + "{% endcomment %}x":                    {true, true},
		"{% raw %}" + link + "{% endraw %}x":                            {true, true},
	} {
		if all, some := content.LacksLink(html); [2]bool{all, some} != want {
			t.Errorf("%s: all %v, some %v, want %v", html, all, some, want)
		}
	}
}
