package sequence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// checker looks up the records that a graph refers to.
type checker struct {
	db       *sqldb.DB
	tenant   id.Tenant
	self     id.Sequence
	schema   rule.Schema
	types    map[string]sender.EmailType
	stages   map[id.Stage]bool
	lanes    map[string]lane.Config
	senders  map[string]bool
	segments map[string]segment.Type
	rules    webhook.Rules
	seal     func(node string, w WebhookStep) (WebhookStep, error) // of a graph that a request gives; nil: it is stored already
}

func newChecker(ctx context.Context, db *sqldb.DB, tenant id.Tenant, self id.Sequence) (*checker, error) {
	c := &checker{
		db: db, tenant: tenant, self: self, types: map[string]sender.EmailType{}, stages: map[id.Stage]bool{},
		lanes: map[string]lane.Config{}, senders: map[string]bool{}, segments: map[string]segment.Type{},
		rules: webhook.Rules{AllowPrivate: true}, // URLs that are stored were checked
	}
	var err error
	if c.schema, err = segment.Schema(ctx, db, tenant); err != nil {
		return nil, err
	}
	for _, s := range c.schema.Stages {
		c.stages[s.ID] = true
	}
	types, err := sender.EmailTypes(ctx, db, tenant)
	if err != nil {
		return nil, err
	}
	for _, t := range types {
		c.types[t.Key] = t
	}
	lanes, err := lane.List(ctx, db, tenant)
	if err != nil {
		return nil, err
	}
	for _, l := range lanes {
		c.lanes[l.Key] = l
	}
	identities, err := sender.Identities(ctx, db, tenant)
	if err != nil {
		return nil, err
	}
	for _, i := range identities {
		c.senders[i.Address] = true
	}
	segments, err := segment.List(ctx, db, tenant, segment.Filter{})
	for _, s := range segments {
		c.segments[s.Key] = s.Type
	}
	return c, err
}

// check returns the graph with canonical configurations, its steps by node, and its issues.
func (c *checker) check(ctx context.Context, g Graph) (Graph, []Issue, error) {
	issues := []Issue{}
	steps := map[string]Step{}
	for i, n := range g.Nodes {
		bad := func(code IssueCode, err error) {
			for _, message := range messages(err) {
				issues = append(issues, Issue{NodeID: &n.ID, Code: code, Message: message})
			}
		}
		if !validNodeID.MatchString(n.ID) {
			bad(InvalidConfig, errors.New("id: must be 1 to 64 letters, digits, hyphens and underscores"))
		}
		if !slices.Contains(NodeTypes(), n.Type) {
			bad(UnknownType, fmt.Errorf("there is no node type %q", n.Type))
			continue
		}
		s, err := parseStep(n)
		if s != nil { // the labels of a step with faults are known too
			steps[n.ID] = s
		}
		if err != nil {
			bad(InvalidConfig, err)
			continue
		}
		code, wrong, err := c.refer(ctx, g, s)
		if err != nil {
			return g, nil, err
		}
		if wrong != nil {
			bad(code, wrong)
			continue
		}
		if w, ok := s.(WebhookStep); ok && c.seal != nil {
			if s, err = c.seal(n.ID, w); err != nil {
				bad(InvalidConfig, err)
				continue
			}
		}
		if g.Nodes[i].Config, err = encodeStep(s); err != nil {
			return g, nil, err
		}
	}
	return g, append(issues, g.checkShape(steps)...), nil
}

// refer checks the records that a step refers to and what only they can tell. wrong is what is not
// right; err is a failure to look it up.
func (c *checker) refer(ctx context.Context, g Graph, s Step) (code IssueCode, wrong, err error) {
	unknown := func(field, what, name string) (IssueCode, error, error) {
		return UnknownReference, fmt.Errorf("%s: there is no %s %q", field, what, name), nil
	}
	invalid := func(wrong error) (IssueCode, error, error) { return InvalidConfig, wrong, nil }
	switch s := s.(type) {
	case SendStep:
		return c.referSend(ctx, s)
	case WaitStep:
		return c.referWait(g, s)
	case ConditionStep:
		return invalid(c.rule("definition", s.Definition))
	case GoalStep:
		return invalid(c.rule("definition", s.Definition))
	case BranchStep:
		var wrong error
		for i, w := range s.Branches {
			wrong = errors.Join(wrong, c.rule(fmt.Sprintf("branches[%d].definition", i), w.Definition))
		}
		return invalid(wrong)
	case ListStep:
		switch c.segments[s.Segment] {
		case segment.Static:
			return "", nil, nil
		case "":
			return unknown("segment_key", "list", s.Segment)
		}
		return UnknownReference, errors.New("segment_key: must be a static list; the members of a segment are found by its rule"), nil
	case StageStep:
		if !c.stages[s.Stage] {
			return unknown("stage_id", "stage", s.Stage.String())
		}
	case SubscriptionStep:
		if _, ok := c.types[s.EmailType]; !ok {
			return unknown("email_type_key", "email type", s.EmailType)
		}
	case UpdateStep:
		return c.referUpdate(s)
	case WebhookStep:
		if c.seal == nil { // it is stored, and was checked
			return "", nil, nil
		}
		return invalid(named("url", checkCallURL(s.URL, c.rules)))
	case NotifyStep:
		return c.referNotify(ctx, s)
	case EnrollStep:
		if s.Sequence == c.self {
			return invalid(errors.New("sequence_id: a sequence cannot enroll contacts in itself"))
		}
		known, err := exists(ctx, c.db, c.tenant, s.Sequence)
		if err != nil || !known {
			code, wrong, _ := unknown("sequence_id", "sequence", s.Sequence.String())
			return code, wrong, err
		}
	}
	return "", nil, nil
}

