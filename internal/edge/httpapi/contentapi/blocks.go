package contentapi

import (
	"context"
	"net/http"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// blockFieldFaults are the fields with a code of their own.
var blockFieldFaults = map[string]*fault.Error{
	"parameters_schema": binding.ErrSchema,
	"sections_schema":   binding.ErrSchema,
	"groups_schema":     binding.ErrSchema,
}

// blocks registers the operations on blocks.
func (api Templates) blocks(r *endpoint.Router) {
	read := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "blocks", Scope: auth.BlocksRead, Faults: faults}
	}
	write := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "blocks", Session: true, Faults: faults}
	}
	list := read("listBlocks", "List blocks by name, including inactive ones.")
	list.Description = "Rows are lean, without bodies and groups, unless full=true."
	endpoint.Handle(r, "GET /t/{tenant}/api/blocks", list, api.listBlocks)

	faults := append([]*fault.Error{template.ErrNoContent}, templateFaults...)
	create := write("createBlock", "Create a block.", faults...).Once().Revised(template.BlockRevisions)
	create.Status, create.MaxBody, create.FieldFaults = http.StatusCreated, 5*endpoint.Megabyte, blockFieldFaults
	endpoint.Handle(r, "POST /t/{tenant}/api/blocks", create.ExampleBody(`{"name": "Masthead", "tags": ["masthead"], "content_html": "<h1>{{param:title}}</h1>", "parameters_schema": [{"name": "title", "type": "text", "default": "News"}]}`), api.createBlock, checkNewBlock)

	endpoint.Handle(r, "GET /t/{tenant}/api/blocks/{id}", read("getBlock", "Get a block.", template.ErrNoBlock).Revised(template.BlockRevisions), api.getBlock)

	update := write("updateBlock", "Update a block; absent fields keep their values.", append(faults, template.ErrNoBlock, template.ErrSlug)...).IfMatch(template.BlockRevisions)
	update.MaxBody, update.FieldFaults = 5*endpoint.Megabyte, blockFieldFaults
	endpoint.Handle(r, "PUT /t/{tenant}/api/blocks/{id}", update.ExampleBody(`{"name": "Masthead with line", "content_html": "<h1>{{param:title}}</h1><hr>", "parameters_schema": [{"name": "title", "type": "text", "default": "News"}]}`), api.updateBlock, checkBlock)

	endpoint.Handle(r, "DELETE /t/{tenant}/api/blocks/{id}",
		write("deleteBlock", "Delete a block that no draft and no recent broadcast uses, or any with force=true.", template.ErrNoBlock, template.ErrInUse).IfMatch(template.BlockRevisions), api.deleteBlock)
}

type listBlocksRequest struct {
	Full     string `query:"full" as:"boolean" default:"false" doc:"true: complete rows."`
	Usage    string `query:"include_usage" as:"boolean" default:"false" doc:"true: adds usage to each row."`
	Tags     string `query:"tags" as:"list" doc:"With every one of these tags."`
	SlotKeys string `query:"slot_keys" as:"list" doc:"With any of these slot keys."`
}

type blockListRow = wire.Either[BlockHead, BlockRow]

// BlockHead is the lean row of a block.
type BlockHead struct {
	ID         id.Block                   `json:"id" format:"uuid"`
	Slug       string                     `json:"slug"`
	Name       string                     `json:"name"`
	Active     bool                       `json:"active"`
	Tags       []string                   `json:"tags"`
	SlotKeys   []string                   `json:"slot_keys"`
	Parameters schemaPart[parameterEntry] `json:"parameters_schema"`
	Sections   schemaPart[sectionEntry]   `json:"sections_schema"`
	Usage      *usage.Sends               `json:"usage,omitempty" doc:"With include_usage=true."`
	CreatedAt  endpoint.Stamp             `json:"created_at"`
	UpdatedAt  endpoint.Stamp             `json:"updated_at"`
}

