package transfer_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/engine/transfer"
)

// keysText returns how options call the columns of an import, and where they went.
func keysText(r transfer.Report) string {
	var list []string
	for _, c := range r.Columns {
		target := "-"
		if c.Target != nil {
			target = *c.Target
		}
		list = append(list, c.Key+":"+target+":"+string(c.Form))
	}
	return strings.Join(list, " ")
}

func TestColumnsWithOneNameAreMappedByTheirPositions(t *testing.T) {
	each(t, func(d *fixture) {
		const file = "email,Name,Name,Date,Date,,Ort\nann@example.org,Ann,Lee,01/02/2020,03.04.2020,x,Rome\n"
		told := transfer.Options{
			Mapping: map[string]string{"#2": "first_name", "#3": "last_name", "Date": "", "#4": "custom_fields.born", "#5": "custom_fields.seen"},
			Forms:   map[string]string{"#4": "MM/DD/YYYY", "#5": "DD.MM.YYYY"},
		}
		j := d.load(file, told)
		if got := d.resultText(j); got != "completed 1: 1+0+0+0" {
			d.Fatalf("the import = %s", got)
		}
		c := d.contact("ann@example.org")
		if *c.FirstName != "Ann" || *c.LastName != "Lee" || c.CustomFields["born"] != "2020-01-02" || c.CustomFields["seen"] != "2020-04-03T00:00:00.000Z" {
			d.Errorf("Ann is %s %s, %v", *c.FirstName, *c.LastName, c.CustomFields)
		}
		const want = "email:email: #2:first_name: #3:last_name: #4:custom_fields.born:MM/DD/YYYY #5:custom_fields.seen:DD.MM.YYYY :-: Ort:-:"
		if got := keysText(d.report(j)); got != want {
			d.Errorf("the columns went %s\nwant %s", got, want)
		}
		// They are remembered in their order.
		other := "Ort,Name,Date,email,Name,,Date\nRome,Bob,05/06/2020,bob@example.org,Kim,x,07.08.2020\n"
		r := d.report(d.load(other, transfer.Options{Remembered: true}))
		if got, want := keysText(r), "Ort:-: #2:first_name: #3:custom_fields.born:MM/DD/YYYY email:email: #5:last_name: :-: #7:custom_fields.seen:DD.MM.YYYY"; got != want {
			d.Errorf("in another order the columns went %s\nwant %s", got, want)
		}
	})
}

// fieldsText returns the problems of a fault.
func fieldsText(err error) string {
	f, ok := fault.As(err)
	if !ok {
		return ""
	}
	details, _ := f.Details.(fault.Fields)
	var list []string
	for _, p := range details.Fields {
		list = append(list, p.Path+": "+p.Message)
	}
	return strings.Join(list, "; ")
}

func TestPositionsThatAFileLacks(t *testing.T) {
	each(t, func(d *fixture) {
		const file = "email,Name,Name,#2\nann@example.org,Ann,Lee,Rome\n"
		for _, tt := range []struct {
			mapping, forms map[string]string
			want           string
		}{
			{map[string]string{"#5": "city"}, nil, "options.mapping.#5: the file has no such column"},
			{map[string]string{"#0": "city"}, nil, "options.mapping.#0: the file has no such column"},
			{map[string]string{"#03": "city"}, nil, "options.mapping.#03: the file has no such column"},
			{map[string]string{"#-1": "city"}, nil, "options.mapping.#-1: the file has no such column"},
			{map[string]string{"#": "city"}, nil, "options.mapping.#: the file has no such column"},
			{map[string]string{"#99999999999999999999": "city"}, nil, "options.mapping.#99999999999999999999: the file has no such column"},
			{nil, map[string]string{"#9": "DD.MM.YYYY"}, "options.forms.#9: the file has no such column"},
			{nil, map[string]string{"#3": "DD.MM.YYYY"}, "options.forms.#3: is for columns of dates, numbers and booleans only"},
			{map[string]string{"Name": "first_name"}, nil, `options.mapping.#3: first_name is what the column "#2" is about already`},
			{map[string]string{"#3": "nope"}, nil, "options.mapping.#3: is not a field that can be imported; custom fields are custom_fields.<key>, consent is subscriptions.<type_key>"},
			{map[string]string{"#3": "email"}, nil, `options.mapping.#3: email is what the column "email" is about already`},
		} {
			_, err := d.start(file, transfer.Options{Mapping: tt.mapping, Forms: tt.forms})
			if got := fieldsText(err); got != tt.want {
				d.Errorf("%v %v: %s, want %s", tt.mapping, tt.forms, got, tt.want)
			}
		}
		// A position goes before the name that a column shares, and before a name that looks like it.
		r := d.report(d.load(file, transfer.Options{Mapping: map[string]string{"#2": "city", "#3": "last_name", "Name": "", "#1": "email"}}))
		if got, want := keysText(r), "email:email: #2:city: #3:last_name: #4:-:"; got != want {
			d.Errorf("the columns went %s, want %s", got, want)
		}
		// Else a name goes before a position.
		r = d.report(d.load("email,#1,#9\nann@example.org,Rome,x\n", transfer.Options{Mapping: map[string]string{"#1": "city", "#3": "last_name"}}))
		if got, want := keysText(r), "email:email: #1:city: #9:last_name:"; got != want {
			d.Errorf("the columns went %s, want %s", got, want)
		}
	})
}

