package demo

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/people/contact"
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

// The numbers of contacts: the first are on the newsletter's list, the last on the shop's, some on both.
const (
	people  = 1000
	readers = 200
	buyers  = people - 150
)

// names is how many first and last names a town has.
const names = 12

// town is a town with typical names of its inhabitants.
type town struct {
	country, zone string
	cities        [5]string
	first, last   [names]string
}

var towns = [...]town{
	{"NL", "Europe/Amsterdam",
		[5]string{"Rotterdam", "Utrecht", "Groningen", "Haarlem", "Breda"},
		[names]string{"Sanne", "Daan", "Fleur", "Bram", "Zoë", "Joris", "Lotte", "Thijs", "Anouk", "Ruben", "Femke", "Koen"},
		[names]string{"de Vries", "Bakker", "Visser", "Mulder", "van Dijk", "Smit", "Dekker", "Hoekstra", "Postma", "Kuipers", "van Leeuwen", "Brouwer"}},
	{"GB", "Europe/London",
		[5]string{"Bristol", "Leeds", "Cardiff", "Glasgow", "Norwich"},
		[names]string{"Harriet", "Owen", "Imogen", "Callum", "Beth", "Rhys", "Niamh", "Alistair", "Poppy", "Ewan", "Tamsin", "George"},
		[names]string{"Ashworth", "Pemberton", "Hughes", "Drummond", "Fairley", "Okonkwo", "Thornton", "Rahman", "Whitlock", "Sinclair", "Bevan", "Marsh"}},
	{"DE", "Europe/Berlin",
		[5]string{"Hamburg", "Leipzig", "Freiburg", "Bremen", "Köln"},
		[names]string{"Jürgen", "Lena", "Matthias", "Anke", "Felix", "Greta", "Tobias", "Wiebke", "Jonas", "Heike", "Moritz", "Clara"},
		[names]string{"Schäfer", "Brandt", "Vogel", "Krüger", "Lindner", "Petersen", "Yılmaz", "Hartmann", "Seidel", "Busch", "Albrecht", "Möller"}},
	{"FR", "Europe/Paris",
		[5]string{"Nantes", "Lyon", "Rennes", "Lille", "Bordeaux"},
		[names]string{"Amélie", "Hugo", "Chloé", "Rémi", "Manon", "Théo", "Inès", "Baptiste", "Jeanne", "Yanis", "Louise", "Gaspard"},
		[names]string{"Lefèvre", "Moreau", "Garnier", "Chevalier", "Roux", "Diallo", "Perrin", "Mercier", "Benali", "Fontaine", "Leroy", "Caron"}},
	{"SE", "Europe/Stockholm",
		[5]string{"Göteborg", "Uppsala", "Malmö", "Lund", "Umeå"},
		[names]string{"Astrid", "Nils", "Elsa", "Oskar", "Maja", "Viktor", "Saga", "Emil", "Linnéa", "Axel", "Freja", "Gustav"},
		[names]string{"Lindqvist", "Bergström", "Åkesson", "Sandberg", "Nyström", "Holmgren", "Ekström", "Wallin", "Sjöberg", "Hedlund", "Forsberg", "Dahl"}},
	{"ES", "Europe/Madrid",
		[5]string{"Valencia", "Bilbao", "Granada", "Vigo", "Sevilla"},
		[names]string{"Lucía", "Álvaro", "Inés", "Mateo", "Carmen", "Iker", "Nerea", "Pablo", "Rocío", "Diego", "Alba", "Joaquín"},
		[names]string{"Ibáñez", "Navarro", "Cortés", "Molina", "Serrano", "Castro", "Vidal", "Aguirre", "Peña", "Lozano", "Rivas", "Herrero"}},
	{"US", "America/Chicago",
		[5]string{"Madison", "St. Paul", "Austin", "Evanston", "Iowa City"},
		[names]string{"Grace", "Wyatt", "Naomi", "Elliot", "June", "Marcus", "Hazel", "Caleb", "Ruth", "Theo", "Violet", "Andre"},
		[names]string{"Whitfield", "Okafor", "Delgado", "Nguyen", "Carver", "Bishop", "Larsen", "Montgomery", "Reyes", "Hollis", "Kim", "Patterson"}},
	{"IN", "Asia/Kolkata",
		[5]string{"Pune", "Kochi", "Jaipur", "Mysuru", "Kolkata"},
		[names]string{"Ananya", "Rohan", "Meera", "Arjun", "Kavya", "Vikram", "Nisha", "Sanjay", "Diya", "Kabir", "Lakshmi", "Imran"},
		[names]string{"Deshpande", "Menon", "Rathore", "Iyer", "Banerjee", "Kulkarni", "Sheikh", "Pillai", "Chatterjee", "Gupta", "Nair", "Bose"}},
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

// scanned are companies whose mail servers follow the links in mail before it is delivered.
var scanned = map[string]bool{"Meridian Labs": true, "Kestrel Logistics": true, "Juniper Clinic": true}

// sample is one contact of the demo.
type sample struct {
	email  string
	stage  string // its name; empty: the default one
	change contact.Change
}

// contacts returns the demo's contacts, always the same, oldest first. Some are unsubscribed from the
// newsletter, and some from all mail, so that a report has exclusions.
func contacts(today time.Time) []sample {
	list := make([]sample, 0, people)
	for n := range people {
		pair, i := n/len(towns), n%len(towns)
		town := towns[i]
		first, last := town.first[pair%names], town.last[(pair/names+pair)%names]
		texts := map[contact.Text]string{
			contact.FirstName: first, contact.LastName: last, contact.City: town.cities[(pair+i)%len(town.cities)],
			contact.Country: town.country, contact.Timezone: town.zone, contact.Source: sources[n%len(sources)],
			contact.ExternalID: fmt.Sprintf("reader-%04d", 1001+n),
		}
		host := domains[n%len(domains)]
		if n%3 != 1 {
			company := companies[(n*7)%len(companies)]
			texts[contact.Company], texts[contact.Title] = company, titles[(n*5)%len(titles)]
			if n%5 < 2 {
				host = slug.Derive(company, '-') + ".example"
			}
		}
		s := sample{
			email: dotted(first) + "." + dotted(last) + "@" + host,
			change: contact.Change{
				Texts: map[contact.Text]*string{},
				Tags:  &[]string{tags[n%len(tags)], tags[(n/5+1)%len(tags)]},
				CustomFields: map[string]any{
					"favourite_genre": genres[(n*3)%len(genres)],
					"books_bought":    float64((n * n) % 23),
					"member_since":    today.AddDate(0, 0, -(30 + n*2)).Format(time.DateOnly),
				},
			},
		}
		for t, v := range texts {
			s.change.Texts[t] = new(v)
		}
		switch {
		case n%10 == 9:
			s.stage = "Churned"
		case n%25 == 3:
			s.stage = "Partner"
		case n >= people-buyers && n%2 == 0:
			s.stage = "Customer"
		}
		switch {
		case n%40 == 17:
			s.change.Subscriptions = map[string]*bool{emailType: new(false)}
		case n%100 == 63:
			s.change.DoNotContact = new(true)
		}
		list = append(list, s)
	}
	return list
}

// dotted returns a name as used in an address.
func dotted(name string) string { return strings.ReplaceAll(slug.Derive(name, '-'), "-", "") }
