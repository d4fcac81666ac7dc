package transfer_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// exporter encodes the fields of a contact that the tests check.
func exporter() transfer.Exporter {
	return transfer.Exporter{Encode: func(_ context.Context, _ id.Tenant, list []contact.Contact) ([][]byte, error) {
		docs := make([][]byte, len(list))
		for i, c := range list {
			doc := map[string]any{"custom_fields": c.CustomFields, "subscriptions": c.Subscriptions, "category_subscriptions": c.CategorySubscriptions, "stage_id": c.Stage}
			for _, name := range contact.ColumnNames() {
				if v, ok := c.Value(name); ok {
					doc[name] = v
				}
			}
			var err error
			if docs[i], err = json.Marshal(doc); err != nil {
				return nil, err
			}
		}
		return docs, nil
	}}
}

func (d *fixture) export(r transfer.ExportRequest) job.Job {
	d.Helper()
	d.e.Runners[job.Export] = exporter().Run
	j, err := transfer.StartExport(d.Context(), d.db, d.tenant, r, auth.System, d.now)
	d.ok(err)
	for !j.Status.Ended() {
		d.run()
		d.now = d.now.Add(time.Hour)
		j, err = job.ByID(d.Context(), d.db, d.tenant, j.ID)
		d.ok(err)
	}
	if j.Status != job.Completed {
		d.Fatalf("the export = %s %+v", j.Status, j.Error)
	}
	return j
}

// table returns a CSV export by address, each row by column.
func (d *fixture) table(j job.Job) (columns []string, rows map[string]map[string]string) {
	d.Helper()
	all, err := csv.NewReader(strings.NewReader(d.file(j, transfer.ExportFile))).ReadAll()
	d.ok(err)
	rows = map[string]map[string]string{}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, c := range cells {
			row[all[0][i]] = c
		}
		if rows[row["email"]] != nil {
			d.Errorf("%s is in the file twice", row["email"])
		}
		rows[row["email"]] = row
	}
	return all[0], rows
}

