package library_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/library"
)

// Concurrent writers append one version each, and each version contains the changes of those before
// it.
func TestConcurrentWritersLoseNothing(t *testing.T) {
	each(t, func(s *fixture) {
		e := s.create(library.Change{Name: new("News"), Content: withSubject("one")})
		writes := map[draft.Field]string{
			draft.Subject: "two", draft.Preheader: "p", draft.FromName: "F", draft.ReplyTo: "re@example.org",
			draft.BodyHTML: "<p>new</p>", draft.BodyText: "new",
		}
		got := make(chan int, len(writes))
		var all sync.WaitGroup
		for f, text := range writes {
			all.Go(func() {
				e, err := library.Update(s.Context(), s.author(), s.tenant, e.ID, library.Change{Tags: new([]string{string(f)}), Content: withTexts(f, text)})
				if err != nil {
					s.Error(err)
				}
				got <- e.Version
			})
			all.Go(func() { // and one that writes no content
				if _, err := library.Update(s.Context(), s.author(), s.tenant, e.ID, library.Change{Name: new("By " + string(f))}); err != nil {
					s.Error(err)
				}
			})
		}
		all.Wait()
		close(got)
		var numbers []int
		for n := range got {
			numbers = append(numbers, n)
		}
		slices.Sort(numbers)
		if diff := cmp.Diff([]int{2, 3, 4, 5, 6, 7}, numbers); diff != "" {
			s.Errorf("versions:\n%s", diff)
		}
		want := draft.Content{
			Subject: new("two"), Preheader: new("p"), FromName: new("F"), ReplyTo: new("re@example.org"), HTML: new("<p>new</p>"), Text: new("new"),
		}
		if diff := cmp.Diff(&want, s.load(e.ID).Content); diff != "" {
			s.Errorf("the last version:\n%s", diff)
		}
		list := s.versions(e.ID)
		for i, v := range list {
			if v.Number != len(list)-i {
				s.Errorf("place %d has version %d", i, v.Number)
			}
		}
	})
}

// After any series of operations, the versions of an entry are those written, in order and
// unchanged, and the entry shows the last of them.
func TestVersionsNeverChange(t *testing.T) {
	each(t, func(s *fixture) {
		rapid.Check(s.T, func(r *rapid.T) {
			written := map[id.LibraryEntry][]string{} // subjects by entry
			made := map[id.LibraryVersion]library.Version{}
			for step := range rapid.IntRange(1, 12).Draw(r, "steps") {
				s.later()
				entries := slices.SortedFunc(maps.Keys(written), id.Compare)
				what := rapid.SampledFrom([]string{"create", "say", "say", "say", "rename", "archive", "duplicate", "delete"}).Draw(r, "what")
				if len(entries) == 0 {
					what = "create"
				}
				if what == "create" {
					ch := library.Change{Name: new("News")}
					var list []string
					if rapid.Bool().Draw(r, "content") {
						list = append(list, fmt.Sprint(step))
						ch.Content = withSubject(list[0])
					}
					written[s.create(ch).ID] = list
					continue
				}
				e := rapid.SampledFrom(entries).Draw(r, "entry")
				switch what {
				case "say":
					text := rapid.SampledFrom([]string{"same", fmt.Sprint(step)}).Draw(r, "text")
					if got := s.update(e, library.Change{Content: withSubject(text)}); got.Version != len(written[e])+1 || *got.Content.Subject != text {
						r.Fatalf("version %d says %s", got.Version, *got.Content.Subject)
					}
					written[e] = append(slices.Clone(written[e]), text)
				case "rename":
					s.update(e, library.Change{Name: new(fmt.Sprint(step))})
				case "archive":
					got, err := library.Archive(s.Context(), s.author(), s.tenant, e)
					s.ok(err)
					if got.Status != library.Archived {
						r.Fatalf("an archived entry is %s", got.Status)
					}
				case "duplicate":
					d, err := library.Duplicate(s.Context(), s.db, s.tenant, e, s.now)
					s.ok(err)
					written[d.ID] = written[e]
				case "delete":
					s.ok(library.Delete(s.Context(), s.db, s.tenant, e, unused))
					delete(written, e)
				}
			}
			for e, list := range written {
				versions := s.versions(e)
				slices.Reverse(versions)
				if len(versions) != len(list) {
					r.Fatalf("%d versions, want %d", len(versions), len(list))
				}
				for i, v := range versions {
					if v.Number != i+1 || *v.Content.Subject != list[i] || *v.Content.HTML != "<p>"+list[i]+"</p>" || v.Entry != e {
						r.Fatalf("version %d of %s says %s, want %s", v.Number, v.Entry, *v.Content.Subject, list[i])
					}
					if _, twice := made[v.ID]; twice {
						r.Fatalf("two versions have one id")
					}
					made[v.ID] = v
				}
				now := s.load(e)
				if now.Version != len(list) || (now.Content == nil) != (len(list) == 0) {
					r.Fatalf("the entry is at version %d, want %d", now.Version, len(list))
				}
				if now.Content != nil && *now.Content.Subject != list[len(list)-1] {
					r.Fatalf("the entry says %s", *now.Content.Subject)
				}
				s.ok(library.Delete(s.Context(), s.db, s.tenant, e, unused))
			}
		})
		var left int
		s.ok(s.db.QueryRow(s.Context(), `SELECT COUNT(*) FROM library_version WHERE tenant_id = $1`, s.tenant).Scan(&left))
		if left != 0 {
			s.Errorf("%d versions remain of deleted entries", left)
		}
	})
}

