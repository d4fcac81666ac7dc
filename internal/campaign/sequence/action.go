package sequence

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ActionTypes returns the types of nodes that change a contact, or do something outside, and have one
// way out. They are the actions of automations too.
func ActionTypes() []NodeType {
	return []NodeType{ListNode, TagNode, UpdateNode, StageNode, SubscriptionNode, EventNode, WebhookNode, NotifyNode, EnrollNode}
}

// ParseAction parses an action as stored. It returns nil if that is not possible any more.
func ParseAction(t NodeType, config json.RawMessage) Step {
	s, err := parseStep(Node{Type: t, Config: config})
	if err != nil {
		return nil
	}
	return s
}

// CheckAction parses an action and checks what it says by itself. It adds the problems to p, with paths
// below path, which is that of an object with type and config, and returns nil if there are some. The
// rules are for the URL of a webhook.
func CheckAction(t NodeType, config json.RawMessage, rules webhook.Rules, path string, p *fault.Problems) Step {
	if !slices.Contains(ActionTypes(), t) {
		names := make([]string, len(ActionTypes()))
		for i, known := range ActionTypes() {
			names[i] = string(known)
		}
		p.Add(path+".type", fmt.Sprintf("there is no action %q; it must be one of %s", t, strings.Join(names, ", ")))
		return nil
	}
	s, err := parseStep(Node{Type: t, Config: config})
	if w, ok := s.(WebhookStep); ok && err == nil {
		err = named("url", checkCallURL(w.URL, rules))
	}
	if err != nil {
		AddConfigProblems(p, path, err)
		return nil
	}
	return s
}

// AddConfigProblems adds joined problems of the configuration of the action at path.
func AddConfigProblems(p *fault.Problems, path string, err error) { addBelow(p, path+".config", err) }

// addBelow adds joined errors to problems. An error that begins with the name of a field, as named makes
// it, is one of that field below path.
func addBelow(p *fault.Problems, path string, err error) {
	for _, text := range messages(err) {
		if name, message, ok := strings.Cut(text, ": "); ok && validPath.MatchString(name) {
			p.Add(path+"."+name, message)
		} else {
			p.Add(path, text)
		}
	}
}

// ShownConfig returns the configuration of a step as it is shown: headers of webhooks have only names.
func ShownConfig(t NodeType, config json.RawMessage) json.RawMessage {
	w, ok := ParseAction(t, config).(WebhookStep)
	if !ok || len(w.Headers) == 0 {
		return config
	}
	w.Headers = w.Headers.Shown()
	shown, _ := encodeStep(w) // was decoded from JSON, so it can be encoded
	return shown
}

// EncodeAction returns the canonical configuration of an action.
func EncodeAction(s Step) (json.RawMessage, error) { return encodeStep(s) }

// ActionChecker looks up the records that actions refer to.
type ActionChecker struct{ c *checker }

// NewActionChecker returns a checker for the records that a tenant has now.
func NewActionChecker(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (ActionChecker, error) {
	c, err := newChecker(ctx, db, tenant, id.Sequence{})
	return ActionChecker{c}, err
}

// Schema returns what the rules of the tenant are checked against.
func (a ActionChecker) Schema() rule.Schema { return a.c.schema }

// Refer checks the records that an action refers to, and adds problems to p with paths below path, as
// CheckAction does.
func (a ActionChecker) Refer(ctx context.Context, s Step, path string, p *fault.Problems) error {
	_, wrong, err := a.c.refer(ctx, Graph{}, s)
	if err == nil && wrong != nil {
		AddConfigProblems(p, path, wrong)
	}
	return err
}

// ActionUses reports whether an action refers to a record.
func ActionUses(st Step, s usage.Subject) bool {
	switch st := st.(type) {
	case ListStep:
		return s.Kind == usage.Segment && st.Segment == s.Key
	case StageStep:
		return s.Kind == usage.Stage && st.Stage.String() == s.Key
	case SubscriptionStep:
		return s.Kind == usage.EmailType && st.EmailType == s.Key
	case UpdateStep:
		_, set := st.CustomFields[s.Key]
		return s.Kind == usage.Field && set
	case EnrollStep:
		return s.Kind == usage.Sequence && st.Sequence.String() == s.ID
	}
	return false
}
