package app

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A rule with conditions of all types is shown, each as a sentence of its type.
func TestConditionsOfAllTypesAreShown(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	page.call(http.MethodPost, "/segments", map[string]any{"name": "Crew", "type": "static"})
	const someID = "0190b0a0-0000-7000-8000-000000000001"
	paid := map[string]any{"event_name": "paid"}
	leaves := map[string]map[string]any{
		"field":          {"operator": "is_set", "field": "email"},
		"list":           {"operator": "in", "segment_keys": []any{"crew"}},
		"segment":        {"operator": "in", "segment_keys": []any{"all_sendable"}},
		"email":          {"operator": "did", "event": "opened"},
		"broadcast":      {"operator": "did", "event": "opened", "broadcast_id": someID},
		"sequence_email": {"operator": "did", "event": "opened", "sequence_id": someID},
		"event":          {"operator": "did", "event_name": "paid"},
		"event_sequence": {"operator": "followed", "first": paid, "then": paid, "within": map[string]any{"amount": 7, "unit": "day"}},
		"page_view":      {"operator": "did", "url": "https://example.com/"},
		"form":           {"operator": "did", "form_slug": "signup"},
		"subscription":   {"operator": "subscribed", "email_type_key": "newsletter"},
		"sequence":       {"operator": "active", "sequence_id": someID},
		"suppression":    {"operator": "listed"},
	}
	var names []string
	var conditions []any
	for _, leaf := range rule.LeafTypes() {
		if leaves[leaf.Name] == nil {
			t.Fatalf("no condition of the type %s", leaf.Name)
		}
		leaves[leaf.Name]["type"] = leaf.Name
		names, conditions = append(names, leaf.Name), append(conditions, leaves[leaf.Name])
	}
	page.call(http.MethodPost, "/segments", map[string]any{"name": "All", "definition": map[string]any{"logic": "or", "conditions": conditions}})
	page.open("/segments/all")
	const rows = `[...document.querySelectorAll('fieldset[data-path]:not([data-depth])')]`
	page.WaitFor(rows + `.map(f => f.dataset.kind).join(' ') === '` + strings.Join(names, " ") + `'`)
	page.WaitFor(rows + `.map(f => $.text(f.querySelector('p'))).join() === ` + strconv.Quote(strings.Join([]string{
		"Email is set", "Is in list Crew", "Is in segment All sendable contacts", "Opened any email", "Opened (deleted)",
		"Opened an email of sequence (deleted)", "paid happened", "Did paid, then paid within 7 days",
		"Visited a page whose URL is https://example.com/", "Submitted the form signup", "Is subscribed to Newsletter",
		"Is in sequence (deleted)", "Is on the suppression list",
	}, ",")))
	page.expectNoProblems()
}

