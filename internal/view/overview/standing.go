package overview

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// Standing is what concerns everything that a tenant sends.
type Standing struct {
	Trial   bool     // every active lane is a built-in mailbox, and there is one
	Trouble *Trouble // the most serious one, if any
}

// Trouble is a lane or a domain through which nothing is sent.
type Trouble struct {
	Kind  Kind // OfLane or OfDomain
	State TroubleState
	ID    string
	Name  string
}

// TroubleState says what is wrong with it.
type TroubleState string

// The states.
const (
	LaneDown     TroubleState = "down"
	DomainPaused TroubleState = "paused"
	DomainFailed TroubleState = "failed" // required DNS records are missing or wrong
)

// Standing returns what concerns everything that a tenant sends.
func (r *Reader) Standing(ctx context.Context, t id.Tenant) (Standing, error) {
	var s Standing
	lanes, err := lane.List(ctx, r.DB, t)
	if err != nil {
		return s, fmt.Errorf("read the standing: %w", err)
	}
	states, err := lane.StatesOf(ctx, r.DB, t, lane.IDs(lanes))
	if err != nil {
		return s, fmt.Errorf("read the standing: %w", err)
	}
	domains, err := sender.Domains(ctx, r.DB, t)
	if err != nil {
		return s, fmt.Errorf("read the standing: %w", err)
	}
	return standingOf(lanes, states, domains), nil
}

func standingOf(lanes []lane.Config, states map[id.Lane]lane.Health, domains []sender.Domain) (s Standing) {
	active, mailboxes := 0, 0
	for _, c := range lanes {
		if !c.Active {
			continue
		}
		active++
		if c.Type == lane.Sink {
			mailboxes++
		}
		if s.Trouble == nil && states[c.ID].State == lane.Down {
			s.Trouble = &Trouble{OfLane, LaneDown, c.ID.String(), c.Name}
		}
	}
	s.Trial = active > 0 && mailboxes == active
	for _, d := range domains {
		if s.Trouble != nil {
			break
		}
		switch {
		case d.Paused:
			s.Trouble = &Trouble{OfDomain, DomainPaused, d.ID.String(), d.Name}
		case d.Status == sender.Failed:
			s.Trouble = &Trouble{OfDomain, DomainFailed, d.ID.String(), d.Name}
		}
	}
	return s
}
