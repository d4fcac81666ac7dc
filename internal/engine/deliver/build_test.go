package deliver

import (
	"bytes"
	"flag"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

var update = flag.Bool("update", false, "rewrite golden files")

// sampleEngine returns an engine that can only build messages.
func sampleEngine(t testing.TB, now time.Time) *Engine {
	t.Helper()
	box, err := secret.NewBox(bytes.Repeat([]byte{7}, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	keys := track.NewKeys(box)
	return &Engine{
		Keys: keys, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, FeedbackSender: "packetboat",
		Renderer: &render.Renderer{Keys: keys, BaseURL: &url.URL{Scheme: "https", Host: "packetboat.example"}},
	}
}

func sampleJob(t testing.TB) *job {
	t.Helper()
	compiled, err := content.Compile(content.Content{ID: idtest.Named[id.Content]("content"), Source: content.Source{
		Subject: "Grüße, {{ first_name }}", Text: "Hello {{ first_name }}\n\n{{ unsubscribe_url }}\n",
		HTML: `<p>Hello {{ first_name }}</p><p><a href="{{ unsubscribe_url }}">unsubscribe</a></p>`,
	}})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	return &job{
		item: outbox.Item{
			Tenant: idtest.TenantNamed("0196a2b0-0000-7000-8000-000000000001"), ID: idtest.Must[id.Message]("0196a2b0-0000-7000-8000-000000000002"),
			Send: idtest.Must[id.Send]("0196a2b0-0000-7000-8000-0000deadbeef"), Email: "ann@example.net", QueuedAt: at, DueAt: at,
		},
		contact: &contact.Contact{ID: idtest.Must[id.Contact]("0196a2b0-0000-7000-8000-000000000003"), Email: "ann@example.net", FirstName: new("Ann")},
		content: compiled,
		sender: &render.Sender{
			Tenant:   tenant.Tenant{ID: idtest.TenantNamed("0196a2b0-0000-7000-8000-000000000001"), Slug: "acme", Name: "Acme", Settings: tenant.Settings{Timezone: "UTC"}},
			Identity: sender.Identity{Address: "news@acme.example", DisplayName: "Acme, Inc.", ReplyTo: "help@acme.example"},
			Domain:   sender.Domain{Name: "acme.example", TrackingHost: "go.acme.example", ReturnPathHost: "bounce.acme.example"},
			Type:     sender.EmailType{Key: "monthly_news", DisplayName: "Monthly news", ListIDEnabled: true},
		},
		lane: &laneSettings{config: lane.Config{Type: lane.SMTP, SMTP: lane.SMTPSettings{TLS: smtpclient.None}}},
	}
}

func TestBuildMatchesGoldenMessages(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 30, 15, 0, time.UTC)
	for _, test := range []struct {
		name string
		edit func(*job)
	}{
		{"plain", func(*job) {}},
		{"overridden", func(j *job) {
			c := j.content.Content
			c.FromName, c.ReplyTo = "{{ first_name }}’s Acme", "reply@acme.example"
			var err error
			if j.content, err = content.Compile(c); err != nil {
				t.Fatal(err)
			}
			j.sender.Type.ListIDEnabled = false
		}},
		{"again", func(j *job) { j.item.FirstAt = new(now.Add(-90 * time.Minute)) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			j := sampleJob(t)
			test.edit(j)
			b := newBuilder(sampleEngine(t, now))
			raw, err := b.build(j)
			if err != nil {
				t.Fatal(err)
			}
			got := append([]byte("(envelope "+b.envelope+")\r\n"), raw...)
			file := filepath.Join("testdata", test.name+".eml")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the message is not that of %s (-update rewrites it):\n%s", file, got)
			}
			again, err := b.build(j)
			if err != nil || !bytes.Equal(again, want[len(want)-len(raw):]) {
				t.Errorf("built again it differs: %v\n%s", err, again)
			}
		})
	}
}

// RFC 3834 section 5: mail that an event caused says so; what answers a request is of no list.
func TestMailSaysWhatCausedIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		context    content.Context
		has, lacks []string
	}{
		{"broadcast", content.Context{Broadcast: idtest.Named[id.Broadcast]("b")},
			[]string{"Precedence: bulk", "List-Unsubscribe: <https", "<mailto:u.", "List-Unsubscribe-Post:", "List-ID:"}, []string{"Auto-Submitted"}},
		{"sequence", content.Context{Sequence: idtest.Named[id.Sequence]("s")},
			[]string{"Auto-Submitted: auto-generated", "Precedence: bulk", "List-Unsubscribe: <https", "<mailto:u.", "List-Unsubscribe-Post:", "List-ID:"}, nil},
		{"confirmation", content.Context{Confirmation: true},
			[]string{"Auto-Submitted: auto-generated", "X-Auto-Response-Suppress:"}, []string{"Precedence", "List-"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := sampleJob(t)
			c := j.content.Content
			c.Context = tt.context
			var err error
			if j.content, err = content.Compile(c); err != nil {
				t.Fatal(err)
			}
			j.receives = true
			raw, err := newBuilder(sampleEngine(t, time.Date(2026, 3, 2, 9, 30, 15, 0, time.UTC))).build(j)
			if err != nil {
				t.Fatal(err)
			}
			head, _, _ := strings.Cut(string(raw), "\r\n\r\n")
			head = "\r\n" + strings.ReplaceAll(head, "\r\n ", " ")
			for _, field := range tt.has {
				if !strings.Contains(head, field) {
					t.Errorf("there is no %s:\n%s", field, head)
				}
			}
			for _, field := range tt.lacks {
				if strings.Contains(head, "\r\n"+field) {
					t.Errorf("there is %s:\n%s", field, head)
				}
			}
		})
	}
}

func TestAMessageThatCannotBeRenderedFails(t *testing.T) {
	t.Parallel()
	j := sampleJob(t)
	c := j.content.Content
	c.HTML = `{% for i in (1..100000) %}{% for k in (1..100000) %}x{% endfor %}{% endfor %}`
	var err error
	if j.content, err = content.Compile(c); err != nil {
		t.Fatal(err)
	}
	_, err = newBuilder(sampleEngine(t, j.item.QueuedAt)).build(j)
	if err == nil {
		t.Fatal("a message with an endless loop was built")
	}
	if r := failedResult(j.item, err.Error(), j.item.QueuedAt); r.State != outbox.Failed || !bytes.HasPrefix([]byte(r.Error), []byte("render_error")) {
		t.Errorf("result = %s %q, want failed, render_error", r.State, r.Error)
	}
}