// A condition on two events is shown as a sentence. What is changed in the application is saved, and all else stays as
// it was. Properties are offered, and have the kind of their recorded values.
func TestConditionsOnEventsAreEdited(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		for _, name := range []string{"cart_updated", "order_placed"} {
			if _, err := page.account.Key.Must(page.Ctx, http.MethodPost, "/events", map[string]any{
				"event_name": name, "contact_email": "reader1@example.org", "properties": map[string]any{"value": 60, "coupon": "spring"},
			}); err != nil {
				t.Fatal(err)
			}
		}
		leaf := map[string]any{
			"type": "event_sequence", "operator": "not_followed",
			"first":  map[string]any{"event_name": "cart_updated", "filters": []any{map[string]any{"property": "value", "operator": "greater_than", "value": 50.0}}},
			"then":   map[string]any{"event_name": "order_placed"},
			"within": map[string]any{"amount": 2.0, "unit": "day"},
			"window": map[string]any{"from": "2026-01-01", "to": "2100-01-01"},
		}
		page.call(http.MethodPost, "/segments", map[string]any{"name": "Carts", "definition": map[string]any{"logic": "and", "conditions": []any{leaf}}})

		page.open("/segments/carts")
		page.In("region", "Rule").ExpectText("Did cart_updated between 1 Jan 2026 and 1 Jan 2100 where value is more than 50, but not order_placed within 2 days")
		page.In("region", "Matches now").ExpectText("Nobody matches.")
		page.expectAccessible("a condition on two events")
		page.choosePart("Afterwards", "then")
		page.expectFocusOnPart("Afterwards: then")
		page.openPart("Within")
		page.expectAccessible("a part of a condition")
		page.Press("Control+a")
		page.Type("3")
		page.Press("Enter")
		page.expectFocusOnPart("Within: 3 days")
		page.In("region", "Rule").ExpectText("where value is more than 50, then order_placed within 3 days")
		page.In("region", "Matches now").ExpectText("1 match")
		page.Click("Save")
		leaf["operator"], leaf["within"].(map[string]any)["amount"] = "followed", 3.0
		page.expectConditions("carts", leaf)

		order := map[string]any{"type": "event", "event_name": "order_placed", "operator": "did"}
		page.call(http.MethodPost, "/segments", map[string]any{"name": "Orders", "definition": map[string]any{"logic": "and", "conditions": []any{order}}})
		e2etest.Eventually(t, func() (any, bool) {
			known := page.get("/suggestions?for=event_properties&event_name=order_placed")["data"]
			return known, len(known.([]any)) == 2
		})
		page.open("/segments/orders")
		page.In("region", "Matches now").ExpectText("1 match")
		page.choosePart("Add to the condition", "Property condition")
		page.expectOpenPart()
		page.SelectOption("Property", "value")
		page.WaitFor(`document.activeElement.matches('[data-of] input[type=number]')`) // the value, as what was recorded
		page.Type("61")
		page.Press("Enter")
		page.expectFocusOnPart("Value: 61")
		page.In("region", "Rule").ExpectText("order_placed happened where value is 61")
		page.In("region", "Matches now").ExpectText("Nobody matches.")
		page.expectAccessible("a condition on a property")
		page.choosePart("Condition: is", "is any of", "Shift+Tab")
		page.expectOpenPart()
		page.Type("60, 61")
		page.Press("Enter")
		page.In("region", "Rule").ExpectText("order_placed happened where value is 60 or 61")
		page.In("region", "Matches now").ExpectText("1 match")
		page.Click("Save")
		order["filters"] = []any{map[string]any{"property": "value", "operator": "in", "value": []any{60.0, 61.0}}}
		page.expectConditions("orders", order)
	})
}

// openPart goes to the part of a condition whose name begins with a text, and opens what changes it.
func (page appPage) openPart(name string, keys ...string) {
	page.T.Helper()
	page.PressEnterOn(name, keys...)
	page.expectOpenPart()
}

// clickPart opens the part of a condition whose name begins with a text by the mouse.
func (page appPage) clickPart(name string) {
	page.T.Helper()
	page.ClickElement(fmt.Sprintf(`[...document.querySelectorAll('[data-part]')].find(p => $.name(p).startsWith(%q))`, name))
	page.expectOpenPart()
}

// choosePart opens the part of a condition whose name begins with a text, and chooses from its list.
func (page appPage) choosePart(name, choice string, keys ...string) {
	page.T.Helper()
	page.openPart(name, keys...)
	page.ChooseMenuItem(choice)
}

// expectOpenPart waits until a field or a choice of a part of a condition has the focus.
func (page appPage) expectOpenPart() {
	page.T.Helper()
	page.WaitFor(`document.activeElement.closest('[data-of]')?.matches('form, :has([role=menu])') && document.activeElement.matches('input, select, [role=spinbutton], [role^=menuitem]')`)
}

// expectFocusOnPart waits until nothing is open and the part of a condition whose name begins with a text has the focus.
func (page appPage) expectFocusOnPart(name string) {
	page.T.Helper()
	page.WaitFor(fmt.Sprintf(`document.activeElement.matches('[data-part][aria-expanded=false]') && $.name(document.activeElement).startsWith(%q)`, name))
}

// expectConditions waits until the saved rule of a segment has these conditions.
func (page appPage) expectConditions(segment string, conditions ...any) {
	page.T.Helper()
	if diff := e2etest.Eventually(page.T, func() (string, bool) {
		rule, _ := page.get("/segments/" + segment)["definition"].(map[string]any)
		diff := cmp.Diff(any(conditions), rule["conditions"])
		return diff, diff == ""
	}); diff != "" {
		page.T.Errorf("the saved conditions (-want +got):\n%s", diff)
	}
}
