package transfer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

func TestAnImportFillsEveryField(t *testing.T) {
	each(t, func(d *fixture) {
		j := d.load("\xEF\xBB\xBFEmail;First Name;nickname;Land;timezone;plan;custom_fields.seats;Vip;Geboren;seen;likes;Size;Tags;more;offers?;block;Stage;id;website\r\n"+
			`" ANN@Example.org ";Ann;Annie;de;Europe/Berlin;'=pro;12.5;Yes;1990-02-03;2026-01-02;a, b;M;x, y;y,z;no;1;customer;7;https://example.org/`+"\r\n"+
			"bob@example.org;;;;;;;;;;;;;;;;;;\r\n", transfer.Options{
			Mapping: map[string]string{"Land": "country", "Geboren": "custom_fields.born", "more": "tags", "offers?": "subscriptions.offers", "block": "do_not_contact", "Stage": "stage_id", "timezone": ""},
			Tags:    []string{"import 1"}, Subscriptions: map[string]bool{"newsletter": true},
		})
		if got := d.resultText(j); got != "completed 2: 2+0+0+0" || d.errors(j) != nil {
			d.Fatalf("the import = %s, errors %q", got, d.errors(j))
		}
		if j.Processed != 2 || j.Total == nil || *j.Total != 2 {
			d.Errorf("progress = %d of %v", j.Processed, j.Total)
		}
		c := d.contact("ann@example.org")
		got := fmt.Sprintln(*c.FirstName, *c.Country, c.Timezone == nil, *c.Source, *c.Website, c.Tags, c.Subscriptions, c.DoNotContact)
		if want := "Ann DE true import https://example.org/ [import 1 x y z] map[newsletter:true offers:false] true\n"; got != want {
			d.Errorf("the contact is %s, want %s", got, want)
		}
		want := map[string]any{"plan": "=pro", "seats": 12.5, "vip": true, "born": "1990-02-03", "seen": "2026-01-02T00:00:00.000Z", "likes": []any{"a", "b"}, "size": "M"}
		if diff := cmp.Diff(want, c.CustomFields); diff != "" {
			d.Errorf("custom fields (-want +got):\n%s", diff)
		}
		stages, err := contact.Stages(d.Context(), d.db, d.tenant)
		d.ok(err)
		if i := slices.IndexFunc(stages, func(s contact.Stage) bool { return s.ID == c.Stage }); i < 0 || stages[i].Slug != "customer" {
			d.Errorf("the stage is %s", c.Stage)
		}
		if bob := d.contact("bob@example.org"); bob.FirstName != nil || !slices.Equal(bob.Tags, []string{"import 1"}) || len(bob.CustomFields) != 0 {
			d.Errorf("blank cells made %+v", bob)
		}
	})
}

func TestModesOfAnImport(t *testing.T) {
	const text = "email,first_name,city,plan\nann@example.org,Anna,,\nbob@example.org,Bob,Rome,pro\nBOB@example.org,Bobby,,\nwrong,X,,\n"
	for _, tt := range []struct {
		mode  transfer.Mode
		blank bool
		want  string
		ann   string
		bob   string
	}{
		{"", false, "completed 4: 1+2+0+1", "Anna Oslo free sign-up", "Bobby Rome pro import"},
		{transfer.Upsert, true, "completed 4: 1+2+0+1", "Anna - - sign-up", "Bobby - - import"},
		{transfer.Create, true, "completed 4: 1+0+2+1", "Ann Oslo free sign-up", "Bob Rome pro import"},
		{transfer.Update, false, "completed 4: 0+1+2+1", "Anna Oslo free sign-up", ""},
	} {
		t.Run(string(tt.mode), func(t *testing.T) {
			each(t, func(d *fixture) {
				d.save("ann@example.org", contact.Change{
					Texts:        map[contact.Text]*string{"first_name": new("Ann"), "city": new("Oslo"), "source": new("sign-up")},
					CustomFields: map[string]any{"plan": "free"},
				})
				j := d.load(text, transfer.Options{Mode: tt.mode, UpdateBlank: tt.blank})
				if got := d.resultText(j); got != tt.want {
					d.Errorf("the import = %s, want %s", got, tt.want)
				}
				show := func(email string) string {
					c, err := contact.ByEmail(d.Context(), d.db, d.tenant, email)
					if errors.Is(err, contact.ErrNotFound) {
						return ""
					}
					d.ok(err)
					or := func(s *string) string {
						if s == nil {
							return "-"
						}
						return *s
					}
					plan, _ := c.CustomFields["plan"].(string)
					if plan == "" {
						plan = "-"
					}
					return or(c.FirstName) + " " + or(c.City) + " " + plan + " " + or(c.Source)
				}
				if ann, bob := show("ann@example.org"), show("bob@example.org"); ann != tt.ann || bob != tt.bob {
					d.Errorf("Ann is %q, Bob %q; want %q, %q", ann, bob, tt.ann, tt.bob)
				}
			})
		})
	}
}

