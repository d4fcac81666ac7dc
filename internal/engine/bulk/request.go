package bulk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// MaxIDs is the maximum number of contacts in one request.
const MaxIDs = 1000

// The faults of this package.
var (
	ErrLimit = fault.New(fault.Invalid, "LIMIT_EXCEEDED", fmt.Sprintf("at most %d contacts can be named at once; choose more with a selector", MaxIDs))
)

// Input is the decoded body of a request.
type Input struct {
	Action     string
	ContactIDs []string
	Named      bool // whether ContactIDs was present
	Selector   *segment.SelectorInput
	Params     map[string]any
}

// Request is a valid action with its parameters.
type Request struct {
	Action Action `json:"action"`
	Params Params `json:"params"`
	ByKey  bool   `json:"by_key"` // requested by an API key, not a user
}

// Target is the contacts a request addresses: distinct IDs, or those that the selector matches.
type Target struct {
	IDs      []id.Contact
	Selector *segment.SelectorInput
}

// Runner carries out actions.
type Runner struct {
	PersonalData []contact.PersonalData // other packages' data about people, for Anonymize
}

// Read validates a request and resolves its references. The error lists all problems. If one of
// them has a code of its own, that code replaces INVALID_INPUT.
func (d Runner) Read(ctx context.Context, db *sqldb.DB, p auth.Principal, in Input, now time.Time) (Request, Target, error) {
	if err := Admit(p, in.Action); err != nil {
		return Request{}, Target{}, err
	}
	if len(in.ContactIDs) > MaxIDs {
		return Request{}, Target{}, ErrLimit
	}
	c := &validation{reader: reader{params: in.Params, Problems: &fault.Problems{}}, db: db, tenant: p.Tenant, runner: d}
	r := Request{Action: parseAction(c.Problems, in.Action), ByKey: p.IsKey()}
	t := target(c.Problems, in)
	r.Params = c.readParams(r.Action)
	if err := c.resolve(ctx, p, r.Action, &r.Params); err != nil {
		return Request{}, Target{}, err
	}
	if err := c.err(); err != nil {
		return Request{}, Target{}, err
	}
	if t.Selector == nil {
		return r, t, nil
	}
	if _, err := segment.Select(ctx, db, p.Tenant, *t.Selector, now); err != nil {
		return Request{}, Target{}, segment.Below("selector", err)
	}
	return r, t, nil
}

// Check validates which contacts the request addresses.
func (in Input) Check() error {
	var p fault.Problems
	target(&p, in)
	return p.Err()
}

// target reads which contacts the request addresses.
func target(p *fault.Problems, in Input) Target {
	var t Target
	switch {
	case in.Named && in.Selector != nil:
		p.Add("selector", "send contact_ids or selector, not both")
	case in.Selector != nil:
		t.Selector = in.Selector
	case !in.Named:
		p.Add("contact_ids", "name the contacts here, or choose them with selector")
	case len(in.ContactIDs) == 0:
		p.Add("contact_ids", fmt.Sprintf("must hold 1 to %d ids", MaxIDs))
	}
	seen := make(map[id.Contact]bool, len(in.ContactIDs))
	for _, text := range in.ContactIDs {
		c, ok := id.Parse[id.Contact](text)
		switch {
		case !ok:
			p.AddElement("contact_ids", "must be a UUID")
		case !seen[c]:
			seen[c] = true
			t.IDs = append(t.IDs, c)
		}
	}
	return t
}

// validation is the state of validating one request.
type validation struct {
	reader
	db     *sqldb.DB
	tenant id.Tenant
	runner Runner

	specific *fault.Error // the first fault with a code of its own
	missing  error        // a record in the request that does not exist; reported only if there are no other problems
}

// refuse records a problem with a param that has a fault code of its own.
func (c *validation) refuse(f *fault.Error, name, message string) {
	c.problem(name, message)
	if c.specific == nil {
		c.specific = f.Sayf("params.%s: %s", name, message)
	}
}

// err returns the error for all problems, or nil.
func (c *validation) err() error {
	err := c.Err()
	if f, ok := fault.As(err); ok && c.specific != nil {
		return c.specific.With(f.Details)
	}
	if err != nil {
		return err
	}
	return c.missing
}

// resolve looks up the records that the params refer to.
func (c *validation) resolve(ctx context.Context, p auth.Principal, a Action, params *Params) error {
	switch a {
	case AddTags, RemoveTags:
		if len(params.Tags) > maxTags {
			c.refuse(ErrLimit, "tags", fmt.Sprintf("at most %d tags", maxTags))
		}
	case SetStage:
		return c.stage(ctx, params)
	case SetField:
		return c.field(ctx, params)
	case Subscribe, Unsubscribe:
		return c.emailType(ctx, p, params)
	case AddToList, RemoveFromList:
		return c.list(ctx, params)
	case Enroll, ExitSequence:
		return c.sequence(ctx, params.Sequence)
	}
	return nil
}

