package app

import (
	"net/http"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Categories of email types are created, changed and deleted on the page of email types. When two people change
// one, both changes are kept or the form asks. Deleting one that somebody else has just changed is refused once.
func TestCategoriesOfEmailTypesAreEdited(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		const drawerGone = `!document.querySelector('[role=dialog]')`
		d.open("/sending/types")
		d.pressText("Add a category")
		d.sees("Readers see it on their preference page.")
		d.presses("Save")
		d.await(`document.querySelector('[role=dialog] [aria-invalid=true]')`)
		d.fill("Name", "News")
		d.checkAccess(readAxe(t), "a new category")
		d.presses("Save")
		d.await(drawerGone)
		category := func() map[string]any {
			rows := d.ask(http.MethodGet, "/email-categories", nil)["data"].([]any)
			if len(rows) != 1 {
				t.Fatalf("categories: %v, want one", rows)
			}
			return rows[0].(map[string]any)
		}
		id := category()["id"].(string)
		emailType := d.ask(http.MethodGet, "/email-types", nil)["data"].([]any)[0].(map[string]any)
		d.ask(http.MethodPut, "/email-types/"+emailType["id"].(string), map[string]any{"category_id": id})

		edit := "/sending/types?category=" + id
		d.open("/sending/types")
		d.await(`[...document.querySelectorAll('main li button')].some(b => b.textContent.trim() === 'News')`)
		d.Evaluate(`[...document.querySelectorAll('main li button')].find(b => b.textContent.trim() === 'News').click()`)
		d.fill("Description", "What is new")
		d.ask(http.MethodPut, "/email-categories/"+id, map[string]any{"name": "News and offers"})
		d.presses("Save")
		d.await(drawerGone)
		d.sees("Somebody else changed Name meanwhile. Both changes are kept.")
		if c := category(); c["name"] != "News and offers" || c["description"] != "What is new" {
			t.Errorf("after both changes: %v", c)
		}

		d.open(edit)
		d.fill("Name", "Mine")
		d.ask(http.MethodPut, "/email-categories/"+id, map[string]any{"name": "Theirs"})
		d.presses("Save")
		d.sees("Two versions of the same part")
		if c := category(); c["name"] != "Theirs" {
			t.Errorf("before the choice: %v", c)
		}
		d.Evaluate(`[...document.querySelectorAll('[role=dialog]')].at(-1).querySelector('button[type=submit]').click()`)
		d.await(drawerGone)
		if c := category(); c["name"] != "Mine" {
			t.Errorf("after the choice: %v", c)
		}

		d.open(edit)
		d.presses("Delete")
		d.sees("Without a category then: " + emailType["display_name"].(string))
		d.overtake(http.MethodDelete, "/email-categories/"+id, http.MethodPut, `{"name": "Later"}`)
		d.deletes()
		d.sees("Somebody else has changed it meanwhile.")
		d.sees("Delete Later?")
		d.deletes()
		d.await(drawerGone)
		if left := d.ask(http.MethodGet, "/email-categories", nil)["data"].([]any); len(left) != 0 {
			t.Errorf("categories %v are left", left)
		}
		if got := d.ask(http.MethodGet, "/email-types", nil)["data"].([]any)[0].(map[string]any); got["category_id"] != nil {
			t.Errorf("the type is %v", got)
		}
	})
}
