package transfer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// The same problem of many rows is one fault in the report, with some of the values.
func TestFaultsAreGrouped(t *testing.T) {
	each(t, func(d *fixture) {
		var file strings.Builder
		file.WriteString("email,born,status\n")
		for i := range 2500 { // three batches
			fmt.Fprintf(&file, "a%d@example.org,geb. %d,\n", i, 1980+i%2)
		}
		file.WriteString("nobody,,\n" + "x@example.org,,painted\n" + "y@example.org," + strings.Repeat("z", 100) + ",\n" + "\"\n")
		for _, dry := range []bool{true, false} {
			j := d.load(file.String(), transfer.Options{DryRun: dry})
			var got []string
			for _, f := range d.report(j).Faults {
				got = append(got, fmt.Sprint(f.Column, " ", f.Code, " ", f.Rows, ": ", f.Samples))
			}
			want := []string{
				"born INVALID_FIELD_VALUE 2501: [{2 geb. 1980} {3 geb. 1981} {2504 " + strings.Repeat("z", 60) + "…}]",
				"email INVALID_INPUT 1: [{2502 nobody}]",
				"status INVALID_INPUT 1: [{2503 painted}]",
				" INVALID_INPUT 1: [{2505 \"}]",
			}
			if diff := cmp.Diff(want, got); diff != "" || d.resultText(j) != "completed 2504: 2501+0+0+3" {
				d.Errorf("dry run %t, %s (-want +got):\n%s", dry, d.resultText(j), diff)
			}
		}
	})
}

// Rows whose address an earlier row has are counted apart, whatever became of them.
func TestRepeatsInAFileAreCounted(t *testing.T) {
	const text = "email\nold@example.org\nA@example.org\na@example.org\nwrong\nOLD@example.org\nwrong\nb@example.org\n"
	for mode, want := range map[transfer.Mode]string{
		transfer.Upsert: "completed 7: 2+3+0+2", transfer.Create: "completed 7: 2+0+3+2", transfer.Update: "completed 7: 0+2+3+2",
	} {
		t.Run(string(mode), func(t *testing.T) {
			each(t, func(d *fixture) {
				d.save("old@example.org", contact.Change{})
				for _, dry := range []bool{true, false} {
					j := d.load(text, transfer.Options{Mode: mode, DryRun: dry})
					if got := d.resultText(j); got != want || d.result(j).Repeated != 2 {
						d.Errorf("dry run %t: %s and %d repeats, want %s and 2", dry, got, d.result(j).Repeated, want)
					}
				}
			})
		})
	}
}

// With the options of a report, rows are imported again in the same way.
func TestAReportHasTheOptionsOfTheImport(t *testing.T) {
	each(t, func(d *fixture) {
		key := d.list("Readers").Key
		given := transfer.Options{
			Mode: transfer.Create, Tags: []string{"fair"}, SegmentKey: key, Subscriptions: map[string]bool{"offers": true}, UpdateBlank: true, Strict: true,
		}
		want := transfer.ReportOptions{
			Mode: transfer.Create, Tags: []string{"fair"}, SegmentKey: key, Subscriptions: map[string]bool{"offers": true}, UpdateBlank: true, Strict: true,
		}
		if diff := cmp.Diff(want, d.report(d.load("email\na@example.org\n", given)).Options); diff != "" {
			d.Errorf("the options (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(transfer.ReportOptions{Mode: transfer.Upsert}, d.report(d.load("email\na@example.org\n", transfer.Options{})).Options); diff != "" {
			d.Errorf("without options (-want +got):\n%s", diff)
		}
	})
}
