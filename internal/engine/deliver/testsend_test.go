package deliver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"mime"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	verifier "github.com/emersion/go-msgauth/dkim"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/engine/deliver"
	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func (h *house) tester() *deliver.Tester {
	box := broadcasttest.Box(h.t)
	keys := track.NewKeys(box)
	return &deliver.Tester{
		DB: h.DB, Box: box, Now: h.now, AllowPrivate: true, Keys: keys, FeedbackSender: "packetboat", Log: slog.New(slog.DiscardHandler),
		Senders: &render.Senders{DB: h.DB, Now: h.now}, Signers: &deliver.Signers{DB: h.DB, Box: box},
		Renderer: &render.Renderer{Keys: keys, BaseURL: &url.URL{Scheme: "https", Host: "packetboat.example"}},
	}
}

// twoVariants are two variants; the name of the second would break a header.
func twoVariants(ch *broadcast.Change) {
	ch.Lane = nil
	ch.Content.Parts[draft.BodyHTML] = new(`<p>Hi {{ first_name | default: "there" }} <a href="https://example.org/a?x=1">A</a> <a href="https://example.org/{{ email }}">B</a></p>`)
	ch.Variants = &[]broadcast.Variant{
		{ID: "a", Name: "Short", Weight: 1, Overrides: map[draft.Field]string{draft.Subject: "Grüße"}},
		{ID: "b", Name: "Long\r\nBcc: x@example.com", Weight: 1, Overrides: map[draft.Field]string{draft.Subject: strings.Repeat("long ", 199)}},
	}
}