// A file does not override a contact's own decisions about mail.
func TestAnImportDoesNotOverrideRefusals(t *testing.T) {
	each(t, func(d *fixture) {
		statuses := []contact.Status{contact.Unsubscribed, contact.Bounced, contact.Complained, contact.Suppressed, contact.Pending}
		var file strings.Builder
		file.WriteString("email,first_name,subscriptions.newsletter,subscriptions.offers,do_not_contact\n")
		for _, s := range statuses {
			c := d.save(string(s)+"@example.org", contact.Change{Subscriptions: map[string]*bool{"newsletter": new(false)}})
			_, err := d.db.Exec(d.Context(), `UPDATE contact SET global_status = $3 WHERE tenant_id = $1 AND id = $2`, d.tenant, c.ID, s)
			d.ok(err)
			fmt.Fprintf(&file, "%s@example.org,New,true,,\n", s)
		}
		j := d.load(file.String(), transfer.Options{Subscriptions: map[string]bool{"newsletter": true, "offers": true}, UpdateBlank: true})
		if got := d.resultText(j); got != "completed 5: 0+5+0+0" {
			d.Errorf("the import = %s", got)
		}
		for _, s := range statuses {
			c := d.contact(string(s) + "@example.org")
			if s == contact.Pending {
				s = contact.Active // an import confirms pending contacts
			}
			if c.Status != s || *c.FirstName != "New" || c.Subscriptions["newsletter"] || !c.Subscriptions["offers"] {
				d.Errorf("%s: status %s, name %v, subscriptions %v", c.Email, c.Status, *c.FirstName, c.Subscriptions)
			}
		}
		d.load("email,subscriptions.newsletter,subscriptions.offers\nnew@example.org,0,\nnew@example.org,1,\n", transfer.Options{UpdateBlank: true})
		if c := d.contact("new@example.org"); c.Subscriptions["newsletter"] || len(c.Subscriptions) != 1 {
			d.Errorf("a refusal in the file itself was lifted: %v", c.Subscriptions)
		}
	})
}

