package campaignapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Automations serves automations and their runs.
type Automations struct {
	db      *sqldb.DB
	cursors *endpoint.Cursors
	box     *secret.Box
	rules   webhook.Rules // of webhook actions
	now     func() time.Time
}

// NewAutomations returns the operations on automations and their runs. rules are those of webhook actions.
func NewAutomations(e wire.Env, rules webhook.Rules) Automations {
	return Automations{db: e.DB, box: e.Box, cursors: e.Cursors, rules: rules, now: e.Now}
}

// On returns the operations on another handle.
func (api Automations) On(db *sqldb.DB) Automations { api.db = db; return api }

// Register adds the operations on automations.
func (api Automations) Register(r *endpoint.Router) {
	const path = "/t/{tenant}/api/automations"
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "automations", Session: true, Faults: faults}
	}
	list := op("listAutomations", "List automations, newest first.", automation.ErrStatus, endpoint.ErrCursor)
	list.Pagination = "cursor"
	endpoint.Handle(r, "GET "+path, list.ExampleQuery("status=active,paused&limit=20"), api.listAutomations)
	create := op("createAutomation", "Create an automation: a trigger, and the actions that it carries out for the contact.", automation.ErrTooMany).Once().Revised(automation.Revisions)
	create.Status = http.StatusCreated
	create.Description = "Triggers are those of sequences. definition is a rule, as of a segment, that the contact must satisfy when the trigger fires. The types of actions are list, tag, update_contact, stage, subscription, event, webhook, notify and enroll; their configurations are those of the nodes of sequences."
	endpoint.Handle(r, "POST "+path, create.ExampleBody(`{"name": "Big orders", "trigger_type": "event", "trigger_config": {"event_name": "order_placed", "filters": [{"property": "value", "operator": "greater_than", "value": 100}]}, "definition": {"logic": "and", "conditions": [{"field": "tags", "operator": "has_none", "value": ["wholesale"]}]}, "actions": [{"type": "tag", "config": {"action": "add", "tags": ["vip"]}}, {"type": "update_contact", "config": {"fields": {"company": "{{ event.company }}"}}}]}`),
		wire.Once(api, api.db, Automations.createAutomation), api.checkNewAutomation)
	endpoint.Handle(r, "GET "+path+"/{id}", op("getAutomation", "Get an automation.", automation.ErrNotFound).Revised(automation.Revisions), api.getAutomation)
	update := op("updateAutomation", "Update an automation; absent fields are not changed.", automation.ErrNotFound, automation.ErrTransition, trigger.ErrLimit).IfMatch(automation.Revisions)
	update.Description = "A new trigger, and that of an automation that becomes active, applies to what happens from then on. An archived automation can be changed only if it becomes active or paused in the same request."
	endpoint.Handle(r, "PUT "+path+"/{id}", update.ExampleBody(`{"status": "paused"}`), api.updateAutomation, api.checkAutomation)
	endpoint.Handle(r, "DELETE "+path+"/{id}", op("deleteAutomation", "Delete an automation with its runs.", automation.ErrNotFound).IfMatch(automation.Revisions), api.deleteAutomation)
	runs := op("listAutomationRuns", "List the runs of an automation, newest first.", automation.ErrNotFound, automation.ErrRunStatus, endpoint.ErrCursor)
	runs.Pagination = "cursor"
	endpoint.Handle(r, "GET "+path+"/{id}/runs", runs.ExampleQuery("limit=20"), api.listAutomationRuns)
}

// Automation is a rule that carries out actions for a contact when something happens to it.
type Automation struct {
	ID            id.Automation      `json:"id" format:"uuid"`
	TenantID      id.Tenant          `json:"tenant_id" format:"uuid"`
	Name          string             `json:"name"`
	Status        automation.Status  `json:"status" enum:"active,paused,archived" doc:"Only active automations have runs."`
	TriggerType   trigger.Type       `json:"trigger_type"`
	TriggerConfig map[string]any     `json:"trigger_config"`
	Definition    map[string]any     `json:"definition" nullable:"true" doc:"A rule that the contact must satisfy when the trigger fires; null: none."`
	Actions       []AutomationAction `json:"actions"`
	RunCount      int                `json:"run_count" doc:"Runs that were carried out, also those that were deleted by age; skipped runs do not count."`
	LastRunAt     *endpoint.Stamp    `json:"last_run_at" doc:"When the last of these runs ended."`
	CreatedAt     endpoint.Stamp     `json:"created_at"`
	UpdatedAt     endpoint.Stamp     `json:"updated_at"`
}

