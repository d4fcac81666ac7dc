package sequence

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// head are the columns of a sequence without its graph.
const head = `id, revision, name, status, allow_reentry, entry_trigger, exits, activated_at, paused_at, created_at, updated_at, epoch, pending`

// scanSequence reads head, and the columns for extra.
func scanSequence(tenant id.Tenant, extra ...any) func(row func(...any) error) (Sequence, error) {
	return func(row func(...any) error) (Sequence, error) {
		s := Sequence{Tenant: tenant, Graph: Graph{Nodes: []Node{}, Edges: []Edge{}}}
		var trigger, exits, pending sql.NullString
		err := row(append([]any{
			&s.ID, &s.Revision, &s.Name, sqldb.ToText(&s.Status), &s.AllowReentry, &trigger, &exits,
			sqldb.ToNullTime(&s.ActivatedAt), sqldb.ToNullTime(&s.PausedAt), sqldb.ToTime(&s.CreatedAt), sqldb.ToTime(&s.UpdatedAt), &s.Epoch, &pending,
		}, extra...)...)
		if err != nil {
			return s, err
		}
		if trigger.Valid {
			err = json.Unmarshal([]byte(trigger.String), &s.Trigger)
		}
		if exits.Valid {
			err = errors.Join(err, json.Unmarshal([]byte(exits.String), &s.Exits))
		}
		if pending.Valid {
			err = errors.Join(err, json.Unmarshal([]byte(pending.String), &s.pending))
		}
		if err != nil {
			return s, fmt.Errorf("sequence %s: %w", s.ID, err)
		}
		return s, nil
	}
}

// Load returns a sequence, or ErrNotFound.
func Load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence) (Sequence, error) {
	return load(ctx, db, tenant, seq, "")
}

func load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, lock string) (Sequence, error) {
	var g Graph
	s, err := scanSequence(tenant, sqldb.ToJSON(&g))(db.QueryRow(ctx, `SELECT `+head+`, graph FROM sequence WHERE tenant_id = $1 AND id = $2`+lock, tenant, seq).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Sequence{}, ErrNotFound
	}
	if err != nil {
		return Sequence{}, fmt.Errorf("load a sequence: %w", err)
	}
	s.Graph = g
	return s, nil
}

// exists reports whether the tenant has a sequence.
func exists(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence) (bool, error) {
	_, err := load(ctx, db, tenant, seq, "")
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Filter selects sequences of a list.
type Filter struct {
	Statuses []Status // empty: all
	Search   string   // part of the name, ignoring case
}

// List returns sequences without nodes and edges, the newest first.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter) ([]Sequence, error) {
	where, args := ``, []any{tenant}
	if len(f.Statuses) > 0 {
		args = append(args, sqldb.List(db, f.Statuses))
		where += ` AND status` + db.In(len(args))
	}
	rows, err := db.Query(ctx, `SELECT `+head+`, `+db.JSONText("graph", "entry_node_id")+` FROM sequence WHERE tenant_id = $1`+where+` ORDER BY created_at DESC, id DESC`, args...)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (Sequence, error) {
		var entry string
		s, err := scanSequence(tenant, sqldb.ToText(&entry))(row)
		s.Graph.Entry = entry
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("list sequences: %w", err)
	}
	part := strings.ToLower(f.Search)
	return slices.DeleteFunc(list, func(s Sequence) bool { return !strings.Contains(strings.ToLower(s.Name), part) }), nil
}

// Create creates a draft with an empty graph.
func Create(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ch Change, now time.Time) (Sequence, error) {
	now = now.UTC().Truncate(time.Microsecond)
	s := Sequence{
		Tenant: tenant, ID: id.New[id.Sequence](), Revision: 1, Status: Draft, CreatedAt: now, UpdatedAt: now,
		Graph: Graph{Nodes: []Node{}, Edges: []Edge{}},
	}
	if err := ch.CheckNew(); err != nil {
		return Sequence{}, err
	}
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := s.apply(ctx, tx, ch); err != nil {
			return err
		}
		return s.insert(ctx, tx)
	})
	if err != nil {
		return Sequence{}, fmt.Errorf("create a sequence: %w", err)
	}
	return s, nil
}

