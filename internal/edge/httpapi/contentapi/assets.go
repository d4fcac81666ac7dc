package contentapi

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/asset"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Assets serves the images of tenants.
type Assets struct {
	db      *sqldb.DB
	baseURL *url.URL
	now     func() time.Time
}

// NewAssets returns the operations on the images of tenants.
func NewAssets(e wire.Env) Assets { return Assets{db: e.DB, baseURL: e.BaseURL, now: e.Now} }

// Register adds the operations on assets.
func (api Assets) Register(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "assets", Session: true, Role: auth.Editor, Faults: faults}
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/assets", op("listAssets", "List images, newest first.").ExampleQuery("q=logo"), api.listAssets)
	create := op("createAsset", "Store an image of at most 5 MB: PNG, JPEG, GIF or WebP.", asset.ErrLimit).Once()
	create.Description = "The type is that of the content, whatever the file is called. The image is public at its url, which never changes."
	create.Status, create.MaxBody = http.StatusCreated, asset.MaxSize+64<<10
	endpoint.Handle(r, "POST /t/{tenant}/api/assets", create.ExampleUpload("dot.gif", exampleImage, ""), api.createAsset)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/assets/{id}",
		op("deleteAsset", "Delete an image that no template, no block and no unfinished broadcast names.", asset.ErrNotFound, asset.ErrInUse), api.deleteAsset)
}

// exampleImage is a GIF of 257 × 257 pixels without frames.
const exampleImage = "GIF89a\x01\x01\x01\x01\x01\x01\x01;"

// assetRow is an image.
type assetRow struct {
	ID        id.Asset       `json:"id" format:"uuid"`
	URL       string         `json:"url" doc:"Public."`
	Name      string         `json:"name"`
	Width     int            `json:"width" doc:"In pixels."`
	Height    int            `json:"height"`
	Size      int            `json:"size" doc:"In bytes."`
	CreatedAt endpoint.Stamp `json:"created_at"`
}

func (api Assets) rowOf(a asset.Asset) assetRow {
	return assetRow{a.ID, api.baseURL.JoinPath(a.Path()).String(), a.Name, a.Width, a.Height, a.Size, endpoint.At(a.CreatedAt)}
}

type listAssetsRequest struct {
	Query string `query:"q" doc:"A part of the name."`
}

func (api Assets) listAssets(ctx context.Context, p auth.Principal, in *listAssetsRequest) (endpoint.List[assetRow], error) {
	list, err := asset.List(ctx, api.db, p.Tenant, in.Query)
	rows := make([]assetRow, len(list))
	for i, a := range list {
		rows[i] = api.rowOf(a)
	}
	return endpoint.Whole(rows), err
}

type createAssetRequest struct {
	Upload endpoint.Upload[assetOptions]
}

// assetOptions are the options of an upload; there are none yet.
type assetOptions struct{}

func (api Assets) createAsset(ctx context.Context, p auth.Principal, in *createAssetRequest) (assetRow, error) {
	var content []byte
	var image asset.Image
	_, err := in.Upload.Receive(func(file io.Reader) (err error) {
		content, image, err = asset.Read(file)
		return err
	})
	if err != nil {
		return assetRow{}, err
	}
	var out assetRow
	err = api.db.InTx(ctx, func(tx *sqldb.DB) error {
		a, err := asset.Add(ctx, tx, p.Tenant, in.Upload.FileName(), content, image, api.now())
		if err != nil {
			return err
		}
		out = api.rowOf(a)
		return endpoint.Remember(ctx, tx, out)
	})
	return out, err
}

func (api Assets) deleteAsset(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	one, err := wire.RecordID[id.Asset](in.ID, asset.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, asset.Delete(ctx, api.db, p.Tenant, one)
}
