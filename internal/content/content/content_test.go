package content_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func freeze(t *testing.T, db *sqldb.DB, s content.Source) content.Content {
	t.Helper()
	tenant := idtest.Tenant()
	c, err := content.Freeze(t.Context(), db, tenant, s, noon)
	if err != nil {
		t.Fatal(err)
	}
	got, err := content.Load(t.Context(), db, tenant, c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

const page = `<!doctype html>
<html><head><meta charset="iso-8859-1"><title>Spring</title></head>
<body class="x">
<a href="https://example.org/?a=1&amp;b=2">Shop</a>
<a href='https://example.org/?a=1&amp;b=2#top' data-no-track>Untracked</a>
<a href="https://example.org/?a=1&amp;b=2">Shop again</a>
<a href="https://example.org/u/{{ contact.id }}?c={{ plan }}"><img src="https://example.org/i.png" alt="You"></a>
{% for t in contact.tags %}<a href="https://example.org/t/{{ t }}">{{ t }}</a>{% endfor %}
<a href="mailto:a@example.org">Write</a> <a href="#top">Up</a>
<!--[if mso]><v:roundrect href="https://example.org/button"></v:roundrect><![endif]-->
</body></html>
`

func TestGolden(t *testing.T) {
	t.Parallel()
	base := content.Source{Subject: "Hello {{ first_name }}", Preheader: "News & {{ city }}", HTML: page, Tracking: true}
	tracked, untracked, own, long, plain := base, base, base, base, base
	untracked.Tracking = false
	own.HTML = strings.Replace(page, "</body>", `<a href="{{ unsubscribe_url }}">Leave</a></body>`, 1)
	own.Text = "Shop: https://example.org/\n"
	own.Preheader = ""
	long.HTML = strings.Replace(page, "</body>", strings.Repeat("<p>........................................</p>\n", 2000)+"</body>", 1)
	plain.HTML = `Just <a href="https://example.org/">words</a>.`
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for name, s := range map[string]content.Source{"tracked": tracked, "untracked": untracked, "own_footer": own, "long": long, "no_body": plain} {
			c := freeze(t, db, s)
			var b strings.Builder
			fmt.Fprintf(&b, "%s\n=== text\n%s\n=== links\n", strings.ReplaceAll(c.HTML, "<p>........................................</p>\n", ""), strings.ReplaceAll(c.Text, "\n\n........................................", ""))
			for _, l := range c.Links {
				fmt.Fprintf(&b, "%d %q %q dynamic=%v\n", l.Index, l.URL, l.Label, l.Dynamic)
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("%s: got\n%s\nwant\n%s", name, b.String(), want)
			}
			if _, err := content.Compile(c); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := content.Source{Subject: "Hi", HTML: "<p>Hello</p>"}
	with := func(change func(*content.Source)) content.Source {
		s := good
		change(&s)
		return s
	}
	for _, tt := range []struct {
		name    string
		source  content.Source
		want    error
		details string // substring of the details as JSON
	}{
		{"enough", good, nil, ""},
		{"nothing", content.Source{}, content.ErrNoContent, `"content.body_html"`},
		{"no subject", with(func(s *content.Source) { s.Subject = " \n" }), content.ErrNoContent, `[{"path":"content.subject"`},
		{"a subject of a byte order mark", with(func(s *content.Source) { s.Subject = "\ufeff " }), content.ErrNoContent, `[{"path":"content.subject"`},
		{"no body but a text", content.Source{Subject: "Hi", HTML: "\t", Text: "Hello"}, content.ErrNoContent, `[{"path":"content.body_html"`},
		{"Liquid in the subject", with(func(s *content.Source) { s.Subject = "Hi {{ first_name" + " | nope }}" }), content.ErrLiquid, `{"field":"content.subject","line":1,`},
		{"Liquid in the body", with(func(s *content.Source) { s.HTML = "<p>\n\n{% if x %}</p>" }), content.ErrLiquid, `{"field":"content.body_html","line":3,`},
		{"Liquid in the preheader", with(func(s *content.Source) { s.Preheader = "{% include 'x' %}" }), content.ErrLiquid, `{"field":"content.preheader","line":1,`},
		{"Liquid in the name", with(func(s *content.Source) { s.FromName = "{% endif %}" }), content.ErrLiquid, `{"field":"content.from_name","line":1,`},
		{"Liquid in the text", with(func(s *content.Source) { s.Text = "a\n{% for %}" }), content.ErrLiquid, `{"field":"content.body_text","line":2,`},
		{"a script for a link", with(func(s *content.Source) {
			s.HTML = `<a href="JavaScript:alert(1)">x</a> <a href=" data:text/html,x">y</a>`
		}), fault.ErrInput, `data:text/html`},
		{"other languages' placeholders", with(func(s *content.Source) { s.HTML = "{{{ name }}} *|FNAME|*" }), nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := content.Check(tt.source)
			if !errors.Is(err, tt.want) {
				t.Fatalf("Check = %v, want %v", err, tt.want)
			}
			if tt.want == nil {
				return
			}
			f, ok := errors.AsType[*fault.Error](err)
			if !ok {
				t.Fatalf("Check = %T, no fault", err)
			}
			b, err := json.Marshal(f.Details)
			if err != nil || !strings.Contains(string(b), tt.details) {
				t.Errorf("details are %s, %v; want %s in them", b, err, tt.details)
			}
		})
	}
}

func TestLinkVariable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		n    int
		ok   bool
	}{{"packetboat_link_0", 0, true}, {"packetboat_link_12", 12, true}, {"packetboat_link_", 0, false}, {"packetboat_link_-1", -1, false}, {"packetboat_pixel", 0, false}, {"link_1", 0, false}} {
		if n, ok := content.LinkVariable(tt.name); ok != tt.ok || ok && n != tt.n {
			t.Errorf("LinkVariable(%q) = %d, %v", tt.name, n, ok)
		}
	}
}

func TestAFrozenContentIsItsTenantsAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		acme, other := idtest.Tenant(), idtest.Tenant()
		want := content.Source{
			Subject: "Hi", Preheader: "p", FromName: "Ann", ReplyTo: "a@example.org", Tracking: true,
			HTML:    `<a href="https://example.org/1">1</a>`,
			Send:    id.New[id.Send](),
			Context: content.Context{Broadcast: id.New[id.Broadcast](), BroadcastName: "B", EmailType: id.New[id.EmailType](), UTM: true, UTMCampaign: "c", UTMContent: "v"},
		}
		a, err := content.Freeze(ctx, db, acme, want, noon)
		if err != nil {
			t.Fatal(err)
		}
		second := want
		second.HTML = `<a href="https://example.org/2">2</a> <a href="https://example.org/1">one</a>`
		b, err := content.Freeze(ctx, db, acme, second, noon)
		if err != nil {
			t.Fatal(err)
		}
		got, err := content.Load(ctx, db, acme, a)
		if err != nil {
			t.Fatal(err)
		}
		got.HTML, got.Text = want.HTML, want.Text
		if !cmp.Equal(got.Source, want) {
			t.Errorf("Load = %+v, want %+v", got.Source, want)
		}
		if _, err := content.Load(ctx, db, other, a); !errors.Is(err, content.ErrGone) {
			t.Errorf("another tenant loads it: %v", err)
		}
		if _, err := content.Freeze(ctx, db, acme, content.Source{Subject: "Hi"}, noon); !errors.Is(err, content.ErrNoContent) {
			t.Errorf("Freeze of no body: %v", err)
		}
		list, err := content.LinksOf(ctx, db, acme, want.Send)
		var urls []string
		for i, l := range list {
			urls = append(urls, l.URL)
			if l.Index != i {
				t.Errorf("link %d of the send has the number %d", i, l.Index)
			}
		}
		if err != nil || !slices.Equal(urls, []string{"https://example.org/1", "https://example.org/2"}) {
			t.Errorf("LinksOf = %v, %v", list, err)
		}
		if list, err := content.LinksOf(ctx, db, other, want.Send); err != nil || len(list) != 0 {
			t.Errorf("another tenant's LinksOf = %v, %v", list, err)
		}
		counts, err := content.LinkCounts(ctx, db, acme, []id.Content{a, b, idtest.Named[id.Content]("none")})
		if err != nil || len(counts) != 2 || counts[a] != 1 || counts[b] != 2 {
			t.Errorf("LinkCounts = %v, %v", counts, err)
		}
		cache := &content.Cache{DB: db}
		for _, tt := range []struct {
			tenant  id.Tenant
			content id.Content
			want    error
		}{{acme, a, nil}, {acme, b, nil}, {acme, a, nil}, {other, a, content.ErrGone}, {acme, idtest.Named[id.Content]("none"), content.ErrGone}} {
			k, err := cache.Get(ctx, tt.tenant, tt.content)
			if !errors.Is(err, tt.want) || err == nil && k.ID != tt.content {
				t.Errorf("Get(%s) = %v, %v; want %v", tt.content, k, err, tt.want)
			}
		}
		first, _ := cache.Get(ctx, acme, a)
		for range 40 { // more than the cache holds
			c, err := content.Freeze(ctx, db, acme, want, noon)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := cache.Get(ctx, acme, c); err != nil {
				t.Fatal(err)
			}
			if again, _ := cache.Get(ctx, acme, a); again != first {
				t.Fatal("a content in use was compiled again")
			}
		}
	})
}

