package transfer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// columnsText shows where the columns of a file went.
func columnsText(r transfer.Report) string {
	var list []string
	for _, c := range r.Columns {
		target := "-"
		if c.Target != nil {
			target = *c.Target
		}
		list = append(list, fmt.Sprintf("%s>%s %s", c.Name, target, c.By))
	}
	return strings.Join(list, ", ")
}

// A column goes where the mapping says, and nowhere if it says so; else to the field of its name. The report tells.
func TestAReportSaysWhereColumnsWent(t *testing.T) {
	each(t, func(d *fixture) {
		const text = "Email,First name,Company,Plan,Ort,Notes\nann@example.org,Ann,Acme,pro,Oslo,x\n"
		o := transfer.Options{Mapping: map[string]string{"First name": "", "Plan": "", "Ort": "city"}}
		for _, o.DryRun = range []bool{true, false} {
			r := d.report(d.load(text, o))
			if got, want := columnsText(r), "Email>email name, First name>- mapping, Company>company name, Plan>- mapping, Ort>city mapping, Notes>- "; got != want {
				d.Errorf("dry run %t: columns = %s\nwant %s", o.DryRun, got, want)
			}
		}
		c := d.contact("ann@example.org")
		if c.FirstName != nil || *c.Company != "Acme" || *c.City != "Oslo" || len(c.CustomFields) != 0 {
			d.Errorf("the contact is %+v", c)
		}
		r := d.report(d.load("email"+strings.Repeat(",x", 1000)+"\n", transfer.Options{}))
		if len(r.Columns) != 500 || r.ColumnsOmitted != 501 {
			d.Errorf("%d columns, %d omitted", len(r.Columns), r.ColumnsOmitted)
		}
	})
}

// Values are read as the file writes them; those that do not fit leave their cells empty, and the rows in.
func TestAnImportReadsTheFormsOfItsFile(t *testing.T) {
	each(t, func(d *fixture) {
		d.save("old@example.org", contact.Change{CustomFields: map[string]any{"born": "1970-01-01", "seats": 3.0}})
		const text = "email;Born;Seen;Seats;Vip;offers\n" +
			"a@example.org;31.12.1999;1.2.2026 14:30;1.234,50;ja;ja\n" +
			"b@example.org;geb. 1980;02.01.2026;viele;vielleicht;nein\n" +
			"old@example.org;geb. 1980;;viele;;\n" +
			"c@example.org;1.1.2000;;;;jein\n" // what is said about consent must be understood
		o := transfer.Options{Mapping: map[string]string{"offers": "subscriptions.offers"}, UpdateBlank: true}
		j := d.load(text, o)
		if r := d.result(j); d.resultText(j) != "completed 4: 2+1+0+1" || r.Unfit != 2 || len(d.errors(j)) != 4 || d.errors(j)[1][1] != "Born" {
			d.Fatalf("the import = %s, %d unfit, %q", d.resultText(j), r.Unfit, d.errors(j))
		}
		for email, want := range map[string]map[string]any{
			"a@example.org":   {"born": "1999-12-31", "seen": "2026-02-01T14:30:00.000Z", "seats": 1234.5, "vip": true},
			"b@example.org":   {"seen": "2026-01-02T00:00:00.000Z"},
			"old@example.org": {"born": "1970-01-01", "seats": 3.0},
		} {
			if diff := cmp.Diff(want, d.contact(email).CustomFields); diff != "" {
				d.Errorf("%s (-want +got):\n%s", email, diff)
			}
		}
		forms := map[string]any{}
		for _, c := range d.report(j).Columns {
			forms[c.Name] = fmt.Sprint(c.Form, c.Either)
		}
		if diff := cmp.Diff(map[string]any{"email": "[]", "Born": "DD.MM.YYYY[]", "Seen": "DD.MM.YYYY[]", "Seats": "1.234,50[]", "Vip": "[]", "offers": "ja/nein[]"}, forms); diff != "" {
			d.Errorf("forms (-want +got):\n%s", diff)
		}
		o.Strict, o.Forms = true, map[string]string{"offers": "ja/jein", "Born": "MM/DD/YYYY"}
		if j := d.load(text, o); d.resultText(j) != "completed 4: 1+0+0+3" {
			d.Errorf("the strict import = %s", d.resultText(j))
		}
	})
}

