package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// On a phone, what has an order is dragged by a finger: stages, fields of a form, columns and conditions; and the
// canvas of a sequence is moved.
func TestTouchReordersListsAndScrollsTheCanvas(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		page.SetScreen(390, 844, "light")
		page.Must(page.Fingers(page.Ctx))
		in := func(path, list, field string) string {
			t.Helper()
			var names []string
			for _, row := range page.call(http.MethodGet, path, nil)[list].([]any) {
				names = append(names, fmt.Sprint(row.(map[string]any)[field]))
			}
			return strings.Join(names, " ")
		}
		becomes := func(path, list, field, want string) {
			t.Helper()
			if got := e2etest.Eventually(t, func() (string, bool) { got := in(path, list, field); return got, got == want }); got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		}

		const stages = "/settings/stages"
		before := strings.Fields(in(stages, "data", "slug"))
		page.open(stages)
		page.WaitFor(fmt.Sprintf(`document.querySelectorAll('[data-place]').length === %d`, len(before)))
		// A stage that somebody else adds now is not on the page yet: it is last all the same.
		page.call(http.MethodPost, stages, map[string]any{"name": "Late", "category": "prospect"})
		page.dragByFinger(`[...document.querySelectorAll('[data-place] [title="Drag to move"]')][0]`, `[...document.querySelectorAll('[data-place]')][2]`)
		becomes(stages, "data", "slug", strings.Join(append([]string{before[1], before[2], before[0]}, append(before[3:], "late")...), " "))
		page.expectAccessible("stages")

		form := page.call(http.MethodPost, "/forms", map[string]any{"name": "Sign-up", "fields": []any{
			map[string]any{"type": "contact", "binding": "email", "label": "Email", "required": true},
			map[string]any{"type": "contact", "binding": "first_name", "label": "First"},
			map[string]any{"type": "contact", "binding": "city", "label": "City"},
		}})["id"].(string)
		page.open("/forms/" + form)
		page.WaitFor(`document.querySelectorAll('[data-place]').length === 3`)
		page.dragByFinger(`[...document.querySelectorAll('[data-place] [title="Drag to move"]')][2]`, `[...document.querySelectorAll('[data-place]')][0]`)
		becomes("/forms/"+form, "fields", "binding", "city email first_name")

		page.open("/contacts")
		page.Click("Columns")
		const columns = `[...document.querySelectorAll('[data-place]')].map(e => e.innerText.trim())`
		page.WaitFor(columns + `.length > 2`)
		first := page.EvaluateString(columns + `[0]`)
		page.dragByFinger(`[...document.querySelectorAll('[data-place] [title="Drag to move"]')][0]`, `[...document.querySelectorAll('[data-place]')][1]`)
		page.WaitFor(fmt.Sprintf(columns+`[1] === %q`, first))

		page.call(http.MethodPost, "/segments", map[string]any{"name": "Two", "definition": map[string]any{"logic": "or", "conditions": []any{
			map[string]any{"type": "field", "field": "country", "operator": "eq", "value": "DE"},
			map[string]any{"type": "field", "field": "country", "operator": "eq", "value": "AT"},
		}}})
		page.open("/segments/two")
		page.WaitFor(shape + ` === 'Germany Austria'`)
		page.dragByFinger(`document.querySelector('[data-path="1"] > button')`, `document.querySelector('[data-path="0"]')`)
		page.WaitFor(shape + ` === 'Austria Germany'`)

		sequence := page.call(http.MethodPost, "/sequences", map[string]any{"name": "Long"})["id"].(string)
		nodes, edges := []any{}, []any{}
		for i := range 12 {
			nodes = append(nodes, map[string]any{"id": fmt.Sprint("n", i), "type": "wait", "config": map[string]any{"mode": "duration", "amount": 1, "unit": "day"}})
			if i > 0 {
				edges = append(edges, map[string]any{"from_node": fmt.Sprint("n", i-1), "to_node": fmt.Sprint("n", i)})
			}
		}
		page.call(http.MethodPut, "/sequences/"+sequence+"/graph", map[string]any{"entry_node_id": "n0", "nodes": nodes, "edges": edges})
		page.open("/sequences/" + sequence)
		page.Click("Canvas")
		const canvas = `document.querySelector('main section[aria-label=Canvas]')`
		page.WaitFor(canvas + `?.scrollHeight > ` + canvas + `.clientHeight + 100`)
		page.Evaluate(canvas + `.scrollTop = 0; ` + canvas + `.scrollIntoView({ block: 'center' })`)
		var box []float64
		page.EvaluateInto(`(() => { const b = `+canvas+`.getBoundingClientRect(); return [b.left + 20, b.top + 300, b.top + 150] })()`, &box)
		page.Must(page.Touch(page.Ctx, box[0], box[1], box[0], box[2]))
		page.WaitFor(canvas + `.scrollTop > 50`)
	})
}

// dragByFinger drags the handle to the upper part of another element. Both are expressions of JavaScript.
func (page appPage) dragByFinger(handle, to string) {
	page.T.Helper()
	page.WaitFor(handle)
	page.Evaluate(handle + `.scrollIntoView({ block: 'center' })`)
	page.Evaluate(`(top => top < 100 && scrollBy(0, top - 100))(` + to + `.getBoundingClientRect().top)`) // a finger reaches what is in view
	var at []float64
	page.EvaluateInto(`(() => { const [a, b] = [`+handle+`.getBoundingClientRect(), `+to+`.getBoundingClientRect()]; return [a.left + a.width / 2, a.top + a.height / 2, b.top + 8] })()`, &at)
	page.Must(page.Touch(page.Ctx, at[0], at[1], at[0], at[2]))
}
