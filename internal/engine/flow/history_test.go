package flow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// history returns the visits of a contact's latest enrollment, as "node type label: code reason".
func (f *fixture) history(s sequence.Sequence, c id.Contact) (lines []string, h sequence.History) {
	f.Helper()
	list, err := sequence.OfContact(f.Context(), f.DB, f.Tenant, c)
	f.must(err)
	h, err = sequence.LoadHistory(f.Context(), f.DB, f.Tenant, s.ID, list[0].ID, 0, 1000)
	f.must(err)
	for i, v := range h.Visits {
		line := v.Node
		if v.Label != "" {
			line += " " + v.Label
		}
		line += ": " + strings.TrimSpace(string(v.Why.Code)+" "+v.Why.Reason)
		if v.Changed {
			line += ", changed"
		}
		lines = append(lines, line)
		if v.Number != h.Omitted+i+1 || i > 0 && (h.Visits[i-1].Left == nil || !h.Visits[i-1].Left.Equal(v.At) || h.Visits[i-1].Next != v.Node) {
			f.Errorf("visit %d does not follow the one before: %+v", i, v)
		}
	}
	return lines, h
}

func (f *fixture) wantHistory(s sequence.Sequence, c id.Contact, want ...string) sequence.History {
	f.Helper()
	got, h := f.history(s, c)
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("the steps (-want +got)\n%s", diff)
	}
	return h
}

