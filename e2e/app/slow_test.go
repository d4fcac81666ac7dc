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
func TestSlowAudiencesAreTold(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		rule := func(country string) string {
			return `{"logic": "and", "conditions": [{"type": "field", "field": "country", "operator": "eq", "value": "` + country + `"}]}`
		}
		d.ask(http.MethodPost, "/segments", map[string]any{"name": "Germans", "definition": map[string]any{"logic": "and", "conditions": []any{map[string]any{"type": "field", "field": "country", "operator": "eq", "value": "DE"}}}})
		draft := d.create(map[string]any{"include_segment_keys": []any{"germans"}})

		const counting = `[...document.querySelectorAll('[role=status]')].find(s => s.querySelector('svg[aria-label=Counting]') && getComputedStyle(s).color !== getComputedStyle(document.body).color)`
		const count = "25 match, 25 of them can be mailed."
		d.open("/segments/germans")
		d.sees(count)
		free := d.holdsContacts()
		d.rule(rule("AT"))
		d.await(counting + `?.innerText.includes('` + count + `')`)
		d.checkAccess(readAxe(t), "a slow count")
		d.sees("It took too long, so the server gave up.")
		d.fill("JSON", rule("FR"))
		d.await(counting)
		free()
		d.fill("JSON", rule("US")) // on SQLite the count that is under way would not end; it is given up
		d.sees("Nobody matches.")
		d.await(`!` + counting)
		d.fill("JSON", rule("DE"))
		d.sees(count)

		const unknown = "Loading the audience took too long"
		free = d.holdsContacts()
		d.Goto(d.p.BaseURL + "/app/acme/broadcasts/" + draft + "/edit")
		d.sees(unknown)
		d.await(`![...document.querySelectorAll('main details')].some(s => s.querySelector('[data-path=include_segment_keys]') && !s.open)`)
		free()
		d.open("/broadcasts/" + draft + "/edit")
		d.sees("25 recipients")
		if text := d.EvaluateString(`document.body.innerText`); strings.Contains(text, unknown) {
			t.Error("the audience is still unknown")
		}
	})
}

// holdsContacts keeps everybody from reading contacts until the function that it returns is called: on PostgreSQL by a
// lock, on SQLite by a view in place of the table that never ends.
func (d desk) holdsContacts() (free func()) {
	d.T.Helper()
	db := e2etest.Database(d.T, d.p)
	run := func(statements ...string) {
		d.T.Helper()
		d.Must(db.InTx(d.Ctx, func(tx *sqldb.DB) error {
			for _, s := range statements {
				if _, err := tx.Exec(d.Ctx, s); err != nil {
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
		ended <- db.InTx(d.Ctx, func(tx *sqldb.DB) error {
			_, err := tx.Exec(d.Ctx, `LOCK TABLE contact IN ACCESS EXCLUSIVE MODE`)
			close(held)
			<-freed
			return err
		})
	}()
	<-held
	return func() {
		d.T.Helper()
		close(freed)
		d.Must(<-ended)
	}
}
