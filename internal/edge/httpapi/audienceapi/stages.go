package audienceapi

import (
	"context"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Stages serves pipeline stages.
type Stages struct {
	db    *sqldb.DB
	now   func() time.Time
	usage usage.Finder
}

// NewStages returns the operations on pipeline stages.
func NewStages(e wire.Env, uses usage.Finder) Stages {
	return Stages{db: e.DB, now: e.Now, usage: uses}
}

// On returns the operations on another handle.
func (api Stages) On(db *sqldb.DB) Stages { api.db = db; return api }

// Register adds the operations on pipeline stages.
func (api Stages) Register(r *endpoint.Router) {
	write := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "stages", Session: true, Role: auth.Admin, Faults: faults}
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/settings/stages", endpoint.Op{
		Name: "listStages", Summary: "List the pipeline stages in display order.", Tag: "stages", Scope: auth.ContactsRead,
	}, api.ListStages)
	create := write("createStage", "Create a stage.", contact.ErrLimit).Once().Revised(contact.StageRevisions)
	create.Status = http.StatusCreated
	endpoint.Handle(r, "POST /t/{tenant}/api/settings/stages", create.ExampleBody(`{"name": "Trial", "category": "prospect", "color": "#336699"}`), wire.Once(api, api.db, Stages.createStage), checkNewStage)
	order := write("orderStages", "Set the order of the stages.")
	order.Description = "ids names every stage once: an order that was made before a stage was created or deleted is refused. The order has no revision of its own; of two orders the later one holds."
	endpoint.Handle(r, "PUT /t/{tenant}/api/settings/stages/order",
		order.ExampleBody(`{"ids": ["$STAGE_ID"]}`), api.orderStages)
	endpoint.Handle(r, "PUT /t/{tenant}/api/settings/stages/{id}",
		write("updateStage", "Update a stage.", contact.ErrNoStage).IfMatch(contact.StageRevisions).ExampleBody(`{"name": "Qualified", "description": "Talked to us", "sort_order": 2}`), api.updateStage, checkStage)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/settings/stages/{id}",
		write("deleteStage", "Delete a stage; its contacts move to replacement_stage_id.",
			contact.ErrNoStage, contact.ErrStageInUse, contact.ErrInvalidStage).IfMatch(contact.StageRevisions), api.deleteStage)
}

type StageRow struct {
	ID          id.Stage              `json:"id" format:"uuid"`
	TenantID    id.Tenant             `json:"tenant_id" format:"uuid"`
	Name        string                `json:"name"`
	Slug        string                `json:"slug"`
	Category    contact.StageCategory `json:"category" enum:"prospect,customer,churned,disqualified,partner"`
	Color       *string               `json:"color"`
	Description *string               `json:"description"`
	SortOrder   int                   `json:"sort_order"`
	IsDefault   bool                  `json:"is_default"`
	CreatedAt   endpoint.Stamp        `json:"created_at"`
	Revision    int64                 `json:"revision" doc:"Raised by each change; the value of If-Match."`
}

func (api Stages) ListStages(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[StageRow], error) {
	list, err := contact.Stages(ctx, api.db, p.Tenant)
	return stageRows(p.Tenant, list), err
}

func stageRows(t id.Tenant, list []contact.Stage) endpoint.List[StageRow] {
	rows := make([]StageRow, len(list))
	for i, s := range list {
		rows[i] = rowOfStage(t, s)
	}
	return endpoint.Whole(rows)
}

func rowOfStage(t id.Tenant, s contact.Stage) StageRow {
	return StageRow{
		ID: s.ID, TenantID: t, Name: s.Name, Slug: s.Slug, Category: s.Category, Color: s.Color, Description: s.Description,
		SortOrder: s.SortOrder, IsDefault: s.Default, CreatedAt: endpoint.At(s.CreatedAt), Revision: s.Revision,
	}
}

type createStageRequest struct{ Body stageBody }

// stageBody is the body of a create or an update; a new stage needs a name and a category.
type stageBody struct {
	Name        endpoint.Opt[string] `json:"name" nullable:"false"`
	Category    endpoint.Opt[string] `json:"category" nullable:"false" enum:"prospect,customer,churned,disqualified,partner"`
	Color       endpoint.Opt[string] `json:"color" doc:"As #rrggbb."`
	Description endpoint.Opt[string] `json:"description"`
	SortOrder   endpoint.Opt[int]    `json:"sort_order" nullable:"false"`
	IsDefault   endpoint.Opt[bool]   `json:"is_default" nullable:"false"`
}

