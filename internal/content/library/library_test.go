package library_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Each run of a property is several transactions on a real database, so there are 20 runs rather
// than rapid's default of 100.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is the library of a tenant.
type fixture struct {
	*testing.T
	db     *sqldb.DB
	tenant id.Tenant
	now    time.Time
}

// each runs f on both databases. The only entry of a second tenant must not change, and cannot be
// reached from the first.
func each(t *testing.T, f func(s *fixture)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := &fixture{T: t, db: db, tenant: idtest.Tenant(), now: noon}
		other := &fixture{T: t, db: db, tenant: idtest.Tenant(), now: noon}
		theirs := other.create(library.Change{Name: new("Theirs"), Content: withSubject("Theirs")})
		before := other.load(theirs.ID)
		f(s)
		for what, err := range map[string]error{
			"load":      second(library.Load(t.Context(), db, s.tenant, theirs.ID)),
			"update":    second(library.Update(t.Context(), s.author(), s.tenant, theirs.ID, library.Change{Name: new("Mine"), Content: withSubject("x")})),
			"archive":   second(library.Archive(t.Context(), s.author(), s.tenant, theirs.ID)),
			"duplicate": second(library.Duplicate(t.Context(), db, s.tenant, theirs.ID, noon)),
			"delete":    library.Delete(t.Context(), db, s.tenant, theirs.ID, unused),
			"version":   second(library.VersionOf(t.Context(), db, s.tenant, theirs.ID, 1, unused)),
			"rebase":    second(library.PreviewRebase(t.Context(), db, s.tenant, theirs.ID, nil, noon)),
		} {
			if !errors.Is(err, library.ErrNotFound) {
				t.Errorf("%s of another tenant's entry: %v", what, err)
			}
		}
		if _, _, err := library.Content(t.Context(), db, s.tenant, theirs.ID, 0); !errors.Is(err, library.ErrNoEntry) {
			t.Errorf("the content of another tenant's entry: %v", err)
		}
		for _, err := range library.Versions(t.Context(), db, s.tenant, theirs.ID, unused) {
			if !errors.Is(err, library.ErrNotFound) {
				t.Errorf("the versions of another tenant's entry: %v", err)
			}
		}
		for _, e := range s.list(library.Filter{Statuses: library.Statuses(), Limit: 1000}) {
			if e.Tenant != s.tenant {
				t.Errorf("another tenant's entry %s is listed", e.Name)
			}
		}
		if diff := cmp.Diff(before, other.load(theirs.ID)); diff != "" {
			t.Errorf("another tenant's entry changed:\n%s", diff)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// unused finds no uses.
var unused = usage.Finders{}

func (s *fixture) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *fixture) author() draft.Author { return draft.Author{DB: s.db, Now: s.now} }

// later advances the clock.
func (s *fixture) later() { s.now = s.now.Add(time.Minute) }

func (s *fixture) create(ch library.Change) library.Entry {
	s.Helper()
	e, err := library.Create(s.Context(), s.author(), s.tenant, ch)
	s.ok(err)
	return e
}

func (s *fixture) update(entry id.LibraryEntry, ch library.Change) library.Entry {
	s.Helper()
	e, err := library.Update(s.Context(), s.author(), s.tenant, entry, ch)
	s.ok(err)
	return e
}

func (s *fixture) load(entry id.LibraryEntry) library.Entry {
	s.Helper()
	e, err := library.Load(s.Context(), s.db, s.tenant, entry)
	s.ok(err)
	return e
}

func (s *fixture) list(f library.Filter) []library.Entry {
	s.Helper()
	list, _, err := library.List(s.Context(), s.db, s.tenant, f)
	s.ok(err)
	return list
}

func (s *fixture) versions(entry id.LibraryEntry) []library.Version {
	s.Helper()
	var list []library.Version
	for v, err := range library.Versions(s.Context(), s.db, s.tenant, entry, nil) {
		s.ok(err)
		list = append(list, v)
	}
	return list
}

// withSubject is a complete content with a subject.
func withSubject(subject string) *draft.Change {
	return withTexts(draft.Subject, subject, draft.BodyHTML, "<p>"+subject+"</p>")
}

// withTexts is a change of some texts, given as names and values.
func withTexts(pairs ...any) *draft.Change {
	parts := map[draft.Field]*string{}
	for i := 0; i < len(pairs); i += 2 {
		parts[pairs[i].(draft.Field)] = new(pairs[i+1].(string))
	}
	return &draft.Change{Parts: parts}
}

// subjects returns the subjects of versions, in their order.
func subjects(list []library.Version) string {
	var all []string
	for _, v := range list {
		all = append(all, fmt.Sprintf("%d %s", v.Number, *v.Content.Subject))
	}
	return strings.Join(all, ", ")
}

func TestANewEntryHasNoContentOrVersionOne(t *testing.T) {
	each(t, func(s *fixture) {
		bare := s.create(library.Change{Name: new("  Spring news ")})
		want := library.Entry{
			Tenant: s.tenant, ID: bare.ID, Slug: "spring-news", Name: "Spring news", Status: library.Draft, Tags: []string{}, CreatedAt: noon, UpdatedAt: noon, Revision: 1,
		}
		if diff := cmp.Diff(want, bare); diff != "" {
			s.Errorf("created:\n%s", diff)
		}
		if diff := cmp.Diff(want, s.load(bare.ID)); diff != "" {
			s.Errorf("loaded:\n%s", diff)
		}
		if list := s.versions(bare.ID); len(list) != 0 {
			s.Errorf("an entry without content has versions: %v", list)
		}

		full := s.create(library.Change{
			Name: new("Spring news"), Slug: new("spring-news"), Status: new(library.Published), Tags: new([]string{"b", " a ", "b"}), Content: withSubject("Hi {{ first_name }}"),
		})
		want = library.Entry{
			Tenant: s.tenant, ID: full.ID, Slug: "spring-news-2", Name: "Spring news", Status: library.Published, Tags: []string{"b", "a"}, Version: 1,
			Content:   &draft.Content{Subject: new("Hi {{ first_name }}"), HTML: new("<p>Hi {{ first_name }}</p>")},
			CreatedAt: noon, UpdatedAt: noon, Revision: 1,
		}
		if diff := cmp.Diff(want, full); diff != "" {
			s.Errorf("created:\n%s", diff)
		}
		if diff := cmp.Diff(want, s.load(full.ID)); diff != "" {
			s.Errorf("loaded:\n%s", diff)
		}
		if got := subjects(s.versions(full.ID)); got != "1 Hi {{ first_name }}" {
			s.Errorf("versions: %s", got)
		}
	})
}

// Entries with equal names get numbered slugs, each once.
func TestSlugsAreNumbered(t *testing.T) {
	each(t, func(s *fixture) {
		long := strings.Repeat("n", 64)
		for _, tt := range []struct{ name, slug, want string }{
			{"News", "", "news"}, {"News", "", "news-2"}, {"x", "news", "news-3"}, {"News 2", "", "news-2-2"}, {"日本", "", "item"}, {"!", "", "item-2"},
			{"x", long, long}, {"y", long, long[:62] + "-2"}, {strings.Repeat("n", 90), "", long[:62] + "-3"},
		} {
			ch := library.Change{Name: new(tt.name)}
			if tt.slug != "" {
				ch.Slug = &tt.slug
			}
			if e := s.create(ch); e.Slug != tt.want {
				s.Errorf("the slug of %.20q (%.20q) is %s, want %s", tt.name, tt.slug, e.Slug, tt.want)
			}
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := library.Create(s.Context(), s.author(), s.tenant, library.Change{Name: new("At once")}); err != nil {
					s.Error(err)
				}
			})
		}
		all.Wait()
		seen := map[string]bool{}
		for _, e := range s.list(library.Filter{Search: "at once", Limit: 100}) {
			seen[e.Slug] = true
		}
		if len(seen) != 8 {
			s.Errorf("eight entries have the slugs %v", seen)
		}
	})
}

