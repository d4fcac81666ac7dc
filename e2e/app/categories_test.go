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
		page := openApp(t, address)
		const drawerGone = `!document.querySelector('[role=dialog]')`
		page.open("/sending/types")
		page.Click("Add category")
		page.In("dialog", "Add category").ExpectText("Recipients see it on their preference page.")
		page.Dialog().Click("Save")
		page.WaitFor(`document.querySelector('[role=dialog] [aria-invalid=true]')`)
		page.Fill("Name", "News")
		page.expectAccessible("a new category")
		page.Dialog().Click("Save")
		page.WaitFor(drawerGone)
		category := func() map[string]any {
			rows := page.call(http.MethodGet, "/email-categories", nil)["data"].([]any)
			if len(rows) != 1 {
				t.Fatalf("categories: %v, want one", rows)
			}
			return rows[0].(map[string]any)
		}
		id := category()["id"].(string)
		emailType := page.call(http.MethodGet, "/email-types", nil)["data"].([]any)[0].(map[string]any)
		page.call(http.MethodPut, "/email-types/"+emailType["id"].(string), map[string]any{"category_id": id})

		edit := "/sending/types?category=" + id
		page.open("/sending/types")
		page.WaitFor(`[...document.querySelectorAll('main li button')].some(b => b.textContent.trim() === 'News')`)
		page.Evaluate(`[...document.querySelectorAll('main li button')].find(b => b.textContent.trim() === 'News').click()`)
		page.Fill("Description", "What is new")
		page.call(http.MethodPut, "/email-categories/"+id, map[string]any{"name": "News and offers"})
		page.Dialog().Click("Save")
		page.WaitFor(drawerGone)
		page.Messages().ExpectText("Somebody else changed Name in the meantime. Both changes are kept.")
		if c := category(); c["name"] != "News and offers" || c["description"] != "What is new" {
			t.Errorf("after both changes: %v", c)
		}

		page.open(edit)
		page.Fill("Name", "Mine")
		page.call(http.MethodPut, "/email-categories/"+id, map[string]any{"name": "Theirs"})
		page.Dialog().Click("Save")
		page.Dialog().ExpectText("Two versions of the same part")
		if c := category(); c["name"] != "Theirs" {
			t.Errorf("before the choice: %v", c)
		}
		page.Evaluate(`[...document.querySelectorAll('[role=dialog]')].at(-1).querySelector('button[type=submit]').click()`)
		page.WaitFor(drawerGone)
		if c := category(); c["name"] != "Mine" {
			t.Errorf("after the choice: %v", c)
		}

		page.open(edit)
		page.Dialog().Click("Delete")
		page.In("dialog", "Delete Mine?").ExpectText("These types will have no category: " + emailType["display_name"].(string))
		page.changeBeforeRequest(http.MethodDelete, "/email-categories/"+id, http.MethodPut, `{"name": "Later"}`)
		page.confirmDelete()
		page.In("dialog", "Delete Later?").ExpectText("Somebody else has changed this in the meantime.")
		page.confirmDelete()
		page.WaitFor(drawerGone)
		if left := page.call(http.MethodGet, "/email-categories", nil)["data"].([]any); len(left) != 0 {
			t.Errorf("categories %v are left", left)
		}
		if got := page.call(http.MethodGet, "/email-types", nil)["data"].([]any)[0].(map[string]any); got["category_id"] != nil {
			t.Errorf("the type is %v", got)
		}
	})
}
