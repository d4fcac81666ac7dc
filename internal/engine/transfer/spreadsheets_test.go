package transfer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/engine/transfer"
)

// What LibreOffice writes is imported without options: as a workbook, and as text in any of its forms, in which
// dates, numbers and booleans are as it shows them in Germany. scripts/spreadsheets makes the files.
func TestFilesOfLibreOfficeAreImported(t *testing.T) {
	for name, file := range map[string]transfer.FileRead{
		"people.xlsx":      {Encoding: "utf-8", Separator: ",", Quote: `"`, Sheet: "Kunden", Sheets: []string{"Kunden", "Archiv"}},
		"windows-1252.csv": {Encoding: "windows-1252", Separator: ";", Quote: `"`},
		"utf-16.csv":       {Encoding: "utf-16le", Separator: ";", Quote: `"`},
		"utf-8.tsv":        {Encoding: "utf-8", Separator: "\t", Quote: `"`},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata/spreadsheets", name))
			if err != nil {
				t.Fatal(err)
			}
			each(t, func(d *fixture) {
				j := d.load(string(text), transfer.Options{})
				if r := d.result(j); d.resultText(j) != "completed 3: 3+0+0+0" || r.Unfit != 1 {
					d.Fatalf("the import = %s, %d unfit; %q", d.resultText(j), r.Unfit, d.errors(j))
				}
				report := d.report(j)
				if diff := cmp.Diff(file, report.File); diff != "" {
					d.Errorf("the file (-want +got):\n%s", diff)
				}
				if got, want := fmt.Sprint(report.Faults), "[{Born INVALID_FIELD_VALUE must be a date as YYYY-MM-DD 1 [{5 geb. 1980}]}]"; got != want {
					d.Errorf("the faults = %s, want %s", got, want)
				}
				bjoern := d.contact("bjoern@example.org")
				if got := *bjoern.FirstName + " " + *bjoern.LastName + " " + *bjoern.Phone; got != "Björn Müller 0170 1234567" {
					d.Errorf("the first contact is %q", got)
				}
				want := map[string]any{
					"born": "1979-02-01", "seen": "2024-11-30T14:30:00.000Z", "seats": 1234.5, "vip": true,
					"plan": `5 € „pro“; "plus", groß`, "likes": []any{"tea", "milk, hot"},
				}
				if diff := cmp.Diff(want, bjoern.CustomFields); diff != "" {
					d.Errorf("its fields (-want +got):\n%s", diff)
				}
				zoe := d.contact("zoe@example.org")
				want = map[string]any{"born": "1985-03-04", "seats": 7.0, "vip": false, "plan": "two\nlines"}
				if diff := cmp.Diff(want, zoe.CustomFields); diff != "" || *zoe.Phone != "+49 30 1234" {
					d.Errorf("the second contact, %s (-want +got):\n%s", *zoe.Phone, diff)
				}
			})
		})
	}
}