// BlockRow is a whole block.
type BlockRow struct {
	BlockHead
	TenantID id.Tenant              `json:"tenant_id" format:"uuid"`
	Groups   schemaPart[groupEntry] `json:"groups_schema"`
	HTML     *string                `json:"content_html"`
	MJML     *string                `json:"content_mjml"`
	Text     *string                `json:"content_text"`
}

func (api Templates) listBlocks(ctx context.Context, p auth.Principal, in *listBlocksRequest) (endpoint.List[blockListRow], error) {
	var none endpoint.List[blockListRow]
	full := endpoint.Flag(in.Full)
	f := template.Filter{Tags: endpoint.CommaList(in.Tags), SlotKeys: endpoint.CommaList(in.SlotKeys)}
	list, err := template.ListBlocks(ctx, api.db, p.Tenant, f, full)
	if err != nil {
		return none, err
	}
	used, err := api.countSends(ctx, p, usage.Block, "", in.Usage)
	if err != nil {
		return none, err
	}
	rows := make([]blockListRow, len(list))
	for i, b := range list {
		if full {
			rows[i].Full = new(rowOfBlock(b, used.forRecord(b.ID.String())))
		} else {
			rows[i].Lean = new(leanBlock(b, used.forRecord(b.ID.String())))
		}
	}
	return endpoint.Whole(rows), nil
}

func rowOfBlock(b template.Block, used *usage.Sends) BlockRow {
	return BlockRow{leanBlock(b, used), b.Tenant, schemaPartOf[groupEntry](b.Schema.Groups), b.HTML, b.MJML, b.Text}
}

func leanBlock(b template.Block, used *usage.Sends) BlockHead {
	return BlockHead{
		ID: b.ID, Slug: b.Slug, Name: b.Name, Active: b.Active, Tags: b.Tags, SlotKeys: b.SlotKeys,
		Parameters: schemaPartOf[parameterEntry](b.Schema.Parameters), Sections: schemaPartOf[sectionEntry](b.Schema.Sections),
		Usage: used, CreatedAt: endpoint.At(b.CreatedAt), UpdatedAt: endpoint.At(b.UpdatedAt),
	}
}

type createBlockRequest struct {
	Body struct {
		Name string `json:"name" doc:"1 to 200 characters."`
		BlockBody
	}
}

// BlockBody is the body of a block without the name.
type BlockBody struct {
	Slug   endpoint.Opt[string] `json:"slug" nullable:"false" doc:"Lower case letters, digits, - and _. Default: derived from the name. One that is taken gets a number in a new block, and is refused in an update."`
	Active endpoint.Opt[bool]   `json:"active" nullable:"false" doc:"Default: true. Inactive blocks fill no slot."`
	HTML   endpoint.Opt[string] `json:"content_html" doc:"For templates whose format is html. A block has this or content_mjml, or both."`
	MJML   endpoint.Opt[string] `json:"content_mjml" doc:"A fragment of mj-body or of mj-column, for templates whose format is mjml."`
	Text   endpoint.Opt[string] `json:"content_text"`
	SchemaBody
	Tags     endpoint.Opt[[]string] `json:"tags" doc:"At most 50, of 1 to 64 characters."`
	SlotKeys endpoint.Opt[[]string] `json:"slot_keys" doc:"The slots of templates that the block is meant for; at most 50."`
}

// savedBlock is the answer to a write.
type savedBlock struct {
	BlockRow
	Warnings []binding.Warning `json:"warnings" doc:"Hints for the author; they prevent nothing."`
}

func checkNewBlock(_ auth.Principal, in *createBlockRequest) error { return in.change().CheckNew() }

func (api Templates) createBlock(ctx context.Context, p auth.Principal, in *createBlockRequest) (savedBlock, error) {
	var out savedBlock
	_, _, err := template.CreateBlock(ctx, api.db, api.mjml, p.Tenant, in.change(), api.now(), func(tx *sqldb.DB, b template.Block, warnings []binding.Warning) error {
		endpoint.SetRevision(ctx, b.Revision)
		out = savedBlock{rowOfBlock(b, nil), distinct(warnings, hintWithoutPlace)}
		return endpoint.Remember(ctx, tx, out)
	})
	return out, err
}

