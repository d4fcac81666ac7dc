package columnar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var (
	city, email = rule.Attribute{Name: "city"}, rule.Attribute{Name: "email"}
	acme        = id.Tenant(101)
	noon        = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func known(text string) value { return value{text, true} }

func TestAnAttributeWithTooManyValuesIsNotKept(t *testing.T) {
	t.Parallel()
	made := newTable([]rule.Attribute{city, email}, 0)
	for i := range maxValues + 1 {
		made.load(row{id: id.Made[id.Contact](noon), values: []value{known("Bonn"), known(fmt.Sprint(i))}})
		if refused := made.refuses([]rule.Attribute{city, email}); refused != (i >= maxValues) {
			t.Fatalf("with %d values: refused %v", i+1, refused)
		}
	}
	if !made.has([]rule.Attribute{city}) || made.has([]rule.Attribute{city, email}) || made.refuses([]rule.Attribute{city}) {
		t.Error("the other attribute is not kept")
	}
	if n := made.size(); n < len(made.flags)*rowBytes(1) || n > len(made.flags)*(rowBytes(1)+1) {
		t.Errorf("%d contacts with one attribute take %d bytes", len(made.flags), n)
	}
}

// crowd creates contacts of a city, and returns the rule that counts them.
func crowd(t *testing.T, db *sqldb.DB, tenant id.Tenant, n int) rule.Formula {
	t.Helper()
	for i := range n {
		if _, err := contact.Create(t.Context(), db, tenant, fmt.Sprintf("c%d@example.org", i), contact.Change{Texts: map[contact.Text]*string{contact.City: new("Bonn")}}, contact.Rules{}, noon); err != nil {
			t.Fatal(err)
		}
	}
	in := rule.Field{Name: "city", Operator: rule.Equals, Value: rule.Value{Texts: []string{"bonn"}}}
	f, ok := rule.Tree{Root: rule.Group{Logic: rule.And, Conditions: []rule.Condition{in}}}.Formula(rule.Env{Now: noon})
	if !ok {
		t.Fatal("not a formula")
	}
	return f
}

// cached is a cache with a clock.
type cached struct {
	*testing.T
	*Cache
	db     *sqldb.DB
	loader *Loader
	now    time.Time
}

func newCached(t *testing.T) *cached {
	c := &cached{T: t, db: dbtest.One(t), now: noon}
	c.Cache = Of(c.db)
	c.MinContacts = 3
	c.loader = &Loader{DB: c.db, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return c.now }}
	c.tick()
	return c
}

func (c *cached) tick() {
	c.Helper()
	if _, err := c.loader.Tick(c.Context()); err != nil {
		c.Fatal(err)
	}
}

// counts reports whether contacts are counted in memory, and fails if not as many as wanted are.
func (c *cached) counts(tenant id.Tenant, f rule.Formula, want int) (ok bool) {
	c.Helper()
	err := c.db.Evaluate(c.Context(), tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		n, found, err := c.Count(ctx, db, tenant, f)
		if ok = found; ok && n != (Counts{want, want, want}) {
			c.Errorf("Count = %+v, want %d", n, want)
		}
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	return ok
}

func TestWhatIsAskedForTwiceIsKeptWhileItIsUsed(t *testing.T) {
	t.Parallel()
	c := newCached(t)
	f := crowd(t, c.db, acme, 5)
	wants := func(what string, want bool) {
		t.Helper()
		if got := c.counts(acme, f, 5); got != want {
			t.Errorf("%s: counted in memory: %v", what, got)
		}
	}
	wants("first", false)
	c.tick()
	wants("second", false)
	c.tick()
	wants("after it was loaded", true)
	c.now = c.now.Add(keepLoaded + time.Second)
	c.tick() // nobody has asked for long
	wants("after a pause", false)
	err := c.db.InTx(t.Context(), func(tx *sqldb.DB) error {
		for range 3 {
			if _, ok, err := c.Count(t.Context(), tx, acme, f); ok || err != nil {
				return errors.Join(errors.New("counted in a transaction that may write"), err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSmallAndLargeAccountsAreNotKept(t *testing.T) {
	t.Parallel()
	c := newCached(t)
	c.MaxMemory = 5 * rowBytes(1)
	small, large := id.Tenant(103), id.Tenant(104)
	for tenant, n := range map[id.Tenant]int{small: 2, large: 6} {
		f := crowd(t, c.db, tenant, n)
		for range 4 {
			if c.counts(tenant, f, n) {
				t.Errorf("%d contacts are kept", n)
			}
			c.tick()
		}
	}
}

func TestAccountsThatWereNotUsedForLongestMakeRoom(t *testing.T) {
	t.Parallel()
	c := newCached(t)
	c.MaxMemory = 3 * rowBytes(1) * 3
	first, second := id.Tenant(103), id.Tenant(104)
	f := crowd(t, c.db, first, 3)
	crowd(t, c.db, second, 3)
	for _, tenant := range []id.Tenant{first, second} {
		for range 2 {
			c.now = c.now.Add(time.Second)
			c.counts(tenant, f, 3)
			c.tick()
		}
	}
	if !c.counts(second, f, 3) || c.counts(first, f, 3) {
		t.Error("the account that was used first is kept, or the other is not")
	}
}
