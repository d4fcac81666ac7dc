package transfer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// mappedText returns where the columns of an import went.
func mappedText(r transfer.Report) string {
	var text strings.Builder
	for _, c := range r.Columns {
		target := "-"
		if c.Target != nil {
			target = *c.Target
		}
		fmt.Fprintf(&text, "%s:%s:%s:%s ", c.Name, target, c.By, c.Form)
	}
	return text.String()
}

func TestAMappingIsRememberedUnderItsHeader(t *testing.T) {
	each(t, func(d *fixture) {
		file := "Mail;Ort;Plan;Geburt;City\nann@example.org;Bonn;pro;01.02.2020;x\n"
		told := transfer.Options{
			Mapping: map[string]string{"Mail": "email", "Ort": "city", "Geburt": "custom_fields.born", "City": ""},
			Forms:   map[string]string{"Geburt": "MM/DD/YYYY"}, Encoding: "windows-1252",
		}
		first := d.load(file, told)
		if got := d.resultText(first); got != "completed 1: 1+0+0+0" {
			d.Fatalf("the first import: %s", got)
		}
		// Nothing is remembered unless it is asked for.
		if _, err := d.start(file, transfer.Options{Mapping: map[string]string{"City": "company"}, Forms: map[string]string{"Geburt": "DD.MM.YYYY"}}); err == nil {
			d.Error("a form of a column that is left out is accepted")
		}
		other := "City;Geburt;Plan;Mail;Ort\ny;03.04.2020;free;bob@example.org;Rome\n"
		for _, tt := range []struct {
			name string
			o    transfer.Options
			want string
		}{
			{"in another order", transfer.Options{}, "City:-:remembered: Geburt:custom_fields.born:remembered:MM/DD/YYYY Plan:custom_fields.plan:name: Mail:email:remembered: Ort:city:remembered: "},
			{"with a mapping that goes first", transfer.Options{Mapping: map[string]string{"City": "city"}, Forms: map[string]string{"Geburt": "DD.MM.YYYY"}},
				"City:city:mapping: Geburt:custom_fields.born:remembered:DD.MM.YYYY Plan:custom_fields.plan:name: Mail:email:remembered: Ort:-:: "},
		} {
			tt.o.Remembered, tt.o.DryRun = true, true
			r := d.report(d.load(other, tt.o))
			if got := mappedText(r); got != tt.want {
				d.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
			}
			if r.File.Encoding != "windows-1252" {
				d.Errorf("%s: read as %s", tt.name, r.File.Encoding)
			}
		}
		fields, err := field.Load(d.Context(), d.db, d.tenant)
		d.ok(err)
		_, err = field.Delete(d.Context(), d.db, d.tenant, fields["born"].ID, usage.Finders{}, d.now)
		d.ok(err)
		r := d.report(d.load(other, transfer.Options{Remembered: true, DryRun: true}))
		if got, want := mappedText(r), "City:-:remembered: Geburt:-:: Plan:custom_fields.plan:name: Mail:email:remembered: Ort:city:remembered: "; got != want {
			d.Errorf("without the field: %s\nwant %s", got, want)
		}
		d.newTenant("other")
		r = d.report(d.load(other, transfer.Options{Remembered: true, DryRun: true}))
		if got, want := mappedText(r), "City:city:name: Geburt:-:: Plan:custom_fields.plan:name: Mail:email:content: Ort:-:: "; got != want {
			d.Errorf("of another tenant: %s\nwant %s", got, want)
		}
	})
}

func TestTheHeadersImportedLastAreRemembered(t *testing.T) {
	each(t, func(d *fixture) {
		file := func(i int) string { return fmt.Sprintf("email,Town %d\nann@example.org,Bonn\n", i) }
		for i := range 102 {
			d.load(file(i), transfer.Options{Mapping: map[string]string{fmt.Sprintf("Town %d", i): "city"}})
			d.now = d.now.Add(time.Second)
			if i == 0 || i == 99 { // the first one is used again
				d.load(file(0), transfer.Options{Remembered: true})
			}
		}
		for i, want := range map[int]string{0: "city", 1: "", 2: "", 3: "city", 101: "city"} {
			r := d.report(d.load(file(i), transfer.Options{Remembered: true, DryRun: true}))
			got := ""
			if to := r.Columns[1].Target; to != nil {
				got = *to
			}
			if got != want {
				d.Errorf("header %d goes to %q, want %q", i, got, want)
			}
		}
		if c := d.contact("ann@example.org"); c.Status != contact.Active {
			d.Errorf("Ann is %s", c.Status)
		}
	})
}
