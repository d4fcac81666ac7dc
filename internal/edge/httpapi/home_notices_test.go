package httpapi_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// noticed is a notice of an overview.
type noticed struct{ severity, typ, message, since string }

// notices returns the notices that a role sees, by kind and record.
func (s *conformance) notices(t *testing.T, role auth.Role) map[string]noticed {
	t.Helper()
	x := s.requestFor("acme", step{op: "getOverview"})
	x.caller = s.cookies[role]
	a := s.send(t, x)
	s.checkResponse(t, x, a)
	found := map[string]noticed{}
	list, _ := a.body["attention"].([]any)
	for _, one := range list {
		n := one.(map[string]any)
		text := func(name string) string { v, _ := n[name].(string); return v }
		found[text("kind")+" "+text("target_id")] = noticed{text("severity"), text("target_type"), text("message"), text("since")}
	}
	return found
}

// Each kind of record that needs attention has a notice with the record, and the time where it is known. What
// is old, or a user's doing, has none.
func TestNoticesOfAnOverview(t *testing.T) {
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		in, err := tenant.BySlug(t.Context(), db, "acme")
		if err != nil {
			t.Fatal(err)
		}
		made := func(op, body string) string {
			t.Helper()
			x := s.requestFor("acme", step{op: op, body: body})
			x.caller = s.cookies[auth.Owner]
			a := s.send(t, x)
			if a.Code >= 300 {
				t.Fatalf("%s = %d %s", op, a.Code, a.Body)
			}
			for _, name := range []string{"id", "job_id"} {
				if id, ok := a.body[name].(string); ok {
					return id
				}
			}
			return ""
		}
		call := func(op, id, body string) {
			t.Helper()
			x := s.requestFor("acme", step{op: op, path: map[string]string{"id": id}, body: body})
			x.caller = s.cookies[auth.Owner]
			if a := s.send(t, x); a.Code >= 300 {
				t.Fatalf("%s = %d %s", op, a.Code, a.Body)
			}
		}
		exec := func(text string, args ...any) {
			t.Helper()
			if n, err := db.Exec(t.Context(), text, append([]any{in.ID}, args...)...); err != nil || n == 0 {
				t.Fatalf("%s: %d rows, %v", text, n, err)
			}
		}
		rec := s.records["acme"]
		mail := func(name string) string {
			return `{"name": "` + name + `", "content": {"subject": "Hi", "body_html": "<p>Hi</p>"}}`
		}
		made("updateAccount", `{"default_email_type_id": "`+rec["type"]+`", "default_mta_config_id": "`+rec["lane"]+`", "default_sending_identity_id": "`+rec["identity"]+`"}`)
		form := made("createForm", `{"name": "Confirmed", "double_opt_in": true, "fields": [{"type": "contact", "binding": "email", "label": "Email", "required": true}]}`)
		call("publishForm", form, "")
		sequence := made("createSequence", `{"name": "Course"}`)
		call("setSequenceGraph", sequence, `{"entry_node_id": "mail", "nodes": [{"id": "mail", "type": "send", "config": {"message_id": "`+rec["entry"]+`", "email_type_key": "weekly"}}], "edges": []}`)
		call("activateSequence", sequence, "")
		lane := made("createMtaConfig", `{"name": "Second", "type": "sink"}`)
		jobs, old := made("exportContacts", `{"format": "csv"}`), made("exportContacts", `{"format": "csv"}`)
		stopped, mine := made("createBroadcast", mail("Stopped")), made("createBroadcast", mail("Mine"))
		failed, longAgo := made("createBroadcast", mail("Failed")), made("createBroadcast", mail("Long ago"))
		before := s.notices(t, auth.Viewer)
		for _, id := range []string{form, sequence, lane, jobs, stopped, failed} {
			if slices.ContainsFunc(slices.Collect(maps.Keys(before)), func(k string) bool { return strings.HasSuffix(k, id) }) {
				t.Errorf("before anything happens there are %v", before)
			}
		}
		hour, week := s.now.Add(-time.Hour), s.now.Add(-8*24*time.Hour)
		stamp := hour.Format("2006-01-02T15:04:05.000Z")
		exec(`UPDATE job SET status = 'failed', finished_at = $2, error = '{"code": "X", "message": "the disk is full"}' WHERE tenant_id = $1 AND id = `+literal(db, jobs), hour.UnixMicro())
		exec(`UPDATE job SET status = 'failed', finished_at = $2 WHERE tenant_id = $1 AND id = `+literal(db, old), week.UnixMicro())
		exec(`UPDATE broadcast SET status = 'paused', pause_reason = 'capacity_collapsed' WHERE tenant_id = $1 AND id = ` + literal(db, stopped))
		exec(`UPDATE broadcast SET status = 'paused', pause_reason = 'user' WHERE tenant_id = $1 AND id = ` + literal(db, mine))
		exec(`UPDATE broadcast SET status = 'failed', failure = $2 WHERE tenant_id = $1 AND id = `+literal(db, failed), `{"code": "ALL_FAILED", "message": "all messages failed", "at": "`+stamp+`"}`)
		exec(`UPDATE broadcast SET status = 'failed', failure = $2 WHERE tenant_id = $1 AND id = `+literal(db, longAgo), `{"code": "ALL_FAILED", "message": "x", "at": "`+week.Format(time.RFC3339)+`"}`)
		exec(`UPDATE sending_identity SET active = false WHERE tenant_id = $1`)
		exec(`UPDATE webhook_endpoint SET active = false, disabled_reason = 'gone', last_failure_at = $2 WHERE tenant_id = $1`, hour.UnixMicro())
		exec(`UPDATE sending_domain SET failing_since = $2 WHERE tenant_id = $1 AND status = 'verified'`, hour.UnixMicro())
		exec(`INSERT INTO mta_health (tenant_id, mta_config_id, state, since, last_error) VALUES ($1, `+literal(db, lane)+`, 'down', $2, 'connection refused')`, hour.UnixMicro())
		got := s.notices(t, auth.Viewer)
		for key, want := range map[string]noticed{
			"job " + jobs:          {"warning", "job", "Export of contacts failed: the disk is full", stamp},
			"broadcast " + stopped: {"error", "broadcast", "Stopped is paused: no MTA config is up", ""},
			"broadcast " + failed:  {"error", "broadcast", "Failed failed: all messages failed", stamp},
			"form " + form:         {"error", "form", "no sender can send the confirmation mail of Confirmed", ""},
			"sequence " + sequence: {"error", "sequence", "", ""},
			"mta " + lane:          {"error", "mta_config", "Second is down: connection refused", stamp},
		} {
			n, ok := got[key]
			if strings.HasPrefix(key, "sequence") && strings.HasPrefix(n.message, "Course has a mail that cannot be sent: ") {
				n.message = ""
			}
			if !ok || n != want {
				t.Errorf("%s: %+v, want %+v", key, n, want)
			}
		}
		for _, id := range []string{old, mine, longAgo} {
			if n := got["job "+id]; n != (noticed{}) || got["broadcast "+id] != (noticed{}) {
				t.Errorf("%s: %+v %+v", id, n, got["broadcast "+id])
			}
		}
		if n := got["domain "+rec["domain"]]; n.severity != "warning" || n.typ != "domain" || n.since != stamp {
			t.Errorf("the domain: %+v", n)
		}
		if n := got["webhook "+rec["webhook"]]; n != (noticed{}) {
			t.Errorf("a viewer sees the webhook: %+v", n)
		}
		want := noticed{"error", "webhook", "https://hooks.example.com/acme was disabled: it answered 410", stamp}
		if n := s.notices(t, auth.Admin)["webhook "+rec["webhook"]]; n != want {
			t.Errorf("an admin sees %+v, want %+v", n, want)
		}
		exec(`UPDATE sending_identity SET active = true WHERE tenant_id = $1`)
		got = s.notices(t, auth.Viewer)
		if got["form "+form] != (noticed{}) || got["sequence "+sequence] != (noticed{}) {
			t.Errorf("with a sender, there are %+v and %+v", got["form "+form], got["sequence "+sequence])
		}
	})
}

// literal returns a UUID as a literal of the database.
func literal(db *sqldb.DB, id string) string {
	if db.Dialect() == sqldb.Postgres {
		return "'" + id + "'"
	}
	return "X'" + strings.ReplaceAll(id, "-", "") + "'"
}
