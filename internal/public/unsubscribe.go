package public

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/track"
)

// unsubscribePage shows a button and changes nothing, since scanners follow every link of a mail (RFC 8058).
func (p *Recipient) unsubscribePage(w http.ResponseWriter, r *http.Request) {
	p.showUnsubscribe(w, r, track.Unsubscribe)
}

// preferencesPage is the unsubscribe page until there are preferences to show.
func (p *Recipient) preferencesPage(w http.ResponseWriter, r *http.Request) {
	p.showUnsubscribe(w, r, track.Preferences)
}

func (p *Recipient) showUnsubscribe(w http.ResponseWriter, r *http.Request, kind track.Kind) {
	_, m, err := p.find(r, kind, r.PathValue("token"))
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	if kind == track.Preferences && p.Now().Sub(m.QueuedAt) > preferencesLast {
		p.refuse(w, r, track.ErrBadToken)
		return
	}
	what, err := p.unsubscribeScope(r.Context(), m)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	s, err := p.Keys.Signer(m.Tenant, m.ID)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	page(w, r, http.StatusOK, "Unsubscribe", "Stop sending "+what+" to "+masked(m.Email)+"?", &form{
		Action: "/_q/u/" + string(s.Append(nil, track.Unsubscribe, 0, "")),
		Button: "Unsubscribe",
	})
}

// unsubscribeScope describes what the recipient unsubscribes from.
func (p *Recipient) unsubscribeScope(ctx context.Context, m outbox.Record) (string, error) {
	_, s, err := p.currentContent(ctx, m)
	if err != nil {
		return "", err
	}
	l, name := s.UnsubscribeScope(), s.Type.DisplayName
	if l.Everything {
		return "all mail from " + s.Tenant.Name, nil
	}
	if !l.Category.IsZero() { // it includes the other types of the category
		c, err := sender.CategoryByID(ctx, p.DB, m.Tenant, l.Category)
		if err != nil && !errors.Is(err, sender.ErrCategoryNotFound) {
			return "", err
		}
		if err == nil {
			name = c.Name
		}
	}
	return "“" + name + "” from " + s.Tenant.Name, nil
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
	if err := p.unsubscribeContact(r.Context(), m); err != nil {
		p.refuse(w, r, err)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if r.PostFormValue("from") != "page" {
		w.WriteHeader(http.StatusOK)
		return
	}
	p.provePerson(r.Context(), m)
	page(w, r, http.StatusOK, "Unsubscribed", "You will not get this mail any more.", nil)
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

func (p *Recipient) unsubscribeContact(ctx context.Context, m outbox.Record) error {
	_, s, err := p.currentContent(ctx, m)
	if err != nil {
		return err
	}
	return track.RecordUnsubscribe(ctx, p.DB, m, s.UnsubscribeScope(), p.Now())
}

// masked shows enough of an address for its owner to recognize it.
func masked(email string) string {
	local, domain, ok := strings.Cut(email, "@")
	if !ok || local == "" {
		return "this address"
	}
	_, size := utf8.DecodeRuneInString(local)
	return local[:size] + "•••@" + domain
}
