package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Reading contacts takes forever. The number of people whom a changed rule matches stays as it was, dimmed and with a
// clock, until there is a new one or the server gives up; a draft says that its audience is unknown. Then contacts can be read again, and both
// say what is true.
func TestAnAudienceThatCannotBeCountedIsShownAsUnknown(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		rule := func(country string) string {
			return `{"logic": "and", "conditions": [{"type": "field", "field": "country", "operator": "eq", "value": "` + country + `"}]}`
		}
		page.call(http.MethodPost, "/segments", map[string]any{"name": "Germans", "definition": map[string]any{"logic": "and", "conditions": []any{map[string]any{"type": "field", "field": "country", "operator": "eq", "value": "DE"}}}})
		draft := page.createDraft(map[string]any{"include_segment_keys": []any{"germans"}})

		const counting = `[...document.querySelectorAll('[role=status]')].find(s => s.querySelector('svg[aria-label=Counting]') && getComputedStyle(s).color !== getComputedStyle(document.body).color)`
		const count = "25 match, 25 of them can be mailed."
		page.open("/segments/germans")
		page.In("region", "Matches now").ExpectText(count)
		free := page.blockContacts()
		page.fillRule(rule("AT"))
		page.WaitFor(counting + `?.innerText.includes('` + count + `')`)
		page.expectAccessible("a slow count")
		page.In("region", "Matches now").ExpectText("It took too long, so the server gave up.")
		page.Fill("JSON", rule("FR"))
		page.WaitFor(counting)
		free()
		page.Fill("JSON", rule("US")) // on SQLite the count that is under way would not end; it is given up
		page.In("region", "Matches now").ExpectText("Nobody matches.")
		page.WaitFor(`!` + counting)
		page.Fill("JSON", rule("DE"))
		page.In("region", "Matches now").ExpectText(count)

		const unknown = "Counting the audience took too long"
		free = page.blockContacts()
		page.Goto(page.program.BaseURL + "/app/acme/broadcasts/" + draft + "/edit")
		page.review().ExpectText(unknown)
		page.WaitFor(`![...document.querySelectorAll('main details')].some(s => s.querySelector('[data-path=include_segment_keys]') && !s.open)`)
		free()
		page.open("/broadcasts/" + draft + "/edit")
		page.In("region", "Audience").ExpectText("25 recipients")
		if text := page.EvaluateString(`document.body.innerText`); strings.Contains(text, unknown) {
			t.Error("the audience is still unknown")
		}
	})
}

// blockContacts keeps everybody from reading contacts until the function that it returns is called: on PostgreSQL by a
// lock, on SQLite by a view in place of the table that never ends.
func (page appPage) blockContacts() (free func()) {
	page.T.Helper()
	db := e2etest.Database(page.T, page.program)
	run := func(statements ...string) {
		page.T.Helper()
		page.Must(db.InTx(page.Ctx, func(tx *sqldb.DB) error {
			for _, s := range statements {
				if _, err := tx.Exec(page.Ctx, s); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	if db.Dialect() == sqldb.SQLite {
		run(`ALTER TABLE contact RENAME TO contact_held`, `CREATE VIEW contact AS SELECT * FROM contact_held
			WHERE (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n) > 0`)
		return func() { run(`DROP VIEW contact`, `ALTER TABLE contact_held RENAME TO contact`) }
	}
	held, freed, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- db.InTx(page.Ctx, func(tx *sqldb.DB) error {
			_, err := tx.Exec(page.Ctx, `LOCK TABLE contact IN ACCESS EXCLUSIVE MODE`)
			close(held)
			<-freed
			return err
		})
	}()
	<-held
	return func() {
		page.T.Helper()
		close(freed)
		page.Must(<-ended)
	}
}