func checkNewStage(_ auth.Principal, in *createStageRequest) error {
	return in.Body.change().CheckNew()
}

func (api Stages) createStage(ctx context.Context, p auth.Principal, in *createStageRequest) (StageRow, error) {
	s, err := contact.CreateStage(ctx, api.db, p.Tenant, in.Body.change(), api.now())
	if err != nil {
		return StageRow{}, err
	}
	endpoint.SetRevision(ctx, s.Revision)
	return rowOfStage(p.Tenant, s), nil
}

func (b stageBody) change() contact.StageChange {
	return contact.StageChange{
		Name: b.Name.Pointer(), Category: (*contact.StageCategory)(b.Category.Pointer()), Color: wire.NullAsZero(b.Color),
		Description: wire.NullAsZero(b.Description), SortOrder: b.SortOrder.Pointer(), Default: b.IsDefault.Pointer(),
	}
}

type orderStagesRequest struct {
	Body struct {
		IDs []string `json:"ids" doc:"All stages, in the new order."`
	}
}

func (api Stages) orderStages(ctx context.Context, p auth.Principal, in *orderStagesRequest) (endpoint.List[StageRow], error) {
	ids := make([]id.Stage, len(in.Body.IDs))
	for i, text := range in.Body.IDs {
		ids[i], _ = id.Parse[id.Stage](text)
	}
	var list []contact.Stage
	err := wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Begin:  func(tx *sqldb.DB) error { return contact.LockStages(ctx, tx, p.Tenant) },
		Action: "order", Target: "stage",
		Show: func(tx *sqldb.DB) (any, error) {
			list, err := contact.Stages(ctx, tx, p.Tenant)
			names := make([]string, len(list))
			for i, s := range list {
				names[i] = s.Name
			}
			return map[string]any{"order": names}, err
		},
		Do: func(tx *sqldb.DB) (err error) {
			list, err = contact.OrderStages(ctx, tx, p.Tenant, ids, api.now())
			return err
		},
	}, api.now())
	if err != nil {
		return endpoint.List[StageRow]{}, err
	}
	return stageRows(p.Tenant, list), nil
}

type updateStageRequest struct {
	wire.RecordPath
	Body stageBody
}

func checkStage(_ auth.Principal, in *updateStageRequest) error { return in.Body.change().Check() }

func (api Stages) updateStage(ctx context.Context, p auth.Principal, in *updateStageRequest) (StageRow, error) {
	stage, err := wire.RecordID[id.Stage](in.ID, contact.ErrNoStage)
	if err != nil {
		return StageRow{}, err
	}
	var s contact.Stage
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Begin:  func(tx *sqldb.DB) error { return contact.LockStages(ctx, tx, p.Tenant) },
		Action: "update", Target: "stage", ID: stage.String(),
		Show: func(tx *sqldb.DB) (any, error) {
			s, err := contact.StageByID(ctx, tx, p.Tenant, stage)
			return rowOfStage(p.Tenant, s), err
		},
		Do: func(tx *sqldb.DB) (err error) {
			s, err = contact.UpdateStage(ctx, tx, p.Tenant, stage, in.Body.change(), api.now())
			return err
		},
	}, api.now())
	if err != nil {
		return StageRow{}, err
	}
	endpoint.SetRevision(ctx, s.Revision)
	return rowOfStage(p.Tenant, s), nil
}

type deleteStageRequest struct {
	wire.RecordPath
	ReplacementStageID string `query:"replacement_stage_id" as:"text" format:"uuid" doc:"The stage that the contacts of the deleted one get."`
}

func (api Stages) deleteStage(ctx context.Context, p auth.Principal, in *deleteStageRequest) (endpoint.None, error) {
	stage, err := wire.RecordID[id.Stage](in.ID, contact.ErrNoStage)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, contact.DeleteStage(ctx, api.db, p.Tenant, stage, wire.IDOrUnknown[id.Stage](in.ReplacementStageID), api.usage, api.now())
}