func (b BlockBody) change() template.BlockChange {
	ch := template.BlockChange{
		Slug: b.Slug.Pointer(), Active: b.Active.Pointer(), HTML: wire.NullAsZero(b.HTML), MJML: wire.NullAsZero(b.MJML), Text: wire.NullAsZero(b.Text), Schema: b.raw(),
	}
	if b.Tags.Set {
		ch.Tags = new(b.Tags.Or(nil))
	}
	if b.SlotKeys.Set {
		ch.SlotKeys = new(b.SlotKeys.Or(nil))
	}
	return ch
}

func (in *createBlockRequest) change() template.BlockChange {
	ch := in.Body.change()
	ch.Name = &in.Body.Name
	return ch
}

type updateBlockRequest struct {
	BlockPath
	Body struct {
		Name endpoint.Opt[string] `json:"name" nullable:"false" doc:"1 to 200 characters."`
		BlockBody
	}
}

// BlockPath names a block.
type BlockPath struct {
	ID string `path:"id" doc:"The id or the slug."`
}

func (in *updateBlockRequest) change() template.BlockChange {
	ch := in.Body.change()
	ch.Name = in.Body.Name.Pointer()
	return ch
}

type getBlockRequest struct {
	BlockPath
	Usage string `query:"include_usage" as:"boolean" default:"false" doc:"true: adds usage."`
}

func (api Templates) getBlock(ctx context.Context, p auth.Principal, in *getBlockRequest) (BlockRow, error) {
	b, err := template.BlockByRef(ctx, api.db, p.Tenant, in.ID)
	if err != nil {
		return BlockRow{}, err
	}
	used, err := api.countSends(ctx, p, usage.Block, b.ID.String(), in.Usage)
	if err != nil {
		return BlockRow{}, err
	}
	endpoint.SetRevision(ctx, b.Revision)
	return rowOfBlock(b, used.forRecord(b.ID.String())), nil
}

func checkBlock(_ auth.Principal, in *updateBlockRequest) error { return in.change().Check() }

func (api Templates) updateBlock(ctx context.Context, p auth.Principal, in *updateBlockRequest) (savedBlock, error) {
	b, warnings, err := template.UpdateBlock(ctx, api.db, api.mjml, p.Tenant, in.ID, in.change(), api.now(), func(before, after template.Block) (func(context.Context, *sqldb.DB) error, error) {
		u := wire.Update{Action: "update", Target: "block", ID: after.ID.String()}
		return wire.AuditRevision(p, u, rowOfBlock(before, nil), rowOfBlock(after, nil), api.now())
	})
	if err != nil {
		return savedBlock{}, err
	}
	endpoint.SetRevision(ctx, b.Revision)
	return savedBlock{rowOfBlock(b, nil), distinct(warnings, hintWithoutPlace)}, nil
}

type deleteBlockRequest struct {
	BlockPath
	Force string `query:"force" as:"boolean" default:"false" doc:"true: delete it even if it is used."`
}

func (api Templates) deleteBlock(ctx context.Context, p auth.Principal, in *deleteBlockRequest) (endpoint.None, error) {
	return endpoint.None{}, template.DeleteBlock(ctx, api.db, p.Tenant, in.ID, endpoint.Flag(in.Force), api.sendCounts, api.now())
}

// AllBlocks returns every block, complete, as in a list with full=true.
func (api Templates) AllBlocks(ctx context.Context, p auth.Principal) ([]BlockRow, error) {
	list, err := template.ListBlocks(ctx, api.db, p.Tenant, template.Filter{}, true)
	rows := make([]BlockRow, len(list))
	for i, b := range list {
		rows[i] = rowOfBlock(b, nil)
	}
	return rows, err
}