func TestAnExportHasTheRequestedFields(t *testing.T) {
	each(t, func(d *fixture) {
		d.save("ann@example.org", contact.Change{
			Texts: map[contact.Text]*string{"first_name": new("=HYPERLINK(\"x\")"), "last_name": new("O'Neill, \"Ann\""), "phone": new("+49 170"), "city": new("'+x"), "title": new("two\nlines")},
			Tags:  new([]string{"a", "-b"}), CustomFields: map[string]any{"seats": -5.0, "vip": true, "plan": "@pro", "likes": []any{"-x", "y"}},
			Subscriptions: map[string]*bool{"offers": new(false)},
		})
		d.save("bob@example.org", contact.Change{})
		gone := d.save("gone@example.org", contact.Change{})
		_, err := contact.Delete(d.Context(), d.db, d.tenant, []id.Contact{gone.ID}, d.now)
		d.ok(err)

		j := d.export(transfer.ExportRequest{})
		columns, rows := d.table(j)
		if want := []string{
			"id", "email", "external_id", "first_name", "last_name", "full_name", "title", "company", "phone", "website", "timezone",
			"address_line1", "address_line2", "city", "state", "postal_code", "country", "source", "stage_id", "tags", "global_status", "do_not_contact", "created_at", "updated_at",
			"custom_fields.born", "custom_fields.likes", "custom_fields.plan", "custom_fields.seats", "custom_fields.seen", "custom_fields.size", "custom_fields.vip",
			"subscriptions.newsletter", "subscriptions.offers",
		}; !slices.Equal(columns, want) {
			d.Errorf("the columns are %q", columns)
		}
		if len(rows) != 2 || j.Processed != 2 || *j.Total != 2 {
			d.Errorf("%d rows, progress %d of %d; want 2", len(rows), j.Processed, *j.Total)
		}
		ann := rows["ann@example.org"]
		for column, want := range map[string]string{
			"first_name": `'=HYPERLINK("x")`, "last_name": `O'Neill, "Ann"`, "phone": "'+49 170", "city": "''+x", "title": "two\nlines", "tags": "a,-b",
			"custom_fields.seats": "-5", "custom_fields.vip": "true", "custom_fields.plan": "'@pro", "custom_fields.likes": "'-x,y",
			"subscriptions.offers": "false", "subscriptions.newsletter": "", "company": "", "do_not_contact": "false", "global_status": "active",
		} {
			if ann[column] != want {
				d.Errorf("%s = %q, want %q", column, ann[column], want)
			}
		}

		_, rows = d.table(d.export(transfer.ExportRequest{Selector: segment.SelectorInput{Status: []string{"suppressed"}}, Fields: []string{"email", "custom_fields.plan"}}))
		if want := map[string]map[string]string{"gone@example.org": {"email": "gone@example.org", "custom_fields.plan": ""}}; !cmp.Equal(rows, want) {
			d.Errorf("the suppressed = %v", rows)
		}
		_, rows = d.table(d.export(transfer.ExportRequest{Selector: segment.SelectorInput{
			Filters: json.RawMessage(`[{"field": "custom_fields.plan", "operator": "equals", "value": "@pro"}]`), Search: "ann",
		}}))
		if len(rows) != 1 || rows["ann@example.org"] == nil {
			d.Errorf("those on a plan = %v", rows)
		}
		if columns, rows := d.table(d.export(transfer.ExportRequest{Selector: segment.SelectorInput{Search: "unknown"}, Fields: []string{"email"}})); len(rows) != 0 || len(columns) != 1 {
			d.Errorf("no contacts = %v %v", columns, rows)
		}

		text := d.file(d.export(transfer.ExportRequest{Format: transfer.NDJSON}), transfer.ExportFile)
		var first map[string]any
		lines := strings.Split(text, "\n")
		d.ok(json.Unmarshal([]byte(lines[0]), &first))
		if len(lines) != 3 || lines[2] != "" || first["first_name"] != `=HYPERLINK("x")` || first["custom_fields"].(map[string]any)["seats"] != -5.0 {
			d.Errorf("as NDJSON:\n%s", text)
		}
		text = d.file(d.export(transfer.ExportRequest{Format: transfer.NDJSON, Fields: []string{"email", "custom_fields.seats", "subscriptions.offers"}}), transfer.ExportFile)
		if want := `{"email":"ann@example.org","custom_fields.seats":-5,"subscriptions.offers":false}` + "\n" + `{"email":"bob@example.org","custom_fields.seats":null,"subscriptions.offers":null}` + "\n"; text != want {
			d.Errorf("some fields as NDJSON:\n%s", text)
		}
	})
}

// An exported file can be imported, with the same result.
func TestAnExportCanBeImported(t *testing.T) {
	each(t, func(d *fixture) {
		ann := d.save("ann@example.org", contact.Change{
			Texts: map[contact.Text]*string{"first_name": new("=1+1"), "last_name": new("'=1"), "phone": new("+49 170"), "city": new("'"), "company": new("-"), "source": new("fair")},
			Tags:  new([]string{"a", "b c"}), CustomFields: map[string]any{"seats": 1e21, "vip": false, "born": "1990-01-01", "seen": "2026-01-02T03:04:05Z", "likes": []any{"x", "y"}, "size": "S"},
			Subscriptions: map[string]*bool{"offers": new(false), "newsletter": new(true)}, DoNotContact: new(true),
		})
		text := d.file(d.export(transfer.ExportRequest{BOM: true}), transfer.ExportFile)
		if !strings.HasPrefix(text, "\uFEFFid,email,") {
			d.Errorf("the file begins with %.20q", text)
		}
		_, err := d.db.Exec(d.Context(), `UPDATE contact SET email = 'old@example.org' WHERE tenant_id = $1 AND id = $2`, d.tenant, ann.ID)
		d.ok(err)
		if got := d.resultText(d.load(text, transfer.Options{})); got != "completed 1: 1+0+0+0" {
			d.Fatalf("the import = %s", got)
		}
		back := d.contact("ann@example.org")
		for _, c := range []*contact.Contact{&ann, &back} { // fields that a new contact does not share
			c.ID, c.CreatedAt, c.UpdatedAt, c.VersionAt, c.Activity = id.Contact{}, time.Time{}, time.Time{}, time.Time{}, contact.Activity{}
			slices.Sort(c.Tags)
		}
		if diff := cmp.Diff(ann, back, cmp.AllowUnexported(contact.Activity{})); diff != "" {
			d.Errorf("it came back changed (-went +came):\n%s", diff)
		}
	})
}