func TestACopyHasEverythingButTheNameAndTheStatus(t *testing.T) {
	each(t, func(s *fixture) {
		e := s.create(library.Change{Name: new("News"), Status: new(library.Archived), Tags: new([]string{"a"}), Content: withSubject("one")})
		s.later()
		s.update(e.ID, library.Change{Content: withSubject("two")})
		s.later()
		duplicate := func(e id.LibraryEntry) library.Entry {
			s.Helper()
			d, err := library.Duplicate(s.Context(), s.db, s.tenant, e, s.now)
			s.ok(err)
			return d
		}
		d := duplicate(e.ID)
		want := library.Entry{
			Tenant: s.tenant, ID: d.ID, Slug: "news-copy", Name: "News (copy)", Status: library.Draft, Tags: []string{"a"}, Version: 2,
			Content: s.load(e.ID).Content, CreatedAt: s.now, UpdatedAt: s.now, Revision: 1,
		}
		if diff := cmp.Diff(want, d); diff != "" {
			s.Errorf("the copy:\n%s", diff)
		}
		if diff := cmp.Diff(want, s.load(d.ID)); diff != "" {
			s.Errorf("the copy, loaded:\n%s", diff)
		}
		mine, copied := s.versions(e.ID), s.versions(d.ID)
		if subjects(copied) != "2 two, 1 one" {
			s.Errorf("versions of the copy: %s", subjects(copied))
		}
		for i, v := range copied {
			if v.ID == mine[i].ID || v.Entry != d.ID || !v.CreatedAt.Equal(mine[i].CreatedAt) {
				s.Errorf("a version of the copy: %+v", v)
			}
		}
		s.update(d.ID, library.Change{Content: withSubject("three")})
		if got := subjects(s.versions(e.ID)); got != "2 two, 1 one" {
			s.Errorf("versions of the original: %s", got)
		}
		for _, want := range []string{"News (copy 2)", "News (copy 3)"} {
			if d := duplicate(e.ID); d.Name != want {
				s.Errorf("the copy is called %q, want %q", d.Name, want)
			}
		}
		if d := duplicate(d.ID); d.Name != "News (copy) (copy)" {
			s.Errorf("a copy's copy is called %q", d.Name)
		}
		bare := s.create(library.Change{Name: new(strings.Repeat("é", 198) + " x")})
		for _, want := range []string{strings.Repeat("é", 193) + " (copy)", strings.Repeat("é", 191) + " (copy 2)"} {
			if d := duplicate(bare.ID); d.Name != want || d.Version != 0 || d.Content != nil {
				s.Errorf("the copy is %q at version %d", d.Name, d.Version)
			}
		}
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if _, err := library.Duplicate(s.Context(), s.db, s.tenant, e.ID, s.now); err != nil {
					s.Error(err)
				}
			})
		}
		all.Wait()
		names := map[string]bool{}
		list := s.list(library.Filter{Limit: 100})
		for _, e := range list {
			names[e.Name] = true
		}
		if len(names) != len(list) {
			s.Errorf("%d entries have %d names", len(list), len(names))
		}
	})
}

// A broadcast copies the current version, or the one it refers to.
func TestContentForBroadcasts(t *testing.T) {
	each(t, func(s *fixture) {
		e := s.create(library.Change{Name: new("News"), Content: withSubject("one")})
		s.update(e.ID, library.Change{Content: withSubject("two")})
		bare := s.create(library.Change{Name: new("Bare")})
		for _, tt := range []struct {
			entry   id.LibraryEntry
			version int
			want    int
			subject string
			err     error
		}{
			{e.ID, 0, 2, "two", nil}, {e.ID, 1, 1, "one", nil}, {e.ID, 2, 2, "two", nil},
			{e.ID, 3, 0, "", library.ErrNoEntryVersion}, {e.ID, -1, 0, "", library.ErrNoEntryVersion},
			{bare.ID, 0, 0, "", content.ErrNoContent}, {bare.ID, 1, 0, "", content.ErrNoContent},
			{id.New[id.LibraryEntry](), 0, 0, "", library.ErrNoEntry}, {id.LibraryEntry{}, 0, 0, "", library.ErrNoEntry},
		} {
			m, n, err := library.Content(s.Context(), s.db, s.tenant, tt.entry, tt.version)
			if !errors.Is(err, tt.err) || err == nil && (n != tt.want || *m.Subject != tt.subject) {
				s.Errorf("Content(%s, %d) = %v, %d, %v", tt.entry, tt.version, m, n, err)
			}
		}
	})
}
