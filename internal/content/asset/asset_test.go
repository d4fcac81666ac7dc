package asset_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/asset"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func encoded(t *testing.T, as asset.Type, width, height int) []byte {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})
	var b bytes.Buffer
	var err error
	switch as {
	case asset.PNG:
		err = png.Encode(&b, picture)
	case asset.JPEG:
		err = jpeg.Encode(&b, picture, nil)
	case asset.GIF:
		err = gif.Encode(&b, picture, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webp decodes an image of cwebp, of 3 × 2 pixels or as its name says.
func webp(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	lossyWebP    = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA" // 1 × 1
	losslessWebP = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="         // 1 × 1
)

// The type of an image is that of its content. What is no image, or too large, is refused.
func TestImagesAreCheckedByTheirContent(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		content []byte
		want    asset.Image
	}{
		"PNG":           {encoded(t, asset.PNG, 30, 20), asset.Image{Type: asset.PNG, Width: 30, Height: 20}},
		"JPEG":          {encoded(t, asset.JPEG, 30, 20), asset.Image{Type: asset.JPEG, Width: 30, Height: 20}},
		"GIF":           {encoded(t, asset.GIF, 30, 20), asset.Image{Type: asset.GIF, Width: 30, Height: 20}},
		"lossy WebP":    {webp(t, lossyWebP), asset.Image{Type: asset.WebP, Width: 1, Height: 1}},
		"lossless WebP": {webp(t, losslessWebP), asset.Image{Type: asset.WebP, Width: 1, Height: 1}},
		"extended WebP": {[]byte("RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x2b\x01\x00\xc7\x00\x00"), asset.Image{Type: asset.WebP, Width: 300, Height: 200}},
		"the longest":   {encoded(t, asset.GIF, 8000, 1), asset.Image{Type: asset.GIF, Width: 8000, Height: 1}},
	} {
		if got, err := asset.Check(tt.content); err != nil || got != tt.want {
			t.Errorf("%s is %+v, %v", what, got, err)
		}
	}
	for what, content := range map[string][]byte{
		"SVG":                    []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>`),
		"HTML":                   []byte("<!doctype html><script>alert(1)</script>"),
		"nothing":                nil,
		"half a header":          encoded(t, asset.PNG, 3, 2)[:20],
		"too long":               encoded(t, asset.GIF, 8001, 1),
		"too many pixels":        encoded(t, asset.PNG, 6400, 6400),
		"WebP of another length": []byte("RIFF\xff\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x2b\x01\x00\xc7\x00\x00"),
	} {
		if got, err := asset.Check(content); !errors.Is(err, fault.ErrInput) {
			t.Errorf("%s is %+v, %v", what, got, err)
		}
	}
	if _, _, err := asset.Read(bytes.NewReader(append(encoded(t, asset.PNG, 3, 2), make([]byte, asset.MaxSize)...))); !errors.Is(err, fault.ErrInput) {
		t.Errorf("a file of more than 5 MB: %v", err)
	}
}

// An image is stored, found by its name, and deleted once nothing names it. Another tenant sees nothing of it.
func TestImagesAreStoredUntilNothingNamesThem(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := id.Tenant(101), id.Tenant(102)
		// Noise, so that there are several chunks.
		content := append(encoded(t, asset.PNG, 30, 20), bytes.Repeat([]byte("0123456789abcdef"), 40_000)...)
		image, err := asset.Check(content)
		if err != nil {
			t.Fatal(err)
		}
		add := func(t2 id.Tenant, name string) asset.Asset {
			t.Helper()
			a, err := asset.Add(t.Context(), db, t2, name, content, image, noon)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		a := add(acme, `C:\fake\Größe 100%.PNG`)
		add(acme, "other.png")
		if a.Name != "Größe 100%.PNG" || a.Size != len(content) {
			t.Errorf("stored as %+v", a)
		}
		for text, want := range map[string]int{"": 2, "größe": 1, "0%": 1, "%": 1, "_": 0, "x": 0} {
			if list, err := asset.List(t.Context(), db, acme, text); err != nil || len(list) != want {
				t.Errorf("%q finds %d, %v, want %d", text, len(list), err, want)
			}
		}
		if got, err := read(t, db, a); err != nil || !bytes.Equal(got, content) {
			t.Errorf("the content has %d bytes, %v, want %d", len(got), err, len(content))
		}
		if list, err := asset.List(t.Context(), db, other, ""); err != nil || len(list) != 0 {
			t.Errorf("another tenant sees %v, %v", list, err)
		}
		if err := asset.Delete(t.Context(), db, other, a.ID); !errors.Is(err, asset.ErrNotFound) {
			t.Errorf("another tenant deletes it: %v", err)
		}
		named := `<img src="https://mail.example.org` + a.Path() + `">`
		_, err = db.Exec(t.Context(), `
			INSERT INTO block (tenant_id, id, slug, name, active, parameters, sections, groups, tags, slot_keys, created_at, updated_at, content_html)
			VALUES ($1, $2, 'b', 'B', true, '[]', '[]', '[]', '[]', '[]', 0, 0, $3)`, acme, id.New[id.Block](), named)
		if err != nil {
			t.Fatal(err)
		}
		err = asset.Delete(t.Context(), db, acme, a.ID)
		f, ok := fault.As(err)
		if !errors.Is(err, asset.ErrInUse) || !ok {
			t.Fatalf("an image that a block names: %v", err)
		}
		if details, _ := json.Marshal(f.Details); string(details) != `{"usage":{"templates":0,"blocks":1,"broadcasts":0,"brand":0}}` {
			t.Errorf("the details are %s", details)
		}
		if _, err := db.Exec(t.Context(), `DELETE FROM block WHERE tenant_id = $1`, acme); err != nil {
			t.Fatal(err)
		}
		if err := asset.Delete(t.Context(), db, acme, a.ID); err != nil {
			t.Errorf("delete: %v", err)
		}
		if _, err := asset.ByID(t.Context(), db, acme, a.ID); !errors.Is(err, asset.ErrNotFound) {
			t.Errorf("a deleted image: %v", err)
		}
		var files, size, chunks int
		err = db.QueryRow(t.Context(), `
			SELECT files, bytes, (SELECT COUNT(*) FROM asset_chunk WHERE tenant_id = $1 AND asset_id = $2) FROM asset_total WHERE tenant_id = $1`, acme, a.ID).Scan(&files, &size, &chunks)
		if err != nil || files != 1 || size != len(content) || chunks != 0 {
			t.Errorf("afterwards there are %d files of %d bytes and %d chunks of the deleted one, %v", files, size, chunks, err)
		}
		if _, err := db.Exec(t.Context(), `UPDATE asset_total SET bytes = $2 WHERE tenant_id = $1`, acme, 500<<20); err != nil {
			t.Fatal(err)
		}
		if _, err := asset.Add(t.Context(), db, acme, "x.png", content, image, noon); !errors.Is(err, asset.ErrLimit) {
			t.Errorf("an image beyond the limit of the account: %v", err)
		}
	})
}

// FuzzCheck reads files that users upload: each is refused, or an image of a known type that programs have memory for.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{lossyWebP, losslessWebP} {
		content, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
		f.Add(content[:20])
	}
	f.Add([]byte("RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x06\x00\x00\x00"))
	f.Add([]byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00"))
	f.Add([]byte("<svg onload='alert(1)'/>"))
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := asset.Check(content)
		if _, isFault := fault.As(err); err != nil {
			if !isFault || got != (asset.Image{}) {
				t.Errorf("%+v, %v", got, err)
			}
			return
		}
		if got.Type.Extension() == "" || got.Width < 1 || got.Height < 1 || got.Width > 8000 || got.Height > 8000 || got.Width*got.Height > 40_000_000 {
			t.Errorf("%+v is accepted", got)
		}
	})
}

// read returns the content of an image.
func read(t *testing.T, db *sqldb.DB, a asset.Asset) ([]byte, error) {
	t.Helper()
	r, err := asset.NewContents(db).Open(t.Context(), a)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Any part of an image can be read, by many at the same time, and nothing of one that was deleted.
func TestPartsOfImages(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		content := encoded(t, asset.PNG, 30, 20)
		for i := range 90_000 {
			content = binary.BigEndian.AppendUint64(content, uint64(i))
		}
		image, err := asset.Check(content)
		if err != nil {
			t.Fatal(err)
		}
		a, err := asset.Add(t.Context(), db, id.Tenant(101), "x.png", content, image, noon)
		if err != nil {
			t.Fatal(err)
		}
		contents := asset.NewContents(db)
		var all errgroup.Group
		for range 20 {
			all.Go(func() error {
				r, err := contents.Open(t.Context(), a)
				if err != nil {
					return err
				}
				for _, at := range []int{0, 1, 256<<10 - 1, 256 << 10, len(content) - 1, len(content)} {
					if _, err := r.Seek(int64(at-len(content)), io.SeekEnd); err != nil {
						return err
					}
					if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content[at:]) {
						return fmt.Errorf("from %d: %d bytes, %w", at, len(got), err)
					}
				}
				return nil
			})
		}
		if err := all.Wait(); err != nil {
			t.Error(err)
		}
		if err := asset.Delete(t.Context(), db, a.Tenant, a.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := asset.NewContents(db).Open(t.Context(), a); !errors.Is(err, asset.ErrNotFound) {
			t.Errorf("a deleted image: %v", err)
		}
	})
}
