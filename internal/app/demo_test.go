package app

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/mail"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/broadcast"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/tenant"
)

var demoNoon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// openDemo opens the store in dir.
func openDemo(t *testing.T, dir string) *Store {
	t.Helper()
	o := DefaultOptions()
	o.DataDir = dir
	cfg, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// prepareDemo opens the store in dir, prepares the demo and hands both to check.
func prepareDemo(t *testing.T, dir, host string, check func(s *Store, made tenant.Tenant)) demoAccess {
	t.Helper()
	s := openDemo(t, dir)
	defer s.Close()
	d := demo{db: s.DB, box: s.Box, dir: dir, trackingHost: host, mjml: mjml.New(), now: demoNoon}
	defer d.mjml.Close()
	made, access, err := d.prepare(t.Context())
	if err != nil {
		t.Fatalf("prepare: %v", err)
	}
	check(s, made)
	return access
}

// theDraft returns the only broadcast.
func theDraft(t *testing.T, s *Store, made tenant.Tenant) broadcast.Broadcast {
	t.Helper()
	list, err := broadcast.List(t.Context(), s.DB, made.ID, broadcast.Filter{})
	if err != nil || len(list) != 1 {
		t.Fatalf("broadcasts = %d, %v; want 1", len(list), err)
	}
	b, err := broadcast.Load(t.Context(), s.DB, made.ID, list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDemoIsReadyToSend(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		box, err := secret.NewBox(make([]byte, secret.KeyBytes))
		if err != nil {
			t.Fatal(err)
		}
		d := demo{db: db, box: box, dir: t.TempDir(), trackingHost: "127.0.0.1:8080", mjml: mjml.New(), now: demoNoon}
		defer d.mjml.Close()
		made, _, err := d.prepare(t.Context())
		if err != nil {
			t.Fatalf("prepare: %v", err)
		}
		s := &Store{DB: db, Box: box}
		n, err := contact.Count(t.Context(), db, made.ID, contact.Selector{})
		if err != nil || n != 200 {
			t.Errorf("contacts = %d, %v; want 200", n, err)
		}
		ready, err := broadcast.Ready(t.Context(), db, theDraft(t, s, made), time.Now())
		if err != nil || len(ready.Reasons) > 0 || len(ready.Warnings) > 0 {
			t.Errorf("the draft's readiness = %+v, %v; want nothing to object to", ready, err)
		}
	})
}

func TestDemoAgainKeepsEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var firstDraft id.Broadcast
	first := prepareDemo(t, dir, "127.0.0.1:8080", func(s *Store, made tenant.Tenant) { firstDraft = theDraft(t, s, made).ID })
	second := prepareDemo(t, dir, "localhost:8081", func(s *Store, made tenant.Tenant) {
		if got := theDraft(t, s, made).ID; got != firstDraft {
			t.Errorf("the draft is %s after a second run, was %s", got, firstDraft)
		}
		if n, err := contact.Count(t.Context(), s.DB, made.ID, contact.Selector{}); err != nil || n != 200 {
			t.Errorf("contacts = %d, %v after a second run; want 200", n, err)
		}
		d, err := sender.DomainByName(t.Context(), s.DB, made.ID, demoDomain)
		if err != nil || d.TrackingHost != "localhost:8081" || !d.TrackingLive {
			t.Errorf("tracking host = %q, live %t, %v; want the address of this run", d.TrackingHost, d.TrackingLive, err)
		}
	})
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the second run has other ways in (-first +second):\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(dir, demoFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v, %v; want only its owner to read it", demoFile, info.Mode(), err)
	}
}

func TestDemoWithoutItsFileCreatesNewCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := prepareDemo(t, dir, "127.0.0.1:8080", func(*Store, tenant.Tenant) {})
	if err := os.Remove(filepath.Join(dir, demoFile)); err != nil {
		t.Fatal(err)
	}
	second := prepareDemo(t, dir, "127.0.0.1:8080", func(*Store, tenant.Tenant) {})
	if first.APIKey == second.APIKey || first.Password == second.Password {
		t.Error("a lost key or password came back")
	}
	prepareDemo(t, dir, "127.0.0.1:8080", func(s *Store, made tenant.Tenant) {
		if known, err := auth.KeyKnown(t.Context(), s.DB, made.ID, second.APIKey); !known || err != nil {
			t.Errorf("the new key is known: %t, %v; want true", known, err)
		}
	})
}

func TestDemoDoesNotChangeAnothersTenant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDemo(t, dir)
	defer s.Close()
	if _, err := tenant.Create(t.Context(), s.DB, demoSlug, "Somebody's", "", demoNoon, TenantSetup()...); err != nil {
		t.Fatal(err)
	}
	d := demo{db: s.DB, box: s.Box, dir: dir, trackingHost: "127.0.0.1:8080", mjml: mjml.New(), now: demoNoon}
	defer d.mjml.Close()
	if _, _, err := d.prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "did not make") {
		t.Errorf("prepare = %v; want a refusal", err)
	}
}