// AutomationAction is one action of an automation.
type AutomationAction struct {
	Type   sequence.NodeType `json:"type"`
	Config map[string]any    `json:"config"`
}

func rowOfAutomation(a automation.Automation) Automation {
	row := Automation{
		ID: a.ID, TenantID: a.Tenant, Name: a.Name, Status: a.Status, TriggerType: a.Trigger.Type, TriggerConfig: objectOf(a.Trigger.Config),
		Definition: objectOf(a.Definition), Actions: make([]AutomationAction, len(a.Actions)), RunCount: a.Runs, LastRunAt: endpoint.AtOr(a.LastRunAt),
		CreatedAt: endpoint.At(a.CreatedAt), UpdatedAt: endpoint.At(a.UpdatedAt),
	}
	for i, one := range a.Actions {
		row.Actions[i] = AutomationAction{one.Type, objectOf(sequence.ShownConfig(one.Type, one.Config))}
	}
	return row
}

type listAutomationsRequest struct {
	Status string `query:"status" as:"list" enum:"active,paused,archived" doc:"With any of these statuses; all when absent."`
	Search string `query:"q" maxLength:"200" doc:"A part of the name."`
	endpoint.CursorQuery
}

func (api Automations) listAutomations(ctx context.Context, p auth.Principal, in *listAutomationsRequest) (endpoint.List[Automation], error) {
	var none endpoint.List[Automation]
	q := automation.Query{Search: in.Search, Limit: endpoint.Limit(in.Limit)}
	var err error
	if q.Statuses, err = automation.ParseStatuses(endpoint.CommaList(in.Status)); err != nil {
		return none, err
	}
	if in.Cursor != "" {
		after, err := wire.DecodeTimePosition[id.Automation](api.cursors, in.Cursor, "created_at")
		if err != nil {
			return none, err
		}
		q.Before = after.ID
	}
	list, more, err := automation.List(ctx, api.db, p.Tenant, q)
	if err != nil {
		return none, err
	}
	rows := make([]Automation, len(list))
	for i, a := range list {
		rows[i] = rowOfAutomation(a)
	}
	next := ""
	if more {
		last := list[len(list)-1]
		next = wire.TimePosition[id.Automation]{At: last.CreatedAt, ID: last.ID}.Encode(api.cursors, "created_at")
	}
	return endpoint.Page(rows, next), nil
}

// automationBody is the body of a create or an update.
type automationBody struct {
	Name          endpoint.Opt[string]            `json:"name" nullable:"false"`
	Status        endpoint.Opt[automation.Status] `json:"status" nullable:"false" doc:"active, paused or archived; a new automation is active when absent, and not archived."`
	TriggerType   endpoint.Opt[trigger.Type]      `json:"trigger_type" nullable:"false" doc:"A type of triggers of sequences."`
	TriggerConfig endpoint.Opt[map[string]any]    `json:"trigger_config" nullable:"false" doc:"As in the trigger of a sequence."`
	Definition    endpoint.Opt[wire.Definition]   `json:"definition" doc:"A rule that the contact must satisfy when the trigger fires; null: none."`
	Actions       endpoint.Opt[[]actionInput]     `json:"actions" nullable:"false" doc:"1 to 10, which are carried out in order."`
}

type actionInput struct {
	Type   string         `json:"type" doc:"list, tag, update_contact, stage, subscription, event, webhook, notify or enroll."`
	Config map[string]any `json:"config" doc:"As of the node of a sequence of this type."`
}

