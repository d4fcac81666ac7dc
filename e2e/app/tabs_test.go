package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// column returns JavaScript for the texts of a column of the table with a label, by its number.
func column(label string, n int) string {
	return fmt.Sprintf(`[...document.querySelectorAll('main section[aria-label=%q] tbody tr')].map(r => r.children[%d].textContent.trim())`, label, n)
}

// jsonOf returns texts as JavaScript for their JSON.
func jsonOf(t *testing.T, texts []string) string {
	t.Helper()
	text, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%q", text)
}

// The tabs of a broadcast's report (time, breakdown, bounces, people) show what the API answers, in their tables and
// in their files; people are searched and filtered. The overview names a version only when it is ahead.
func TestTheTabsOfAReportShowWhatTheAPIAnswers(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		lane := page.call(http.MethodPost, "/mta-configs", map[string]any{"name": "Refusing", "type": "sink", "settings": map[string]any{"fail_patterns": []any{
			map[string]any{"pattern": "reader3@example.org", "response": "550 5.1.1 no such user"},
			map[string]any{"pattern": "reader4@example.org", "response": "550 5.7.1 refused by policy"},
		}}})
		version := func(id, name string) map[string]any {
			return map[string]any{"id": id, "name": name, "weight": 1, "content_overrides": map[string]any{"subject": name}}
		}
		broadcast := page.createDraft(map[string]any{"mta_config_key": lane["key"], "variants": []any{version("a", "Short"), version("b", "Long")}})
		page.startSend(broadcast)
		page.waitForStatus(broadcast, "completed")
		at := "/broadcasts/" + broadcast
		number := func(v any) string { return fmt.Sprint(v) }
		get := func(path string) map[string]any { return page.call(http.MethodGet, at+path, nil) }
		list := func(v any) (rows []map[string]any) {
			all, _ := v.([]any)
			for _, one := range all {
				rows = append(rows, one.(map[string]any))
			}
			return rows
		}
		shows := func(label string, n int, want ...string) {
			t.Helper()
			page.WaitFor(fmt.Sprintf(`JSON.stringify(%s) === %s`, column(label, n), jsonOf(t, want)))
		}

		page.open(at)
		versions := page.In("region", "Which version")
		versions.ExpectText("No difference yet.")
		versions.ExpectText("0.0 % to ")
		page.expectAccessible("a comparison of versions")

		page.open(at + "?tab=time&per=day")
		page.Click("As a table")
		for n, name := range []string{"sent", "delivered", "opened", "clicked", "bounced", "unsubscribed"} {
			var want []string
			for _, p := range list(get("/timing?interval=day")["series"]) {
				want = append(want, number(p[name]))
			}
			shows("Over time", n+1, want...)
		}
		if file := page.download(`document.querySelector('main [aria-label*="over time"]')`); !strings.Contains(file, ",25,23,0,0,2,0") {
			t.Errorf("the file of days is\n%s", file)
		}

		page.Click("Breakdown")
		engagement := get("/engagement")
		for label, name := range map[string]string{"Senders": "by_identity", "Mailbox providers": "by_provider"} {
			rows := list(engagement[name])
			if len(rows) == 0 || rows[0]["recipients"] != 25.0 || rows[0]["delivered"] != 23.0 || rows[0]["bounced"] != 2.0 {
				t.Errorf("%s: the API answers %v", name, rows)
			}
			for n, of := range map[int]string{1: "recipients", 2: "delivered", 8: "bounced"} {
				var want []string
				for _, r := range rows {
					want = append(want, number(r[of]))
				}
				shows(label, n, want...)
			}
		}
		if file := page.download(`document.querySelector('main [aria-label*="Senders"][aria-label^="Download"]')`); !strings.Contains(file, page.account.Sender+",25,23,0,0,0,0,0,2") {
			t.Errorf("the file of senders is\n%s", file)
		}

		page.Click("Bounces")
		bounces := get("/bounces")
		codes := map[string]string{}
		for _, c := range list(bounces["summary"].(map[string]any)["by_code"]) {
			codes[number(c["code"])] = number(c["count"])
		}
		if want := map[string]string{"550 5.1.1": "1", "550 5.7.1": "1"}; !maps.Equal(codes, want) {
			t.Errorf("the API counts %v by code, want %v", codes, want)
		}
		page.WaitFor(`[` + column("By code", 0) + `.sort().join()].includes('550 5.1.1,550 5.7.1')`)
		shows("By domain", 0, "example.org")
		shows("By domain", 1, "2")
		page.WaitFor(column("Bounced emails", 0) + `.sort().join() === 'reader3@example.org,reader4@example.org'`)
		file := page.download(`document.querySelector('[aria-label="Download bounced emails as CSV"]')`)
		for _, row := range list(bounces["data"]) {
			if want := fmt.Sprintf("%s,%s,%s,%s,%v,%s,", row["contact_id"], row["email"], row["type"], row["category"], row["smtp_code"], row["enhanced_code"]); !strings.Contains(file, want) {
				t.Errorf("the file of returned mail lacks %q:\n%s", want, file)
			}
		}

		page.Click("People")
		people := `[...document.querySelectorAll('main [role=row], main tbody tr')].filter(r => r.textContent.includes('@example.org')).map(r => /reader\d+@example.org/.exec(r.textContent)[0])`
		page.WaitFor(people + `.length > 10`)
		file = page.download(`document.querySelector('[aria-label="Download recipients as CSV"]')`)
		var states []string
		for _, row := range list(get("/recipients?limit=50")["data"]) {
			states = append(states, fmt.Sprint(row["status"]))
			if want := fmt.Sprintf("%s,%s,%s,", row["contact_id"], row["email"], row["status"]); !strings.Contains(file, want) {
				t.Errorf("the file of recipients lacks %q", want)
			}
		}
		slices.Sort(states)
		if n := len(states); n != 25 || states[0] != "bounced" || states[1] != "bounced" || states[2] != "delivered" {
			t.Errorf("the API answers %d recipients in the states %v", n, states)
		}
		page.open(at + "?tab=people&status=bounced")
		page.WaitFor(people + `.sort().join() === 'reader3@example.org,reader4@example.org'`)
		page.open(at + "?tab=people&q=reader17")
		page.WaitFor(people + `.join() === 'reader17@example.org'`)
		page.Evaluate(`document.querySelector('main [role=row] a, main tbody a').click()`)
		page.expectURL("/recipients/")

		db := e2etest.Database(t, page.program)
		for _, statement := range []string{
			`UPDATE outbox_mix_sum SET total = 1000 /* all tenants: there is one */`,
			`INSERT INTO engagement_sum (tenant_id, send_id, part, mix, verified_opened)
				SELECT tenant_id, send_id, 99, n, CASE variant_id WHEN 'a' THEN 300 ELSE 200 END FROM outbox_mix WHERE variant_id IS NOT NULL /* all tenants: there is one */`,
		} {
			if _, err := db.Exec(page.Ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		page.open(at)
		versions.ExpectText("Short is ahead: 30.0 % of its recipients opened it, and 20.0 % of those of Long.")
		versions.ExpectText("27.2 % to 32.9 %")
		versions.ExpectText("No difference yet in clicks.")
	})
}

