// Package asset stores the images of tenants for their mails, and finds out where they are used. The images are
// public: whoever has the address of one can load it, as the programs that show mails do.
package asset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Faults besides problems with fields.
var (
	ErrNotFound = fault.New(fault.NotFound, "NOT_FOUND", "there is no such asset")
	ErrInUse    = fault.New(fault.Conflict, "IN_USE", "the brand, templates, blocks or unfinished broadcasts name the image")
	ErrLimit    = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "the tenant has no room for the image")
)

// Limits of an account.
const (
	maxAssets = 2000
	maxBytes  = 500 << 20
	maxName   = 200
	chunkSize = 256 << 10
)

// Asset is one stored image.
type Asset struct {
	Tenant    id.Tenant
	ID        id.Asset
	Name      string // of the file
	Type      Type
	Width     int
	Height    int
	Size      int // in bytes
	CreatedAt time.Time
}

// Path returns the path at which the image is served. It contains the tenant, as the paths of all recipients do.
func (a Asset) Path() string {
	return "/_q/a/" + a.Tenant.String() + "/" + a.ID.String() + a.Type.Extension()
}

const columns = `id, name, media_type, width, height, size, created_at`

func scanner(t id.Tenant) func(scan func(...any) error) (Asset, error) {
	return func(scan func(...any) error) (Asset, error) {
		a := Asset{Tenant: t}
		var at int64
		err := scan(&a.ID, &a.Name, &a.Type, &a.Width, &a.Height, &a.Size, &at)
		a.CreatedAt = sqldb.Time(at)
		return a, err
	}
}

// List returns the tenant's images whose name contains a text, newest first.
func List(ctx context.Context, db *sqldb.DB, t id.Tenant, text string) ([]Asset, error) {
	rows, err := db.Query(ctx, `
		SELECT `+columns+` FROM asset WHERE tenant_id = $1 AND folded_name LIKE $2 ESCAPE '\' ORDER BY created_at DESC, id DESC`,
		t, "%"+sqldb.EscapeLike(fold(text))+"%")
	list, err := sqldb.Collect(rows, err, scanner(t))
	if err != nil {
		return nil, fmt.Errorf("list assets: %w", err)
	}
	return list, nil
}

// ByID returns an image without its content.
func ByID(ctx context.Context, db *sqldb.DB, t id.Tenant, asset id.Asset) (Asset, error) {
	a, err := scanner(t)(db.QueryRow(ctx, `SELECT `+columns+` FROM asset WHERE tenant_id = $1 AND id = $2`, t, asset).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Asset{}, ErrNotFound
	}
	if err != nil {
		return Asset{}, fmt.Errorf("load an asset: %w", err)
	}
	return a, nil
}

// Read reads an image of at most MaxSize bytes and checks it, without storing it.
func Read(file io.Reader) ([]byte, Image, error) {
	content, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, Image{}, err
	}
	if len(content) > MaxSize {
		return nil, Image{}, problem(fmt.Sprintf("at most %d MB", MaxSize>>20))
	}
	image, err := Check(content)
	return content, image, err
}

