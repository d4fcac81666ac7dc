package public

import (
	"errors"
	"net/http"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/view/recipient"
)

// view shows the mail as a page, rendered again from the content and the contact's values that were sent. It is tracked like the mail,
// but without the open pixel, since its reader has followed a link.
func (p *Recipient) view(w http.ResponseWriter, r *http.Request) {
	_, m, err := p.find(r, track.View, r.PathValue("token"))
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	if p.Now().Sub(m.QueuedAt) > viewLast {
		p.refuse(w, r, track.ErrBadToken)
		return
	}
	c, s, err := p.currentContent(r.Context(), m)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	if s.Domain.TrackingHost == "" { // the domain was deleted; its old links work on every host
		past := *s
		past.Domain.TrackingHost, s = r.Host, &past
	}
	person, _, err := recipient.AsSent(r.Context(), p.DB, m, c)
	if errors.Is(err, contact.ErrNotFound) {
		err = track.ErrBadToken
	}
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	var events map[outbox.Addressed]journal.Trigger
	to := outbox.Addressed{Contact: m.Contact, Visit: m.Visit}
	if render.ReadsEvent(c) {
		if events, err = sequence.TriggersOf(r.Context(), p.DB, m.Tenant, m.Send, []outbox.Addressed{to}); err != nil {
			p.refuse(w, r, err)
			return
		}
	}
	parts, err := p.Renderer.Writer().Render(r.Context(), render.Mail{
		Tenant: m.Tenant, Message: m.ID, Contact: &person, Event: events[to], Content: c, Sender: s, Now: m.QueuedAt, WithoutPixel: true,
	})
	if err != nil {
		p.refuse(w, r, errors.Join(track.ErrBadToken, err))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("X-Content-Type-Options", "nosniff")
	// The author's HTML may contain styles and images, but must not run anything.
	h.Set("Content-Security-Policy", "sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation; default-src 'none'; img-src http: https: data:; style-src 'unsafe-inline' http: https:; font-src http: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	_, _ = w.Write(parts.HTML)
}
