package app

import (
	_ "embed" // the letter
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/slug"
)

// demoHTML is what the demo's draft says.
//
//go:embed demo.html
var demoHTML string

// The name and the subject of the demo's draft.
const (
	demoSubject   = `{{ contact.first_name | default: "Hello" }}, the autumn list is here`
	demoPreheader = "Thirty new books, readings on Thursdays, and a shelf for your office"
)

// demoTown is a town with typical names of its inhabitants.
type demoTown struct {
	country, zone string
	cities        [5]string
	first, last   [5]string
}

var demoTowns = [...]demoTown{
	{"NL", "Europe/Amsterdam",
		[5]string{"Rotterdam", "Utrecht", "Groningen", "Haarlem", "Breda"},
		[5]string{"Sanne", "Daan", "Fleur", "Bram", "Zoë"}, [5]string{"de Vries", "Bakker", "Visser", "Mulder", "van Dijk"}},
	{"GB", "Europe/London",
		[5]string{"Bristol", "Leeds", "Cardiff", "Glasgow", "Norwich"},
		[5]string{"Harriet", "Owen", "Imogen", "Callum", "Beth"}, [5]string{"Ashworth", "Pemberton", "Hughes", "Drummond", "Fairley"}},
	{"DE", "Europe/Berlin",
		[5]string{"Hamburg", "Leipzig", "Freiburg", "Bremen", "Köln"},
		[5]string{"Jürgen", "Lena", "Matthias", "Anke", "Felix"}, [5]string{"Schäfer", "Brandt", "Vogel", "Krüger", "Lindner"}},
	{"FR", "Europe/Paris",
		[5]string{"Nantes", "Lyon", "Rennes", "Lille", "Bordeaux"},
		[5]string{"Amélie", "Hugo", "Chloé", "Rémi", "Manon"}, [5]string{"Lefèvre", "Moreau", "Garnier", "Chevalier", "Roux"}},
	{"SE", "Europe/Stockholm",
		[5]string{"Göteborg", "Uppsala", "Malmö", "Lund", "Umeå"},
		[5]string{"Astrid", "Nils", "Elsa", "Oskar", "Maja"}, [5]string{"Lindqvist", "Bergström", "Åkesson", "Sandberg", "Nyström"}},
	{"ES", "Europe/Madrid",
		[5]string{"Valencia", "Bilbao", "Granada", "Vigo", "Sevilla"},
		[5]string{"Lucía", "Álvaro", "Inés", "Mateo", "Carmen"}, [5]string{"Ibáñez", "Navarro", "Cortés", "Molina", "Serrano"}},
	{"US", "America/Chicago",
		[5]string{"Madison", "St. Paul", "Austin", "Evanston", "Iowa City"},
		[5]string{"Grace", "Wyatt", "Naomi", "Elliot", "June"}, [5]string{"Whitfield", "Okafor", "Delgado", "Nguyen", "Carver"}},
	{"IN", "Asia/Kolkata",
		[5]string{"Pune", "Kochi", "Jaipur", "Mysuru", "Kolkata"},
		[5]string{"Ananya", "Rohan", "Meera", "Arjun", "Kavya"}, [5]string{"Deshpande", "Menon", "Rathore", "Iyer", "Banerjee"}},
}

var (
	demoCompanies = [...]string{
		"Ferry & Sons", "Northlight Studio", "Brickyard Architects", "Tallow Street Bakery", "Meridian Labs", "Kestrel Logistics",
		"Copperfield Schools", "Green Lantern Energy", "Juniper Clinic", "Old Mill Press", "Saltmarsh Foods", "Union Bicycle Works",
	}
	demoTitles  = [...]string{"Office manager", "Teacher", "Editor", "Designer", "Librarian", "Founder", "Researcher"}
	demoTags    = [...]string{"customer", "reading-club", "event-2026", "wholesale", "press"}
	demoGenres  = []string{"fiction", "history", "science", "travel", "poetry"}
	demoDomains = [...]string{"example.com", "example.org", "example.net"}
	demoSources = [...]string{"website", "shop", "fair"}
)

// demoContact is one contact of the demo.
type demoContact struct {
	email  string
	change contact.Change
}

// demoContacts returns the demo's contacts, always the same. Some are unsubscribed from the
// newsletter, and two from all mail, so that a report has exclusions.
func demoContacts(today time.Time) []demoContact {
	var people []demoContact
	for pair := range 25 {
		for i, town := range demoTowns {
			n := len(people)
			first, last := town.first[pair%5], town.last[(pair/5+pair)%5]
			texts := map[contact.Text]string{
				contact.FirstName: first, contact.LastName: last, contact.City: town.cities[(pair+i)%5],
				contact.Country: town.country, contact.Timezone: town.zone, contact.Source: demoSources[n%len(demoSources)],
				contact.ExternalID: fmt.Sprintf("reader-%04d", 1001+n),
			}
			if n%3 != 1 {
				texts[contact.Company] = demoCompanies[(n*7)%len(demoCompanies)]
				texts[contact.Title] = demoTitles[(n*5)%len(demoTitles)]
			}
			c := demoContact{
				email: dotted(first) + "." + dotted(last) + "@" + demoDomains[n%len(demoDomains)],
				change: contact.Change{
					Texts: map[contact.Text]*string{},
					Tags:  &[]string{demoTags[n%len(demoTags)], demoTags[(n/5+1)%len(demoTags)]},
					CustomFields: map[string]any{
						"favourite_genre": demoGenres[(n*3)%len(demoGenres)],
						"books_bought":    float64((n * n) % 23),
						"member_since":    today.AddDate(0, 0, -(30 + n*9)).Format(time.DateOnly),
					},
				},
			}
			for t, v := range texts {
				c.change.Texts[t] = new(v)
			}
			switch {
			case n%40 == 17:
				c.change.Subscriptions = map[string]*bool{demoEmailType: new(false)}
			case n%100 == 63:
				c.change.DoNotContact = new(true)
			}
			people = append(people, c)
		}
	}
	return people
}

// dotted returns a name as used in an address.
func dotted(name string) string { return strings.ReplaceAll(slug.Derive(name, '-'), "-", "") }
