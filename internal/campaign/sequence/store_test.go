package sequence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// account is a tenant.
type account struct {
	*testing.T
	db     *sqldb.DB
	tenant id.Tenant
}

// eachAccount runs f on both databases. The sequence of a second tenant must stay as it is.
func eachAccount(t *testing.T, f func(a account)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		in := func(slug string) account {
			made, err := tenant.Create(t.Context(), db, slug, slug, "UTC", noon)
			if err != nil {
				t.Fatal(err)
			}
			return account{t, db, made.ID}
		}
		other := in("other")
		before := other.reload(other.tagging("Theirs", "a", "b"))
		f(in("acme"))
		if diff := cmp.Diff(before, other.reload(before), cmp.AllowUnexported(Sequence{})); diff != "" {
			t.Errorf("the other tenant's sequence changed:\n%s", diff)
		}
	})
}

func (a account) must(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

func (a account) create(name string) Sequence {
	a.Helper()
	s, err := Create(a.Context(), a.db, a.tenant, Change{Name: &name}, noon)
	a.must(err)
	return s
}

func (a account) reload(s Sequence) Sequence {
	a.Helper()
	got, err := Load(a.Context(), a.db, a.tenant, s.ID)
	a.must(err)
	return got
}

// tags returns the graph of a chain of nodes that add a tag.
func tags(names ...string) Graph {
	g := Graph{Entry: names[0]}
	for i, n := range names {
		g.Nodes = append(g.Nodes, Node{ID: n, Type: TagNode, Config: json.RawMessage(`{"action": "add", "tags": ["` + n + `"]}`)})
		if i > 0 {
			g.Edges = append(g.Edges, Edge{From: names[i-1], To: n})
		}
	}
	return g
}

// tagging makes a draft with such a graph.
func (a account) tagging(name string, nodes ...string) Sequence {
	a.Helper()
	s := a.create(name)
	r, err := SetGraph(a.Context(), a.db, a.tenant, s.ID, tags(nodes...), false, noon)
	a.must(err)
	return r.Sequence
}

// acts are the calls that change a status.
var acts = []struct {
	name string
	to   Status
	from []Status
	do   func(a account, seq id.Sequence, now time.Time) (Sequence, error)
}{
	{"activate", Active, []Status{Draft}, func(a account, seq id.Sequence, now time.Time) (Sequence, error) {
		return Activate(a.Context(), a.db, a.tenant, seq, now)
	}},
	{"pause", Paused, []Status{Active}, func(a account, seq id.Sequence, now time.Time) (Sequence, error) {
		return Pause(a.Context(), a.db, a.tenant, seq, now)
	}},
	{"resume", Active, []Status{Paused}, func(a account, seq id.Sequence, now time.Time) (Sequence, error) {
		return Resume(a.Context(), a.db, a.tenant, seq, now)
	}},
	{"archive", Archived, []Status{Draft, Active, Paused}, func(a account, seq id.Sequence, now time.Time) (Sequence, error) {
		return Archive(a.Context(), a.db, a.tenant, seq, now)
	}},
	{"unarchive", Draft, []Status{Archived}, func(a account, seq id.Sequence, now time.Time) (Sequence, error) {
		return Unarchive(a.Context(), a.db, a.tenant, seq, now)
	}},
}

// TestStatusesChangeAsTheDiagramShows tries every call in every status. Only an active or paused sequence tells the
// contacts in it to follow.
func TestStatusesChangeAsTheDiagramShows(t *testing.T) {
	eachAccount(t, func(a account) {
		reach := map[Status][]string{Draft: nil, Active: {"activate"}, Paused: {"activate", "pause"}, Archived: {"archive"}}
		for _, status := range Statuses() {
			for _, act := range acts {
				s := a.tagging(fmt.Sprint(act.name, " from ", status), "a")
				for _, name := range reach[status] {
					for _, step := range acts {
						if step.name == name {
							_, err := step.do(a, s.ID, noon)
							a.must(err)
						}
					}
				}
				before := a.reload(s)
				got, err := act.do(a, s.ID, noon.Add(time.Hour))
				after := a.reload(s)
				allowed := false
				for _, from := range act.from {
					allowed = allowed || from == status
				}
				switch {
				case !allowed:
					if !errors.Is(err, ErrTransition) || !cmp.Equal(before, after, cmp.AllowUnexported(Sequence{})) {
						a.Errorf("%s from %s: %v, and it is %s", act.name, status, err, after.Status)
					}
				case err != nil || got.Status != act.to || after.Status != act.to || after.Revision != before.Revision+1 || (after.PausedAt != nil) != (act.to == Paused):
					a.Errorf("%s from %s: %v, %+v", act.name, status, err, after)
				case (after.Epoch > before.Epoch) != (act.name == "pause" || act.name == "resume" || act.name == "archive"):
					a.Errorf("%s from %s: the epoch was %d and is %d", act.name, status, before.Epoch, after.Epoch)
				}
			}
		}
		if _, err := Pause(a.Context(), a.db, a.tenant, id.New[id.Sequence](), noon); !errors.Is(err, ErrNotFound) {
			a.Errorf("a sequence that is not there: %v", err)
		}
	})
}

// TestOnlyValidGraphsAreActivated refuses an empty graph, and one that refers to what is gone.
func TestOnlyValidGraphsAreActivated(t *testing.T) {
	eachAccount(t, func(a account) {
		empty := a.create("Empty")
		if _, err := Activate(a.Context(), a.db, a.tenant, empty.ID, noon); !errors.Is(err, ErrGraph) {
			a.Errorf("an empty graph: %v", err)
		}
		g := tags("a", "b")
		g.Nodes[1].Type, g.Nodes[1].Config = ListNode, json.RawMessage(`{"action": "add", "segment_key": "nowhere"}`)
		if _, err := SetGraph(a.Context(), a.db, a.tenant, empty.ID, g, false, noon); !errors.Is(err, ErrGraph) || !strings.Contains(err.Error(), "nowhere") {
			a.Errorf("a list that is not there: %v", err)
		}
		r, err := SetGraph(a.Context(), a.db, a.tenant, empty.ID, g, true, noon)
		if err != nil || len(r.Issues) != 1 || r.Issues[0].Code != UnknownReference || *r.Issues[0].NodeID != "b" {
			a.Errorf("a dry run: %+v, %v", r.Issues, err)
		}
		if got := a.reload(empty); got.Status != Draft || len(got.Graph.Nodes) != 0 || got.Revision != empty.Revision {
			a.Errorf("something was stored: %+v", got)
		}
	})
}

// TestGraphsKeepWhatStays replaces a graph: nodes of the same id and type keep the time of their creation, and edges
// between the same nodes their id.
func TestGraphsKeepWhatStays(t *testing.T) {
	eachAccount(t, func(a account) {
		old := a.tagging("Flow", "a", "b", "c").Graph
		g := tags("a", "b", "d")
		g.Nodes[0].Type, g.Nodes[0].Config = ExitNode, nil
		g.Edges, g.Entry = append(g.Edges[1:], Edge{From: "d", To: "a"}), "b"
		later := noon.Add(time.Hour)
		seq := a.reload(Sequence{ID: mustFind(a, "Flow")})
		r, err := SetGraph(a.Context(), a.db, a.tenant, seq.ID, g, false, later)
		a.must(err)
		got := a.reload(seq).Graph
		sameJSON := cmp.Comparer(func(a, b json.RawMessage) bool { // PostgreSQL orders the names
			var x, y any
			return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
		})
		if diff := cmp.Diff(r.Sequence.Graph, got, sameJSON); diff != "" {
			a.Errorf("what was returned and what is stored:\n%s", diff)
		}
		for i, want := range []time.Time{later, old.Nodes[1].CreatedAt, later} {
			if !got.Nodes[i].CreatedAt.Equal(want) {
				a.Errorf("node %s was created at %s, want %s", got.Nodes[i].ID, got.Nodes[i].CreatedAt, want)
			}
		}
		if string(got.Nodes[0].Config) != "{}" {
			a.Errorf("the configuration is not canonical: %s", got.Nodes[0].Config)
		}
		before := got.Edges[1].ID
		g.Edges = g.Edges[1:]
		g.Edges = append(g.Edges, Edge{From: "b", To: "d"})
		_, err = SetGraph(a.Context(), a.db, a.tenant, seq.ID, g, false, later)
		a.must(err)
		if got := a.reload(seq).Graph; got.Edges[0].ID != before || got.Edges[1].ID != r.Sequence.Graph.Edges[0].ID {
			a.Errorf("edges did not keep their ids: %+v", got.Edges)
		}
	})
}

func mustFind(a account, name string) id.Sequence {
	a.Helper()
	list, err := List(a.Context(), a.db, a.tenant, Filter{Search: name})
	a.must(err)
	if len(list) != 1 {
		a.Fatalf("%d sequences are called %s", len(list), name)
	}
	return list[0].ID
}

// TestOnlyDraftsAndPausedSequencesAreEdited refuses the graph of one that is active or archived, and any change of an
// archived one.
func TestOnlyDraftsAndPausedSequencesAreEdited(t *testing.T) {
	eachAccount(t, func(a account) {
		s := a.tagging("Flow", "a")
		for _, step := range []struct {
			act            int
			graph, renamed error
		}{{0, ErrNotEditable, nil}, {1, nil, nil}, {2, ErrNotEditable, nil}, {3, ErrNotEditable, ErrTransition}, {4, nil, nil}} {
			_, err := acts[step.act].do(a, s.ID, noon)
			a.must(err)
			if _, err := SetGraph(a.Context(), a.db, a.tenant, s.ID, tags("a", "b"), false, noon); !errors.Is(err, step.graph) {
				a.Errorf("the graph after %s: %v", acts[step.act].name, err)
			}
			if _, err := Update(a.Context(), a.db, a.tenant, s.ID, Change{Name: new("Flow of " + acts[step.act].name)}, noon); !errors.Is(err, step.renamed) {
				a.Errorf("the name after %s: %v", acts[step.act].name, err)
			}
		}
	})
}

// TestOnlyUnusedDraftsAreDeleted keeps what was ever active, and what others enroll contacts in.
func TestOnlyUnusedDraftsAreDeleted(t *testing.T) {
	eachAccount(t, func(a account) {
		unused, used := usage.Finders(nil), usage.Func(func(_ context.Context, _ *sqldb.DB, _ id.Tenant, s usage.Subject) (usage.Holders, error) {
			return usage.Holders{"sequences": {{Name: "of " + s.ID}}}, nil
		})
		once := a.tagging("Once active", "a")
		for _, i := range []int{0, 3, 4} { // it is a draft again
			_, err := acts[i].do(a, once.ID, noon)
			a.must(err)
		}
		draft := a.tagging("Draft", "a")
		for name, tt := range map[string]struct {
			seq  id.Sequence
			who  usage.Finder
			want error
		}{"was active": {once.ID, unused, ErrInUse}, "used": {draft.ID, used, ErrInUse}, "not there": {id.New[id.Sequence](), unused, ErrNotFound}} {
			if err := Delete(a.Context(), a.db, a.tenant, tt.seq, tt.who); !errors.Is(err, tt.want) {
				a.Errorf("%s: %v", name, err)
			}
		}
		a.must(Delete(a.Context(), a.db, a.tenant, draft.ID, unused))
		if _, err := Load(a.Context(), a.db, a.tenant, draft.ID); !errors.Is(err, ErrNotFound) {
			a.Errorf("after it was deleted: %v", err)
		}
	})
}

// TestCopiesAreDraftsOfTheirOwn copies an active sequence, whose copy has other ids.
func TestCopiesAreDraftsOfTheirOwn(t *testing.T) {
	eachAccount(t, func(a account) {
		s := a.tagging(strings.Repeat("é", maxName-2), "a", "b")
		_, err := acts[0].do(a, s.ID, noon)
		a.must(err)
		later := noon.Add(time.Hour)
		c, err := Duplicate(a.Context(), a.db, a.tenant, s.ID, later)
		a.must(err)
		got := a.reload(c)
		if got.Status != Draft || got.ID == s.ID || got.ActivatedAt != nil || got.Epoch != 0 || !got.CreatedAt.Equal(later) || len([]rune(got.Name)) != maxName || !strings.HasSuffix(got.Name, " (") {
			a.Errorf("the copy: %+v", got)
		}
		if len(got.Graph.Nodes) != 2 || got.Graph.Edges[0].ID == s.Graph.Edges[0].ID || !got.Graph.Nodes[0].CreatedAt.Equal(later) {
			a.Errorf("the graph of the copy: %+v", got.Graph)
		}
	})
}

// TestListsAreFiltered finds sequences by status and by a part of their name, in which no character has a meaning.
func TestListsAreFiltered(t *testing.T) {
	eachAccount(t, func(a account) {
		for i, name := range []string{"Welcome", "100 % off", "Ünder_score"} {
			s, err := Create(a.Context(), a.db, a.tenant, Change{Name: &name}, noon.Add(time.Duration(i)*time.Minute))
			a.must(err)
			if name == "Welcome" {
				_, err := Archive(a.Context(), a.db, a.tenant, s.ID, noon)
				a.must(err)
			}
		}
		for _, tt := range []struct {
			f    Filter
			want string
		}{
			{Filter{}, "Ünder_score, 100 % off, Welcome"}, {Filter{Statuses: []Status{Draft}}, "Ünder_score, 100 % off"}, {Filter{Statuses: []Status{Archived, Active}}, "Welcome"},
			{Filter{Search: "WEL"}, "Welcome"}, {Filter{Search: "%"}, "100 % off"}, {Filter{Search: "_"}, "Ünder_score"}, {Filter{Search: "ünder"}, "Ünder_score"}, {Filter{Search: `\`}, ""}, {Filter{Search: "wel", Statuses: []Status{Draft}}, ""},
		} {
			list, err := List(a.Context(), a.db, a.tenant, tt.f)
			a.must(err)
			var names []string
			for _, s := range list {
				names = append(names, s.Name)
			}
			if got := strings.Join(names, ", "); got != tt.want {
				a.Errorf("%+v: %s, want %s", tt.f, got, tt.want)
			}
		}
	})
}
