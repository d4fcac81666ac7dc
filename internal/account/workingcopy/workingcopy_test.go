package workingcopy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/workingcopy"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// office is a tenant with two users.
type office struct {
	*testing.T
	db       *sqldb.DB
	tenant   id.Tenant
	ann, bob id.User
}

// each runs f on both databases. The copies of the same users in a second tenant must not change.
func each(t *testing.T, f func(o *office)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		o := &office{T: t, db: db, ann: id.New[id.User](), bob: id.New[id.User]()}
		other := *o
		for slug, in := range map[string]*office{"acme": o, "other": &other} {
			created, err := tenant.Create(t.Context(), db, slug, slug, "UTC", noon)
			o.ok(err)
			in.tenant = created.ID
		}
		shared := key("broadcast")
		other.store(other.ann, shared, "theirs", noon)
		before := other.list(other.ann, "", noon)
		if _, _, err := workingcopy.Find(t.Context(), db, o.tenant, o.ann, shared, noon); !errors.Is(err, workingcopy.ErrNotFound) {
			t.Errorf("another tenant's copy: %v", err)
		}
		f(o)
		if err := workingcopy.Delete(t.Context(), db, o.tenant, o.ann, shared); !errors.Is(err, workingcopy.ErrNotFound) {
			t.Errorf("deletion of another tenant's copy: %v", err)
		}
		if diff := cmp.Diff(before, other.list(other.ann, "", noon)); diff != "" {
			t.Errorf("the copies of the other tenant changed:\n%s", diff)
		}
	})
}

