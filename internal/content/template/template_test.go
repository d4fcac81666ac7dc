package template_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// compiler is shared, because starting the interpreter is slow.
var compiler = sync.OnceValue(mjml.New)

// account is the tenant of a test, beside another one in the same database.
type account struct {
	*testing.T
	db     *sqldb.DB
	tenant id.Tenant
	other  id.Tenant
}

func each(t *testing.T, f func(a *account)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f(&account{T: t, db: db, tenant: idtest.Tenant(), other: idtest.Tenant()})
	})
}

// needsCompiler skips a test if the program was built without the compiler.
func (a *account) needsCompiler() {
	a.Helper()
	if !compiler().Available() {
		a.Skip("built without the MJML compiler")
	}
}

func (a *account) ok(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

// page returns a change that creates an HTML template.
func page(name string, more ...func(ch *template.Change)) template.Change {
	ch := template.Change{Name: &name, HTML: new("<p>Hello {{ first_name }}</p>")}
	for _, f := range more {
		f(&ch)
	}
	return ch
}

func html(s string) func(ch *template.Change) { return func(ch *template.Change) { ch.HTML = &s } }

func asMJML(s string) func(ch *template.Change) {
	return func(ch *template.Change) { ch.HTML, ch.MJML, ch.Format = new(""), &s, new(binding.MJML) }
}

func declaring(raw binding.RawSchema) func(ch *template.Change) {
	return func(ch *template.Change) { ch.Schema = raw }
}

func params(s string) func(ch *template.Change) {
	return func(ch *template.Change) { ch.Schema.Parameters = json.RawMessage(s) }
}

func slots(s string) func(ch *template.Change) {
	return func(ch *template.Change) { ch.Schema.Slots = json.RawMessage(s) }
}

func sections(s string) func(ch *template.Change) {
	return func(ch *template.Change) { ch.Schema.Sections = json.RawMessage(s) }
}

func (a *account) create(ch template.Change) template.Template {
	a.Helper()
	t, _, err := template.Create(a.Context(), a.db, compiler(), a.tenant, ch, noon)
	a.ok(err)
	return t
}

func (a *account) update(ref string, ch template.Change) (template.Template, error) {
	t, _, err := template.Update(a.Context(), a.db, compiler(), a.tenant, ref, ch, noon)
	return t, err
}

func (a *account) block(name string, more ...func(ch *template.BlockChange)) template.Block {
	a.Helper()
	return a.blockOf(a.tenant, name, more...)
}

func (a *account) blockOf(tenant id.Tenant, name string, more ...func(ch *template.BlockChange)) template.Block {
	a.Helper()
	ch := template.BlockChange{Name: &name, HTML: new("<p>" + name + "</p>")}
	for _, f := range more {
		f(&ch)
	}
	b, _, err := template.CreateBlock(a.Context(), a.db, compiler(), tenant, ch, noon)
	a.ok(err)
	return b
}

func tagged(tags ...string) func(ch *template.BlockChange) {
	return func(ch *template.BlockChange) { ch.Tags = &tags }
}

// names returns the names of listed records.
func names[T any](list []T, name func(T) string) string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = name(v)
	}
	return strings.Join(all, " ")
}

func slugs(list []template.Template) string {
	return names(list, func(t template.Template) string { return t.Slug })
}

func blockSlugs(list []template.Block) string {
	return names(list, func(b template.Block) string { return b.Slug })
}

