package httpapi_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Entries of the audit log name their records, as long as those exist.
func TestAuditEntriesNameTheirRecords(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		names := func() map[string]any {
			found := map[string]any{}
			for _, e := range s.must(200, "admin", "GET /audit-log?limit=200", "").body["data"].([]any) {
				row := e.(map[string]any)
				found[row["target_id"].(string)] = row["target_name"]
			}
			return found
		}
		expect := func(target string, want any) {
			t.Helper()
			have, there := names()[target]
			if !there || have != want {
				t.Errorf("%s is called %v, %v; want %v", target, have, there, want)
			}
		}
		rule := s.must(201, "editor", "POST /automations", `{"name": "Rule", "trigger_type": "tag_added", "trigger_config": {"tag": "x"}, `+taggingActions+`}`).str("id")
		sequence := s.must(201, "editor", "POST /sequences", `{"name": "Welcome"}`).str("id")
		s.must(200, "editor", "PUT /sequences/"+sequence, `{"name": "Welcome back"}`)
		domain := s.must(201, "admin", "POST /sending-domains", `{"domain": "named.example"}`).str("id")
		hook := s.must(201, "admin", "POST /settings/webhooks", `{"url": "https://hooks.example/in", "event_types": ["*"]}`).str("id")
		key := s.must(201, "admin", "POST /auth/api-keys", `{"name": "CRM", "scopes": ["lists:read"]}`).str("id")
		c := s.must(201, "key", "POST /contacts", `{"email": "ada@named.example"}`).str("id")
		expect(rule, "Rule")
		expect(sequence, "Welcome back")
		expect(domain, "named.example")
		expect(hook, "https://hooks.example/in")
		expect(key, "CRM")

		s.must(200, "admin", "POST /contacts/"+c+"/anonymize", `{}`)
		expect(c, nil)
		s.must(204, "editor", "DELETE /automations/"+rule, "")
		expect(rule, nil)
	})
}

