package webapp

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
)

func packed(t *testing.T, text string) *fstest.MapFile {
	t.Helper()
	var out bytes.Buffer
	w := brotli.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: out.Bytes()}
}

const frameScript = `send("</b>")`

// built are the files of a small application.
func built(t *testing.T) fstest.MapFS {
	return fstest.MapFS{
		"manifest.json":          {Data: []byte(`{"script": "main-A.js", "style": "main-B.css", "preload": ["chunk-C.js"], "frame": "frame-D.js"}`)},
		"assets/main-A.js.br":    packed(t, "run()"),
		"assets/main-B.css.br":   packed(t, "a{}"),
		"assets/chunk-C.js.br":   packed(t, "x"),
		"assets/frame-D.js.br":   packed(t, frameScript),
		"assets/licences.txt.br": packed(t, "MIT"),
	}
}

// serve returns what answers requests; links.example is a tracking host.
func serve(t *testing.T, files fstest.MapFS) func(target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	a := &App{files: files, Log: slog.New(slog.DiscardHandler), Serves: func(_ *http.Request, host string) (bool, error) { return host != "links.example", nil }}
	mux := http.NewServeMux()
	if err := a.Routes(mux); err != nil {
		t.Fatal(err)
	}
	return func(target string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://mail.example"+target, nil)
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
			if name == "Host" {
				r.Host = value
			}
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w
	}
}

var nonceOfPolicy = regexp.MustCompile(`'nonce-([^']+)'`)

func TestThePageAllowsItsOwnFilesAndANewNonce(t *testing.T) {
	t.Parallel()
	get := serve(t, built(t))
	seen := map[string]bool{}
	for _, target := range []string{"/app/", "/app/acme/contacts", "/app/-/login"} {
		w := get(target)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d", target, w.Code)
		}
		policy, body := w.Header().Get("Content-Security-Policy"), w.Body.String()
		if strings.Contains(policy, "unsafe") || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: the policy is %s", target, policy)
		}
		m := nonceOfPolicy.FindStringSubmatch(policy)
		if m == nil || seen[m[1]] || !strings.Contains(body, `nonce="`+m[1]+`"`) {
			t.Errorf("%s: the nonce of the policy is %v, in a page with\n%s", target, m, body)
		} else {
			seen[m[1]] = true
		}
		for _, want := range []string{`src="/app/assets/main-A.js"`, `href="/app/assets/main-B.css"`, `rel="modulepreload" href="/app/assets/chunk-C.js"`} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: the page lacks %s", target, want)
			}
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control = %q, want no-store", target, got)
		}
	}
}

func TestTheFrameAllowsItsOwnScriptOnly(t *testing.T) {
	t.Parallel()
	w := serve(t, built(t))("/app/-/frame")
	sum := sha256.Sum256([]byte(frameScript))
	policy := w.Header().Get("Content-Security-Policy")
	if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) || !strings.HasPrefix(policy, "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; default-src 'none';") {
		t.Errorf("the policy is %s, want %s in it", policy, want)
	}
	if !strings.Contains(w.Body.String(), "<script>"+frameScript+"</script>") {
		t.Errorf("the script is changed:\n%s", w.Body)
	}
}

func TestFilesAreKeptAndUnpackedForOldClients(t *testing.T) {
	t.Parallel()
	get := serve(t, built(t))
	for _, tt := range []struct {
		accept, coding string
	}{{"gzip, br", "br"}, {"br;q=1.0", "br"}, {"gzip", ""}, {"", ""}, {"br;q=0", ""}} {
		w := get("/app/assets/main-A.js", "Accept-Encoding: "+tt.accept)
		if got := w.Header().Get("Content-Encoding"); got != tt.coding {
			t.Errorf("for %q the encoding is %q, want %q", tt.accept, got, tt.coding)
		}
		if tt.coding == "" && w.Body.String() != "run()" {
			t.Errorf("for %q the file is %q", tt.accept, w.Body)
		}
		if got := w.Header().Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("Cache-Control = %q", got)
		}
		if got := w.Header().Get("Content-Type"); got != "text/javascript; charset=utf-8" {
			t.Errorf("Content-Type = %q", got)
		}
	}
	for _, target := range []string{"/app/assets/none.js", "/app/assets/..%2fmanifest.json", "/app/assets/main-A.js.br"} {
		if w := get(target); w.Code != http.StatusNotFound || w.Header().Get("Cache-Control") == "public, max-age=31536000, immutable" {
			t.Errorf("%s: %d %s", target, w.Code, w.Header().Get("Cache-Control"))
		}
	}
}

func TestTrackingHostsDoNotShowTheApplication(t *testing.T) {
	t.Parallel()
	get := serve(t, built(t))
	for _, target := range []string{"/", "/app", "/app/", "/app/acme/contacts", "/app/-/frame"} {
		if w := get(target, "Host: links.example:8080"); w.Code != http.StatusNotFound {
			t.Errorf("%s on a tracking host: %d, want 404", target, w.Code)
		}
	}
	if w := get("/"); w.Code != http.StatusFound || w.Header().Get("Location") != "app/" {
		t.Errorf("/: %d to %q, want 302 to app/", w.Code, w.Header().Get("Location"))
	}
}

// Addresses of links hold tokens, which requests of the page must not name.
func TestPagesOfLinksSendNoReferrer(t *testing.T) {
	t.Parallel()
	get := serve(t, built(t))
	for target, want := range map[string]string{
		"/signup?setup_token=x": "no-referrer", "/reset-password?token=x": "no-referrer", "/accept-invitation?token=x": "no-referrer", "/app/": "same-origin",
	} {
		w := get(target)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `src="/app/assets/main-A.js"`) {
			t.Errorf("%s: %d %s, want the application", target, w.Code, w.Body)
		}
		if got := w.Header().Values("Referrer-Policy"); len(got) != 1 || got[0] != want {
			t.Errorf("%s: Referrer-Policy = %q, want %q", target, got, want)
		}
		if w := get(target, "Host: links.example:8080"); w.Code != http.StatusNotFound {
			t.Errorf("%s on a tracking host: %d, want 404", target, w.Code)
		}
	}
}

func TestAProgramWithoutTheApplicationSaysSo(t *testing.T) {
	t.Parallel()
	w := serve(t, fstest.MapFS{"README.md": {}})("/app/")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "make web") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}
