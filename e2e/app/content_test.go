package app

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// content are records to show and edit: a template with everything, blocks for its slot, and a library entry.
type content struct{ template, block, entry string }

const shopMJML = `<mjml><mj-body><mj-section><mj-column>
<mj-text>{{param:headline}}</mj-text>
{{#section products}}<mj-text>{{item:name}} {{item:price}}</mj-text>{{/section}}
<mj-text>{{param:closing}}</mj-text></mj-column></mj-section>{{slot:promo}}</mj-body></mjml>`

func (page appPage) createContent() content {
	page.T.Helper()
	make := func(path string, body map[string]any) string {
		page.T.Helper()
		made, err := page.account.Owner.Must(page.Ctx, http.MethodPost, path, body)
		if err != nil {
			page.T.Fatal(err)
		}
		return made["id"].(string)
	}
	var c content
	c.block = make("/blocks", map[string]any{
		"name": "Spring offer", "tags": []any{"promo"}, "slot_keys": []any{"promo"}, "content_mjml": "<mj-section><mj-column><mj-text>{{param:title}}</mj-text></mj-column></mj-section>",
		"parameters_schema": []any{map[string]any{"name": "title", "type": "text", "label": "Offer", "required": true}},
	})
	c.template = make("/templates", map[string]any{
		"name": "Shop news", "format": "mjml", "content_html": "", "content_mjml": shopMJML, "subject": "{{param:headline}}",
		"parameters_schema": []any{map[string]any{"name": "headline", "type": "text", "label": "Headline", "required": true, "validation": map[string]any{"max_length": 40}, "sample": "A second shop"}, map[string]any{"name": "closing", "type": "rich_text", "label": "Closing", "default": "<p>See you soon.</p>"}},
		"sections_schema": []any{map[string]any{"name": "products", "label": "Products", "min": 2, "max": 10, "item_schema": []any{
			map[string]any{"name": "name", "type": "text", "label": "Product", "required": true}, map[string]any{"name": "price", "type": "number", "label": "Price", "required": true},
		}}},
		"slots_schema": []any{map[string]any{"name": "promo", "label": "Promotion", "tag_filter": []any{"promo"}}},
	})
	filling := func(headline string) map[string]any {
		return map[string]any{"subject": headline, "template_slug": "shop-news", "template_binding": map[string]any{
			"parameters": map[string]any{"headline": headline}, "sections": map[string]any{"products": []any{map[string]any{"name": "Tea", "price": 4}, map[string]any{"name": "Coffee", "price": 5}}},
		}}
	}
	c.entry = make("/messages", map[string]any{"name": "Welcome", "content": filling("Welcome")})
	if _, err := page.account.Owner.Must(page.Ctx, http.MethodPatch, "/messages/"+c.entry, map[string]any{"content": filling("Welcome to the shop")}); err != nil {
		page.T.Fatal(err)
	}
	return c
}

// The pages of templates, blocks and the library are accessible.
func TestThePagesOfContentAreAccessible(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	c := page.createContent()
	_, pages, _, _ := harness.Routes()
	page.expectPagesAccessible(pages, map[string]string{"template": c.template, "block": c.block, "entry": c.entry})
}

