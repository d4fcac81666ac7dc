package sequence

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
)

// The codes of warnings.
const (
	NoTrigger    IssueCode = "no_trigger"    // contacts only enter if somebody or a program enrolls them
	QuietTrigger IssueCode = "quiet_trigger" // what the trigger waits for cannot happen yet, or has never happened
)

// warnings returns what does not keep a sequence from being activated, though nobody may enter it then.
func (c *checker) warnings(ctx context.Context, s Sequence) ([]Issue, error) {
	t := s.Trigger
	var p fault.Problems
	quiet := func(field, message string) []Issue {
		p.Add("entry_trigger.trigger_config."+field, message)
		return issuesOf(QuietTrigger, &p)
	}
	switch {
	case t == nil:
		all, err := Counts(ctx, c.db, c.tenant, c.self)
		if err != nil || all[""].Entered > 0 {
			return nil, err
		}
		p.Add("entry_trigger", "nobody enters unless contacts are added")
		return issuesOf(NoTrigger, &p), nil
	case t.Type == trigger.Event:
		seen, err := event.Known(ctx, c.db, c.tenant, t.Config.Event)
		if err != nil || seen {
			return nil, err
		}
		return quiet("event_name", fmt.Sprintf("no event %q has happened yet", t.Config.Event)), nil
	case t.Type == trigger.FormSubmitted:
		forms, err := form.List(ctx, c.db, c.tenant, form.Published)
		if err != nil || slices.ContainsFunc(forms, func(f form.Form) bool { return f.Slug == t.Config.Form }) {
			return nil, err
		}
		return quiet("form_slug", "the form is not published"), nil
	case t.Type == trigger.Engagement && !t.Config.Broadcast.IsZero():
		_, err := broadcast.Head(ctx, c.db, c.tenant, t.Config.Broadcast)
		if errors.Is(err, broadcast.ErrNotFound) {
			return quiet("broadcast_id", "there is no such broadcast"), nil
		}
		return nil, err
	}
	return nil, nil
}