// Entries of updates have the fields that changed, with their values before and after; nothing that is secret, and
// nothing of another account.
func TestAuditEntriesHaveWhatChanged(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		changes := func(action string) (fields []string) {
			t.Helper()
			r := s.must(200, "admin", "GET /audit-log?limit=1&action="+action, "")
			for _, c := range r.body["data"].([]any)[0].(map[string]any)["changes"].([]any) {
				m := c.(map[string]any)
				fields = append(fields, fmt.Sprint(m["field"], ": ", m["before"], " > ", m["after"]))
				if length, cut := m["length"].(map[string]any); cut {
					fields[len(fields)-1] += fmt.Sprint(" (", length["before"], ", ", length["after"], ")")
				}
			}
			return fields
		}
		expect := func(action string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, changes(action)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", action, diff)
			}
		}
		relay := s.must(201, "admin", "POST /mta-configs", `{"name": "Relay", "type": "smtp", "settings": {"host": "smtp.example.net", "auth": "plain", "username": "u", "password": "former-secret"}}`).str("id")
		expect("mta_config.create")
		s.must(200, "admin", "PUT /mta-configs/"+relay, `{"name": "Relay", "caps": {"max_per_day": 500}, "settings": {"host": "smtp.other.example", "password": "later-secret"}}`)
		expect("mta_config.update", "caps.max_per_day: <nil> > 500", "settings.host: smtp.example.net > smtp.other.example", "settings.password: <nil> > <nil>")
		s.must(200, "admin", "PUT /mta-configs/"+relay, `{"name": "Relay"}`)
		expect("mta_config.update")

		s.must(200, "admin", "PUT /settings/account", `{"timezone": "Europe/Berlin", "send_window": {"start": "08:00"}}`)
		if got := changes("account.update"); len(got) != 2 || got[1] != "timezone: UTC > Europe/Berlin" || !strings.HasPrefix(got[0], "send_window.start: ") {
			t.Errorf("account.update has %q", got)
		}
		s.must(200, "admin", "PUT /settings/brand", `{"colors": {"primary": "#abc"}, "width": 640}`)
		expect("brand.update", "colors.primary: #12507b > #aabbcc", "width: 600 > 640")
		key := s.must(201, "admin", "POST /auth/api-keys", `{"name": "CRM", "scopes": ["lists:read"]}`).str("id")
		s.must(200, "admin", "PATCH /auth/api-keys/"+key, `{"scopes": ["contacts:read"]}`)
		expect("api_key.update", "scopes: [lists:read] > [contacts:read]")
		hook := s.must(201, "admin", "POST /settings/webhooks", `{"url": "https://hooks.example/in", "event_types": ["*"]}`).str("id")
		s.must(200, "admin", "PUT /settings/webhooks/"+hook, `{"active": false}`)
		expect("webhook.update", "active: true > false")
		typ := s.must(201, "admin", "POST /email-types", `{"display_name": "Weekly"}`).str("id")
		s.must(200, "admin", "PUT /email-types/"+typ, `{"display_name": "Monthly"}`)
		expect("email_type.update", "display_name: Weekly > Monthly")
		list := s.must(201, "editor", "POST /segments", `{"name": "VIPs", "type": "dynamic", "definition": {"logic": "and", "conditions": [{"field": "email", "operator": "eq", "value": "ada@example.org"}]}}`)
		s.must(200, "editor", "PUT /segments/"+list.str("id"), `{"definition": {"logic": "and", "conditions": [{"field": "email", "operator": "eq", "value": "bob@example.org"}, {"field": "country", "operator": "eq", "value": "DE"}]}}`)
		if got := changes("segment.update"); len(got) != 1 || strings.Contains(got[0], "example.org") || !strings.Contains(got[0], "DE") {
			t.Errorf("segment.update has %q", got)
		}
		sequence := s.must(201, "editor", "POST /sequences", `{"name": "Welcome"}`).str("id")
		s.must(200, "editor", "PUT /sequences/"+sequence, `{"name": "`+strings.Repeat("W", 200)+`"}`)
		expect("sequence.update", "name: Welcome > "+strings.Repeat("W", 200))
		rule := s.must(201, "editor", "POST /automations", `{"name": "Rule", "trigger_type": "tag_added", "trigger_config": {"tag": "x"}, `+taggingActions+`}`).str("id")
		s.must(200, "editor", "PUT /automations/"+rule, `{"trigger_config": {"tag": "y"}}`)
		expect("automation.update", "trigger_config.tag: x > y")

		template := s.must(201, "editor", "POST /templates", `{"name": "Letter", "content_html": "<p>`+strings.Repeat("a", 9000)+` end</p>"}`).str("id")
		s.must(200, "editor", "PUT /templates/"+template, `{"name": "Letters", "content_html": "<p>`+strings.Repeat("a", 9000)+` and an end</p>"}`)
		expect("template.update", "content_html: …"+strings.Repeat("a", 59)+" end</p> > …"+strings.Repeat("a", 59)+" and an end</p> (9011, 9018)", "name: Letter > Letters")
		compiled := s.must(201, "editor", "POST /templates", `{"name": "Compiled", "format": "mjml", "content_html": "", "content_mjml": "<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>"}`).str("id")
		s.must(200, "editor", "PUT /templates/"+compiled, `{"content_mjml": "<mjml><mj-body><mj-section><mj-column><mj-text>Ho</mj-text></mj-column></mj-section></mj-body></mjml>"}`)
		if got := changes("template.update"); len(got) != 1 || !strings.HasPrefix(got[0], "content_mjml: ") {
			t.Errorf("template.update has %q", got)
		}
		block := s.must(201, "editor", "POST /blocks", `{"name": "Masthead", "content_html": "<hr>"}`).str("id")
		s.must(200, "editor", "PUT /blocks/"+block, `{"tags": ["line"], "content_text": "-"}`)
		expect("block.update", "content_text: <nil> > -", "tags: [] > [line]")
		entry := s.must(201, "editor", "POST /messages", `{"name": "Welcome", "content": {"subject": "Hi", "body_html": "<p>Hi</p>"}}`).str("id")
		s.must(200, "editor", "PATCH /messages/"+entry, `{"content": {"subject": "Hello"}}`)
		expect("message.update", "current_version: 1 > 2")
		form := s.must(201, "editor", "POST /forms", `{"name": "Footer"}`).str("id")
		s.must(200, "editor", "PUT /forms/"+form, `{"name": "Header", "captcha": {"provider": "turnstile", "site_key": "site", "secret_key": "later-secret"}}`)
		expect("form.update", "captcha.provider: none > turnstile", "captcha.site_key: <nil> > site", "name: Footer > Header", "captcha.secret_key: <nil> > <nil>")
		category := s.must(201, "admin", "POST /email-categories", `{"name": "News"}`).str("id")
		s.must(200, "admin", "PUT /email-categories/"+category, `{"description": "What is new"}`)
		expect("email_category.update", "description: <nil> > What is new")
		field := s.must(201, "admin", "POST /settings/custom-fields", `{"name": "Plan", "field_type": "enum", "enum_values": ["free"]}`).str("id")
		s.must(200, "admin", "PUT /settings/custom-fields/"+field, `{"enum_values": ["free", "paid"]}`)
		expect("custom_field.update", "enum_values: [free] > [free paid]")
		seeds := s.must(201, "editor", "POST /seed-lists", `{"name": "Mailboxes"}`).str("id")
		s.must(200, "editor", "PUT /seed-lists/"+seeds, `{"rotation_days": 7}`)
		expect("seed_list.update", "rotation_days: <nil> > 7")
		s.must(201, "admin", "POST /settings/stages", `{"name": "First", "category": "prospect"}`)
		second := s.must(201, "admin", "POST /settings/stages", `{"name": "Second", "category": "prospect"}`).str("id")
		s.must(200, "admin", "PUT /settings/stages/"+second, `{"is_default": true}`)
		expect("stage.update", "is_default: false > true")
		ids := s.must(200, "admin", "GET /settings/stages", "").data("id")
		slices.Reverse(ids)
		s.must(200, "admin", "PUT /settings/stages/order", `{"ids": ["`+strings.Join(ids, `", "`)+`"]}`)
		if got := changes("stage.order"); len(got) != 1 || !strings.Contains(got[0], "First Second") || !strings.Contains(got[0], "Second First") {
			t.Errorf("stage.order has %q", got)
		}
		log := s.must(200, "admin", "GET /audit-log?limit=200", "")
		for _, e := range log.body["data"].([]any) {
			row := e.(map[string]any)
			if row["target_name"] == nil && strings.HasSuffix(row["action"].(string), ".update") && row["target_type"] != "tenant" && row["target_type"] != "brand" {
				t.Errorf("the record of %s has no name", row["action"])
			}
		}
		if strings.Contains(log.text, "secret") && (strings.Contains(log.text, "former-secret") || strings.Contains(log.text, "later-secret")) {
			t.Error("the audit log has a password")
		}
		if other := s.must(200, "admin", "GET /t/other/api/audit-log", ""); len(other.data("id")) != 0 {
			t.Errorf("another account has %s", other.text)
		}
	})
}

