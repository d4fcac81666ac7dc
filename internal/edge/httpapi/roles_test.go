package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/engine/bulk"
)

// leastRole returns the role that an operation needs: viewers read all but API keys, webhooks
// and the audit log, editors write contacts and broadcasts, admins write settings, and owners delete the tenant.
func leastRole(op operation) auth.Role {
	path := strings.TrimPrefix(op.path, "/t/{tenant}/api/")
	resource, _, _ := strings.Cut(path, "/")
	switch {
	case op.OperationID == "deleteTenant", strings.HasSuffix(op.OperationID, "IdentitySecret"):
		return auth.Owner
	case op.OperationID == "anonymizeContact":
		return auth.Admin
	case strings.HasPrefix(path, "auth/api-keys"), strings.HasPrefix(path, "settings/webhooks"), resource == "audit-log":
		return auth.Admin
	case resource == "working-copies", resource == "assets":
		return auth.Editor
	case op.method == "GET", slices.Contains([]string{"searchContacts", "countContactsBySelector", "previewForm", "previewMail", "previewSend", "validateBinding", "renderTemplate", "rebaseMessagePreview", "previewSegment", "refreshSegmentCount", "simulateSequence"}, op.OperationID):
		return auth.Viewer
	case slices.Contains([]string{"contacts", "segments", "broadcasts", "suppressions", "saved-filters", "jobs", "templates", "blocks", "messages", "events", "forms", "seed-lists", "sequences", "automations"}, resource):
		return auth.Editor
	case slices.Contains([]string{"email-types", "email-categories", "sending-domains", "sending-identities", "mta-configs", "settings", "users"}, resource):
		return auth.Admin
	}
	return ""
}

// Each operation is allowed for its least role, and refused for lower roles before any other check.
func TestEachOperationNeedsItsRole(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newConformance(t, sqliteOnly(t))
	open := copyOpener(t, s.db)
	roles := []auth.Role{auth.Viewer, auth.Editor, auth.Admin, auth.Owner}
	for _, st := range slices.Concat(setupSteps, otherSteps) {
		op := s.ops[st.op]
		if !op.ofTenant() {
			continue
		}
		least := leastRole(op)
		if least == "" || op.role() != least {
			t.Errorf("%s: the least role is %q, want %q", st.op, op.role(), least)
			continue
		}
		at := slices.Index(roles, least)
		before := s.checksums(t, "acme")
		for _, role := range roles[:at] {
			x := s.requestFor("acme", st)
			x.name, x.caller = "as "+string(role), s.cookies[role]
			if a := s.send(t, x); a.Code != 403 || a.code() != "FORBIDDEN" {
				t.Errorf("%s as %s = %d %s, want 403", st.op, role, a.Code, a.Body)
			}
		}
		s.checkUnchanged(t, "acme", before)
		// Other operations write; they are called on a copy of the database below. Users have working copies of their own, and
		// nobody is enrolled yet.
		if op.method == "GET" && st.op != "getWorkingCopy" && st.op != "listEnrollmentSteps" {
			st.query = strings.Replace(st.query, "&copies=template/{template}", "", 1) // of getCollections: editors alone have working copies
			x := s.requestFor("acme", st)
			x.name, x.caller = "as "+string(least), s.cookies[least]
			if a := s.send(t, x); a.Code != st.status {
				t.Errorf("%s as %s = %d %s, want %d", st.op, least, a.Code, a.Body, st.status)
			}
		}
	}
	t.Run("least role", func(t *testing.T) {
		db, _ := open(t)
		s := s.withDatabase(t, db)
		for _, st := range otherSteps {
			op := s.ops[st.op]
			if !op.ofTenant() || op.method == "GET" || slices.Contains([]string{"removeMember", "updateMember", "updateSavedFilter", "deleteSavedFilter"}, st.op) {
				continue // the answer also depends on whose record it is
			}
			x := s.requestFor("acme", st)
			x.name, x.caller = "as the least role", s.cookies[leastRole(op)]
			if a := s.send(t, x); a.Code == 403 || a.Code == 401 {
				t.Errorf("%s as %s = %d %s", st.op, leastRole(op), a.Code, a.Body)
			}
		}
	})
}

