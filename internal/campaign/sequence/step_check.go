package sequence

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/people/contact"
)

var (
	validPath  = regexp.MustCompile(`^[A-Za-z0-9_.\[\]-]+$`) // of a field in a message
	validLabel = regexp.MustCompile(`^[^\pC]{1,64}$`)
)

// checkStep checks what a step says by itself, without looking up the records that it refers to.
func checkStep(s Step) error {
	switch s := s.(type) {
	case SendStep:
		return s.check()
	case WaitStep:
		return s.check()
	case BranchStep:
		return s.check()
	case SplitStep:
		return s.check()
	case ConditionStep:
		return required("definition", len(s.Definition) > 0)
	case GoalStep:
		return required("definition", len(s.Definition) > 0)
	case ListStep:
		return errors.Join(named("action", oneOf(s.Action, "add", "remove")), required("segment_key", s.Segment != ""))
	case TagStep:
		err := named("action", oneOf(s.Action, "add", "remove"))
		if len(s.Tags) == 0 || len(s.Tags) > 50 {
			err = errors.Join(err, errors.New("tags: must be 1 to 50 tags"))
		}
		for i, tag := range s.Tags {
			_, bad := contact.ParseTag(tag)
			err = errors.Join(err, named(fmt.Sprintf("tags[%d]", i), bad))
		}
		return err
	case UpdateStep:
		if len(s.Fields)+len(s.CustomFields) == 0 {
			return errors.New("fields or custom_fields must name at least one field")
		}
		for name := range s.Fields {
			if _, ok := contact.ParseText(name); !ok {
				return fmt.Errorf("fields.%s: the contact has no such text field", name)
			}
		}
		return nil
	case StageStep:
		return required("stage_id", !s.Stage.IsZero())
	case SubscriptionStep:
		return errors.Join(named("action", oneOf(s.Action, "subscribe", "unsubscribe")), required("email_type_key", s.EmailType != ""))
	case EventStep:
		return checkEventName("event_name", s.Name)
	case WebhookStep:
		return s.check()
	case NotifyStep:
		return s.check()
	case EnrollStep:
		return required("sequence_id", !s.Sequence.IsZero())
	}
	return nil
}

func (s SendStep) check() error {
	err := errors.Join(required("message_id", !s.Message.IsZero()), required("email_type_key", s.EmailType != ""))
	if s.Version != nil && *s.Version < 1 {
		err = errors.Join(err, errors.New("version: must be a positive number"))
	}
	if s.Window != nil {
		err = errors.Join(err, named("send_window", s.Window.check()))
	}
	return err
}

func (w Window) check() error {
	err := errors.Join(named("days", checkDays(w.Days)), named("timezone", oneOf(string(w.Zone), string(ContactZone), string(AccountZone))))
	if !calendar.ValidTime(w.Start) {
		err = errors.Join(err, errors.New("start: must be a time such as 09:00"))
	}
	if !calendar.ValidTime(w.End) && w.End != "24:00" {
		err = errors.Join(err, errors.New("end: must be a time such as 17:00, or 24:00"))
	}
	if w.Start == w.End {
		err = errors.Join(err, errors.New("end: must differ from start"))
	}
	return err
}

func checkDays(days []int) error {
	if len(days) == 0 || len(days) > 7 || slices.ContainsFunc(days, func(d int) bool { return d < 1 || d > 7 }) {
		return errors.New("must be 1 to 7 days of the week, from 1 for Monday to 7 for Sunday")
	}
	return nil
}

func (w WaitStep) check() error {
	if err := named("mode", oneOf(string(w.Mode), string(ForDuration), string(UntilDate), string(UntilTime),
		string(UntilEvent), string(UntilSegment), string(UntilEngagement))); err != nil {
		return err
	}
	var err error
	switch w.Mode {
	case ForDuration:
		err = calendar.Span{Amount: w.Amount, Unit: w.Unit}.Check()
	case UntilDate:
		err = w.checkDate()
	case UntilTime:
		err = errors.Join(named("days", checkDays(w.Days)), named("timezone", oneOf(string(w.Zone), string(ContactZone), string(AccountZone))))
		if !calendar.ValidTime(w.Time) {
			err = errors.Join(err, errors.New("time: must be a time such as 09:00"))
		}
	case UntilEvent:
		err = checkEventName("event_name", w.Event)
	case UntilSegment:
		err = errors.Join(required("segment_key", w.Segment != ""), named("state", oneOf(w.State, "in", "not_in")))
	case UntilEngagement:
		err = errors.Join(required("node_id", w.Node != ""), named("event", oneOf(w.Engagement, "opened", "clicked")))
	}
	if w.Conditional() {
		if w.Timeout == nil {
			return errors.Join(err, errors.New("timeout: is required"))
		}
		err = errors.Join(err, named("timeout", w.Timeout.Check()))
	}
	if stray := w.stray(); stray != "" {
		err = errors.Join(err, fmt.Errorf("%s: a wait of mode %s has no such field", stray, w.Mode))
	}
	return err
}

