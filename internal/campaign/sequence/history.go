package sequence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Visited is one visit of a node by an enrollment.
type Visited struct {
	Number  int // from 1, in the order of the visits
	Node    string
	Type    NodeType // at that time; empty: unknown
	At      time.Time
	Left    *time.Time // nil: the enrollment is there
	Label   string     // of the way that it took
	Next    string     // the node that it entered then; empty: none
	Changed bool       // the node was changed or removed since
	Why     Why

	Definition json.RawMessage  // the rule that a condition, branch or goal tested last; nil: none, or the node was changed
	Message    id.Message       // the mail; zero: none, or it is not stored any more
	Request    *webhook.Outcome // of a webhook; nil: none, or it is not stored any more
}

// History is a page of the visits of an enrollment, the oldest first.
type History struct {
	Visits  []Visited
	Omitted int // the first visits of the enrollment, which are not stored: too many, or from before they were
	More    bool
}

// LoadHistory returns up to limit visits after a number. The error is ErrNotFound or ErrNoEnrollment.
func LoadHistory(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, enrollment id.Enrollment, after, limit int) (History, error) {
	s, err := Load(ctx, db, tenant, seq)
	if err != nil {
		return History{}, err
	}
	e, log, err := loadLog(ctx, db, tenant, seq, enrollment)
	if err != nil {
		return History{}, err
	}
	s.Settle(&e)
	all := s.visited(e, log+e.logText())
	h := History{Omitted: e.visited() - len(all)}
	for i := range all {
		all[i].Number = h.Omitted + i + 1
	}
	from, _ := slices.BinarySearchFunc(all, after+1, func(v Visited, n int) int { return v.Number - n })
	h.Visits = all[from:]
	if h.More = len(h.Visits) > limit; h.More {
		h.Visits = h.Visits[:limit]
	}
	if err := s.findMessages(ctx, db, e, h.Visits); err != nil {
		return History{}, err
	}
	return h, findRequests(ctx, db, tenant, h.Visits)
}

func loadLog(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, enrollment id.Enrollment) (e Enrollment, log string, err error) {
	e, err = scanEnrollment(tenant)(func(dest ...any) error {
		return db.QueryRow(ctx, `SELECT `+enrollmentColumns+`, steps FROM enrollment WHERE tenant_id = $1 AND sequence_id = $2 AND id = $3`, tenant, seq, enrollment).
			Scan(append(dest, sqldb.ToText(&log))...)
	})
	if errors.Is(err, sqldb.ErrNoRows) {
		return e, "", ErrNoEnrollment
	}
	if err != nil {
		return e, "", fmt.Errorf("load the steps of an enrollment: %w", err)
	}
	return e, log, nil
}

// visited returns how many nodes the enrollment has entered.
func (e Enrollment) visited() int {
	n := 0
	for _, visits := range e.Visits {
		n += visits
	}
	return n
}

// visited returns the visits of an enrollment that are in its log, and that of the node where it is.
func (s Sequence) visited(e Enrollment, log string) []Visited {
	stored := visits(log)
	if e.ExitedAt == nil && (len(stored) == 0 || stored[len(stored)-1].left) { // it entered the node before steps were stored
		v := visit{node: e.Node, at: e.EnteredAt}
		if e.NodeEnteredAt != nil {
			v.at = *e.NodeEnteredAt
		}
		if i := s.Graph.node(e.Node); i >= 0 {
			v.typ, v.fingerprint = s.Graph.Nodes[i].Type, s.Graph.Nodes[i].fingerprint()
		}
		stored = append(stored, v)
	}
	list := make([]Visited, len(stored))
	for i, v := range stored {
		list[i] = Visited{Node: v.node, Type: v.typ, At: v.at, Label: v.label, Why: v.why}
		switch {
		case i+1 < len(stored):
			list[i].Left, list[i].Next = &stored[i+1].at, stored[i+1].node
		case e.ExitedAt != nil:
			list[i].Left = e.ExitedAt
		default:
			list[i].Why = e.present()
		}
		if at := s.Graph.node(v.node); at < 0 || s.Graph.Nodes[at].fingerprint() != v.fingerprint {
			list[i].Changed = true
		} else {
			list[i].Definition = tested(s.Graph.Nodes[at], v)
		}
	}
	return list
}

// present says what an enrollment does at its node.
func (e Enrollment) present() Why {
	switch {
	case e.Status == Waiting:
		return Why{Code: AtPause}
	case e.Arrived && !e.Met:
		return Why{Code: AtWait, Until: e.TimerAt}
	}
	return Why{Code: AtPending}
}

// tested returns the rule of a node that was tested last.
func tested(n Node, v visit) json.RawMessage {
	step, err := parseStep(n)
	if err != nil || !v.left {
		return nil
	}
	switch s := step.(type) {
	case ConditionStep:
		return s.Definition
	case GoalStep:
		return s.Definition
	case BranchStep:
		if i := slices.IndexFunc(s.Branches, func(w BranchWay) bool { return w.Label == v.label }); i >= 0 && v.why.Code == ConditionMet {
			return s.Branches[i].Definition
		}
	}
	return nil
}

// findMessages sets the messages of visits that queued a mail.
func (s Sequence) findMessages(ctx context.Context, db *sqldb.DB, e Enrollment, list []Visited) error {
	if !slices.ContainsFunc(list, func(v Visited) bool { return v.Why.Code == MailQueued }) {
		return nil
	}
	sends, err := Sends(ctx, db, s.Tenant, s.ID)
	if err != nil {
		return err
	}
	type place struct {
		node  string
		visit int
	}
	found, read := map[place]id.Message{}, map[string]bool{}
	for i, v := range list {
		send, sent := sends[v.Node]
		if v.Why.Code != MailQueued || !sent {
			continue
		}
		if !read[v.Node] {
			messages, err := outbox.Visits(ctx, db, s.Tenant, send, []id.Contact{e.Contact})
			if err != nil {
				return err
			}
			for _, m := range messages {
				found[place{v.Node, m.Number}] = m.Message
			}
			read[v.Node] = true
		}
		list[i].Message = found[place{v.Node, e.Number*visitsPerEnrollment + v.Why.Visit}]
	}
	return nil
}

// findRequests sets the outcomes of the requests of webhooks.
func findRequests(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []Visited) error {
	var ids []id.Delivery
	for _, v := range list {
		if !v.Why.Delivery.IsZero() {
			ids = append(ids, v.Why.Delivery)
		}
	}
	outcomes, err := webhook.Outcomes(ctx, db, tenant, ids)
	if err != nil {
		return err
	}
	for i, v := range list {
		if o, ok := outcomes[v.Why.Delivery]; ok {
			list[i].Request = &o
		}
	}
	return nil
}
