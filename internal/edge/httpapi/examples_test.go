package httpapi_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/engine/flow"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// example is an operation's example as a document shows it.
type example struct {
	op      operation
	command string
	session bool
	args    []string // what curl is called with
	stdin   string
	answer  any // the answer in the document
	schema  *openapi3.Schema
}

// examples returns the examples of the document for API keys, then those that only the document for
// users has.
func examples(t *testing.T, ops map[string]operation) []example {
	t.Helper()
	var all []example
	known := map[string]bool{}
	for _, name := range []string{"openapi.json", "openapi-app.json"} {
		doc := documents(t)[name]
		for _, item := range doc.Paths.Map() {
			for _, op := range item.Operations() {
				if known[op.OperationID] {
					continue
				}
				known[op.OperationID] = true
				samples, _ := op.Extensions["x-codeSamples"].([]any)
				if len(samples) != 1 {
					t.Fatalf("%s has no example", op.OperationID)
				}
				e := example{op: ops[op.OperationID], command: samples[0].(map[string]any)["source"].(string), session: name == "openapi-app.json"}
				for _, status := range []string{"200", "201", "202"} {
					if res := op.Responses.Value(status); res != nil {
						if c := res.Value.Content["application/json"]; c != nil {
							e.schema, e.answer = c.Schema.Value, c.Example
						}
					}
				}
				all = append(all, e)
			}
		}
	}
	last := []string{"changePassword", "resetPassword", "deleteTenant"}
	order := func(e example) int { // operations that delete what others need come last
		if i := slices.Index(last, e.op.OperationID); i >= 0 {
			return 10 + i
		}
		return slices.Index([]string{"GET", "PUT", "PATCH", "POST", "DELETE"}, e.op.method)
	}
	slices.SortFunc(all, func(a, b example) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.op.path, b.op.path))
	})
	return all
}

var variable = regexp.MustCompile(`\$([A-Z][A-Z0-9_]*)`)

// parseExamples runs the commands in a shell to get the arguments of each curl. Variables become
// @NAME@.
func parseExamples(t testing.TB, all []example) {
	t.Helper()
	var script strings.Builder
	script.WriteString("curl() { for a in \"$@\"; do printf '%s\\0' \"$a\"; done; printf '\\1\\0'; cat; printf '\\0\\2\\0'; }\n")
	names := map[string]bool{}
	for _, e := range all {
		for _, m := range variable.FindAllStringSubmatch(e.command, -1) {
			names[m[1]] = true
		}
	}
	for name := range names {
		fmt.Fprintf(&script, "%s=@%s@\n", name, name)
	}
	for _, e := range all {
		script.WriteString(e.command + "\n")
	}
	file := t.TempDir() + "/examples.sh"
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-eu", file).Output()
	if err != nil {
		t.Fatalf("the shell: %v", err)
	}
	calls := strings.Split(strings.TrimSuffix(string(out), "\x00\x02\x00"), "\x00\x02\x00")
	if len(calls) != len(all) {
		t.Fatalf("%d calls of %d examples", len(calls), len(all))
	}
	for i, call := range calls {
		args, stdin, _ := strings.Cut(call, "\x01\x00")
		all[i].args, all[i].stdin = strings.Split(strings.TrimSuffix(args, "\x00"), "\x00"), stdin
	}
}