func TestDemoContactsAreFixedAndReserved(t *testing.T) {
	t.Parallel()
	people := demoContacts(demoNoon)
	seen := map[string]bool{}
	for _, p := range people {
		a, err := mail.ParseAddress(p.email)
		_, domain, _ := strings.Cut(p.email, "@")
		if err != nil || a.Address != p.email || domain != "example.com" && domain != "example.org" && domain != "example.net" {
			t.Errorf("%q is no address of a reserved domain (RFC 2606): %v", p.email, err)
		}
		if seen[p.email] {
			t.Errorf("%s is there twice", p.email)
		}
		seen[p.email] = true
	}
	if len(people) != 200 {
		t.Errorf("%d people; want 200", len(people))
	}
	if diff := cmp.Diff(people, demoContacts(demoNoon), cmp.AllowUnexported(demoContact{})); diff != "" {
		t.Errorf("asked twice, the people differ:\n%s", diff)
	}
}

func TestDemoTextHoldsNoPlaceholder(t *testing.T) {
	t.Parallel()
	base := &url.URL{Scheme: "http", Host: "127.0.0.1:8080"}
	text := demoText(base, demoAccess{Email: "owner@example.com", Password: "word", APIKey: "pbk_key"}, demoNoon)
	for _, want := range []string{
		"http://127.0.0.1:8080/mailbox/", "http://127.0.0.1:8080/docs", "http://127.0.0.1:8080/t/demo/api",
		"X-API-Key: pbk_key", "owner@example.com  word", `"2026-11-20T12:00:00Z"`, `"newsletter_readers"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "%") {
		t.Errorf("something was not filled in:\n%s", text)
	}
}

func TestDemoSaysThatItsAddressIsTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := DefaultOptions()
	o.DataDir, o.Listen, o.AdminListen = t.TempDir(), l.Addr().String(), "off"
	cfg, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	err = Demo(t.Context(), cfg, slog.New(slog.DiscardHandler), io.Discard)
	if err == nil || !strings.Contains(err.Error(), l.Addr().String()) || !strings.Contains(err.Error(), "PACKETBOAT_LISTEN=") {
		t.Errorf("Demo = %v; want the address that is taken, and how to choose another", err)
	}
	if files, err := os.ReadDir(o.DataDir); err != nil || len(files) > 0 {
		t.Errorf("the data directory holds %v, %v; want nothing made", files, err)
	}
}

// said is the output of a program, for tests that wait for it.
type said chan string

func (c said) Write(p []byte) (int, error) {
	c <- string(p)
	return len(p), nil
}

// runDemo runs the demo on a free port, passes its output to check, and stops it.
func runDemo(t *testing.T, check func(text string)) {
	t.Helper()
	o := DefaultOptions()
	o.DataDir, o.Listen, o.AdminListen = t.TempDir(), "127.0.0.1:0", "off"
	cfg, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	out, ended := make(said, 1), make(chan error, 1)
	go func() { ended <- Demo(ctx, cfg, slog.New(slog.DiscardHandler), out) }()
	select {
	case text := <-out:
		check(text)
		stop()
		err = <-ended
	case err = <-ended:
		t.Error("the demo ended before it said anything")
	}
	if err != nil {
		t.Fatalf("Demo: %v", err)
	}
}

func TestDemoServesOnAnyPort(t *testing.T) {
	t.Parallel()
	runDemo(t, func(text string) {
		if !strings.Contains(text, "Packetboat is up: http://127.0.0.1:") || strings.Contains(text, "127.0.0.1:0/") {
			t.Errorf("Demo said %q; want its address", text)
		}
	})
}

func TestDemoCommandsWorkAsPrinted(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s to paste into", tool)
		}
	}
	if testing.Short() {
		t.Skip("waits for a send")
	}
	runDemo(t, func(text string) {
		var script strings.Builder
		for line := range strings.Lines(text) {
			switch {
			case strings.HasPrefix(line, "B="), strings.HasPrefix(line, "curl "):
				script.WriteString(line)
			case strings.HasPrefix(line, "sleep "): // retried on slow machines
				script.WriteString("for i in 1 2 3 4 5 6 7 8; do R=$(" + strings.TrimSpace(line) + `); echo "$R"; case "$R" in *completed*) break;; esac; done` + "\n")
			}
		}
		got, err := exec.CommandContext(t.Context(), "sh", "-c", script.String()).CombinedOutput()
		if err != nil {
			t.Fatalf("the commands: %v\n%s", err, got)
		}
		for _, want := range []string{"broadcast 0", `"status":"scheduled"`, `"status":"completed"`, `"total_delivered":193`} {
			if !strings.Contains(string(got), want) {
				t.Errorf("the commands said %s; want %s in it", got, want)
			}
		}
	})
}