func TestInvalidChangesAreRefused(t *testing.T) {
	each(t, func(s *fixture) {
		tags := make([]string, 51)
		for i := range tags {
			tags[i] = fmt.Sprint(i)
		}
		e := s.create(library.Change{Name: new("Old"), Content: withSubject("Old")})
		bare := s.create(library.Change{Name: new("Bare")})
		before := s.load(e.ID)
		for name, tt := range map[string]struct {
			ch    library.Change
			code  string
			paths []string
		}{
			"name":        {library.Change{Name: new(" ")}, "INVALID_INPUT", []string{"name"}},
			"long name":   {library.Change{Name: new(strings.Repeat("é", 201))}, "INVALID_INPUT", []string{"name"}},
			"NUL":         {library.Change{Name: new("a\x00")}, "INVALID_INPUT", []string{"name"}},
			"all at once": {library.Change{Name: new(""), Slug: new("A b"), Tags: new([]string{"x", " "}), Content: withTexts(draft.Subject, "a\nb")}, "INVALID_INPUT", []string{"name", "slug", "tags", "content.subject"}},
			"slug":        {library.Change{Name: new("x"), Slug: new("")}, "INVALID_INPUT", []string{"slug"}},
			"status":      {library.Change{Name: new(""), Status: new(library.Status("gone"))}, "INVALID_STATUS", nil},
			"tags":        {library.Change{Name: new("x"), Tags: &tags}, "LIMIT_EXCEEDED", nil},
			"no content":  {library.Change{Name: new("x"), Content: &draft.Change{Parts: map[draft.Field]*string{draft.Subject: nil}}}, "NO_CONTENT", []string{"content.subject"}},
			"liquid":      {library.Change{Name: new("x"), Content: withTexts(draft.Subject, "Hi", draft.BodyHTML, "{% if %}")}, "LIQUID_INVALID", nil},
		} {
			for what, err := range map[string]error{
				"create": second(library.Create(s.Context(), s.author(), s.tenant, tt.ch)),
				"update": second(library.Update(s.Context(), s.author(), s.tenant, e.ID, tt.ch)),
			} {
				f, _ := fault.As(err)
				if f == nil || f.Code != tt.code {
					s.Errorf("%s, %s: %v, want %s", what, name, err, tt.code)
					continue
				}
				var paths []string
				if details, ok := f.Details.(fault.Fields); ok {
					for _, p := range details.Fields {
						paths = append(paths, p.Path)
					}
				}
				if diff := cmp.Diff(tt.paths, paths); diff != "" {
					s.Errorf("%s, %s: problems at\n%s", what, name, diff)
				}
			}
		}
		for _, ch := range []library.Change{{}, {Slug: new("x")}} {
			if _, err := library.Create(s.Context(), s.author(), s.tenant, ch); !errors.Is(err, fault.ErrInput) {
				s.Errorf("an entry without a name: %v", err)
			}
		}
		for what, ch := range map[string]*draft.Change{"nothing": {}, "no body": withTexts(draft.Subject, "Hi"), "no subject": withTexts(draft.BodyHTML, "<p>Hi</p>")} {
			for act, err := range map[string]error{
				"create": second(library.Create(s.Context(), s.author(), s.tenant, library.Change{Name: new("x"), Content: ch})),
				"update": second(library.Update(s.Context(), s.author(), s.tenant, bare.ID, library.Change{Content: ch})),
			} {
				if !errors.Is(err, content.ErrNoContent) {
					s.Errorf("%s with %s: %v", act, what, err)
				}
			}
		}
		if list := s.list(library.Filter{Limit: 100}); len(list) != 2 {
			s.Errorf("there are %d entries now", len(list))
		}
		if diff := cmp.Diff(before, s.load(e.ID)); diff != "" {
			s.Errorf("the entry changed:\n%s", diff)
		}
	})
}

