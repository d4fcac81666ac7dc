package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"time"

	"github.com/packetboat/packetboat/internal/people/contact"
)

// The form, the sequence that it starts, and the automation.
const (
	signUp     = "Newsletter sign-up"
	signUps    = "Website sign-ups"
	welcome    = "Welcome aboard"
	largeOrder = "Thank large orders"
)

// subscribing returns what visitors of the website did with the form, and what the owner did with
// contacts.
func subscribing() []act {
	acts := []act{
		{-31*day + 10*time.Hour, "form", (*History).signUpForm, false},
		{-30*day + 10*time.Hour, "sequence", (*History).welcomeSequence, false},
		{-12*day + 9*time.Hour, "webhook", (*History).stockWebhook, false},
		{-14*day + 9*time.Hour, "automation", (*History).largeOrders, false},
		{-20*day + 9*time.Hour, "erasures", (*History).erasures, false},
		{-10*day + 9*time.Hour, "unsubscriptions", (*History).unsubscriptions, false},
		{-14*day + 10*time.Hour, "jobs", (*History).jobs, false},
		{-2*day + 9*time.Hour, "invitation", (*History).invitation, false},
	}
	for n, p := range visitors {
		acts = append(acts, act{-time.Duration(p.daysAgo)*day + 15*time.Hour + time.Duration(n)*time.Minute, "sign-up of " + p.first, func(h *History, ctx context.Context) error {
			return h.subscribe(ctx, p)
		}, false})
		if p.orders > 0 {
			acts = append(acts, act{time.Duration(p.orders-p.daysAgo)*day + 19*time.Hour, "order of " + p.first, func(h *History, ctx context.Context) error {
				return h.firstOrder(ctx, p)
			}, false})
		}
	}
	for d := -visitors[0].daysAgo; d < 0; d++ { // after the mails of the day
		at := time.Duration(d)*day + 16*time.Hour
		acts = append(acts, act{at, fmt.Sprintf("readers of %s, day %d", welcome, d), func(h *History, ctx context.Context) error {
			return h.readSequence(ctx, welcome, h.end().Add(at-day), h.end().Add(at))
		}, true})
	}
	return acts
}

// newcomer is a visitor of the website who fills in the form.
type newcomer struct {
	first, last string
	daysAgo     int
	confirms    bool
	orders      int // days later; 0: nothing
}

func (p newcomer) email() string {
	return dotted(p.first) + "." + dotted(p.last) + "@" + domains[len(p.last)%len(domains)]
}

var visitors = [...]newcomer{
	{"Marit", "Solberg", 29, true, 0}, {"Pieter", "Vos", 27, true, 0}, {"Sofia", "Conti", 24, false, 0}, {"Yusuf", "Demir", 21, true, 0},
	{"Klara", "Weiss", 18, true, 0}, {"Noah", "Lindgren", 15, true, 0}, {"Aoife", "Byrne", 12, false, 0}, {"Mehdi", "Rahimi", 10, true, 6},
	{"Julia", "Novak", 8, true, 4}, {"Bastiaan", "Kok", 6, true, 3}, {"Priya", "Raman", 5, false, 0}, {"Léa", "Dubois", 4, true, 0},
	{"Tomás", "Reis", 3, true, 0}, {"Ingrid", "Moen", 2, true, 0}, {"Samuel", "Adeyemi", 1, true, 0}, {"Hanna", "Koski", 1, false, 0},
}

func (h *History) signUpForm(ctx context.Context) error {
	l, err := h.ensure(ctx, "/segments", "name", object{"name": signUps, "type": "static"})
	if err != nil {
		return err
	}
	f, err := h.ensure(ctx, "/forms", "name", object{
		"name": signUp, "double_opt_in": true, "list_segment_keys": []string{l.text("key")}, "tags": []string{"website"}, "submit_label": "Write to me",
		"success_message": "Almost there: we sent you a mail with a button.", "allowed_origins": []string{fromLinks},
		"fields": []object{
			{"type": "contact", "binding": "email", "label": "Email", "required": true},
			{"type": "contact", "binding": "first_name", "label": "First name"},
			{"type": "contact", "binding": "last_name", "label": "Last name"},
			{"type": "custom_field", "binding": "favourite_genre", "label": "What do you like to read?", "input": "select", "options": genres},
			{"type": "consent", "binding": emailType, "label": "Write to me twice a month"},
		},
	})
	if err != nil || f.text("status") == "published" {
		return err
	}
	_, err = h.call(ctx, http.MethodPost, "/forms/"+f.text("id")+"/publish", nil)
	return err
}