func (c *validation) stage(ctx context.Context, params *Params) error {
	v, found := c.params["stage_id"]
	text, ok := v.(string)
	stage, isID := id.Parse[id.Stage](text)
	switch {
	case !found:
		c.refuse(contact.ErrInvalidStage, "stage_id", "required; null takes contacts out of their stage")
	case v == nil:
	case !ok || !isID:
		c.refuse(contact.ErrInvalidStage, "stage_id", "must be the UUID of a stage")
	default:
		stages, err := contact.Stages(ctx, c.db, c.tenant)
		if err != nil {
			return err
		}
		for _, s := range stages {
			if s.ID == stage {
				params.Stage = stage
				return nil
			}
		}
		c.refuse(contact.ErrInvalidStage, "stage_id", "there is no such stage")
	}
	return nil
}

// field validates set_field by validating the change to a contact that it makes.
func (c *validation) field(ctx context.Context, params *Params) error {
	if params.Field == "" {
		return nil
	}
	ch, problem := params.set()
	if problem.Path != "" {
		c.Add(problem.Path, problem.Message)
		return nil
	}
	rules, err := sender.ContactRules(ctx, c.db, c.tenant)
	if err != nil {
		return err
	}
	err = ch.Check(ctx, c.db, c.tenant, rules)
	f, ok := fault.As(err)
	if !ok {
		return err
	}
	at, message := "value", f.Message
	if f.Is(field.ErrUnknown) {
		at = "field"
	}
	if d, ok := f.Details.(fault.Fields); ok && len(d.Fields) > 0 {
		message = d.Fields[0].Message
	}
	if f.Is(fault.ErrInput) {
		c.problem(at, message)
		return nil
	}
	c.refuse(f, at, message)
	return nil
}

// set returns the change to a contact that set_field makes, or the problem with its params.
func (p Params) set() (contact.Change, fault.Field) {
	if key, ok := strings.CutPrefix(p.Field, "custom_fields."); ok {
		return contact.Change{CustomFields: map[string]any{key: p.Value}}, fault.Field{}
	}
	name, ok := contact.ParseText(p.Field)
	if !ok {
		names := make([]string, 0, len(contact.Texts()))
		for _, t := range contact.Texts() {
			names = append(names, string(t))
		}
		return contact.Change{}, fault.Field{Path: "params.field", Message: "must be custom_fields.<field_key> or one of " + strings.Join(names, ", ")}
	}
	switch v := p.Value.(type) {
	case nil:
		return contact.Change{Texts: map[contact.Text]*string{name: nil}}, fault.Field{}
	case string:
		return contact.Change{Texts: map[contact.Text]*string{name: &v}}, fault.Field{}
	}
	return contact.Change{}, fault.Field{Path: "params.value", Message: "must be a string, or null to clear"}
}

func (c *validation) emailType(ctx context.Context, p auth.Principal, params *Params) error {
	name := "email_type_key"
	if !p.IsKey() && c.params["email_type_id"] != nil { // users may send either; the id takes precedence
		name = "email_type_id"
	}
	v := c.params[name]
	if v == nil {
		return nil
	}
	text, ok := v.(string)
	if !ok || text == "" {
		c.refuse(contact.ErrInvalidEmailType, name, "must be the key of an email type; leave it out to mean all mail")
		return nil
	}
	types, err := sender.ContactTypes(ctx, c.db, c.tenant)
	if err != nil {
		return err
	}
	uuid, isID := id.Parse[id.EmailType](text)
	for _, t := range types.EmailTypes {
		if t.Key == text || isID && t.ID == uuid {
			params.TypeKey = t.Key
			return nil
		}
	}
	c.refuse(contact.ErrInvalidEmailType, name, "there is no such email type")
	return nil
}

func (c *validation) list(ctx context.Context, params *Params) error {
	text, ok := c.params["segment_key"].(string)
	if !ok || text == "" {
		c.refuse(segment.ErrInvalid, "segment_key", required(c.params, "segment_key", "must be the key of a static list"))
		return nil
	}
	s, err := segment.Find(ctx, c.db, c.tenant, text)
	if f, ok := fault.As(err); ok && f.Is(segment.ErrNotFound) {
		c.refuse(segment.ErrInvalid, "segment_key", "there is no such list")
		return nil
	}
	if err != nil {
		return err
	}
	if s.Type != segment.Static {
		c.missing = segment.ErrNotStatic
	}
	params.Segment = s.ID
	return nil
}

func (c *validation) sequence(ctx context.Context, seq id.Sequence) error {
	if seq.IsZero() {
		return nil
	}
	_, err := sequence.Load(ctx, c.db, c.tenant, seq)
	if errors.Is(err, sequence.ErrNotFound) {
		c.missing = sequence.ErrNotFound
		return nil
	}
	return err
}
