package sequences

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/base/id"
)

// bench is a running program with contacts and a receiving server.
type bench struct {
	*site.Site
	sink     *harness.Sink
	target   press.Account
	people   []site.Contact
	contacts []string // their ids
}

// measure measures one database, and prints a row for each figure.
func measure(ctx context.Context, o options, dialect string) (err error) {
	s, err := open(ctx, o, dialect)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	row := func(what string, format string, args ...any) {
		fmt.Printf("%-9s %-40s %s\n", dialect, what, fmt.Sprintf(format, args...))
	}
	if o.Watch {
		return s.watch(ctx, o, row)
	}
	mail, err := s.mail(ctx)
	if err != nil {
		return err
	}
	if err := s.latency(ctx, o, mail, row, "nobody waiting"); err != nil {
		return err
	}
	empty, err := s.rest(ctx, o)
	if err != nil {
		return err
	}
	if err := s.wait(ctx, o.Waiting); err != nil {
		return err
	}
	full, err := s.rest(ctx, o)
	if err != nil {
		return err
	}
	row("CPU at rest, nobody and all waiting", "%.2f %.2f ms/s", empty, full)
	seq, err := s.sequence(ctx, "Steps", nil, steps(s.Account.List), stepEdges)
	if err != nil {
		return err
	}
	if err := s.enroll(ctx, o, seq, row); err != nil {
		return err
	}
	if err := s.steps(ctx, row); err != nil {
		return err
	}
	if err := s.latency(ctx, o, mail, row, "all waiting"); err != nil {
		return err
	}
	if err := s.pause(ctx, row); err != nil {
		return err
	}
	return s.watch(ctx, o, row)
}

type object = map[string]any

func node(name, kind string, config object) object {
	return object{"id": name, "type": kind, "config": config}
}

// steps are the nodes of the measured sequence: a wait, a condition, a split, changes of the contact,
// an event, and a wait.
func steps(list string) []object {
	day := object{"mode": "duration", "amount": 1, "unit": "day"}
	return []object{
		node("rest", "wait", day),
		node("known", "condition", object{"definition": object{"logic": "and", "conditions": []any{object{"field": "city", "operator": "equals", "value": "Graz"}}}}),
		node("half", "split", object{"branches": []any{object{"label": "a", "weight": 1}, object{"label": "b", "weight": 1}}}),
		node("label", "tag", object{"action": "add", "tags": []string{"walked"}}),
		node("leave", "list", object{"action": "remove", "segment_key": list}),
		node("record", "event", object{"event_name": "walked", "properties": object{}}),
		node("again", "wait", day),
	}
}

var stepEdges = [][3]string{
	{"rest", "known", ""}, {"known", "half", "true"}, {"known", "half", "false"}, {"half", "label", "a"}, {"half", "leave", "b"},
	{"label", "record", ""}, {"leave", "record", ""}, {"record", "again", ""},
}

// sequence makes an active sequence and returns its id.
func (s *bench) sequence(ctx context.Context, name string, trigger any, nodes []object, edges [][3]string) (string, error) {
	made, err := s.Account.Owner.Must(ctx, http.MethodPost, "/sequences", object{"name": name, "entry_trigger": trigger, "allow_reentry": true})
	if err != nil {
		return "", err
	}
	seq := made["id"].(string)
	list := []object{}
	for _, e := range edges {
		edge := object{"from_node": e[0], "to_node": e[1]}
		if e[2] != "" {
			edge["branch_label"] = e[2]
		}
		list = append(list, edge)
	}
	if _, err := s.Account.Owner.Must(ctx, http.MethodPut, "/sequences/"+seq+"/graph", object{"entry_node_id": nodes[0]["id"], "nodes": nodes, "edges": list}); err != nil {
		return "", err
	}
	_, err = s.Account.Owner.Must(ctx, http.MethodPost, "/sequences/"+seq+"/activate", nil)
	return seq, err
}

