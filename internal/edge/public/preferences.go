package public

import (
	"errors"
	"net/http"

	"github.com/packetboat/packetboat/internal/audience/preference"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/consent"
)

// choicesForm is the form of the preferences page.
type choicesForm struct {
	Action   string
	Question string
	Items    []preference.Item
	Buttons  []choicesButton
}

type choicesButton struct {
	Action preference.Action
	Text   string
	Second bool
}

// preferencesPage shows what the recipient gets. It changes nothing, since scanners follow every link of
// a mail.
func (p *Recipient) preferencesPage(w http.ResponseWriter, r *http.Request) {
	m, s, err := p.findPreferences(r)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	c, err := preference.Load(r.Context(), p.DB, m, s.Type)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	p.showPreferences(w, r, http.StatusOK, m, s, c)
}

// findPreferences returns the message of a token of preferences, and its sender.
func (p *Recipient) findPreferences(r *http.Request) (outbox.Record, *render.Sender, error) {
	_, m, err := p.find(r, track.Preferences, r.PathValue("token"))
	if err == nil && p.Now().Sub(m.QueuedAt) > preferencesLast {
		err = track.ErrBadToken
	}
	if err != nil {
		return m, nil, err
	}
	_, s, err := p.currentContent(r.Context(), m)
	return m, s, err
}

func (p *Recipient) showPreferences(w http.ResponseWriter, r *http.Request, status int, m outbox.Record, s *render.Sender, c preference.Choices, messages ...string) {
	to := personOf(r, &s.Tenant)
	if c.Unsubscribed {
		messages = append(messages, to.text("text_unsubscribed_all", "sender", s.Tenant.Name))
	}
	if c.Stopped {
		messages = append(messages, to.text("text_stopped"))
	}
	f := &choicesForm{Action: r.URL.Path, Question: to.question(m, s), Items: c.Items}
	if len(c.Items) > 0 {
		f.Buttons = append(f.Buttons, choicesButton{preference.Save, to.text("button_save"), false})
	}
	if of := c.OfMail(); c.Unsubscribed || of != nil && !of.Subscribed {
		f.Buttons = append(f.Buttons, choicesButton{preference.Resubscribe, to.resubscribeButton(of), true})
	}
	if !c.Unsubscribed {
		f.Buttons = append(f.Buttons, choicesButton{preference.UnsubscribeAll, to.text("button_unsubscribe_all"), true})
	}
	to.show(w, r, status, pageView{Title: to.text("title_preferences"), Messages: messages, Choices: f})
}

func (p person) question(m outbox.Record, s *render.Sender) string {
	return p.text("text_preferences", "sender", s.Tenant.Name, "address", p.masked(m.Email))
}

func (p person) resubscribeButton(of *preference.Item) string {
	if of == nil {
		return p.text("button_resubscribe")
	}
	return p.text("button_resubscribe_type", "type", of.Name)
}

// choosePreferences stores the choices of the preferences page at once, and shows it again.
func (p *Recipient) choosePreferences(w http.ResponseWriter, r *http.Request) {
	m, s, err := p.findPreferences(r)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	to := personOf(r, &s.Tenant)
	r.Body = http.MaxBytesReader(w, r.Body, maxPreferences)
	action := preference.Action(r.PostFormValue("action"))
	before, err := preference.Load(r.Context(), p.DB, m, s.Type)
	if errors.Is(err, preference.ErrGone) && action == preference.UnsubscribeAll { // it gets nothing anyway
		to.page(w, r, http.StatusOK, "title_unsubscribed", "text_unsubscribed")
		return
	}
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	a := preference.Answer{
		Action: action, Selected: map[string]bool{}, Shown: r.PostForm["shown"], Question: to.question(m, s),
		Proof: p.proof(r, consent.PreferencesPage),
	}
	switch action {
	case preference.Save:
	case preference.UnsubscribeAll:
		a.Proof.Wording = to.text("button_unsubscribe_all")
	case preference.Resubscribe:
		a.Proof.Wording = to.resubscribeButton(before.OfMail())
	default: // not by our page
		p.showPreferences(w, r, http.StatusBadRequest, m, s, before)
		return
	}
	for field := range r.PostForm {
		a.Selected[field] = true
	}
	after, err := preference.Apply(r.Context(), p.DB, m, s.Type, a, p.Now())
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	p.provePerson(r.Context(), m)
	p.showPreferences(w, r, http.StatusOK, m, s, after, to.text("text_saved"))
}

// maxPreferences is the maximal size of a request's body in bytes.
const maxPreferences = 64 << 10

// proof returns the proof of what a request's client chooses.
func (p *Recipient) proof(r *http.Request, source string) consent.Proof {
	proof := consent.Proof{Source: source, IP: p.ClientIP(r).Unmap().WithZone("").String(), Agent: r.UserAgent()}
	if source == consent.OneClick {
		return proof // there is no page
	}
	scheme := "http"
	if p.https(r) {
		scheme = "https"
	}
	proof.PageURL = scheme + "://" + r.Host + kindOf(r.URL.Path) // its token is secret
	return proof
}