// A file that one tenant exports says the same to another one, in every column that it has.
func TestContactsMoveToAnotherTenant(t *testing.T) {
	each(t, func(d *fixture) {
		texts := map[contact.Text]*string{}
		for _, name := range contact.Texts() {
			texts[name] = new("it's \"" + string(name) + "\", =1\nand; more")
		}
		texts[contact.Country], texts[contact.Timezone] = new("DE"), new("Europe/Berlin")
		stages, err := contact.Stages(d.Context(), d.db, d.tenant)
		d.ok(err)
		stage := stages[len(stages)-1].ID.String()
		d.save("full@example.org", contact.Change{
			Texts: texts, Stage: &stage, Tags: new([]string{"a, b", `c"d`, "e", "-f", `"g"`, "two\nlines", "'=h"}), DoNotContact: new(true),
			CustomFields: map[string]any{
				"seats": -0.25, "vip": true, "born": "1997-02-27", "seen": "2026-01-02T03:04:05.678Z", "size": "M", "plan": " 7\t ",
				"likes": []any{"x, y", `"z`, "=1"},
			},
			Subscriptions: map[string]*bool{"offers": new(false), "newsletter": new(true)},
		})
		d.save("empty@example.org", contact.Change{})
		for _, s := range contact.Statuses() {
			d.inStatus(string(s)+"@example.org", s)
		}
		file := func() (text string, rows map[string]map[string]string) {
			j := d.export(transfer.ExportRequest{Selector: segment.SelectorInput{Status: []string{"active", "pending", "unsubscribed", "bounced", "complained", "suppressed"}}})
			_, rows = d.table(j)
			for _, row := range rows {
				for _, own := range []string{"id", "created_at", "updated_at"} {
					delete(row, own)
				}
				if row["source"] == "" {
					row["source"] = "import"
				}
			}
			return d.file(j, transfer.ExportFile), rows
		}
		text, went := file()
		if got := went["full@example.org"]["stage_id"]; got != stages[len(stages)-1].Slug {
			d.Errorf("the stage is written as %q", got)
		}
		d.newTenant("other")
		j := d.load(text, transfer.Options{})
		if got := d.resultText(j); got != "completed 8: 8+0+0+0" {
			d.Fatalf("the import = %s %q", got, d.errors(j))
		}
		if _, came := file(); !cmp.Equal(went, came) {
			d.Errorf("it came changed (-went +came):\n%s", cmp.Diff(went, came))
		}
	})
}

// A column of stages holds what people call them, or the ids that an export of before wrote.
func TestStagesInAFile(t *testing.T) {
	each(t, func(d *fixture) {
		stages, err := contact.Stages(d.Context(), d.db, d.tenant)
		d.ok(err)
		last := stages[len(stages)-1]
		for i, cell := range []string{last.ID.String(), strings.ToUpper(last.ID.String()), last.Slug, strings.ToUpper(last.Slug), last.Name, " " + strings.ToLower(last.Name) + " "} {
			email := fmt.Sprintf("s%d@example.org", i)
			if j := d.load("email,stage_id\n"+email+",\""+cell+"\"\n", transfer.Options{}); d.resultText(j) != "completed 1: 1+0+0+0" || d.contact(email).Stage != last.ID {
				d.Errorf("%q = %s %q", cell, d.resultText(j), d.errors(j))
			}
		}
		if j := d.load("email,stage_id\nx@example.org,nowhere\n", transfer.Options{Strict: true}); d.resultText(j) != "completed 1: 0+0+0+1" {
			d.Errorf("an unknown stage = %s", d.resultText(j))
		}
	})
}