func (c *checker) referSend(ctx context.Context, s SendStep) (IssueCode, error, error) {
	var wrong error
	if _, ok := c.types[s.EmailType]; !ok {
		wrong = errors.Join(wrong, fmt.Errorf("email_type_key: there is no email type %q", s.EmailType))
	}
	for i, a := range s.Identities {
		if !c.senders[a] {
			wrong = errors.Join(wrong, fmt.Errorf("sending_identity_emails[%d]: no sending identity has the address %q", i, a))
		}
	}
	if s.Lane != nil {
		if _, ok := c.lanes[*s.Lane]; !ok {
			wrong = errors.Join(wrong, fmt.Errorf("mta_config_key: there is no MTA config %q", *s.Lane))
		}
	}
	version := 0
	if s.Version != nil {
		version = *s.Version
	}
	if _, _, err := library.Content(ctx, c.db, c.tenant, s.Message, version); err != nil {
		f, ok := fault.As(err)
		if !ok {
			return "", nil, err
		}
		wrong = errors.Join(wrong, fmt.Errorf("message_id: %s", f.Message))
	}
	if s.ReplyTo != nil {
		if _, err := address.Normalize(*s.ReplyTo); err != nil {
			return InvalidConfig, errors.Join(wrong, fmt.Errorf("reply_to: not an address: %w", err)), nil
		}
	}
	return UnknownReference, wrong, nil
}

func (c *checker) referWait(g Graph, w WaitStep) (IssueCode, error, error) {
	switch w.Mode {
	case UntilDate:
		if w.Field != "" && !c.isDate(w.Field) {
			return UnknownReference, fmt.Errorf("field: the contact has no date %q", w.Field), nil
		}
	case UntilEvent:
		_, wrong := rule.ParseEventFilters(orEmptyList(w.Filters), "filters")
		return InvalidConfig, ofFields(wrong), nil
	case UntilSegment:
		if c.segments[w.Segment] == "" {
			return UnknownReference, fmt.Errorf("segment_key: there is no list or segment %q", w.Segment), nil
		}
	case UntilEngagement:
		if i := g.node(w.Node); i < 0 || g.Nodes[i].Type != SendNode {
			return UnknownReference, fmt.Errorf("node_id: no node of type send has the id %q", w.Node), nil
		}
	}
	return "", nil, nil
}

// isDate reports whether a contact's field, as named in rules, is a date.
func (c *checker) isDate(name string) bool {
	key, custom := customKey(name)
	if !custom {
		return slices.Contains(dateColumns, name)
	}
	f, ok := c.schema.Fields[key]
	return ok && (f.Type == field.Date || f.Type == field.DateTime)
}

func (c *checker) referUpdate(s UpdateStep) (IssueCode, error, error) {
	var wrong error
	for _, name := range slices.Sorted(maps.Keys(s.Fields)) {
		path := "fields." + name
		wrong = errors.Join(wrong, checkValue(path, s.Fields[name]))
	}
	for _, key := range slices.Sorted(maps.Keys(s.CustomFields)) {
		path := "custom_fields." + key
		if _, ok := c.schema.Fields[key]; !ok {
			wrong = errors.Join(wrong, fmt.Errorf("%s: no such custom field is declared", path))
			continue
		}
		wrong = errors.Join(wrong, checkValue(path, s.CustomFields[key]))
	}
	return InvalidConfig, wrong, nil
}

// checkValue checks the Liquid of a text.
func checkValue(path string, v any) error {
	if text, ok := v.(string); ok {
		if _, err := liquid.Parse(text, liquid.Options{}); err != nil {
			return fmt.Errorf("%s: the Liquid is not valid: %w", path, err)
		}
	}
	return nil
}

// rule checks a rule.
func (c *checker) rule(path string, raw json.RawMessage) error {
	_, err := rule.ParseStep(raw, c.schema)
	return ofFault(path, err)
}

// ofFault returns the problems of a fault with fields, below a path.
func ofFault(path string, err error) error {
	if err == nil {
		return nil
	}
	f, ok := fault.As(err)
	if !ok {
		return named(path, err)
	}
	return fmt.Errorf("%s: %s", path, f.Message)
}

func ofFields(list []fault.Field) error {
	var err error
	for _, f := range list {
		err = errors.Join(err, fmt.Errorf("%s: %s", f.Path, f.Message))
	}
	return err
}

// messages returns the messages of the errors that are joined in err.
func messages(err error) []string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var list []string
		for _, e := range joined.Unwrap() {
			list = append(list, messages(e)...)
		}
		return list
	}
	return []string{err.Error()}
}

func orEmptyList(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return []byte("[]")
	}
	return raw
}

// dateColumns are the columns of a contact that are dates.
var dateColumns = []string{"created_at", "last_email_sent_at", "last_email_opened_at", "last_email_clicked_at", "last_activity_at", "last_page_viewed_at"}

const customPrefix = "custom_fields."

func customKey(name string) (key string, custom bool) {
	if len(name) > len(customPrefix) && name[:len(customPrefix)] == customPrefix {
		return name[len(customPrefix):], true
	}
	return "", false
}
