package transfer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// A dry run that is interrupted continues with the same numbers, although its contacts are not stored.
func TestAnInterruptedDryRunContinues(t *testing.T) {
	each(t, func(d *fixture) {
		const n = 5000
		var file strings.Builder
		file.WriteString("email,first_name\n")
		for i := range n {
			if i%10 == 3 {
				fmt.Fprintf(&file, "wrong%d,X\n", i)
			} else {
				fmt.Fprintf(&file, "Person%d@Example.org,Person\n", i%(n/2)) // each address twice
			}
		}
		died := 0
		d.e.Runners[job.Import] = d.interruptedRunner(transfer.Import, &died)
		j := d.load(file.String(), transfer.Options{DryRun: true})
		if got, want := d.resultText(j), fmt.Sprintf("completed %d: %d+%d+0+%d", n, n*9/20, n*9/20, n/10); got != want || d.count() != 0 {
			d.Errorf("after %d deaths the dry run = %s, want %s; %d contacts", died, got, want, d.count())
		}
		if rows := d.errors(j); len(rows) != 1+n/10 || d.result(j).Repeated != n*9/20 {
			d.Errorf("%d rows of errors, %d repeats", len(rows)-1, d.result(j).Repeated)
		}
		if f := d.report(j).Faults; len(f) != 1 || f[0].Rows != n/10 || len(f[0].Samples) != 3 {
			d.Errorf("faults: %+v", f)
		}
		if died < 3 {
			d.Errorf("it was interrupted %d times", died)
		}
	})
}

// A row that could not be saved is no earlier row with an address, also for an import that is interrupted.
func TestAnInterruptedImportDoesNotRepeatWhatItDidNotSave(t *testing.T) {
	each(t, func(d *fixture) {
		const n = 5000
		d.save("owner@example.org", contact.Change{Texts: map[contact.Text]*string{contact.ExternalID: new("own")}})
		var file strings.Builder
		file.WriteString("email,external_id\n")
		for i := range n {
			email, key := fmt.Sprintf("u%d@example.org", i), ""
			switch i {
			case 5:
				key = "own" // another contact's
			case n - 5:
				email = "u5@example.org"
			case n - 6:
				email = "u6@example.org"
			}
			fmt.Fprintf(&file, "%s,%s\n", email, key)
		}
		run := d.e.Runners[job.Import]
		for _, o := range []transfer.Options{{DryRun: true}, {}} {
			died := 0
			d.e.Runners[job.Import] = d.interruptedRunner(run, &died)
			j := d.load(file.String(), o)
			if got, want := d.resultText(j), fmt.Sprintf("completed %d: %d+1+0+1", n, n-2); got != want || d.result(j).Repeated != 1 || died < 3 {
				d.Errorf("dry run %t: after %d deaths the import = %s, want %s; %d repeats", o.DryRun, died, got, want, d.result(j).Repeated)
			}
		}
	})
}