// Add stores an image that was read by Read.
func Add(ctx context.Context, tx *sqldb.DB, t id.Tenant, name string, content []byte, image Image, now time.Time) (Asset, error) {
	a := Asset{
		Tenant: t, ID: id.New[id.Asset](), Name: nameOf(name, image.Type), Type: image.Type, Width: image.Width, Height: image.Height,
		Size: len(content), CreatedAt: now.UTC().Truncate(time.Microsecond),
	}
	err := tx.InTx(ctx, func(tx *sqldb.DB) error {
		// The lock on the tenant's sum keeps concurrent uploads within the limits.
		if _, err := tx.Exec(ctx, `
			INSERT INTO asset_total (tenant_id, files, bytes) VALUES ($1, 0, 0) ON CONFLICT (tenant_id) DO NOTHING`, t); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `
			UPDATE asset_total SET files = files + 1, bytes = bytes + $2 WHERE tenant_id = $1 AND files < $3 AND bytes + $2 <= $4`,
			t, a.Size, maxAssets, maxBytes)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrLimit.Sayf("a tenant may have %d images and %d MB; delete some first", maxAssets, maxBytes>>20)
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO asset (tenant_id, id, name, folded_name, media_type, width, height, size, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			t, a.ID, a.Name, fold(a.Name), a.Type, a.Width, a.Height, a.Size, a.CreatedAt.UnixMicro())
		if err != nil {
			return err
		}
		for at := 0; at < len(content); at += chunkSize {
			_, err := tx.Exec(ctx, `INSERT INTO asset_chunk (tenant_id, asset_id, at, data) VALUES ($1, $2, $3, $4)`,
				t, a.ID, at, content[at:min(at+chunkSize, len(content))])
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Asset{}, fmt.Errorf("store an asset: %w", err)
	}
	return a, nil
}

// Usage says how many records name an image: the details of ErrInUse.
type Usage struct {
	Templates  int `json:"templates"`
	Blocks     int `json:"blocks"`
	Broadcasts int `json:"broadcasts"`
	Brand      int `json:"brand"` // 1 if it is the logo of the account's brand
}

// Lock returns an image, which is not deleted before the transaction ends.
func Lock(ctx context.Context, tx *sqldb.DB, t id.Tenant, asset id.Asset) (Asset, error) {
	a, err := scanner(t)(tx.QueryRow(ctx, `SELECT `+columns+` FROM asset WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), t, asset).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Asset{}, ErrNotFound
	}
	if err != nil {
		return Asset{}, fmt.Errorf("lock an asset: %w", err)
	}
	return a, nil
}

// Delete deletes an image that no brand, no template, no block and no unfinished broadcast names.
func Delete(ctx context.Context, db *sqldb.DB, t id.Tenant, asset id.Asset) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		a, err := Lock(ctx, tx, t, asset) // as whoever makes it the logo
		if err != nil {
			return err
		}
		u, err := usageOf(ctx, tx, a)
		if err != nil {
			return err
		}
		if u != (Usage{}) {
			return ErrInUse.With(struct {
				Usage Usage `json:"usage"`
			}{u})
		}
		if _, err := tx.Exec(ctx, `DELETE FROM asset_chunk WHERE tenant_id = $1 AND asset_id = $2`, t, asset); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `DELETE FROM asset WHERE tenant_id = $1 AND id = $2`, t, asset)
		if err != nil || n == 0 {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE asset_total SET files = files - 1, bytes = bytes - $2 WHERE tenant_id = $1`, t, a.Size)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete an asset: %w", err)
	}
	return nil
}

// usageOf counts the records whose texts contain the identifier of the image, which is part of its address.
func usageOf(ctx context.Context, tx *sqldb.DB, a Asset) (u Usage, err error) {
	account, err := tenant.ByID(ctx, tx, a.Tenant)
	if err != nil && !errors.Is(err, tenant.ErrNotFound) {
		return u, err
	}
	if account.Settings.Brand.Logo == a.ID {
		u.Brand = 1
	}
	name := "%" + a.ID.String() + "%"
	for _, one := range []struct {
		count *int
		text  string
	}{
		{&u.Templates, `
			SELECT COUNT(*) FROM template WHERE tenant_id = $1
			AND (content_html LIKE $2 OR content_mjml LIKE $2 OR content_text LIKE $2 OR parameters LIKE $2 OR sections LIKE $2)`},
		{&u.Blocks, `
			SELECT COUNT(*) FROM block WHERE tenant_id = $1
			AND (content_html LIKE $2 OR content_mjml LIKE $2 OR content_text LIKE $2 OR parameters LIKE $2 OR sections LIKE $2)`},
		{&u.Broadcasts, `
			SELECT COUNT(*) FROM broadcast WHERE tenant_id = $1 AND status IN ('draft', 'scheduled', 'sending', 'paused')
			AND (body_html LIKE $2 OR body_mjml LIKE $2 OR body_text LIKE $2 OR template_binding LIKE $2 OR variants LIKE $2)`},
	} {
		if err := tx.QueryRow(ctx, one.text, a.Tenant, name).Scan(one.count); err != nil {
			return u, fmt.Errorf("find out where an asset is used: %w", err)
		}
	}
	return u, nil
}

// nameOf returns the name under which a file is stored: its own without a path, or that of its type.
func nameOf(name string, t Type) string {
	name = strings.TrimSpace(norm.NFC.String(strings.ToValidUTF8(path.Base(strings.ReplaceAll(name, `\`, "/")), "")))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name)
	if name == "" || name == "." || name == "/" {
		return "image" + t.Extension()
	}
	for utf8.RuneCountInString(name) > maxName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name
}

// fold returns a text as names are compared.
func fold(text string) string { return strings.ToLower(norm.NFC.String(strings.TrimSpace(text))) }

func problem(message string) error { return fault.Input(fault.Field{Path: "file", Message: message}) }