// insert stores a new sequence.
func (s Sequence) insert(ctx context.Context, tx *sqldb.DB) error {
	var n int
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM sequence WHERE tenant_id = $1`, s.Tenant).Scan(&n); err != nil {
		return err
	}
	if n >= maxSequences {
		return fault.New(fault.Invalid, "LIMIT_EXCEEDED", fmt.Sprintf("a tenant may have at most %d sequences", maxSequences))
	}
	values, err := s.values()
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO sequence (tenant_id, id, revision, created_at, updated_at, activated_at, paused_at, name, status, allow_reentry, entry_trigger, exits, graph, epoch, pending, revised_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		append(append([]any{s.Tenant, s.ID, s.Revision, sqldb.Micros(s.CreatedAt)}, values...), revision.By(ctx))...)
	return err
}

// values returns the columns that a write sets, from updated_at on.
func (s Sequence) values() ([]any, error) {
	encode := func(v any, absent bool) (any, error) {
		if absent {
			return nil, nil
		}
		b, err := json.Marshal(v)
		return string(b), err
	}
	trigger, err := encode(s.Trigger, s.Trigger == nil)
	exits, err2 := encode(s.Exits, s.Exits == nil)
	graph, err3 := encode(s.Graph, false)
	pending, err4 := encode(s.pending, len(s.pending) == 0)
	return []any{
		sqldb.Micros(s.UpdatedAt), sqldb.NullMicros(s.ActivatedAt), sqldb.NullMicros(s.PausedAt), s.Name, s.Status, s.AllowReentry,
		trigger, exits, graph, s.Epoch, pending,
	}, errors.Join(err, err2, err3, err4)
}

// write stores the changed sequence as its next revision.
func (s *Sequence) write(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	s.UpdatedAt = now.UTC().Truncate(time.Microsecond)
	s.Revision++
	values, err := s.values()
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE sequence SET revision = $3, updated_at = $4, activated_at = $5, paused_at = $6, name = $7, status = $8,
			allow_reentry = $9, entry_trigger = $10, exits = $11, graph = $12,
			epoch = $13, pending = $14, pending_after = CASE WHEN epoch = $13 THEN pending_after ELSE NULL END,
			revised_by = $15
		WHERE tenant_id = $1 AND id = $2`, append(append([]any{s.Tenant, s.ID, s.Revision}, values...), revision.By(ctx))...)
	return err
}

// apply applies a change whose Check succeeded, and checks what it refers to.
func (s *Sequence) apply(ctx context.Context, tx *sqldb.DB, ch Change) error {
	if ch.Name != nil {
		s.Name = *ch.Name
	}
	if ch.AllowReentry != nil {
		s.AllowReentry = *ch.AllowReentry
	}
	if len(ch.Trigger) == 0 && len(ch.Exits) == 0 {
		return nil
	}
	c, err := newChecker(ctx, tx, s.Tenant, s.ID)
	if err != nil {
		return err
	}
	var p fault.Problems
	c.applyEnds(s, ch, &p)
	return p.Err()
}

// applyEnds applies the trigger and the exits of a change, and adds their problems to p.
func (c *checker) applyEnds(s *Sequence, ch Change, p *fault.Problems) {
	if len(ch.Trigger) > 0 {
		if s.Trigger = trigger.Parse(ch.Trigger, "entry_trigger", p); !p.Any() {
			s.Trigger.Refer(c.schema, "entry_trigger", p)
		}
		if p.Any() {
			s.Trigger = nil // nothing else is to be said about it
		}
	}
	if len(ch.Exits) > 0 {
		var err error
		if s.Exits, err = ParseExits(ch.Exits); err == nil {
			err = c.referExits(s.Exits)
		}
		if err != nil {
			addAll(p, "exit_conditions", err)
		}
	}
}