// utf16Text returns a text in UTF-16, low byte first, without a mark.
func utf16Text(text string) string {
	var b []byte
	for _, c := range utf16.Encode([]rune(text)) {
		b = append(b, byte(c), byte(c>>8))
	}
	return string(b)
}

// sheetOf returns a workbook of a column.
func sheetOf(d *fixture, cells ...string) string {
	d.Helper()
	f := excelize.NewFile()
	defer f.Close()
	for i, cell := range cells {
		d.ok(f.SetCellValue("Sheet1", fmt.Sprintf("A%d", i+1), cell))
	}
	var b bytes.Buffer
	d.ok(f.Write(&b))
	return b.String()
}

// rowNumbers are the cells of an errors file that say which rows its rows were, and nothing else that these tests have.
var rowNumbers = regexp.MustCompile(`[,;|\t]\d+[,;|\t]`)

// The errors file is imported with the options of the file that it comes from.
func TestTheErrorsFileIsImportedWithTheSameOptions(t *testing.T) {
	each(t, func(d *fixture) {
		latin := func(text string) string { return strings.ReplaceAll(text, "ö", "\xf6") }
		for name, tt := range map[string]struct {
			text string
			o    transfer.Options
		}{
			"semicolons in an encoding that is said": {latin("E-Mail;Ort\nxx1 at example.org;Köln\nok1@example.org;Bonn\n"),
				transfer.Options{Encoding: "windows-1252", Separator: ";", Mapping: map[string]string{"E-Mail": "email", "Ort": "city"}}},
			"tabs":                        {"email\tcity\nxx2 at example.org\tBonn, Köln; Rom\n", transfer.Options{}},
			"a line sep=":                 {"sep=|\nemail|\"a,b,c,d,e,f,g,h\"\nxx3 at example.org|\"Bonn | Köln\"\n", transfer.Options{Mapping: map[string]string{"a,b,c,d,e,f,g,h": "city"}}},
			"single quotes":               {"'email','city'\n'xx4 at example.org','Bonn, ''the'' \"city\"'\n", transfer.Options{}},
			"single quotes that are said": {"email;city\nxx5 at example.org;'Bonn; \"city\"'\n", transfer.Options{Quote: "'"}},
			"UTF-16":                      {utf16Text("email;city\nxx6 at example.org;Köln\n"), transfer.Options{Encoding: "utf-16le"}},
			"one column":                  {"email\nxx7 at example.org\n", transfer.Options{}},
			"positions and formulas": {"Name,Name,=email,born\n=1+1,'-x,xx8 at example.org,01.02.2020\n\"a\nb\",\"c\"\"d\",xx9 at example.org,x\n",
				transfer.Options{Mapping: map[string]string{"#1": "first_name", "#2": "last_name", "=email": "email"}, Forms: map[string]string{"born": "DD.MM.YYYY"}}},
			"carriage returns": {"email,city\rxx10 at example.org,Bonn\r", transfer.Options{}},
			"a sheet":          {sheetOf(d, "email", "xx11 at example.org"), transfer.Options{Sheet: "Sheet1"}},
		} {
			first := d.load(tt.text, tt.o)
			invalid := d.result(first).Invalid
			if first.Error != nil || invalid == 0 {
				d.Errorf("%s: %s, %+v", name, d.resultText(first), first.Error)
				continue
			}
			file := d.file(first, transfer.ErrorsFile)
			again := d.load(file, tt.o)
			if d.result(again).Invalid != invalid || d.result(again).Rows != invalid {
				d.Errorf("%s: once more, %s of\n%q", name, d.resultText(again), file)
				continue
			}
			if got, want := keysText(d.report(again)), keysText(d.report(first)); got != want {
				d.Errorf("%s: once more, the columns went %s, want %s", name, got, want)
			}
			// Its own errors differ from it by the numbers of rows alone.
			if once := d.file(again, transfer.ErrorsFile); rowNumbers.ReplaceAllString(once, "") != rowNumbers.ReplaceAllString(file, "") {
				d.Errorf("%s: the errors are\n%q, once more\n%q", name, file, once)
			}
			fixed := d.load(strings.ReplaceAll(file, " at ", "@"), tt.o)
			if got := d.result(fixed); got.Created+got.Updated != invalid {
				d.Errorf("%s: corrected, %s\n%q", name, d.resultText(fixed), d.file(fixed, transfer.ErrorsFile))
			}
		}
	})
}