// sameJSON fails unless both are equal as JSON.
func sameJSON(t testing.TB, what string, got, want any) {
	t.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

func TestSlugsAreDerivedAndUnique(t *testing.T) {
	each(t, func(a *account) {
		for _, tt := range []struct{ name, slug, want string }{
			{"Spring Sale!", "", "spring-sale"},
			{"Spring sale", "", "spring-sale-2"},
			{"x", "spring-sale", "spring-sale-3"},
			{"日本", "", "item"},
			{"01900000-0000-7000-8000-000000000071", "", "01900000-0000-7000-8000-000000000071-2"}, // looks like an id
		} {
			got := a.create(page(tt.name, func(ch *template.Change) {
				if tt.slug != "" {
					ch.Slug = &tt.slug
				}
			}))
			if got.Slug != tt.want {
				a.Errorf("the slug of %q, %q is %q, want %q", tt.name, tt.slug, got.Slug, tt.want)
			}
			if b := a.block(tt.name, func(ch *template.BlockChange) {
				if tt.slug != "" {
					ch.Slug = &tt.slug
				}
			}); b.Slug != tt.want {
				a.Errorf("the slug of the block %q, %q is %q, want %q", tt.name, tt.slug, b.Slug, tt.want)
			}
			for _, ref := range []string{got.Slug, got.ID.String(), strings.ToUpper(got.ID.String())} {
				if found, err := template.ByRef(a.Context(), a.db, a.tenant, ref); err != nil || found.ID != got.ID {
					a.Errorf("ByRef(%q) = %v, %v", ref, found.ID, err)
				}
				if _, err := template.ByRef(a.Context(), a.db, a.other, ref); !errors.Is(err, template.ErrNotFound) {
					a.Errorf("another tenant's ByRef(%q): %v", ref, err)
				}
			}
		}
		theirs, _, err := template.Create(a.Context(), a.db, compiler(), a.other, page("Spring Sale"), noon)
		a.ok(err)
		if theirs.Slug != "spring-sale" {
			a.Errorf("another tenant's slug is %q", theirs.Slug)
		}
		for _, ref := range []string{"", "missing", "a\x00b", "\xff", id.New[id.Template]().String()} {
			if _, err := template.ByRef(a.Context(), a.db, a.tenant, ref); !errors.Is(err, template.ErrNotFound) {
				a.Errorf("ByRef(%q): %v", ref, err)
			}
			if _, err := template.BlockByRef(a.Context(), a.db, a.tenant, ref); !errors.Is(err, template.ErrNoBlock) {
				a.Errorf("BlockByRef(%q): %v", ref, err)
			}
		}
	})
}

func TestAbsentFieldsDoNotChange(t *testing.T) {
	each(t, func(a *account) {
		made := a.create(page(" Café ", params(`[{"name": "a", "type": "text"}]`), html("<p>{{param:a}}</p>"), func(ch *template.Change) {
			ch.Subject, ch.Text, ch.Tags, ch.InlineCSS = new("Hi {{param:a}}"), new("{{param:a}}"), &[]string{" x ", "y", "x"}, new(true)
		}))
		sameJSON(a, "tags", made.Tags, []string{"x", "y"})
		if made.Name != "Café" || made.Format != binding.HTML || made.Counts.Parameters != 1 {
			a.Errorf("made %+v", made)
		}
		read, err := template.ByRef(a.Context(), a.db, a.tenant, "cafe")
		a.ok(err)
		sameJSON(a, "read back", read, made)
		changed, _, err := template.Update(a.Context(), a.db, compiler(), a.tenant, "cafe", template.Change{Name: new("Bistro")}, noon.Add(time.Hour))
		a.ok(err)
		want := made
		want.Name, want.UpdatedAt, want.Revision = "Bistro", changed.UpdatedAt, 2
		sameJSON(a, "renamed", changed, want)
		if !changed.UpdatedAt.Equal(noon.Add(time.Hour)) {
			a.Errorf("updated at %s", changed.UpdatedAt)
		}
		changed, err = a.update(made.ID.String(), template.Change{Slug: new("bistro"), Subject: new(""), Text: new(""), Tags: &[]string{}})
		a.ok(err)
		want.Slug, want.Subject, want.Text, want.Tags, want.UpdatedAt, want.Revision = "bistro", nil, nil, []string{}, changed.UpdatedAt, 3
		sameJSON(a, "cleared", changed, want)
		read, err = template.ByRef(a.Context(), a.db, a.tenant, "bistro")
		a.ok(err)
		sameJSON(a, "read back", read, want)
		a.create(page("Taken"))
		if _, err := a.update("bistro", template.Change{Slug: new("taken")}); !errors.Is(err, template.ErrSlug) {
			a.Errorf("change to a slug that is taken: %v", err)
		}
		if _, err := a.update("bistro", template.Change{Slug: new("bistro")}); err != nil {
			a.Errorf("change to its own slug: %v", err)
		}
		if _, err := a.update("missing", template.Change{}); !errors.Is(err, template.ErrNotFound) {
			a.Errorf("change of a missing template: %v", err)
		}

		b := a.block("Hero", tagged("x"), func(ch *template.BlockChange) {
			ch.HTML, ch.SlotKeys, ch.Text = new("<p>{{param:t}}</p>"), &[]string{"hero"}, new("t")
			ch.Schema.Parameters = json.RawMessage(`[{"name": "t", "type": "text"}]`)
		})
		wantBlock := b
		got, _, err := template.UpdateBlock(a.Context(), a.db, compiler(), a.tenant, "hero", template.BlockChange{Active: new(false), Text: new("")}, noon)
		a.ok(err)
		wantBlock.Active, wantBlock.Text, wantBlock.UpdatedAt, wantBlock.Revision = false, nil, got.UpdatedAt, 2
		sameJSON(a, "block", got, wantBlock)
		if _, _, err := template.UpdateBlock(a.Context(), a.db, compiler(), a.tenant, "hero", template.BlockChange{HTML: new("")}, noon); !errors.Is(err, template.ErrNoContent) {
			a.Errorf("change to a block without bodies: %v", err)
		}
		a.block("Other")
		if _, _, err := template.UpdateBlock(a.Context(), a.db, compiler(), a.tenant, "hero", template.BlockChange{Slug: new("other")}, noon); !errors.Is(err, template.ErrSlug) {
			a.Errorf("change to a slug that is taken: %v", err)
		}
		stored, err := template.BlockByRef(a.Context(), a.db, a.tenant, "hero")
		a.ok(err)
		sameJSON(a, "block read back", stored, wantBlock)
	})
}

func TestListsAreByNameAndOmitBodies(t *testing.T) {
	each(t, func(a *account) {
		for _, n := range []string{"b", "B", "a", "Ä", "c"} {
			a.create(page(n, func(ch *template.Change) { ch.Tags = &[]string{"all", n} }))
			a.block(n, tagged("all", n), func(ch *template.BlockChange) { ch.SlotKeys = &[]string{"hero", n} })
		}
		list := func(f template.Filter) string {
			all, err := template.List(a.Context(), a.db, a.tenant, f, false)
			a.ok(err)
			blocks, err := template.ListBlocks(a.Context(), a.db, a.tenant, template.Filter{Tags: f.Tags}, false)
			a.ok(err)
			if slugs(all) != blockSlugs(blocks) {
				a.Errorf("templates %s, blocks %s", slugs(all), blockSlugs(blocks))
			}
			return names(all, func(t template.Template) string { return t.Name })
		}
		for _, tt := range []struct {
			tags []string
			want string
		}{{nil, "B a b c Ä"}, {[]string{"all"}, "B a b c Ä"}, {[]string{"all", "b"}, "b"}, {[]string{"a", "b"}, ""}, {[]string{"ALL"}, ""}, {[]string{`"`}, ""}} {
			if got := list(template.Filter{Tags: tt.tags}); got != tt.want {
				a.Errorf("tags %v: %q, want %q", tt.tags, got, tt.want)
			}
		}
		fit, err := template.ListBlocks(a.Context(), a.db, a.tenant, template.Filter{SlotKeys: []string{"a", "b", "q"}, Tags: []string{"all"}}, true)
		a.ok(err)
		if blockSlugs(fit) != "a b" || fit[0].HTML == nil {
			a.Errorf("slot keys: %s", blockSlugs(fit))
		}
		complete, err := template.List(a.Context(), a.db, a.tenant, template.Filter{}, true)
		a.ok(err)
		heads, err := template.List(a.Context(), a.db, a.tenant, template.Filter{}, false)
		a.ok(err)
		if complete[0].HTML == "" || heads[0].HTML != "" {
			a.Errorf("complete %+v, without bodies %+v", complete[0], heads[0])
		}
		none, err := template.List(a.Context(), a.db, a.other, template.Filter{}, false)
		a.ok(err)
		if none == nil || len(none) != 0 {
			a.Errorf("another tenant's list: %v", none)
		}
	})
}

// counter reports that all templates and blocks in it are used.
type counter map[string]usage.Sends

func (c counter) Count(_ context.Context, _ *sqldb.DB, _ id.Tenant, _ usage.Kind, _ string, _ time.Time) (map[string]usage.Sends, error) {
	return c, nil
}

func TestRecordsInUseAreDeletedByForceOnly(t *testing.T) {
	each(t, func(a *account) {
		made, b := a.create(page("Used")), a.block("Used")
		uses := counter{made.ID.String(): {ActiveDrafts: 1, RecentBroadcasts: 2}, b.ID.String(): {RecentBroadcasts: 1}}
		if err := template.Delete(a.Context(), a.db, a.other, "used", true, nil, noon); !errors.Is(err, template.ErrNotFound) {
			a.Errorf("another tenant deletes: %v", err)
		}
		for details, del := range map[string]func(force bool, counts usage.Counter) error{
			`{"active_drafts":1,"recent_broadcasts":2}`: func(force bool, counts usage.Counter) error {
				return template.Delete(a.Context(), a.db, a.tenant, "used", force, counts, noon)
			},
			`{"active_drafts":0,"recent_broadcasts":1}`: func(force bool, counts usage.Counter) error {
				return template.DeleteBlock(a.Context(), a.db, a.tenant, b.ID.String(), force, counts, noon)
			},
		} {
			err := del(false, uses)
			f, _ := fault.As(err)
			if !errors.Is(err, template.ErrInUse) {
				a.Fatalf("deleted though it is used: %v", err)
			}
			sameJSON(a, "details", f.Details, json.RawMessage(details))
			a.ok(del(true, uses))
			if err := del(true, uses); !errors.Is(err, template.ErrNotFound) {
				a.Errorf("deleted twice: %v", err)
			}
		}
		a.create(page("Free"))
		a.ok(template.Delete(a.Context(), a.db, a.tenant, "free", false, uses, noon))
		a.create(page("Free"))
		a.ok(template.Delete(a.Context(), a.db, a.tenant, "free", false, nil, noon))
	})
}

func TestRecordsOfAnAccountAreLimited(t *testing.T) {
	each(t, func(a *account) {
		a.ok(a.db.InTx(a.Context(), func(tx *sqldb.DB) error {
			for n := range 1000 {
				if n < 500 {
					if _, err := tx.Exec(a.Context(), `
						INSERT INTO template (tenant_id, id, slug, created_at, updated_at, name, format, tags, counts,
							content_html, inline_css, parameters, sections, slots, groups, expects)
						VALUES ($1, $2, $3, 1, 1, 'n', 'html', '[]', '{}', 'x', FALSE, '[]', '[]', '[]', '[]', '[]')`, a.tenant, id.New[id.Template](), fmt.Sprint("t", n)); err != nil {
						return err
					}
				}
				if _, err := tx.Exec(a.Context(), `
					INSERT INTO block (tenant_id, id, slug, created_at, updated_at, name, active, tags, slot_keys, parameters, sections, groups, content_html)
					VALUES ($1, $2, $3, 1, 1, 'n', TRUE, '[]', '[]', '[]', '[]', '[]', 'x')`, a.tenant, id.New[id.Block](), fmt.Sprint("b", n)); err != nil {
					return err
				}
			}
			return nil
		}))
		if _, _, err := template.Create(a.Context(), a.db, compiler(), a.tenant, page("more"), noon); !errors.Is(err, template.ErrLimit) {
			a.Errorf("a template above the limit: %v", err)
		}
		_, _, err := template.CreateBlock(a.Context(), a.db, compiler(), a.tenant, template.BlockChange{Name: new("more"), HTML: new("x")}, noon)
		if !errors.Is(err, template.ErrLimit) {
			a.Errorf("a block above the limit: %v", err)
		}
		if _, err := a.update("t1", template.Change{Name: new("renamed")}); err != nil {
			a.Errorf("an update at the limit: %v", err)
		}
	})
}

// Concurrent writers cannot produce a combination of schema and body that was not validated.
func TestSchemaAndBodyOfWritersAreNotMixed(t *testing.T) {
	each(t, func(a *account) {
		for range 5 {
			made := a.create(page("Contested", html("{{param:a}}"), params(`[{"name": "a", "type": "text"}]`)))
			var wg sync.WaitGroup
			for _, ch := range []template.Change{
				{HTML: new("plain"), Schema: binding.RawSchema{Parameters: json.RawMessage(`[]`)}},
				{Subject: new("{{param:a}}")},
				{Text: new("{{param:a}}")},
				{Tags: &[]string{"x"}},
			} {
				wg.Go(func() {
					if _, err := a.update(made.ID.String(), ch); err != nil && !errors.Is(err, binding.ErrReference) {
						a.Errorf("update: %v", err)
					}
				})
			}
			wg.Wait()
			got, err := template.ByRef(a.Context(), a.db, a.tenant, made.ID.String())
			a.ok(err)
			if !slices.Equal(got.Tags, []string{"x"}) {
				a.Errorf("a change was lost: %v", got.Tags)
			}
			if _, _, err := template.Update(a.Context(), a.db, compiler(), a.tenant, made.ID.String(), template.Change{HTML: &got.HTML}, noon); err != nil {
				a.Errorf("the stored body does not fit its schema: %v in %+v", err, got)
			}
		}
	})
}

func benchAccount(b *testing.B) *sqldb.DB {
	b.Helper()
	return dbtest.SQLite(b)
}
