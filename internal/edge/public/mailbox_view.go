package public

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/mailbox"
)

//go:embed mailbox
var mailboxFiles embed.FS

var mailboxTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"subject": func(m mailbox.Message) string {
		if m.Subject == "" {
			return noSubject
		}
		return m.Subject
	},
	"stamp":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"moment":  func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") },
	"size":    sizeOf,
	"current": func(a, b any) bool { return a == b },
}).ParseFS(mailboxFiles, "mailbox/*.html"))

const noSubject = "(no subject)"

// pageFrame is the data that every page has. Root is the relative path to the list, so that links work
// behind any proxy.
type pageFrame struct{ Title, Root string }

// frameOf returns the frame of the page at r's path.
func frameOf(r *http.Request, title string) pageFrame {
	depth := strings.Count(strings.TrimPrefix(r.URL.Path, "/mailbox/"), "/")
	return pageFrame{title, strings.Repeat("../", depth) + strings.Repeat("./", max(1-depth, 0))}
}

type signInView struct {
	pageFrame
	Email, Problem string
}

type listView struct {
	pageFrame
	SignedIn bool
	Tenants  []auth.Membership
	Tenant   auth.Membership // the one whose mail is shown; zero: the reader has none
	Groups   []mailGroup     // the sends with mail in the mailbox, newest first
	Group    *mailGroup      // the one whose mail is shown; nil: all
	Total    int             // messages in the mailbox, or of Group
	Unread   int             // of Total
	Search   string
	Mails    []mailbox.Message
	Next     string // link to older mail
	Later    bool   // not the first page
	Still    bool   // the page does not poll for new mail
	Until    int64  // UTC microseconds: mail received later is not on the page
}

// mailGroup is the mail of one send.
type mailGroup struct {
	mailbox.Group
	Source id.Source // empty: it was deleted, or the mails have no send
	Name   string
	Link   string
}

// Key returns the name of the group in links and forms.
func (g mailGroup) Key() string {
	if g.Send.IsZero() {
		return noBroadcast
	}
	if !g.Source.IsZero() {
		return g.Source.String()
	}
	return g.Send.String()
}

// noBroadcast is the key of mail without a broadcast.
const noBroadcast = "none"

// send returns the send whose mail is shown; nil: all.
func (v listView) send() *id.Send {
	if v.Group == nil {
		return nil
	}
	return &v.Group.Send
}

// MayDelete reports whether the reader may delete mail.
func (v listView) MayDelete() bool { return v.Tenant.Role.AtLeast(auth.Admin) }

// All links to the mail of all broadcasts.
func (v listView) All() string { return v.link("broadcast", "") }

// link returns a link to the current list with one parameter changed.
func (v listView) link(name, value string) string {
	q := url.Values{}
	if len(v.Tenants) > 1 {
		q.Set("tenant", v.Tenant.Slug)
	}
	if v.Group != nil {
		q.Set("broadcast", v.Group.Key())
	}
	if v.Search != "" {
		q.Set("search", v.Search)
	}
	if v.Still {
		q.Set("still", "1")
	}
	q.Set(name, value)
	if value == "" {
		q.Del(name)
	}
	return "./?" + q.Encode()
}

// Newest links to the first page.
func (v listView) Newest() string { return v.link("cursor", "") }

// Stop links to the same page without polling.
func (v listView) Stop() string { return v.link("still", "1") }

// Go links to the same page with polling.
func (v listView) Go() string { return v.link("still", "") }

// Live reports whether the page polls for new mail.
func (v listView) Live() bool { return !v.Still && !v.Later }

type messageView struct {
	pageFrame
	Tenant           auth.Membership
	Mail             mailbox.Message
	Part             string // html, text, headers or source
	HasHTML, HasText bool
	MayDelete        bool
	Text             []span
	Headers          [][2]string
	Source           string
}

// span is a piece of text, and its link if it is a web address.
type span struct{ Text, Link string }

var webAddress = regexp.MustCompile(`https?://[^\s<>"]+[^\s<>".,;:!?')\]]`)

// linked finds the web addresses in a text.
func linked(text string) []span {
	var spans []span
	end := 0
	for _, at := range webAddress.FindAllStringIndex(text, -1) {
		spans = append(spans, span{Text: text[end:at[0]]}, span{text[at[0]:at[1]], text[at[0]:at[1]]})
		end = at[1]
	}
	return append(spans, span{Text: text[end:]})
}

// readable returns the bytes of a mail in a form that a page can show.
func readable(raw []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(raw), "\uFFFD"), "\x00", "\uFFFD")
}

//go:embed mailbox/height.js
var heightScript string

// heightScriptHash is the hash of heightScript for a Content-Security-Policy.
var heightScriptHash = func() string {
	sum := sha256.Sum256([]byte(heightScript))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}()

// framed returns the HTML of a mail for the frame: links open in new tabs, and a script reports the height.
func framed(mail string) string {
	return afterDoctype(mail, `<base target="_blank"><script>`+heightScript+`</script>`)
}

// afterDoctype inserts elements at the start of an HTML document, but after its doctype, without which
// browsers use quirks mode. Browsers use the first of several base elements.
func afterDoctype(document, elements string) string {
	z := html.NewTokenizer(strings.NewReader(document))
	for at := 0; ; {
		switch z.Next() {
		case html.CommentToken, html.TextToken:
			raw := z.Raw()
			at += len(raw)
			if len(bytes.TrimSpace(raw)) == 0 || bytes.HasPrefix(raw, []byte("<!--")) {
				continue
			}
		case html.DoctypeToken:
			at += len(z.Raw())
			return document[:at] + elements + document[at:]
		}
		return elements + document
	}
}

func sizeOf(n int) string {
	if n < 1024 {
		return strconv.Itoa(n) + " B"
	}
	return strconv.FormatFloat(float64(n)/1024, 'f', 1, 64) + " KB"
}

// show writes one of the mailbox's own pages. It loads nothing from other sites and cannot be framed.
func (b *Mailbox) show(w http.ResponseWriter, r *http.Request, status int, name string, view any) {
	var page bytes.Buffer
	if err := mailboxTemplates.ExecuteTemplate(&page, name, view); err != nil {
		b.Log.Error("render mailbox page failed", "page", name, "err", err)
		http.Error(w, "Something went wrong on our side.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "+
		"frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "same-origin")
	common(h)
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(page.Bytes())
	}
}

// common sets the headers that every response of the mailbox has.
func common(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex, nofollow")
}

type wordsView struct {
	pageFrame
	Text string
}

func (b *Mailbox) refuse(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	b.show(w, r, status, "words.html", wordsView{frameOf(r, title), text})
}

func (b *Mailbox) notFound(w http.ResponseWriter, r *http.Request) {
	b.refuse(w, r, http.StatusNotFound, "Not found", "This message is not, or no longer, in the mailbox.")
}

func (b *Mailbox) fail(w http.ResponseWriter, r *http.Request, err error) {
	b.Log.Error("show mailbox failed", "err", err)
	b.refuse(w, r, http.StatusServiceUnavailable, "Please try again", "Something went wrong on our side. Please try again in a minute.")
}

// asset serves one of the page's files.
func asset(name, contentType string) http.HandlerFunc {
	content, err := mailboxFiles.ReadFile("mailbox/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(content)
	}
}
