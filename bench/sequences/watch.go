package sequences

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// rules returns the rule of segment i of those that triggers follow. One in ten depends on the city,
// the others on something else.
func rules(i int) object {
	field := func(name, operator string, value any) object {
		return object{"field": name, "operator": operator, "value": value}
	}
	leaf := []object{
		field("city", "equals", fmt.Sprint("Town ", i)),
		field("company", "contains", fmt.Sprint("Works ", i)),
		field("state", "equals", fmt.Sprint("State ", i)),
		field("tags", "has_any", []string{fmt.Sprint("tag ", i)}),
		field("prospect_score", "greater_than", 100+i),
		{"type": "event", "event_name": fmt.Sprint("event ", i), "operator": "did"},
		{"type": "event", "event_name": fmt.Sprint("paid ", i), "operator": "did", "window": object{"in_the_last": object{"amount": 30, "unit": "day"}}},
		{"type": "email", "event": "opened", "operator": "did", "count": object{"operator": "at_least", "value": 2 + i}},
		field("last_name", "starts_with", fmt.Sprint("N", i)),
		field("title", "is_set", nil),
	}[i%10]
	if leaf["operator"] == "is_set" {
		delete(leaf, "value")
	}
	return object{"logic": "and", "conditions": []any{leaf}}
}

// watch measures a change of a contact that lets it enter one of many segments that triggers follow:
// how long the rules take that the change may touch, and the time from the answer to the request until
// the contact is enrolled.
func (s *bench) watch(ctx context.Context, o options, row func(string, string, ...any)) error {
	for i := range o.Segments {
		made, err := s.Account.Owner.Must(ctx, http.MethodPost, "/segments", object{"name": fmt.Sprint("Watched ", i), "definition": rules(i)})
		if err != nil {
			return err
		}
		on := object{"trigger_type": "segment_entered", "trigger_config": object{"segment_key": made["segment_key"]}}
		rest := node("rest", "wait", object{"mode": "duration", "amount": 1, "unit": "week"})
		if _, err := s.sequence(ctx, fmt.Sprint("Entered ", i), on, []object{rest}, nil); err != nil {
			return err
		}
	}
	began := time.Now()
	for waiting := 1; waiting > 0; time.Sleep(100 * time.Millisecond) {
		if err := s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM segment_watch WHERE state <> 'ready' /* all tenants: there is one */`).Scan(&waiting); err != nil {
			return err
		}
		if time.Since(began) > time.Hour {
			return errors.New("the members of the watched segments were not recorded within an hour")
		}
	}
	row("members of watched segments recorded", "%d segments, %d contacts, %.0f s", o.Segments, len(s.people), time.Since(began).Seconds())
	var evaluated, enrolled []time.Duration
	for i := range max(o.Mails, 1) {
		c := s.people[(i*997+1)%len(s.people)]
		took, err := s.evaluate(ctx, c)
		if err != nil {
			return err
		}
		evaluated = append(evaluated, took)
		if took, err = s.enter(ctx, c, fmt.Sprint("Town ", i*10%o.Segments)); err != nil {
			return err
		}
		enrolled = append(enrolled, took)
	}
	slices.Sort(evaluated)
	slices.Sort(enrolled)
	n := len(evaluated)
	row("rules that a change may touch", "median %.1f ms, longest %.1f ms (target 20)", ms(evaluated[n/2]), ms(evaluated[n-1]))
	row("answer to the change to enrollment", "median %.0f ms, longest %.0f ms", ms(enrolled[n/2]), ms(enrolled[n-1]))
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

var errUndone = errors.New("undone")

// evaluate returns how long the follower takes for a change of a contact's city. What it does is undone.
func (s *bench) evaluate(ctx context.Context, c site.Contact) (took time.Duration, err error) {
	follower := trigger.Follower(time.Now)
	err = s.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if _, err := tx.Exec(ctx, `UPDATE contact SET city = 'Town 0' WHERE tenant_id = $1 AND id = $2`, c.Tenant, c.ID); err != nil {
			return err
		}
		began := time.Now()
		err := follower.Follow(ctx, tx, []journal.Entry{{
			Tenant: c.Tenant, Type: journal.ContactUpdated, Contact: c.ID, At: began, Data: contact.Updated{Fields: []string{"city"}},
		}})
		took = time.Since(began)
		return errors.Join(err, errUndone)
	})
	if !errors.Is(err, errUndone) {
		return 0, err
	}
	return took, nil
}

// enter changes a contact's city and returns the time from the answer until the contact is enrolled.
func (s *bench) enter(ctx context.Context, c site.Contact, city string) (time.Duration, error) {
	if _, err := s.Account.Key.Must(ctx, http.MethodPut, "/contacts", object{"email": c.Email, "city": city}); err != nil {
		return 0, err
	}
	began := time.Now()
	for {
		var n int
		err := s.DB.QueryRow(ctx, `
			SELECT COUNT(*) FROM enrollment AS e JOIN sequence AS s ON s.tenant_id = e.tenant_id AND s.id = e.sequence_id
			WHERE e.contact_id = $1 AND s.name LIKE 'Entered %' /* all tenants: there is one */`, c.ID).Scan(&n)
		if err != nil {
			return 0, err
		}
		if n > 0 {
			return time.Since(began), nil
		}
		if time.Since(began) > time.Minute {
			return 0, errors.New("the contact was not enrolled within a minute")
		}
		time.Sleep(time.Millisecond)
	}
}
