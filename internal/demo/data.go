package demo

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/slug"
)

// html is what the demo's draft says.
//
//go:embed demo.html
var html string

// The name and the subject of the demo's draft.
const (
	subject   = `{{ contact.first_name | default: "Hello" }}, the autumn list is here`
	preheader = "Thirty new books, readings on Thursdays, and a shelf for your office"
)

// town is a town with typical names of its inhabitants.
type town struct {
	country, zone string
	cities        [5]string
	first, last   [5]string
}

var towns = [...]town{
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
	companies = [...]string{
		"Ferry & Sons", "Northlight Studio", "Brickyard Architects", "Tallow Street Bakery", "Meridian Labs", "Kestrel Logistics",
		"Copperfield Schools", "Green Lantern Energy", "Juniper Clinic", "Old Mill Press", "Saltmarsh Foods", "Union Bicycle Works",
	}
	titles  = [...]string{"Office manager", "Teacher", "Editor", "Designer", "Librarian", "Founder", "Researcher"}
	tags    = [...]string{"customer", "reading-club", "event-2026", "wholesale", "press"}
	genres  = []string{"fiction", "history", "science", "travel", "poetry"}
	domains = [...]string{"example.com", "example.org", "example.net"}
	sources = [...]string{"website", "shop", "fair"}
)

// sample is one contact of the demo.
type sample struct {
	email  string
	change contact.Change
}

// contacts returns the demo's contacts, always the same. Some are unsubscribed from the
// newsletter, and two from all mail, so that a report has exclusions.
func contacts(today time.Time) []sample {
	var people []sample
	for pair := range 25 {
		for i, town := range towns {
			n := len(people)
			first, last := town.first[pair%5], town.last[(pair/5+pair)%5]
			texts := map[contact.Text]string{
				contact.FirstName: first, contact.LastName: last, contact.City: town.cities[(pair+i)%5],
				contact.Country: town.country, contact.Timezone: town.zone, contact.Source: sources[n%len(sources)],
				contact.ExternalID: fmt.Sprintf("reader-%04d", 1001+n),
			}
			if n%3 != 1 {
				texts[contact.Company] = companies[(n*7)%len(companies)]
				texts[contact.Title] = titles[(n*5)%len(titles)]
			}
			c := sample{
				email: dotted(first) + "." + dotted(last) + "@" + domains[n%len(domains)],
				change: contact.Change{
					Texts: map[contact.Text]*string{},
					Tags:  &[]string{tags[n%len(tags)], tags[(n/5+1)%len(tags)]},
					CustomFields: map[string]any{
						"favourite_genre": genres[(n*3)%len(genres)],
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
				c.change.Subscriptions = map[string]*bool{emailType: new(false)}
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
