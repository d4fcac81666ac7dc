package search_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/search"
)

func TestRecordsOfAllKindsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, now := t.Context(), broadcasttest.Now
		a, other := broadcasttest.New(t, db, "acme"), broadcasttest.New(t, db, "other")
		add := func(email, first, last, company string) {
			t.Helper()
			texts := map[contact.Text]*string{}
			for f, s := range map[contact.Text]string{contact.FirstName: first, contact.LastName: last, contact.Company: company} {
				if s != "" {
					texts[f] = &s
				}
			}
			if _, err := contact.Create(ctx, db, a.Tenant, email, contact.Change{Texts: texts}, contact.Rules{}, now); err != nil {
				t.Fatal(err)
			}
		}
		add("ann@example.org", "Ann", "Bee", "")
		add("joanna@example.org", "Joanna", "Sum", "")
		add("x@example.org", "Élodie 😀", "Annis", "")
		add("annex@example.com", "", "", "Spring Ltd")
		other.AddContacts(other.List.ID, "ann", 2)
		a.AddList("Spring buyers")
		b := a.Create(func(ch *broadcast.Change) { ch.Name = new("The spring news") })
		other.Create(func(ch *broadcast.Change) { ch.Name = new("The spring news") })
		html := "<p>a</p>"
		if _, _, err := template.Create(ctx, db, a.MJML, a.Tenant, template.Change{Name: new("Offspring"), Slug: new("spring-mail"), HTML: &html}, now); err != nil {
			t.Fatal(err)
		}
		if _, _, err := template.CreateBlock(ctx, db, a.MJML, a.Tenant, template.BlockChange{Name: new("Mainspring"), HTML: &html}, now); err != nil {
			t.Fatal(err)
		}
		find := func(text string, limit int, types ...search.Type) string {
			t.Helper()
			if len(types) == 0 {
				types = search.Types()
			}
			list, err := search.Find(ctx, db, a.Tenant, text, types, limit)
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, r := range list {
				part := ""
				if r.Match != nil {
					part = string(utf16.Decode(utf16.Encode([]rune(r.Title))[r.Match[0]:r.Match[1]]))
				}
				out = append(out, fmt.Sprintf("%s %s[%s]", r.Type, r.Title, part))
			}
			return strings.Join(out, ", ")
		}
		for text, want := range map[string]string{
			"":                   "",
			"  ":                 "",
			"nobody":             "",
			"ann":                "contact annex@example.com[ann], contact Ann Bee[Ann], contact Élodie 😀 Annis[Ann], contact Joanna Sum[ann]",
			"elodie":             "contact Élodie 😀 Annis[Élodie]",
			"bee ann":            "contact Ann Bee[Bee]",
			"ann@ex":             "contact Ann Bee[]",
			"JOANNA@EXAMPLE.ORG": "contact Joanna Sum[]",
			"spring":             "contact annex@example.com[], segment Spring buyers[Spring], broadcast The spring news[spring], template Offspring[]",
			"news spr":           "broadcast The spring news[news]",
			"%":                  "",
		} {
			if got := find(text, 8); got != want {
				t.Errorf("%q:\n got %s\nwant %s", text, got, want)
			}
		}
		if got := find("ann", 1); got != "contact annex@example.com[ann]" {
			t.Errorf("one: %s", got)
		}
		if got := find("spring", 8, search.Template, search.Segment); got != "segment Spring buyers[Spring], template Offspring[]" {
			t.Errorf("two types: %s", got)
		}
		if got := find(a.Domain.Name, 8); got != "domain acme.example.com[acme.example.com], identity News[]" && got != "domain acme.example.com[acme.example.com]" {
			t.Errorf("a domain: %s", got)
		}
		list, err := search.Find(ctx, db, a.Tenant, "spring news", []search.Type{search.Broadcast}, 8)
		if err != nil || len(list) != 1 || list[0].ID != b.ID.String() || list[0].Subtitle != "Spring news" || list[0].Status != "draft" {
			t.Errorf("the broadcast: %+v, %v", list, err)
		}
	})
}

func FuzzSearchesHaveSpansWithinTitles(f *testing.F) {
	for _, s := range []string{"ann", "é", "\u0301a", "ﬁne", "😀 x", "İstanbul", "\x80"} {
		f.Add(s, s)
		f.Add("a "+s+" b", s)
	}
	f.Fuzz(func(t *testing.T, title, text string) {
		rank, start, end := search.Match(title, text)
		if n := len(utf16.Encode([]rune(title))); start < 0 || end < start || end > n || rank < 0 {
			t.Errorf("Match(%q, %q) = %d, %d, %d; the title has %d units", title, text, rank, start, end, n)
		}
	})
}
