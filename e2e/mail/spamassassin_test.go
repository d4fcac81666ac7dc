package mail

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/content/template/starter"
)

// maxSpamScore is the score of SpamAssassin that a starter may have. A mail with 5 is spam.
const maxSpamScore = 1.0

// TestSpamAssassinAcceptsTheStarterTemplates sends each starter with its sample, and lets Debian's SpamAssassin score what
// arrived, with its local rules.
func TestSpamAssassinAcceptsTheStarterTemplates(t *testing.T) {
	t.Parallel()
	filter, err := exec.LookPath("spamassassin")
	if err != nil && os.Getuid() == 0 && os.Getenv("CI") == "true" {
		t.Fatal("no SpamAssassin; install Debian's package spamassassin")
	}
	if err != nil {
		t.Skip("no SpamAssassin: install it with apt-get install spamassassin")
	}
	ctx, store := t.Context(), t.TempDir()
	p, ready, s := e2etest.Start(t, "sqlite:"+filepath.Join(t.TempDir(), "packetboat.db"), "-store", store)
	owner, err := p.SignIn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	e2etest.Must(t, owner, http.MethodPut, "/settings/account", map[string]any{
		"name": "Bookshop", "website_url": "https://example.com",
		"postal_address": map[string]any{"line1": "1 Market Street", "city": "Bonn", "postal_code": "53111", "country": "DE"},
	})
	// Links lead to a host with a name, as in real mail.
	if _, err := p.Run(ctx, "domain", "verify", "--tenant", harness.Tenant, "--domain", ready.Domain, "--force", "--tracking-host", "go.example.com"); err != nil {
		t.Fatal(err)
	}
	lane, err := ready.Lane(ctx, "Relay", s.Address, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	e2etest.Must(t, ready.Key, http.MethodPost, "/contacts", map[string]any{"email": "ann@example.org", "first_name": "Ann"})
	e2etest.Must(t, ready.Key, http.MethodPost, "/segments/"+ready.List+"/members", map[string]any{"emails": []any{"ann@example.org"}})
	for _, b := range starter.Blocks() {
		e2etest.Must(t, owner, http.MethodPost, "/blocks", withSchema(t, b.Schema, map[string]any{
			"slug": b.Slug, "name": b.Name, "tags": b.Tags, "slot_keys": b.Slots, "content_html": "", "content_mjml": b.MJML, "content_text": b.Text,
		}))
	}
	var mails bytes.Buffer // as an mbox
	for _, one := range starter.All() {
		e2etest.Must(t, ready.Key, http.MethodPost, "/templates", withSchema(t, one.Schema, map[string]any{
			"slug": one.Slug, "name": one.Name, "tags": one.Tags, "subject": one.Subject, "format": "mjml", "content_html": "", "content_mjml": one.MJML, "content_text": one.Text,
		}))
		id, err := ready.Broadcast(ctx, lane, map[string]any{"template_slug": one.Slug, "template_binding": one.Sample})
		if err == nil {
			err = ready.Schedule(ctx, id)
		}
		if err == nil {
			_, err = ready.Await(ctx, id, "completed")
		}
		if err != nil {
			t.Fatalf("%s: %v", one.Slug, err)
		}
		raw := onlyFile(t, store)
		fmt.Fprintf(&mails, "From news@example.com Mon Nov 23 10:00:00 2026\nX-Starter: %s\n%s\n", one.Slug, bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")))
	}

	score := exec.CommandContext(ctx, filter, "--local", "--mbox") // with the settings of the package
	score.Stdin, score.Env = &mails, append(os.Environ(), "HOME="+t.TempDir(), "LC_ALL=C")
	out, err := score.Output()
	if err != nil {
		t.Fatalf("SpamAssassin: %v", err)
	}
	scored := regexp.MustCompile(`(?s)X-Spam-Status: (?:Yes|No), score=(-?[\d.]+) .*?tests=(.*?) autolearn=.*?X-Starter: (\S+)`).FindAllSubmatch(out, -1)
	if len(scored) != len(starter.All()) {
		t.Fatalf("SpamAssassin scored %d of %d mails:\n%.4000s", len(scored), len(starter.All()), out)
	}
	for _, m := range scored {
		value, err := strconv.ParseFloat(string(m[1]), 64)
		rules := strings.Join(strings.Fields(string(m[2])), " ")
		if err != nil || value > maxSpamScore {
			t.Errorf("%s: score %s, at most %.1f is expected: %s", m[3], m[1], maxSpamScore, rules)
		}
		t.Logf("%s: %s (%s)", m[3], m[1], rules)
	}
}

// withSchema adds the members of a schema to a request.
func withSchema(t *testing.T, schema json.RawMessage, body map[string]any) map[string]any {
	t.Helper()
	if err := json.Unmarshal(schema, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// onlyFile returns the content of the only file in a directory, and removes it.
func onlyFile(t *testing.T, dir string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files in the store: %v", len(files), err)
	}
	raw, err := os.ReadFile(files[0])
	if err == nil {
		err = os.Remove(files[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
