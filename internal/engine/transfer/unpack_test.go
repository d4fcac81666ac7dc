package transfer_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/engine/transfer"
)

// workbook returns a workbook of two sheets: "People", and "Others" with one address.
func workbook(t testing.TB) string {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(f.SetSheetName("Sheet1", "People"))
	at := time.Date(1999, 12, 1, 14, 30, 0, 0, time.UTC)
	for cell, v := range map[string]any{
		"A1": "email", "B1": "Born", "C1": "Seen", "D1": "Seats", "E1": "Vip", "F1": "Plan", "G1": "Phone",
		"A2": "ann@example.org", "B2": at.Truncate(24 * time.Hour), "C2": at, "D2": 1234.5678, "E2": true, "F2": "50%, \"pro\"\nplus", "G2": 491701234567,
		"A4": "bob@example.org", "B4": "31.12.1999", "D4": 7,
	} {
		ok(f.SetCellValue("People", cell, v))
	}
	for cell, format := range map[string]string{"B2": "dd/mm/yy", "C2": `d. mmmm yyyy hh:mm`, "D2": "#,##0.0", "D4": "0.00%"} {
		style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
		ok(err)
		ok(f.SetCellStyle("People", cell, cell, style))
	}
	_, err := f.NewSheet("Others")
	ok(err)
	ok(f.SetCellValue("Others", "A1", "email"))
	ok(f.SetCellValue("Others", "A2", "carl@example.org"))
	var b bytes.Buffer
	ok(f.Write(&b))
	return b.String()
}

// archive returns an archive of files, by their names.
func archive(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = io.WriteString(w, files[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Dates and numbers of a workbook are read as it stores them, whatever it shows.
func TestAWorkbookIsImported(t *testing.T) {
	each(t, func(d *fixture) {
		for _, text := range []string{workbook(t), archive(t, "__MACOSX/._a", "x", "export/People.XLSX", workbook(t))} {
			j := d.load(text, transfer.Options{})
			if got := d.resultText(j); !strings.HasPrefix(got, "completed 2: ") || d.result(j).Invalid+d.result(j).Unfit > 0 {
				d.Fatalf("the import = %s %q", got, d.errors(j))
			}
			if f := d.report(j).File; f.Sheet != "People" || !cmp.Equal(f.Sheets, []string{"People", "Others"}) {
				d.Errorf("the file = %+v", f)
			}
		}
		ann := d.contact("ann@example.org")
		want := map[string]any{"born": "1999-12-01", "seen": "1999-12-01T14:30:00.000Z", "seats": 1234.5678, "vip": true, "plan": "50%, \"pro\"\nplus"}
		if diff := cmp.Diff(want, ann.CustomFields); diff != "" || *ann.Phone != "491701234567" {
			d.Errorf("Ann, %s (-want +got):\n%s", *ann.Phone, diff)
		}
		if diff := cmp.Diff(map[string]any{"born": "1999-12-31", "seats": 7.0}, d.contact("bob@example.org").CustomFields); diff != "" {
			d.Errorf("Bob (-want +got):\n%s", diff)
		}
	})
}

func TestPackedFiles(t *testing.T) {
	each(t, func(d *fixture) {
		zeros := strings.Repeat("a@example.org\n", 120<<20/14)
		for _, tt := range []struct{ name, text, sheet, want string }{
			{"CSV in an archive", archive(t, "dir/", "", "dir/people.csv", "email\nann@example.org\n"), "", ""},
			{"a sheet by its name", workbook(t), "Others", ""},
			{"no archive", "email\n", "", ""},
			{"an unknown sheet", workbook(t), "Nobody", "options.sheet: the workbook has no such sheet"},
			{"a sheet of a CSV file", "email\n", "People", "options.sheet: is for workbooks only"},
			{"a sheet of an archive", archive(t, "a.csv", "email\n"), "People", "options.sheet: is for workbooks only"},
			{"two files", archive(t, "a.csv", "email\n", "b.csv", "email\n"), "", "file: is an archive that does not hold exactly one file"},
			{"an empty archive", archive(t, "__MACOSX/x", "y"), "", "file: is an archive that does not hold exactly one file"},
			{"a broken archive", "PK\x03\x04" + strings.Repeat("x", 100), "", "file: is a damaged workbook or archive"},
			{"a broken workbook", archive(t, "xl/workbook.xml", "<", "[Content_Types].xml", "<"), "", "file: is a damaged workbook or archive"},
			{"a broken workbook in an archive", archive(t, "a.xlsx", "x"), "", "file: is a damaged workbook or archive"},
			{"much in little", archive(t, "a.csv", zeros), "", "file: is an archive with more than 100 MB of rows"},
			{"a workbook with a large picture", archive(t, "xl/workbook.xml", "<", "xl/media/a.png", strings.Repeat("x", 17<<20)), "", "file: is a workbook that is too large; save the sheet as CSV"},
		} {
			file, err := transfer.Unpack(d.Context(), d.db, d.upload(tt.text), tt.sheet, d.now)
			if err == nil {
				_, err = transfer.StartImport(d.Context(), d.db, d.tenant, file, transfer.Options{Sheet: tt.sheet}, auth.Principal{}, d.now)
			}
			got := ""
			if f, ok := fault.As(err); ok {
				got = f.Message
			} else {
				d.ok(err)
			}
			if got != tt.want {
				d.Errorf("%s: %s, want %s", tt.name, got, tt.want)
			}
			if text, err := io.ReadAll(file.Reader(d.Context(), d.db, 0)); err != nil || tt.want == "" && !strings.HasPrefix(string(text), "email\n") {
				d.Errorf("%s: %q, %v", tt.name, text, err)
			}
		}
	})
}

// Whatever the bytes of an archive are, it is read or refused with a sentence.
func FuzzUnpack(f *testing.F) {
	for _, seed := range []string{workbook(f), archive(f, "a.csv", "email\n"), archive(f, "a.xlsx", workbook(f)), "PK\x03\x04"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		if err := transfer.UnpackTo(io.Discard, packed); err != nil {
			if _, ok := fault.As(err); !ok {
				t.Fatal(err)
			}
		}
	})
}

// Whatever a workbook says of its cells, texts and styles, it is read or refused with a sentence.
func FuzzWorkbook(f *testing.F) {
	parts := map[string]string{}
	packed := workbook(f)
	z, err := zip.NewReader(strings.NewReader(packed), int64(len(packed)))
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range z.File {
		r, err := part.Open()
		if err != nil {
			f.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			f.Fatal(err)
		}
		parts[part.Name] = string(text)
	}
	const sheet, texts, styles = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"
	f.Add(parts[sheet], parts[texts], parts[styles], parts["xl/workbook.xml"])
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		files := []string{sheet, a, texts, b, styles, c, "xl/workbook.xml", d}
		for _, name := range []string{"[Content_Types].xml", "_rels/.rels", "xl/_rels/workbook.xml.rels"} {
			files = append(files, name, parts[name])
		}
		if err := transfer.UnpackTo(io.Discard, []byte(archive(t, files...))); err != nil {
			if _, ok := fault.As(err); !ok {
				t.Fatal(err)
			}
		}
	})
}
