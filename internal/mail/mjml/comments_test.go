package mjml

import (
	"strings"
	"testing"
)

// Conditional comments that an author wrote come out as they are, next to each other and to those of the
// compiler.
func TestConditionalCommentsAreKept(t *testing.T) {
	t.Parallel()
	c := open(t)
	const pair = `<!--[if !mso]><!--><i>web</i><!--<![endif]--><!--[if mso | IE]><b>outlook</b><![endif]-->`
	const marks = `<!--[if !mso]><!--><!--<![endif]--><!--[if mso | IE]><b>outlook</b><![endif]-->`
	const section = `<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>`
	for name, tt := range map[string]struct{ body, want string }{
		"in a text":     {`<mj-section><mj-column><mj-text>` + pair + `</mj-text></mj-column></mj-section>`, pair},
		"with Liquid":   {`<mj-section><mj-column><mj-text><!--[if mso | IE]><b>{{ first_name }}` + "\n" + `</b><![endif]-->` + "\n" + `<!--[if mso | IE]>{% if a %}b{% endif %}<![endif]--></mj-text></mj-column></mj-section>`, `<!--[if mso | IE]><b>{{ first_name }}` + "\n" + `</b><![endif]-->` + "\n" + `<!--[if mso | IE]>{% if a %}b{% endif %}<![endif]-->`},
		"in a button":   {`<mj-section><mj-column><mj-button href="https://example.org">` + pair + `</mj-button></mj-column></mj-section>`, pair},
		"in a table":    {`<mj-section><mj-column><mj-table><tr><td>` + pair + `</td></tr></mj-table></mj-column></mj-section>`, pair},
		"raw":           {section + `<mj-raw>` + pair + `</mj-raw>` + section, pair},
		"between":       {section + marks + section, marks},
		"marks":         {`<mj-raw><!--[if !mso]><!--></mj-raw>` + section + `<mj-raw><!--<![endif]--></mj-raw>` + section, `<!--<![endif]-->`},
		"one for mso":   {section + `<mj-raw><!--[if mso | IE]><p>o</p><![endif]--></mj-raw>` + section, `<!--[if mso | IE]><p>o</p><![endif]-->`},
		"upper case":    {section + `<mj-raw><!--[IF gte mso 9]><xml>x</xml><![endif]--></mj-raw>`, `<!--[IF gte mso 9]><xml>x</xml><![endif]-->`},
		"other comment": {section + `<!-- {{ a }} -->` + section, `<!-- {{ a }} -->`},
	} {
		r, err := c.Compile(t.Context(), "owner", "<mjml><mj-body>"+tt.body+"</mj-body></mjml>")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.HTML, tt.want) || len(r.Warnings) > 0 {
			t.Errorf("%s: %v\n%s", name, r.Warnings, r.HTML)
		}
		if opens, ends := strings.Count(r.HTML, "<!--[if"), strings.Count(r.HTML, "<![endif]"); name != "upper case" && opens != ends {
			t.Errorf("%s: %d conditions, %d ends:\n%s", name, opens, ends, r.HTML)
		}
	}
}

// Elements in a conditional comment are not compiled, which is said.
func TestElementsInConditionalCommentsAreReported(t *testing.T) {
	t.Parallel()
	const section = `<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>`
	for body, want := range map[string]string{
		"<mj-section><mj-column>\n<mj-raw><!--[if mso]></mj-raw><mj-text>O</mj-text><mj-raw><![endif]--></mj-raw></mj-column></mj-section>": "mj-text",
		"\n<!--[if mso]>" + section + "<![endif]-->" + section:                                                                              "mj-section",
		"<!--[if mso]><b>x</b><![endif]-->" + section:                                                                                       "",
		"<!-- " + section + " -->" + section:                                                                                                "",
		"<mj-raw><!--[if !mso]><!--></mj-raw>" + section + "<mj-raw><!--<![endif]--></mj-raw>":                                              "",
	} {
		warnings, err := Check("<mjml><mj-body>" + body + "</mj-body></mjml>")
		switch {
		case err != nil:
			t.Errorf("%s: %v", body, err)
		case want == "" && len(warnings) > 0, want != "" && (len(warnings) != 1 || warnings[0].Tag != want || warnings[0].Line != 2):
			t.Errorf("%s: %v, want %q", body, warnings, want)
		}
	}
}
