package public

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/audience/preference"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// unsubscribePage shows a button and changes nothing, since scanners follow every link of a mail (RFC 8058).
// To those who have left already, it says so.
func (p *Recipient) unsubscribePage(w http.ResponseWriter, r *http.Request) {
	_, m, err := p.find(r, track.Unsubscribe, r.PathValue("token"))
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	_, s, err := p.currentContent(r.Context(), m)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	to := personOf(r, &s.Tenant)
	everything := s.UnsubscribeScope().Everything
	c, err := preference.Load(r.Context(), p.DB, m, s.Type)
	if errors.Is(err, preference.ErrGone) || err == nil && c.Left(everything) {
		text := to.text("text_unsubscribed")
		if c.Unsubscribed {
			text = to.text("text_unsubscribed_all", "sender", s.Tenant.Name)
		}
		to.show(w, r, http.StatusOK, pageView{Title: to.text("title_unsubscribed"), Text: text, Links: p.preferencesLink(to, m)})
		return
	}
	var question string
	if err == nil {
		question, err = p.unsubscribeQuestion(r.Context(), to, m, s)
	}
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	to.show(w, r, http.StatusOK, pageView{
		Title: to.text("title_unsubscribe"), Text: question,
		Form:  &form{Action: r.URL.Path, Button: to.text("button_unsubscribe")},
		Links: p.preferencesLink(to, m),
	})
}

// preferencesLink returns the link to the preferences of a message's recipient, while it is valid.
func (p *Recipient) preferencesLink(to person, m outbox.Record) []link {
	s, err := p.Keys.Signer(m.Tenant, m.ID)
	if err != nil || p.Now().Sub(m.QueuedAt) > preferencesLast {
		return nil
	}
	return []link{{"/_q/p/" + string(s.Append(nil, track.Preferences, 0, "")), to.text("link_preferences")}}
}

// unsubscribeQuestion asks the reader whether to unsubscribe, and says from what.
func (p *Recipient) unsubscribeQuestion(ctx context.Context, to person, m outbox.Record, s *render.Sender) (string, error) {
	scope, name := s.UnsubscribeScope(), s.Type.DisplayName
	if scope.Everything {
		return to.text("ask_all", "sender", s.Tenant.Name, "address", to.masked(m.Email)), nil
	}
	if !scope.Category.IsZero() { // it includes the other types of the category
		c, err := sender.CategoryByID(ctx, p.DB, m.Tenant, scope.Category)
		if err != nil && !errors.Is(err, sender.ErrCategoryNotFound) {
			return "", err
		}
		if err == nil {
			name = c.Name
		}
	}
	return to.text("ask_type", "type", name, "sender", s.Tenant.Name, "address", to.masked(m.Email)), nil
}

// unsubscribe unsubscribes at once, whatever the body is: some mail programs send an empty one. The response
// to a one-click request is empty (RFC 8058 section 3.1); the button of our page leads to a page. It may be
// repeated.
func (p *Recipient) unsubscribe(w http.ResponseWriter, r *http.Request) {
	_, m, err := p.find(r, track.Unsubscribe, r.PathValue("token"))
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	_, s, err := p.currentContent(r.Context(), m)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	byPage := r.PostFormValue("from") == "page"
	to, proof := personOf(r, &s.Tenant), p.proof(r, consent.OneClick)
	if byPage {
		proof = p.proof(r, consent.UnsubscribePage)
		if proof.Wording, err = p.unsubscribeQuestion(r.Context(), to, m, s); err != nil {
			p.refuse(w, r, err)
			return
		}
	}
	if err := track.RecordUnsubscribe(r.Context(), p.DB, m, s.UnsubscribeScope(), proof, p.Now()); err != nil {
		p.refuse(w, r, err)
		return
	}
	if !byPage {
		w.WriteHeader(http.StatusOK)
		return
	}
	p.provePerson(r.Context(), m)
	to.show(w, r, http.StatusOK, pageView{Title: to.text("title_unsubscribed"), Text: to.text("text_unsubscribed"), Links: p.preferencesLink(to, m)})
}

// provePerson stores that a person used the mail, whose hits are then classified again.
func (p *Recipient) provePerson(ctx context.Context, m outbox.Record) {
	err := p.DB.InTx(ctx, func(tx *sqldb.DB) error {
		return track.AddProof(ctx, tx, m.Tenant, m.Send, m.ID, track.ProofUnsubscribe, p.Now())
	})
	if err != nil { // the recipient is unsubscribed all the same
		p.Log.Error("store proof failed", "tenant", m.Tenant, "message", m.ID, "err", err)
	}
}

// masked shows enough of an address for its owner to recognize it.
func (p person) masked(email string) string {
	local, domain, ok := strings.Cut(email, "@")
	if !ok || local == "" {
		return p.text("this_address")
	}
	_, size := utf8.DecodeRuneInString(local)
	return local[:size] + "•••@" + domain
}