func TestInvalidRowsAreInTheErrorsFile(t *testing.T) {
	each(t, func(d *fixture) {
		text := "email,Vorname,seats,vip,born,size,country,tags,=x\n" +
			"a@example.org,A,1,yes,2026-01-01,S,DE,t,\n" + // 2
			"\n" +
			",B,,,,,,,\n" + // 4
			"b at example,B,,,,,,,\n" + // 5
			"c@example.org,C,many,,,,,,\n" + // 6
			"d@example.org,D,,perhaps,,,,,\n" + // 7
			"e@example.org,E,,,31.02.2026,,,,\n" + // 8
			"f@example.org,F,,,,XL,,,\n" + // 9
			"g@example.org,G,,,,,Atlantis,,\n" + // 10
			"h@example.org,H,,,,,," + strings.Repeat("x", 65) + ",\n" + // 11
			"i@example.org,I,,,,,,,,more\n" + // 12
			"j@example.org,\"J\n" + // 13
			"k@example.org,K\x00,,,,,,,\n" + // 14
			"l@example.org,\xff,,,,,,é,\n" + // 15
			"m@example.org,=1+1,NaN,,,,,,\n" + // 16
			"z@example.org,Z\n" // 17
		strict := transfer.Options{Mapping: map[string]string{"Vorname": "first_name"}, Strict: true}
		j := d.load(text, strict)
		if got := d.resultText(j); got != "completed 15: 2+0+0+13" || d.count() != 2 {
			d.Errorf("the import = %s, %d contacts", got, d.count())
		}
		rows := d.errors(j)
		if len(rows) != 14 {
			d.Fatalf("the errors file has %d rows:\n%q", len(rows), rows)
		}
		if want := []string{"error_row", "error_column", "error_code", "error_message", "email", "Vorname", "seats", "vip", "born", "size", "country", "tags", "'=x"}; !slices.Equal(rows[0], want) {
			d.Errorf("its header = %q", rows[0])
		}
		var got []string
		for _, r := range rows[1:] {
			got = append(got, strings.Join(r[:3], " ")+": "+r[3])
		}
		want := []string{
			"4 email INVALID_INPUT: required",
			"5 email INVALID_INPUT: the address holds a space",
			"6 seats INVALID_FIELD_VALUE: must be a number",
			"7 vip INVALID_FIELD_VALUE: must be true or false",
			"8 born INVALID_FIELD_VALUE: must be a date as YYYY-MM-DD",
			"9 size INVALID_FIELD_VALUE: must be one of S, M",
			"10 country INVALID_INPUT: must be a country code of two letters (ISO 3166-1)",
			"11 tags INVALID_INPUT: must have 1 to 64 characters",
			"12  INVALID_INPUT: the row has more cells than the header",
			"13  INVALID_INPUT: a quote is never closed",
			"14  INVALID_INPUT: the row holds a NUL character",
			"15  INVALID_INPUT: the row is not UTF-8",
			"16 seats INVALID_FIELD_VALUE: must be a number",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			d.Errorf("the errors (-want +got):\n%s", diff)
		}
		if r := rows[13]; r[4] != "m@example.org" || r[5] != "'=1+1" {
			d.Errorf("the last row is %q", r)
		}

		// The corrected errors file can be imported as it is.
		fixed := strings.NewReplacer("b at example", "b@example.org", ",many,", ",7,", ",perhaps,", ",no,", ",31.02.2026,", ",2026-02-01,",
			",XL,", ",S,", ",Atlantis,", ",FR,", strings.Repeat("x", 65), "x", ",NaN,", ",1,").Replace(d.file(j, transfer.ErrorsFile))
		again := d.load(fixed, strict)
		if got := d.resultText(again); got != "completed 13: 8+0+0+5" {
			d.Errorf("the import of what was put right = %s: %q", got, d.errors(again))
		}
		if c := d.contact("m@example.org"); *c.FirstName != "=1+1" {
			d.Errorf("the name came back as %q", *c.FirstName)
		}
	})
}

// Batches of new contacts are written differently from others, which must not affect the result:
// there is a known contact in the third of six batches, a duplicate key in the fourth, and an
// address of the first batch again in the fifth.
func TestAFileOfNewContactsMayHoldKnownOnes(t *testing.T) {
	each(t, func(d *fixture) {
		for _, tt := range []struct {
			mode transfer.Mode
			want string
		}{
			{transfer.Upsert, "completed 6000: 5997+2+0+1"},
			{transfer.Create, "completed 6000: 5997+0+2+1"},
		} {
			before := d.count()
			d.save("known@"+string(tt.mode)+".example", contact.Change{Texts: map[contact.Text]*string{contact.LastName: new("Known"), contact.ExternalID: new("own-" + string(tt.mode))}})
			var text strings.Builder
			text.WriteString("email,first_name,external_id\n")
			for i := range 6000 {
				email, key := fmt.Sprintf("u%d@%s.example", i, tt.mode), fmt.Sprintf("%s-%d", tt.mode, i)
				switch i {
				case 2500:
					email, key = "known@"+string(tt.mode)+".example", "own-"+string(tt.mode)
				case 3500:
					key = "own-" + string(tt.mode)
				case 4500:
					email, key = fmt.Sprintf("u7@%s.example", tt.mode), ""
				}
				fmt.Fprintf(&text, "%s,Name %d,%s\n", email, i, key)
			}
			j := d.load(text.String(), transfer.Options{Mode: tt.mode})
			if got := d.resultText(j); got != tt.want || d.count()-before != 5998 {
				d.Errorf("%s: the import = %s, %d contacts are new; want %s and 5998", tt.mode, got, d.count()-before, tt.want)
			}
			rows := d.errors(j)
			if len(rows) != 2 || rows[1][0] != "3502" || rows[1][2] != "DUPLICATE_EXTERNAL_ID" {
				d.Errorf("%s: the errors file = %q", tt.mode, rows)
			}
			first, again := "Name 2500", "Name 4500"
			if tt.mode == transfer.Create {
				again = "Name 7"
			}
			if c := d.contact("known@" + string(tt.mode) + ".example"); *c.LastName != "Known" || tt.mode == transfer.Upsert && *c.FirstName != first {
				d.Errorf("%s: the known contact is %v %s", tt.mode, c.FirstName, *c.LastName)
			}
			if c := d.contact(fmt.Sprintf("u7@%s.example", tt.mode)); *c.FirstName != again || *c.ExternalID != string(tt.mode)+"-7" {
				d.Errorf("%s: the repeated contact is %s, %s; want %s", tt.mode, *c.FirstName, *c.ExternalID, again)
			}
		}
	})
}