func (b automationBody) change() automation.Change {
	ch := automation.Change{
		Name: b.Name.Pointer(), Status: b.Status.Pointer(), TriggerType: b.TriggerType.Pointer(), TriggerConfig: rawObject(b.TriggerConfig),
	}
	if b.Definition.Set {
		ch.Definition = json.RawMessage("null")
		if !b.Definition.Null {
			ch.Definition = json.RawMessage(b.Definition.Value)
		}
	}
	if b.Actions.Set && !b.Actions.Null {
		list := make([]automation.Action, len(b.Actions.Value))
		for i, a := range b.Actions.Value {
			config, _ := json.Marshal(a.Config) // decoded from JSON, so it can be encoded
			list[i] = automation.Action{Type: sequence.NodeType(a.Type), Config: config}
		}
		ch.Actions = &list
	}
	return ch
}

type createAutomationRequest struct{ Body automationBody }

func (api Automations) checkNewAutomation(_ auth.Principal, in *createAutomationRequest) error {
	return in.Body.change().CheckNew(api.rules)
}

func (api Automations) createAutomation(ctx context.Context, p auth.Principal, in *createAutomationRequest) (Automation, error) {
	var a automation.Automation
	err := wire.Audited(ctx, api.db, p, "create", "automation", api.now(), func(tx *sqldb.DB) (_ string, err error) {
		a, err = automation.Create(ctx, tx, api.box, p.Tenant, in.Body.change(), api.rules, api.now())
		return a.ID.String(), err
	})
	if err != nil {
		return Automation{}, err
	}
	endpoint.SetRevision(ctx, a.Revision)
	return rowOfAutomation(a), nil
}

func (api Automations) getAutomation(ctx context.Context, p auth.Principal, in *wire.RecordPath) (Automation, error) {
	a, err := api.load(ctx, p, in.ID)
	if err != nil {
		return Automation{}, err
	}
	endpoint.SetRevision(ctx, a.Revision)
	return rowOfAutomation(a), nil
}

func (api Automations) load(ctx context.Context, p auth.Principal, text string) (automation.Automation, error) {
	which, err := wire.RecordID[id.Automation](text, automation.ErrNotFound)
	if err != nil {
		return automation.Automation{}, err
	}
	return automation.Load(ctx, api.db, p.Tenant, which)
}

type updateAutomationRequest struct {
	wire.RecordPath
	Body automationBody
}

func (api Automations) checkAutomation(_ auth.Principal, in *updateAutomationRequest) error {
	return in.Body.change().Check(api.rules)
}

func (api Automations) updateAutomation(ctx context.Context, p auth.Principal, in *updateAutomationRequest) (Automation, error) {
	which, err := wire.RecordID[id.Automation](in.ID, automation.ErrNotFound)
	if err != nil {
		return Automation{}, err
	}
	var a automation.Automation
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "update", Target: "automation", ID: in.ID, Table: automation.Revisions, Key: which, HideAddresses: true,
		Show: func(tx *sqldb.DB) (any, error) {
			a, err := automation.Load(ctx, tx, p.Tenant, which)
			row := rowOfAutomation(a)
			row.RunCount, row.LastRunAt = 0, nil
			return row, err
		},
		Do: func(tx *sqldb.DB) (err error) {
			a, err = automation.Update(ctx, tx, api.box, p.Tenant, which, in.Body.change(), api.rules, api.now())
			return err
		},
	}, api.now())
	if err != nil {
		return Automation{}, err
	}
	endpoint.SetRevision(ctx, a.Revision)
	return rowOfAutomation(a), nil
}