// Entries of a template that several people save at once have what each of them replaced.
func TestAuditEntriesHaveWhatAnUpdateReplaced(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		template := s.must(201, "editor", "POST /templates", `{"name": "first", "content_html": "<p>Hi</p>"}`).str("id")
		const writers = 6
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				if w := s.rawCall("editor", "PUT", "/t/acme/api/templates/"+template, "application/json", fmt.Sprintf(`{"name": "by %d", "content_html": "<p>%d</p>"}`, i, i)); w.Code != 200 {
					t.Errorf("the update of %d answers %d %s", i, w.Code, w.Body)
				}
			})
		}
		all.Wait()
		after := map[any]any{}
		for _, e := range s.must(200, "admin", "GET /audit-log?action=template.update", "").body["data"].([]any) {
			for _, c := range e.(map[string]any)["changes"].([]any) {
				if change := c.(map[string]any); change["field"] == "name" {
					after[change["before"]] = change["after"]
				}
			}
		}
		name := any("first")
		for range writers {
			name = after[name]
		}
		if last := s.must(200, "editor", "GET /templates/"+template, "").body["name"]; len(after) != writers || name != last {
			t.Errorf("the entries lead from first to %v, want %v: %v", name, last, after)
		}
	})
}

// unaudited are the updates that the audit log does not have, and why.
var unaudited = map[string]string{
	"upsertContact":     "contacts have a history of their own",
	"updateContact":     "contacts have a history of their own",
	"patchContact":      "contacts have a history of their own",
	"updateBroadcast":   "drafts save themselves; what is sent is kept as it was sent",
	"updateSavedFilter": "a view of a table",
	"storeWorkingCopy":  "what is not saved yet",
	"replaceSeeds":      "each update of the addresses is kept with its result",
}

// alike are updates whose examples change nothing.
var alike = []string{"orderStages", "updateApiKey"}

// Each update of a record is in the audit log with the fields that it changed, or for a reason not at all.
func TestUpdatesAreAuditedWithTheirChanges(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newConformance(t, sqliteOnly(t))
	var updates []example
	for _, e := range examples(t, s.ops) {
		if e.op.ofTenant() && slices.Contains([]string{"PUT", "PATCH"}, e.op.method) {
			updates = append(updates, e)
		}
	}
	parseExamples(t, updates)
	for _, e := range updates {
		name := e.op.OperationID
		vars := s.exampleVariables()
		s.prepareExample(t, name, vars)
		if _, err := s.db.Exec(t.Context(), `DELETE FROM audit`); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.router.ServeHTTP(w, e.request(t, vars))
		if w.Code > 299 {
			t.Fatalf("%s = %d %.500s", name, w.Code, w.Body)
		}
		entries := s.auditEntries(t)
		if _, not := unaudited[name]; not {
			if len(entries) > 0 {
				t.Errorf("%s writes %v to the audit log", name, entries)
			}
			continue
		}
		if len(entries) != 1 || !slices.Contains(alike, name) && !strings.Contains(entries[0], `"field"`) {
			t.Errorf("%s writes %q to the audit log, want one entry with changes", name, entries)
		}
	}
}