// The bound on the requests of a first load holds for what has more to read: mail of a template, a rebase, unsaved work,
// and lists, which send the same requests for many rows as for one.
func TestFirstLoadsOfPagesWithManyRowsSendFewRequests(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	c := page.createContent()
	page.Must(page.CountRequests(page.Ctx))
	filled := map[string]any{"subject": "Hello", "template_slug": "shop-news", "template_binding": map[string]any{
		"parameters": map[string]any{"headline": "Hello"}, "sections": map[string]any{"products": []any{map[string]any{"name": "Tea", "price": 4}, map[string]any{"name": "Coffee", "price": 5}}},
	}}
	add := func(n int) (broadcast string) {
		broadcast = page.createDraft(map[string]any{"name": fmt.Sprint("Draft ", n), "content": filled})
		page.call(http.MethodPut, "/working-copies/broadcast/"+broadcast, map[string]any{"title": "Draft", "data": map[string]any{
			"mine": map[string]any{"content.subject": strings.Repeat("x", 600)}, "from": map[string]any{"content.subject": "Hello"}, "problems": 1, "mark": "elsewhere",
		}})
		page.call(http.MethodPost, "/messages", map[string]any{"name": fmt.Sprint("Entry ", n), "content": filled})
		return broadcast
	}
	broadcast := add(0)
	lists := []string{"/broadcasts", "/library"}
	few := map[string][]string{}
	for _, route := range lists {
		few[route] = page.firstRequests(route)
	}
	for n := range 12 {
		add(n + 1)
	}
	page.call(http.MethodPut, "/templates/"+c.template, map[string]any{"subject": "News: {{param:headline}}"}) // the entry can be rebased
	at, running := page.createFlows()
	sequence, automation := path.Base(at), path.Base(running)
	segment := page.get("/segments/" + page.account.List)["id"].(string)
	keep := func(kind, record string, data map[string]any) {
		page.call(http.MethodPut, "/working-copies/"+kind+"/"+record, map[string]any{"title": "Unsaved", "data": data})
	}
	source := map[string]any{"mine": map[string]any{"name": "Renamed"}, "from": map[string]any{}}
	for kind, record := range map[string]string{"template": c.template, "block": c.block, "message": c.entry, "message_rebase": c.entry, "segment": segment, "sequence": sequence} {
		keep(kind, record, source)
	}
	rule := map[string]any{"name": "[Acme]", "trigger_type": "tag_added", "trigger_config": map[string]any{"tag": "acme"}, "definition": nil, "actions": []any{}}
	renamed := maps.Clone(rule)
	renamed["name"] = "Renamed"
	keep("automation", automation, map[string]any{"mine": renamed, "from": rule})
	kept := func(field string, value any) map[string]any {
		return map[string]any{"mine": map[string]any{field: value}, "from": map[string]any{}}
	}
	tenant := page.get("/settings/account")["tenant_id"].(string)
	keep("account_who", tenant, kept("name", "Renamed"))
	keep("scoring", tenant, kept("max", 500))
	sender, lane := page.firstID("/sending-identities"), page.firstID("/mta-configs")
	keep("sender", sender, kept("display_name", "Renamed"))
	keep("mta_config", lane, kept("name", "Renamed"))
	for _, route := range []string{
		"/broadcasts/" + broadcast + "/edit", "/library/" + c.entry + "?v=1&edit=rebase", "/library/" + c.entry + "?edit=1", "/templates/" + c.template, "/blocks/" + c.block,
		"/segments/" + page.account.List, "/sequences/" + sequence, "/automations/" + automation,
		"/settings/account", "/settings/scoring", "/sending/senders/" + sender, "/sending/mta/" + lane,
	} {
		page.expectFewRequests(route)
	}
	page.WaitFor(`[...document.querySelectorAll('main input')].some(i => i.value === 'Renamed')`)
	for _, route := range lists {
		if many := page.firstRequests(route); len(many) > mostRequests || len(many) != len(few[route]) {
			t.Errorf("%s: %d requests with many rows, %d with few: %s", route, len(many), len(few[route]), strings.Join(many, ", "))
		}
	}
}

// fillField puts a text into the field with a path.
func (page appPage) fillField(path, text string) {
	page.T.Helper()
	find := fmt.Sprintf(`document.querySelector('[data-path=%q]')`, path)
	page.WaitFor(find)
	page.Evaluate(find + `.focus(); ` + find + `.select()`)
	page.Type(text)
}

// get returns a record.
func (page appPage) get(path string) map[string]any {
	page.T.Helper()
	got, err := page.account.Owner.Must(page.Ctx, http.MethodGet, path, nil)
	if err != nil {
		page.T.Fatal(err)
	}
	return got
}

// completeCode types into the code editor, where letters are no shortcuts of the page: it offers names, explains them, and
// undoes all of it.
func (page appPage) completeCode() {
	page.T.Helper()
	page.ShowCode()
	root := `[...document.querySelectorAll('main div')].find(e => e.shadowRoot)?.shadowRoot`
	page.WaitFor(root + `?.querySelector('.cm-content')?.ariaLabel?.includes('F1')`)
	before := page.EvaluateString(root + `.querySelector('.cm-content').textContent`)
	page.Evaluate(root + `.querySelector('.cm-content').focus()`)
	for _, c := range []struct{ typed, want string }{{"{{ contact.first_nam", "contact.first_name"}, {" | upcas", "upcase"}} {
		page.Type(c.typed)
		page.Press("e")
		page.WaitFor(root + fmt.Sprintf(`.querySelector('[role=option]')?.textContent === %q`, c.want))
		page.Press("Escape", "F1")
		page.WaitFor(root + fmt.Sprintf(`.querySelector('.cm-help code')?.textContent === %q`, c.want))
	}
	for range 10 {
		page.Press("Control+z")
	}
	page.WaitFor(root + fmt.Sprintf(`.querySelector('.cm-content').textContent === %q`, before))
}

