// Package webapp serves the browser application: one page, and files with the hash of their content in
// their names. `make web` builds them from web/ into dist, which is embedded.
package webapp

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
)

//go:embed index.html missing.html frame.html
var pages embed.FS

var templates = template.Must(template.ParseFS(pages, "*.html"))

// App serves the application below /app/.
type App struct {
	// Serves reports whether the application may be shown on a host: not on the tracking hosts of
	// tenants, which recipients of mail see.
	Serves func(r *http.Request, host string) (bool, error)
	Log    *slog.Logger

	files       fs.FS
	manifest    manifest
	frameScript []byte
	frameHash   string // of frameScript, as a content security policy names it
}

// manifest names the files that the page loads; the build writes it.
type manifest struct {
	Script  string   `json:"script"`
	Style   string   `json:"style"`
	Preload []string `json:"preload"`
	Frame   string   `json:"frame"`
}

// built reports whether the application was built.
func (m manifest) built() bool { return m.Script != "" }

// Routes adds the routes to mux.
func (a *App) Routes(mux *http.ServeMux) error {
	if err := a.load(); err != nil {
		return err
	}
	mux.HandleFunc("GET /app", a.redirect)
	mux.HandleFunc("GET /app/", a.page)
	mux.HandleFunc("GET /app/assets/{name}", a.asset)
	mux.HandleFunc("GET /app/-/frame", a.frame)
	mux.HandleFunc("GET /{$}", a.redirect)
	for _, p := range linkPaths {
		mux.HandleFunc("GET "+p, a.linkPage)
	}
	return nil
}

// linkPaths are the paths of links with a token, which package auth writes.
var linkPaths = []string{"/signup", "/reset-password", "/accept-invitation"}

// linkPage writes the page for a link. Its address holds a token, so no request names it as referrer.
func (a *App) linkPage(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Referrer-Policy", "no-referrer")
	a.page(w, r)
}

// load reads what the build wrote; nothing, if the application was not built.
func (a *App) load() error {
	if a.files == nil {
		files, err := source()
		if err != nil {
			return err
		}
		a.files = files
	}
	data, err := fs.ReadFile(a.files, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &a.manifest); err != nil {
		return fmt.Errorf("manifest of the application: %w", err)
	}
	if a.frameScript, err = a.unpack(a.manifest.Frame); err != nil {
		return err
	}
	sum := sha256.Sum256(a.frameScript)
	a.frameHash = "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
	return nil
}

// redirect sends visitors of the installation's address to the application. The address is relative, so
// that it works behind a proxy that strips a path.
func (a *App) redirect(w http.ResponseWriter, r *http.Request) {
	if !a.allowed(w, r) {
		return
	}
	secure(w.Header())
	w.Header().Set("Location", "app/")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusFound)
}

// page writes the page of the application, for every path: its script chooses what it shows.
func (a *App) page(w http.ResponseWriter, r *http.Request) {
	if !a.allowed(w, r) {
		return
	}
	if rebuilt {
		if err := a.load(); err != nil {
			a.Log.Error("read the built application failed", "err", err)
		}
	}
	name, status := "index.html", http.StatusOK
	if !a.manifest.built() {
		name, status = "missing.html", http.StatusServiceUnavailable
	}
	nonce := base64.RawURLEncoding.EncodeToString(random(16))
	a.write(w, r, name, status, nonce, "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"+nonce+"'; "+
		"img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; frame-src 'self'; manifest-src 'self'; "+
		"form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
}

// frame writes the page in which the application shows a mail. A mail is untrusted HTML: the page has an
// origin of its own, and one script, which inserts the HTML without running anything in it. Links open in a new tab, and only where the
// element that holds the frame allows it, too.
func (a *App) frame(w http.ResponseWriter, r *http.Request) {
	if !a.allowed(w, r) {
		return
	}
	if !a.manifest.built() {
		http.NotFound(w, r)
		return
	}
	a.write(w, r, "frame.html", http.StatusOK, "", "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; default-src 'none'; script-src '"+a.frameHash+"'; "+
		"style-src 'unsafe-inline' https:; img-src http: https: data:; font-src https:; "+
		"form-action 'none'; frame-ancestors 'self'; base-uri 'none'")
}

// write writes a page. Its policy allows the nonce, which is new for each answer.
func (a *App) write(w http.ResponseWriter, r *http.Request, name string, status int, nonce, policy string) {
	var out bytes.Buffer
	err := templates.ExecuteTemplate(&out, name, struct {
		manifest
		Nonce, Base string
		Inline      template.JS
	}{a.manifest, nonce, "/app/assets/", template.JS(a.frameScript)})
	if err != nil {
		a.Log.Error("write page of the application failed", "page", name, "err", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	secure(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(out.Len()))
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = out.WriteTo(w)
	}
}

// secure sets the headers of every answer. A referrer policy that is set already stays.
func secure(h http.Header) {
	if h.Get("Referrer-Policy") == "" {
		h.Set("Referrer-Policy", "same-origin")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// asset writes a file. Its name contains a hash of its content, so browsers may keep it for ever.
func (a *App) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	packed, err := fs.ReadFile(a.files, path.Join("assets", path.Base(name)+".br"))
	if err != nil {
		w.Header().Set("Cache-Control", "no-store")
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	secure(h)
	h.Set("Content-Type", contentType(name))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Add("Vary", "Accept-Encoding")
	if acceptsBrotli(r) {
		h.Set("Content-Encoding", "br")
		h.Set("Content-Length", strconv.Itoa(len(packed)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(packed)
		}
		return
	}
	if r.Method != http.MethodHead { // a client without brotli: old, or plain HTTP on a network
		_, _ = io.Copy(w, brotli.NewReader(bytes.NewReader(packed)))
	}
}

// unpack returns the content of a file.
func (a *App) unpack(name string) ([]byte, error) {
	packed, err := fs.ReadFile(a.files, path.Join("assets", name+".br"))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(brotli.NewReader(bytes.NewReader(packed)))
}

// acceptsBrotli reports whether the client decodes brotli (RFC 7932).
func acceptsBrotli(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept-Encoding") {
		for coding := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(coding, ";")
			if strings.TrimSpace(name) == "br" && strings.ReplaceAll(weight, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}

func contentType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".txt":
		return "text/plain; charset=utf-8"
	default:
		return mime.TypeByExtension(ext)
	}
}

// allowed reports whether the application is shown on the request's host, and answers if it is not.
func (a *App) allowed(w http.ResponseWriter, r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ok, err := a.Serves(r, host)
	if err != nil {
		a.Log.Error("look up host failed", "err", err)
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return false
	}
	if !ok {
		http.NotFound(w, r)
	}
	return ok
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}