// TestEveryStepIsLogged leads contacts through every type of node.
func TestEveryStepIsLogged(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		list := f.AddList("Very important")
		people := f.AddContacts(f.List.ID, "c", 4)
		other := f.start(graph("n", []sequence.Node{node("n", sequence.TagNode, object{"action": "add", "tags": []string{"other"}})}), sequence.Change{})
		rules, err := sender.ContactRules(t.Context(), db, f.Tenant)
		f.must(err)
		_, err = contact.Update(t.Context(), db, f.Tenant, people[1].ID, contact.Change{Subscriptions: map[string]*bool{f.Type.Key: new(false)}}, rules, f.now)
		f.must(err)
		paid := object{"logic": "and", "conditions": []any{object{"type": "trigger_event", "property": "plan", "operator": "equals", "value": "pro"}}}
		nodes := []sequence.Node{
			node("mail", sequence.SendNode, object{"message_id": f.entry.ID, "email_type_key": f.Type.Key}),
			node("later", sequence.SendNode, object{"message_id": f.entry.ID, "email_type_key": f.Type.Key,
				"send_window": object{"days": []int{1, 2, 3, 4, 5, 6, 7}, "start": "23:58", "end": "23:59", "timezone": "account"}}),
			node("rest", sequence.WaitNode, object{"mode": "duration", "amount": 2, "unit": "hour"}),
			node("event", sequence.WaitNode, object{"mode": "until_event", "event_name": "x", "timeout": object{"amount": 1, "unit": "hour"}}),
			node("inside", sequence.WaitNode, object{"mode": "until_segment", "segment_key": f.List.Key, "state": "in", "timeout": object{"amount": 1, "unit": "hour"}}),
			node("paid", sequence.ConditionNode, object{"definition": paid}),
			node("choose", sequence.BranchNode, object{"branches": []any{object{"label": "a payer", "definition": paid}}}),
			node("split", sequence.SplitNode, object{"branches": []any{object{"label": "left", "weight": 1}, object{"label": "right", "weight": 1}}}),
			node("join", sequence.ListNode, object{"action": "add", "segment_key": list.Key}),
			node("tag", sequence.TagNode, object{"action": "add", "tags": []string{"pro"}}),
			node("name", sequence.UpdateNode, object{"fields": object{"company": "Acme"}}),
			node("record", sequence.EventNode, object{"event_name": "welcomed"}),
			node("call", sequence.WebhookNode, object{"url": "https://example.com/hook"}),
			node("badcall", sequence.WebhookNode, object{"url": "https://example.com/hook", "body": `{"a": {% if true %}x{% endif %} }`}),
			node("subscribe", sequence.SubscriptionNode, object{"action": "subscribe", "email_type_key": f.Type.Key}),
			node("enroll", sequence.EnrollNode, object{"sequence_id": other.ID}),
			node("goal", sequence.GoalNode, object{"definition": field("tags", "has_any", []string{"won"})}),
			node("out", sequence.ExitNode, object{}),
		}
		var edges [][3]string
		for i := range nodes[:len(nodes)-1] {
			labels := []string{""}
			switch nodes[i].ID {
			case "event", "inside":
				labels = []string{"met", "timeout"}
			case "paid":
				labels = []string{"true", "false"}
			case "choose":
				labels = []string{"a payer", "else"}
			case "split":
				labels = []string{"left", "right"}
			}
			for _, l := range labels {
				edges = append(edges, [3]string{nodes[i].ID, l, nodes[i+1].ID})
			}
		}
		s := f.start(graph("mail", nodes, edges...), sequence.Change{})
		f.enroll(other, nil, people[0].ID)
		f.enroll(s, object{"properties": object{"plan": "pro"}}, people[0].ID)
		f.enroll(s, nil, people[1].ID, people[2].ID)
		f.wantHistory(s, people[0].ID, "mail: pending")
		f.tick()
		began := f.now
		h := f.wantHistory(s, people[0].ID, "mail: mail_queued", "later: mail_queued", "rest: waiting")
		if v := h.Visits[0]; v.Message.IsZero() || v.Type != sequence.SendNode || v.Why.Until != nil || v.Left == nil {
			t.Errorf("the first mail is %+v", v)
		}
		if v := h.Visits[1]; v.Message.IsZero() || v.Message == h.Visits[0].Message || v.Why.Until == nil || !v.Why.Until.After(f.now) {
			t.Errorf("the mail in the window is %+v", v)
		}
		if v := h.Visits[2]; v.Left != nil || v.Why.Until == nil || !v.Why.Until.Equal(began.Add(2*time.Hour)) {
			t.Errorf("the wait is %+v", v)
		}
		f.wantHistory(s, people[1].ID, "mail: mail_refused unsubscribed_type", "later: mail_refused unsubscribed_type", "rest: waiting")
		_, err = sequence.Pause(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		f.wantHistory(s, people[0].ID, "mail: mail_queued", "later: mail_queued", "rest: paused")
		_, err = sequence.Resume(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		f.after(2 * time.Hour)
		f.exit(s, people[2].ID)
		_, err = contact.Update(t.Context(), db, f.Tenant, people[1].ID, contact.Change{Tags: &[]string{"won"}}, contact.Rules{}, f.now)
		f.must(err)
		f.after(time.Hour)
		way := "left"
		program := sequence.Compile(s, f.env())
		if step, ok := program.Step("split").(sequence.SplitStep); ok {
			way = program.Way("split", step, people[0].ID)
		}
		h = f.wantHistory(s, people[0].ID, "mail: mail_queued", "later: mail_queued", "rest: waited", "event timeout: timed_out", "inside met: met",
			"paid true: condition_met", "choose a payer: condition_met", "split "+way+": split", "join: carried_out", "tag: carried_out", "name: carried_out",
			"record: carried_out", "call: carried_out", "badcall: not_carried_out invalid_body", "subscribe: carried_out", "enroll: not_carried_out duplicate",
			"goal: goal_not_met", "out: exited exit_node")
		for i, v := range h.Visits {
			if v.Node != nodes[i].ID || v.Type != nodes[i].Type {
				t.Errorf("visit %d is of node %s of type %s", i, v.Node, v.Type)
			}
		}
		if d := string(h.Visits[5].Definition); !strings.Contains(d, "plan") || string(h.Visits[6].Definition) != d || h.Visits[0].Definition != nil {
			t.Errorf("the rules are %s, %s and %s", h.Visits[5].Definition, h.Visits[6].Definition, h.Visits[0].Definition)
		}
		if r := h.Visits[12].Request; r == nil || r.Status != "pending" || r.ResponseCode != nil {
			t.Errorf("the request is %+v", r)
		}
		f.wantHistory(s, people[2].ID, "mail: mail_queued", "later: mail_queued", "rest: waited", "event: exited manual")
		f.wantHistory(s, people[1].ID, "mail: mail_refused unsubscribed_type", "later: mail_refused unsubscribed_type", "rest: waited", "event: goal_reached", "goal: goal_met", "out: exited goal_reached")

		// The log says what was, also when the graph is another one.
		_, err = sequence.Pause(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		_, err = sequence.SetGraph(t.Context(), db, f.Tenant, s.ID, graph("mail", []sequence.Node{nodes[0], node("rest", sequence.ConditionNode, object{"definition": paid})}, [3]string{"mail", "", "rest"}), false, f.now)
		f.must(err)
		h = f.wantHistory(s, people[2].ID, "mail: mail_queued", "later: mail_queued, changed", "rest: waited, changed", "event: exited manual, changed")
		if h.Visits[2].Type != sequence.WaitNode || h.Visits[2].Definition != nil {
			t.Errorf("the changed node is %+v", h.Visits[2])
		}
	})
}

// A loop is logged up to a bound, and what is not kept is counted.
func TestTheLogOfALoopIsBounded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "c", 1)
		var nodes []sequence.Node
		var edges [][3]string
		for i := range 4 {
			nodes = append(nodes, node(fmt.Sprintf("tag_%d", i), sequence.TagNode, object{"action": "add", "tags": []string{"t"}}))
			edges = append(edges, [3]string{fmt.Sprintf("tag_%d", i), "", fmt.Sprintf("tag_%d", i+1)})
		}
		edges[3][2] = "rest"
		nodes = append(nodes, node("rest", sequence.WaitNode, object{"mode": "duration", "amount": 1, "unit": "minute"}))
		edges = append(edges, [3]string{"rest", "", "tag_0"})
		s := f.start(graph("tag_0", nodes, edges...), sequence.Change{})
		f.enroll(s, nil, people[0].ID)
		f.tick()
		for range 120 {
			f.after(time.Minute)
		}
		lines, h := f.history(s, people[0].ID)
		if total := len(h.Visits) + h.Omitted; total != 500 || h.Omitted == 0 || len(h.Visits) < 200 || len(h.Visits) > 500 {
			t.Errorf("%d visits and %d omitted, want 500 together", len(h.Visits), h.Omitted)
		}
		if last := h.Visits[len(h.Visits)-1]; last.Left == nil || lines[len(lines)-1] != "rest: waited" {
			t.Errorf("the last visit is %s, %+v", lines[len(lines)-1], last)
		}
		e := f.enrollment(people[0].ID)
		if e.Reason != sequence.ReasonError {
			t.Errorf("the enrollment is %s %s", e.Status, e.Reason)
		}
		page, err := sequence.LoadHistory(t.Context(), db, f.Tenant, s.ID, e.ID, h.Omitted+10, 5)
		f.must(err)
		if diff := cmp.Diff(h.Visits[10:15], page.Visits); diff != "" || !page.More {
			t.Errorf("a page of five: more %t\n%s", page.More, diff)
		}
		page, err = sequence.LoadHistory(t.Context(), db, f.Tenant, s.ID, e.ID, 499, 5)
		f.must(err)
		if len(page.Visits) != 1 || page.More {
			t.Errorf("the last page is %+v", page)
		}
	})
}