// The brand is chosen, beside a mail that shows it. A template begins with it, names something that it does not declare, is corrected by a quick fix, is
// previewed to a contact and saved; the draft that uses it says that it changed.
func TestATemplateIsWrittenInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		page.open("/settings/brand")
		page.Fill("Main colour", "#a03")
		page.Fill("Rounded corners", "3")
		page.watchPreviews()
		page.fillField("footer", "Bricks <3 since 1981")
		page.WaitFor(`document.querySelector('main iframe') && window.shown?.includes('Bricks &lt;3 since 1981')`)
		page.expectAccessible("the brand")
		page.RecordMessages()
		page.Click("Save")
		page.ExpectMessage("Saved")
		page.open("/templates")
		page.Click("New template")
		blank := `[...document.querySelectorAll('[role=dialog] li button')].find(b => b.textContent.startsWith('Empty MJML'))`
		page.ClickElement(blank)
		page.expectURL(`templates/[0-9a-f-]{36}$`)
		template := page.EvaluateString(`location.pathname.split('/').pop()`)
		page.completeCode()
		draft, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/broadcasts", map[string]any{
			"name": "May", "email_type_key": "newsletter", "include_segment_keys": []any{page.account.List},
			"content": map[string]any{"subject": "May", "template_slug": page.get("/templates/" + template)["slug"], "template_binding": map[string]any{}},
		})
		if err != nil {
			t.Fatal(err)
		}
		page.Fill("Subject", "Hello {{ contact.first_name }}, only {{param:price}}")
		page.Main().ExpectText("{{param:price}} names nothing")
		page.Click("Fix")
		declare := `[...document.querySelectorAll('[role=menuitem]')].find(m => m.textContent.includes('Declare price as number'))`
		page.ClickElement(declare)
		page.WaitFor(`!document.querySelector('[data-severity=error]') && !$.text(document.body).includes('names nothing')`)
		page.Check("A contact")
		page.Fill("Contact", "reader1@")
		page.WaitFor(`document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent.includes('reader1@example.org')`)
		page.Press("Enter")
		page.Main().ExpectText("Hello Reader1")
		page.Click("Save")
		page.In("dialog", "Save these changes?").ExpectText("1 draft keeps the old text until it is saved again.")
		page.Dialog().Click("Save")
		page.expectNoDialog()
		saved := page.get("/templates/" + template)
		if code, _ := saved["content_mjml"].(string); !strings.Contains(code, `<mj-button background-color="#aa0033" color="#ffffff" border-radius="3px"`) {
			t.Errorf("a new template begins with %s", code)
		} else if !strings.Contains(code, `{{ brand.footer | newline_to_br }}`) {
			t.Errorf("a new template does not print the footer of the brand: %s", code)
		}
		parameters, _ := saved["parameters_schema"].([]any)
		if len(parameters) != 1 || parameters[0].(map[string]any)["name"] != "price" || parameters[0].(map[string]any)["type"] != "number" || !strings.Contains(saved["subject"].(string), "{{param:price}}") {
			t.Errorf("saved the template %v", saved)
		}
		page.open("/broadcasts/" + draft["id"].(string) + "/edit")
		page.review().ExpectText("Compare and update") // beside the warning that the template changed
		page.expectNoProblems()
	})
}

// The values of a template are filled in: rows from a spreadsheet, a block for a slot; all that is wrong is listed
// at once, and is saved once it is right.
func TestATemplateIsFilledInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		c := page.createContent()
		page.open("/library/" + c.entry)
		page.Click("Edit")
		page.Main().ExpectText("All values fit the template.")
		page.Click("Paste from a spreadsheet")
		page.Fill("Rows of the spreadsheet", "Product\tPrice\nCake\t3.5\nPie\tfour\nTart\t6")
		page.Check("Replace them")
		page.Click("Insert 3 rows")
		page.fillField("parameters.headline", strings.Repeat("long ", 12))
		page.Check("A block you choose")
		page.Main().ExpectText("3 problems to fix") // too long, not a number, no block
		page.Click("Choose block")
		use := `document.querySelector('[aria-label="Use Spring offer"]')`
		page.ClickElement(use)
		page.WaitFor(`document.querySelector('[data-path="slots.promo.parameters.title"]')`)
		page.Main().ExpectText("Title must be filled in.")
		page.fillField("slots.promo.parameters.title", "Ten percent off")
		page.fillField("sections.products[1].price", "4")
		page.fillField("parameters.headline", "Cakes")
		page.Main().ExpectText("All values fit the template.")
		page.Evaluate(`[...document.querySelectorAll('details')].find(e => e.textContent.startsWith('Row 3')).closest('li').querySelector('[aria-label="Move up"]').click()`)
		page.WaitFor(`[...document.querySelectorAll('summary')].some(s => s.textContent.trim() === 'Row 2: Tart')`)
		page.Click("Save version 3")
		page.WaitFor(`[...document.querySelectorAll('[role=dialog] button')].some(b => b.textContent === 'Save')`)
		page.Dialog().Click("Save")
		page.Messages().ExpectText("Version 3 saved.")
		content := page.get("/messages/" + c.entry)["current_content"].(map[string]any)
		const want = `map[parameters:map[headline:Cakes] sections:map[products:[map[name:Cake price:3.5] map[name:Tart price:6] map[name:Pie price:4]]] slots:map[promo:map[block_id:spring-offer parameters:map[title:Ten percent off] strategy:fixed]]]`
		if got := fmt.Sprint(content["template_binding"]); got != want {
			t.Errorf("saved the binding %s, want %s", got, want)
		}
		page.open("/library/" + c.entry + "?v=3&compare=2")
		page.Main().ExpectText("From version 2 to version 3")
		page.Main().ExpectText("Ten percent off")
		page.expectNoProblems()
	})
}