func (h *History) welcomeSequence(ctx context.Context) error {
	l, err := h.find(ctx, "/segments", "name", signUps)
	if err != nil {
		return err
	}
	s, err := h.ensure(ctx, "/sequences", "name", object{ // those who confirmed are put on the list
		"name": welcome, "entry_trigger": object{"trigger_type": "list_added", "trigger_config": object{"segment_key": l.text("key")}},
	})
	if err != nil || s.text("status") != "draft" {
		return err
	}
	mail := func(name string) (object, error) {
		m, err := h.find(ctx, "/messages", "name", name)
		return object{"message_id": m.text("id"), "email_type_key": emailType, "sending_identity_emails": []string{"news@" + domain}}, err
	}
	first, err := mail("Welcome aboard")
	if err != nil {
		return err
	}
	second, err := mail("Three books to begin with")
	if err != nil {
		return err
	}
	node := func(name, kind string, config object) object {
		return object{"id": name, "type": kind, "config": config}
	}
	edge := func(from, to, label string) object {
		e := object{"from_node": from, "to_node": to}
		if label != "" {
			e["branch_label"] = label
		}
		return e
	}
	_, err = h.call(ctx, http.MethodPut, "/sequences/"+s.text("id")+"/graph", object{
		"entry_node_id": "welcome",
		"nodes": []object{
			node("welcome", "send", first),
			node("two_days", "wait", object{"mode": "duration", "amount": 2, "unit": "day"}),
			node("halves", "split", object{"branches": []object{{"label": "books", "weight": 1}, {"label": "nothing", "weight": 1}}}),
			node("books", "send", second),
			node("a_week", "wait", object{"mode": "duration", "amount": 7, "unit": "day"}),
			node("welcomed", "tag", object{"action": "add", "tags": []string{"welcomed"}}),
			node("bought", "goal", object{"definition": object{"logic": "and", "conditions": []object{
				{"type": "event", "event_name": ordered, "operator": "did", "window": object{"in_the_last": object{"amount": 30, "unit": "day"}}},
			}}}),
		},
		"edges": []object{
			edge("welcome", "two_days", ""), edge("two_days", "halves", ""), edge("halves", "books", "books"), edge("halves", "a_week", "nothing"),
			edge("books", "a_week", ""), edge("a_week", "welcomed", ""),
		},
	})
	if err != nil {
		return err
	}
	_, err = h.call(ctx, http.MethodPost, "/sequences/"+s.text("id")+"/activate", nil)
	return err
}

// firstOrder records that a newcomer, who may be in the sequence, bought a book in the shop: its goal.
func (h *History) firstOrder(ctx context.Context, p newcomer) error {
	b := books[len(p.last)%len(books)]
	number := "HB-first-" + dotted(p.last)
	_, err := h.call(ctx, http.MethodPost, "/events/batch", object{"events": []object{{
		"event_name": ordered, "type": ordered, "contact_email": p.email(), "occurred_at": h.Clock.Now(), "idempotency_key": number,
		"properties": object{"order_id": number, "value": b.price, "currency": "EUR", "items": []object{{"sku": b.path[len("/books/"):], "name": b.title, "price": b.price, "quantity": 1}}},
	}}})
	if err != nil {
		return err
	}
	return h.Settle(ctx)
}

func (h *History) largeOrders(ctx context.Context) error {
	customer, err := h.find(ctx, "/settings/stages", "name", "Customer")
	if err != nil {
		return err
	}
	_, err = h.ensure(ctx, "/automations", "name", object{
		"name": largeOrder, "trigger_type": "event",
		"trigger_config": object{"event_name": ordered, "filters": []object{{"property": "value", "operator": "greater_than", "value": 60}}},
		"actions": []object{
			{"type": "tag", "config": object{"action": "add", "tags": []string{"large-order"}}},
			{"type": "stage", "config": object{"stage_id": customer.text("id")}},
		},
	})
	return err
}

// subscribe fills in the form, and follows the link of the mail that comes if the visitor confirms.
func (h *History) subscribe(ctx context.Context, p newcomer) error {
	email := p.email()
	form, err := h.find(ctx, "/forms", "name", signUp)
	if err != nil {
		return err
	}
	c, err := contact.ByEmail(ctx, h.DB, h.Tenant, email)
	if errors.Is(err, contact.ErrNotFound) {
		err = h.fillIn(ctx, p, email, "/_q/f/"+form.text("slug"))
		if err == nil {
			err = h.Settle(ctx)
		}
		if err == nil {
			c, err = contact.ByEmail(ctx, h.DB, h.Tenant, email)
		}
	}
	if err != nil || !p.confirms || c.Status != contact.Pending {
		return err
	}
	token, err := h.confirmation(ctx, email)
	if err != nil {
		return err
	}
	h.Clock.Forward(h.Clock.Now().Add(10 * time.Minute))
	if err := h.post(ctx, programOf(email).click, email, "/_q/d/"+token, object{}); err != nil {
		return err
	}
	return h.Settle(ctx)
}

