package versus

import "fmt"

// typical is a contact as most installations have them.
type typical struct {
	email, first, last, company, country, city, plan string
	age                                              int
	tags                                             []string
}

var (
	firsts    = []string{"Ada", "Björn", "Chiara", "Dilnoza", "Emeka", "Fatima", "Goran", "Hana", "Iñigo", "Jun", "Katrin", "Lars", "Maria"}
	asciis    = []string{"ada", "bjorn", "chiara", "dilnoza", "emeka", "fatima", "goran", "hana", "inigo", "jun", "katrin", "lars", "maria"}
	lasts     = []string{"Smith", "Jansen", "Rossi", "Dubois", "Kowalska", "Yilmaz", "Haddad", "Tanaka", "Okafor", "Silva", "Larsen", "Weber", "Moreau", "Costa", "Bauer", "Fischer", "Whitfield"}
	companies = []string{"Northlight Logistics", "", "Kestrel Bakery", "", "Saltmarsh Studio", "", "Lantern Press", "", "Harbour Foods"}
	countries = []string{"US", "DE", "GB", "FR", "IN", "CA", "NL"}
	cities    = []string{"Aarhus", "Bergen", "Dresden", "Esbjerg", "Faro", "Graz", "Heerlen", "Innsbruck", "Jena", "Kiel", "Lyon"}
	plans     = []string{"free", "free", "pro", "free", "enterprise"}
	tags      = [][]string{{"customer"}, {}, {"reader"}, {"reader", "wholesale"}, {}, {"customer", "press"}}
	hosts     = []string{"gmail.example", "outlook.example", "yahoo.example", "icloud.example", "gmx.example"}
)

// person is the contact of a number, always the same.
func person(i int) typical {
	domain := hosts[i%len(hosts)]
	if i%10 < 3 {
		domain = fmt.Sprintf("firm%d.example", i%997)
	}
	last := lasts[i/len(firsts)%len(lasts)]
	return typical{
		email: fmt.Sprintf("%s.%s%d@%s", asciis[i%len(asciis)], last, i, domain),
		first: firsts[i%len(firsts)], last: last, company: companies[i%len(companies)],
		country: countries[i%len(countries)], city: cities[i%len(cities)], plan: plans[i%len(plans)],
		age: 18 + i%70, tags: tags[i%len(tags)],
	}
}
