package transfer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/engine/transfer"
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