func (o *office) ok(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

// key returns the key of a new record.
func key(kind string) workingcopy.Key {
	return workingcopy.Key{Kind: kind, Record: "new-" + id.New[id.Broadcast]().String()}
}

func (o *office) store(user id.User, k workingcopy.Key, title string, at time.Time) {
	o.Helper()
	o.ok(workingcopy.Store(o.Context(), o.db, o.tenant, user, k, workingcopy.Input{Title: title, Data: json.RawMessage(`{"a": "<p>"}`)}, at))
}

func (o *office) list(user id.User, kind string, at time.Time) []workingcopy.Copy {
	o.Helper()
	list, err := workingcopy.List(o.Context(), o.db, o.tenant, user, kind, at)
	o.ok(err)
	return list
}

func TestCopiesAreReadAsStored(t *testing.T) {
	each(t, func(o *office) {
		letter, form := key("template"), key("form")
		o.store(o.ann, letter, "Letter", noon)
		o.store(o.ann, form, "", noon.Add(time.Minute))
		data := `{"html":"<p>é\u2028</p>", "n":1.10, "b":[null]}`
		base := int64(7)
		o.ok(workingcopy.Store(o.Context(), o.db, o.tenant, o.ann, letter, workingcopy.Input{Title: "Letter 2", BaseRevision: &base, Data: json.RawMessage(data)}, noon.Add(time.Hour)))
		want := []workingcopy.Copy{
			{Key: letter, Title: "Letter 2", BaseRevision: &base, Size: len(data), UpdatedAt: noon.Add(time.Hour)},
			{Key: form, Size: 12, UpdatedAt: noon.Add(time.Minute)},
		}
		if diff := cmp.Diff(want, o.list(o.ann, "", noon)); diff != "" {
			o.Errorf("list:\n%s", diff)
		}
		if diff := cmp.Diff(want[1:], o.list(o.ann, "form", noon)); diff != "" {
			o.Errorf("list of forms:\n%s", diff)
		}
		got, text, err := workingcopy.Find(o.Context(), o.db, o.tenant, o.ann, letter, noon)
		o.ok(err)
		if diff := cmp.Diff(want[0], got); diff != "" || string(text) != data {
			o.Errorf("%s is read as %s\n%s", data, text, diff)
		}
		o.ok(workingcopy.Delete(o.Context(), o.db, o.tenant, o.ann, letter))
		if err := workingcopy.Delete(o.Context(), o.db, o.tenant, o.ann, letter); !errors.Is(err, workingcopy.ErrNotFound) {
			o.Errorf("second deletion: %v", err)
		}
	})
}

func TestCopiesOfOtherUsersAreNotSeen(t *testing.T) {
	each(t, func(o *office) {
		k := key("segment")
		o.store(o.ann, k, "Ann's", noon)
		if _, _, err := workingcopy.Find(o.Context(), o.db, o.tenant, o.bob, k, noon); !errors.Is(err, workingcopy.ErrNotFound) {
			o.Errorf("Bob reads: %v", err)
		}
		if err := workingcopy.Delete(o.Context(), o.db, o.tenant, o.bob, k); !errors.Is(err, workingcopy.ErrNotFound) {
			o.Errorf("Bob deletes: %v", err)
		}
		o.store(o.bob, k, "Bob's", noon)
		if list := o.list(o.ann, "", noon); len(list) != 1 || list[0].Title != "Ann's" {
			o.Errorf("Ann's copies: %+v", list)
		}
		o.ok(workingcopy.DeleteOfUser(o.Context(), o.db, o.tenant, o.bob))
		if a, b := o.list(o.ann, "", noon), o.list(o.bob, "", noon); len(a) != 1 || len(b) != 0 {
			o.Errorf("after Bob left: Ann has %d copies, Bob %d", len(a), len(b))
		}
		o.store(o.bob, k, "Bob's", noon)
		o.store(o.bob, key("segment"), "another", noon)
		o.ok(workingcopy.Erase(o.Context(), o.db, o.tenant, []string{k.Record, "new-x"}))
		if a, b := o.list(o.ann, "", noon), o.list(o.bob, "", noon); len(a) != 0 || len(b) != 1 {
			o.Errorf("after the record was erased: Ann has %d copies, Bob %d", len(a), len(b))
		}
	})
}

func TestAUserHasAtMost200Copies(t *testing.T) {
	each(t, func(o *office) {
		first := key("block")
		o.store(o.ann, first, "first", noon)
		for range 199 {
			o.store(o.ann, key("block"), "", noon)
		}
		in := workingcopy.Input{Data: json.RawMessage(`{}`)}
		if err := workingcopy.Store(o.Context(), o.db, o.tenant, o.ann, key("form"), in, noon); !errors.Is(err, workingcopy.ErrLimit) {
			o.Errorf("the 201st copy: %v", err)
		}
		o.store(o.ann, first, "again", noon)
		o.store(o.bob, key("form"), "of another user", noon)
		o.store(o.ann, key("form"), "when the others are too old", noon.Add(workingcopy.MaxAge))
	})
}

func TestCopiesEndAfter30Days(t *testing.T) {
	each(t, func(o *office) {
		old, kept := key("form"), key("form")
		o.store(o.ann, old, "old", noon)
		o.store(o.bob, old, "old", noon)
		o.store(o.ann, kept, "kept", noon.Add(time.Second))
		end := noon.Add(workingcopy.MaxAge)
		if _, _, err := workingcopy.Find(o.Context(), o.db, o.tenant, o.ann, old, end); !errors.Is(err, workingcopy.ErrNotFound) {
			o.Errorf("after 30 days: %v", err)
		}
		if list := o.list(o.ann, "", end); len(list) != 1 || list[0].Key != kept {
			o.Errorf("after 30 days: %+v", list)
		}
		for _, want := range []int{1, 1, 0} {
			n, err := workingcopy.Prune(o.Context(), o.db, o.tenant, noon, 1)
			if o.ok(err); n != want {
				o.Errorf("%d copies deleted, want %d", n, want)
			}
		}
		if list := o.list(o.ann, "", noon); len(list) != 1 || list[0].Key != kept {
			o.Errorf("after the deletion: %+v", list)
		}
	})
}

func TestInvalidCopies(t *testing.T) {
	t.Parallel()
	small := json.RawMessage(`{}`)
	for name, tt := range map[string]struct {
		in    workingcopy.Input
		paths string
	}{
		"valid":     {workingcopy.Input{Data: small, Title: strings.Repeat("é", 200), BaseRevision: new(int64(0))}, ""},
		"largest":   {workingcopy.Input{Data: make(json.RawMessage, workingcopy.MaxData)}, ""},
		"too large": {workingcopy.Input{Data: make(json.RawMessage, workingcopy.MaxData+1)}, "data"},
		"title":     {workingcopy.Input{Data: small, Title: strings.Repeat("x", 201), BaseRevision: new(int64(-1))}, "title base_revision"},
	} {
		var paths []string
		if f, ok := fault.As(tt.in.Check()); ok {
			for _, p := range f.Details.(fault.Fields).Fields {
				paths = append(paths, p.Path)
			}
		}
		if got := strings.Join(paths, " "); got != tt.paths {
			t.Errorf("%s: problems at %q, want %q", name, got, tt.paths)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	const some = "01900000-0000-7000-8000-000000000071"
	for _, k := range []workingcopy.Key{{"broadcast", some}, {"mta_config", "new-" + some}} {
		if got, err := workingcopy.ParseKey(k.Kind, k.Record); err != nil || got != k {
			t.Errorf("%v: %v, %v", k, got, err)
		}
	}
	for _, k := range []workingcopy.Key{
		{"", some}, {"Broadcast", some}, {"a b", some}, {strings.Repeat("a", 33), some}, {"_a", some},
		{"form", ""}, {"form", "new-"}, {"form", "new-new-" + some}, {"form", "5"}, {"form", strings.ToUpper("01a" + some[3:])}, {"form", "00000000-0000-0000-0000-000000000000"},
	} {
		if _, err := workingcopy.ParseKey(k.Kind, k.Record); !errors.Is(err, workingcopy.ErrNotFound) {
			t.Errorf("%s: %v, want NOT_FOUND", fmt.Sprint(k), err)
		}
	}
}

// TestCopiesOfATenantAreBounded counts the bytes of all users' copies through replacement, deletion, erasure and expiry.
func TestCopiesOfATenantAreBounded(t *testing.T) {
	each(t, func(o *office) {
		ctx := quota.With(o.Context(), quota.Limits{WorkingCopies: 100})
		put := func(user id.User, k workingcopy.Key, size int, at time.Time) error {
			data := json.RawMessage(`{"a":"` + strings.Repeat("x", size-8) + `"}`)
			return workingcopy.Store(ctx, o.db, o.tenant, user, k, workingcopy.Input{Data: data}, at)
		}
		used := func(want int64) {
			o.Helper()
			var size int64
			o.ok(o.db.QueryRow(ctx, `SELECT COALESCE(SUM(size), 0) FROM working_copy WHERE tenant_id = $1`, o.tenant).Scan(&size))
			if n, err := quota.Used(ctx, o.db, o.tenant, quota.WorkingCopies); err != nil || n != want || size != want {
				o.Errorf("%d bytes are counted and %d stored, %v; want %d", n, size, err, want)
			}
		}
		a, b, c, d := key("form"), key("form"), key("form"), key("form")
		o.ok(put(o.ann, a, 40, noon))
		o.ok(put(o.ann, a, 30, noon))
		used(30)
		o.ok(put(o.bob, a, 30, noon.Add(time.Hour)))
		o.ok(put(o.bob, b, 40, noon.Add(time.Hour)))
		used(100)
		if err := put(o.ann, c, 8, noon); !errors.Is(err, quota.ErrFull) {
			o.Errorf("beyond the limit: %v", err)
		}
		if err := put(o.ann, a, 31, noon); !errors.Is(err, quota.ErrFull) {
			o.Errorf("a longer copy beyond the limit: %v", err)
		}
		o.ok(put(o.ann, a, 29, noon))
		used(99)
		o.ok(workingcopy.Delete(ctx, o.db, o.tenant, o.bob, b))
		used(59)
		o.ok(workingcopy.Erase(ctx, o.db, o.tenant, []string{a.Record}))
		used(0)
		o.ok(put(o.ann, c, 50, noon))
		o.ok(put(o.bob, d, 50, noon.Add(time.Hour)))
		n, err := workingcopy.Prune(ctx, o.db, o.tenant, noon, 10)
		if err != nil || n != 1 {
			o.Errorf("%d expired, %v", n, err)
		}
		used(50)
		o.ok(workingcopy.DeleteOfUser(ctx, o.db, o.tenant, o.bob))
		used(0)
	})
}