func TestAnImportFillsAList(t *testing.T) {
	each(t, func(d *fixture) {
		s := d.list("Readers")
		d.save("ann@example.org", contact.Change{})
		j := d.load("email\nann@example.org\nbob@example.org\nnonsense\nann@example.org\n", transfer.Options{SegmentKey: s.Key})
		if got := d.resultText(j); got != "completed 4: 1+2+0+1" {
			d.Errorf("the import = %s", got)
		}
		s, err := segment.Find(d.Context(), d.db, d.tenant, s.Key)
		d.ok(err)
		if *s.MembersAll != 2 || *s.Members != 2 {
			d.Errorf("the list has %d members, %d of them sendable", *s.MembersAll, *s.Members)
		}
		var added int
		d.ok(d.db.QueryRow(d.Context(), `SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND type = $2`, d.tenant, journal.ListAdded).Scan(&added))
		if added != 2 {
			d.Errorf("%d entries for joining the list, want 2", added)
		}
	})
}

func TestDeletingTheListFailsTheImport(t *testing.T) {
	each(t, func(d *fixture) {
		s := d.list("Readers")
		j, err := d.start("email\nann@example.org\n", transfer.Options{SegmentKey: s.Key})
		d.ok(err)
		_, err = d.db.Exec(d.Context(), `DELETE FROM segment WHERE tenant_id = $1 AND id = $2`, d.tenant, s.ID)
		d.ok(err)
		d.run()
		j, err = job.ByID(d.Context(), d.db, d.tenant, j.ID)
		d.ok(err)
		if j.Status != job.Failed || j.Error.Code != "NOT_FOUND" || d.count() != 0 {
			d.Errorf("the job = %s, %+v; %d contacts", j.Status, j.Error, d.count())
		}
	})
}

// An import that is interrupted repeatedly applies each row once.
func TestAnInterruptedImportContinues(t *testing.T) {
	each(t, func(d *fixture) {
		s := d.list("Readers")
		var file strings.Builder
		file.WriteString("email,first_name\n")
		const n = 6500
		for i := range n {
			switch {
			case i%10 == 3:
				fmt.Fprintf(&file, "wrong%d,X\n", i)
			case i%10 == 7:
				fmt.Fprintf(&file, "person%d@example.org,\"Again\"\n", i-1)
			default:
				fmt.Fprintf(&file, "person%d@example.org,Person\n", i)
			}
		}
		died := 0
		d.e.Runners[job.Import] = d.interruptedRunner(transfer.Import, &died)
		j := d.load(file.String(), transfer.Options{SegmentKey: s.Key})
		if got, want := d.resultText(j), fmt.Sprintf("completed %d: %d+%d+0+%d", n, n*8/10, n/10, n/10); got != want || d.count() != n*8/10 {
			d.Errorf("after %d deaths the import = %s, want %s; %d contacts", died, got, want, d.count())
		}
		if rows := d.errors(j); len(rows) != 1+n/10 || d.result(j).Repeated != n/10 || d.report(j).Faults[0].Rows != n/10 {
			d.Errorf("%d rows of errors, %d repeats, faults %+v", len(rows)-1, d.result(j).Repeated, d.report(j).Faults)
		}
		kept, err := segment.Find(d.Context(), d.db, d.tenant, s.Key)
		d.ok(err)
		s, err = segment.Recount(d.Context(), d.db, d.tenant, s.ID, d.now)
		d.ok(err)
		if *s.MembersAll != n*8/10 || *kept.MembersAll != *s.MembersAll || *kept.Members != *s.Members {
			d.Errorf("%d members, %d of them sendable; the import kept %d and %d", *s.MembersAll, *s.Members, *kept.MembersAll, *kept.Members)
		}
		if died < 4 {
			d.Errorf("it died %d times only", died)
		}
	})
}