// fillIn submits the form half a minute after it was shown.
func (h *History) fillIn(ctx context.Context, p newcomer, email, path string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.Host+path+"/config", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Origin", fromLinks)
	r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(programOf(email).click.address(email)), 50000).String()
	a, err := h.serve(r)
	if err != nil {
		return err
	}
	var shown struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(a.body.Bytes(), &shown); err != nil {
		return err
	}
	h.Clock.Forward(h.Clock.Now().Add(30 * time.Second))
	return h.post(ctx, programOf(email).click, email, path, object{
		"token": shown.Token, "page_url": fromLinks + "/letters", "consents": object{emailType: true},
		"fields": object{"email": email, "first_name": p.first, "last_name": p.last, "favourite_genre": genres[len(email)%len(genres)]},
	})
}

var confirmLink = regexp.MustCompile(`/_q/d/([A-Za-z0-9_.-]+)`)

// confirmation returns the token of the mail that asks an address to confirm.
func (h *History) confirmation(ctx context.Context, email string) (string, error) {
	lanes, err := h.call(ctx, http.MethodGet, "/mta-configs", nil)
	if err != nil {
		return "", err
	}
	for _, lane := range lanes.rows() {
		box := "/mta-configs/" + lane.text("id") + "/messages"
		list, err := h.call(ctx, http.MethodGet, box+"?search="+email, nil)
		if err != nil {
			return "", err
		}
		for _, m := range list.rows() {
			if m.text("to") != email {
				continue
			}
			mail, err := h.call(ctx, http.MethodGet, box+"/"+m.text("id"), nil)
			if err != nil {
				return "", err
			}
			if found := confirmLink.FindStringSubmatch(mail.text("html") + mail.text("text")); found != nil {
				return found[1], nil
			}
		}
	}
	return "", fmt.Errorf("no mail asks %s to confirm", email)
}

// gone are contacts, by number, who asked for erasure (true) or were deleted.
var gone = map[int]bool{333: true, 476: true, 555: false}

// erasures anonymises two contacts who asked for it, and deletes one.
func (h *History) erasures(ctx context.Context) error {
	for n, anonymous := range gone {
		c, err := contact.ByEmail(ctx, h.DB, h.Tenant, h.people[n].email)
		if errors.Is(err, contact.ErrNotFound) || err == nil && c.Status == contact.Suppressed {
			continue
		}
		if err != nil {
			return err
		}
		if anonymous {
			_, err = h.call(ctx, http.MethodPost, "/contacts/"+c.ID.String()+"/anonymize", object{"suppress": true})
		} else {
			_, err = h.call(ctx, http.MethodDelete, "/contacts/"+c.ID.String(), nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unsubscriptions ends all mail to those who asked for it at the counter.
func (h *History) unsubscriptions(ctx context.Context) error {
	var ids []string
	for n := 29; n < people; n += 97 {
		c, err := contact.ByEmail(ctx, h.DB, h.Tenant, h.people[n].email)
		if err != nil {
			return err
		}
		ids = append(ids, c.ID.String())
	}
	_, err := h.call(ctx, http.MethodPost, "/contacts/bulk", object{"action": "unsubscribe", "contact_ids": ids})
	return err
}

// jobs exports the readers of the newsletter and tags partners.
func (h *History) jobs(ctx context.Context) error {
	all, err := h.call(ctx, http.MethodGet, "/jobs", nil)
	if err != nil || len(all.rows()) > 0 {
		return err
	}
	_, err = h.call(ctx, http.MethodPost, "/contacts/export", object{
		"format": "csv", "fields": []string{"email", "first_name", "city", "country"},
		"selector": object{"filters": []object{{"field": "country", "operator": "equals", "value": "NL"}}},
	})
	if err != nil {
		return err
	}
	if err := h.Settle(ctx); err != nil {
		return err
	}
	_, err = h.call(ctx, http.MethodPost, "/contacts/bulk", object{
		"action": "add_tags", "params": object{"tags": []string{"office"}},
		"selector": object{"filters": []object{{"field": "title", "operator": "equals", "value": "Office manager"}}},
	})
	return err
}

func (h *History) invitation(ctx context.Context) error {
	people, err := h.find(ctx, "/users", "email", "marit@"+domain)
	if people != nil || err != nil {
		return err
	}
	_, err = h.call(ctx, http.MethodPost, "/users/invite", object{"email": "marit@" + domain, "role": "editor"})
	return err
}