// rows counts the rows of every table except those that a test may change.
func rows(t *testing.T, db *sqldb.DB) map[string]int {
	t.Helper()
	query := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%search%'`
	if db.Dialect() == sqldb.Postgres {
		query = `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`
	}
	found, err := db.Query(t.Context(), query)
	tables, err := sqldb.Collect(found, err, func(scan func(...any) error) (name string, err error) { return name, scan(&name) })
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, name := range tables {
		if name == "identity_lane" {
			continue
		}
		var n int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM "`+name+`"`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		counts[name] = n
	}
	return counts
}

func TestATestSendIsRealMailAndWritesNoRows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		h.pass(time.Since(h.now())) // the verifier uses the system clock
		h.AddIdentity("extra")
		s := sink.Start(t, sink.Options{Keep: true, Rules: []sink.Rule{{Stage: sink.Rcpt, To: `^no@`, Reply: "550 5.1.1 no such user"}}})
		h.relay(s.Port())
		lane := h.Lane.ID
		b := h.Create(twoVariants, func(ch *broadcast.Change) { ch.Lane = &lane })
		_, err := suppression.Add(t.Context(), db, h.Tenant, "gone@example.com", "manual", h.now())
		h.must(err)
		before := rows(t, db)
		test, err := broadcast.PrepareTest(t.Context(), db, h.Tenant, b.ID, broadcast.TestRequest{
			To: []string{"Ann@Example.com", "no@example.com", "gone@example.com", "ann@example.com"},
		})
		h.must(err)
		tester := h.tester()
		results, err := broadcast.SendTest(t.Context(), db, test, tester, h.now())
		h.must(err)
		if after := rows(t, db); !maps.Equal(before, after) {
			t.Errorf("rows before: %v\nrows after: %v", before, after)
		}
		byID := map[string]broadcast.TestResult{}
		count := map[string]int{}
		for _, r := range results {
			count[r.To+" "+string(r.Status)]++
			if (r.MessageID == "") != (r.Status == render.TestSuppressed) || (r.Error == "") != (r.Status == render.TestSent) {
				t.Errorf("a result is %+v", r)
			}
			if r.Status == render.TestFailed && !strings.Contains(r.Error, "no such user") {
				t.Errorf("the error of a refusal is %q", r.Error)
			}
			byID[r.MessageID] = r
		}
		if want := map[string]int{"ann@example.com sent": 4, "no@example.com failed": 4, "gone@example.com suppressed": 4}; !maps.Equal(count, want) {
			t.Errorf("results: %v, want %v", count, want)
		}
		sent := s.Messages()
		if len(sent) != 4 {
			t.Fatalf("%d mails arrived, want 4", len(sent))
		}
		for _, m := range sent {
			letter, err := mail.ReadMessage(bytes.NewReader(m.Raw))
			h.must(err)
			r, ok := byID[letter.Header.Get("Message-Id")]
			if !ok {
				t.Fatalf("no result has the Message-ID %s", letter.Header.Get("Message-Id"))
			}
			name := map[string]string{"a": "Short", "b": "Long Bcc: x@example.com"}[r.Variant]
			subject, err := new(mime.WordDecoder).DecodeHeader(letter.Header.Get("Subject"))
			h.must(err)
			if prefix := "[TEST " + name + " | " + r.Sender + "] "; !strings.HasPrefix(subject, prefix) || len(subject) <= len(prefix) || len(subject) > compose.MaxSubject {
				t.Errorf("the subject is %q, want one that begins %q", subject, prefix)
			}
			if letter.Header.Get("Bcc") != "" || !strings.Contains(letter.Header.Get("From"), r.Sender) || letter.Header.Get("List-Unsubscribe-Post") == "" ||
				letter.Header.Get("Feedback-Id") == "" || letter.Header.Get("List-Id") == "" {
				t.Errorf("headers: %v", letter.Header)
			}
			found, err := verifier.VerifyWithOptions(bytes.NewReader(m.Raw), &verifier.VerifyOptions{
				LookupTXT: func(string) ([]string, error) { return []string{h.Domain.DKIMRecord}, nil },
			})
			if err != nil || len(found) != 1 || found[0].Err != nil {
				t.Errorf("signatures: %+v, %v", found, err)
			}
			if local, _, _ := strings.Cut(strings.TrimPrefix(m.Mail, "b."), "@"); !isPreview(tester.Keys, local) {
				t.Errorf("the envelope is from %s", m.Mail)
			}
			h.links(tester.Keys, string(m.Raw))
		}
		h.must(func() error {
			h.Identity, err = sender.IdentityByID(t.Context(), db, h.Tenant, h.Identity.ID)
			return err
		}())
		if !slices.Contains(h.Identity.VerifiedLanes, lane) {
			t.Error("a lane that sent a test is not healthy")
		}
	})
}

func isPreview(k *track.Keys, token string) bool {
	_, _, err := k.VerifyReturnPath(token)
	return errors.Is(err, track.ErrPreview)
}

var ours = regexp.MustCompile(`https://[^/"\s]+/_q/([a-z])/([A-Za-z0-9_-]+)`)

// links checks that every link of ours in a mail is a link of a test.
func (h *house) links(k *track.Keys, raw string) {
	h.t.Helper()
	raw = strings.ReplaceAll(strings.ReplaceAll(raw, "=\r\n", ""), "=3D", "=")
	targets := map[string]bool{}
	kinds := map[string]bool{}
	for _, m := range ours.FindAllStringSubmatch(raw, -1) {
		token, err := k.Verify(track.Kind(m[1][0]), m[2])
		if err != nil || !token.Preview {
			h.t.Errorf("the link %s is %+v, %v", m[0], token, err)
		}
		kinds[m[1]] = true
		if m[1] == "c" {
			targets[strings.SplitN(token.Target, "?", 2)[0]] = true
		}
	}
	if !maps.Equal(kinds, map[string]bool{"c": true, "o": true, "u": true, "p": true}) ||
		!maps.Equal(targets, map[string]bool{"https://example.org/a": true, "https://example.org/ann@example.com": true}) {
		h.t.Errorf("links of kinds %v to %v in\n%s", kinds, targets, raw)
	}
}

func TestATestSendEndsInTime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, says string
		rule       sink.Rule
	}{
		{"silent", "in time", sink.Rule{Stage: sink.Dot, Delay: time.Hour}},
		{"not let in", "go away", sink.Rule{Stage: sink.Connect, Reply: "554 5.7.1 go away", Drop: true}},
		{"cut once", "", sink.Rule{Stage: sink.Mail, Skip: 1, Times: 1, Drop: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, dbtest.One(t))
			s := sink.Start(t, sink.Options{Rules: []sink.Rule{test.rule}})
			h.relay(s.Port())
			b := h.Create(func(ch *broadcast.Change) { ch.Lane = &h.Lane.ID })
			prepared, err := broadcast.PrepareTest(t.Context(), h.DB, h.Tenant, b.ID, broadcast.TestRequest{To: []string{"a@example.com", "b@example.com", "c@example.com"}})
			h.must(err)
			within := maxWaitInMemory
			if test.name == "silent" {
				within = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			results, err := broadcast.SendTest(ctx, h.DB, prepared, h.tester(), h.now())
			h.must(err)
			for _, r := range results {
				switch {
				case test.says == "" && r.Status != render.TestSent, test.says != "" && r.Status != render.TestFailed:
					t.Errorf("result: %+v", r)
				case r.MessageID != "" && !strings.Contains(r.Error, test.says):
					t.Errorf("the error is %q", r.Error)
				}
			}
			if len(results) != 3 {
				t.Errorf("results: %s", fmt.Sprint(results))
			}
		})
	}
}
