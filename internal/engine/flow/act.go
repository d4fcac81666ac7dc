package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/usermail"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// act carries out a step of a sequence, or an action of an automation, that changes contacts or other
// records about them.
func (e *effects) act(ctx context.Context, group []*subject, s sequence.Step) error {
	switch s := s.(type) {
	case sequence.ListStep:
		return e.changeList(ctx, group, s)
	case sequence.TagStep:
		ch := contact.Change{Tags: &s.Tags}
		if s.Action == "remove" {
			ch = contact.Change{RemoveTags: s.Tags}
		}
		return e.change(ctx, group, func(*subject) contact.Change { return ch })
	case sequence.StageStep:
		return e.change(ctx, group, func(*subject) contact.Change { return contact.Change{Stage: new(s.Stage.String())} })
	case sequence.SubscriptionStep:
		on := s.Action == "subscribe"
		return e.change(ctx, group, func(*subject) contact.Change {
			return contact.Change{Subscriptions: map[string]*bool{s.EmailType: &on}}
		})
	case sequence.UpdateStep:
		return e.change(ctx, group, func(t *subject) contact.Change { return e.fields(t, s) })
	case sequence.EventStep:
		for _, t := range group {
			e.events = append(e.events, recorded{t, event.Input{Name: s.Name, Contact: t.contact, Properties: s.Properties, OccurredAt: e.now}})
		}
	case sequence.WebhookStep:
		return e.call(group, s)
	case sequence.NotifyStep:
		for _, t := range group {
			for _, to := range s.To {
				e.mails = append(e.mails, written{t, usermail.Mail{
					Contact: t.contact, To: strings.ToLower(strings.TrimSpace(to)), Subject: e.render(t, s.Subject), Body: e.render(t, s.Body),
				}})
			}
		}
	case sequence.EnrollStep:
		for _, t := range group {
			e.enroll[s.Sequence] = append(e.enroll[s.Sequence], entrant{t})
		}
	}
	return nil
}

// change changes the contacts of a group, and reports those that a fault prevents from changing.
func (e *effects) change(ctx context.Context, group []*subject, of func(*subject) contact.Change) error {
	drafts := make([]contact.Draft, len(group))
	ids := make([]id.Contact, len(group))
	for i, t := range group {
		drafts[i] = contact.Draft{ID: t.contact, Change: of(t)}
		ids[i] = t.contact
	}
	outcomes, err := contact.SaveAll(ctx, e.tx, e.tenant, drafts, e.rules, e.now)
	if err != nil {
		return err
	}
	for i, o := range outcomes {
		if f, ok := fault.As(o.Err); ok {
			group[i].failed(f.Code, f.Message)
		} else if o.Err != nil {
			return o.Err
		}
	}
	return e.reload(ctx, ids)
}

// fields returns the change of an update, with its Liquid rendered for the contact.
func (e *effects) fields(t *subject, s sequence.UpdateStep) contact.Change {
	ch := contact.Change{Texts: map[contact.Text]*string{}, CustomFields: map[string]any{}}
	for name, v := range s.Fields {
		field, _ := contact.ParseText(name)
		if v == nil {
			ch.Texts[field] = nil
			continue
		}
		ch.Texts[field] = new(e.render(t, fmt.Sprint(v)))
	}
	for key, v := range s.CustomFields {
		if text, ok := v.(string); ok {
			v = e.render(t, text)
		}
		ch.CustomFields[key] = v
	}
	return ch
}

// changeList adds contacts to a static list or removes them.
func (e *effects) changeList(ctx context.Context, group []*subject, s sequence.ListStep) error {
	found, err := segment.ByKeys(ctx, e.tx, e.tenant, []string{s.Segment})
	if _, gone := fault.As(err); gone || err == nil && len(found) == 0 {
		for _, t := range group {
			t.failed(listDeleted, "the list was deleted")
		}
		return nil
	}
	if err != nil {
		return err
	}
	people := segment.People{IDs: make([]id.Contact, len(group))}
	for i, t := range group {
		people.IDs[i] = t.contact
	}
	if s.Action == "add" {
		_, err = segment.Add(ctx, e.tx, e.tenant, found[0].ID, people, e.now)
	} else {
		_, err = segment.Remove(ctx, e.tx, e.tenant, found[0].ID, people, e.now)
	}
	return err
}

// call collects the requests of a webhook.
func (e *effects) call(group []*subject, s sequence.WebhookStep) error {
	fail := func(code, reason string) error {
		for _, t := range group {
			t.failed(code, reason)
		}
		return nil
	}
	headers, err := s.Headers.Open(e.box, e.tenant, s.URL)
	if err != nil { // the URL or the key changed behind the program's back
		e.log.Error("open headers of a webhook failed", "tenant", e.tenant, "err", err)
		return fail(badHeaders, "the stored headers cannot be read; enter them again")
	}
	mediaType := ""
	for name, value := range headers {
		if strings.EqualFold(name, "Content-Type") {
			mediaType = value
		}
	}
	template, err := s.Template(mediaType)
	if err != nil { // was checked when it was stored
		return fail(badBody, "the body is not valid: "+err.Error())
	}
	for _, t := range group {
		c := webhook.Call{ID: id.New[id.Delivery](), URL: s.URL, Type: t.actor.call, Timeout: s.Timeout(), Contact: t.contact, Headers: map[string]string{}}
		for name, value := range headers {
			c.Headers[name] = webhook.HeaderValue(e.render(t, value))
		}
		if template == nil {
			c.Body, err = e.standardBody(t)
		} else {
			c.Body, err = template.Render(func(text *liquid.Template) (string, error) { return e.renderTemplate(t, text) })
		}
		switch {
		case err != nil:
			t.failed(badBody, "the body cannot be rendered: "+err.Error())
		case len(c.Body) > webhook.MaxCallBody:
			t.failed(largeBody, fmt.Sprintf("the body is larger than %d KB", webhook.MaxCallBody>>10))
		default:
			e.calls = append(e.calls, c)
			if t.called != nil {
				t.called(c.ID)
			}
		}
	}
	return nil
}

// standardBody returns the body of a request that has none of its own, in the form of the events that
// webhook endpoints are sent.
func (e *effects) standardBody(t *subject) (string, error) {
	data := map[string]any{"contact_id": t.contact, "email": e.people[t.contact].Email, t.actor.kind + "_id": t.actor.id}
	maps.Copy(data, t.data)
	if trigger, err := journal.DecodeTrigger(t.trigger); err == nil && trigger.Type != "" {
		data["event"] = trigger
	}
	body, err := json.Marshal(map[string]any{
		"type": t.actor.call, "timestamp": e.now.UTC().Format(time.RFC3339Nano), "tenant_slug": e.account.Slug, "data": data,
	})
	return string(body), err
}
