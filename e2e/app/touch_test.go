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
func TestFingersMoveThings(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		d.SetScreen(390, 844, "light")
		d.Must(d.Fingers(d.Ctx))
		in := func(path, list, field string) string {
			t.Helper()
			var names []string
			for _, row := range d.ask(http.MethodGet, path, nil)[list].([]any) {
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
		d.open(stages)
		d.await(fmt.Sprintf(`document.querySelectorAll('[data-place]').length === %d`, len(before)))
		// A stage that somebody else adds now is not on the page yet: it is last all the same.
		d.ask(http.MethodPost, stages, map[string]any{"name": "Late", "category": "prospect"})
		d.finger(`[...document.querySelectorAll('[data-place] [title="Drag to move"]')][0]`, `[...document.querySelectorAll('[data-place]')][2]`)
		becomes(stages, "data", "slug", strings.Join(append([]string{before[1], before[2], before[0]}, append(before[3:], "late")...), " "))
		d.checkAccess(readAxe(t), "stages")

		form := d.ask(http.MethodPost, "/forms", map[string]any{"name": "Sign-up", "fields": []any{
			map[string]any{"type": "contact", "binding": "email", "label": "Email", "required": true},
			map[string]any{"type": "contact", "binding": "first_name", "label": "First"},
			map[string]any{"type": "contact", "binding": "city", "label": "City"},
		}})["id"].(string)
		d.open("/forms/" + form)
		d.await(`document.querySelectorAll('[data-place]').length === 3`)
		d.finger(`[...document.querySelectorAll('[data-place] [title="Drag to move"]')][2]`, `[...document.querySelectorAll('[data-place]')][0]`)
		becomes("/forms/"+form, "fields", "binding", "city email first_name")

		d.open("/contacts")
		d.pressText("Columns")
		const columns = `[...document.querySelectorAll('[data-place]')].map(e => e.innerText.trim())`
		d.await(columns + `.length > 2`)
		first := d.EvaluateString(columns + `[0]`)
		d.finger(`[...document.querySelectorAll('[data-place] [title="Drag to move"]')][0]`, `[...document.querySelectorAll('[data-place]')][1]`)
		d.await(fmt.Sprintf(columns+`[1] === %q`, first))

		d.ask(http.MethodPost, "/segments", map[string]any{"name": "Two", "definition": map[string]any{"logic": "or", "conditions": []any{
			map[string]any{"type": "field", "field": "country", "operator": "eq", "value": "DE"},
			map[string]any{"type": "field", "field": "country", "operator": "eq", "value": "AT"},
		}}})
		d.open("/segments/two")
		d.await(shape + ` === 'DE AT'`)
		d.finger(`document.querySelector('[data-path="1"] > button')`, `document.querySelector('[data-path="0"]')`)
		d.await(shape + ` === 'AT DE'`)

		sequence := d.ask(http.MethodPost, "/sequences", map[string]any{"name": "Long"})["id"].(string)
		nodes, edges := []any{}, []any{}
		for i := range 12 {
			nodes = append(nodes, map[string]any{"id": fmt.Sprint("n", i), "type": "wait", "config": map[string]any{"mode": "duration", "amount": 1, "unit": "day"}})
			if i > 0 {
				edges = append(edges, map[string]any{"from_node": fmt.Sprint("n", i-1), "to_node": fmt.Sprint("n", i)})
			}
		}
		d.ask(http.MethodPut, "/sequences/"+sequence+"/graph", map[string]any{"entry_node_id": "n0", "nodes": nodes, "edges": edges})
		d.open("/sequences/" + sequence)
		d.pressText("Canvas")
		const canvas = `[...document.querySelectorAll('main div')].find(e => e.querySelector('#sequence-arrow') && getComputedStyle(e).overflowY === 'auto')`
		d.await(canvas + `?.scrollHeight > ` + canvas + `.clientHeight + 100`)
		d.Evaluate(canvas + `.scrollTop = 0; ` + canvas + `.scrollIntoView({ block: 'center' })`)
		var box []float64
		d.EvaluateInto(`(() => { const b = `+canvas+`.getBoundingClientRect(); return [b.left + 20, b.top + 300, b.top + 150] })()`, &box)
		d.Must(d.Touch(d.Ctx, box[0], box[1], box[0], box[2]))
		d.await(canvas + `.scrollTop > 50`)
	})
}

// finger drags the handle to the upper part of another element. Both are expressions of JavaScript.
func (d desk) finger(handle, to string) {
	d.T.Helper()
	d.await(handle)
	d.Evaluate(handle + `.scrollIntoView({ block: 'center' })`)
	var at []float64
	d.EvaluateInto(`(() => { const [a, b] = [`+handle+`.getBoundingClientRect(), `+to+`.getBoundingClientRect()]; return [a.left + a.width / 2, a.top + a.height / 2, b.top + 8] })()`, &at)
	d.Must(d.Touch(d.Ctx, at[0], at[1], at[0], at[2]))
}