// auditEntries returns the actions and changes of all entries.
func (s *conformance) auditEntries(t *testing.T) []string {
	t.Helper()
	rows, err := s.db.Query(t.Context(), `SELECT action || ' ' || COALESCE(changes, '') FROM audit`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (text string, err error) { return text, scan(&text) })
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The audit log is exported as the list shows it, for admins of the account alone.
func TestTheAuditLogIsExported(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for range 1100 { // more than a page
			if err := auth.Audit(t.Context(), s.db, auth.BySystem.Did(s.acme, "broadcast.test", "broadcast", "b", s.now.Add(-48*time.Hour))); err != nil {
				t.Fatal(err)
			}
		}
		s.must(201, "admin", "POST /auth/api-keys", `{"name": "=1+2", "scopes": ["lists:read"]}`)
		changed := s.must(201, "admin", "POST /auth/api-keys", `{"name": "CRM", "scopes": ["lists:read"]}`).str("id")
		s.must(200, "admin", "PATCH /auth/api-keys/"+changed, `{"scopes": ["contacts:read"]}`)
		s.must(201, "admin", "POST /t/other/api/auth/api-keys", `{"name": "theirs", "scopes": ["lists:read"]}`)
		var job string
		file := func(path, body string) (text, disposition string) {
			t.Helper()
			job = s.must(202, "admin", "POST "+path+"/audit-log/export", body).str("job_id")
			s.runJobs()
			w := s.rawCall("admin", "GET", path+"/jobs/"+job+"/download", "", "", "Accept-Encoding", "identity")
			if w.Code != 200 {
				t.Fatalf("the file of %s = %d %s", body, w.Code, w.Body)
			}
			return w.Body.String(), w.Header().Get("Content-Disposition")
		}
		text, disposition := file("/t/acme/api", `{"action": "api_key"}`)
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) != 4 || !strings.HasPrefix(disposition, `attachment; filename="audit-log-2026-03-01.csv`) {
			t.Fatalf("%d rows, %v, %s", len(rows), err, disposition)
		}
		list, _ := s.must(200, "admin", "GET /audit-log?action=api_key", "").body["data"].([]any)
		for i, cells := range rows[1:] {
			row, _ := list[i].(map[string]any)
			for j, name := range rows[0] {
				want := row[name]
				if part, nested := strings.CutPrefix(name, "actor."); nested {
					want = row["actor"].(map[string]any)[part]
				}
				switch value := want.(type) {
				case nil:
					want = ""
				case string:
					want = strings.Replace(value, "=1+2", "'=1+2", 1)
				case []any:
					if len(value) == 0 {
						want = ""
						break
					}
					text, _ := json.Marshal(value)
					var there any
					_ = json.Unmarshal([]byte(cells[j]), &there)
					again, _ := json.Marshal(there)
					want, cells[j] = string(text), string(again)
				}
				if cells[j] != want {
					t.Errorf("row %d, %s = %q, want %q", i, name, cells[j], want)
				}
			}
		}
		if text, _ = file("/t/acme/api", `{"format": "ndjson", "before": "2026-03-01T00:00:00Z"}`); strings.Count(text, "\n") != 1100 {
			t.Errorf("%d entries before today", strings.Count(text, "\n"))
		}
		ids := map[string]bool{}
		for line := range strings.Lines(text) {
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil || row["action"] != "broadcast.test" || ids[row["id"].(string)] {
				t.Fatalf("%s, %v", line, err)
			}
			ids[row["id"].(string)] = true
		}
		for _, who := range []string{"editor", "key"} {
			s.must(403, who, "POST /audit-log/export", `{}`)
			s.must(403, who, "GET /jobs/"+job, "")
			if w := s.rawCall(who, "GET", "/t/acme/api/jobs/"+job+"/download", "", ""); w.Code != 403 {
				t.Errorf("%s gets the file: %d", who, w.Code)
			}
		}
		if all := s.must(200, "viewer", "GET /jobs", "").text; strings.Contains(all, "/download") || !strings.Contains(all, `"what":"audit_log"`) {
			t.Errorf("a viewer is shown %s", all)
		}
		s.must(404, "admin", "GET /t/other/api/jobs/"+job, "")
		if text, _ = file("/t/other/api", `{}`); strings.Count(text, "\n") != 2 || !strings.Contains(text, "theirs") {
			t.Errorf("another account exports %s", text)
		}
		for _, body := range []string{`{"since": "yesterday"}`, `{"actor_type": "ghost"}`, `{"format": "pdf"}`} {
			s.mustRefuse("admin", "POST /audit-log/export", body, 400, "INVALID_INPUT")
		}
	})
}