// Two bulk actions need an admin, with ids and with a selector; the others need an editor. API keys
// cannot apply the two, nor end enrollments, whatever their scopes.
func TestBulkActionsNeedTheRoleOfTheSingleOperation(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newConformance(t, sqliteOnly(t))
	for _, action := range bulk.Actions() {
		least := auth.Editor
		if action == bulk.ResetStatus || action == bulk.Anonymize {
			least = auth.Admin
		}
		for _, target := range []string{`"contact_ids": ["{contact}"]`, `"selector": {"status": "active"}`} {
			st := step{op: "bulkContacts", body: `{"action": "` + string(action) + `", ` + target + `}`}
			for _, role := range auth.Roles() {
				if role.AtLeast(least) {
					continue
				}
				before := s.checksums(t, "acme")
				x := s.requestFor("acme", st)
				x.name, x.caller = "as "+string(role), s.cookies[role]
				if a := s.send(t, x); a.Code != 403 || a.code() != "FORBIDDEN" {
					t.Errorf("%s as %s = %d %s, want 403", st.body, role, a.Code, a.Body)
				}
				s.checkUnchanged(t, "acme", before)
			}
			x := s.requestFor("acme", st)
			x.name, x.caller = "with a key", s.keys["acme"]
			if a := s.send(t, x); (a.code() == "ACTION_NOT_AVAILABLE") != (least == auth.Admin || action == bulk.ExitSequence) {
				t.Errorf("%s with a key = %d %s", st.body, a.Code, a.Body)
			}
		}
	}
	for _, action := range []string{"reset_status", "anonymize"} { // allowed for admins
		for _, target := range []string{`"contact_ids": ["{contact}"]`, `"selector": {"status": "active"}`} {
			x := s.requestFor("acme", step{op: "bulkContacts", body: `{"action": "` + action + `", ` + target + `}`})
			x.name, x.caller = "as admin", s.cookies[auth.Admin]
			if a := s.send(t, x); a.Code != 200 && a.Code != 202 {
				t.Errorf("%s %s as admin = %d %s", action, target, a.Code, a.Body)
			}
		}
	}
}

// Admins change members, but only owners change owners.
func TestAdminsCannotChangeOwners(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newConformance(t, sqliteOnly(t))
	owner := map[string]string{"id": "{user_owner}"}
	for _, st := range []step{
		{op: "updateMember", path: owner, body: `{"role": "viewer"}`},
		{op: "updateMember", path: owner, body: `{"status": "disabled"}`},
		{op: "updateMember", path: map[string]string{"id": "{user_admin}"}, body: `{"role": "owner"}`},
		{op: "updateMember", path: map[string]string{"id": "{user_editor}"}, body: `{"role": "owner"}`},
		{op: "removeMember", path: owner},
		{op: "inviteMember", body: `{"email": "new@acme.example", "role": "owner"}`},
	} {
		before := s.checksums(t, "acme")
		x := s.requestFor("acme", st)
		x.name, x.caller = "as admin", s.cookies[auth.Admin]
		a := s.send(t, x)
		s.checkResponse(t, x, a)
		if a.Code != 403 {
			t.Errorf("%s %s as admin = %d %s, want 403", st.op, st.body, a.Code, a.Body)
		}
		s.checkUnchanged(t, "acme", before)
	}
	last := s.requestFor("acme", step{op: "removeMember", path: owner})
	if a := s.send(t, last); a.Code != 409 || a.code() != "IN_USE" {
		t.Errorf("removing the last owner: %d %s, want 409 IN_USE", a.Code, a.Body)
	}
}
