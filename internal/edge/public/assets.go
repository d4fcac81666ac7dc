package public

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	images "github.com/packetboat/packetboat/internal/content/asset"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Assets serves the images of tenants to everybody, for ever: the content of an address never changes.
type Assets struct {
	DB  *sqldb.DB
	Log *slog.Logger

	contents *images.Contents
}

// NewAssets returns the server of images.
func NewAssets(db *sqldb.DB, log *slog.Logger) *Assets {
	return &Assets{db, log, images.NewContents(db)}
}

// Routes adds the routes to mux.
func (p *Assets) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /_q/a/{tenant}/{file}", p.serve)
}

func (p *Assets) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Referrer-Policy", "no-referrer")
	file := r.PathValue("file")
	t, knownTenant := id.ParseTenant(r.PathValue("tenant"))
	one, known := id.Parse[id.Asset](strings.TrimSuffix(file, path.Ext(file)))
	if !knownTenant || !known {
		p.missing(w, r)
		return
	}
	a, err := images.ByID(r.Context(), p.DB, t, one)
	if err == nil && r.URL.Path != a.Path() {
		err = images.ErrNotFound
	}
	if errors.Is(err, images.ErrNotFound) {
		p.missing(w, r)
		return
	}
	var content io.ReadSeeker
	if err == nil {
		content, err = p.contents.Open(r.Context(), a)
	}
	if errors.Is(err, images.ErrNotFound) {
		p.missing(w, r)
		return
	}
	if err != nil {
		p.Log.Error("serve an image failed", "err", err)
		h.Set("Cache-Control", "no-store")
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	}
	h.Set("Content-Type", string(a.Type))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("ETag", `"`+a.ID.String()+`"`)
	http.ServeContent(w, r, "", time.Time{}, content)
}

func (p *Assets) missing(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	http.NotFound(w, r)
}
