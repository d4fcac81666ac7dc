package public

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
)

// pixelGIF is a transparent image of one pixel.
var pixelGIF = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff\x21\xf9\x04\x01\x00\x00\x00\x00\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b")

// open serves the open pixel. It always returns the image, so that no mail program shows a broken one. Only
// valid tokens are counted.
func (p *Recipient) open(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "image/gif")
	h.Set("Cache-Control", "no-store, no-cache, must-revalidate, private, max-age=0")
	h.Set("Pragma", "no-cache")
	h.Set("Expires", "0")
	if !readOnly(w, r) {
		return
	}
	if token, ok := strings.CutSuffix(r.PathValue("token"), ".gif"); ok {
		if t, err := p.verify(track.OpenPixel, token); err == nil {
			p.record(r.Context(), p.hit(r, t))
		}
	}
	_, _ = w.Write(pixelGIF)
}

// click redirects a tracked link to its target, which comes from the database or from the signed token.
func (p *Recipient) click(w http.ResponseWriter, r *http.Request) {
	if !readOnly(w, r) {
		return
	}
	t, err := p.verify(track.ClickLink, r.PathValue("token"))
	if errors.Is(err, errPreview) {
		p.previewed(w, r, t)
		return
	}
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	if t.Link == track.HoneypotLink && t.Target == "" {
		p.honeypot(w, r, t)
		return
	}
	authored, target, s, err := p.target(r.Context(), t)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	hit := p.hit(r, t)
	hit.Click, hit.Link, hit.URL = true, t.Link, authored
	p.record(r.Context(), hit)
	redirect(w, p.bind(target, s, hit))
}

// bind adds to the target of a click the token by which the tenant's website reports that its visitor made
// this click, if the website is on one of the tenant's tracked domains.
func (p *Recipient) bind(target string, s *render.Sender, click track.Hit) string {
	u, err := url.Parse(target)
	if err != nil || click.Method != http.MethodGet || click.Prefetch || !s.Tenant.Settings.Tracks(u) {
		return target
	}
	token, err := p.Keys.BindingToken(click)
	if err != nil {
		p.Log.Error("sign a visitor's click failed", "tenant", click.Tenant, "err", err)
		return target
	}
	return links.AddParameter(target, visitor.BindingParameter, token)
}

// honeypot answers a request for the invisible link, which only programs follow: with a redirect to the
// tenant's website, as another link might, or a page.
func (p *Recipient) honeypot(w http.ResponseWriter, r *http.Request, t track.Token) {
	from, err := p.origin(r.Context(), t)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	_, s, err := p.loadContent(r.Context(), t.Tenant, from, p.Senders.Past)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	hit := p.hit(r, t)
	hit.Click, hit.Honeypot, hit.Link = true, true, t.Link
	p.record(r.Context(), hit)
	if site := s.Tenant.Settings.WebsiteURL; site != nil && links.CheckTarget(*site) == nil {
		redirect(w, *site)
		return
	}
	personOf(r, &s.Tenant).show(w, r, http.StatusOK, pageView{Title: s.Tenant.Name, Text: "There is nothing to see here."})
}

// previewed redirects a link of a test mail, and records nothing.
func (p *Recipient) previewed(w http.ResponseWriter, r *http.Request, t track.Token) {
	account, err := tenant.ByID(r.Context(), p.DB, t.Tenant)
	if err == nil && account.Status == tenant.Deleted {
		err = tenant.ErrNotFound
	}
	if err == nil && links.CheckTarget(t.Target) != nil {
		err = track.ErrBadToken
	}
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	redirect(w, t.Target)
}

func redirect(w http.ResponseWriter, target string) {
	h := w.Header()
	h.Set("Location", links.Location(target))
	h.Set("Cache-Control", "no-store, private")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	w.WriteHeader(http.StatusFound)
}

// target returns the link as the author wrote it, its target for this recipient, and the mail's sender.
func (p *Recipient) target(ctx context.Context, t track.Token) (authored, target string, s *render.Sender, err error) {
	from, err := p.origin(ctx, t)
	if err != nil {
		return "", "", nil, err
	}
	c, s, err := p.loadContent(ctx, t.Tenant, from, p.Senders.Past)
	if err != nil {
		return "", "", nil, err
	}
	if t.Link >= len(c.Links) {
		return "", "", nil, track.ErrBadToken
	}
	link := c.Links[t.Link]
	target = t.Target // rendered for this recipient when the mail was built, with UTM parameters
	if !link.Dynamic {
		target = s.WithUTM(c.Context, link.URL)
	}
	if links.CheckTarget(target) != nil {
		return "", "", nil, track.ErrBadToken
	}
	return link.URL, target, s, nil
}

// readOnly allows GET, HEAD and OPTIONS; for other methods it writes 405.
func readOnly(w http.ResponseWriter, r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	w.Header().Set("Allow", "GET, HEAD, OPTIONS")
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	return false
}