// An export that is interrupted, while contacts are created and deleted, has each contact that
// existed all the time once.
func TestAnInterruptedExportContinues(t *testing.T) {
	each(t, func(d *fixture) {
		var file strings.Builder
		file.WriteString("email\n")
		const n = 3500
		for i := range n {
			fmt.Fprintf(&file, "person%d@example.org\n", i)
		}
		d.load(file.String(), transfer.Options{})
		died, pages := 0, 0
		x := exporter()
		d.e.Runners[job.Export] = d.interruptedRunner(func(ctx context.Context, w *job.Work) error {
			c := d.contact(fmt.Sprintf("person%d@example.org", pages))
			_, err := contact.Delete(d.Context(), d.db, d.tenant, []id.Contact{c.ID}, d.now)
			d.ok(err)
			d.save(fmt.Sprintf("new%d@example.org", pages), contact.Change{})
			pages++
			return x.Run(ctx, w)
		}, &died)
		j, err := transfer.StartExport(d.Context(), d.db, d.tenant, transfer.ExportRequest{Fields: []string{"email"}}, auth.System, d.now)
		d.ok(err)
		for !j.Status.Ended() {
			d.run()
			d.now = d.now.Add(time.Hour)
			j, err = job.ByID(d.Context(), d.db, d.tenant, j.ID)
			d.ok(err)
		}
		_, rows := d.table(j)
		for i := pages; i < n; i++ {
			if rows[fmt.Sprintf("person%d@example.org", i)] == nil {
				d.Errorf("person%d is missing", i)
			}
		}
		if died < 3 || j.Processed != int64(len(rows)) {
			d.Errorf("it died %d times; %d rows, processed %d", died, len(rows), j.Processed)
		}
	})
}

func TestInvalidExportRequests(t *testing.T) {
	each(t, func(d *fixture) {
		_, err := transfer.StartExport(d.Context(), d.db, d.tenant, transfer.ExportRequest{
			Format: "xlsx", Fields: []string{"email", "nope", "custom_fields.nope", "email", "subscriptions.offers", "city.x", "custom_fields."},
		}, auth.System, d.now)
		f, ok := fault.As(err)
		if !ok {
			d.Fatal(err)
		}
		got := map[string]bool{}
		details, _ := f.Details.(fault.Fields)
		for _, one := range details.Fields {
			number, _, _ := strings.Cut(one.Message, ":")
			got[one.Path+" "+number] = true
		}
		want := map[string]bool{"format must be csv or ndjson": true, "fields 4 elements": true, "fields 1 element": true}
		if f.Code != "INVALID_INPUT" || !maps.Equal(got, want) {
			d.Errorf("%s %v, want %v", f.Code, got, want)
		}
		for code, in := range map[string]segment.SelectorInput{
			"INVALID_STATUS":     {Status: []string{"nope"}},
			"INVALID_FILTERS":    {Filters: json.RawMessage(`[{"field": "nope", "operator": "equals", "value": 1}]`)},
			"INVALID_DEFINITION": {Definition: json.RawMessage(`{"logic": "and", "conditions": [1]}`)},
		} {
			_, err := transfer.StartExport(d.Context(), d.db, d.tenant, transfer.ExportRequest{Selector: in}, auth.System, d.now)
			if f, ok := fault.As(err); !ok || f.Code != code {
				d.Errorf("%+v: %v, want %s", in, err, code)
			}
		}
		if n := open(d.T, d.db); n != 0 {
			d.Errorf("%d jobs were queued", n)
		}
	})
}

func TestCellsAreEscapedAsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("'=+-@\t\rab 1"))).Draw(t, "text")
		cell := transfer.EscapeFormula(s)
		if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			t.Fatalf("%q is escaped as %q", s, cell)
		}
		if back := transfer.UnescapeFormula(cell); back != s {
			t.Fatalf("%q comes back as %q", s, back)
		}
	})
}