func (api Automations) deleteAutomation(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	which, err := wire.RecordID[id.Automation](in.ID, automation.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, wire.Audited(ctx, api.db, p, "delete", "automation", api.now(), func(tx *sqldb.DB) (string, error) {
		return in.ID, automation.Delete(ctx, tx, p.Tenant, which, api.now())
	})
}

// AutomationRun is one trigger event of one contact.
type AutomationRun struct {
	ID           id.AutomationRun     `json:"id" format:"uuid"`
	AutomationID id.Automation        `json:"automation_id" format:"uuid"`
	ContactID    id.Contact           `json:"contact_id" format:"uuid"`
	Email        string               `json:"email"`
	Trigger      *AutomationEvent     `json:"trigger" doc:"What started the run; null after the contact was erased."`
	Status       automation.RunStatus `json:"status" enum:"pending,completed,failed,skipped" doc:"failed: at least one action could not be carried out; skipped: no action was tried."`
	Reason       *automation.Reason   `json:"reason" enum:"too_many_runs,contact_deleted,automation_not_active,action_failed,error" doc:"Of a run that failed or was skipped."`
	Actions      []AutomationResult   `json:"actions" doc:"The results of the actions, in order; empty unless they were tried."`
	CreatedAt    endpoint.Stamp       `json:"created_at"`
	EndedAt      *endpoint.Stamp      `json:"ended_at"`
}

// AutomationEvent is what started a run.
type AutomationEvent struct {
	Type       string         `json:"type" doc:"As in the activity of a contact, such as event or tag_added."`
	Name       *string        `json:"name" doc:"Of the custom event, form, tag or segment."`
	Properties map[string]any `json:"properties"`
	OccurredAt endpoint.Stamp `json:"occurred_at"`
}

// AutomationResult is the result of one action of a run.
type AutomationResult struct {
	Type   sequence.NodeType       `json:"type"`
	Status automation.ActionStatus `json:"status" enum:"completed,skipped,failed" doc:"skipped: there was nothing to do; failed: it changed nothing."`
	Reason *string                 `json:"reason"`
}

type listAutomationRunsRequest struct {
	wire.RecordPath
	Status string `query:"status" as:"list" enum:"pending,completed,failed,skipped" doc:"With any of these statuses; all when absent."`
	endpoint.CursorQuery
}

func (api Automations) listAutomationRuns(ctx context.Context, p auth.Principal, in *listAutomationRunsRequest) (endpoint.List[AutomationRun], error) {
	var none endpoint.List[AutomationRun]
	a, err := api.load(ctx, p, in.ID)
	if err != nil {
		return none, err
	}
	q := automation.RunQuery{Limit: endpoint.Limit(in.Limit)}
	if q.Statuses, err = automation.ParseRunStatuses(endpoint.CommaList(in.Status)); err != nil {
		return none, err
	}
	if in.Cursor != "" {
		after, err := wire.DecodeTimePosition[id.AutomationRun](api.cursors, in.Cursor, "created_at")
		if err != nil {
			return none, err
		}
		q.Before = after.ID
	}
	list, more, err := automation.Runs(ctx, api.db, p.Tenant, a.ID, q)
	if err != nil {
		return none, err
	}
	rows, err := api.runRows(ctx, p, list)
	if err != nil {
		return none, err
	}
	next := ""
	if more {
		last := list[len(list)-1]
		next = wire.TimePosition[id.AutomationRun]{At: last.CreatedAt, ID: last.ID}.Encode(api.cursors, "created_at")
	}
	return endpoint.Page(rows, next), nil
}

// runRows returns runs with the addresses of their contacts.
func (api Automations) runRows(ctx context.Context, p auth.Principal, list []automation.Run) ([]AutomationRun, error) {
	contacts := make([]id.Contact, len(list))
	for i, r := range list {
		contacts[i] = r.Contact
	}
	emails, err := contact.Emails(ctx, api.db, p.Tenant, contacts)
	if err != nil {
		return nil, err
	}
	rows := make([]AutomationRun, len(list))
	for i, r := range list {
		row := AutomationRun{
			ID: r.ID, AutomationID: r.Automation, ContactID: r.Contact, Email: emails[r.Contact], Status: r.Status, Reason: optional.Pointer(r.Reason),
			Actions: make([]AutomationResult, len(r.Results)), CreatedAt: endpoint.At(r.CreatedAt), EndedAt: endpoint.AtOr(r.EndedAt),
		}
		for n, a := range r.Results {
			row.Actions[n] = AutomationResult{a.Type, a.Status, optional.Pointer(a.Reason)}
		}
		started, err := r.Event()
		if err != nil {
			return nil, err
		}
		if started.Type != "" {
			row.Trigger = &AutomationEvent{started.Type, optional.Pointer(started.Name), started.Properties, endpoint.At(started.At)}
			if row.Trigger.Properties == nil {
				row.Trigger.Properties = map[string]any{}
			}
		}
		rows[i] = row
	}
	return rows, nil
}