func TestLinksAreTrackedWhateverTheirLiquidUses(t *testing.T) {
	t.Parallel()
	const here = "{% capture packetboat_target %}"
	for _, tt := range []struct {
		name, html string
		own        bool   // the target is rendered apart from the body
		body       string // the href
	}{
		{"contact", `<a href="https://example.org/{{ contact.id }}">x</a>`, true, "{{ packetboat_link_0 }}"},
		{"loop", `{% for t in contact.tags %}<a href="https://example.org/?a=1&amp;t={{ t }}">x</a>{% endfor %}`, false,
			here + "https://example.org/?a=1&amp;t={{ t }}{% endcapture %}{{ packetboat_link_0[packetboat_target] }}"},
		{"assign", `{%- assign code = plan | upcase -%}<a href="https://example.org/{{ code }}">x</a>`, false,
			here + "https://example.org/{{ code }}{% endcapture %}{{ packetboat_link_0[packetboat_target] }}"},
		{"capture", `{% capture "way" %}x{% endcapture %}<a href="https://example.org/{{ way }}">x</a>`, false,
			here + "https://example.org/{{ way }}{% endcapture %}{{ packetboat_link_0[packetboat_target] }}"},
		{"loop's counter", `{% for t in contact.tags %}<a href="https://example.org/{{ forloop.index }}">x</a>{% endfor %}`, false,
			here + "https://example.org/{{ forloop.index }}{% endcapture %}{{ packetboat_link_0[packetboat_target] }}"},
		{"condition in a loop", `{% for t in contact.tags %}<a href="https://example.org/{% if t %}{{ t }}{% endif %}">x</a>{% endfor %}`, false,
			here + "https://example.org/{% if t %}{{ t }}{% endif %}{% endcapture %}{{ packetboat_link_0[packetboat_target] }}"},
		{"within a loop, but not of it", `{% for t in contact.tags %}<a href="https://example.org/{{ plan }}">x</a>{% endfor %}`, true, "{{ packetboat_link_0 }}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := freeze(t, dbtest.One(t), content.Source{Subject: "Hi", HTML: tt.html, Tracking: true})
			if !strings.Contains(c.HTML, `href="`+tt.body+`"`) {
				t.Errorf("the body is %s", c.HTML)
			}
			k, err := content.Compile(c)
			if err != nil || (k.Targets[0] != nil) != tt.own || k.Guard != nil {
				t.Errorf("Compile = %v; targets %v, guard %v", err, k.Targets, k.Guard)
			}
		})
	}
}

func TestTheHoneypotIsAnInvisibleLinkOfTheHTMLAlone(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	const body = `<p><a href="https://example.org/1">One</a></p><!--[if mso]><a href="https://example.org/1">One</a><![endif]--><p><a href="https://example.org/2">Two</a> <a href="{{ unsubscribe_url }}">Out</a></p>`
	c := freeze(t, db, content.Source{Subject: "Hi", HTML: body, Tracking: true, Honeypot: true})
	at := strings.Index(c.HTML, `<a href="{{ packetboat_honeypot }}" aria-hidden="true" tabindex="-1"`)
	if at < 0 || strings.Count(c.HTML, "packetboat_honeypot") != 1 || !strings.HasSuffix(c.HTML[:at], "Two</a>") {
		t.Errorf("the body is %s", c.HTML)
	}
	if len(c.Links) != 2 || strings.Contains(c.Text, "honeypot") {
		t.Errorf("the links are %v, the text is %q", c.Links, c.Text)
	}
	for name, s := range map[string]content.Source{
		"without tracking": {HTML: body, Honeypot: true},
		"without links":    {HTML: `<p>Hi</p><a href="{{ unsubscribe_url }}">Out</a>`, Tracking: true, Honeypot: true},
		"not wanted":       {HTML: body, Tracking: true},
	} {
		s.Subject = "Hi"
		if c := freeze(t, db, s); strings.Contains(c.HTML, "honeypot") {
			t.Errorf("%s: %s", name, c.HTML)
		}
	}
}
