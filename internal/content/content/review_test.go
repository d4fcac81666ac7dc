package content_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/people/field"
)

// found returns the troubles of a text with a code, as "line word".
func found(t *testing.T, code string, text content.Text, known content.Known) []content.Trouble {
	t.Helper()
	all, err := content.Review(t.Context(), []content.Text{text}, known, noon)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(trouble content.Trouble) bool { return trouble.Code != code })
}

func TestReviewReportsNamesThatNothingHas(t *testing.T) {
	t.Parallel()
	known := content.Known{
		Fields: field.Catalog{"plan": {Type: field.Enum}, "orders": {}}, Params: []byte(`{"title": "x", "_hero": {"text": "y"}}`),
		Paths: []string{"contact.custom_fields.visits", "nickname"},
	}
	for source, want := range map[string]string{
		"{{ first_name }} {{ contact.last_name }} {{ plan }} {{ contact.custom_fields.plan }} {{ tags | join }} {{ contact.tags.size }}": "",
		"{{ account.name }} {{ broadcast.id }} {{ email }} {{ email.subject }} {{ email_domain }} {{ now | date: '%Y' }} {{ id }}":       "",
		"{{ param.title }} {{ param._hero.text }} {{ unsubscribe_url }} {{ subscribe_confirm_url }} {{ sequence.name }}":                 "",
		"{{ event.order.total }} {% for i in event.items %}{{ i.name }} {{ forloop.index }}{% endfor %}":                                 "",
		"{% assign x = 1 %}{{ x }} {% capture y %}a{% endcapture %}{{ y.size }} {% for t in tags %}{{ t }}{% endfor %}":                  "",
		"{% if plan %}{% assign z = 1 %}{% endif %}{{ z }} {% increment n %}{{ n }}":                                                     "",
		"{{ visits }} {{ contact.custom_fields.visits[0].url }} {{ nickname }} {{ contact.nickname }} {{ orders.first.sku }}":            "",
		"{% for f in contact.custom_fields %}{{ f[0] }}{% endfor %}{{ contact }}":                                                        "",
		"{% raw %}{{ frist_name }}{% endraw %}{% comment %}{{ nope }}{% endcomment %}":                                                   "",
		"a\n{{ frist_name }}":                           "2 frist_name",
		"{{ FirstName }}":                               "1 FirstName",
		"{{ contact.FIRSTNAME }}":                       "1 contact.FIRSTNAME",
		"{{ contact.plan }}":                            "1 contact.plan",
		"{{ custom_fields.nope }}":                      "1 custom_fields.nope",
		"{{ contact.custom_fields.nope }}":              "1 contact.custom_fields.nope",
		"{{ first_name.name }}":                         "1 first_name.name",
		`<a href="{{ unsubscribe_link }}">x</a>`:        "1 unsubscribe_link",
		"{% if\n nope == 1 %}x{% endif %}":              "2 nope",
		"{{ param.titel }} {{ account.phone }}":         "1 account.phone 1 param.titel",
		"{{ broadcast.subject }} {{ email.from_name }}": "1 broadcast.subject 1 email.from_name",
		"{% for item in cart %}{{ item }}{% endfor %}":  "1 cart",
	} {
		var got []string
		for _, trouble := range found(t, content.CodeUnknownName, content.Text{Field: "f", Source: source, Form: content.HTML}, known) {
			name, _, _ := strings.Cut(strings.TrimPrefix(trouble.Message, "nothing is called "), ",")
			got = append(got, string('0'+rune(trouble.Line))+" "+name)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", source, s, want)
		}
	}
}

// An account may have a custom field brand: alone the name is the field, and before a dot the brand.
func TestReviewKnowsTheBrandAndAFieldOfItsName(t *testing.T) {
	t.Parallel()
	const source = "{{ brand | date: '%Y' }} {{ brand.colors.primary }} {{ brand.button.radius }} {{ brand.colour }}"
	for _, tt := range []struct {
		fields field.Catalog
		dates  int
	}{{nil, 1}, {field.Catalog{"brand": {Type: field.Date, Default: "2026-01-02"}}, 0}} {
		text, known := content.Text{Field: "f", Source: source, Form: content.HTML}, content.Known{Fields: tt.fields}
		if got := found(t, content.CodeUnknownName, text, known); len(got) != 1 || !strings.Contains(got[0].Message, "brand.colour") {
			t.Errorf("unknown names: %v", got)
		}
		if got := found(t, content.CodeDate, text, known); len(got) != tt.dates {
			t.Errorf("dates: %v", got)
		}
	}
}

// What is written out may be doubted hundreds of times, and what keeps a mail from being sent is reported all the same.
func TestReviewReportsManyLiteralsLast(t *testing.T) {
	t.Parallel()
	source := strings.Repeat(`<a href="">x</a><a href="y">x</a><img src="https://a.org/x.png">`+"\n", 120) + "{{ frist_name }}"
	text := content.Text{Field: "f", Source: source, Form: content.HTML}
	if got := found(t, content.CodeUnknownName, text, content.Known{}); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}

func TestReviewReportsPlaceholdersOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"*|FNAME|*", "*|IF:FNAME|*", "*|MC:SUBJECT|*", "[FIRST_NAME]", "[LINK_UNSUBSCRIBE]", "[firstname,fallback=there]", "[Name]", "[[FIRSTNAME]]", "[subscriber:firstname | default:reader]",
		"[%first_name | default%]", "[UNSUBSCRIBE]", "%%first_name%%", "%%=v(@name)=%%", "{contactfield=firstname}", "{contactfield=firstname|friend}", "{unsubscribe_url}", "{webview_url}",
		"{pagelink=3}", "{first_name}", "{$name}", "{{{first_name}}}", "%recipient.first_name%", "%FIRSTNAME%", "%unsubscribe_url%", "::subscriber.first_name::", "::unsubscribeUrl::",
		"${firstName}", "##first_name##", "#EMAIL#", "<%= first_name %>",
	} {
		for name, text := range map[string]content.Text{
			"a header": {Source: "Hi " + source}, "a text": {Source: "<p>Hi\n" + source + "</p>", Form: content.HTML}, "a link": {Source: `<a href="` + source + `">x</a>`, Form: content.HTML},
			"MJML": {Source: "<mj-text>" + source + "</mj-text>", Form: content.MJML},
		} {
			got := found(t, content.CodePlaceholder, text, content.Known{})
			if len(got) != 1 || !strings.HasPrefix(got[0].Message, source+" is") {
				t.Errorf("%s in %s: %v", source, name, got)
			}
		}
	}
	for _, source := range []string{
		"Save 50% on name brands, 20% off", "[1] [a] [sic] [FREE] [2026]", "{ color: red }", "a {b} c", "100%", "10%% off", "C# and F#", "$5 {x}", "Hello {{ first_name }}", "* | *", "https://example.org/?q=%20name%20x",
		"<style>a[HREF_LIKE]{color:red}</style>", "<!-- *|FNAME|* -->", `<script>var a = {name}; x = "${name}"</script>`, "{% raw %}a{% endraw %}", "::before::", "#name", "%7Bname%7D",
		"[if mso]", "<b>[WORLD]</b>", "{name=x}", "5 < 6 % 7 > 8",
	} {
		if got := found(t, content.CodePlaceholder, content.Text{Source: source, Form: content.HTML}, content.Known{}); len(got) > 0 {
			t.Errorf("%s: %v", source, got)
		}
	}
}
