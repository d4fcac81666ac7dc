package e2etest

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"net/textproto"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// UserAgent is that of a browser, which the program does not take for a machine.
const UserAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// Stored returns the mails that the sink keeps, by recipient.
func Stored(t *testing.T, dir string) map[string]*Mail {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	mails := map[string]*Mail{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m, err := readMail(raw)
		if err != nil {
			t.Fatalf("%s is not a mail: %v", f, err)
		}
		mails[m.GetHeader("To")] = m
	}
	return mails
}

// Mail is a mail, decoded.
type Mail struct {
	HTML, Text string
	header     mail.Header
}

// GetHeader returns a header with its encoded words decoded.
func (m *Mail) GetHeader(name string) string {
	value := m.header.Get(name)
	if text, err := new(mime.WordDecoder).DecodeHeader(value); err == nil {
		return text
	}
	return value
}

// readMail reads a mail as strictly as the standard library does, of which the program has a reader of its own.
func readMail(raw []byte) (*Mail, error) {
	msg, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	m := &Mail{header: msg.Header}
	return m, m.read(textproto.MIMEHeader(msg.Header), msg.Body)
}

// read reads a part and those in it.
func (m *Mail) read(header textproto.MIMEHeader, body io.Reader) error {
	kind, params, err := mime.ParseMediaType(cmp.Or(header.Get("Content-Type"), "text/plain"))
	if err != nil {
		return err
	}
	if strings.HasPrefix(kind, "multipart/") {
		for parts := multipart.NewReader(body, params["boundary"]); ; {
			p, err := parts.NextRawPart()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if err := m.read(p.Header, p); err != nil {
				return err
			}
		}
	}
	switch strings.ToLower(header.Get("Content-Transfer-Encoding")) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, err := io.ReadAll(body)
	switch kind {
	case "text/html":
		m.HTML += string(text)
	case "text/plain":
		m.Text += string(text)
	}
	return err
}

// Pixel returns the address of the picture that records an open of a mail.
func Pixel(t *testing.T, m *Mail) string {
	t.Helper()
	found := regexp.MustCompile(`<img src="([^"]+/_q/o/[^"]+)"`).FindStringSubmatch(m.HTML)
	if found == nil {
		t.Fatalf("no open pixel in %s", m.HTML)
	}
	return found[1]
}

// Link returns the target of the link with a text in a mail.
func Link(t *testing.T, m *Mail, label string) string {
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