func TestACancelledImportKeepsCommittedRows(t *testing.T) {
	each(t, func(d *fixture) {
		var file strings.Builder
		file.WriteString("email\n")
		for i := range 3000 {
			fmt.Fprintf(&file, "person%d@example.org\n", i)
		}
		j, err := d.start(file.String(), transfer.Options{})
		d.ok(err)
		calls, cancelled := 0, make(chan error, 1)
		d.e.Now = func() time.Time {
			if calls++; calls == 6 { // after the first batch, in the transaction of the second
				go func() {
					_, err := job.Cancel(d.Context(), d.db, d.tenant, j.ID, noon)
					cancelled <- err
				}()
			}
			return noon
		}
		d.run()
		for j.Status != job.Cancelled && j.Status != job.Completed {
			j, err = job.ByID(d.Context(), d.db, d.tenant, j.ID)
			d.ok(err)
		}
		if err := <-cancelled; err != nil && !errors.Is(err, job.ErrTransition) { // it may be too late
			d.Error(err)
		}
		r, _, err := transfer.ImportResultOf(j)
		d.ok(err)
		if int64(d.count()) != r.Created || j.Processed != r.Rows {
			d.Errorf("%d contacts, but the job says %+v, processed %d", d.count(), r, j.Processed)
		}
	})
}

// An import creates contacts up to the tenant's limit, and reports the rows beyond it.
func TestAnImportRespectsTheContactLimit(t *testing.T) {
	each(t, func(d *fixture) {
		_, err := d.db.Exec(d.Context(), `UPDATE tenant SET contact_limit = 2 WHERE tenant_id = $1 /* all tenants: a test's own */`, d.tenant)
		d.ok(err)
		j := d.load("email\na@example.org\nb@example.org\nc@example.org\na@example.org\n", transfer.Options{})
		if got := d.resultText(j); got != "completed 4: 2+1+0+1" || d.errors(j)[1][2] != "LIMIT_EXCEEDED" {
			d.Errorf("the import = %s, %q", got, d.errors(j))
		}
	})
}

// Values as databases and other systems write them are read.
func TestValuesInTheFormsOfOtherSystems(t *testing.T) {
	each(t, func(d *fixture) {
		for i, c := range []struct{ column, cell, want string }{
			{"custom_fields.seen", "2016-11-01 10:00:00", "2016-11-01T10:00:00.000Z"},
			{"custom_fields.seen", " 2018-02-12t17:59:31+0200 ", "2018-02-12T15:59:31.000Z"},
			{"custom_fields.seen", "2018-02-12 17:59:31.25+00", "2018-02-12T17:59:31.250Z"},
			{"custom_fields.born", "1997-02-27 00:00:00", "1997-02-27"},
			{"custom_fields.plan", " 7 ", " 7 "},
			{"custom_fields.plan", "'=1 ", "=1 "},
			{"custom_fields.size", " S ", "S"},
			{"custom_fields.likes", `"x, y", z`, "[x, y z]"},
			{"timezone", " europe/zurich", "Europe/Zurich"},
			{"timezone", "US/eastern", "US/Eastern"},
		} {
			email := fmt.Sprintf("v%d@example.org", i)
			j := d.load("email;"+c.column+"\n"+email+`;"`+strings.ReplaceAll(c.cell, `"`, `""`)+"\"\n", transfer.Options{})
			if d.resultText(j) != "completed 1: 1+0+0+0" {
				d.Errorf("%+v = %s %q", c, d.resultText(j), d.errors(j))
				continue
			}
			found := d.contact(email)
			got := fmt.Sprint(found.CustomFields[strings.TrimPrefix(c.column, "custom_fields.")])
			if found.Timezone != nil {
				got = *found.Timezone
			}
			if got != c.want {
				d.Errorf("%+v is read as %q", c, got)
			}
		}
	})
}

