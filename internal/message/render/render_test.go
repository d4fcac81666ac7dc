package render_test

import (
	"bytes"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

var noon = time.Date(2026, 7, 21, 12, 0, 0, 0, time.UTC)

func keys(t testing.TB) *track.Keys {
	t.Helper()
	box, err := secret.NewBox(bytes.Repeat([]byte{1}, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return track.NewKeys(box)
}

func compile(t testing.TB, c content.Content) *content.Compiled {
	t.Helper()
	k, err := content.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sample(t testing.TB) render.Mail {
	t.Helper()
	return render.Mail{
		Tenant: idtest.Tenant(), Message: id.New[id.Message](), Now: noon,
		Contact: &contact.Contact{ID: id.New[id.Contact](), Email: "ann@example.org", FirstName: new("Ann <3"), Tags: []string{"a", "b"}},
		Content: compile(t, content.Content{Source: content.Source{Subject: "Hi", HTML: "x", Text: "x"}}),
		Sender: &render.Sender{
			Tenant:   tenant.Tenant{Slug: "acme", Name: "Acme & Co", Settings: tenant.Settings{Timezone: "Europe/Berlin", Brand: tenant.DefaultBrand()}},
			Identity: sender.Identity{UTMCode: "acme-news"},
			Domain:   sender.Domain{TrackingHost: "t.example.com"},
			Type:     sender.EmailType{Key: "news"},
		},
	}
}

func renderMail(t *testing.T, l render.Mail) render.Parts {
	t.Helper()
	r := &render.Renderer{Keys: keys(t), BaseURL: &url.URL{Scheme: "https", Host: "app.example.com"}}
	p, err := r.Writer().Render(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWhatLiquidPrints(t *testing.T) {
	t.Parallel()
	b1 := idtest.Named[id.Broadcast]("b1")
	for _, tt := range []struct{ name, source, want string }{
		{"a field", "{{ first_name }}", "Ann &lt;3"},
		{"by its path", "{{ contact.first_name }} {{ contact.email }}", "Ann &lt;3 ann@example.org"},
		{"raw", "{{ first_name | raw }}", "Ann <3"},
		{"unset", "[{{ last_name }}{{ contact.title }}{{ nothing }}{{ contact.nothing.at.all }}]", "[]"},
		{"a fallback", `{{ last_name | default: "there" }}`, "there"},
		{"tags", "{{ tags | join: '+' }} {{ contact.tags | size }}", "a+b 2"},
		{"a custom field", "{{ plan }} {{ contact.custom_fields.plan }}", "gold gold"},
		{"a whole number", "{{ seats }} {{ seats | plus: 1 }} {{ contact.custom_fields.seats }}", "7 8 7"},
		{"a fraction", "{{ ratio }}", "1.5"},
		{"a default", "{{ city_of_birth }} {{ contact.custom_fields.city_of_birth }}", "Rome Rome"},
		{"a value before the default", "{{ rank }}", "first"},
		{"a default for what is null", "{{ nulled }}", "set"},
		{"a whole number by default", "{{ level }}", "3"},
		{"a contact's field before a custom one", "{{ email }} {{ email | upcase }}{% if email == 'ann@example.org' %} it is{% endif %} {{ email.type }}", "ann@example.org ANN@EXAMPLE.ORG it is news"},
		{"a custom field before the brand", "{{ brand }} {{ brand | plus: 1 }}{% if brand == 4 and brand > 3 %} it is{% endif %} {{ contact.custom_fields.brand }} {{ brand.colors.primary }} {{ brand.width }}", "4 5 it is 4 #12507b 600"},
		{"the account", "{{ account.name }} {{ account.website_url }}", "Acme &amp; Co "},
		{"the broadcast", "{{ broadcast.name }} {{ broadcast.id }}", "Spring " + b1.String()},
		{"a text by reference as an argument", `{{ "a" | append: company | append: account.name }} {{ first_name | upcase }} {{ email | size }} {{ account.name.size }}`, "aAcmeAcme &amp; Co ANN &lt;3 15 9"},
		{"a text by reference in conditions", `{% if company == "Acme" and company contains "cm" %}1{% endif %}{% if last_name %}2{% endif %}{% if company and broadcast.name == "Spring" %}3{% endif %}{% case company %}{% when "Acme" %}4{% endcase %}`, "134"},
		{"a text by reference that is kept", `{% assign c = company %}{% for x in company %}{{ x }}{% endfor %}{{ c | append: c }}{{ company | default: "x" | size }}`, "AcmeAcmeAcme4"},
		{"an address as an argument", `{{ unsubscribe_url | slice: 0, 5 }} {{ unsubscribe_url | append: "#x" | split: "#" | last }} {% if packetboat_pixel contains "/_q/o/" %}y{% endif %}`, "https x y"},
		{"all custom fields", `{% for f in contact.custom_fields %}{{ f[0] }}={{ f[1] }};{% endfor %}{{ contact.custom_fields.size }}{{ contact.custom_fields | map: "plan" }}`, "brand=4;city_of_birth=Rome;email=wrong;level=3;nulled=set;plan=gold;rank=first;ratio=1.5;seats=7;9gold"},
		{"all of the broadcast", `{{ broadcast | raw }}`, `{"id":"` + b1.String() + `","name":"Spring"}`},
		{"the event of an enrollment", `{{ event.plan }} {{ event.seats }} {{ event.name }} {{ event.properties.plan }} {% for i in event.items %}{{ i.sku }}{% endfor %} {{ event.occurred_at | date: "%H:%M" }}`, "pro&lt; 3 ordered pro&lt; ab 08:00"},
		{"now, in the contact's zone", `{{ now | date: "%H:%M" }}`, "08:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := sample(t)
			l.Contact.Timezone = new("America/New_York")
			l.Contact.CustomFields = map[string]any{"plan": "gold", "seats": float64(7), "ratio": 1.5, "rank": "first", "email": "wrong", "nulled": nil, "brand": float64(4)}
			l.Contact.Company = new("Acme")
			data, err := journal.Trigger{Name: "ordered", At: noon, Properties: map[string]any{
				"plan": "pro<", "seats": 3, "items": []any{map[string]any{"sku": "a"}, map[string]any{"sku": "b"}},
			}}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if l.Event, err = journal.DecodeTrigger(data); err != nil {
				t.Fatal(err)
			}
			l.Sender.Fields = field.Catalog{
				"city_of_birth": {Default: "Rome"}, "rank": {Default: "last"}, "level": {Default: float64(3)}, "nulled": {Default: "set"}, "none": {},
			}
			l.Content = compile(t, content.Content{Source: content.Source{Subject: "s", HTML: tt.source, Context: content.Context{Broadcast: b1, BroadcastName: "Spring"}}})
			if got := string(renderMail(t, l).HTML); got != tt.want {
				t.Errorf("%s prints %q, want %q", tt.source, got, tt.want)
			}
			if v, ok := l.Contact.CustomFields["city_of_birth"]; ok {
				t.Errorf("the contact was given the default %v", v)
			}
		})
	}
}

func TestPartsSeeEachOther(t *testing.T) {
	t.Parallel()
	l := sample(t)
	l.Content = compile(t, content.Content{Source: content.Source{
		Subject: "Hi {{ first_name }}", Preheader: "For {{ first_name }}{{ email.preheader }}", FromName: "{{ account.name }}",
		HTML: "{{ email.subject }}|{{ email.preheader }}|{{ email.type }}", Text: "{{ first_name }}",
	}})
	p := renderMail(t, l)
	if p.Subject != "Hi Ann <3" || p.FromName != "Acme & Co" || string(p.Text) != "Ann <3" {
		t.Errorf("plain parts are %q, %q, %q; want them unescaped", p.Subject, p.FromName, p.Text)
	}
	if got, want := string(p.HTML), "Hi Ann &lt;3|For Ann &lt;3|news"; got != want {
		t.Errorf("HTML is %q, want %q", got, want)
	}
}

func TestTimeZones(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, account string
		own           *string
		want          string
	}{
		{"the contact's", "Europe/Berlin", new("Asia/Tokyo"), "21:00"},
		{"the account's", "Europe/Berlin", nil, "14:00"},
		{"the contact's is none", "Europe/Berlin", new("Mars/Olympus"), "14:00"},
		{"neither", "Mars/Olympus", nil, "12:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := sample(t)
			l.Sender.Tenant.Settings.Timezone, l.Contact.Timezone, l.Contact.CreatedAt = tt.account, tt.own, noon
			l.Content = compile(t, content.Content{Source: content.Source{HTML: `{{ now | date: "%H:%M" }} {{ created_at | date: "%H:%M" }}`}})
			if got := string(renderMail(t, l).HTML); got != tt.want+" "+tt.want {
				t.Errorf("it is %s, want %s", got, tt.want)
			}
		})
	}
}

var address = regexp.MustCompile(`https://([\w.]+)/_q/(\w)/([\w-]+)`)

// read returns host, kind and token of one of our URLs.
func read(t *testing.T, kind track.Kind, text string) (host string, token track.Token) {
	t.Helper()
	m := address.FindStringSubmatch(text)
	if m == nil || m[2] != string(rune(kind)) {
		t.Fatalf("%q is no address of kind %c", text, kind)
	}
	token, err := keys(t).Verify(kind, m[3])
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m[1], token
}

func TestOurAddresses(t *testing.T) {
	t.Parallel()
	l := sample(t)
	l.Sender.Identity.ContentHost = new("mail.example.com")
	l.Content = compile(t, content.Content{Source: content.Source{HTML: "{{ packetboat_pixel }} {{ unsubscribe_url }} {{ preferences_url }} {{ view_in_browser_url }}"}})
	p := renderMail(t, l)
	for i, want := range []struct {
		kind track.Kind
		host string
	}{{track.OpenPixel, "t.example.com"}, {track.Unsubscribe, "mail.example.com"}, {track.Preferences, "mail.example.com"}, {track.View, "mail.example.com"}} {
		host, token := read(t, want.kind, strings.Fields(string(p.HTML))[i])
		if host != want.host || token.Tenant != l.Tenant || token.Message != l.Message {
			t.Errorf("kind %c is at %s for %+v", want.kind, host, token)
		}
	}
	if !strings.HasSuffix(strings.Fields(string(p.HTML))[0], ".gif") {
		t.Error("the pixel's address does not end in .gif")
	}
	if p.UnsubscribeURL != strings.Fields(string(p.HTML))[1] {
		t.Errorf("List-Unsubscribe is %q", p.UnsubscribeURL)
	}
	l.WithoutPixel = true
	if p := renderMail(t, l); !strings.HasPrefix(string(p.HTML), "data:, ") {
		t.Errorf("without a pixel: %s", p.HTML)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	const long = `{% for i in (1..500) %}0123456789{% endfor %}`
	for _, tt := range []struct {
		name, url string
		city      string
		target    string // inside the token; "-" means that the link is not tracked
		plain     string // what stands there then
	}{
		{"as authored", "https://example.org/?a=1", "", "", ""},
		{"with a field", "https://example.org/{{ city | url_encode }}", "Köln & x", "https://example.org/K%C3%B6ln+%26+x?utm_source=acme-news&utm_medium=email&utm_campaign=spring", ""},
		{"with a field that is unset", "https://example.org/{{ company }}", "", "https://example.org/?utm_source=acme-news&utm_medium=email&utm_campaign=spring", ""},
		{"with another host", "https://{{ city }}/", "shop.example.org", "https://shop.example.org/?utm_source=acme-news&utm_medium=email&utm_campaign=spring", ""},
		{"with no host", "https://{{ city }}", "", "-", "https://"},
		{"with a password", "https://{{ city }}", "a:b@example.org", "-", "https://a:b@example.org"},
		{"with a line break", "https://example.org/{{ city }}", "a\r\nSet-Cookie: x", "-", "https://example.org/a\r\nSet-Cookie: x"},
		{"that would leave its attribute", "https://{{ city }}", `"><script>`, "-", "https://\"><script>"},
		{"too long to sign", "https://example.org/" + long, "", "-", "https://example.org/" + strings.Repeat("0123456789", 500)},
		{"that asks for itself", "https://example.org/{{ packetboat_link_0 }}{{ packetboat_link_9 }}", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := sample(t)
			l.Contact.City = &tt.city
			l.Content = compile(t, content.Content{
				Source: content.Source{HTML: `<a href="{{ packetboat_link_0 }}"></a>`, Tracking: true, Context: content.Context{UTM: true, UTMCampaign: "spring"}},
				Links:  []links.Link{{URL: tt.url, Dynamic: strings.Contains(tt.url, "{")}},
			})
			got := string(renderMail(t, l).HTML)
			inner := strings.TrimSuffix(strings.TrimPrefix(got, `<a href="`), `"></a>`)
			if strings.ContainsAny(inner, `"<>`) {
				t.Fatalf("the link breaks out of its attribute: %s", got)
			}
			if tt.name == "that asks for itself" {
				return
			}
			if tt.target == "-" {
				if html.UnescapeString(inner) != tt.plain {
					t.Errorf("the link is %q, want %q", inner, tt.plain)
				}
				return
			}
			if host, token := read(t, track.ClickLink, inner); host != "t.example.com" || token.Target != tt.target || token.Link != 0 {
				t.Errorf("the link at %s says %+v, want %q", host, token, tt.target)
			}
		})
	}
}

// Links that use variables of the body are rendered where they stand, and are tracked like others.
func TestLinksInLoops(t *testing.T) {
	t.Parallel()
	l := sample(t)
	l.Contact.Tags = []string{"a&b", `"><script>`, "c d"}
	source, err := content.Draft(content.Source{
		Subject: "Hi", Tracking: true, Context: content.Context{UTM: true, UTMCampaign: "spring"},
		HTML: `{% for t in contact.tags %}<a href="https://example.org/?x=1&amp;t={{ t | url_encode }}">{{ t }}</a>{% endfor %}` +
			`{% assign base = "https://shop.example" %}<a href='{{ base }}/{% if contact.tags.size > 2 %}many{% else %}few{% endif %}'>All</a>{{ unsubscribe_url }}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Content = source
	got := string(renderMail(t, l).HTML)
	const utm = "&utm_source=acme-news&utm_medium=email&utm_campaign=spring"
	var targets []string
	for _, m := range regexp.MustCompile(`href=["']([^"']*)["']`).FindAllStringSubmatch(got, -1) {
		_, token := read(t, track.ClickLink, m[1])
		targets = append(targets, fmt.Sprint(token.Link, " ", token.Target))
	}
	want := []string{
		"0 https://example.org/?x=1&t=a%26b" + utm, "0 https://example.org/?x=1&t=%22%3E%3Cscript%3E" + utm, "0 https://example.org/?x=1&t=c+d" + utm,
		"1 https://shop.example/many?" + utm[1:],
	}
	if !slices.Equal(targets, want) {
		t.Errorf("targets are %q\nwant %q\nin %s", targets, want, got)
	}
	l.Preview = true
	if again := string(renderMail(t, l).HTML); strings.Count(again, "/_q/c/") != 4 {
		t.Errorf("a test mail: %s", again)
	}
}

func TestABudgetIsOneLettersOnly(t *testing.T) {
	t.Parallel()
	w := (&render.Renderer{Keys: keys(t), BaseURL: &url.URL{Scheme: "http"}}).Writer()
	l := sample(t)
	l.Content = compile(t, content.Content{Source: content.Source{HTML: "{% for i in (1..9000) %}.{% endfor %}"}})
	for range 3 {
		l.Message = id.New[id.Message]()
		if _, err := w.Render(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	for _, source := range []content.Source{
		{HTML: "{% for i in (1..9000) %}{% endfor %}", Text: "{% for i in (1..9000) %}{% endfor %}"},
		{HTML: "{{ packetboat_link_0 }}{% for i in (1..9000) %}{% endfor %}"},
		{Preheader: "{% for i in (1..20000) %}{% endfor %}", HTML: "{{ email.preheader }}"},
		{Subject: "{% for i in (1..999) %}x{% endfor %}", HTML: "fine"},
	} {
		l.Content = compile(t, content.Content{Source: source, Links: []links.Link{{URL: "https://example.org/{% for i in (1..9000) %}{% endfor %}", Dynamic: true}}})
		if _, err := w.Render(t.Context(), l); err == nil || !strings.HasPrefix(err.Error(), "render_error") {
			t.Errorf("%+v: %v; want a render error", source, err)
		}
	}
	l.Content = compile(t, content.Content{Source: content.Source{HTML: "fine"}})
	if p, err := w.Render(t.Context(), l); err != nil || string(p.HTML) != "fine" {
		t.Errorf("the next mail: %q, %v", p.HTML, err)
	}
}

func TestUTM(t *testing.T) {
	t.Parallel()
	s := sample(t).Sender
	for _, tt := range []struct {
		name   string
		code   string
		c      content.Context
		target string
		want   string
	}{
		{"off", "code", content.Context{UTMCampaign: "c"}, "https://example.org/", "https://example.org/"},
		{"on", "code", content.Context{UTM: true, UTMCampaign: "c", UTMContent: "v"}, "https://example.org/?a=1#x", "https://example.org/?a=1&utm_source=code&utm_medium=email&utm_campaign=c&utm_content=v#x"},
		{"no code", "", content.Context{UTM: true}, "https://example.org/?utm_medium=x", "https://example.org/?utm_medium=x&utm_source=acme"},
	} {
		s.Identity.UTMCode = tt.code
		if got := s.WithUTM(tt.c, tt.target); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestWhatOneClickLeaves(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		scope tenant.UnsubscribeScope
		typ   sender.EmailType
		want  contact.UnsubscribeScope
	}{
		{"a type", tenant.UnsubscribeType, sender.EmailType{Key: "news"}, contact.UnsubscribeScope{TypeKey: "news"}},
		{"a category", tenant.UnsubscribeType, sender.EmailType{Key: "news", Category: idtest.Named[id.Category]("c")}, contact.UnsubscribeScope{TypeKey: "news", Category: idtest.Named[id.Category]("c")}},
		{"everything", tenant.UnsubscribeGlobal, sender.EmailType{Key: "news", Category: idtest.Named[id.Category]("c")}, contact.UnsubscribeScope{Everything: true}},
		{"a type that is gone", tenant.UnsubscribeType, sender.EmailType{}, contact.UnsubscribeScope{Everything: true}},
	} {
		s := render.Sender{Tenant: tenant.Tenant{Settings: tenant.Settings{UnsubscribeScope: tt.scope}}, Type: tt.typ}
		if got := s.UnsubscribeScope(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