// change loads a sequence, applies f and stores the result, in one transaction.
func change(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, now time.Time, f func(tx *sqldb.DB, s *Sequence) error) (Sequence, error) {
	var s Sequence
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if s, err = load(ctx, tx, tenant, seq, tx.ForUpdate()); err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, seq); err != nil {
			return err
		}
		old := s
		if err := f(tx, &s); err != nil {
			return err
		}
		if err := s.write(ctx, tx, now); err != nil {
			return err
		}
		return s.watch(ctx, tx, old, now)
	})
	if err != nil {
		return Sequence{}, fmt.Errorf("change a sequence: %w", err)
	}
	return s, nil
}

// Update changes a sequence that is not archived. New triggers and exits apply to what happens from
// then on.
func Update(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, ch Change, now time.Time) (Sequence, error) {
	if err := ch.Check(); err != nil {
		return Sequence{}, err
	}
	return change(ctx, db, tenant, seq, now, func(tx *sqldb.DB, s *Sequence) error {
		if s.Status == Archived {
			return ErrTransition.Sayf("an archived sequence cannot be changed")
		}
		return s.apply(ctx, tx, ch)
	})
}

// Delete deletes a draft that was never active and that no other sequence or automation enrolls contacts
// in.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, who usage.Finder) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		s, err := load(ctx, tx, tenant, seq, tx.ForUpdate())
		if err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, seq); err != nil {
			return err
		}
		if s.Status != Draft || s.ActivatedAt != nil {
			return ErrInUse
		}
		holders, err := who.Find(ctx, tx, tenant, usage.Subject{Kind: usage.Sequence, ID: seq.String()})
		if err != nil {
			return fmt.Errorf("find the uses of a sequence: %w", err)
		}
		if holders.Any() {
			return ErrInUse.Sayf("a sequence or an automation enrolls contacts in the sequence").
				With(map[string]any{"usage": holders.With("sequences", "automations")})
		}
		if _, err := tx.Exec(ctx, `DELETE FROM sequence WHERE tenant_id = $1 AND id = $2`, tenant, seq); err != nil {
			return fmt.Errorf("delete a sequence: %w", err)
		}
		return nil
	})
}

// GraphResult is what storing a graph does, or would do.
type GraphResult struct {
	Sequence Sequence // with the graph
	Issues   []Issue
	Unready  []Issue // what else would keep a draft from being activated; of a dry run
	Warnings []Issue // why nobody may enter, though it can be activated; of a dry run
	Leaving  int     // contacts in the sequence at nodes that the graph does not have
}

// SetGraph is SetGraphUnder for an installation whose webhooks are public and use https, and a graph
// whose webhooks have no headers.
func SetGraph(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, g Graph, dryRun bool, now time.Time) (GraphResult, error) {
	return SetGraphUnder(ctx, db, nil, tenant, seq, g, Change{}, webhook.Rules{}, dryRun, now)
}

// SetGraphUnder replaces the graph of a draft or a paused sequence, and applies a change of what is
// around it. With dryRun nothing is stored and issues are no error. Contacts at nodes that are gone
// leave the sequence. The rules are for the URLs of webhook nodes, whose headers are sealed with the
// box.
func SetGraphUnder(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, seq id.Sequence, g Graph, ch Change, rules webhook.Rules, dryRun bool, now time.Time) (GraphResult, error) {
	var r GraphResult
	now = now.UTC().Truncate(time.Microsecond)
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		s, err := load(ctx, tx, tenant, seq, tx.ForUpdate())
		if err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, seq); err != nil {
			return err
		}
		if s.Status != Draft && s.Status != Paused {
			return ErrNotEditable
		}
		c, err := newChecker(ctx, tx, tenant, seq)
		if err != nil {
			return err
		}
		old := s
		c.rules, c.seal = rules, sealer(box, tenant, old.Graph)
		if r.Issues, err = c.revise(ctx, &s, g, ch); err != nil {
			return err
		}
		if dryRun {
			if err := c.judge(ctx, s, &r); err != nil {
				return err
			}
		}
		s.Graph.keepTimes(old.Graph, now)
		gone := []string{}
		for _, n := range old.Graph.Nodes {
			if s.Graph.node(n.ID) < 0 {
				gone = append(gone, n.ID)
			}
		}
		if r.Leaving, err = countAt(ctx, tx, s, gone); err != nil || dryRun {
			r.Sequence = s
			return err
		}
		if len(r.Issues) > 0 {
			return invalid(r.Issues)
		}
		if r.Leaving > 0 {
			if err := s.pend(tx, pendingChange{Kind: removing, At: now, Nodes: gone}); err != nil {
				return err
			}
		}
		err = s.write(ctx, tx, now)
		r.Sequence = s
		if err != nil {
			return err
		}
		return s.watch(ctx, tx, old, now)
	})
	if err != nil {
		return GraphResult{}, fmt.Errorf("set the graph of a sequence: %w", err)
	}
	return r, nil
}