// A column whose form is not clear is asked about: by a dry run in its report, by an import before it saves a row.
func TestUnclearColumnsAreAskedAbout(t *testing.T) {
	each(t, func(d *fixture) {
		const text = "email,born,seats\na@example.org,01/02/2020,\"1,234\"\n"
		dry := d.load(text, transfer.Options{DryRun: true})
		if q := d.report(dry).Questions; len(q) != 2 || q[0].Path != "options.forms.born" || d.resultText(dry) != "completed 1: 1+0+0+0" {
			d.Errorf("questions: %+v; %s", q, d.resultText(dry))
		}
		var asked []string
		for _, c := range d.report(dry).Columns {
			if len(c.Either) > 0 {
				asked = append(asked, fmt.Sprint(c.Name, c.Either))
			}
		}
		if got := fmt.Sprint(asked); got != "[born[DD.MM.YYYY MM/DD/YYYY] seats[1,234.50 1.234,50]]" {
			d.Errorf("asked: %s", got)
		}
		j := d.load(text, transfer.Options{})
		if want := "options.forms.born: DD.MM.YYYY and MM/DD/YYYY are both possible: say which; options.forms.seats: 1,234.50 and 1.234,50 are both possible: say which"; j.Status != job.Failed || j.Error.Message != want || d.count() != 0 {
			d.Errorf("the job is %s: %+v; %d contacts", j.Status, j.Error, d.count())
		}
		if j = d.load(text, transfer.Options{Forms: map[string]string{"born": "MM/DD/YYYY", "seats": "1.234,50"}}); d.resultText(j) != "completed 1: 1+0+0+0" {
			d.Fatal(d.resultText(j))
		}
		if diff := cmp.Diff(map[string]any{"born": "2020-01-02", "seats": 1.234}, d.contact("a@example.org").CustomFields); diff != "" {
			d.Error(diff)
		}
		_, err := d.start(text, transfer.Options{Forms: map[string]string{"gone": "x", "email": "DD.MM.YYYY", "born": "YYYY-DD-MM", "seats": "#"}})
		f, _ := fault.As(err)
		want := fault.Fields{Fields: []fault.Field{
			{Path: "options.forms.born", Message: "must be one of YYYY-MM-DD, DD.MM.YYYY, MM/DD/YYYY"},
			{Path: "options.forms.email", Message: "is for columns of dates, numbers and booleans only"},
			{Path: "options.forms.gone", Message: "the file has no such column"},
			{Path: "options.forms.seats", Message: "must be one of 1,234.50 and 1.234,50"},
		}}
		if f == nil || !cmp.Equal(f.Details, want) {
			d.Errorf("wrong forms: %v", err)
		}
	})
}

// The column of addresses is found by what is in it, if nothing else says which it is.
func TestTheColumnOfAddressesIsFound(t *testing.T) {
	each(t, func(d *fixture) {
		for _, tt := range []struct {
			name, text string
			mapping    map[string]string
			want       string // empty: none is found
		}{
			{"another name", "Name,Kontakt: E-Mail\nAnn,a1@example.org\nBob,b1@example.org\nCarl,\n", nil, "Kontakt: E-Mail"},
			{"people with their addresses", "Who,Since\n\"\"\"Lee, Ann\"\" <a2@example.org>\",2020\nBob Ray <b2@example.org>,2021\n", nil, "Who"},
			{"most are addresses", "x,y\na3@example.org,b@c\nb3@example.org,no\nc3@example.org,no\nd3@example.org,no\n", nil, "x"},
			{"too few are addresses", "x,y\na4@example.org,1\nnobody,2\n", nil, ""},
			{"two columns of addresses", "x,y\na5@example.org,b5@example.org\n", nil, ""},
			{"one of two is left out", "x,y\na6@example.org,b6@example.org\n", map[string]string{"y": ""}, "x"},
			{"a column that is about something else", "company,y\na7@example.org,b7@example.org\n", nil, "y"},
		} {
			_, err := d.start(tt.text, transfer.Options{Mapping: tt.mapping})
			if (err == nil) != (tt.want != "") {
				d.Errorf("%s: %v", tt.name, err)
			}
			d.run()
			j := d.load(tt.text, transfer.Options{Mapping: tt.mapping, DryRun: true})
			found := ""
			for _, c := range d.report(j).Columns {
				if c.Target != nil && *c.Target == "email" {
					found = c.Name + " " + string(c.By)
				}
			}
			want := ""
			if tt.want != "" {
				want = tt.want + " content"
			}
			if q := d.report(j).Questions; found != want || (len(q) == 1) != (want == "") {
				d.Errorf("%s: found %q, want %q; questions %+v", tt.name, found, want, q)
			}
		}
		d.contact("a2@example.org")
	})
}

func TestAddressesAsTheyAreCopied(t *testing.T) {
	each(t, func(d *fixture) {
		j := d.load("email\n\u200b a@example.org\u00a0\n\u202aB@Example.org\u202c\n\"\"\"Lee, Ann\"\" <c@example.org>\"\nmailto:d@example.org\n<e@example.org>\n\ufeff\nAnn <f@example.org\n", transfer.Options{})
		if got := d.resultText(j); got != "completed 7: 5+0+0+2" {
			d.Fatalf("the import = %s %q", got, d.errors(j))
		}
		for _, email := range []string{"a", "b", "c", "d", "e"} {
			d.contact(email + "@example.org")
		}
	})
}
