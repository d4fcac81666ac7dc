package render_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/content/content"
)

// TestAContactsDataMakeNoHarmfulLink: a contact's name may hold any text, and
// their mail has no link with a scheme that the author did not choose.
func TestAContactsDataMakeNoHarmfulLink(t *testing.T) {
	t.Parallel()
	const script = "alert(1)"
	for _, tt := range []struct{ name, html, value string }{
		{"whole", `<a href="{{ first_name }}">x</a>`, "javascript:" + script},
		{"disguised", `<a href="{{ first_name }}">x</a>`, " Java\tScript\n:" + script},
		{"an entity", `<a href="{{ first_name | raw }}">x</a>`, "javascript&colon;" + script}, // when it is tracked, the filter raw means nothing, and this is no scheme
		{"half", `<a href="java{{ first_name }}">x</a>`, "script:" + script},
		{"the scheme", `<a href="{{ first_name }}:` + script + `">x</a>`, "javascript"},
		{"without quotes", `<a href={{ first_name }}>x</a>`, "javascript:" + script},
		{"in a condition", `<a href="{% if first_name %}{{ first_name }}{% else %}https://x.org{% endif %}">x</a>`, "javascript:" + script},
		{"captured", `{% capture u %}{{ first_name }}{% endcapture %}<a href="{{ u }}">x</a>`, "javascript:" + script},
		{"under the name of an address of ours", `{% assign unsubscribe_url = first_name %}<a href="{{ unsubscribe_url }}">x</a>`, "javascript:" + script},
		{"printed with its element", `{{ first_name | raw }}`, `<a href="javascript:` + script + `">x</a>`},
		{"an attribute", `<a {{ first_name | raw }}>x</a>`, `href='javascript:` + script + `'`},
		{"area", `<map><area href="{{ first_name }}"></map>`, "javascript:" + script},
		{"a form", `<form action="{{ first_name }}"></form>`, "javascript:" + script},
		{"a drawing", `<svg><a xlink:href="{{ first_name }}">x</a></svg>`, "javascript:" + script},
		{"a picture", `<img src="{{ first_name }}">`, "data:text/html," + script},
		{"for Outlook", `<!--[if mso]><v:rect href="{{ first_name }}"></v:rect><![endif]-->`, "vbscript:" + script},
	} {
		for _, tracking := range []bool{true, false} {
			l := sample(t)
			l.Contact.FirstName = &tt.value
			compiled, err := content.Draft(content.Source{Subject: "s", HTML: "<p>before</p>" + tt.html + "<p>after</p>", Tracking: tracking})
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			l.Content = compiled
			got := string(renderMail(t, l).HTML)
			if strings.Contains(got, script) && !strings.Contains(got, "javascript&amp;colon;") {
				t.Errorf("%s, tracking %v: %s", tt.name, tracking, got)
			}
			if !strings.Contains(got, "<p>before</p>") || !strings.Contains(got, "<p>after</p>") || strings.Contains(got, "<p>before</p>x") {
				t.Errorf("%s, tracking %v: more than the link is gone: %s", tt.name, tracking, got)
			}
			for _, good := range []string{"https://x.org/1", "mailto:a@x.org", "tel:123"} {
				if tt.name != "whole" {
					break
				}
				l.Contact.FirstName = &good
				if got := string(renderMail(t, l).HTML); !strings.Contains(got, `href="`+good) && !(tracking && strings.Contains(got, `href="https://t.example.com/_q/c/`)) {
					t.Errorf("%s is gone, tracking %v: %s", good, tracking, got)
				}
			}
		}
	}
}

// TestOrdinaryMailNeedsNoGuard: looking at each mail again costs time.
func TestOrdinaryMailNeedsNoGuard(t *testing.T) {
	t.Parallel()
	compiled, err := content.Draft(content.Source{
		Subject: "s", Tracking: true,
		HTML: `<p>{{ first_name }}</p><a href="https://x.org/{{ email }}">a</a><a href="https://x.org">b</a><a href="{{ view_in_browser_url }}">c</a><img src="https://x.org/{{ id }}.png">`,
	})
	if err != nil || compiled.Guard != nil || len(compiled.Links) != 2 {
		t.Errorf("%+v, %v, links %v", compiled.Guard, err, compiled.Links)
	}
	if compiled, err = content.Draft(content.Source{Subject: "s", Tracking: true, HTML: `<a href="{{ website }}">c</a>`}); err != nil || compiled.Guard == nil {
		t.Errorf("a tracked link that is all Liquid has no guard, %v", err)
	}
}