// What happened before steps were logged is counted, and nothing is made up.
func TestStepsFromBeforeTheLog(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "c", 3)
		s := f.start(graph("tag", []sequence.Node{
			node("tag", sequence.TagNode, object{"action": "add", "tags": []string{"t"}}),
			node("rest", sequence.WaitNode, object{"mode": "duration", "amount": 1, "unit": "hour"}),
			node("then", sequence.TagNode, object{"action": "add", "tags": []string{"u"}}),
		}, [3]string{"tag", "", "rest"}, [3]string{"rest", "", "then"}), sequence.Change{})
		f.enroll(s, nil, people[0].ID, people[1].ID, people[2].ID)
		f.tick()
		_, err := db.Exec(t.Context(), `UPDATE enrollment SET steps = NULL WHERE tenant_id = $1`, f.Tenant)
		f.must(err)
		if h := f.wantHistory(s, people[0].ID, "rest: waiting"); h.Omitted != 1 || h.Visits[0].Type != sequence.WaitNode {
			t.Errorf("of an old enrollment: %+v", h)
		}
		f.exit(s, people[1].ID)
		if h := f.wantHistory(s, people[1].ID); h.Omitted != 2 {
			t.Errorf("of one that has ended: %+v", h)
		}
		_, err = sequence.ExitOne(t.Context(), db, f.Tenant, s.ID, f.enrollment(people[2].ID).ID, f.now)
		f.must(err)
		if h := f.wantHistory(s, people[2].ID); h.Omitted != 2 {
			t.Errorf("of one that was ended: %+v", h)
		}
		f.after(time.Hour)
		if h := f.wantHistory(s, people[0].ID, "then: carried_out"); h.Omitted != 2 {
			t.Errorf("of one that went on: %+v", h)
		}
	})
}

func (f *fixture) enrollment(c id.Contact) sequence.Enrollment {
	f.Helper()
	list, err := sequence.OfContact(f.Context(), f.DB, f.Tenant, c)
	f.must(err)
	return list[0]
}

func (f *fixture) exit(s sequence.Sequence, contacts ...id.Contact) {
	f.Helper()
	_, err := sequence.ExitContacts(f.Context(), f.DB, f.Tenant, s.ID, contacts, sequence.ReasonManual, f.now)
	f.must(err)
}

func (f *fixture) env() rule.Env {
	f.Helper()
	env, err := segment.Env(f.Context(), f.DB, f.Tenant, f.now)
	f.must(err)
	return env
}