func TestOptionsAreValidatedBeforeQueueing(t *testing.T) {
	each(t, func(d *fixture) {
		s := d.list("Readers")
		fields := func(err error) map[string]string {
			m := map[string]string{}
			f, ok := fault.As(err)
			if !ok {
				d.Fatalf("no fault: %v", err)
			}
			details, _ := f.Details.(fault.Fields)
			for _, one := range details.Fields {
				m[one.Path] = one.Message
			}
			m["code"] = f.Code
			return m
		}
		for _, tt := range []struct {
			name, text string
			o          transfer.Options
			want       map[string]string
		}{
			{"all at once", "email,name,plan,x,city\n", transfer.Options{
				Mapping: map[string]string{"name": "updated_at", "gone": "city", "plan": "custom_fields.nope", "x": "subscriptions.nope", "city": "email"},
				Mode:    "replace", Tags: []string{"", "a"}, SegmentKey: "nope",
			}, map[string]string{
				"code":                 "INVALID_INPUT",
				"options.mode":         "must be create, update or upsert",
				"options.mapping.name": "is not a field that can be imported; custom fields are custom_fields.<key>, consent is subscriptions.<type_key>",
				"options.mapping.gone": "the file has no such column",
				"options.mapping.plan": "not a declared custom field",
				"options.mapping.x":    "there is no such email type",
				"options.mapping.city": `email is what the column "email" is about already`,
				"options.tags":         "1 element: must have 1 to 64 characters",
				"options.segment_key":  "there is no such list",
			}},
			{"no address", "name,city\n", transfer.Options{}, map[string]string{"code": "INVALID_INPUT", "options.mapping": "no column is email"}},
			{"two addresses", "email,Email\n", transfer.Options{}, map[string]string{"code": "INVALID_INPUT", "options.mapping.Email": `email is what the column "email" is about already`}},
			{"a file that is none", "%PDF-", transfer.Options{Mode: "x"}, map[string]string{"code": "INVALID_INPUT", "file": "is a PDF; send CSV", "options.mode": "must be create, update or upsert"}},
			{"how to read it", "email\n", transfer.Options{Encoding: "ebcdic", Separator: "::", Quote: "x"}, map[string]string{
				"code":              "INVALID_INPUT",
				"options.encoding":  "must be one of utf-8, utf-16le, utf-16be, windows-1252, iso-8859-15, or another encoding with a byte for each character",
				"options.separator": "must be one of comma, semicolon, tab, |",
				"options.quote":     `must be one of ", '`,
			}},
			{"an unknown email type", "email\n", transfer.Options{Subscriptions: map[string]bool{"nope": true}},
				map[string]string{"code": "INVALID_EMAIL_TYPE", "options.subscriptions.nope": "there is no such email type"}},
			{"a list by its id", "email\n", transfer.Options{SegmentKey: s.ID.String()}, map[string]string{"code": "INVALID_SEGMENT", "options.segment_key": "there is no such list"}},
		} {
			_, err := d.start(tt.text, tt.o)
			if diff := cmp.Diff(tt.want, fields(err)); diff != "" {
				d.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
		for name, text := range map[string]string{
			"a header alone": "email", "duplicate names that say nothing": "email,x,x,,\na@example.org\n", "tags twice": "email,tags,Tags\na@example.org,b,c\n",
			"2,000 columns": "email" + strings.Repeat(",c", 1999) + "\na@example.org\n",
		} {
			if j := d.load(text, transfer.Options{}); j.Status != job.Completed {
				d.Errorf("%s: %+v", name, j)
			}
		}
	})
}

// The file of another tenant cannot be taken with its id.
func TestForeignFilesAreNotTaken(t *testing.T) {
	each(t, func(d *fixture) {
		f := d.upload("email\nann@example.org\n")
		other := idtest.Tenant()
		if _, err := transfer.StartImport(d.Context(), d.db, other, f, transfer.Options{}, auth.Principal{}, d.now); err == nil {
			d.Error("another tenant imports the file")
		}
		if n := open(d.T, d.db); n != 0 {
			d.Errorf("%d jobs", n)
		}
	})
}

func open(t *testing.T, db *sqldb.DB) (n int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM job /* all tenants: a test */`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
