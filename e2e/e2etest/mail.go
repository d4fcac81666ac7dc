package e2etest

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/jhillyerd/enmime/v2"
)

// UserAgent is that of a browser, which the program does not take for a machine.
const UserAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// Stored returns the mails that the sink keeps, by recipient.
func Stored(t *testing.T, dir string) map[string]*enmime.Envelope {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	mails := map[string]*enmime.Envelope{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m, err := enmime.ReadEnvelope(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s is not a mail: %v", f, err)
		}
		mails[m.GetHeader("To")] = m
	}
	return mails
}

// Pixel returns the address of the picture that records an open of a mail.
func Pixel(t *testing.T, m *enmime.Envelope) string {
	t.Helper()
	found := regexp.MustCompile(`<img src="([^"]+/_q/o/[^"]+)"`).FindStringSubmatch(m.HTML)
	if found == nil {
		t.Fatalf("no open pixel in %s", m.HTML)
	}
	return found[1]
}

// Link returns the target of the link with a text in a mail.
func Link(t *testing.T, m *enmime.Envelope, label string) string {
	t.Helper()
	found := regexp.MustCompile(`<a\s+href="([^"]+)"[^>]*>\s*` + label + `\s*</a>`).FindStringSubmatch(m.HTML)
	if found == nil {
		t.Fatalf("no link %q in %s", label, m.HTML)
	}
	return found[1]
}

// Visit requests a URL as a browser does and returns the target of the redirect.
func Visit(t *testing.T, target string, want int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", UserAgent)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != want {
		t.Fatalf("GET %s = %s, want %d", target, res.Status, want)
	}
	return res.Header.Get("Location")
}