// Metadata and content change together or not at all.
func TestAChangeIsAllOrNothing(t *testing.T) {
	each(t, func(s *fixture) {
		s.create(library.Change{Name: new("Taken")})
		e := s.create(library.Change{Name: new("Mine"), Content: withSubject("one")})
		s.later()
		before := s.load(e.ID)
		_, err := library.Update(s.Context(), s.author(), s.tenant, e.ID, library.Change{Name: new("New"), Slug: new("taken"), Content: withSubject("two")})
		if !errors.Is(err, library.ErrSlug) {
			s.Errorf("a slug that is taken: %v", err)
		}
		if diff := cmp.Diff(before, s.load(e.ID)); diff != "" {
			s.Errorf("the entry changed:\n%s", diff)
		}
		if got := subjects(s.versions(e.ID)); got != "1 one" {
			s.Errorf("versions: %s", got)
		}
		got := s.update(e.ID, library.Change{Name: new("New"), Slug: new("mine"), Status: new(library.Archived), Tags: new([]string{"t"}), Content: withTexts(draft.Subject, "two")})
		want := library.Entry{
			Tenant: s.tenant, ID: e.ID, Slug: "mine", Name: "New", Status: library.Archived, Tags: []string{"t"}, Version: 2,
			Content:   &draft.Content{Subject: new("two"), HTML: new("<p>one</p>")},
			CreatedAt: noon, UpdatedAt: s.now, Revision: 2,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			s.Errorf("changed:\n%s", diff)
		}
		if diff := cmp.Diff(want, s.load(e.ID)); diff != "" {
			s.Errorf("loaded:\n%s", diff)
		}
	})
}
