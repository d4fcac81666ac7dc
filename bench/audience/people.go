package audience

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// person is a contact of the benchmark. The same number is always the same
// person, whatever else there is.
type person struct {
	n                           int
	email, domain               string
	first, last, company        string
	city, country, source       string
	plan                        string // custom field; empty: none is known
	age                         int    // custom field; 0: unknown
	tags                        []string
	status                      string
	created                     time.Time
	doNotContact, newsletterOff bool
}

// choice is one of several values, as often as its weight.
type choice struct {
	value  string
	weight int // of a thousand
}

func pick(r *rand.Rand, list []choice) string {
	n := r.IntN(1000)
	for _, c := range list {
		if n -= c.weight; n < 0 {
			return c.value
		}
	}
	return list[len(list)-1].value
}

var (
	mailHosts = []choice{{"gmail.example", 310}, {"outlook.example", 160}, {"yahoo.example", 90}, {"icloud.example", 80}, {"gmx.example", 60}}
	countries = []choice{
		{"US", 340}, {"DE", 120}, {"GB", 110}, {"FR", 80}, {"IN", 70}, {"CA", 50}, {"NL", 40}, {"ES", 40}, {"IT", 35}, {"BR", 30},
		{"AU", 25}, {"AT", 15}, {"CH", 15}, {"SE", 10}, {"NO", 8}, {"DK", 6}, {"IS", 1}, {"", 5},
	}
	plans   = []choice{{"free", 560}, {"pro", 180}, {"enterprise", 60}, {"", 200}}
	sources = []choice{{"website", 500}, {"import", 300}, {"form:footer", 100}, {"fair", 50}, {"", 50}}
	states  = []choice{
		{"active", 920}, {"unsubscribed", 40}, {"bounced", 20}, {"suppressed", 10}, {"pending", 9}, {"complained", 1},
	}
	tags = []choice{
		{"customer", 200}, {"reader", 300}, {"event-2026", 60}, {"wholesale", 30}, {"press", 8}, {"vip", 5}, {"beta", 2},
	}
)

// firsts and lasts are names, and how searches spell them.
var (
	firsts = strings.Fields("Ada Björn Chiara Dilnoza Emeka Fatima Goran Hana Iñigo Jun Katrin Lars Maria Nadia Omar Petra Quentin Rosa Sven Tariq " +
		"Ulla Viktor Wanda Xenia Yusuf Zoë Anna Ben Clara David Eva Finn Greta Hugo Ines Jonas Karla Leo Mila Noah Olga Paul Rita Sam Thea Uwe Vera Will Yara Zeno")
	lasts = strings.Fields("Smith Jansen Müller Rossi García Dubois Novák Kowalska Yilmaz Haddad Tanaka Okafor Silva Larsen Nyström Weber Moreau Costa Bauer Fischer " +
		"Keller Brandt Vogel Huber Meier Lang Wolf Schulz Hoffmann Richter Klein Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange Werner " +
		"Whitfield Ashworth Pemberton Hughes Drummond Delgado Nguyen Carver Menon Iyer Banerjee Rathore Deshpande Navarro Ibáñez Molina Serrano Garnier Roux Quisling")
	trades = strings.Fields("Logistics Labs Studio Bakery Architects Clinic Press Foods Energy Schools Motors Textiles Software Partners Garden Books Travel Music Tools Optics")
	firms  = strings.Fields("Northlight Meridian Kestrel Juniper Saltmarsh Brickyard Copperfield Tallow Lantern Union Ferry Harbour Cobalt Amber Willow Granite Orchard Falcon Summit Vertex")
	towns  = strings.Fields("Aarhus Bergen Cádiz Dresden Esbjerg Faro Graz Heerlen Innsbruck Jena Kiel Lyon Malmö Nantes Oslo Porto Rennes Siena Turin Utrecht")
	plain  = strings.NewReplacer("ö", "o", "ë", "e", "ñ", "n", "ü", "u", "í", "i", "á", "a", "é", "e")
)

// rare is a name that one contact in ten thousand has.
const rare = "Featherstonehaugh"

// past is how long the oldest contact has been one.
const past = 3 * 365 * 24 * time.Hour

// people makes the n contacts of a database, oldest first.
type people struct {
	n   int
	now time.Time
}

func (p people) person(i int) person {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	one := person{
		n: i, first: firsts[r.IntN(len(firsts))], last: lasts[r.IntN(len(lasts))],
		city: towns[r.IntN(len(towns))], country: pick(r, countries), source: pick(r, sources),
		plan: pick(r, plans), status: pick(r, states), doNotContact: r.IntN(200) == 0, newsletterOff: r.IntN(25) == 0,
		created: p.now.Add(-past + time.Duration(float64(past)*float64(i)/float64(p.n))),
	}
	if r.IntN(5) > 0 {
		one.age = 18 + (r.IntN(35)+r.IntN(35))*70/68
	}
	if i%10_000 == 77 {
		one.last = rare
	}
	firm := r.IntN(len(firms) * len(trades) * 25)
	one.domain = pick(r, mailHosts)
	if r.IntN(10) < 3 {
		one.domain = fmt.Sprintf("firm%d.example", firm)
	}
	if r.IntN(10) < 6 {
		one.company = fmt.Sprintf("%s %s %d", firms[firm%len(firms)], trades[firm/len(firms)%len(trades)], 1+firm/(len(firms)*len(trades)))
	}
	one.email = strings.ToLower(plain.Replace(one.first)+"."+plain.Replace(one.last)) + strconv.Itoa(i) + "@" + one.domain
	for range r.IntN(3) {
		if t := pick(r, tags); len(one.tags) == 0 || one.tags[0] != t {
			one.tags = append(one.tags, t)
		}
	}
	return one
}

// searchText is what the program would look in for this person.
func (p person) searchText() string {
	parts := []string{p.email, p.first, p.last}
	if p.company != "" {
		parts = append(parts, p.company)
	}
	return strings.ToLower(plain.Replace(strings.Join(parts, "\n")))
}

// fields is the person's custom_fields.
func (p person) fields() string {
	var b strings.Builder
	b.WriteByte('{')
	if p.plan != "" {
		fmt.Fprintf(&b, `"plan":%q`, p.plan)
	}
	if p.age > 0 {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"age":%d`, p.age)
	}
	b.WriteByte('}')
	return b.String()
}

// labels is the person's tags.
func (p person) labels() string {
	if len(p.tags) == 0 {
		return "[]"
	}
	return `["` + strings.Join(p.tags, `","`) + `"]`
}

// uuidAt returns a version 7 UUID of a moment, which may lie in the past: ids
// sort by the time that records were made.
func uuidAt[T ~[16]byte](r *rand.Rand, t time.Time) T {
	var b T
	ms, sub := uint64(t.UnixMilli()), uint64(t.UnixMicro()%1000)
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	low := sub<<2 | uint64(r.IntN(4)) // twelve bits that keep the order within the millisecond
	b[6], b[7] = 0x70|byte(low>>8), byte(low)
	rest := r.Uint64()
	for i := range 8 {
		b[8+i] = byte(rest >> (8 * i))
	}
	b[8] = 0x80 | b[8]&0x3f
	return b
}
