package asset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// maxShared limits the chunks in memory, to 32 MB.
const maxShared = 128

// Contents reads the bytes of images, in chunks that all readers share: a reader whose client is slow holds none.
type Contents struct {
	DB *sqldb.DB

	chunks  cache.Cache[chunkOf, []byte]
	loading singleflight.Group
}

// NewContents returns a reader of images.
func NewContents(db *sqldb.DB) *Contents {
	return &Contents{DB: db, chunks: cache.Cache[chunkOf, []byte]{Max: maxShared}}
}

type chunkOf struct {
	tenant id.Tenant
	asset  id.Asset
	at     int64
}

// Open returns a reader of an image. It fails with ErrNotFound if the image was deleted meanwhile.
func (c *Contents) Open(ctx context.Context, a Asset) (io.ReadSeeker, error) {
	r := &reader{contents: c, ctx: ctx, asset: a}
	_, err := r.chunk(0)
	return r, err
}

type reader struct {
	contents *Contents
	ctx      context.Context
	asset    Asset
	at       int64
}

// Read copies from one chunk.
func (r *reader) Read(p []byte) (int, error) {
	if r.at >= int64(r.asset.Size) {
		return 0, io.EOF
	}
	begin := r.at - r.at%chunkSize
	chunk, err := r.chunk(begin)
	if err != nil {
		return 0, err
	}
	n := copy(p, chunk[r.at-begin:])
	r.at += int64(n)
	return n, nil
}

// Seek sets the offset of the next Read.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += int64(r.asset.Size)
	}
	if offset < 0 {
		return r.at, errors.New("seek before the beginning of an image")
	}
	r.at = offset
	return offset, nil
}

// chunk returns the chunk at an offset. Readers that need the same one at the same time read it once.
func (r *reader) chunk(at int64) ([]byte, error) {
	c, key := r.contents, chunkOf{r.asset.Tenant, r.asset.ID, at}
	now := time.Time{} // chunks do not expire, since the content of an image never changes
	if chunk, ok := c.chunks.Get(key, now); ok {
		return chunk, nil
	}
	// The first reader may leave while others wait for what it reads.
	ctx := context.WithoutCancel(r.ctx)
	value, err, _ := c.loading.Do(fmt.Sprint(key), func() (any, error) {
		var chunk []byte
		err := c.DB.QueryRow(ctx, `SELECT data FROM asset_chunk WHERE tenant_id = $1 AND asset_id = $2 AND at = $3`,
			key.tenant, key.asset, key.at).Scan(&chunk)
		switch {
		case errors.Is(err, sqldb.ErrNoRows), err == nil && int64(len(chunk)) != min(chunkSize, int64(r.asset.Size)-at):
			return nil, ErrNotFound
		case err != nil:
			return nil, fmt.Errorf("read an asset: %w", err)
		}
		c.chunks.Put(key, chunk, now, 0)
		return chunk, nil
	})
	if err != nil {
		return nil, err
	}
	return value.([]byte), nil
}