// An update of a seed list shows what becomes of each address, page by page; one that retires most of them is done only
// when their number is typed.
func TestSeedsAreUpdatedInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		l := page.call(http.MethodPost, "/seed-lists", map[string]any{"name": "Placement"})
		path := "/seed-lists/" + l["id"].(string)
		seeds := func(from, to int) (list []any, text string) {
			for i := from; i < to; i++ {
				email := fmt.Sprintf("seed%03d@gmail.com", i)
				list, text = append(list, map[string]any{"email": email}), text+email+"\n"
			}
			return list, text
		}
		before, _ := seeds(0, 120)
		page.call(http.MethodPut, path+"/seeds", map[string]any{"seeds": before})

		page.open("/sending/seeds/" + l["id"].(string))
		page.Click("Update addresses")
		_, after := seeds(110, 130)
		page.Fill("The vendor's addresses", after+"no address\nreader1@example.org\n")
		page.Dialog().Click("Check changes")
		page.In("dialog", "Update addresses").ExpectText("Fewer than half of the addresses would remain")
		page.In("dialog", "Update addresses").ExpectText("1 to 50 of 132")
		kinds := `[...document.querySelectorAll('[role=dialog] select option')].map(o => o.textContent).join('|')`
		if got, want := page.EvaluateString(kinds), "All (132)|Not an address (1)|Stays (10)|New (10)|Is a contact (1)|Is retired (110)"; got != want {
			t.Errorf("the outcomes are %s, want %s", got, want)
		}
		page.Click("Next")
		page.Click("Next")
		page.In("dialog", "Update addresses").ExpectText("101 to 132 of 132")
		page.In("dialog", "Update addresses").ExpectText("seed109@gmail.com")
		page.Evaluate(`document.querySelector('[role=dialog] input[type=search]').focus()`)
		page.Type("seed12")
		page.WaitFor(`[...document.querySelectorAll('[role=dialog] tbody tr')].map(r => r.children[0].textContent).join() === 'seed120@gmail.com,seed121@gmail.com,seed122@gmail.com,seed123@gmail.com,seed124@gmail.com,seed125@gmail.com,seed126@gmail.com,seed127@gmail.com,seed128@gmail.com,seed129@gmail.com'`)
		if why := page.EvaluateString(`document.querySelector('[role=dialog] button[type=submit]').getAttribute('aria-disabled')`); why != "true" {
			t.Errorf("a large change can be done without its number: %s", why)
		}
		page.Fill("Type 110", "110")
		page.Dialog().Click("Update")
		page.expectNoDialog()
		counts := page.call(http.MethodGet, path, nil)["address_counts"].(map[string]any)
		if counts["active"] != 20.0 || counts["retired"] != 110.0 || counts["conflict"] != 1.0 {
			t.Errorf("the list has %v, want 20 active, 110 retired, one contact", counts)
		}
	})
}
