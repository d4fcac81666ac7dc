package contentapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/content/template/starter"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/preview"
)

// Thumbnails serves what small pictures of templates, blocks and starters show.
type Thumbnails struct {
	db      *sqldb.DB
	now     func() time.Time
	preview *preview.Previewer
}

// NewThumbnails returns the operations on what small pictures of templates, blocks and starters show.
func NewThumbnails(e wire.Env, previewer *preview.Previewer) Thumbnails {
	return Thumbnails{db: e.DB, now: e.Now, preview: previewer}
}

// maxThumbnails is how many a request may ask for.
const maxThumbnails = 25

// Register adds the operation.
func (api Thumbnails) Register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/thumbnails", endpoint.Op{
		Name: "listThumbnails", Summary: "Render stored templates and blocks, and starters, with their samples.", Tag: "previews", Session: true,
		Description: "It is one request for all that a list shows of them. Each is rendered as by a preview; html is null for what does not exist or cannot be rendered.",
		Faults:      []*fault.Error{content.ErrMJMLCompiler, content.ErrMJMLWaiting, content.ErrMJMLBusy, preview.ErrWaiting, preview.ErrBusy},
	}.ExampleQuery("templates=shop-news"), api.listThumbnails, checkThumbnails)
}

type thumbnailsRequest struct {
	Templates string `query:"templates" as:"list" doc:"Ids or slugs."`
	Blocks    string `query:"blocks" as:"list" doc:"Ids or slugs."`
	Starters  string `query:"starters" as:"list" doc:"Slugs, of templates to start with. Of all lists together at most 25."`
}

type thumbnailKind string

const (
	templateThumbnail thumbnailKind = "template"
	blockThumbnail    thumbnailKind = "block"
	starterThumbnail  thumbnailKind = "starter"
)

type thumbnail struct {
	Kind thumbnailKind `json:"kind" enum:"template,block,starter"`
	Ref  string        `json:"ref" doc:"The id or slug of the request."`
	HTML *string       `json:"html"`
}

// asked returns what the query names, without its HTML.
func (in *thumbnailsRequest) asked() ([]thumbnail, error) {
	var list []thumbnail
	for _, ref := range endpoint.CommaList(in.Templates) {
		list = append(list, thumbnail{Kind: templateThumbnail, Ref: ref})
	}
	for _, ref := range endpoint.CommaList(in.Blocks) {
		list = append(list, thumbnail{Kind: blockThumbnail, Ref: ref})
	}
	for _, ref := range endpoint.CommaList(in.Starters) {
		list = append(list, thumbnail{Kind: starterThumbnail, Ref: ref})
	}
	var bad fault.Problems
	if len(list) == 0 || len(list) > maxThumbnails {
		bad.Add("templates", fmt.Sprintf("must have 1 to %d ids or slugs, together with those of blocks and starters", maxThumbnails))
	}
	return list, bad.Err()
}

func checkThumbnails(_ auth.Principal, in *thumbnailsRequest) error {
	_, err := in.asked()
	return err
}

func (api Thumbnails) listThumbnails(ctx context.Context, p auth.Principal, in *thumbnailsRequest) (endpoint.List[thumbnail], error) {
	list, err := in.asked()
	if err != nil {
		return endpoint.List[thumbnail]{}, err
	}
	for i := range list {
		if list[i].HTML, err = api.render(ctx, p, list[i]); err != nil {
			return endpoint.List[thumbnail]{}, err
		}
	}
	return endpoint.Whole(list), nil
}

// render returns the HTML of a template, a block or a starter, or nil.
func (api Thumbnails) render(ctx context.Context, p auth.Principal, t thumbnail) (*string, error) {
	source, err := api.source(ctx, p, t)
	if errors.Is(err, template.ErrNotFound) || errors.Is(err, template.ErrNoBlock) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	made, err := api.preview.Make(ctx, p.Tenant, preview.Request{Source: source})
	if err != nil {
		return nil, err
	}
	return made.HTML, nil
}

func (api Thumbnails) source(ctx context.Context, p auth.Principal, t thumbnail) (preview.Source, error) {
	if t.Kind == starterThumbnail {
		return api.starter(ctx, p, t.Ref)
	}
	if t.Kind == blockThumbnail {
		b, err := template.BlockByRef(ctx, api.db, p.Tenant, t.Ref)
		if err != nil {
			return preview.Source{}, err
		}
		ch, err := b.Change()
		return preview.Source{Block: &preview.Block{Change: ch}}, err
	}
	stored, err := template.ByRef(ctx, api.db, p.Tenant, t.Ref)
	if err != nil {
		return preview.Source{}, err
	}
	ch, err := stored.Change()
	return preview.Source{Template: &preview.Template{Change: ch}}, err
}

// starter returns a starter as mails of the account begin with it, without blocks, which the account need not have.
func (api Thumbnails) starter(ctx context.Context, p auth.Principal, slug string) (preview.Source, error) {
	all := starter.All()
	i := slices.IndexFunc(all, func(s starter.Starter) bool { return s.Slug == slug })
	if i < 0 {
		return preview.Source{}, template.ErrNotFound
	}
	account, err := tenant.ByID(ctx, api.db, p.Tenant)
	if err != nil {
		return preview.Source{}, err
	}
	s := all[i].For(account.Settings, api.now())
	var sample map[string]json.RawMessage
	if err := json.Unmarshal(s.Sample, &sample); err != nil {
		return preview.Source{}, err
	}
	delete(sample, "slots")
	filled, err := json.Marshal(sample)
	ch := s.Change()
	ch.Slug = nil // the account may have a template of this name
	return preview.Source{Template: &preview.Template{Change: ch, Binding: filled}}, err
}