// mail makes a sequence that an event triggers and that sends a mail at once.
func (s *bench) mail(ctx context.Context) (string, error) {
	lane, err := s.Account.Lane(ctx, "Sink", s.sink.Address, 4, false)
	if err != nil {
		return "", err
	}
	m, err := s.Account.Key.Must(ctx, http.MethodPost, "/messages", object{"name": "Hello", "content": object{"subject": "Hello {{ first_name }}", "body_html": "<p>Hello</p>"}})
	if err != nil {
		return "", err
	}
	trigger := object{"trigger_type": "event", "trigger_config": object{"event_name": "signed_up"}}
	return s.sequence(ctx, "Mail", trigger, []object{node("hello", "send", object{"message_id": m["id"], "email_type_key": "newsletter", "mta_config_key": lane})}, nil)
}

// latency measures the time from an event's request to the receiving server's acceptance of the mail
// that it triggers, one at a time.
func (s *bench) latency(ctx context.Context, o options, _ string, row func(string, string, ...any), when string) error {
	var took []time.Duration
	for i := range o.Mails {
		before, err := s.sink.Messages()
		if err != nil {
			return err
		}
		c := s.contacts[(len(before)+i)%len(s.contacts)]
		began := time.Now()
		if _, err := s.Account.Key.Must(ctx, http.MethodPost, "/events", object{"event_name": "signed_up", "contact_id": c}); err != nil {
			return err
		}
		for {
			taken, err := s.sink.Messages()
			if err != nil {
				return err
			}
			if len(taken) > len(before) {
				took = append(took, taken[len(taken)-1].Time.Sub(began))
				break
			}
			if time.Since(began) > time.Minute {
				return errors.New("no mail arrived within a minute")
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	slices.Sort(took)
	row("event to SMTP acceptance, "+when, "median %d ms, longest %d ms (target 1000)", took[len(took)/2].Milliseconds(), took[len(took)-1].Milliseconds())
	return nil
}

// rest returns the processor time that the program takes at rest, in ms per second.
func (s *bench) rest(ctx context.Context, o options) (float64, error) {
	before, err := s.Usage()
	if err != nil {
		return 0, err
	}
	select {
	case <-time.After(o.Span):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	after, err := s.Usage()
	return (after.CPU - before.CPU).Seconds() * 1000 / o.Span.Seconds(), err
}

// wait stores enrollments of another sequence that wait for a year.
func (s *bench) wait(ctx context.Context, n int) error {
	seq, err := s.sequence(ctx, "Waiting", nil, []object{node("rest", "wait", object{"mode": "duration", "amount": 52, "unit": "week"})}, nil)
	if err != nil {
		return err
	}
	q, _ := id.Parse[id.Sequence](seq)
	now := time.Now()
	for done := 0; done < n; done += 5000 {
		t := s.DB.Table("id UUID", "contact_id UUID", "due_at BIGINT")
		for i := done; i < min(done+5000, n); i++ {
			t.Add(id.New[id.Enrollment](), id.New[id.Contact](), now.AddDate(1, 0, 0).Add(time.Duration(rand.Int64N(int64(30*24*time.Hour)))).UnixMicro())
		}
		_, err := s.DB.Exec(ctx, `
			INSERT INTO enrollment (tenant_id, id, sequence_id, contact_id, status, node_id, arrived, visits, due_at, timer_at, entered_at, node_entered_at)
			SELECT (SELECT MIN(tenant_id) FROM tenant), v.id, `+s.DB.Param(1, "UUID")+`, v.contact_id, 'active', 'rest', TRUE, '{"rest":1}', v.due_at, v.due_at, `+s.DB.Param(2, "BIGINT")+`, `+s.DB.Param(2, "BIGINT")+`
			FROM `+t.As("v", 3)+` WHERE true`, t.Args(q, now.UnixMicro())...)
		if err != nil {
			return fmt.Errorf("store waiting enrollments: %w", err)
		}
	}
	_, err = s.DB.Exec(ctx, `INSERT INTO sequence_count (tenant_id, sequence_id, node_id, entered) SELECT MIN(tenant_id), `+s.DB.Param(1, "UUID")+`, '', `+s.DB.Param(2, "BIGINT")+` FROM tenant`, q, n)
	if err == nil && s.Dialect == "postgres" {
		_, err = s.DB.Exec(ctx, `ANALYZE enrollment`)
	}
	return err
}

// enroll enrolls each contact once, by a request each.
func (s *bench) enroll(ctx context.Context, o options, seq string, row func(string, string, ...any)) error {
	var next atomic.Int64
	load := press.Load{Name: "enroll", Target: 1000, Next: func(_ *rand.Rand, b []byte) []byte {
		c := s.contacts[int(next.Add(1)-1)%len(s.contacts)]
		return s.target.Request(b, "POST", "/sequences/"+seq+"/enroll", []byte(`{"contact_id":"`+c+`"}`))
	}}
	got, err := press.Press(ctx, s.target.Address, press.Pace{Conns: o.Connections, Warm: o.Span / 5, Span: o.Span}, load, "")
	if err != nil {
		return err
	}
	row("enrollments by request", "%.0f/s (target %.0f), p50 %d ms, p99 %d ms", got.Rate, load.Target, got.At(.5).Milliseconds(), got.At(.99).Milliseconds())
	return nil
}

// steps ends the first wait of all that were enrolled, and measures until all are at the second.
func (s *bench) steps(ctx context.Context, row func(string, string, ...any)) error {
	at := func(node string) (n int, err error) {
		err = s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM enrollment AS e JOIN sequence AS s ON s.id = e.sequence_id AND s.name = 'Steps' WHERE e.node_id = $1 AND e.arrived /* all tenants: there is one */`, node).Scan(&n)
		return n, err
	}
	var all int
	for { // until all have begun the first wait
		var due int
		if err := s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM enrollment WHERE due_at <= $1 /* all tenants: there is one */`, time.Now().UnixMicro()).Scan(&due); err != nil {
			return err
		}
		if due == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	all, err := at("rest")
	if err != nil {
		return err
	}
	began := time.Now()
	_, err = s.DB.Exec(ctx, `UPDATE enrollment SET due_at = $1, timer_at = $1 WHERE node_id = 'rest' AND sequence_id = (SELECT id FROM sequence WHERE name = 'Steps') /* all tenants: there is one */`, began.UnixMicro())
	if err != nil {
		return err
	}
	c, err := s.During(ctx, func() error {
		for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			n, err := at("again")
			if err != nil || n >= all {
				return err
			}
			if time.Since(began) > 10*time.Minute {
				return fmt.Errorf("only %d of %d enrollments arrived", n, all)
			}
		}
	})
	each := func(d time.Duration) float64 { return d.Seconds() * 1e6 / float64(6*all) }
	row("steps", "%.0f/s (target 3000), %.0f + %.0f µs of CPU each (program + server), %d enrollments", float64(6*all)/c.Took.Seconds(), each(c.CPU), each(c.Server), all)
	return err
}

// pause pauses and resumes the sequence in which most enrollments wait.
func (s *bench) pause(ctx context.Context, row func(string, string, ...any)) error {
	var q id.Sequence
	if err := s.DB.QueryRow(ctx, `SELECT id FROM sequence WHERE name = 'Waiting' /* all tenants: there is one */`).Scan(&q); err != nil {
		return err
	}
	for _, action := range []string{"pause", "resume"} {
		began := time.Now()
		if _, err := s.Account.Owner.Must(ctx, http.MethodPost, "/sequences/"+q.String()+"/"+action, nil); err != nil {
			return err
		}
		answered := time.Since(began)
		for pending := 1; pending > 0; time.Sleep(50 * time.Millisecond) {
			if err := s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM sequence WHERE pending IS NOT NULL /* all tenants: there is one */`).Scan(&pending); err != nil {
				return err
			}
		}
		row(action+" of all that wait", "answered in %d ms, followed in %.0f s", answered.Milliseconds(), time.Since(began).Seconds())
	}
	return nil
}

// open starts the program and a receiving server.
func open(ctx context.Context, o options, dialect string) (*bench, error) {
	at, err := o.Open(ctx, dialect, site.Options{Contacts: o.Contacts})
	if err != nil {
		return nil, err
	}
	s := &bench{Site: at, target: at.API()}
	if s.sink, err = harness.StartSink(ctx, o.Sink, at.Dir); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if s.people, err = at.Contacts(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	for _, p := range s.people {
		s.contacts = append(s.contacts, p.ID.String())
	}
	return s, nil
}

func (s *bench) close() error {
	var err error
	if s.sink != nil {
		err = s.sink.Stop()
	}
	return errors.Join(err, s.Close())
}
