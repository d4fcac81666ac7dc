package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/engine/bulk"
)

// effect is something that an operation does on request besides what its own scope is for, and the
// operation that does it alone.
type effect struct {
	name, operation string
	scope           auth.Scope // of the operation
	what, body      string     // a request for the effect; $CONTACT is a new contact
	direct, body2   string     // a request to the operation that has the effect alone; empty: sessions only
	field           string     // of the answer, which is left out instead of refusing; empty: refused
}

// refusedScopes returns the scopes that a refusal names; nil if the request was not refused for its key.
func (r response) refusedScopes() []string {
	e, _ := r.body["error"].(map[string]any)
	details, _ := e["details"].(map[string]any)
	list, _ := details["scopes"].([]any)
	var names []string
	for _, v := range list {
		names = append(names, fmt.Sprint(v))
	}
	return names
}

// TestEffectsNeedTheScopeOfTheOperationThatHasThemAlone compares every bulk action, every option of imports and
// every other effect of an operation on records of another kind with the operation for that kind.
func TestEffectsNeedTheScopeOfTheOperationThatHasThemAlone(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /segments", `{"name": "List", "type": "static"}`)
		seq := "/sequences/" + s.must(201, "editor", "POST /sequences", `{"name": "Welcome"}`).str("id")
		s.must(200, "editor", "PUT "+seq+"/graph", `{"entry_node_id": "a", "nodes": [{"id": "a", "type": "tag", "config": {"action": "add", "tags": ["in"]}}], "edges": []}`)
		s.must(200, "editor", "POST "+seq+"/activate", "")
		contacts := 0
		fresh := func() string {
			contacts++
			return s.must(201, "key", "POST /contacts", fmt.Sprintf(`{"email": "c%d@example.org"}`, contacts)).str("id")
		}
		update := func(body string) [2]string { return [2]string{"PATCH /contacts/$CONTACT", body} }
		members := func(path string) [2]string {
			return [2]string{"POST /segments/list/members" + path, `{"contact_ids": ["$CONTACT"]}`}
		}
		sequence := strings.TrimPrefix(seq, "/sequences/")
		actions := map[bulk.Action]struct {
			params string
			direct [2]string
		}{
			bulk.AddTags:         {`{"tags": ["x"]}`, update(`{"tags": ["x"]}`)},
			bulk.RemoveTags:      {`{"tags": ["x"]}`, update(`{"tags": []}`)},
			bulk.SetStage:        {`{"stage_id": null}`, update(`{"stage_id": null}`)},
			bulk.SetField:        {`{"field": "city", "value": "Bonn"}`, update(`{"city": "Bonn"}`)},
			bulk.SetDoNotContact: {`{"value": true}`, update(`{"do_not_contact": true}`)},
			bulk.Subscribe:       {`{"email_type_key": "news"}`, update(`{"subscriptions": {"news": true}}`)},
			bulk.Unsubscribe:     {`{"email_type_key": "news"}`, update(`{"subscriptions": {"news": false}}`)},
			bulk.AddToList:       {`{"segment_key": "list"}`, members("")},
			bulk.RemoveFromList:  {`{"segment_key": "list"}`, members("/remove")},
			bulk.Suppress:        {`{}`, [2]string{"POST /suppressions/bulk", `{"contact_ids": ["$CONTACT"]}`}},
			bulk.Enroll:          {`{"sequence_id": "` + sequence + `"}`, [2]string{"POST " + seq + "/enroll", `{"contact_id": "$CONTACT"}`}},
			bulk.ExitSequence:    {`{"sequence_id": "` + sequence + `"}`, [2]string{"POST " + seq + "/enrollments/" + unknownID + "/exit", ""}},
			bulk.Delete:          {`{}`, [2]string{"DELETE /contacts/$CONTACT", ""}},
			bulk.Restore:         {`{}`, [2]string{"POST /contacts/$CONTACT/restore", ""}},
			bulk.ResetStatus:     {`{}`, [2]string{}},
			bulk.Anonymize:       {`{}`, [2]string{"POST /contacts/$CONTACT/anonymize", ""}},
		}
		list := []effect{
			{"a sample of contacts", "previewSegment", auth.SegmentsRead, "POST /segments/preview", `{"definition": ` + germans + `}`, "GET /contacts", "", "sample"},
		}
		for what, direct := range map[string][2]string{"unsubscription": {"POST /contacts/bulk", `{"action": "unsubscribe", "contact_ids": ["$CONTACT"]}`}, "deletion": {"DELETE /contacts/$CONTACT", ""}} {
			list = append(list, effect{"the " + what + " in a file", "importContacts", auth.ContactsWrite, "import", `{"mapping": {"state of things": "global_status"}}`, direct[0], direct[1], ""})
		}
		for _, a := range bulk.Actions() {
			c, known := actions[a]
			if !known {
				t.Errorf("the action %s is not compared", a)
			}
			for _, target := range []string{`"contact_ids": ["$CONTACT"]`, `"selector": {"search": "nobody"}`} {
				list = append(list, effect{string(a) + " " + target, "bulkContacts", auth.ContactsWrite, "POST /contacts/bulk",
					fmt.Sprintf(`{"action": %q, "params": %s, %s}`, a, c.params, target), c.direct[0], c.direct[1], ""})
			}
		}
		options := map[string]struct {
			value  string
			direct [2]string
		}{
			"mapping": {`{}`, update(`{}`)}, "mode": {`"create"`, update(`{}`)}, "tags": {`["x"]`, update(`{"tags": ["x"]}`)}, "subscriptions": {`{"news": true}`, update(`{"subscriptions": {"news": true}}`)},
			"update_blank": {`true`, update(`{"city": null}`)}, "dry_run": {`true`, update(`{}`)}, "forms": {`{}`, update(`{}`)}, "sheet": {`null`, update(`{}`)}, "file_id": {`null`, update(`{}`)}, "strict": {`true`, update(`{}`)}, "remembered": {`true`, update(`{}`)}, "encoding": {`"utf-8"`, update(`{}`)}, "separator": {`","`, update(`{}`)}, "quote": {`"'"`, update(`{}`)}, "segment_key": {`"list"`, members("")},
		}
		var doc struct {
			Paths      map[string]map[string]json.RawMessage `json:"paths"`
			Components struct {
				Schemas map[string]struct {
					Properties map[string]any `json:"properties"`
				} `json:"schemas"`
			} `json:"components"`
		}
		if err := json.Unmarshal(fetchDocument(t, s.router, "/api/openapi.json"), &doc); err != nil {
			t.Fatal(err)
		}
		for name := range doc.Components.Schemas["ImportOptions"].Properties {
			c, known := options[name]
			if !known {
				t.Errorf("the option %s of imports is not compared", name)
			}
			list = append(list, effect{"the option " + name, "importContacts", auth.ContactsWrite, "import", fmt.Sprintf(`{%q: %s}`, name, c.value), c.direct[0], c.direct[1], ""})
		}

		call := func(caller, what, body string) response {
			one := fresh()
			body, what = strings.ReplaceAll(body, "$CONTACT", one), strings.ReplaceAll(what, "$CONTACT", one)
			if what != "import" {
				return s.call(caller, what, body)
			}
			var r response
			r.status, r.body = s.importFile(caller, "email,state of things\nann@example.org,suppressed\n", body)
			return r
		}
		for _, e := range list {
			own := "key " + string(e.scope)
			var needed []string
			session := e.direct == ""
			if !session {
				direct := call(own, e.direct, e.body2)
				needed, session = direct.refusedScopes(), direct.code == "API_KEY_FORBIDDEN"
			}
			got := call(own, e.what, e.body)
			switch refused := got.refusedScopes(); {
			case session:
				for _, caller := range []string{own, "key"} {
					if r := call(caller, e.what, e.body); r.status != http.StatusForbidden || r.code != "ACTION_NOT_AVAILABLE" {
						t.Errorf("%s: %s has %d %s, want ACTION_NOT_AVAILABLE", e.name, caller, r.status, r.text)
					}
				}
			case e.field != "":
				more := call(own+" "+strings.Join(needed, " "), e.what, e.body)
				if _, shown := got.body[e.field]; shown || got.status != http.StatusOK || more.body[e.field] == nil || needed == nil {
					t.Errorf("%s: %s has %s, and with %v %s", e.name, own, got.text, needed, more.text)
				}
			case needed == nil:
				if got.status == http.StatusForbidden {
					t.Errorf("%s: %s has %d %s, the operation for it is open to this key", e.name, own, got.status, got.text)
				}
			case len(refused) != 1 || got.status != http.StatusForbidden || !slices.Contains(needed, refused[0]):
				t.Errorf("%s: %s has %d %s, want one of %v required as by %s", e.name, own, got.status, got.text, needed, e.direct)
			default:
				if r := call("key "+refused[0], e.direct, e.body2); r.status == http.StatusForbidden {
					t.Errorf("%s needs %v, with which %s has %d %s", e.name, refused, e.direct, r.status, r.text)
				}
				if r := call(own+" "+refused[0], e.what, e.body); r.status == http.StatusForbidden {
					t.Errorf("%s: with %v it has %d %s", e.name, refused, r.status, r.text)
				}
				if r := call("key "+refused[0], e.what, e.body); r.status != http.StatusForbidden {
					t.Errorf("%s: without %s it has %d %s", e.name, e.scope, r.status, r.text)
				}
			}
			if r := call("editor", e.what, e.body); r.status == http.StatusForbidden && !session {
				t.Errorf("%s: an editor has %d %s", e.name, r.status, r.text)
			}
		}

		// What an operation is for, and what its scope says.
		compared := map[string]bool{}
		for _, e := range list {
			compared[e.operation] = true
		}
		for o := range strings.FieldsSeq(`createBroadcast bulkArchiveBroadcasts deleteBroadcast updateBroadcast archiveBroadcast cancelBroadcast cloneBroadcast
			pauseBroadcast rescheduleBroadcast resumeBroadcast scheduleBroadcast unarchiveBroadcast unscheduleBroadcast createContact upsertContact exportContacts
			searchContacts deleteContact patchContact updateContact restoreContact cancelJob undoImport createMessage deleteMessage updateMessage archiveMessage duplicateMessage
			rebaseMessagePreview replaceSeeds changeSeeds createSegment deleteSegment updateSegment addSegmentMembers removeSegmentMembers removeSegmentMember
			refreshSegmentCount removeSuppression createTemplate deleteTemplate updateTemplate renderTemplate validateBinding addSuppression importSuppressions`) {
			compared[o] = true
		}
		described := map[string]struct {
			scope auth.Scope
			words string
		}{
			"recordEvent": {auth.EventsWrite, "create contacts"}, "recordEvents": {auth.EventsWrite, "create contacts"}, "enrollContact": {auth.SequencesEnroll, "creating them and changing their fields"},
			"suppressContacts": {auth.SuppressionWrite, "unsubscribes their contacts"}, "testSendBroadcast": {auth.BroadcastsSchedule, "with the data of a contact"}, "createSegmentFromBroadcast": {auth.SegmentsWrite, "from a broadcast"},
		}
		for _, operations := range doc.Paths {
			for method, raw := range operations {
				var op struct {
					ID string `json:"operationId"`
				}
				if method == "get" || json.Unmarshal(raw, &op) != nil || compared[op.ID] {
					continue
				}
				d, ok := described[op.ID]
				if !ok {
					t.Errorf("the effects of %s are not compared: add them, or add it to the operations that have none of another kind", op.ID)
				}
				for _, i := range auth.Scopes() {
					if i.Scope == d.scope && !strings.Contains(i.Description, d.words) {
						t.Errorf("the scope of %s does not say %q: %s", op.ID, d.words, i.Description)
					}
				}
			}
		}
	})
}
