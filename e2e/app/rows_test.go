package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Broadcasts are previewed, duplicated, cancelled, deleted, archived and moved out of the archive from their list, by the
// keyboard alone: by the menus of their rows, and many at once. The menus offer what the server allows.
func TestBroadcastsAreManagedFromTheirList(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		ended := []string{d.create(map[string]any{"name": "First"}), d.create(map[string]any{"name": "Second"})}
		for _, b := range ended {
			d.begin(b)
			d.until(b, "completed")
		}
		draft := d.create(map[string]any{"name": "Third"})
		later := d.create(map[string]any{"name": "Fourth", "scheduled_at": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)})
		d.ask(http.MethodPost, "/broadcasts/"+later+"/schedule", nil)

		d.open("/broadcasts")
		d.pressText("Open rate") // the head of a column tells what its figures are
		d.sees("Opens by machines alone do not count.")
		d.Press("Escape")
		d.listen()
		row := func(name string) {
			t.Helper()
			d.await(fmt.Sprintf(`[...document.querySelectorAll('[role=row][data-index]')].some(r => r.innerText.startsWith(%q))`, name))
			d.Evaluate(fmt.Sprintf(`[...document.querySelectorAll('[role=row][data-index]')].find(r => r.innerText.startsWith(%q)).focus()`, name))
		}
		opens := func(name string) {
			t.Helper()
			row(name)
			d.Press(".")
			d.await(`document.activeElement.matches('[role=menuitem]')`)
		}
		offers := func(name, want string) {
			t.Helper()
			opens(name)
			if got := d.EvaluateString(`[...document.querySelectorAll('[role=menuitem]')].map(i => i.textContent).join(', ')`); got != want {
				t.Errorf("the menu of %s offers %s, want %s", name, got, want)
			}
		}
		archived := func(broadcast string) bool { return d.read(broadcast)["archived_at"] != nil }
		becomes := func(broadcast string, want bool) {
			t.Helper()
			if got := e2etest.Eventually(t, func() (bool, bool) { v := archived(broadcast); return v, v == want }); got != want {
				t.Errorf("the broadcast is archived: %v, want %v", got, want)
			}
		}

		row("First")
		d.Press("Space")
		d.await(`document.querySelector("[role=dialog] iframe")`)
		d.Press("Escape")
		d.await(`document.activeElement.matches('[role=row]') && document.activeElement.innerText.startsWith('First')`)

		offers("Third", "Edit, Preview, Copy, Delete the draft")
		d.Press("Escape")
		offers("Fourth", "Open, Preview, Unschedule, Copy, Cancel the send")
		d.item("Cancel the send")
		d.sees("Nothing has been sent, and nobody will get it. This cannot be undone.")
		d.checkAccess(readAxe(t), "the question before cancelling")
		d.hit("Cancel the send")
		d.until(later, "cancelled")
		d.await(`[...document.querySelectorAll('[role=row]')].some(r => r.innerText.startsWith('Fourth') && r.innerText.includes('Cancelled'))`)
		offers("Fourth", "Open, Preview, Copy, Archive")
		d.Press("Escape")

		opens("Third")
		d.item("Delete the draft")
		d.sees("Delete Third?")
		d.await(`document.activeElement.textContent === 'Cancel'`)
		d.hit("Delete the draft")
		d.hears("Deleted the draft")
		d.await(`![...document.querySelectorAll('[role=row]')].some(r => r.innerText.startsWith('Third'))`)
		if a, err := d.r.Owner.Do(d.Ctx, http.MethodGet, "/broadcasts/"+draft, nil); err != nil || a.Status != http.StatusNotFound {
			t.Errorf("the deleted draft is read with %d: %v", a.Status, err)
		}
		if got := d.EvaluateString(`document.activeElement.getAttribute('role')`); got != "row" {
			t.Errorf("after deleting the focus is on %q, want a row", d.EvaluateString(`document.activeElement.outerHTML.slice(0, 200)`))
		}

		offers("First", "Report, Preview, Copy, Archive")
		d.item("Archive")
		d.hears("Archived 1 broadcast")
		becomes(ended[0], true)
		d.Press("Control+z")
		becomes(ended[0], false)

		row("First")
		d.Press("x")
		row("Second")
		d.Press("x")
		row("Fourth")
		d.Press("x")
		d.sees("3 selected")
		d.hit("Archive", "Shift+Tab")
		d.hears("Archived 3 broadcasts")
		for _, b := range []string{ended[0], ended[1], later} {
			becomes(b, true)
		}
		d.Press("Control+z")
		for _, b := range []string{ended[0], ended[1], later} {
			becomes(b, false)
		}
		opens("Second")
		d.item("Archive")
		becomes(ended[1], true)
		d.await(`document.querySelector('[aria-label=Status]')`)
		d.hit("Archived", "Shift+Tab")
		offers("Second", "Report, Preview, Copy, Move out of the archive")
		d.item("Move out of the archive")
		d.hears("Moved out of the archive")
		becomes(ended[1], false)

		d.open("/broadcasts")
		opens("Second")
		d.item("Copy")
		d.await(`location.pathname.endsWith('/edit') && ` + settled)
		d.await(`[...document.querySelectorAll('input')].some(i => i.value === 'Second (copy)')`)
		if made := d.read(strings.Split(d.EvaluateString(`location.pathname`), "/")[4]); made["status"] != "draft" || made["name"] != "Second (copy)" {
			t.Errorf("the copy is %v, %v", made["name"], made["status"])
		}
		d.quiet()
	})
}