func (w WaitStep) checkDate() error {
	if (w.At == nil) == (w.Field == "") {
		return errors.New("a wait until a date must have either at or field")
	}
	if w.At != nil {
		if w.At.Year() < 1970 || w.At.Year() > 9999 {
			return errors.New("at: must be a date between 1970 and 9999")
		}
		return nil
	}
	var err error
	if w.Offset != nil {
		err = w.Offset.Check("offset")
	}
	if w.Time != "" && !calendar.ValidTime(w.Time) {
		err = errors.Join(err, errors.New("time: must be a time such as 09:00"))
	}
	return err
}

// stray returns the name of a field that is set and that the mode does not have, or "".
func (w WaitStep) stray() string {
	for _, f := range []struct {
		name  string
		set   bool
		modes []Mode
	}{
		{"amount", w.Amount != 0, []Mode{ForDuration}},
		{"unit", w.Unit != "", []Mode{ForDuration}},
		{"at", w.At != nil, []Mode{UntilDate}},
		{"field", w.Field != "", []Mode{UntilDate}},
		{"offset", w.Offset != nil, []Mode{UntilDate}},
		{"time", w.Time != "", []Mode{UntilDate, UntilTime}},
		{"days", w.Days != nil, []Mode{UntilTime}},
		{"timezone", w.Zone != "", []Mode{UntilTime}},
		{"event_name", w.Event != "", []Mode{UntilEvent}},
		{"filters", w.Filters != nil, []Mode{UntilEvent}},
		{"segment_key", w.Segment != "", []Mode{UntilSegment}},
		{"state", w.State != "", []Mode{UntilSegment}},
		{"node_id", w.Node != "", []Mode{UntilEngagement}},
		{"event", w.Engagement != "", []Mode{UntilEngagement}},
		{"timeout", w.Timeout != nil, []Mode{UntilEvent, UntilSegment, UntilEngagement}},
	} {
		if f.set && !slices.Contains(f.modes, w.Mode) {
			return f.name
		}
	}
	return ""
}

func (b BranchStep) check() error {
	if len(b.Branches) == 0 || len(b.Branches) > MaxBranches {
		return fmt.Errorf("branches: must be 1 to %d", MaxBranches)
	}
	labels := map[string]bool{labelElse: true}
	var err error
	for i, w := range b.Branches {
		err = errors.Join(err, named(fmt.Sprintf("branches[%d]", i), errors.Join(
			checkLabel(w.Label, labels), required("definition", len(w.Definition) > 0))))
	}
	return err
}

func (s SplitStep) check() error {
	if len(s.Branches) < 2 || len(s.Branches) > MaxBranches {
		return fmt.Errorf("branches: must be 2 to %d", MaxBranches)
	}
	labels := map[string]bool{}
	var err error
	for i, w := range s.Branches {
		err = errors.Join(err, named(fmt.Sprintf("branches[%d]", i), checkLabel(w.Label, labels)))
		if !(w.Weight > 0 && w.Weight <= 1e6) {
			err = errors.Join(err, fmt.Errorf("branches[%d].weight: must be more than 0, and at most 1000000", i))
		}
	}
	return err
}

// checkLabel checks a label, and adds it to those that are taken.
func checkLabel(label string, taken map[string]bool) error {
	if !validLabel.MatchString(label) {
		return errors.New("label: must be 1 to 64 characters")
	}
	if taken[label] {
		return fmt.Errorf("label: %q is taken", label)
	}
	taken[label] = true
	return nil
}

func checkEventName(field, name string) error {
	if name == "" || len([]rune(name)) > 128 {
		return fmt.Errorf("%s: must be 1 to 128 characters", field)
	}
	return nil
}

func required(field string, present bool) error {
	if !present {
		return fmt.Errorf("%s: is required", field)
	}
	return nil
}

// named prefixes an error with the name of a field.
func named(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", field, err)
}
