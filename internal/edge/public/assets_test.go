package public

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	images "github.com/packetboat/packetboat/internal/content/asset"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// An image is served to everybody at its own address, for ever and as what it is; at any other address there is nothing.
func TestImagesArePublicAtTheirAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.White})); err != nil {
			t.Fatal(err)
		}
		acme, other := id.Tenant(101), id.Tenant(102)
		a, err := images.Add(t.Context(), db, acme, "logo.png", b.Bytes(), images.Image{Type: images.PNG, Width: 3, Height: 2}, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		mux := http.NewServeMux()
		NewAssets(db, slog.New(slog.DiscardHandler)).Routes(mux)
		get := func(method, path, etag string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(method, path, nil)
			if etag != "" {
				r.Header.Set("If-None-Match", etag)
			}
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			return w
		}
		w := get("GET", a.Path(), "")
		if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), b.Bytes()) {
			t.Fatalf("%s = %d with %d bytes", a.Path(), w.Code, w.Body.Len())
		}
		for name, want := range map[string]string{
			"Content-Type": "image/png", "Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
			"Cross-Origin-Resource-Policy": "cross-origin", "Content-Security-Policy": "default-src 'none'; sandbox",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if w := get("GET", a.Path(), w.Header().Get("ETag")); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
			t.Errorf("with its ETag: %d and %d bytes", w.Code, w.Body.Len())
		}
		if w := get("HEAD", a.Path(), ""); w.Code != 200 || w.Body.Len() > 0 || w.Header().Get("Content-Type") != "image/png" || w.Header().Get("Content-Length") != strconv.Itoa(b.Len()) {
			t.Errorf("HEAD: %d, %d bytes of %s", w.Code, w.Body.Len(), w.Header().Get("Content-Type"))
		}
		for _, path := range []string{
			strings.Replace(a.Path(), acme.String(), other.String(), 1), strings.Replace(a.Path(), ".png", ".html", 1), strings.TrimSuffix(a.Path(), ".png"),
			"/_q/a/x/y.png", strings.Replace(a.Path(), a.ID.String(), id.New[id.Asset]().String(), 1),
		} {
			if w := get("GET", path, ""); w.Code != 404 || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s = %d, cached as %q", path, w.Code, w.Header().Get("Cache-Control"))
			}
		}
	})
}
