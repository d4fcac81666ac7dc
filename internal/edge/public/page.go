package public

import (
	"cmp"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/language"
)

//go:embed page.html texts/*.json
var pageFiles embed.FS

var (
	pageTemplate = template.Must(template.ParseFS(pageFiles, "page.html"))
	pageTexts    = language.MustLoad(pageFiles, "texts")
)

// pageView is the data of a page.
type pageView struct {
	Title, Text string
	Messages    []string // above the text, such as that something was saved
	Form        *form
	Choices     *choicesForm
	Links       []link

	Lang  string
	Brand *brand
}

// form is the one button of a page.
type form struct{ Action, Button string }

type link struct{ To, Text string }

// brand is the look of a tenant's pages. Its postal address identifies the sender of the mail.
type brand struct{ Name, Logo, Website, Address string }

// How long the tokens of pages are valid; those to unsubscribe do not expire.
const (
	preferencesLast = 2 * 365 * 24 * time.Hour
	viewLast        = 365 * 24 * time.Hour
)

// person is who a page is for: its language, and the tenant whose page it is.
type person struct {
	lang  string
	brand *brand
}

// personOf returns who made a request: its language is that of the browser, or else of the
// tenant. t is nil if no tenant is known.
func personOf(r *http.Request, t *tenant.Tenant) person {
	accept := strings.Join(r.Header.Values("Accept-Language"), ",")
	if t == nil {
		return person{lang: language.Choose(accept, "")}
	}
	b := &brand{Name: t.Name, Address: t.Settings.PostalAddress.String()}
	if u := t.Settings.WebsiteURL; u != nil {
		b.Website = *u
	}
	if path := t.Settings.Brand.LogoPath; path != "" {
		b.Logo = path // every host of ours has it
	} else if u := t.Settings.LogoURL; u != nil && originOfImage(*u) != "" {
		b.Logo = *u
	}
	return person{language.Choose(accept, t.Settings.Locale), b}
}

var imageOrigin = regexp.MustCompile(`^https?://[A-Za-z0-9.-]+(:[0-9]+)?$`)

// originOfImage returns the origin of an address, as a content security policy names it; empty: none.
func originOfImage(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return imageOrigin.FindString(strings.ToLower(u.Scheme) + "://" + u.Host)
}

// text returns a text in the reader's language; values are the names and values of its places.
func (p person) text(key string, values ...string) string {
	return pageTexts.Text(p.lang, key, values...)
}

// page writes a page for the reader, with the texts of two keys.
func (p person) page(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	p.show(w, r, status, pageView{Title: p.text(title), Text: p.text(text)})
}

// show writes a page. It needs no script, and no other site may frame it.
func (p person) show(w http.ResponseWriter, r *http.Request, status int, v pageView) {
	v.Lang, v.Brand = p.lang, p.brand
	images := ""
	if p.brand != nil && p.brand.Logo != "" {
		images = " img-src " + cmp.Or(originOfImage(p.brand.Logo), "'self'") + ";"
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", v.Lang)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none';"+images+" style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	_ = pageTemplate.Execute(w, v)
}
