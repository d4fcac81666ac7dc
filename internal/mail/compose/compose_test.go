package compose_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"flag"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/mail/compose"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var noon = time.Date(2026, 11, 2, 13, 0, 0, 0, time.FixedZone("", 3600))

// sample is a message with every header.
func sample() *compose.Message {
	return &compose.Message{
		Date:               noon,
		From:               compose.Mailbox{Name: "Ann Lee", Address: "ann@news.example.org"},
		ReplyTo:            "help@example.org",
		To:                 "bob@example.com",
		Subject:            "Spring news",
		MessageID:          "0193-abc.k3j4h5k6j7@bounce.example.org",
		UnsubscribeURL:     "https://t.example.org/_q/u/abcdefghijklmnopqrstuvwxyz0123456789abcdefghijkl",
		UnsubscribeAddress: "u.abcdefghijklmnopqrstuvwxyz0123456789@bounce.example.org",
		ListID:             compose.ListID{Name: `Ann's "best" news`, ID: "news.acme.news.example.org"},
		FeedbackID:         "9abcdef0:l-news:acme:packetboat",
		EntityRef:          "0193-abc",
		Precedence:         "bulk",
		AutoSubmitted:      "auto-generated",
		NoAutoReplies:      true,
		Text:               []byte("Hello Bob,\n\nthis is it: 1+1=2.\n"),
		HTML:               []byte("<!doctype html>\n<p class=\"a\">Hällo Bob,</p>\n<p>this is it.</p>"),
	}
}

func build(t testing.TB, m *compose.Message) string {
	t.Helper()
	var b compose.Builder
	raw, err := b.Build(nil, m)
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	return string(raw)
}

// header returns the value of a header, folded as it was written.
func header(t testing.TB, m *compose.Message, name string) string {
	t.Helper()
	raw := build(t, m)
	at := strings.Index("\r\n"+raw, "\r\n"+name+": ")
	if at < 0 {
		return ""
	}
	rest := raw[at+len(name)+2:]
	for i := 0; ; {
		n := strings.Index(rest[i:], "\r\n")
		i += n
		if rest[i+2] != ' ' {
			return rest[:i]
		}
		i += 2
	}
}

func TestGoldenMessages(t *testing.T) {
	t.Parallel()
	bare := &compose.Message{
		Date: noon, From: compose.Mailbox{Address: "ann@example.org"}, To: "bob@example.com",
		Subject: "Hi", MessageID: "<1.2@example.org>", Text: []byte("Hi\r\n"),
	}
	cyrillic := sample()
	cyrillic.From.Name = "Новости"
	cyrillic.Subject = "Весенние новости: всё, что вы пропустили за эту долгую зиму и ещё немного больше"
	cyrillic.ListID.Name = "Новости"
	cyrillic.Text = []byte(strings.Repeat("Привет, Боб!\n", 8))
	cyrillic.HTML = []byte("<p>Hello</p>")
	for name, m := range map[string]*compose.Message{"full": sample(), "bare": bare, "cyrillic": cyrillic} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := build(t, m)
			file := filepath.Join("testdata", name+".eml")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("message\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestOthersReadWhatWeWrite(t *testing.T) {
	t.Parallel()
	m := sample()
	m.From.Name = "Änn, „Lee“"
	m.Subject = "Überraschung: 50 % auf alles — nur heute, nur für dich 🎉"
	m.Text = []byte(".dot\nFrom here\ntrailing \nÄ=\n")
	m.HTML = bytes.Repeat([]byte("日本語のニュース "), 50)
	raw := build(t, m)

	msg, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	from, err := msg.Header.AddressList("From")
	if err != nil || len(from) != 1 || from[0].Name != m.From.Name || from[0].Address != m.From.Address {
		t.Errorf("From = %v, %v", from, err)
	}
	if date, err := msg.Header.Date(); err != nil || !date.Equal(noon) {
		t.Errorf("Date = %v, %v", date, err)
	}
	if subject, err := new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject")); err != nil || subject != m.Subject {
		t.Errorf("Subject = %q, %v", subject, err)
	}
	kind, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("Content-Type = %q, %v", kind, err)
	}
	parts := multipart.NewReader(msg.Body, params["boundary"])
	for _, want := range []struct {
		kind, encoding string
		decoder        func(io.Reader) io.Reader
		text           string
	}{
		{"text/plain; charset=utf-8", "quoted-printable", func(r io.Reader) io.Reader { return quotedprintable.NewReader(r) }, string(m.Text)},
		{"text/html; charset=utf-8", "base64", func(r io.Reader) io.Reader { return base64.NewDecoder(base64.StdEncoding, r) }, string(m.HTML)},
	} {
		p, err := parts.NextRawPart()
		if err != nil || p.Header.Get("Content-Type") != want.kind || p.Header.Get("Content-Transfer-Encoding") != want.encoding {
			t.Fatalf("part %v, %v; want %v", p, err, want.kind)
		}
		text, err := io.ReadAll(want.decoder(p))
		if got := strings.ReplaceAll(string(text), "\r\n", "\n"); err != nil || strings.TrimRight(got, "\n") != strings.TrimRight(want.text, "\n") {
			t.Errorf("%s is %q, %v; want %q", want.kind, got, err, want.text)
		}
	}
	if _, err := parts.NextRawPart(); err != io.EOF {
		t.Errorf("after the parts: %v", err)
	}
}

func TestDisplayNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"none", "", "ann@news.example.org"},
		{"atoms", "Ann O'Lee & Co", "Ann O'Lee & Co <ann@news.example.org>"},
		{"specials", `Lee, Ann`, `"Lee, Ann" <ann@news.example.org>`},
		{"every special", `()<>[]:;\,."`, `"()<>[]:;\\,.\"" <ann@news.example.org>`},
		{"outer spaces", "  Ann ", "Ann <ann@news.example.org>"},
		{"not ASCII", "Ännchen", "=?utf-8?Q?=C3=84nnchen?= <ann@news.example.org>"},
		{"base64 is shorter", "Новости", "=?utf-8?B?0J3QvtCy0L7RgdGC0Lg=?= <ann@news.example.org>"},
		{"looks encoded", "=?utf-8?Q?x?=", "=?utf-8?B?PT91dGYtOD9RP3g/PQ==?= <ann@news.example.org>"},
		{"injection", "Ann\r\nBcc: eve@example.net", `"Ann Bcc:" <ann@news.example.org>`},
		{"line separators", "A\u2028B\u2029C\u0085D\vE", "A B C D E <ann@news.example.org>"},
		{"NUL", "A\x00B", "A B <ann@news.example.org>"},
		{"bad UTF-8", "A\xffB", "=?utf-8?B?Qe+/vUI=?= <ann@news.example.org>"},
		{"foreign address", "security@bank.example Team", "Team <ann@news.example.org>"},
		{"own address", "ann@news.example.org", `"ann@news.example.org" <ann@news.example.org>`},
		{"at sign alone", "Ann @ Home", `"Ann @ Home" <ann@news.example.org>`},
		{"long", strings.Repeat("word ", 20), "word word word word word word word word word word word word word word\r\n word word word word word word <ann@news.example.org>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := sample()
			m.From.Name = tt.in
			if got := header(t, m, "From"); got != tt.want {
				t.Errorf("From of %q\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "Spring news", "Spring news"},
		{"empty", "", ""},
		{"punctuation stays", `"50%" <off>, a@b: (yes)`, `"50%" <off>, a@b: (yes)`},
		{"line break", "a\r\nBcc: x@example.net\r\n\r\nbody", "a Bcc: x@example.net body"},
		{"tab and spaces", "a \t b  c", "a b  c"},
		{"folds at a space", strings.Repeat("word ", 14) + "words", strings.Repeat("word ", 13) + "word\r\n words"},
		{"one long word", strings.Repeat("x", 80), "=?utf-8?Q?" + strings.Repeat("x", 55) + "?=\r\n =?utf-8?Q?" + strings.Repeat("x", 25) + "?="},
		{"whole characters", strings.Repeat("ä", 12) + "aaaa", "=?utf-8?B?w6TDpMOkw6TDpMOkw6TDpMOkw6TDpMOkYWFhYQ==?="},
		{"byte order mark", "\ufeffSpring news", "Spring news"},
		{"byte order marks", " \ufeff Sp\ufeffring\r\n\ufeff news\ufeff", "Spring news"},
		{"byte order mark alone", "\ufeff", ""},
		{"emoji", "Sale 🎉", "=?utf-8?B?U2FsZSDwn46J?="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := sample()
			m.Subject = tt.in
			if got := header(t, m, "Subject"); got != tt.want {
				t.Errorf("Subject of %q\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestSubjectTooLong(t *testing.T) {
	t.Parallel()
	var b compose.Builder
	m := sample()
	m.Subject = strings.Repeat("x", 999)
	if raw, err := b.Build([]byte("kept"), m); !errors.Is(err, compose.ErrSubjectTooLong) || string(raw) != "kept" {
		t.Errorf("Build = %q, %v", raw, err)
	}
	m.Subject = m.Subject[1:]
	if _, err := b.Build(nil, m); err != nil {
		t.Errorf("998 bytes: %v", err)
	}
}

func TestWrongIdentifiersAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*compose.Message){
		"no date":                 func(m *compose.Message) { m.Date = time.Time{} },
		"no from":                 func(m *compose.Message) { m.From.Address = "" },
		"from with break":         func(m *compose.Message) { m.From.Address = "a@x.org\r\nBcc: b@x.org" },
		"two from":                func(m *compose.Message) { m.From.Address = "a@x.org,b@x.org" },
		"no to":                   func(m *compose.Message) { m.To = "" },
		"to with brackets":        func(m *compose.Message) { m.To = "<b@x.org>" },
		"to not ASCII":            func(m *compose.Message) { m.To = "ä@x.org" },
		"reply-to":                func(m *compose.Message) { m.ReplyTo = "b@x.org c@x.org" },
		"no message id":           func(m *compose.Message) { m.MessageID = "" },
		"message id":              func(m *compose.Message) { m.MessageID = "<a b@x.org>" },
		"message id with break":   func(m *compose.Message) { m.MessageID = "a@x.org>\r\nX: y" },
		"long message id":         func(m *compose.Message) { m.MessageID = strings.Repeat("a", 250) + "@x.org" },
		"unsubscribe scheme":      func(m *compose.Message) { m.UnsubscribeURL = "javascript:1" },
		"unsubscribe with break":  func(m *compose.Message) { m.UnsubscribeURL = "https://x.org/\r\nX: y" },
		"unsubscribe two":         func(m *compose.Message) { m.UnsubscribeURL = "https://x.org/>,<https://y.org/" },
		"unsubscribe long":        func(m *compose.Message) { m.UnsubscribeURL = "https://x.org/" + strings.Repeat("a", 1000) },
		"unsubscribe address":     func(m *compose.Message) { m.UnsubscribeAddress = "u@x.org?subject=a" },
		"list id":                 func(m *compose.Message) { m.ListID.ID = "a b" },
		"list id dots":            func(m *compose.Message) { m.ListID.ID = "a..b" },
		"feedback id with break":  func(m *compose.Message) { m.FeedbackID = "a:b\r\nX: y" },
		"feedback id with spaces": func(m *compose.Message) { m.FeedbackID = "a b" },
		"precedence":              func(m *compose.Message) { m.Precedence = "bulk\r\n" },
		"entity":                  func(m *compose.Message) { m.EntityRef = "ä" },
	} {
		var b compose.Builder
		m := sample()
		change(m)
		if raw, err := b.Build([]byte("kept"), m); err == nil || string(raw) != "kept" {
			t.Errorf("%s: Build = %q, %v; want an error", name, raw, err)
		}
	}
}

func TestOneClickNeedsAURL(t *testing.T) {
	t.Parallel()
	m := sample()
	m.UnsubscribeURL = ""
	if got := header(t, m, "List-Unsubscribe-Post"); got != "" {
		t.Errorf("List-Unsubscribe-Post = %q without a URL", got)
	}
	if got, want := header(t, m, "List-Unsubscribe"), "<mailto:"+m.UnsubscribeAddress+">"; got != want {
		t.Errorf("List-Unsubscribe = %q; want %q", got, want)
	}
	m = sample()
	m.UnsubscribeURL, m.UnsubscribeAddress = "http://127.0.0.1:8080/_q/u/a", ""
	if got, want := header(t, m, "List-Unsubscribe"), "<http://127.0.0.1:8080/_q/u/a>"; got != want {
		t.Errorf("List-Unsubscribe = %q; want %q", got, want)
	}
	m.UnsubscribeURL = ""
	if raw := build(t, m); strings.Contains(raw, "List-Unsubscribe") {
		t.Errorf("message without unsubscribing has\n%s", raw)
	}
}

func TestNoPartIsEmpty(t *testing.T) {
	t.Parallel()
	m := sample()
	m.Text = []byte(" \n")
	if raw := build(t, m); !strings.Contains(raw, "quoted-printable\r\n\r\nSpring news\r\n--") {
		t.Errorf("blank text became\n%s", raw)
	}
	m = sample()
	m.HTML = nil
	if raw := build(t, m); strings.Contains(raw, "multipart") || strings.Contains(raw, "text/html") {
		t.Errorf("message without HTML became\n%s", raw)
	}
	m.Subject, m.Text = "", nil
	if raw := build(t, m); !strings.HasSuffix(raw, "\r\n\r\n\r\n") {
		t.Errorf("empty message became\n%q", raw)
	}
}

func TestBuildingAgainGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	var b compose.Builder
	first, err := b.Build(nil, sample())
	if err != nil {
		t.Fatal(err)
	}
	other := sample()
	other.MessageID, other.From.Name = "other@example.org", "Ünother"
	if _, err := b.Build(nil, other); err != nil {
		t.Fatal(err)
	}
	again, err := b.Build([]byte("kept"), sample())
	if err != nil || string(again) != "kept"+string(first) {
		t.Errorf("Build again = %q, %v; want %q", again, err, first)
	}
}

// Whatever a message says, it has these headers once and no others.
func FuzzBuild(f *testing.F) {
	f.Add("Ann", "Hi", "text", "<p>html</p>", "https://x.org/_q/u/a", "List")
	f.Add("A\r\nBcc: x", "S\r\n\r\nbody", ".\r\n.\r\n", "\x00\x85\u2028", "https://x.org/\r\nX: y", "\"")
	f.Add(strings.Repeat("ä ", 200), strings.Repeat("日", 300), strings.Repeat("=", 99), "From \r.\n", "", "=?x?=")
	f.Fuzz(func(t *testing.T, name, subject, text, html, url, list string) {
		m := sample()
		m.From.Name, m.Subject, m.Text, m.HTML = name, subject, []byte(text), []byte(html)
		m.UnsubscribeURL, m.ListID.Name = url, list
		var b compose.Builder
		raw, err := b.Build(nil, m)
		if err != nil {
			return
		}
		if err := compose.WireReady(raw); err != nil {
			t.Fatalf("not ready: %v", err)
		}
		head, _, _ := strings.Cut(string(raw), "\r\n\r\n")
		for line := range strings.SplitSeq(head, "\r\n") {
			if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "  ") {
				t.Errorf("header line %q", line)
			}
			if len(line) > 78 && strings.Contains(line, "=?utf-8?") {
				t.Errorf("header line of %d: %q", len(line), line)
			}
		}
		msg, err := mail.ReadMessage(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		for name, values := range msg.Header {
			if len(values) != 1 {
				t.Errorf("%d %s headers", len(values), name)
			}
			if !strings.Contains(" Date From Reply-To To Subject Message-Id List-Unsubscribe List-Unsubscribe-Post List-Id Feedback-Id Precedence Auto-Submitted X-Entity-Ref-Id X-Auto-Response-Suppress Mime-Version Content-Type Content-Transfer-Encoding ", " "+name+" ") {
				t.Errorf("header %q", name)
			}
		}
		if from, err := msg.Header.AddressList("From"); err != nil || len(from) != 1 || from[0].Address != m.From.Address {
			t.Errorf("From = %v, %v", from, err)
		}
	})
}

// What the encoders write decodes to the text with its line ends and
// characters made good.
func FuzzBody(f *testing.F) {
	for _, s := range []string{"", "a", "a \n b\t\r\n", ".\n..\nFrom x\n", strings.Repeat("x", 200), strings.Repeat("ä", 100), "\xff\x00\r\r\n", strings.Repeat("a ", 40), strings.Repeat("a", 75) + " \nb", strings.Repeat("a", 75) + ".b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := canonical(s)
		quoted, body := compose.EncodeBody([]byte(s))
		if err := compose.WireReady(body); err != nil {
			t.Fatalf("not ready: %v", err)
		}
		for line := range bytes.SplitSeq(body, []byte("\r\n")) {
			if len(line) > 76 || quoted && (bytes.HasPrefix(line, []byte(".")) || bytes.HasPrefix(line, []byte("From ")) || bytes.HasSuffix(line, []byte(" ")) || bytes.HasSuffix(line, []byte("\t"))) {
				t.Errorf("line %q", line)
			}
		}
		var got []byte
		var err error
		if quoted {
			got, err = io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
		} else {
			got, err = io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(body)))
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSuffix(string(got), "\r\n") != strings.TrimSuffix(want, "\r\n") {
			t.Errorf("decoded %q; want %q", got, want)
		}
	})
}

// canonical does slowly what the encoders do on the way.
func canonical(s string) string {
	s = string([]rune(strings.TrimPrefix(s, "\ufeff")))
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.ReplaceAll(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, s), "\n", "\r\n")
}

func BenchmarkBuild(b *testing.B) {
	m := sample()
	m.HTML = []byte(strings.Repeat(`<tr><td style="padding:10px 25px;word-break:break-word;"><a href="https://t.example.org/_q/c/abc" target="_blank">Read on, it is fün</a></td></tr>`+"\n", 70))
	m.Text = []byte(strings.Repeat("Read on, it is fun (https://www.example.org/story)\n", 30))
	b.Logf("HTML of %d bytes, text of %d", len(m.HTML), len(m.Text))
	var builder compose.Builder
	var raw []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if raw, err = builder.Build(raw[:0], m); err != nil {
			b.Fatal(err)
		}
	}
}