// Checked returns the sequence with another graph, which is checked as SetGraphUnder does. Nothing is stored. The error
// is ErrGraph if the graph is not valid.
func (s Sequence) Checked(ctx context.Context, db *sqldb.DB, box *secret.Box, g Graph, rules webhook.Rules, now time.Time) (Sequence, error) {
	c, err := newChecker(ctx, db, s.Tenant, s.ID)
	if err != nil {
		return s, err
	}
	c.rules, c.seal = rules, sealer(box, s.Tenant, s.Graph)
	old := s.Graph
	var issues []Issue
	if s.Graph, issues, err = c.check(ctx, g); err != nil {
		return s, err
	}
	if len(issues) > 0 {
		return s, invalid(issues)
	}
	s.Graph.keepTimes(old, now)
	return s, nil
}

// Configured returns ErrGraph if the sequence has no graph.
func (s Sequence) Configured() error {
	if s.Graph.node(s.Graph.Entry) < 0 {
		return invalid([]Issue{missingEntry})
	}
	return nil
}

func invalid(issues []Issue) error {
	return ErrGraph.Sayf("the graph is not valid: %s", describe(issues)).With(Issues{issues})
}

// revise gives a sequence another graph and applies a change. It returns what keeps both from being
// stored.
func (c *checker) revise(ctx context.Context, s *Sequence, g Graph, ch Change) (issues []Issue, err error) {
	if s.Graph, issues, err = c.check(ctx, g); err != nil {
		return nil, err
	}
	if ch.AllowReentry != nil {
		s.AllowReentry = *ch.AllowReentry
	}
	var p fault.Problems
	c.applyEnds(s, ch, &p)
	return append(issues, issuesOf(InvalidConfig, &p)...), nil
}

// judge adds to the result of a dry run what else can be said about the sequence.
func (c *checker) judge(ctx context.Context, s Sequence, r *GraphResult) (err error) {
	if s.Status == Draft {
		if r.Unready, err = c.unready(ctx, s); err != nil {
			return err
		}
	}
	if len(r.Issues) == 0 {
		r.Warnings, err = c.warnings(ctx, s)
	}
	return err
}

// keepTimes keeps the creation times of nodes that the old graph has too, and the ids of its edges.
func (g *Graph) keepTimes(old Graph, now time.Time) {
	for i := range g.Nodes {
		g.Nodes[i].CreatedAt = now
		if at := old.node(g.Nodes[i].ID); at >= 0 && old.Nodes[at].Type == g.Nodes[i].Type {
			g.Nodes[i].CreatedAt = old.Nodes[at].CreatedAt
		}
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		at := slices.IndexFunc(old.Edges, func(o Edge) bool { return o.From == e.From && o.To == e.To && o.Label == e.Label })
		if at >= 0 {
			e.ID, e.CreatedAt = old.Edges[at].ID, old.Edges[at].CreatedAt
			continue
		}
		e.ID, e.CreatedAt = id.New[id.SequenceEdge](), now
	}
}

// describe returns the first issues as text.
func describe(list []Issue) string {
	var parts []string
	for i, is := range list {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-3))
			break
		}
		text := is.Message
		if is.NodeID != nil {
			text = "node " + *is.NodeID + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