// request returns the request that curl would send.
func (e example) request(t testing.TB, vars map[string]string) *http.Request {
	t.Helper()
	fill := func(s string) string {
		return regexp.MustCompile(`@[A-Z][A-Z0-9_]*@`).ReplaceAllStringFunc(s, func(name string) string {
			value, ok := vars[strings.Trim(name, "@")]
			if !ok {
				t.Errorf("%s: the variable %s has no value", e.op.OperationID, name)
			}
			return value
		})
	}
	method, target, body := "GET", "", ""
	header := http.Header{}
	form := &bytes.Buffer{}
	parts := multipart.NewWriter(form)
	for i := 0; i < len(e.args); i++ {
		value := ""
		if strings.HasPrefix(e.args[i], "-") {
			value = fill(e.args[i+1])
		}
		switch e.args[i] {
		case "-X":
			method = value
		case "-H":
			name, v, _ := strings.Cut(value, ": ")
			header.Set(name, v)
		case "-d":
			if body = value; value == "@-" {
				body = strings.ReplaceAll(fill(e.stdin), "\n", "")
			}
		case "-b":
			header.Set("Cookie", auth.CookieName+"="+vars["COOKIE"])
		case "-c":
		case "-F":
			name, v, _ := strings.Cut(value, "=")
			if strings.HasPrefix(v, "@-") {
				w, _ := parts.CreateFormFile(name, "contacts.csv")
				_, _ = w.Write([]byte(e.stdin))
			} else {
				_ = parts.WriteField(name, v)
			}
		default:
			target = fill(e.args[i])
			continue
		}
		i++
	}
	if form.Len() > 0 {
		_ = parts.Close()
		body = form.String()
		header.Set("Content-Type", parts.FormDataContentType())
	}
	if _, err := url.Parse(target); err != nil {
		t.Fatalf("%s: %v", e.op.OperationID, err)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header = header
	return r
}

// exampleVariables returns the values of the variables of examples, for acme.
func (s *conformance) exampleVariables() map[string]string {
	m := s.records["acme"]
	return map[string]string{
		"SERVER": "/t/acme", "BASE": "", "KEY": s.keys["acme"], "COOKIE": m["owner"], "SLUG": "acme", "DOMAIN": "acme.example.com",
		"EMAIL": "owner@acme.example", "PASSWORD": testPassword, "NEW_PASSWORD": "another long password", "RELAY_PASSWORD": "secret",
		"CONTACT_ID": m["contact"], "BROADCAST_ID": m["broadcast"], "SEGMENT_KEY": m["segment"], "TEMPLATE_ID": m["template"], "BLOCK_ID": m["block"],
		"MESSAGE_ID": m["entry"], "VERSION": "1", "EMAIL_TYPE_ID": m["type"], "EMAIL_CATEGORY_ID": m["category"], "SENDING_DOMAIN_ID": m["domain"],
		"SENDING_IDENTITY_ID": m["identity"], "MTA_CONFIG_ID": m["lane"], "STAGE_ID": m["stage"], "CUSTOM_FIELD_ID": m["field"], "SAVED_FILTER_ID": m["filter"],
		"KIND": "broadcast", "WORKING_COPY_ID": ofCopy["id"], "JOB_ID": m["export"], "FILE": "export", "API_KEY_ID": m["apikey"], "USER_ID": m["user_viewer"], "WEBHOOK_ID": m["webhook"], "DELIVERY_ID": m["delivery"],
		"FORM_ID": m["form"], "SEED_LIST_ID": m["seedlist"], "SEED_ID": m["seed"],
		"SEQUENCE_ID": m["sequence"], "ENROLLMENT_ID": m["enrollment"], "AUTOMATION_ID": m["automation"],
	}
}

// prepareExample creates the records that only the example of op needs.
func (s *conformance) prepareExample(t testing.TB, op string, vars map[string]string) {
	t.Helper()
	makes := func(variable, op, body string) string {
		t.Helper()
		st := step{op: op, body: body, status: 201, remember: "new"}
		if variable == "SEGMENT_KEY" {
			st.field = "segment_key"
		}
		s.runStep(t, "acme", st)
		vars[variable] = s.records["acme"]["new"]
		return vars[variable]
	}
	broadcast := func(status string) string {
		t.Helper()
		b := makes("BROADCAST_ID", "createBroadcast", `{"name": "For `+op+`", "email_type_key": "weekly", "mta_config_key": "sink", "include_segment_keys": ["{segment}"], "sending_identity_emails": ["news@acme.example.com"],
			"delivery_mode": "over_days", "delivery_window_days": 3, "scheduled_at": "2026-03-02T12:00:00Z", "content": {"subject": "Hi", "body_html": "<p>Hi</p>"}}`)
		if status == "scheduled" {
			s.runStep(t, "acme", step{op: "scheduleBroadcast", path: map[string]string{"broadcast_id": b}, status: 200})
		} else if _, err := s.db.Exec(t.Context(), `UPDATE broadcast SET status = $2, pause_reason = CASE WHEN $2 = 'paused' THEN 'user' END WHERE id = $1`, idtest.Must[id.Broadcast](b), status); err != nil {
			t.Fatal(err)
		}
		return b
	}
	token := func(text string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		vars["TOKEN"] = text
	}
	switch op {
	case "updateBroadcast", "scheduleBroadcast", "deleteBroadcast":
		broadcast("draft")
	case "getBroadcastRecipient":
		vars["BROADCAST_ID"] = s.records["acme"]["second"]
	case "unscheduleBroadcast", "cancelBroadcast":
		broadcast("scheduled")
	case "pauseBroadcast", "rescheduleBroadcast":
		broadcast("sending")
	case "resumeBroadcast":
		broadcast("paused")
	case "archiveBroadcast", "bulkArchiveBroadcasts":
		broadcast("completed")
	case "unarchiveBroadcast":
		s.runStep(t, "acme", step{op: "archiveBroadcast", path: map[string]string{"broadcast_id": broadcast("completed")}, status: 200})
	case "deleteContact", "restoreContact", "anonymizeContact":
		c := makes("CONTACT_ID", "createContact", `{"email": "`+strings.ToLower(op)+`@example.org"}`)
		if op == "restoreContact" {
			s.runStep(t, "acme", step{op: "deleteContact", path: map[string]string{"id": c}, status: 204})
		}
	case "pauseSeed", "resumeSeed", "reactivateSeed":
		for _, before := range map[string][]string{"pauseSeed": {"retireSeed", "reactivateSeed"}, "resumeSeed": {"retireSeed", "reactivateSeed", "pauseSeed"}, "reactivateSeed": {"retireSeed"}}[op] {
			s.runStep(t, "acme", step{op: before, path: ofSeed, status: 200})
		}
	case "deleteAsset":
		makes("ASSET_ID", "createAsset", "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"dot.gif\"\r\n\r\nGIF89a\x01\x01\x01\x01\x01\x01\x01;\r\n--x--\r\n")
	case "deleteSeedList":
		makes("SEED_LIST_ID", "createSeedList", `{"name": "Old mailboxes"}`)
	case "deleteSegment":
		makes("SEGMENT_KEY", "createSegment", `{"name": "Old readers", "type": "static"}`)
	case "rebaseMessagePreview", "deleteMessage":
		makes("MESSAGE_ID", "createMessage", `{"name": "For `+op+`", "content": {"template_slug": "letter", "template_binding": {"parameters": {"reader": "Ann"}}}}`)
	case "getSinkMessage", "getRawSinkMessage":
		vars["MESSAGE_ID"] = s.records["acme"]["message"]
	case "deleteTemplate", "validateBinding", "renderTemplate", "updateTemplate":
		makes("TEMPLATE_ID", "createTemplate", `{"name": "For `+op+`", "subject": "{{param:reader}}", "content_html": "<p>{{param:reader}}</p>", "parameters_schema": [{"name": "reader", "type": "text"}]}`)
	case "deleteBlock":
		makes("BLOCK_ID", "createBlock", `{"name": "Old", "content_html": "<hr>"}`)
	case "deleteStage":
		makes("STAGE_ID", "createStage", `{"name": "Old", "category": "prospect"}`)
	case "deleteEmailType":
		makes("EMAIL_TYPE_ID", "createEmailType", `{"display_name": "Old"}`)
	case "deleteSendingDomain", "rotateSendingDomainKey":
		makes("SENDING_DOMAIN_ID", "createSendingDomain", `{"domain": "`+strings.ToLower(op)+`.example.net"}`)
	case "deleteSendingIdentity":
		makes("SENDING_IDENTITY_ID", "createSendingIdentity", `{"email_address": "old@acme.example.com", "display_name": "Old", "email_type_ids": ["{type}"]}`)
	case "deleteMtaConfig":
		makes("MTA_CONFIG_ID", "createMtaConfig", `{"name": "Old", "type": "sink"}`)
	case "activateSequence", "pauseSequence", "resumeSequence", "archiveSequence", "unarchiveSequence", "deleteSequence", "enrollContact", "exitEnrollment", "listEnrollmentSteps", "simulateSequence":
		more := ""
		if op == "simulateSequence" {
			more = `, "entry_trigger": {"trigger_type": "tag_added", "trigger_config": {"tag": "vip"}}`
		}
		q := makes("SEQUENCE_ID", "createSequence", `{"name": "For `+op+`"`+more+`}`)
		path := map[string]string{"id": q}
		s.runStep(t, "acme", step{op: "setSequenceGraph", path: path, body: `{"entry_node_id": "rest", "nodes": [{"id": "rest", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}}], "edges": []}`, status: 200})
		before := map[string][]string{
			"pauseSequence": {"activateSequence"}, "resumeSequence": {"activateSequence", "pauseSequence"}, "unarchiveSequence": {"archiveSequence"},
			"enrollContact": {"activateSequence"}, "exitEnrollment": {"activateSequence"}, "listEnrollmentSteps": {"activateSequence"},
		}
		for _, b := range before[op] {
			s.runStep(t, "acme", step{op: b, path: path, status: 200})
		}
		if op == "exitEnrollment" || op == "listEnrollmentSteps" {
			s.runStep(t, "acme", step{op: "enrollContact", path: path, body: `{"email": "` + strings.ToLower(op) + `@example.org"}`, status: 200, remember: "new", field: "enrollment_id"})
			vars["ENROLLMENT_ID"] = s.records["acme"]["new"]
		}
	case "testSequence":
		q := makes("SEQUENCE_ID", "createSequence", `{"name": "For `+op+`"}`)
		s.runStep(t, "acme", step{op: "setSequenceGraph", path: map[string]string{"id": q}, status: 200,
			body: `{"entry_node_id": "mail", "nodes": [{"id": "mail", "type": "send", "config": {"message_id": "{entry}", "email_type_key": "weekly", "mta_config_key": "sink"}}], "edges": []}`})
	case "setSequenceGraph":
		makes("SEQUENCE_ID", "createSequence", `{"name": "For `+op+`"}`)
	case "listAutomationRuns":
		s.runStep(t, "acme", step{op: "recordEvent", body: `{"event_name": "order", "contact_id": "{contact}", "properties": {"value": 12}}`, status: 202})
		s.carryOutAutomations(t)
	case "deleteAutomation":
		makes("AUTOMATION_ID", "createAutomation", `{"name": "Old", "trigger_type": "tag_added", "trigger_config": {"tag": "x"}, "actions": [{"type": "tag", "config": {"action": "add", "tags": ["y"]}}]}`)
	case "deleteWebhook":
		makes("WEBHOOK_ID", "createWebhook", `{"url": "https://example.com/old", "event_types": ["*"]}`)
	case "publishForm", "unpublishForm", "unarchiveForm", "deleteForm":
		makes("FORM_ID", "createForm", `{"name": "For `+op+`", "double_opt_in": false, "fields": [{"type": "contact", "binding": "email", "label": "Email", "required": true}]}`)
		if op == "unarchiveForm" || op == "deleteForm" {
			s.runStep(t, "acme", step{op: "archiveForm", path: map[string]string{"id": vars["FORM_ID"]}, status: 200})
		}
	case "undoImport":
		vars["JOB_ID"] = s.records["acme"]["imported"]
	case "cancelJob":
		vars["JOB_ID"] = s.records["acme"]["import"]
	case "joinTenant":
		third, err := tenant.Create(t.Context(), s.db, "third", "Third", "", s.now)
		if err != nil {
			t.Fatal(err)
		}
		inviter := auth.Principal{Tenant: third.ID, TenantSlug: third.Slug, Kind: auth.KindSession, Role: auth.Owner}
		_, link, err := auth.Invite(t.Context(), s.db, inviter, "owner@acme.example", auth.Viewer, false, s.now)
		token(link, err)
	case "acceptInvitation":
		s.runStep(t, "acme", step{op: "inviteMember", body: `{"email": "new@acme.example", "role": "viewer"}`, status: 201, remember: "new", field: "accept_url"})
		link := s.records["acme"]["new"]
		token(link[strings.LastIndexAny(link, "=/#")+1:], nil)
	case "resetPassword", "checkLink":
		token(auth.ResetToken(t.Context(), s.db, id.Read[id.User](s.records["acme"]["user_editor"]), s.now))
	case "logInByLink":
		token(auth.LoginLinkToken(t.Context(), s.db, id.Read[id.User](s.records["acme"]["user_editor"]), s.now))
	case "signUp":
		s.api.Login.SignupEnabled = true
		vars["TOKEN"] = "none"
	case "endOwnSession":
		s.send(t, testRequest{op: s.ops["logIn"], body: fmt.Sprintf(`{"email": "owner@acme.example", "password": %q}`, testPassword)})
		a := s.send(t, testRequest{op: s.ops["listOwnSessions"], caller: s.records["acme"]["owner"]})
		for _, row := range a.body["data"].([]any) {
			if one := row.(map[string]any); one["current"] == false {
				vars["SESSION_ID"], _ = one["id"].(string)
			}
		}
	case "logOut":
		a := s.send(t, testRequest{op: s.ops["logIn"], body: fmt.Sprintf(`{"email": "owner@acme.example", "password": %q}`, testPassword)})
		for _, c := range a.Result().Cookies() {
			vars["COOKIE"] = c.Value
		}
	}
}

// carryOutAutomations starts the runs of automations and carries them out.
func (s *conformance) carryOutAutomations(t testing.TB) {
	t.Helper()
	now, log := func() time.Time { return s.now }, slog.New(slog.DiscardHandler)
	e := &journal.Engine{DB: s.db, Log: log, Followers: []journal.Follower{automation.Follower(now)}}
	if err := e.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := (&flow.Automations{DB: s.db, Now: now, Log: log}).Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Each example succeeds for a tenant with the records that it names, its answer matches the
// document, and the answer in the document has the same shape. -update records the answers.
func TestExamplesCanBeSentAsTheyStand(t *testing.T) {
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		before := s.checksums(t, "other")
		all := examples(t, s.ops)
		parseExamples(t, all)
		recorded := map[string]any{}
		record := recorder{ids: map[string]string{}}
		for n, e := range all {
			name := e.op.OperationID
			if e.op.method != "GET" && e.op.RequestBody != nil && e.op.RequestBody.Value.Required && !strings.Contains(e.command, "-d ") && !strings.Contains(e.command, "-F ") {
				t.Errorf("%s: the example has no body", name)
			}
			vars := s.exampleVariables()
			s.prepareExample(t, name, vars)
			r := e.request(t, vars)
			r.RemoteAddr = fmt.Sprintf("10.9.%d.%d:1", n>>8, n&255)
			w := httptest.NewRecorder()
			s.router.ServeHTTP(w, r)
			if w.Code > 299 {
				t.Errorf("%s = %d %.500s\n%s", name, w.Code, w.Body, e.command)
				continue
			}
			if e.schema == nil {
				continue
			}
			var got any
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			recorded[name] = record.normalize(got)
			if err := e.schema.VisitJSON(got, openapi3.MultiErrors()); mismatches(err) {
				t.Errorf("%s: the answer does not match its schema: %v", name, err)
			}
			if *update {
				continue
			}
			if e.answer == nil {
				t.Errorf("%s: the document has no answer; record it with -update", name)
				continue
			}
			if err := e.schema.VisitJSON(e.answer, openapi3.MultiErrors()); mismatches(err) {
				t.Errorf("%s: the answer in the document does not match its schema: %v", name, err)
			}
			if diff := shapeDiff("", recorded[name], e.answer); diff != "" {
				t.Errorf("%s: the answer in the document has another shape than the answer (record it with -update): %s", name, diff)
			}
		}
		s.checkUnchanged(t, "other", before)
		if *update && db.Dialect() == sqldb.SQLite && !t.Failed() {
			text, err := json.MarshalIndent(recorded, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile("answers.json", append(text, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// shapeDiff returns the first difference in shape between two values, or an empty text.
func shapeDiff(at string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return at + " is an object"
		}
		for name := range maps.Keys(b) {
			if _, ok := a[name]; !ok {
				return at + "." + name + " is gone"
			}
		}
		for _, name := range slices.Sorted(maps.Keys(a)) {
			other, ok := b[name]
			if !ok {
				return at + "." + name + " is new"
			}
			if diff := shapeDiff(at+"."+name, a[name], other); diff != "" {
				return diff
			}
		}
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) > 0 && len(b) == 0 {
			return at + " is a list with elements"
		}
		for i := range min(len(a), len(b)) {
			if diff := shapeDiff(fmt.Sprintf("%s[%d]", at, i), a[i], b[i]); diff != "" {
				return diff
			}
		}
	default:
		if x, y := fmt.Sprintf("%T", a), fmt.Sprintf("%T", b); x != y {
			return fmt.Sprintf("%s is %s, was %s", at, x, y)
		}
	}
	return ""
}

// recorder makes answers reproducible and short, and replaces secrets.
type recorder struct{ ids map[string]string }

var (
	uuids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	secrets = []struct {
		find *regexp.Regexp
		with string
	}{
		{regexp.MustCompile(`/_q/hooks/mta/[\w-]{40,}`), "/_q/hooks/mta/AQAAAAEBkwAAAABwAIAAAAAAAAABZXhhbXBsZSBvbmx5IQ"},
		{regexp.MustCompile(`pbk_[a-z0-9]{12}_\w{43}`), "pbk_8fk2m9qwz1xa_5mok58SjsPPW78KNCr79ptjaSwyUttYhu8pvPJce5Iw"},
		{regexp.MustCompile(`pbk_[a-z0-9]{12}\b`), "pbk_8fk2m9qwz1xa"},
		{regexp.MustCompile(`pk_\w{16,}`), "pk_3f9a1c7be2d84f60"},
		{regexp.MustCompile(`p=MII[\w+/=]+`), "p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A…"},
		{regexp.MustCompile(`[\w.-]{60,}`), "Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCBzZWNyZXQ"},
		{regexp.MustCompile(`(/_q/f/|data-packetboat-form="|pb-)[0-9a-z]{12}\b`), "${1}k3v9x2m7qa4t"},
		{regexp.MustCompile(`(token=|#)[\w-]{30,}`), "${1}Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCBzZWNyZXQ"},
	}
)

func (r recorder) normalize(v any) any {
	switch v := v.(type) {
	case map[string]any:
		o := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			o[uuids.ReplaceAllString(name, "01930000-0000-7000-8000-000000000000")] = r.normalize(v[name])
		}
		if s, ok := o["secret"].(string); ok && len(s) > 20 {
			o["secret"] = "Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCBzZWNyZXQ"
		}
		if s, ok := o["slug"].(string); ok && o["submit_label"] != nil || o["script_tag"] != nil && s != "" {
			o["slug"] = "k3v9x2m7qa4t"
		}
		return o
	case []any:
		list := []any{}
		for _, e := range v[:min(len(v), 2)] {
			list = append(list, r.normalize(e))
		}
		return list
	case string:
		for _, s := range secrets {
			v = s.find.ReplaceAllString(v, s.with)
		}
		return uuids.ReplaceAllStringFunc(v, func(id string) string {
			if r.ids[id] == "" {
				r.ids[id] = fmt.Sprintf("01930000-0000-7000-8000-%012x", len(r.ids)+1)
			}
			return r.ids[id]
		})
	}
	return v
}
