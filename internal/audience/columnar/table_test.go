package columnar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactlog"
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
	made := newTable([]rule.Attribute{city, email}, maxValues+1)
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
	return formula(t, "city", "bonn")
}

// formula returns the rule that a field contains a text.
func formula(t *testing.T, name, text string) rule.Formula {
	t.Helper()
	in := rule.Field{Name: name, Operator: rule.Contains, Value: rule.Value{Texts: []string{text}}}
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

func TestAnAccountWhoseValuesTakeTooMuchMemoryIsNotKept(t *testing.T) {
	t.Parallel()
	c := newCached(t)
	f := crowd(t, c.db, acme, 3)
	c.MaxMemory = 3*rowBytes(1) + valueBytes // but there are two values, with none
	for range 4 {
		if c.counts(acme, f, 3) {
			t.Error("it is kept")
		}
		c.tick()
	}
	c.MaxMemory *= 4
	c.now = c.now.Add(retryAfter)
	c.counts(acme, f, 3)
	c.tick()
	if !c.counts(acme, f, 3) {
		t.Error("it is not tried again")
	}
}

func TestAccountsThatWereNotUsedForLongestMakeRoom(t *testing.T) {
	t.Parallel()
	c := newCached(t)
	first, second := id.Tenant(103), id.Tenant(104)
	f := crowd(t, c.db, first, 3)
	crowd(t, c.db, second, 3)
	for _, tenant := range []id.Tenant{first, second} {
		for range 2 {
			c.now = c.now.Add(time.Second)
			c.counts(tenant, f, 3)
			c.tick()
		}
		c.MaxMemory = int(c.tenants[first].size.Load()) * 3 / 2
	}
	if !c.counts(second, f, 3) || c.counts(first, f, 3) {
		t.Error("the account that was used first is kept, or the other is not")
	}
}

func TestAnAccountIsNotLoadedAgainAndAgain(t *testing.T) {
	t.Parallel()
	c := newCached(t)
	f := crowd(t, c.db, acme, 3)
	load := func() {
		c.counts(acme, f, 3)
		c.counts(acme, f, 3)
		c.tick()
	}
	load()
	if err := contactlog.Erase(t.Context(), c.db, acme); err != nil { // so that all must be read anew
		t.Fatal(err)
	}
	load()
	if c.counts(acme, f, 3) {
		t.Error("loaded twice within a minute")
	}
	c.now = c.now.Add(loadEvery)
	load()
	if !c.counts(acme, f, 3) {
		t.Error("not loaded after a minute")
	}
	c.now = c.now.Add(loadEvery)
	named := formula(t, "source", "x")
	c.counts(acme, named, 0)
	c.tick()
	if c.counts(acme, named, 0) {
		t.Error("an attribute that was asked for once is loaded because others are")
	}
}

func TestABusyAccountDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	c := newCached(t)
	busy := id.Tenant(103)
	f := crowd(t, c.db, acme, 3)
	crowd(t, c.db, busy, 3)
	for range 2 {
		c.counts(busy, f, 3)
	}
	if err := c.tenants[busy].lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer c.tenants[busy].unlock()
	c.turnTime = 10 * time.Millisecond
	for range 100 { // a turn may come late for the other one too
		c.now = c.now.Add(time.Second)
		if c.counts(acme, f, 3) {
			return
		}
		c.tick()
	}
	t.Error("the other account is not loaded")
}

func TestACountThatWaitsForAnotherEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := newCached(t)
	f := crowd(t, c.db, acme, 3)
	c.counts(acme, f, 3)
	if err := c.tenants[acme].lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer c.tenants[acme].unlock()
	err := c.db.Evaluate(t.Context(), acme.String(), func(ctx context.Context, db *sqldb.DB) error {
		ctx, leave := context.WithCancel(ctx)
		leave()
		_, _, err := c.Count(ctx, db, acme, f)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Count = %v, want Canceled", err)
	}
}

func TestNothingIsLoadedOnceTheLoaderHasEnded(t *testing.T) {
	t.Parallel()
	c := newCached(t)
	f := crowd(t, c.db, acme, 3)
	k, _ := c.ask(acme, attributesOf(f))
	c.begin(nil) // while a count is in progress
	c.request(k)
	if k.due || c.counts(acme, f, 3) {
		t.Error("asked for")
	}
}

// ending is a context that ends when it is asked for the nth time.
type ending struct {
	context.Context
	asked, end int
}

func (c *ending) Err() error {
	if c.asked++; c.asked >= c.end {
		return context.Canceled
	}
	return nil
}

func TestACountEndsWithItsContextAmongManyValues(t *testing.T) {
	t.Parallel()
	made := newTable([]rule.Attribute{city}, 0)
	for i := range 10 * checkEvery {
		made.load(row{id: id.Made[id.Contact](noon), flags: member, values: []value{known(fmt.Sprint(i))}})
	}
	f := formula(t, "city", "1")
	f = rule.Formula{Parts: []rule.Formula{f, f}}
	if n, ok, err := made.count(t.Context(), f); !ok || err != nil || n.All == 0 {
		t.Fatalf("count = %+v, %v, %v", n, ok, err)
	}
	for _, end := range []int{1, 2, 9, 15, 20} {
		ctx := &ending{t.Context(), 0, end}
		if _, ok, err := made.count(ctx, f); ok || !errors.Is(err, context.Canceled) || ctx.asked > end+1 {
			t.Errorf("count = %v, %v, though its context ended at the look %d; it looked %d times", ok, err, end, ctx.asked)
		}
	}
}

func TestFormulasThatCompareTooMuchAreNotCountedInMemory(t *testing.T) {
	t.Parallel()
	made := newTable([]rule.Attribute{city}, 0)
	for i := range 4 {
		made.load(row{id: id.Made[id.Contact](noon), values: []value{known(strings.Repeat(fmt.Sprint(i), 1<<20-1))}})
	}
	f := formula(t, "city", "0")
	for parts, want := range map[int]bool{2: true, maxCompared>>22 + 1: false} {
		n, ok, err := made.count(t.Context(), rule.Formula{Parts: slices.Repeat([]rule.Formula{f}, parts)})
		if ok != want || err != nil || ok && n.All != 1 {
			t.Errorf("with %d tests of 4 MB: count = %+v, %v, %v", parts, n, ok, err)
		}
	}
}
