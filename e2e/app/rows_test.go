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
		page := openApp(t, address)
		ended := []string{page.createDraft(map[string]any{"name": "First"}), page.createDraft(map[string]any{"name": "Second"})}
		for _, b := range ended {
			page.startSend(b)
			page.waitForStatus(b, "completed")
		}
		draft := page.createDraft(map[string]any{"name": "Third"})
		later := page.createDraft(map[string]any{"name": "Fourth", "scheduled_at": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)})
		page.call(http.MethodPost, "/broadcasts/"+later+"/schedule", nil)

		page.open("/broadcasts")
		page.Click("Open rate") // the head of a column tells what its figures are
		page.In("dialog", "What “Open rate” means").ExpectText("Opens by machines alone do not count.")
		page.Press("Escape")
		page.RecordMessages()
		row := func(name string) {
			t.Helper()
			// In one step: a row that is there may be gone a moment later, while the list is read again.
			page.WaitFor(fmt.Sprintf(`(r => { r?.focus(); return r !== undefined })([...document.querySelectorAll('[role=row][data-index]')].find(r => r.innerText.startsWith(%q)))`, name))
		}
		opens := func(name string) {
			t.Helper()
			row(name)
			page.Press(".")
			page.WaitFor(`document.activeElement.matches('[role=menuitem]')`)
		}
		offers := func(name, want string) {
			t.Helper()
			opens(name)
			if got := page.EvaluateString(`[...document.querySelectorAll('[role=menuitem]')].map(i => i.textContent).join(', ')`); got != want {
				t.Errorf("the menu of %s offers %s, want %s", name, got, want)
			}
		}
		archived := func(broadcast string) bool { return page.getBroadcast(broadcast)["archived_at"] != nil }
		becomes := func(broadcast string, want bool) {
			t.Helper()
			if got := e2etest.Eventually(t, func() (bool, bool) { v := archived(broadcast); return v, v == want }); got != want {
				t.Errorf("the broadcast is archived: %v, want %v", got, want)
			}
		}

		row("First")
		page.Press("Space")
		page.WaitFor(`document.querySelector("[role=dialog] iframe")`)
		page.expectMarksReported()
		page.Press("Escape")
		page.WaitFor(`document.activeElement.matches('[role=row]') && document.activeElement.innerText.startsWith('First')`)

		offers("Third", "Edit, Preview, Duplicate, Delete draft")
		page.Press("Escape")
		offers("Fourth", "Open, Preview, Unschedule, Duplicate, Cancel send")
		page.ChooseMenuItem("Cancel send")
		page.In("dialog", "Cancel Fourth?").ExpectText("Nothing has been sent, and nobody will get it. This cannot be undone.")
		page.expectAccessible("the question before cancelling")
		page.PressEnterOn("Cancel send")
		page.waitForStatus(later, "cancelled")
		page.WaitFor(`[...document.querySelectorAll('[role=row]')].some(r => r.innerText.startsWith('Fourth') && r.innerText.includes('Cancelled'))`)
		offers("Fourth", "Open, Preview, Duplicate, Archive")
		page.Press("Escape")

		opens("Third")
		page.ChooseMenuItem("Delete draft")
		page.Dialog().ExpectText("Delete Third?")
		page.WaitFor(`document.activeElement.textContent === 'Cancel'`)
		page.PressEnterOn("Delete draft")
		page.ExpectMessage("Draft deleted")
		page.WaitFor(`![...document.querySelectorAll('[role=row]')].some(r => r.innerText.startsWith('Third'))`)
		if a, err := page.account.Owner.Do(page.Ctx, http.MethodGet, "/broadcasts/"+draft, nil); err != nil || a.Status != http.StatusNotFound {
			t.Errorf("the deleted draft is read with %d: %v", a.Status, err)
		}
		if got := page.EvaluateString(`document.activeElement.getAttribute('role')`); got != "row" {
			t.Errorf("after deleting the focus is on %q, want a row", page.EvaluateString(`document.activeElement.outerHTML.slice(0, 200)`))
		}

		offers("First", "Report, Preview, Duplicate, Archive")
		page.ChooseMenuItem("Archive")
		page.ExpectMessage("Archived 1 broadcast")
		becomes(ended[0], true)
		page.Press("Control+z")
		becomes(ended[0], false)

		row("First")
		page.Press("x")
		row("Second")
		page.Press("x")
		row("Fourth")
		page.Press("x")
		page.Main().ExpectText("3 selected")
		page.PressEnterOn("Archive", "Shift+Tab")
		page.ExpectMessage("Archived 3 broadcasts")
		for _, b := range []string{ended[0], ended[1], later} {
			becomes(b, true)
		}
		page.Press("Control+z")
		for _, b := range []string{ended[0], ended[1], later} {
			becomes(b, false)
		}
		opens("Second")
		page.ChooseMenuItem("Archive")
		becomes(ended[1], true)
		page.WaitFor(`document.querySelector('[aria-label=Status]')`)
		page.PressEnterOn("Archived", "Shift+Tab")
		offers("Second", "Report, Preview, Duplicate, Restore from archive")
		page.ChooseMenuItem("Restore from archive")
		page.ExpectMessage("Restored from archive")
		becomes(ended[1], false)

		page.open("/broadcasts")
		opens("Second")
		page.ChooseMenuItem("Duplicate")
		page.expectURL("/edit$")
		page.WaitFor(`[...document.querySelectorAll('input')].some(i => i.value === 'Second (copy)')`)
		if made := page.getBroadcast(strings.Split(page.EvaluateString(`location.pathname`), "/")[4]); made["status"] != "draft" || made["name"] != "Second (copy)" {
			t.Errorf("the copy is %v, %v", made["name"], made["status"])
		}
		page.expectNoProblems()
	})
}
